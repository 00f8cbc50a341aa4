"""Forecasts several steps ahead as rounds of a mixture, which learns when outcomes are known."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.intervals import Conformal, IntervalRun


@dataclass
class Made:
    """The blends of an item that were made so far, in the order in which they were made."""

    # values, outcomes: the blends, and the outcomes; NaN where there is none, or none yet
    values: list[float] = field(default_factory=list)
    outcomes: list[float] = field(default_factory=list)
    # for each blend, the number of blends that had been made when its outcome came; -1 before
    known: list[int] = field(default_factory=list)


class StepsAhead:
    """A mixture, the rounds that wait for their outcomes, and the blends that were made.

    A forecast k steps ahead of time t is a round of its own. It is learned from when time t + k has
    come, and no earlier. Each step is an item of the mixture.
    """

    def __init__(self, mixture: Mixture, *, single: bool = False) -> None:
        self.mixture, self.single = mixture, single
        self.made: dict[str, Made] = {}
        self._waiting: dict[Hashable, list[tuple[int, str, int]]] = {}

    def predict(self, item: str, due: Hashable, forecasts: Mapping[str, Any]) -> Any:
        """Blend the forecasts of an item, and wait for the outcome; return the blend."""
        made = self.mixture.predict(self._said(item, forecasts))
        value, so_far = self._value(made.value, item), self.made.setdefault(item, Made())
        self._waiting.setdefault(due, []).append((made.ticket, item, len(so_far.values)))
        so_far.values.append(value)
        so_far.outcomes.append(np.nan)
        so_far.known.append(-1)
        return value

    def settle(self, due: Hashable, outcome: float) -> None:
        """Learn an outcome, in all rounds that wait for it; NaN: they wait no longer."""
        for ticket, item, place in self._waiting.pop(due, ()):
            so_far = self.made[item]
            if outcome == outcome and ticket in self.mixture.pending:  # noqa: PLR0124
                self.mixture.update(ticket, outcome if self.single else {item: outcome})
                so_far.outcomes[place] = outcome
                so_far.known[place] = len(so_far.values)

    def peek(self, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Any]:
        """Return the blends of forecasts with the weights of now; nothing changes."""
        aside = self._aside()
        return [self._value(aside.predict(self._said(item, one)).value, item) for item, one in rows]

    def weights(self, items: Iterable[str], forecasts: Mapping[str, Any]) -> list[dict[str, float]]:
        """Return the weights of the experts in each of some items; nothing changes."""
        aside, found = self._aside(), []
        for item in items:
            made = aside.predict(self._said(item, forecasts)).weights
            found.append({n: made[n] if self.single else float(made[n][item]) for n in forecasts})
        return found

    def bounds(
        self, levels: Iterable[float], rows: Iterable[tuple[str, float]], season: int | None
    ) -> Floats:
        """Return the intervals around new blends: rows x levels x (lower, upper).

        They are learned from the blends that were made and their outcomes, each when it was known.
        """
        wanted = list(levels)
        found = []
        for item, center in rows:
            intervals, run = self._run(wanted, item, season)
            games = intervals.init() if run is None else run.games
            told = intervals.predict(games, center, moment=len(self.made.get(item, Made()).values))
            found.append(_ends(told.low[None], told.high[None], intervals, wanted)[0])
        return np.array(found).reshape(len(found), len(wanted), 2)

    def past_bounds(self, levels: Iterable[float], item: str, season: int | None) -> Floats:
        """Return the intervals around the blends that were made: rows x levels x (lower, upper)."""
        wanted = list(levels)
        intervals, run = self._run(wanted, item, season)
        if run is None:
            return np.empty((0, len(wanted), 2))
        return _ends(run.low, run.high, intervals, wanted)

    def _run(
        self, levels: list[float], item: str, season: int | None
    ) -> tuple[Conformal, IntervalRun | None]:
        """Return intervals, and what they said and learned of an item; None: it has no blends."""
        intervals = Conformal(tuple(sorted(set(levels))), season)
        past = self.made.get(item)
        if past is None:
            return intervals, None
        known = [len(past.values) + 1 if one < 0 else one for one in past.known]
        return intervals, intervals.run(past.values, past.outcomes, known_at=known)

    def _said(self, item: str, forecasts: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the forecasts of an item as the mixture reads them."""
        return forecasts if self.single else {name: {item: x} for name, x in forecasts.items()}

    def _value(self, found: Any, item: str) -> Any:
        """Return the blend of an item; NaN if no expert is awake."""
        value = found if self.single or found is None else found[item]
        return np.nan if value is None else value

    def _aside(self) -> Mixture:
        """Return a copy that may be asked: rounds without an outcome change no weight."""
        return self.mixture.copy(history=False)

    def __eq__(self, other: object) -> bool:
        """Compare what was learned and what waits; libraries compare models before and after."""
        if not isinstance(other, StepsAhead):
            return NotImplemented
        mine, theirs = self.mixture.weights, other.mixture.weights
        return (
            repr(self.mixture) == repr(other.mixture)
            and np.array_equal(mine, theirs, equal_nan=True)
            and repr(self.made) == repr(other.made)
            and self._waiting == other._waiting
        )

    __hash__ = None  # type: ignore[assignment]


class Round(NamedTuple):
    """Forecasts that were made at some time."""

    made: int  # the time, a number
    # item, due, forecasts: as for `StepsAhead.predict`
    item: str
    due: Hashable
    forecasts: Mapping[str, Any]


def play(
    ahead: StepsAhead, rounds: Iterable[Round], outcomes: Iterable[tuple[int, Hashable, float]]
) -> list[Any]:
    """Predict rounds and learn outcomes in the order of time; return the blends, as given.

    An outcome is known to forecasts made at its time or later.
    """
    given = list(rounds)
    values: list[Any] = [None] * len(given)
    known = iter(sorted(outcomes, key=lambda one: one[0]))
    later = next(known, None)
    for place in sorted(range(len(given)), key=lambda k: given[k].made):
        made, item, due, forecasts = given[place]
        while later is not None and later[0] <= made:
            ahead.settle(*later[1:])
            later = next(known, None)
        values[place] = ahead.predict(item, due, forecasts)
    for one in (*([] if later is None else [later]), *known):
        ahead.settle(*one[1:])
    return values


def step_item(step: int, judged: Iterable[int], part: str = "") -> str:
    """Return the item of a step ahead, or of the nearest one whose forecasts were judged."""
    near = min(judged, key=lambda one: (abs(one - step), one), default=1)
    return f"{part}|step {near}" if part else f"step {near}"


def _ends(low: Floats, high: Floats, intervals: Conformal, wanted: list[float]) -> Floats:
    """Return bounds as rows x levels x (lower, upper), with the levels in the order asked for."""
    places = [intervals.levels.index(level) for level in wanted]
    return np.stack([low, high], axis=2)[:, places]
