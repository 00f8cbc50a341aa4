"""How regimes learn: pure functions of a state and of observations."""

import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions import FAMILIES, check_observations
from normalhedge.latent.regimes import _series_models
from normalhedge.latent.regimes._candidates import FIRST, CandidatePool, CandidateSearch
from normalhedge.latent.regimes._evidence import Evidence, evidence
from normalhedge.latent.regimes._filter_bank import CandidateFilters, CandidateRounds, FilterBank
from normalhedge.latent.regimes._forecasting import Forecast, forecast, mixture
from normalhedge.latent.regimes._matching import Labels
from normalhedge.latent.regimes._predictive import Predictive
from normalhedge.latent.regimes._regime_labels import Parameters, RegimeLabels
from normalhedge.latent.regimes._regime_path import RegimePath
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.latent.regimes._surprise import Surprise, places_of

BESIDE = {
    "gaussian": ("gaussian", "student"),
    "poisson": ("poisson", "negative_binomial"),
    "full": ("full", "diagonal"),
}
"""The families that are tried, by the requested one."""

STEPS = {"poisson", "negative_binomial", "categorical"}  # families of whole numbers

T = TypeVar("T")
# a number of rounds, and a value for each regime by then
History = tuple[tuple[int, dict[int, T]], ...]
REVIEW = 50  # the number of observations between reviews of the candidates
# the number of last observations that are kept; models of all rounds are fitted to them
LONGEST = 20_000
BLOCKS = 64  # the largest number of blocks in which they are kept


class RegimesState(NamedTuple):
    """Everything that regimes have learned; nothing in it is ever changed in place."""

    emission: str | None  # the family of the observations; None before the first one
    # rounds, observed: the number of rounds, and of rounds with an observation
    rounds: int
    observed: int
    # seen, previous: the last observations, in blocks of T x d, and the very last one
    seen: tuple[Floats, ...]
    previous: Floats
    pool: CandidatePool  # the candidates at the last review, and their standings
    filters: CandidateFilters  # the filters of the candidates since then
    game: Any  # the state of the hedger's game; None before the first fit
    labels: RegimeLabels  # the regimes
    # now, switch: the probability of each regime, and of a switch after this round
    now: Floats
    switch: float
    # the parameters of the regimes after each review, with the number of rounds
    history: History[Parameters]
    # the generator of random numbers of the next review, which uses a copy of it
    rng: np.random.Generator
    # the candidates as they are filtered together, which follows from the pool; None before the
    # first fit
    bank: FilterBank | None = None
    surprise: Surprise = Surprise.init()  # what says that something new has begun

    @property
    def weights(self) -> Floats:
        """The current weights of the candidates."""
        return np.empty(0) if self.game is None else np.asarray(self.game.weights)


