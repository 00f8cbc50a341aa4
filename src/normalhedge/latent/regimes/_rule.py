"""How regimes learn: pure functions of a state and of observations."""

import copy
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions import FAMILIES, check_observations
from normalhedge.latent.regimes._candidates import FIRST
from normalhedge.latent.regimes._course import Course
from normalhedge.latent.regimes._forecasting import Forecast, forecast, mixture
from normalhedge.latent.regimes._lineup import CandidateFilters, CandidateRounds, Lineup
from normalhedge.latent.regimes._matching import Labels
from normalhedge.latent.regimes._naming import Naming, Parameters
from normalhedge.latent.regimes._predictive import Predictive
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.latent.regimes._slate import Board, Slate

BESIDE = {
    "gaussian": ("gaussian", "student"),
    "poisson": ("poisson", "negative_binomial"),
    "full": ("full", "diagonal"),
}
"""The families that are tried, by the requested one."""

REVIEW = 50
"""The number of observations between reviews of the candidates."""

LONGEST = 20_000
"""The number of last observations that are kept; models of all rounds are fitted to them."""

BLOCKS = 64
"""The largest number of blocks in which they are kept."""


class RegimesState(NamedTuple):
    """Everything that regimes have learned; nothing in it is ever changed in place."""

    emission: str | None  # the family of the observations; None before the first one
    # rounds, observed: the number of rounds, and of rounds with an observation
    rounds: int
    observed: int
    # seen, previous: the last observations, in blocks of T x d, and the very last one
    seen: tuple[Floats, ...]
    previous: Floats
    board: Board  # the candidates at the last review, and their standings
    filters: CandidateFilters  # what the candidates have learned since
    game: Any  # the state of the hedger's game; None before the first fit
    naming: Naming  # the regimes
    # now, switch: the probability of each regime, and of a switch after this round
    now: Floats
    switch: float
    # the parameters of the regimes after each review, with the number of rounds
    history: tuple[tuple[int, dict[int, Parameters]], ...]
    # the generator of random numbers of the next review, which uses a copy of it
    rng: np.random.Generator
    # The candidates as they are filtered together; it follows from the board. None before the first
    # fit.
    lineup: Lineup | None = None

    @property
    def weights(self) -> Floats:
        """The current weights of the candidates."""
        return np.empty(0) if self.game is None else np.asarray(self.game.weights)


