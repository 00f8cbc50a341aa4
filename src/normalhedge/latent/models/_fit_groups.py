"""Starts that are fitted together: one after the other, or side by side in the core."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import _starts
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models._tasks import FitTask, Model

FIRST = 15  # iterations of each start; then only the best two continue
WAITING = 2  # in the shapes of a model: it has not started
# the families that are fitted in lanes, in the order of their numbers in the core
LANED = ("gaussian", "student")


class Job(NamedTuple):
    """A model that is to be fitted to the end of a series."""

    family: str
    states: int
    first: int  # the first round of the series that it is fitted to
    starts: int  # the number of starts from nothing
    iterations: int  # the largest number of iterations of a start
    warm: Fitted | None  # a model to start from as well


class Start(NamedTuple):
    """A start of a job: a model, and the division of the observations that it begins with."""

    place: int
    job: Job
    task: FitTask
    model: Model
    labels: _starts.Labels | None


class Group(ABC):
    """Starts that are fitted together, of which nothing is ever changed in place."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether all starts have ended."""

    @property
    @abstractmethod
    def work(self) -> float:
        """The largest amount of work that is left."""

    @abstractmethod
    def advance(self, work: float) -> Self:
        """Return the group after about this much work."""

    @abstractmethod
    def results(self) -> list[tuple[int, Model]]:
        """Return the best model of each job."""


def _best(models: Iterable[tuple[int, Model]], count: int) -> list[int]:
    """Return the places of the best models of each job, in their order."""
    ranked: dict[int, list[int]] = {}
    likelihoods = []
    for place, (job, model) in enumerate(models):
        ranked.setdefault(job, []).append(place)
        likelihoods.append(model.log_likelihood)
    chosen = [
        sorted(places, key=lambda place: -likelihoods[place])[:count] for places in ranked.values()
    ]
    return [place for places in chosen for place in places]


@dataclass(frozen=True)
class Alone(Group):
    """The starts of one job, fitted one after the other."""

    waiting: tuple[Start, ...]
    ended: tuple[tuple[int, Model], ...]
    tolerance: float
    first: bool  # whether the starts have their first iterations

    @property
    def done(self) -> bool:
        return not self.waiting

    @property
    def work(self) -> float:
        total = 0.0
        for start in self.waiting:
            more = start.job.iterations - max(len(start.model.trace) - 1, 0)
            more = min(FIRST, more) if self.first else more
            total += more * len(start.task.observations) * (2 + start.job.states) ** 2
        return total

    def advance(self, work: float) -> Self:
        del work  # a start is the smallest part
        start, *waiting = self.waiting
        most = start.job.iterations
        model = _run(start, FIRST if self.first else most, most, self.tolerance)
        ended = (*self.ended, (start.place, model))
        if waiting or not self.first:
            return replace(self, waiting=tuple(waiting), ended=ended)
        again = tuple(
            start._replace(model=ended[place][1], labels=None) for place in _best(ended, 2)
        )
        return replace(self, waiting=again, ended=(), first=False)

    def results(self) -> list[tuple[int, Model]]:
        return [self.ended[place] for place in _best(self.ended, 1)]