@dataclass(frozen=True)
class RegimesRule:
    """How regimes learn and predict; every method is a pure function of a state."""

    settings: RegimesSettings

    def init(self) -> RegimesState:
        """Return the state before the first observation."""
        most, none = self.settings.most, np.empty(0)
        assert self.settings.rng is not None
        return RegimesState(
            emission=None,
            rounds=0,
            observed=0,
            seen=(),
            previous=np.full(1, np.nan),
            pool=CandidatePool((), none, {}),
            filters=CandidateFilters(none, none, none),
            game=None,
            labels=RegimeLabels.init(most),
            now=np.zeros(most),
            switch=math.nan,
            history=(),
            rng=self.settings.rng,
        )

    def accept(self, state: RegimesState, observations: np.ndarray) -> tuple[RegimesState, Floats]:
        """Return observations as T x d, checked; the first ones fix the family and d."""
        symbols, begun = self.settings.symbols, state.emission is not None
        kind = state.emission or self.settings.emission or _kind(observations[0])
        several = None if kind in {"full", "diagonal"} else 1
        table = check_observations(
            FAMILIES[kind], observations, len(state.previous) if begun else several
        )
        if symbols is not None and (table >= symbols).any():
            raise ValueError(f"observations must be symbols below {symbols}")
        if not begun:
            missing = np.full(table.shape[1], np.nan)
            state = state._replace(emission=kind, previous=missing)
        return state, table

    def observe(self, state: RegimesState, y: npt.ArrayLike | None) -> RegimesState:
        """Return the state after an observation, as a user gives it."""
        row = np.full(len(state.previous), np.nan) if y is None else y
        row = np.reshape(inputs.numbers_array("y", row), (1, -1))
        return self.learn(*self.accept(state, row))

    def learn(self, state: RegimesState, block: Floats) -> RegimesState:
        """Return the state after some rounds; only the last may be followed by a review."""
        if state.bank is not None:
            state = self._follow(state, block)[0]
        return self._advance(state, block)

    def run(self, state: RegimesState, table: Floats) -> tuple[RegimesState, RegimePath]:
        """Return the state after many rounds, and the predictions and regimes of each."""
        parts, start = [], 0
        while start < len(table):
            stop = start + _until_review(state.observed, table[start:])
            block = table[start:stop]
            state, path = self._follow(state, block)
            state = self._advance(state, block)
            parts.append(path)
            start = stop
        return state, RegimePath.join(parts)

    def predict(self, state: RegimesState) -> Predictive:
        """Return the distribution of the next observation."""
        if state.bank is None:
            return Predictive([], state.previous)
        return mixture(state.weights, state.bank.mixtures(state.filters), state.previous)

    def forecast(self, state: RegimesState, rounds: int) -> Forecast:
        """Return a forecast of the next rounds."""
        if state.bank is None:
            none = np.zeros((rounds, self.settings.most)), np.full(rounds, np.nan)
            return Forecast((self.predict(state),) * rounds, *none)
        return forecast(
            rounds, state.bank, state.filters, state.weights, state.labels, state.previous
        )

    def evidence(self, state: RegimesState) -> Evidence:
        """Return how the series has changed so far."""
        return evidence(
            state.labels,
            state.pool,
            state.bank,
            state.filters,
            state.weights,
            state.rounds,
            state.observed,
            self.settings.worth,
        )

    def renumber(self, state: RegimesState) -> tuple[RegimesState, Labels]:
        """Return the state with the regimes in their order, and the new number of each old one."""
        labels, new = state.labels.renumber()
        now = np.empty_like(state.now)
        now[new] = state.now
        history = renumber_history(state.history, new)
        return state._replace(labels=labels, now=now, history=history), new

    def restore(self, state: RegimesState) -> RegimesState:
        """Return the state of a file with its filter bank, which no file holds."""
        if not state.pool.candidates:
            return state
        return state._replace(bank=FilterBank(state.pool.candidates, self.settings.most))

    def _advance(self, state: RegimesState, block: Floats) -> RegimesState:
        """Let time pass; review the candidates if a review is due."""
        new = int((~np.isnan(block[:, 0])).sum())
        seen, observed = (*state.seen, block), state.observed + new
        state = state._replace(
            seen=seen if len(seen) <= BLOCKS else (np.concatenate(seen)[-LONGEST:],),
            previous=block[-1],
            rounds=state.rounds + len(block),
            observed=observed,
        )
        due = new and observed == _next_review(observed - 1)
        return self._review(state) if due else state

    def _follow(self, state: RegimesState, block: Floats) -> tuple[RegimesState, RegimePath]:
        """Learn observations and return their predictions and regimes."""
        if state.bank is None:
            empty, none = np.full(block.shape, np.nan), np.full(len(block), np.nan)
            regimes, never = np.zeros((len(block), self.settings.most)), np.zeros(len(block), bool)
            return state, RegimePath(_flat(empty), _flat(empty), none, regimes, none, none, never)
        known = _known(state, block)
        state, before, after, mixed, results = self._observe(state, state.bank, block, moments=True)
        mean = np.einsum("tn,tnd->td", before, results.means)
        away = np.square(results.means - mean[:, np.newaxis])
        variance = np.einsum("tn,tnd->td", before, results.variances + away)
        shares = state.labels.regimes(after, results.filtered)
        switch = state.labels.switching(after, results.filtered)
        scores = np.where(known, mixed, np.nan)
        places = places_of(
            np.where(known[:, np.newaxis], block, np.nan),
            state.labels.without_breaks(before),
            results.means,
            results.variances,
            steps=state.emission in STEPS,
        )
        surprise, novelty, alarms = state.surprise.learn(
            places, state.rounds, float(self.settings.patience)
        )
        path = (_flat(mean), _flat(variance), scores, shares, switch, novelty, alarms)
        return state._replace(surprise=surprise), RegimePath(*path)

    def _observe(
        self, state: RegimesState, bank: FilterBank, block: Floats, *, moments: bool
    ) -> tuple[RegimesState, Floats, Floats, Floats, CandidateRounds]:
        """Let the candidates and the hedger observe some rounds.

        Returns the state, the weights before and after each round, the log densities of the mixture
        and the results of the candidates.
        """
        filters, results = bank.run(state.filters, block, state.previous, moments=moments)
        known = _known(state, block)
        labels, pool = state.labels, state.pool
        game, before, after, mixed = self.settings.averaging.observe(
            state.game, results.logs, known
        )
        if known.any():
            ahead = results.logs[known] - mixed[known, np.newaxis]
            labels, left, gained = labels.remember(ahead, before[known])
            pool = pool._replace(standing=left * pool.standing + gained)
        state = state._replace(
            pool=pool,
            filters=filters,
            game=game,
            labels=labels,
            now=labels.regimes(after[-1:], results.filtered[-1:])[0],
            switch=float(labels.switching(after[-1:], results.filtered[-1:])[0]),
        )
        return state, before, after, mixed, results

    def _review(self, state: RegimesState) -> RegimesState:
        """Fit the candidates that are due, and match states with regimes again."""
        settings = self.settings
        seen = np.concatenate(state.seen)[-LONGEST:]
        state = state._replace(seen=(seen,))
        if int((~np.isnan(seen[:, 0])).sum()) < FIRST:
            return state
        pool, rng = state.pool, copy.deepcopy(state.rng)
        if state.bank is not None:
            pool = pool._replace(candidates=state.bank.candidates(state.filters))
        kind = state.emission
        assert kind is not None
        search = CandidateSearch(
            BESIDE.get(kind, (kind,)),
            settings.numbers,
            settings.budget,
            settings.symbols,
            _series_models.tried(kind, settings.symbols),
        )
        pool, left, joined = search.review(pool, seen, state.weights, rng)
        if not pool.candidates:  # too few observations for this many states
            return state._replace(pool=pool, rng=rng)
        bank = FilterBank(pool.candidates, settings.most)
        labels = state.labels.match(pool.candidates, pool.standing, seen, settings.worth)
        return state._replace(
            pool=pool,
            rng=rng,
            game=settings.averaging.change(state.game, left, joined),
            bank=bank,
            filters=bank.init(),
            labels=labels,
            history=(*state.history, (state.rounds, labels.parameters())),
        )


