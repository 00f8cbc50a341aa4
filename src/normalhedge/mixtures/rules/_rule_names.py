"""Hedgers by name: the default, single rules, and how fast they forget."""

from typing import Any

from normalhedge.boundary import specs
from normalhedge.hedgers import HEDGERS, Hedger, NormalHedge, named
from normalhedge.mixtures.rules._automatic import Automatic

MEMORY = 20.0
"""The default memory of a single rule, in rounds."""


def is_automatic(hedger: object) -> bool:
    """Tell whether a hedger is named ``auto``, with or without settings."""
    return isinstance(hedger, str) and hedger.partition(":")[0] == "auto"


def automatic_of(text: str) -> Automatic:
    """Return the automatic mixture that ``auto:key=value,...`` describes."""
    return specs.make("hedger", text, {"auto": Automatic})


def with_memory(hedger: Any, memory: float | None, half_life: float | None) -> Any:
    """Return a hedger that forgets at the given rate; the hedger itself if none is given."""
    given = {"memory": memory, "half_life": half_life}
    named_ = [name for name, value in given.items() if value is not None]
    if not named_:
        return hedger
    if len(named_) == 2:
        raise TypeError("give memory or half_life, not both")
    if isinstance(hedger, Automatic) or is_automatic(hedger):
        raise ValueError(f"{named_[0]} belongs to a single rule, and auto hedges over many")
    if hedger is not None and not isinstance(hedger, str):
        raise TypeError(f"{named_[0]} belongs to the hedger: give it to {type(hedger).__name__}")
    alpha = NormalHedge(memory=memory, half_life=half_life).alpha
    if hedger is None:
        return NormalHedge(alpha)
    _, settings = specs.settings_in(hedger)
    if settings.keys() & {"alpha", "memory", "half_life"}:
        raise ValueError(f"{named_[0]} is given twice: {hedger!r} has one, too")
    return f"{hedger}{',' if ':' in hedger else ':'}alpha={alpha!r}"


def hedger_of(given: object, experts: int | None = None) -> Hedger[Any]:
    """Return a hedger, given itself or by its name."""
    if given is None:
        return NormalHedge(memory=MEMORY)
    if isinstance(given, str):
        name = given.partition(":")[0]
        if name not in HEDGERS:
            raise specs.nearest("hedger", name, ["auto", *HEDGERS])
        return named(given, experts, alpha=1.0 / MEMORY)
    if isinstance(given, type) or not isinstance(given, Hedger):
        raise TypeError(
            "hedger must be a hedger, such as NormalHedge(memory=20), or a name; "
            f"got {type(given).__name__}"
        )
    return given
