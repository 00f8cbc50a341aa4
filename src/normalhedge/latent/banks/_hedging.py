"""Predictors that hedge over the candidates of a bank, or over their states.

State s of candidate n predicts ``emission[:, s, n]``, with the candidate's one-step predictive
probability ``P_n(S_{t+1} = s | x_1..x_t)`` as its confidence. The loss is 1 - p(x) and the gain
2 p(x) - 1. Both are linear in the prediction, so the gain of a mixture is the mixture of the gains.
"""

from abc import abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger, Hedger, NormalHedge, State
from normalhedge.latent.banks._hmm_bank import HMMBank
from normalhedge.latent.banks._predictor import (
    BankPredictor,
    BatchPredictions,
    PredictorState,
    entry_of_each,
    most_probable,
    row_of_each,
)

ALPHA = 0.001  # the discount rate of the default hedger, as in the simulations of the paper


class HedgingPredictor(BankPredictor):
    """A predictor on a bank with a hedger and the state of its game."""

    def __init__(
        self, bank: HMMBank, hedger: Hedger[Any] | None, experts: int, *, rounded: bool
    ) -> None:
        super().__init__(bank, rounded=rounded)
        self.hedger: Hedger[Any] = NormalHedge(alpha=ALPHA) if hedger is None else hedger
        if isinstance(self.hedger, type) or not isinstance(self.hedger, Hedger):
            raise TypeError(
                "hedger must have the methods init, play, step and run, as the hedgers of this "
                f"package have, got {hedger!r}"
            )
        self._state = self._state._replace(game=self.hedger.init(experts))

    @property
    def game(self) -> Any:
        """The state of the hedger's game."""
        return self._state.game

    def observe(self, symbol: float | None) -> None:
        before = self._state
        self._change(before, self._after(before, symbol))

    @abstractmethod
    def _after(self, now: PredictorState, symbol: float | None) -> PredictorState:
        """Return the state after a symbol."""


class StateExperts(HedgingPredictor):
    r"""Hedge over the N k pairs of a candidate and a state, as the paper proposes.

    Expert (n, s) predicts the emission of state s. Its confidence is the probability of that state
    under candidate n. With N = 1 this is the paper's first case, known parameters.

    .. math:: R_{n,s} \leftarrow (1 - \alpha) R_{n,s} + P_n(s)\,(g_{n,s} - g_A)

    Parameters
    ----------
    bank
        The candidates.
    hedger
        The hedger that weighs the experts, yours too; ``NormalHedge(alpha=0.001)`` by default.
    rounded
        Whether each expert predicts its most probable symbol with probability one.

    Notes
    -----
    The confidences of a candidate sum to one, so the sum of its k regrets is the regret to the
    candidate as a whole: at most k times the bound for one expert. `ModelExperts` has no such
    factor.

    Examples
    --------
    >>> from normalhedge.latent import categorical_bank
    >>> moves = [[[0.9, 0.1], [0.1, 0.9]]]
    >>> bank = categorical_bank([[0.5, 0.5]], moves, [[[0.9, 0.1], [0.2, 0.8]]])
    >>> predictor = StateExperts(bank)
    >>> predictor.observe(0)
    >>> predictor.predict().round(2)
    array([0.9, 0.1])
    """

    def __init__(
        self, bank: HMMBank, hedger: Hedger[Any] | None = None, *, rounded: bool = False
    ) -> None:
        super().__init__(bank, hedger, bank.states * bank.candidates, rounded=rounded)
        experts = bank.state_predictions
        experts = most_probable(experts) if rounded else experts
        self._predictions = np.ascontiguousarray(experts.reshape(experts.shape[0], -1))
        # The gains of the experts for each symbol.
        self._gains = 2.0 * self._predictions - 1.0 if bank.symbol_count else None

    def predict(self) -> Floats:
        return np.asarray(self._predictions @ self.played())

    def score(self, symbol: float) -> float:
        scores = self.bank.bounded(symbol)
        if scores is None:
            return float("nan")
        by_expert = self._predictions[int(symbol)] if self.rounded else scores.ravel()
        return float(by_expert @ self.played())

    def played(self) -> Floats:
        """Return the next distribution over the experts, k x N flattened."""
        return self.hedger.play(self.game, self.state.beliefs.ravel())

    def _after(self, now: PredictorState, symbol: float | None) -> PredictorState:
        bank, state, game = now[:3]
        scores = bank.scores(symbol)
        if scores is not None:
            if self._gains is not None:
                gains = self._gains[int(symbol)]  # type: ignore[arg-type]
            else:
                gains = 2.0 * bank.bound(scores).ravel() - 1.0
            game = self.hedger.step(game, gains, state.beliefs.ravel())
        return PredictorState(bank, bank.learn(state, scores), game)

    def run(self, symbols: Floats) -> BatchPredictions:
        before = self._state
        filtered = before.bank.run(symbols, before.filters)
        scores = filtered.scores.reshape(len(symbols), -1)
        if self.rounded:
            scores = row_of_each(self._predictions, symbols)
        confidence = filtered.beliefs.reshape(scores.shape)
        game, played = _play(self.hedger, before.game, 2.0 * scores - 1.0, confidence, symbols)
        total = np.einsum("te,te->t", scores, played)
        weights = played.reshape(filtered.beliefs.shape)
        result = BatchPredictions(played @ self._predictions.T, total, weights)
        self._change(before, PredictorState(before.bank, filtered.state, game))
        return result

    @property
    def weights(self) -> Floats:
        """The next distribution over the states of all candidates, k x N."""
        return self.played().reshape(self.bank.states, self.bank.candidates)


