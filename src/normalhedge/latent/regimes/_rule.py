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
from normalhedge.boundary.terminal import counted
from normalhedge.latent.models import Fits
from normalhedge.latent.models.emissions import (
    ALL,
    Regression,
    check_given,
    check_observations,
)
from normalhedge.latent.regimes import _series_models
from normalhedge.latent.regimes._candidates import (
    AT_ONCE,
    LAG,
    NOVEL,
    REVIEW,
    CandidatePool,
    CandidateSearch,
)
from normalhedge.latent.regimes._evidence import Evidence, evidence
from normalhedge.latent.regimes._filter_bank import CandidateFilters, CandidateRounds, FilterBank
from normalhedge.latent.regimes._forecasting import Forecast, forecast, mixture
from normalhedge.latent.regimes._hindsight import RegimesInHindsight, look_back
from normalhedge.latent.regimes._matching import Labels
from normalhedge.latent.regimes._predictive import Predictive
from normalhedge.latent.regimes._recipes import FIRST, Candidate, Pending, hidden_only
from normalhedge.latent.regimes._regime_labels import Parameters, RegimeLabels
from normalhedge.latent.regimes._regime_path import RegimePath
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.latent.regimes._surprise import PATIENCE, Surprise, places_of

BESIDE = {
    "gaussian": ("gaussian", "student"),
    "poisson": ("poisson", "negative_binomial"),
    "full": ("full", "diagonal"),
}
"""The families that are tried, by the requested one."""

STEPS = ("poisson", "negative_binomial", "categorical")  # the families of whole numbers
# the families whose observations are any single numbers
PLAIN = ("gaussian", "student", "autoregressive")
T = TypeVar("T")
# a number of rounds, and a value for each regime by then
History = tuple[tuple[int, dict[int, T]], ...]
# the number of last observations that are kept; models of all rounds are fitted to them
LONGEST = 20_000
WARM = 500  # the number of rounds before the lag that are filtered again by `smoothed`
BLOCKS = 64  # the largest number of blocks in which they are kept


