"""Forecasts several steps ahead as rounds of a mixture, which learns when outcomes are known."""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.integrations._rounds import copy_aside
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
        made = self.mixture.predict(self._row(item, forecasts))
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
        predict = copy_aside(self.mixture).predict
        return [
            self._value(predict(self._row(item, forecasts)).value, item) for item, forecasts in rows
        ]

    def weights(self, items: Iterable[str], forecasts: Mapping[str, Any]) -> list[dict[str, float]]:
        """Return the weights of the experts in each of some items; nothing changes."""
        predict, rows = copy_aside(self.mixture).predict, []
        for item in items:
            weights = predict(self._row(item, forecasts)).weights
            rows.append(
                {n: weights[n] if self.single else float(weights[n][item]) for n in forecasts}
            )
        return rows

    def bounds(
        self, levels: Iterable[float], rows: Iterable[tuple[str, float]], season: int | None
    ) -> Floats:
        """Return the intervals around new blends: rows x levels x (lower, upper).

        They are learned from the blends that were made and their outcomes, each when it was known.
        """
        coverage = list(levels)
        ends = []
        for item, center in rows:
            intervals, run = self._run(coverage, item, season)
            games = intervals.init() if run is None else run.games
            moment = len(self.made.get(item, Made()).values)
            interval = intervals.predict(games, center, moment=moment)
            ends.append(_ends(interval.low[None], interval.high[None], intervals, coverage)[0])
        return np.array(ends).reshape(len(ends), len(coverage), 2)

    def past_bounds(self, levels: Iterable[float], item: str, season: int | None) -> Floats:
        """Return the intervals around the blends that were made: rows x levels x (lower, upper)."""
        coverage = list(levels)
        intervals, run = self._run(coverage, item, season)
        if run is None:
            return np.empty((0, len(coverage), 2))
        return _ends(run.low, run.high, intervals, coverage)

    def _run(
        self, levels: list[float], item: str, season: int | None
    ) -> tuple[Conformal, IntervalRun | None]:
        """Return intervals, and their run over the blends of an item; None: it has no blends."""
        intervals = Conformal(tuple(sorted(set(levels))), season)
        past = self.made.get(item)
        if past is None:
            return intervals, None
        known_at = [len(past.values) + 1 if count < 0 else count for count in past.known]
        return intervals, intervals.run(past.values, past.outcomes, known_at=known_at)

    def _row(self, item: str, forecasts: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the forecasts of an item as the mixture reads them."""
        return forecasts if self.single else {name: {item: x} for name, x in forecasts.items()}

    def _value(self, blend: Any, item: str) -> Any:
        """Return the blend of an item; NaN if no expert is awake."""
        value = blend if self.single or blend is None else blend[item]
        return np.nan if value is None else value

    def __eq__(self, other: object) -> bool:
        """Compare weights and pending rounds; libraries compare models before and after."""
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
    plays = list(rounds)
    values: list[Any] = [None] * len(plays)
    later = deque(sorted(outcomes, key=lambda outcome: outcome[0]))
    for place in sorted(range(len(plays)), key=lambda k: plays[k].made):
        made, item, due, forecasts = plays[place]
        while later and later[0][0] <= made:
            ahead.settle(*later.popleft()[1:])
        values[place] = ahead.predict(item, due, forecasts)
    for _, due, outcome in later:
        ahead.settle(due, outcome)
    return values


def step_item(step: int, judged: Iterable[int], part: str = "") -> str:
    """Return the item of a step ahead, or of the nearest one whose forecasts were judged."""
    near = min(judged, key=lambda other: (abs(other - step), other), default=1)
    return f"{part}|step {near}" if part else f"step {near}"


def _ends(low: Floats, high: Floats, intervals: Conformal, coverage: list[float]) -> Floats:
    """Return bounds as rows x levels x (lower, upper), with the levels in the order asked for."""
    places = [intervals.levels.index(level) for level in coverage]
    return np.stack([low, high], axis=2)[:, places]
