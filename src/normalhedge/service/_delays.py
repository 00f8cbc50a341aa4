"""How long outcomes usually take, and which rounds wait longer than that.

Only *live* rounds say how long outcomes take. Where a history is learned afterwards, an outcome
follows its forecast at once: a round that waited less than `LIVE` seconds is left out. Rounds that
were predicted at nearly the same time count once, with the longest of their delays, so that a batch
of a thousand rounds is not a habit.
"""

import math
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator
from statistics import median
from typing import Any, NamedTuple

import msgspec

from normalhedge.live.journal import Operation
from normalhedge.service._storage import Storage

LIVE = 1.0
"""The outcome of a round that waited for fewer seconds was known when the round was predicted."""

NEAR = 0.05
"""Rounds count once if they were predicted within this share of their delay."""

KEPT = 100  # the number of delays that are remembered

ENOUGH, PERIODS = 5, 3.0
"""There is a usual delay from so many delays on, in rounds of at least so many times its length."""

LATE, SHARE, BEYOND = 2.0, 0.9, 1.5
"""A round is overdue after LATE times the median delay, and after BEYOND times the delay that SHARE
of the rounds keep to: outcomes that wait for the end of a weekend are not late."""

PAGE = 16  # events that are read at once
FEW_OPERATIONS, MOST_OPERATIONS, LETTERS = 1000, 20_000, 800
"""The number of operations that are read to find the last delays, at first and where these do not
tell the usual delay; and the letters of their text, for each."""


class Overdue(NamedTuple):
    """The rounds that wait for too long."""

    rounds: int
    since: float | None = None  # when the first of them was predicted
    ticket: int | None = None  # its ticket
    usual: float | None = None  # the seconds after which a round is overdue


class Delays:
    """The pending rounds of an object with their times, and the last delays of outcomes."""

    def __init__(self) -> None:
        self.made: dict[int, float] = {}
        self.last_forecast: float | None = None
        self.last_outcome: float | None = None
        self._groups: list[tuple[float, float]] = []  # when rounds were predicted, and their delay
        self._usual: float | None = None
        self._stale = False

    def begin(self, ticket: int, now: float) -> None:
        """Note a round that was predicted."""
        self.made[ticket] = self.last_forecast = now

    def settle(self, ticket: int, now: float) -> None:
        """Note the outcome of a round."""
        self.last_outcome = now
        begun = self.made.pop(ticket, None)
        if begun is not None:
            self.learn(begun, now - begun)

    def learn(self, begun: float, delay: float) -> None:
        """Note the delay of a round."""
        if delay < LIVE:
            return
        self._stale = True
        groups, near = self._groups, max(LIVE, NEAR * delay)
        place = bisect_left(groups, (begun, 0.0))
        for k in (place - 1, place):
            if 0 <= k < len(groups) and abs(groups[k][0] - begun) <= near:
                groups[k] = groups[k][0], max(groups[k][1], delay)
                return
        insort(groups, (begun, delay))
        del groups[:-KEPT]

    def learn_from(self, others: "Delays") -> None:
        """Note the delays that were found elsewhere."""
        for begun, delay in others._groups:
            self.learn(begun, delay)

    @property
    def last(self) -> float:
        """When the last round was predicted or settled; 0 if none was."""
        return max(self.last_forecast or 0.0, self.last_outcome or 0.0)

    @property
    def full(self) -> bool:
        """Whether no earlier delays are needed."""
        return len(self._groups) >= KEPT

    def keep(self, pending: Collection[int]) -> None:
        """Forget the rounds that do not wait any more."""
        self.made = {ticket: time for ticket, time in self.made.items() if ticket in pending}

    def usual(self) -> float | None:
        """Return the seconds after which a round is overdue; None as long as nobody knows."""
        if self._stale:
            self._stale = False
            self._usual = _limit(self._groups)
        return self._usual

    def overdue(self, now: float) -> Overdue:
        """Return the rounds that wait for too long."""
        usual = self.usual()
        if usual is None:
            return Overdue(0)
        count, since, first = 0, math.inf, -1
        for ticket, time in self.made.items():
            if time >= now - usual:  # the later ones were predicted later
                break
            count += 1
            if time < since:
                since, first = time, ticket
        return Overdue(count, since, first, usual) if count else Overdue(0, usual=usual)