class Observed(NamedTuple):
    """What the candidates and the hedger made of T rounds."""

    known: npt.NDArray[np.bool_]  # which rounds taught something
    weights: Floats  # of the candidates before each round, T x N
    mixed: Floats  # the log densities of the mixture
    regimes: tuple[Floats, Floats]  # the regimes, and the probability of a switch, after each round
    results: CandidateRounds
    places: Floats  # of the observations in their predictions, T x d


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
    # the places of the last observations in their predictions, whose surprise is not learned yet
    waiting: tuple[Floats, ...] = ()
    # pending, fits: the fits that were begun at reviews, and how far each has come; None if it has
    # not begun. No file holds `fits`: the result does not depend on it
    pending: tuple[Pending, ...] = ()
    fits: tuple[Fits | None, ...] = ()

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
            rng=copy.deepcopy(self.settings.rng),
        )

    def accept(
        self, state: RegimesState, observations: np.ndarray, given: npt.ArrayLike | None = None
    ) -> tuple[RegimesState, Floats]:
        """Return observations as T x d, checked; the first ones fix the family and d.

        Covariates are further columns. Where one is missing, so is the observation.
        """
        symbols, begun = self.settings.symbols, state.emission is not None
        kind = state.emission or self.settings.emission
        if kind is None:
            kind = _kind(observations[0]) if given is None else Regression.family
        _check_covariates(kind, given)
        several = None if kind in {"full", "diagonal"} else 1
        columns = len(state.previous) if begun and given is None else several
        table = check_observations(ALL[kind], observations, columns)
        if given is not None:
            x = check_given(given, len(table), len(state.previous) - 1 if begun else None)
            table = np.column_stack([table, x])
            table[np.isnan(x).any(axis=1), 0] = np.nan
        if symbols is not None and (table >= symbols).any():
            raise ValueError(f"observations must be symbols below {symbols}")
        if not begun:
            missing = np.full(table.shape[1], np.nan)
            state = state._replace(emission=kind, previous=missing)
        return state, table

    def observe(
        self, state: RegimesState, y: npt.ArrayLike | None, given: npt.ArrayLike | None = None
    ) -> RegimesState:
        """Return the state after an observation, as a user gives it."""
        plain = given is None and state.emission in PLAIN
        if plain and isinstance(y, float) and abs(y) <= inputs.LARGEST:
            return self.learn(state, np.array([[y]]))
        columns = len(state.previous) if given is None else 1
        row = np.full(columns, np.nan) if y is None else y
        row = np.reshape(inputs.numbers_array("y", row), (1, -1))
        rows = None if given is None else np.reshape(inputs.numbers_array("given", given), (1, -1))
        return self.learn(*self.accept(state, row, rows))

    def learn(self, state: RegimesState, block: Floats) -> RegimesState:
        """Return the state after some rounds; only the last may be followed by a review."""
        if state.bank is not None:
            state, observed = self._observe(state, state.bank, block)
            state = state._replace(waiting=(*state.waiting, observed.places))
        return self._work(self._advance(state, block))

    def settle(self, state: RegimesState) -> RegimesState:
        """Return the state with the novelty of all rounds, which live rounds leave for later."""
        if not state.waiting:
            return state
        places = np.concatenate(state.waiting)
        return self._notice(state, state.rounds - len(places), places)[0]._replace(waiting=())

    def _notice(
        self, state: RegimesState, rounds: int, places: Floats
    ) -> tuple[RegimesState, Floats, npt.NDArray[np.bool_]]:
        """Learn how surprising observations were; return the state, novelty and alarms."""
        patience = float(self.settings.patience or PATIENCE)
        surprise, novelty, alarms = state.surprise.learn(places, rounds, patience)
        return state._replace(surprise=surprise), novelty, alarms

    def run(self, state: RegimesState, table: Floats) -> tuple[RegimesState, RegimePath]:
        """Return the state after many rounds, and the predictions and regimes of each."""
        parts, start = [], 0
        while start < len(table):
            stop = start + _until_review(state, table[start:])
            block = table[start:stop]
            state, path = self._follow(state, block)
            state = self._advance(state, block)
            parts.append(path)
            start = stop
        return state, RegimePath.join(parts)

    def predict(self, state: RegimesState, given: npt.ArrayLike | None = None) -> Predictive:
        """Return the distribution of the next observation, given its covariates."""
        rows = None if given is None else np.reshape(inputs.numbers_array("given", given), (1, -1))
        x = self._ahead(state, rows, 1)
        previous = state.previous if x is None else state.previous[:1]
        if state.bank is None or (x is not None and np.isnan(x).any()):
            return Predictive([], previous)
        row = None if x is None else x[0]
        return mixture(state.bank.mixtures(state.filters, state.weights, row), previous)

    def forecast(
        self, state: RegimesState, rounds: int, given: npt.ArrayLike | None = None
    ) -> Forecast:
        """Return a forecast of the next rounds, given their covariates."""
        x = self._ahead(state, given, rounds)
        if x is not None and np.isnan(x).any():
            raise ValueError("given must hold no NaN: a forecast needs all covariates")
        previous = state.previous if x is None else state.previous[:1]
        if state.bank is None:
            none = np.zeros((rounds, self.settings.most)), np.full(rounds, np.nan)
            return Forecast((Predictive([], previous),) * rounds, *none)
        return forecast(rounds, state.bank, state.filters, state.weights, state.labels, previous, x)

    def _ahead(
        self, state: RegimesState, given: npt.ArrayLike | None, rounds: int
    ) -> Floats | None:
        """Return the covariates of the next rounds, checked; None if the models have none."""
        _check_covariates(state.emission or self.settings.emission, given)
        if given is None:
            return None
        columns = None if state.emission is None else len(state.previous) - 1
        return check_given(given, rounds, columns)

    def smoothed(self, state: RegimesState, lag: int) -> Floats:
        """Return the probability of each regime ``lag`` rounds ago, given all rounds."""
        seen = np.concatenate(state.seen) if state.seen else np.empty((0, 1))
        if lag >= len(seen):
            reach = (
                "there is no round yet"
                if not len(seen)
                else f"lag must be at most {len(seen) - 1:,}: the last {len(seen):,} of "
                f"{counted(state.rounds, 'round')} are remembered"
            )
            raise ValueError(f"{reach}, got {lag:,}")
        if state.bank is None or not lag:
            return state.now.copy()
        states = np.zeros((len(state.weights), self.settings.most))
        part = seen[-min(lag + WARM, len(seen)) :]
        for mine, candidate in zip(states, state.bank.candidates(state.filters), strict=True):
            if isinstance(candidate, Candidate):
                model = candidate.now()
                mine[: model.states] = model.smooth(part)[0][-1 - lag]
        regimes, _ = state.labels.regimes(state.weights[np.newaxis], states[np.newaxis])
        return np.asarray(regimes[0])

    def look_back(
        self, state: RegimesState, causal: Floats, numbers: Floats | None = None
    ) -> RegimesInHindsight:
        """Return the regimes of the last rounds in hindsight, whose causal ones are given."""
        seen = np.concatenate(state.seen)
        if numbers is not None and len(numbers) > len(seen):
            seen = numbers.reshape(len(numbers), -1)
        kind, settings = state.emission, self.settings
        assert kind is not None
        return look_back(
            seen,
            BESIDE.get(kind, (kind,)),
            settings.numbers,
            worth=settings.worth,
            rng=np.random.default_rng(0),
            causal=causal,
            symbols=settings.symbols,
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
        bank = FilterBank(state.pool.candidates, self.settings.most)
        return state._replace(bank=bank, fits=(None,) * len(state.pending))

    def _advance(self, state: RegimesState, block: Floats) -> RegimesState:
        """Let time pass; review the candidates if a review is due."""
        new = int((~np.isnan(block[:, 0])).sum())
        seen, observed = (*state.seen, block), state.observed + new
        due = new and observed == _next_event(state)
        state = state._replace(
            seen=seen if len(seen) <= BLOCKS else (np.concatenate(seen)[-LONGEST:],),
            previous=block[-1],
            rounds=state.rounds + len(block),
            observed=observed,
        )
        if due or len(state.waiting) >= REVIEW:
            state = self.settle(state)
        return self._review(state) if due else state

    def _work(self, state: RegimesState) -> RegimesState:
        """Do a share of the fits that were begun, every few rounds."""
        shares = [pending.due_now(state.observed) for pending in state.pending]
        if not any(shares) or all(fits is not None and fits.done for fits in state.fits):
            return state
        after: list[Fits | None] = []
        for pending, fits, share in zip(state.pending, state.fits, shares, strict=True):
            if not share or (fits is not None and fits.done):
                after.append(fits)
            elif fits is None:
                after.append(pending.fits(state.rng, self.settings.symbols))
            else:
                after.append(fits.advance(fits.work * share))
        return state._replace(fits=tuple(after))

    def _follow(self, state: RegimesState, block: Floats) -> tuple[RegimesState, RegimePath]:
        """Learn observations and return their predictions and regimes."""
        if state.bank is None:
            predicted = block[:, :1] if state.emission == Regression.family else block
            empty, none = _flat(np.full(predicted.shape, np.nan)), np.full(len(block), np.nan)
            regimes, never = np.zeros((len(block), self.settings.most)), np.zeros(len(block), bool)
            return state, RegimePath(empty, empty, none, regimes, none, none, never)
        state, now = self._observe(self.settle(state), state.bank, block)
        mean = np.einsum("tn,tnd->td", now.weights, now.results.means)
        away = np.square(now.results.means - mean[:, np.newaxis])
        variance = np.einsum("tn,tnd->td", now.weights, now.results.variances + away)
        scores = np.where(now.known, now.mixed, np.nan)
        state, novelty, alarms = self._notice(state, state.rounds, now.places)
        return state, RegimePath(
            _flat(mean), _flat(variance), scores, *now.regimes, novelty, alarms
        )

    def _observe(
        self, state: RegimesState, bank: FilterBank, block: Floats
    ) -> tuple[RegimesState, Observed]:
        """Let the candidates and the hedger observe some rounds."""
        filters, results = bank.run(state.filters, block, state.previous)
        known = _known(state, block)
        game, before, after = self.settings.averaging.observe(state.game, results.logs, known)
        pool = state.pool
        labels, standing, mixed = state.labels.remember(
            results.logs, before, bank.states, known, pool.standing
        )
        regimes = labels.regimes(after, results.filtered)
        places = places_of(
            block,
            known,
            labels.without_breaks(before),
            results.means,
            results.variances,
            steps=state.emission in STEPS,
        )
        state = state._replace(
            pool=pool._replace(standing=standing),
            filters=filters,
            game=game,
            labels=labels,
            now=regimes[0][-1].copy(),
            switch=float(regimes[1][-1]),
        )
        return state, Observed(known, before, mixed, regimes, results, places)

    def _review(self, state: RegimesState) -> RegimesState:
        """Begin the fits that are due, or end fits and match states with regimes again."""
        begins, ends = _events(state)
        seen = state.seen
        if begins:
            seen = (np.concatenate(seen)[-LONGEST:],)
            state = state._replace(seen=seen)
            state = self._begin(state, seen[0])
        return self._end(state, np.concatenate(seen)[-LONGEST:]) if ends else state

    def _search(self, kind: str) -> CandidateSearch:
        settings = self.settings
        return CandidateSearch(
            BESIDE.get(kind, (kind,)),
            settings.numbers,
            settings.budget,
            settings.symbols,
            _series_models.tried(kind, settings.symbols),
        )

    def _begin(self, state: RegimesState, seen: Floats) -> RegimesState:
        """Begin the fits that are due."""
        if int((~np.isnan(seen[:, 0])).sum()) < FIRST:
            return state
        assert state.emission is not None
        begun = self._search(state.emission).begin(
            state.pool,
            state.pending,
            seen,
            state.weights,
            novel=state.surprise.novelty > NOVEL,
        )
        return state._replace(
            pending=(*state.pending, *begun), fits=(*state.fits, *(None for _ in begun))
        )

    def _end(self, state: RegimesState, seen: Floats) -> RegimesState:
        """Let fitted models take their places, and match states with regimes again."""
        settings, pool = self.settings, state.pool
        fitted: list[Candidate] = []
        rest: list[tuple[Pending, Fits | None]] = []
        for pending, begun in zip(state.pending, state.fits, strict=True):
            if pending.due > state.observed:
                rest.append((pending, begun))
                continue
            fits = pending.fits(state.rng, settings.symbols) if begun is None else begun
            fitted += pending.candidates(fits.advance().results())
        if state.bank is not None:
            pool = pool._replace(candidates=state.bank.candidates(state.filters))
        assert state.emission is not None
        pool, left, joined = self._search(state.emission).end(pool, fitted, seen, state.weights)
        state = state._replace(
            pending=tuple(pending for pending, _ in rest), fits=tuple(fits for _, fits in rest)
        )
        if not hidden_only(pool.candidates):  # too few observations for this many states
            return state._replace(pool=pool)
        bank = FilterBank(pool.candidates, settings.most)
        labels, now = state.labels.match(pool, bank, seen, settings.worth)
        return state._replace(
            pool=pool,
            game=settings.averaging.change(state.game, left, joined),
            bank=bank,
            filters=bank.init(now),
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


def _check_covariates(kind: str | None, given: object) -> None:
    """Refuse covariates that the models do not have, and a lack of those that they have."""
    if kind == Regression.family and given is None:
        raise ValueError("given is needed: these regimes are regressions on covariates")
    if kind not in {None, Regression.family} and given is not None:
        raise ValueError("given is for regimes with covariates, and these have none")


def _kind(first: Any) -> str:
    array = inputs.numbers_array("observations", first)
    if array.size > 1:
        return "full"
    return "poisson" if array.dtype.kind in "iu" and array.min() >= 0 else "gaussian"


def _until_review(state: RegimesState, table: Floats) -> int:
    """Return how many of these rounds pass until the next review, at most all of them."""
    wanted = _next_event(state) - state.observed
    if not np.isnan(table[:wanted, 0]).any():
        return min(wanted, len(table))
    known = np.cumsum(~np.isnan(table[:, 0]))
    return min(int(np.searchsorted(known, wanted)) + 1, len(table))


def _next_event(state: RegimesState) -> int:
    """Return the number of observations when fits begin or end next: 4, 8, 16, 32, 50, 100, ..."""
    observed = state.observed
    early = [at for at in (FIRST, 8, 16, 32, REVIEW, AT_ONCE) if at > observed]
    if early:
        return early[0]
    begun = observed // REVIEW * REVIEW
    events = [begun + LAG, begun + REVIEW, *(pending.due for pending in state.pending)]
    return min(event for event in events if event > observed)


def _events(state: RegimesState) -> tuple[bool, bool]:
    """Return whether fits begin, and whether fits end."""
    observed = state.observed
    if observed < AT_ONCE:
        return True, True
    ends = observed % REVIEW == LAG or any(pending.due <= observed for pending in state.pending)
    return observed % REVIEW == 0, ends


def _flat(table: Floats) -> Floats:
    return table[:, 0] if table.shape[1] == 1 else table
