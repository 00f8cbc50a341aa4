"""Predictors of symbols or real numbers, with one interface: `predict`, then `observe`.

A candidate n of a bank, in state s, says ``emission[:, s, n]``; how much it wants to be heard is
its one-step predictive ``P_n(S_{t+1} = s | x_1..x_t)``. The loss is 1 - p(x), the gain 2 p(x) - 1;
that is linear in the prediction, so the gain of a mixture is the mixture of the gains.
"""

from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.hedgers import CompiledHedger, Hedger, NormalHedge
from normalhedge.latent.banks import _gaps
from normalhedge.latent.banks.hmm_bank import BankState, HMMBank

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


class Rounds(NamedTuple):
    """Many rounds of a predictor.

    Attributes
    ----------
    said
        What it predicted, T x m, or T x 1 for real numbers.
    scores
        What it scored in each round; NaN where the observation was missing.
    weights
        The weights of each candidate's states, T x k x N.
    """

    said: Floats
    scores: Floats
    weights: Floats


BLOCK = 2**16
"""About how many numbers of a kind are held at a time: rounds x states x candidates.

Of more, fresh arrays cost more than the arithmetic: the system hands out their pages one by one.
"""


def block(bank: HMMBank) -> int:
    """Return how many rounds at a time do not take much memory."""
    return max(BLOCK // (bank.states * bank.candidates), 1)


class AtOnce:
    """A predictor that can take many rounds at once."""

    steady: ClassVar[bool] = True
    """Whether it does; not if its bank changes on the way."""

    block: int = BLOCK
    """How many rounds at a time do not take much memory."""

    def check(self, symbols: Floats) -> None:
        """Refuse a sequence that holds what cannot be observed."""
        raise NotImplementedError

    def run(self, symbols: Floats) -> Rounds:
        """Predict and learn symbols, NaN where missing: what `observe` does one by one."""
        raise NotImplementedError


class OnBank(AtOnce):
    """What predictors on a bank share: the bank, its state and how it is rounded."""

    def __init__(self, bank: HMMBank, *, rounded: bool = False) -> None:
        if rounded and bank.emission is None:
            raise ValueError("rounded needs a bank over symbols")
        self.bank = bank
        self.rounded = rounded
        self.block = block(bank)
        self.state: BankState = bank.init()

    @property
    def impossible(self) -> int:
        """How many observations no candidate thought possible."""
        return self.state.impossible

    def check(self, symbols: Floats) -> None:
        """Refuse a sequence that holds what cannot be observed."""
        self.bank.sequence(symbols)


class Hedging(OnBank):
    """What predictors on a bank share who hedge: the hedger, and where its game stands."""

    def __init__(
        self, bank: HMMBank, hedger: Hedger[Any] | None, experts: int, *, rounded: bool
    ) -> None:
        super().__init__(bank, rounded=rounded)
        self.hedger: Hedger[Any] = NormalHedge(alpha=ALPHA) if hedger is None else hedger
        if isinstance(self.hedger, type) or not isinstance(self.hedger, Hedger):
            raise TypeError(
                "hedger must have init, play, step and run, as those of this package have, got "
                f"{hedger!r}"
            )
        self.game: Any = self.hedger.init(experts)

    def _learn(self, gains: Floats, confidence: Floats | None = None) -> None:
        """Play a round."""
        hedger = self.hedger
        if isinstance(hedger, CompiledHedger):
            self.game = hedger.step(self.game, gains, confidence, in_place=True)
        else:
            self.game = hedger.step(self.game, gains, confidence)


class StateExperts(Hedging):
    r"""Hedge over the N k pairs of a candidate and a state: the paper's proposal.

    Expert (n, s) predicts the emission of state s with the confidence of candidate n that this is
    the next state. Where N = 1 this is the paper's first case, known parameters.

    .. math:: R_{n,s} \leftarrow (1 - \alpha) R_{n,s} + P_n(s)\,(g_{n,s} - g_A)

    Parameters
    ----------
    bank
        The candidates.
    hedger
        Who weighs them, any hedger, yours too; ``NormalHedge(alpha=0.001)`` by default.
    rounded
        Whether each expert says its most probable symbol for sure.

    Notes
    -----
    The confidences of a candidate sum to one, so the sum of its k regrets is the regret to the
    candidate as a whole: at most k times what is promised of one expert. `ModelExperts` has no such
    factor.
    """

    def __init__(
        self, bank: HMMBank, hedger: Hedger[Any] | None = None, *, rounded: bool = False
    ) -> None:
        super().__init__(bank, hedger, bank.states * bank.candidates, rounded=rounded)
        said = bank.means[np.newaxis] if bank.means is not None else bank.emission
        assert said is not None
        said = _rounded(said) if rounded else said
        self._said = np.ascontiguousarray(said.reshape(said.shape[0], -1))
        # What each symbol gains.
        self._gains = 2.0 * self._said - 1.0 if bank.emission is not None else None

    def predict(self) -> Floats:
        """Return the mixture of what the experts say, by what is played."""
        return np.asarray(self._said @ self.played())

    def score(self, symbol: float) -> float:
        """Return the probability of a symbol, or of an interval around a number."""
        scores = self.bank.bounded(symbol)
        if scores is None:
            return float("nan")
        own = self._said[int(symbol)] if self.rounded else scores.ravel()
        return float(own @ self.played())

    def played(self) -> Floats:
        """Return the distribution over the experts that is played next, k x N flattened."""
        return self.hedger.play(self.game, self.state.beliefs.ravel())

    def observe(self, symbol: float | None) -> None:
        """Learn the next symbol."""
        bank, state = self.bank, self.state
        scores = bank.scores(symbol)
        if scores is not None:
            if self._gains is not None:
                gains = self._gains[int(symbol)]  # type: ignore[arg-type]
            else:
                gains = 2.0 * bank.bound(scores).ravel() - 1.0
            self._learn(gains, state.beliefs.ravel())
        self.state = bank.learn(state, scores)

    def run(self, symbols: Floats) -> Rounds:
        """Predict and learn symbols, NaN where missing."""
        went = self.bank.run(symbols, self.state)
        scores = went.scores.reshape(len(symbols), -1)
        if self.rounded:
            scores = _gaps.taken(self._said, symbols)
        game, played = _gaps.run(
            self.hedger, self.game, 2.0 * scores - 1.0, went.beliefs.reshape(scores.shape), symbols
        )
        self.state, self.game = went.state, game
        own = np.einsum("te,te->t", scores, played)
        return Rounds(played @ self._said.T, own, played.reshape(went.beliefs.shape))

    @property
    def weights(self) -> Floats:
        """The weights of each candidate's states as they are played, k x N."""
        return self.played().reshape(self.bank.states, self.bank.candidates)


class ModelExperts(Hedging):
    r"""Hedge over the N whole candidates, each of which predicts the next symbol.

    .. math:: R_n \leftarrow (1 - \alpha) R_n + g_n - g_A, \qquad g_n = 2 P_n(x | x_1..x_t) - 1

    Parameters
    ----------
    bank, hedger, rounded
        As for `StateExperts`.
    """

    def __init__(
        self, bank: HMMBank, hedger: Hedger[Any] | None = None, *, rounded: bool = False
    ) -> None:
        super().__init__(bank, hedger, bank.candidates, rounded=rounded)

    def _scores(self, symbol: float | None, densities: Floats) -> Floats:
        """Return what each candidate scores."""
        if self.rounded:
            return np.asarray(_rounded(self.bank.symbols(self.state))[int(symbol or 0)])
        return np.asarray((self.bank.bound(densities) * self.state.beliefs).sum(axis=0))

    def predict(self) -> Floats:
        """Return the mixture of what the candidates say."""
        said = _said(self.bank, self.state.beliefs)
        return np.asarray((_rounded(said) if self.rounded else said) @ self.game.weights)

    def score(self, symbol: float) -> float:
        """Return the probability of a symbol, or of an interval around a number."""
        scores = self.bank.scores(symbol)
        if scores is None:
            return float("nan")
        return float(self._scores(symbol, scores) @ self.game.weights)

    def observe(self, symbol: float | None) -> None:
        """Learn the next symbol."""
        scores = self.bank.scores(symbol)
        if scores is not None:
            self._learn(np.clip(2.0 * self._scores(symbol, scores) - 1.0, -1.0, 1.0))
        self.state = self.bank.learn(self.state, scores)

    def run(self, symbols: Floats) -> Rounds:
        """Predict and learn symbols, NaN where missing."""
        went = self.bank.run(symbols, self.state)
        said = _said(self.bank, went.beliefs)
        scores = np.einsum("tsn,tsn->tn", went.scores, went.beliefs)
        if self.rounded:
            said = _rounded(said, axis=1)
            scores = _gaps.chosen(said, symbols)
        gains = np.clip(2.0 * scores - 1.0, -1.0, 1.0)
        game, played = _gaps.run(self.hedger, self.game, gains, None, symbols)
        self.state, self.game = went.state, game
        return Rounds(
            np.einsum("txn,tn->tx", said, played),
            np.einsum("tn,tn->t", scores, played),
            played[:, np.newaxis] * went.beliefs,
        )

    @property
    def weights(self) -> Floats:
        """The weight of each candidate, shared over its states by its beliefs, k x N."""
        return np.asarray(self.game.weights * self.state.beliefs)


class BayesAverage(OnBank):
    """Average the candidates by their posterior; once it has collapsed it cannot recover.

    Parameters
    ----------
    bank
        The candidates, with equal priors.
    keep
        What is kept of the log-likelihoods in each round that is observed: 1 is Bayes' rule, less
        forgets.
    rounded
        Whether the most probable symbol is said for sure.
    """

    def __init__(self, bank: HMMBank, keep: float = 1.0, *, rounded: bool = False) -> None:
        super().__init__(bank, rounded=rounded)
        self.keep = _inputs.number("keep", keep, 0.0, 1.0, closed=True)

    def posterior(self) -> Floats:
        """Return the posterior of each candidate."""
        return _posterior(self.state.log_likelihood)

    def predict(self) -> Floats:
        """Return the mixture of what the candidates say, by their posterior."""
        said = np.asarray(_said(self.bank, self.state.beliefs) @ self.posterior())
        return _rounded(said) if self.rounded else said

    def score(self, symbol: float) -> float:
        """Return the probability of a symbol, or of an interval around a number."""
        bounded = self.bank.bounded(symbol)
        if bounded is None:
            return float("nan")
        if self.rounded:
            return float(self.predict()[int(symbol)])
        return float((bounded * self.state.beliefs).sum(axis=0) @ self.posterior())

    def observe(self, symbol: float | None) -> None:
        """Learn the next symbol."""
        self.state = self.bank.observe(self.state, symbol, self.keep)

    def run(self, symbols: Floats) -> Rounds:
        """Predict and learn symbols, NaN where missing."""
        went = self.bank.run(symbols, self.state, self.keep)
        self.state = went.state
        weights = _posterior(went.log_likelihood)[:, np.newaxis] * went.beliefs
        said = np.einsum("txn,tn->tx", _said(self.bank, went.beliefs), weights.sum(axis=1))
        scores = np.einsum("tsn,tsn->t", went.scores, weights)
        if self.rounded:
            said = _rounded(said, axis=1)
            scores = _gaps.chosen(said, symbols)
        return Rounds(said, scores, weights)

    @property
    def weights(self) -> Floats:
        """The posterior of each candidate and its next state, k x N."""
        return np.asarray(self.posterior() * self.state.beliefs)


class Persistence(AtOnce):
    """Say the last symbol, or the last number, again.

    Before the first, every symbol is as probable, and the number is NaN with a score of zero.

    Parameters
    ----------
    symbols
        m; none for real numbers.
    width
        How wide an interval a real number is scored in, as by `HMMBank.bounded`: whoever names a
        number scores 1 if it comes within half of the width, and else 0.
    """

    def __init__(self, symbols: int | None = None, width: float | None = None) -> None:
        if (symbols is None) == (width is None):
            raise TypeError("give either symbols or width")
        self._width = None if width is None else _inputs.number("width", width, 0.0)
        self._said = np.full(1, np.nan)
        if symbols is not None:
            self._said = np.full(_inputs.count("symbols", symbols), 1.0 / symbols)

    def predict(self) -> Floats:
        """Return the last symbol, for sure, or the last number."""
        return self._said.copy()

    def score(self, symbol: float) -> float:
        """Return the probability of a symbol, or whether a number is near the last one."""
        if np.isnan(symbol):
            return float("nan")
        self.check(np.array([symbol], dtype=np.float64))
        return float(self._scores(self._said[np.newaxis], np.array([symbol]))[0])

    def observe(self, symbol: float | None) -> None:
        """Learn the next symbol."""
        numbers = np.array([symbol], dtype=np.float64)
        self.check(numbers)
        if not np.isnan(numbers[0]):
            self._said = self._sure(numbers)[0]

    def check(self, symbols: Floats) -> None:
        """Refuse a sequence that holds what cannot be observed."""
        known, m = symbols[~np.isnan(symbols)], len(self._said)
        wrong = ~np.isfinite(known)
        if self._width is None:
            wrong = (known != np.floor(known)) | (known < 0) | (known >= m)
        if wrong.any():
            kind = f"a symbol in 0..{m - 1}" if self._width is None else "finite"
            raise ValueError(f"observation must be {kind}, got {known[wrong][0]:g}")

    def run(self, symbols: Floats) -> Rounds:
        """Predict and learn symbols, NaN where missing."""
        known = ~np.isnan(symbols)
        sure = np.concatenate([self._said[np.newaxis], self._sure(symbols[known])])
        said = sure[np.cumsum(known) - known]  # the last before each round
        self._said = sure[-1].copy()
        return Rounds(said, self._scores(said, symbols), np.empty((len(symbols), 0, 0)))

    def _sure(self, symbols: Floats) -> Floats:
        if self._width is not None:
            return symbols[:, np.newaxis].copy()
        return np.asarray((symbols[:, np.newaxis] == np.arange(len(self._said))).astype(float))

    def _scores(self, said: Floats, symbols: Floats) -> Floats:
        if self._width is None:
            return _gaps.chosen(said, symbols)
        near = (np.abs(symbols - said[:, 0]) <= 0.5 * self._width).astype(float)
        return np.where(np.isnan(symbols), np.nan, near)


def best_candidate(bank: HMMBank, symbols: Any, start: int = 0) -> tuple[int, Floats]:
    """Return the candidate with the least L1 loss in hindsight, and the losses of all.

    Parameters
    ----------
    bank
        The candidates.
    symbols
        A whole sequence; NaN where missing.
    start
        The first round that counts.
    """
    state, losses = bank.init(), np.zeros(bank.candidates)
    numbers = bank.sequence(symbols)
    size = block(bank)
    for first in range(0, len(numbers), size):
        went = bank.run(numbers[first : first + size], state)
        state = went.state
        lost = 1.0 - np.einsum("tsn,tsn->tn", went.scores, went.beliefs)
        losses += np.nansum(lost[max(start - first, 0) :], axis=0)
    return int(losses.argmin()), losses


def _said(bank: HMMBank, beliefs: Floats) -> Floats:
    """Return what each candidate says: its distribution over symbols, or its mean.

    ``beliefs`` is ... x k x N, and what comes back ... x m x N, or ... x 1 x N.
    """
    if bank.means is not None:
        return np.asarray((bank.means * beliefs).sum(axis=-2, keepdims=True))
    assert bank.emission is not None
    return np.asarray(np.einsum("xsn,...sn->...xn", bank.emission, beliefs))


def _posterior(logs: Floats) -> Floats:
    raw = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(raw / raw.sum(axis=-1, keepdims=True))


def _rounded(said: Floats, axis: int = 0) -> Floats:
    """Return one for the most probable symbol, the first of those that tie, and zero for others."""
    result = np.zeros_like(said)
    np.put_along_axis(result, np.expand_dims(said.argmax(axis=axis), axis), 1.0, axis=axis)
    return result