def renumber_history(history: Iterable[tuple[int, dict[int, T]]], new: Labels) -> History[T]:
    """Return the history of regimes with their new numbers."""
    return tuple(
        (rounds, dict(sorted((int(new[old]), value) for old, value in regimes.items())))
        for rounds, regimes in history
    )


def _known(state: RegimesState, block: Floats) -> npt.NDArray[np.bool_]:
    """Return which rounds teach something; to autoregressive models, none right after a gap."""
    known = ~np.isnan(block[:, 0])
    if state.emission == "autoregressive":
        known[1:] &= known[:-1]
        known[0] &= not np.isnan(state.previous[0])
    return known


def _kind(first: Any) -> str:
    array = inputs.numbers_array("observations", first)
    if array.size > 1:
        return "full"
    return "poisson" if array.dtype.kind in "iu" and array.min() >= 0 else "gaussian"


def _until_review(observed: int, table: Floats) -> int:
    """Return how many of these rounds pass until the next review, at most all of them."""
    wanted = _next_review(observed) - observed
    if not np.isnan(table[:wanted, 0]).any():
        return min(wanted, len(table))
    known = np.cumsum(~np.isnan(table[:, 0]))
    return min(int(np.searchsorted(known, wanted)) + 1, len(table))


def _next_review(observed: int) -> int:
    """Return the number of observations at the next review: 4, 8, 16, 32, 50, 100, 150, ..."""
    early = [at for at in (FIRST, 8, 16, 32) if at > observed]
    return early[0] if early else (observed // REVIEW + 1) * REVIEW


def _flat(table: Floats) -> Floats:
    return table[:, 0] if table.shape[1] == 1 else table