class ModelExperts(HedgingPredictor):
    r"""Hedge over the N candidates, each of which predicts the next symbol.

    .. math:: R_n \leftarrow (1 - \alpha) R_n + g_n - g_A, \qquad g_n = 2 P_n(x | x_1..x_t) - 1

    Parameters
    ----------
    bank, hedger, rounded
        As for `StateExperts`.

    Examples
    --------
    >>> from normalhedge.latent import categorical_bank
    >>> moves = [[[0.9, 0.1], [0.1, 0.9]]]
    >>> bank = categorical_bank([[0.5, 0.5]], moves, [[[0.9, 0.1], [0.2, 0.8]]])
    >>> predictor = ModelExperts(bank)
    >>> predictor.observe(0)
    >>> predictor.predict().round(2)
    array([0.73, 0.27])
    """

    def __init__(
        self, bank: HMMBank, hedger: Hedger[Any] | None = None, *, rounded: bool = False
    ) -> None:
        super().__init__(bank, hedger, bank.candidates, rounded=rounded)

    def _scores(self, now: PredictorState, symbol: float | None, densities: Floats) -> Floats:
        """Return the score of each candidate."""
        bank, beliefs = now.bank, now.filters.beliefs
        if self.rounded:
            return np.asarray(most_probable(bank.predictions(beliefs))[int(symbol or 0)])
        return np.asarray((bank.bound(densities) * beliefs).sum(axis=0))

    def predict(self) -> Floats:
        predictions = self.bank.predictions(self.state.beliefs)
        predictions = most_probable(predictions) if self.rounded else predictions
        return np.asarray(predictions @ self.game.weights)

    def score(self, symbol: float) -> float:
        scores = self.bank.scores(symbol)
        if scores is None:
            return float("nan")
        return float(self._scores(self._state, symbol, scores) @ self.game.weights)

    def _after(self, now: PredictorState, symbol: float | None) -> PredictorState:
        game, scores = now.game, now.bank.scores(symbol)
        if scores is not None:
            gains = np.clip(2.0 * self._scores(now, symbol, scores) - 1.0, -1.0, 1.0)
            game = self.hedger.step(game, gains)
        return PredictorState(now.bank, now.bank.learn(now.filters, scores), game, *now[3:])

    def run(self, symbols: Floats) -> BatchPredictions:
        before = self._state
        filtered = before.bank.run(symbols, before.filters)
        predictions = before.bank.predictions(filtered.beliefs)
        scores = np.einsum("tsn,tsn->tn", filtered.scores, filtered.beliefs)
        if self.rounded:
            predictions = most_probable(predictions, axis=1)
            scores = entry_of_each(predictions, symbols)
        gains = np.clip(2.0 * scores - 1.0, -1.0, 1.0)
        game, played = _play(self.hedger, before.game, gains, None, symbols)
        result = BatchPredictions(
            np.einsum("txn,tn->tx", predictions, played),
            np.einsum("tn,tn->t", scores, played),
            played[:, np.newaxis] * filtered.beliefs,
        )
        self._change(before, before._replace(filters=filtered.state, game=game))
        return result

    @property
    def weights(self) -> Floats:
        """The weight of each candidate, divided among its states by its beliefs, k x N."""
        return np.asarray(self.game.weights * self.state.beliefs)