@dataclass(frozen=True)
class Lanes(Group):
    """Normal models and Student's, of as many states, side by side in the core."""

    series: Floats
    places: npt.NDArray[np.int64]  # the job of each model
    most: npt.NDArray[np.int64]  # the largest number of iterations of each model
    # shapes, units, divisions, ...: see `_core.em_fit_lanes`; the first axis has the models
    shapes: npt.NDArray[np.int64]
    units: Floats
    initial: Floats
    transition: Floats
    parameters: Floats
    divisions: npt.NDArray[np.int64]
    traces: Floats
    totals: Floats
    guards: Floats
    tolerance: float
    first: bool  # whether the models have their first iterations

    @property
    def done(self) -> bool:
        return not self.first and bool(self.shapes[:, 5].all())

    @property
    def _price(self) -> float:
        return float(
            (len(self.series) - self.shapes[:, 1].min()) * (2 + self.initial.shape[1]) ** 2
        )

    @property
    def _calls(self) -> int:
        """The largest number of iterations, of up to eight models each, that are left."""
        left = np.where(self.shapes[:, 5] == 0, self.shapes[:, 3] - self.shapes[:, 2] + 1, 0)
        starts = int((self.shapes[:, 4] == WAITING).sum())
        return int(left.sum() // 8 + left.max()) + -(-starts // 4)

    @property
    def work(self) -> float:
        more = int((self.most - FIRST).max(initial=0)) if self.first else 0
        return (self._calls + max(more, 0)) * 4.0 * self._price

    def advance(self, work: float) -> Self:
        calls = int(min(max(work / (4.0 * self._price), 1.0), 1e9))
        shapes, initial, transition = (
            self.shapes.copy(),
            self.initial.copy(),
            self.transition.copy(),
        )
        parameters, traces, totals = self.parameters.copy(), self.traces.copy(), self.totals.copy()
        _core.em_fit_lanes(
            self.series,
            shapes,
            self.units,
            initial,
            transition,
            parameters,
            self.divisions,
            self.guards,
            self.tolerance,
            calls,
            traces,
            totals,
        )
        after = replace(
            self,
            shapes=shapes,
            initial=initial,
            transition=transition,
            parameters=parameters,
            divisions=self.divisions if (shapes[:, 4] == WAITING).any() else self.divisions[:, :0],
            traces=traces,
            totals=totals,
        )
        return after._go_on() if self.first and shapes[:, 5].all() else after

    def _go_on(self) -> Self:
        """Return the best two models of each job, for their further iterations."""
        kept = np.array(_best(self._models(), 2))
        shapes, traces, most = self.shapes[kept], self.traces[kept], self.most[kept]
        rows, done = np.arange(len(kept)), shapes[:, 2]
        gained = traces[rows, done] - traces[rows, np.maximum(done - 1, 0)]
        settled = (done > 0) & (gained < self.tolerance)
        shapes[:, 3] = most
        shapes[:, 5] = settled | (done >= most)
        return replace(
            self,
            places=self.places[kept],
            most=most,
            shapes=shapes,
            units=self.units[kept],
            initial=self.initial[kept],
            transition=self.transition[kept],
            parameters=self.parameters[kept],
            divisions=self.divisions[kept],
            traces=traces,
            totals=self.totals[kept],
            first=False,
        )

    def _models(self) -> list[tuple[int, Model]]:
        rows = np.where(self.shapes[:, 0] == 0, 2, 3).tolist()
        return [
            (
                int(place),
                Model(
                    self.initial[m],
                    self.transition[m],
                    self.parameters[m, : rows[m]],
                    float(self.totals[m]),
                    self.traces[m, : self.shapes[m, 2] + 1],
                ),
            )
            for m, place in enumerate(self.places)
        ]

    def results(self) -> list[tuple[int, Model]]:
        models = self._models()
        return [models[place] for place in _best(models, 1)]


def begin_lanes(seen: Floats, starts: Sequence[Start], guards: Floats, tolerance: float) -> Lanes:
    count, k = len(starts), starts[0].job.states
    first = min(start.job.first for start in starts)
    series = np.ascontiguousarray(seen[first:, 0])
    shapes = np.zeros((count, 6), dtype=np.int64)
    divisions = np.full((count, len(series)), -1, dtype=np.int64)
    parameters = np.ones((count, 3, k))
    for m, start in enumerate(starts):
        family, begin = LANED.index(start.job.family), start.job.first - first
        shapes[m] = family, begin, 0, min(FIRST, start.job.iterations), WAITING, 0
        parameters[m, : len(start.model.rows)] = start.model.rows
        if start.labels is not None:
            divisions[m, : len(start.labels)] = start.labels
    most = np.array([start.job.iterations for start in starts])
    return Lanes(
        series,
        np.array([start.place for start in starts]),
        most,
        shapes,
        np.array([[start.task.centre[0], start.task.width[0]] for start in starts]),
        np.array([start.model.initial for start in starts]),
        np.array([start.model.transition for start in starts]),
        parameters,
        divisions,
        np.full((count, int(most.max()) + 1), np.nan),
        np.zeros(count),
        guards,
        tolerance,
        first=True,
    )


def _run(start: Start, more: int, most: int, tolerance: float) -> Model:
    """Return the model of a start after some more iterations, of at most `most` in all."""
    task, model = start.task, start.model
    done = max(len(model.trace) - 1, 0)
    more = min(more, most - done)
    if done and (more <= 0 or model.trace[-1] - model.trace[-2] < tolerance):
        return model
    shares = None if start.labels is None else _starts.shares(start.labels, start.job.states)
    initial, moves, rows = model.initial.copy(), model.transition.copy(), model.rows.copy()
    trace = np.empty(more + 1)
    total, used = _core.em_fit(
        task.family.family,
        task.observations,
        initial,
        moves,
        rows,
        shares,
        task.guards,
        tolerance,
        trace,
    )
    trace = np.concatenate([model.trace[:-1], trace[: used + 1]])
    return Model(initial, moves, rows, total, trace)