def _limit(groups: list[tuple[float, float]]) -> float | None:
    """Return the seconds after which a round is overdue, of delays in the order of time."""
    if len(groups) < ENOUGH:
        return None
    delays = sorted(delay for _, delay in groups)
    middle = median(delays)
    if groups[-1][0] + groups[-1][1] - groups[0][0] < PERIODS * middle:
        return None
    return max(LATE * middle, BEYOND * delays[math.ceil(SHARE * len(delays)) - 1])


class _Times(msgspec.Struct):
    """The part of an operation that tells when a round began or ended."""

    update: int | None = None  # update, reward: the ticket of a round that ended
    reward: int | None = None
    ticket: int | None = None
    # predict, choose: empty if no round begins
    predict: msgspec.Raw = msgspec.Raw()
    choose: msgspec.Raw = msgspec.Raw()


PREDICTED = msgspec.Raw(b"{}")  # stands for forecasts

_operations = msgspec.json.Decoder(list[_Times] | _Times)


def read_delays(
    storage: Storage, mixture: int, pending: Iterable[int] = (), most: int = MOST_OPERATIONS
) -> Delays:
    """Return the delays of a mixture and the times of its pending rounds, from its log.

    A round whose event is not in the log any more counts from the first event that is.
    """
    delays, made, settled = Delays(), dict[int, float](), dict[int, float]()
    for time, operations in _newest(storage, mixture, most):
        for operation in reversed(operations):
            begins = bytes(operation.predict) or bytes(operation.choose)
            ended = operation.reward if operation.update is None else operation.update
            if begins and operation.ticket is not None:
                delays.last_forecast = max(delays.last_forecast or time, time)
                made[operation.ticket] = time
                if operation.ticket in settled:
                    delays.learn(time, settled.pop(operation.ticket) - time)
            elif ended is not None:
                delays.last_outcome = max(delays.last_outcome or time, time)
                settled[ended] = time
        if delays.full:
            break
    for ticket, time in list(settled.items())[:KEPT]:
        begun = storage.time_of_ticket(mixture, ticket)
        if begun is not None:
            delays.learn(begun, time - begun)
    delays.made = _times_of(storage, mixture, sorted(pending), made)
    return delays


def _times_of(
    storage: Storage, mixture: int, tickets: Iterable[int], made: dict[int, float]
) -> dict[int, float]:
    """Return when rounds were predicted; ``made`` has some of the times."""
    times: dict[int, float] = {}
    first: float | None = None
    for ticket in tickets:
        begun = made.get(ticket) or storage.time_of_ticket(mixture, ticket)
        if begun is None:
            first = first or storage.first_time(mixture)
            begun = first
        if begun is not None:
            times[ticket] = begun
    return times


def _newest(storage: Storage, mixture: int, most: int) -> Iterator[tuple[float, list[_Times]]]:
    """Yield the times and operations of events, the newest first, as many as are worth reading."""
    before: int | None = None
    count = letters = 0
    while count < most and letters < LETTERS * most:
        page = storage.bodies_before(mixture, before, PAGE)
        if not page:
            return
        for sequence, time, ticket, body in page:
            before = sequence
            if body is None:
                count += 1
                yield time, [_Times(ticket=ticket, predict=PREDICTED)]
                continue
            letters += len(body)
            try:
                decoded = _operations.decode(body)
            except msgspec.DecodeError:  # a replay tells of it, if this event is needed
                continue
            operations = decoded if isinstance(decoded, list) else [decoded]
            count += len(operations)
            yield time, operations


def note(delays: Delays, operations: list[Operation], now: float) -> int | None:
    """Note when rounds were predicted and settled; return the first ticket given out."""
    first: int | None = None
    for operation in operations:
        values: dict[str, Any] = operation
        if "predict" in values or "choose" in values:
            ticket = values["ticket"]
            first = ticket if first is None else first
            delays.begin(ticket, now)
        elif "update" in values or "reward" in values:
            delays.settle(values["update" if "update" in values else "reward"], now)
    return first