class _Learned(NamedTuple):
    """Some rounds: weights before and after each, log densities, results of the candidates."""

    state: RegimesState
    before: Floats
    after: Floats
    mixed: Floats
    results: CandidateRounds


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
            board=Board((), none, {}),
            filters=CandidateFilters(none, none, none),
            game=None,
            naming=Naming.init(most),
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

    def learn(self, state: RegimesState, block: Floats) -> RegimesState:
        """Return the state after some rounds; only the last may be followed by a review."""
        if state.lineup is not None:
            state = self._learned(state, state.lineup, block, moments=False).state
        return self._advance(state, block)

    def run(self, state: RegimesState, table: Floats) -> tuple[RegimesState, Course]:
        """Return the state after many rounds, and the predictions and regimes of each."""
        parts, start = [], 0
        while start < len(table):
            stop = start + _until_review(state.observed, table[start:])
            block = table[start:stop]
            state, course = self._course(state, block)
            state = self._advance(state, block)
            parts.append(course)
            start = stop
        return state, Course.joined(parts)

    def predict(self, state: RegimesState) -> Predictive:
        """Return the distribution of the next observation."""
        if state.lineup is None:
            return Predictive([], state.previous)
        beliefs = state.weights[:, np.newaxis] * state.lineup.predicted(state.filters)
        return mixture(beliefs, state.lineup.parameters(state.filters), state.previous)

    def forecast(self, state: RegimesState, rounds: int) -> Forecast:
        """Return a forecast of the next rounds."""
        if state.lineup is None:
            none = np.zeros((rounds, self.settings.most)), np.full(rounds, np.nan)
            return Forecast((self.predict(state),) * rounds, *none)
        return forecast(
            rounds,
            state.lineup.candidates(state.filters),
            state.weights,
            state.lineup.predicted(state.filters),
            state.naming,
            state.previous,
        )

    def renumber(self, state: RegimesState) -> tuple[RegimesState, Labels]:
        """Return the state with the regimes in their order, and the new number of each old one."""
        naming, new = state.naming.renumber()
        now = np.empty_like(state.now)
        now[new] = state.now
        history = tuple(
            (rounds, dict(sorted((int(new[old]), one) for old, one in there.items())))
            for rounds, there in state.history
        )
        return state._replace(naming=naming, now=now, history=history), new

    def restore(self, state: RegimesState) -> RegimesState:
        """Return a state without a lineup, as a file has it, with its lineup."""
        if not state.board.candidates:
            return state
        return state._replace(lineup=Lineup(state.board.candidates, self.settings.most))

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

    def _course(self, state: RegimesState, block: Floats) -> tuple[RegimesState, Course]:
        """Learn observations and return their predictions and regimes."""
        if state.lineup is None:
            rounds = len(block)
            empty, none = np.full(block.shape, np.nan), np.full(rounds, np.nan)
            regimes = np.zeros((rounds, self.settings.most))
            return state, Course(_flat(empty), _flat(empty), none, regimes, none)
        known = _known(state, block)
        state, before, after, mixed, results = self._learned(
            state, state.lineup, block, moments=True
        )
        mean = np.einsum("tn,tnd->td", before, results.means)
        away = np.square(results.means - mean[:, np.newaxis])
        variance = np.einsum("tn,tnd->td", before, results.variances + away)
        shares = state.naming.regimes(after, results.filtered)
        switch = state.naming.switching(after, results.filtered)
        scores = np.where(known, mixed, np.nan)
        return state, Course(_flat(mean), _flat(variance), scores, shares, switch)

    def _learned(
        self, state: RegimesState, lineup: Lineup, block: Floats, *, moments: bool
    ) -> _Learned:
        """Let the candidates and the hedger observe."""
        filters, results = lineup.run(state.filters, block, state.previous, moments=moments)
        known = _known(state, block)
        weighing, naming, board = self.settings.weighing, state.naming, state.board
        game, before, after, mixed = weighing.observe(state.game, results.logs, known)
        if known.any():
            ahead = results.logs[known] - mixed[known, np.newaxis]
            naming, left, gained = naming.remember(ahead, before[known])
            board = board._replace(standing=left * board.standing + gained)
        state = state._replace(
            board=board,
            filters=filters,
            game=game,
            naming=naming,
            now=naming.regimes(after[-1:], results.filtered[-1:])[0],
            switch=float(naming.switching(after[-1:], results.filtered[-1:])[0]),
        )
        return _Learned(state, before, after, mixed, results)

    def _review(self, state: RegimesState) -> RegimesState:
        """Fit the candidates that are due, and match states with regimes again."""
        settings = self.settings
        seen = np.concatenate(state.seen)[-LONGEST:]
        state = state._replace(seen=(seen,))
        if int((~np.isnan(seen[:, 0])).sum()) < FIRST:
            return state
        board, rng = state.board, copy.deepcopy(state.rng)
        if state.lineup is not None:
            board = board._replace(candidates=state.lineup.candidates(state.filters))
        kind = state.emission
        assert kind is not None
        slate = Slate(
            BESIDE.get(kind, (kind,)), settings.numbers, settings.budget, settings.symbols
        )
        board, left, joined = slate.review(board, seen, state.weights, rng)
        if not board.candidates:  # too few observations for this many states
            return state._replace(board=board, rng=rng)
        lineup = Lineup(board.candidates, settings.most)
        naming = state.naming.match(board.candidates, board.standing, seen, settings.worth)
        return state._replace(
            board=board,
            rng=rng,
            game=settings.weighing.change(state.game, left, joined),
            lineup=lineup,
            filters=lineup.init(),
            naming=naming,
            history=(*state.history, (state.rounds, naming.parameters())),
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