def _play(
    hedger: Hedger[Any], game: Any, gains: Floats, confidence: Floats | None, symbols: Floats
) -> tuple[Any, Floats]:
    """Return the state after the known rounds, and the distribution played in each round, T x N.

    A missing round does not change the game.
    """
    known = ~np.isnan(symbols)
    if known.all():
        whole = hedger.run(gains, confidence, state=game, keep_weights=True)
        assert whole.weights is not None
        return whole.state, whole.weights
    if confidence is None:
        return _run_awake(hedger, game, gains, known)
    if isinstance(hedger, CompiledHedger):
        return _run_compiled(hedger, game, gains, confidence, symbols)
    return _run_in_pieces(hedger, game, gains, confidence, known)


def _run_awake(
    hedger: Hedger[Any], game: Any, gains: Floats, known: np.ndarray
) -> tuple[Any, Floats]:
    """Play the known rounds; a gap has the same distribution as the round after it."""
    if not known.any():
        return game, np.repeat(hedger.play(game)[np.newaxis], len(known), axis=0)
    observed = hedger.run(gains[known], state=game, keep_weights=True)
    assert observed.weights is not None
    played = np.concatenate([observed.weights, hedger.play(observed.state)[np.newaxis]])
    return observed.state, played[np.cumsum(known) - known]


def _run_compiled(
    hedger: CompiledHedger, game: State, gains: Floats, confidence: Floats, symbols: Floats
) -> tuple[State, Floats]:
    """Play all rounds in the core, which skips the missing ones."""
    weights, ledger, totals, rounds, joined, gain = State(*game)
    now = weights.copy(), ledger.copy(), totals.copy()
    table, confident, numbers = (np.ascontiguousarray(a) for a in (gains, confidence, symbols))
    played = np.empty(table.shape)
    done, last = _core.run_with_gaps(hedger._engine, *now, table, confident, numbers, played)
    if done < len(gains):
        inputs.refuse(table[done], confident[done], done)
    known = len(gains) - int(np.isnan(symbols).sum())
    if known:
        gain = None if np.isnan(last) else last
    return State(*now, rounds + known, joined, gain), played


def _run_in_pieces(
    hedger: Hedger[Any], game: Any, gains: Floats, confidence: Floats, known: np.ndarray
) -> tuple[Any, Floats]:
    """Play the rounds between two gaps in one call, with a hedger of any kind."""
    played = np.empty(gains.shape)
    cuts = [0, *(np.flatnonzero(known[1:] != known[:-1]) + 1).tolist(), len(known)]
    for first, last in pairwise(cuts):
        if known[first]:
            part = slice(first, last)
            piece = hedger.run(gains[part], confidence[part], state=game, keep_weights=True)
            game, played[part] = piece.state, piece.weights
        else:
            for t in range(first, last):
                played[t] = hedger.play(game, confidence[t])
    return game, played
