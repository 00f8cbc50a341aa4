"""Predictors of symbols or real numbers, with one interface: `predict`, then `observe`.

A candidate n of a bank, in state s, says ``emission[:, s, n]``; how much it wants to be heard is
its one-step predictive ``P_n(S_{t+1} = s | x_1..x_t)``. The loss is 1 - p(x), the gain 2 p(x) - 1;
that is linear in the prediction, so the gain of a mixture is the mixture of the gains.
"""

from typing import Any, Protocol

import numpy as np

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.hedgers import NormalHedge, PotentialHedger
from normalhedge.latent.hmm_bank import BankState, HMMBank

ALPHA = 0.001
"""The discount rate of the hedger that is used when none is given: the paper's simulations'."""


class Predictor(Protocol):
    """What every predictor is."""

    def predict(self) -> Floats:
        """Return the distribution over the next symbol; for real numbers, the mean alone."""
        ...

    def score(self, symbol: float) -> float:
        """Return the probability of a symbol; of a real number see `HMMBank.bounded`."""
        ...

    def observe(self, symbol: float | None) -> None:
        """Learn the next symbol; NaN or None where it is missing: time passes."""
        ...


class _OnBank:
    """What predictors on a bank share: the bank, its state and how it is rounded."""

    def __init__(self, bank: HMMBank, *, rounded: bool = False) -> None:
        if rounded and bank.emission is None:
            raise ValueError("rounded needs a bank over symbols")
        self.bank = bank
        self.rounded = rounded
        self.state: BankState = bank.init()

    @property
    def impossible(self) -> int:
        """How many observations no candidate thought possible."""
        return self.state.impossible


class StateExperts(_OnBank):
    r"""Hedge over the N k pairs of a candidate and a state: the paper's proposal.

    Expert (n, s) predicts the emission of state s with the confidence of candidate n that this is
    the next state. Where N = 1 this is the paper's first case, known parameters.

    .. math:: R_{n,s} \leftarrow (1 - \alpha) R_{n,s} + P_n(s)\,(g_{n,s} - g_A)

    Parameters
    ----------
    bank
        The candidates.
    hedger
        Who weighs them; ``NormalHedge(alpha=0.001)`` by default.
    rounded
        Whether each expert says its most probable symbol for sure.

    Notes
    -----
    The confidences of a candidate sum to one, so the sum of its k regrets is the regret to the
    candidate as a whole: at most k times what is promised of one expert. `ModelExperts` has no such
    factor.
    """

    def __init__(
        self, bank: HMMBank, hedger: PotentialHedger | None = None, *, rounded: bool = False
    ) -> None:
        super().__init__(bank, rounded=rounded)
        self.hedger = NormalHedge(alpha=ALPHA) if hedger is None else hedger
        self.game = self.hedger.init(bank.states * bank.candidates)
        said = bank.means[np.newaxis] if bank.means is not None else bank.emission
        assert said is not None
        said = _rounded(said) if rounded else said
        self._said = np.ascontiguousarray(said.reshape(said.shape[0], -1))

    def predict(self) -> Floats:
        """Return the mixture of what the experts say, by what is played."""
        return np.asarray(self._said @ self.played())

    def _scores(self, symbol: float | None) -> Floats | None:
        bounded = self.bank.bounded(symbol)
        if bounded is None or not self.rounded:
            return None if bounded is None else bounded.ravel()
        return np.asarray(self._said[int(symbol or 0)])

    def score(self, symbol: float) -> float:
        """Return the probability of a symbol, or of an interval around a number."""
        scores = self._scores(symbol)
        return float("nan") if scores is None else float(scores @ self.played())

    def played(self) -> Floats:
        """Return the distribution over the experts that is played next, k x N flattened."""
        return self.hedger.play(self.game, self.state.beliefs.ravel())

    def observe(self, symbol: float | None) -> None:
        """Learn the next symbol."""
        scores = self._scores(symbol)
        if scores is not None:
            gains = 2.0 * scores - 1.0
            confidence = np.minimum(self.state.beliefs.ravel(), 1.0)
            self.game = self.hedger.step(self.game, gains, confidence, in_place=True)
        self.state = self.bank.observe(self.state, symbol)

    @property
    def weights(self) -> Floats:
        """The weights of each candidate's states as they are played, k x N."""
        return self.played().reshape(self.bank.states, self.bank.candidates)


