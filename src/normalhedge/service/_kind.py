"""What the service must know of a kind of live objects, such as mixtures; all else is shared."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from normalhedge.live.journal import Operation
from normalhedge.live.line_stream import LineStream
from normalhedge.mixtures.losses import Loss
from normalhedge.mixtures.streams import Budget
from normalhedge.service._limits import Limits
from normalhedge.service._problems import Problem


class Verb(NamedTuple):
    """A request that changes an object: an address, and the lines of a stream that say the same."""

    name: str  # the last word of its address; also the kind of its event, and its label
    text: str
    # form, answer: the forms of the request and of its answer
    form: Any
    answer: Any
    # Turns a form into a line, or into several, of which each is refused or done on its own.
    line: Callable[[Any], dict[str, Any] | list[dict[str, Any]]]
    by_line: bool = False  # whether the kind of its event is the first word of the line

    def kind(self, line: dict[str, Any] | list[dict[str, Any]]) -> str:
        """Return the kind of its event."""
        if isinstance(line, list):
            return "batch"
        return next(iter(line)) if self.by_line else self.name


class KindForms(NamedTuple):
    """The forms in which objects of a kind are created and told."""

    new: Any
    listed: Any
    details: Any
    summary: Any
    past: Any


COMMON = (
    (GaugeMetricFamily, "damaged", "1 if its log is damaged."),
    (GaugeMetricFamily, "rounds", "Rounds that began."),
    (GaugeMetricFamily, "settled", "Rows with an outcome, or rounds with a gain."),
    (GaugeMetricFamily, "pending", "Rounds that wait for their outcomes or gains."),
    (GaugeMetricFamily, "expired", "Rounds that were given up."),
    (GaugeMetricFamily, "overdue", "Rounds that wait for longer than usual."),
    (GaugeMetricFamily, "overdue_after", "Seconds after which a round is overdue."),
    (CounterMetricFamily, "requests", "Requests that succeeded."),
    (CounterMetricFamily, "request_seconds", "Seconds that they took."),
)
"""The metrics of each object of any kind: kind, name and text."""


class Kind(ABC):
    """A kind of objects: how they are made, changed, stored and told.

    An object has, whatever its kind, ``settings``, ``pending``, ``expired``, ``next_ticket``,
    ``copy()`` and ``redo(operation)``.
    """

    word: ClassVar[str]  # what people call an object
    moments: ClassVar[tuple[str, str]]  # the names of the times of the last round and its end
    shapes: ClassVar[KindForms]
    verbs: ClassVar[tuple[Verb, ...]]  # the ones that are asked for most come first
    metrics: ClassVar[tuple[tuple[Any, ...], ...]]  # further ones: kind, name, text and labels
    is_whole: ClassVar[bool]  # whether a snapshot has all that the object ever needs
    has_alerts: ClassVar[bool]

    @property
    def words(self) -> str:
        """What people call several objects; the part of addresses and answers."""
        return f"{self.word}s"

    @property
    def path(self) -> str:
        """The address of an object."""
        return f"/v1/{self.words}/{{name}}"

    @abstractmethod
    def new(self, form: Any, limits: Limits) -> tuple[dict[str, Any], Any]:
        """Return the options that are stored with a new object, and the object."""

    @abstractmethod
    def settings(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the settings in stored options."""

    @abstractmethod
    def imported(self, body: bytes, limits: Limits) -> tuple[dict[str, Any], Any]:
        """Return the options and the object of a state that a client sent."""

    @abstractmethod
    def read(self, data: bytes, source: str) -> Any:
        """Return the object of a state."""

    @abstractmethod
    def text(self, thing: Any) -> str:
        """Return the state of an object, as its ``save`` writes it."""

    @abstractmethod
    def stream(self, thing: Any, note: Callable[[Operation], object], budget: Budget) -> LineStream:
        """Return an object that answers lines, and notes what was done."""

    @abstractmethod
    def check(self, thing: Any, request: Mapping[str, Any], limits: Limits) -> None:
        """Refuse a line with which an object would be larger than a server allows."""

    @abstractmethod
    def is_wide(self, request: Any) -> bool:
        """Tell whether a line may take long."""

    @abstractmethod
    def is_small(self, thing: Any) -> bool:
        """Tell whether an object with few bytes is so small that work on it is quick."""

    @abstractmethod
    def learned(self, thing: Any) -> float:
        """Return a number, quickly, that grows with the memory of what an object learned."""

    @abstractmethod
    def size(self, thing: Any) -> int:
        """Return the bytes of an object with its rounds."""

    @abstractmethod
    def health(self, thing: Any) -> dict[str, Any]:
        """Return the numbers of a loaded object."""

    @abstractmethod
    def details(self, thing: Any) -> dict[str, Any]:
        """Return the parts of an object."""

    @abstractmethod
    def summary(self, thing: Any) -> dict[str, Any]:
        """Return the summary of an object as plain data."""

    @abstractmethod
    def line_of(self, operation: Operation) -> dict[str, Any]:
        """Return the line of a stream that asks for an operation."""

    def has_past(self, thing: Any) -> bool:
        """Tell whether an object of a snapshot has all the past rounds that it needs."""
        del thing
        return True

    def loss(self, thing: Any) -> Loss | None:
        """Return the loss by which rounds are judged; None if they have gains."""
        del thing
        return None


def most(name: str, wanted: int | None, bound: int, usual: int) -> int:
    """Return a number of a new object, at most what a server allows."""
    if wanted is None:
        return min(bound, usual)
    if wanted > bound:
        raise Problem(422, f"{name} must be at most {bound} on this server")
    return wanted