class ModelExperts(_OnBank):
    r"""Hedge over the N whole candidates, each of which predicts the next symbol.

    .. math:: R_n \leftarrow (1 - \alpha) R_n + g_n - g_A, \qquad g_n = 2 P_n(x | x_1..x_t) - 1

    Parameters
    ----------
    bank, hedger, rounded
        As for `StateExperts`.
    """

    def __init__(
        self, bank: HMMBank, hedger: PotentialHedger | None = None, *, rounded: bool = False
    ) -> None:
        super().__init__(bank, rounded=rounded)
        self.hedger = NormalHedge(alpha=ALPHA) if hedger is None else hedger
        self.game = self.hedger.init(bank.candidates)

    def _scores(self, symbol: float | None) -> Floats | None:
        bounded = self.bank.bounded(symbol)
        if bounded is None:
            return None
        if self.rounded:
            return np.asarray(_rounded(self.bank.symbols(self.state))[int(symbol or 0)])
        return np.asarray((bounded * self.state.beliefs).sum(axis=0))

    def predict(self) -> Floats:
        """Return the mixture of what the candidates say."""
        said = _said(self.bank, self.state)
        return np.asarray((_rounded(said) if self.rounded else said) @ self.game.weights)

    def score(self, symbol: float) -> float:
        """Return the probability of a symbol, or of an interval around a number."""
        scores = self._scores(symbol)
        return float("nan") if scores is None else float(scores @ self.game.weights)

    def observe(self, symbol: float | None) -> None:
        """Learn the next symbol."""
        scores = self._scores(symbol)
        if scores is not None:
            gains = np.clip(2.0 * scores - 1.0, -1.0, 1.0)
            self.game = self.hedger.step(self.game, gains, in_place=True)
        self.state = self.bank.observe(self.state, symbol)

    @property
    def weights(self) -> Floats:
        """The weight of each candidate, shared over its states by its beliefs, k x N."""
        return np.asarray(self.game.weights * self.state.beliefs)


class BayesAverage(_OnBank):
    """Average the candidates by their posterior; once it has collapsed it cannot recover.

    Parameters
    ----------
    bank
        The candidates, with equal priors.
    keep
        What is kept of the log-likelihoods in each round: 1 is Bayes' rule, less forgets.
    rounded
        Whether the most probable symbol is said for sure.
    """

    def __init__(self, bank: HMMBank, keep: float = 1.0, *, rounded: bool = False) -> None:
        super().__init__(bank, rounded=rounded)
        self.keep = _inputs.number("keep", keep, 0.0, 1.0, closed=True)

    def posterior(self) -> Floats:
        """Return the posterior of each candidate."""
        logs = self.state.log_likelihood
        raw = np.exp(logs - logs.max())
        return np.asarray(raw / raw.sum())

    def predict(self) -> Floats:
        """Return the mixture of what the candidates say, by their posterior."""
        said = np.asarray(_said(self.bank, self.state) @ self.posterior())
        return _rounded(said) if self.rounded else said

    def score(self, symbol: float) -> float:
        """Return the probability of a symbol, or of an interval around a number."""
        if self.rounded:
            return float(self.predict()[int(symbol)])
        bounded = self.bank.bounded(symbol)
        if bounded is None:
            return float("nan")
        return float((bounded * self.state.beliefs).sum(axis=0) @ self.posterior())

    def observe(self, symbol: float | None) -> None:
        """Learn the next symbol."""
        self.state = self.bank.observe(self.state, symbol, self.keep)

    @property
    def weights(self) -> Floats:
        """The posterior of each candidate and its next state, k x N."""
        return np.asarray(self.posterior() * self.state.beliefs)


class Persistence:
    """Say the last symbol again; uniform before the first.

    Parameters
    ----------
    symbols
        m.
    """

    def __init__(self, symbols: int) -> None:
        self._said = np.full(_inputs.count("symbols", symbols), 1.0 / symbols)

    def predict(self) -> Floats:
        """Return the last symbol, for sure."""
        return self._said.copy()

    def score(self, symbol: float) -> float:
        """Return the probability of a symbol."""
        return float(self._said[int(symbol)])

    def observe(self, symbol: float | None) -> None:
        """Learn the next symbol."""
        if symbol is not None and symbol == symbol:  # noqa: PLR0124 -- NaN
            self._said = np.eye(len(self._said))[int(symbol)]


def best_candidate(bank: HMMBank, symbols: Any) -> tuple[int, Floats]:
    """Return the candidate with the least L1 loss in hindsight, and the losses of all.

    Parameters
    ----------
    bank
        The candidates.
    symbols
        A whole sequence; NaN where missing.
    """
    state, losses = bank.init(), np.zeros(bank.candidates)
    for symbol in symbols:
        bounded = bank.bounded(symbol)
        if bounded is not None:
            losses += 1.0 - (bounded * state.beliefs).sum(axis=0)
        state = bank.observe(state, symbol)
    return int(losses.argmin()), losses


def _said(bank: HMMBank, state: BankState) -> Floats:
    """Return what each candidate says: its distribution over symbols, or its mean; m or 1 x N."""
    if bank.means is None:
        return bank.symbols(state)
    return np.asarray((bank.means * state.beliefs).sum(axis=0)[np.newaxis])


def _rounded(said: Floats) -> Floats:
    """Return one for the most probable symbol, the first of those that tie, and zero for others."""
    result = np.zeros_like(said)
    np.put_along_axis(result, said.argmax(axis=0)[np.newaxis], 1.0, axis=0)
    return result
