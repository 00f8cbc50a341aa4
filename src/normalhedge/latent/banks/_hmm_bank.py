"""Banks of candidate hidden Markov models, held as arrays and filtered together."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import draw_path

_observe = _core.filter_observe  # looked up once


class BankState(NamedTuple):
    """The filters of all candidates before the next observation.

    Attributes
    ----------
    beliefs
        ``P_n(S_{t+1} = s | x_1..x_t)``, states x candidates; none exceeds one.
    log_likelihood
        ``ln P_n(x_1..x_t)`` of each candidate; an impossible observation counts as 1e-280.
    rounds
        The number of rounds so far, including rounds with a missing observation.
    impossible
        The number of observations that every candidate found impossible; they count as missing.
    """

    beliefs: Floats
    log_likelihood: Floats
    rounds: int
    impossible: int


class BankRun(NamedTuple):
    """Many rounds of a bank.

    Attributes
    ----------
    state
        The state after the last round.
    beliefs
        The beliefs before each observation, T x k x N; see `BankState`.
    log_likelihood
        The log-likelihoods before each observation, T x N.
    scores
        The score of each observation in each state, T x k x N, see `HMMBank.bounded`; NaN where the
        observation is missing.
    """

    state: BankState
    beliefs: Floats
    log_likelihood: Floats
    scores: Floats


@dataclass(frozen=True, eq=False)
class HMMBank(ABC):
    """N hidden Markov models with k states each.

    `CategoricalBank` holds models of symbols, `GaussianBank` models of real numbers. A bank is
    immutable: `init` returns the state before the first observation, `observe` the state after one,
    `run` the states of many.

    Attributes
    ----------
    initial, transition
        Probabilities, k x N and k x k x N (from, to, candidate).

    Notes
    -----
    An observation costs O(N k^2) time. Beliefs are normalised by their actual sum in every round.
    A missing observation (NaN or None) lets time pass and teaches nothing. The same holds, for a
    single candidate, of an observation whose likelihood under that candidate is below 1e-280; a
    real number must be some 36 deviations away from every mean for that.
    """

    initial: Floats
    transition: Floats

    _tables: ClassVar[tuple[str, ...]]
    """The names of the arrays; their last axis has the candidates."""

    def __post_init__(self) -> None:
        for name in self._tables:
            object.__setattr__(self, name, _readable(getattr(self, name)))

    @property
    def candidates(self) -> int:
        """The number of candidates, N."""
        return int(self.initial.shape[1])

    @property
    def states(self) -> int:
        """The number of states of each candidate, k."""
        return int(self.initial.shape[0])

    @property
    @abstractmethod
    def symbol_count(self) -> int:
        """The number of symbols, m; 0 for real numbers."""

    @property
    @abstractmethod
    def state_predictions(self) -> Floats:
        """The prediction of each state: probabilities, m x k x N, or means, 1 x k x N."""

    @abstractmethod
    def predictions(self, beliefs: Floats) -> Floats:
        """Return the prediction of each candidate, given its beliefs, ... x k x N.

        It is a distribution over symbols, ... x m x N, or a mean, ... x 1 x N.
        """

    @abstractmethod
    def bound(self, scores: Floats) -> Floats:
        """Return `scores` as `bounded` does: probabilities unchanged, densities clipped."""

    @abstractmethod
    def _check(self, known: Floats) -> None:
        """Refuse numbers that cannot be observed."""

    @abstractmethod
    def _scores(self, numbers: Floats) -> Floats:
        """Return the scores of checked observations, T x k x N, in a fresh array."""

    @abstractmethod
    def _perturb_emission(self, spread: Floats, rng: np.random.Generator) -> dict[str, Floats]:
        """Return perturbed emission parameters by name."""

    @abstractmethod
    def _draw(self, states: npt.NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """Draw an observation of the first candidate for each of its states."""

    def perturbed(
        self, parents: npt.ArrayLike, spread: npt.ArrayLike, rng: np.random.Generator
    ) -> Self:
        """Return perturbed copies of some candidates.

        Every probability p becomes proportional to ``p exp(spread z)`` with normal z; means move by
        ``spread`` deviations, and deviations change as probabilities do.

        Parameters
        ----------
        parents
            The candidates to copy; an index may occur several times.
        spread
            The size of the perturbation, in (0, 10]; one number, or one for each copy.
        rng
            The generator of random numbers.
        """
        chosen = self.take(parents)
        far = inputs.numbers_array("spread", spread).astype(np.float64)
        if far.shape not in {(), (chosen.candidates,)} or not ((far > 0.0) & (far <= 10.0)).all():
            raise ValueError("spread must be a number in (0, 10], or one for each copy")
        changed: dict[str, Any] = chosen._perturb_emission(far, rng)
        changed["initial"] = perturb_rows(chosen.initial, 0, far, rng)
        changed["transition"] = perturb_rows(chosen.transition, 1, far, rng)
        return replace(chosen, **changed)

    def take(self, candidates: npt.ArrayLike) -> Self:
        """Return a bank of the given candidates only."""
        which = np.atleast_1d(inputs.numbers_array("candidates", candidates))
        if which.dtype.kind not in "iu" or which.ndim != 1 or not which.size:
            raise TypeError(f"candidates must be whole numbers, at least one, got {candidates!r}")
        if not (which.min() >= 0 and which.max() < self.candidates):
            raise ValueError(f"candidates must be in 0..{self.candidates - 1}, got {candidates!r}")
        chosen: dict[str, Any] = {
            name: np.ascontiguousarray(getattr(self, name)[..., which]) for name in self._tables
        }
        return replace(self, **chosen)

    def joined(self, other: "HMMBank") -> Self:
        """Return a bank of these candidates, followed by the candidates of another such bank."""
        if self.states != other.states or self.symbol_count != other.symbol_count:
            raise ValueError("banks must have the same states and symbols to be joined")
        both: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)], axis=-1)
            for name in self._tables
        }
        return replace(self, **both)

    def init(self) -> BankState:
        """Return the state before the first observation."""
        return BankState(np.minimum(self.initial, 1.0), np.zeros(self.candidates), 0, 0)

    def observe(self, state: BankState, observation: float | None, keep: float = 1.0) -> BankState:
        """Return the state after an observation.

        Parameters
        ----------
        state
            The state before the observation; it is not changed.
        observation
            A symbol, or a real number; NaN or None where it is missing.
        keep
            The share of the log-likelihood so far that is kept; less than 1 forgets.
        """
        return self.learn(state, self.scores(observation), keep)

    def learn(self, state: BankState, scores: Floats | None, keep: float = 1.0) -> BankState:
        """Return the state after an observation with the given scores.

        Parameters
        ----------
        state, keep
            As for `observe`.
        scores
            The scores of the observation by `scores`, k x N; None where it is missing.
        """
        try:
            return _observe(state, scores, self.transition, keep)
        except TypeError:  # arrays with another layout than the core reads
            beliefs, logs, *counts = state
            there = BankState(_readable(beliefs), _readable(logs), *counts)
            return _observe(
                there, None if scores is None else _readable(scores), self.transition, keep
            )

    def scores(self, observation: float | None) -> Floats | None:
        """Return the likelihood of an observation in each state of each candidate, k x N.

        It is a probability of symbols, a density of real numbers, and None where the observation is
        missing.
        """
        if observation is None:
            return None
        if type(observation) not in {int, float}:
            value = inputs.numbers_array("observation", observation)
            if value.ndim:
                raise ValueError(f"observation must be one number, got shape {value.shape}")
            observation = float(value)
        if math.isnan(observation):
            return None
        number = np.array([observation], dtype=np.float64)
        self._check(number)
        scores: Floats = self._scores(number)[0]
        return scores

    def bounded(self, observation: float | None) -> Floats | None:
        """Return a score in [0, 1] of an observation for each state of each candidate, k x N.

        The score of a symbol is its probability. The score of a real number is its density times
        the `width` of the bank, clipped at 1: about the probability of an interval around it. It is
        None where the observation is missing.
        """
        scores = self.scores(observation)
        return None if scores is None else self.bound(scores)

    def run(
        self, observations: npt.ArrayLike, state: BankState | None = None, keep: float = 1.0
    ) -> BankRun:
        """Filter a whole sequence, with the same result as calling `observe` in a loop.

        Parameters
        ----------
        observations
            Symbols, or real numbers; NaN where missing.
        state
            The state to start from, which is not changed; `init` by default.
        keep
            As for `observe`.
        """
        numbers = self.sequence(observations)
        start = self.init() if state is None else state
        absent = np.isnan(numbers)
        scores = self._scores(np.where(absent, 0.0, numbers))
        beliefs = np.empty((len(numbers) + 1, *start.beliefs.shape))
        logs = np.empty((len(numbers) + 1, self.candidates))
        beliefs[0], logs[0] = np.minimum(start.beliefs, 1.0), start.log_likelihood
        impossible = _core.filter_run(beliefs, scores, numbers, self.transition, keep, logs)
        after = BankState(
            beliefs[-1].copy(),
            logs[-1].copy(),
            start.rounds + len(numbers),
            start.impossible + impossible,
        )
        scores = self.bound(scores)
        scores[absent] = np.nan
        return BankRun(after, beliefs[:-1], logs[:-1], scores)

    def sequence(self, observations: npt.ArrayLike) -> Floats:
        """Return observations as numbers, NaN where missing; refuse any that `observe` refuses."""
        try:
            numbers = np.array(observations, dtype=np.float64)  # None becomes NaN
        except (TypeError, ValueError):
            inputs.numbers_array("observations", observations)  # explains the error
            raise
        if numbers.ndim != 1:
            raise ValueError(f"observations must be one row of numbers, got shape {numbers.shape}")
        self._check(numbers[~np.isnan(numbers)])
        return numbers

    def sample(
        self, rounds: int, rng: np.random.Generator, candidate: int = 0
    ) -> tuple[npt.NDArray[np.intp], Floats]:
        """Draw hidden states and observations from one of the candidates.

        Parameters
        ----------
        rounds, rng
            The number of rounds, and the generator of random numbers.
        candidate
            The index of the candidate.
        """
        model = self.take(candidate)
        states = draw_path(model.initial[:, 0], model.transition[..., 0], rounds, rng)
        return states, model._draw(states, rng)


def perturb_rows(table: Floats, axis: int, spread: Floats, rng: np.random.Generator) -> Floats:
    """Return probabilities, each multiplied by ``exp(spread z)`` with normal z and normalised."""
    raw = table * np.exp(spread * rng.normal(size=table.shape))
    return np.ascontiguousarray(raw / raw.sum(axis=axis, keepdims=True))


def check_symbols(known: Floats, count: int) -> None:
    """Refuse numbers that are not symbols."""
    wrong = known[~(np.isfinite(known) & (known == np.floor(known)))]
    if len(wrong):
        raise ValueError(f"observation must be a symbol, a whole number, got {wrong[0]}")
    wrong = known[(known < 0) | (known >= count)]
    if len(wrong):
        raise ValueError(f"observation must be a symbol in 0..{count - 1}, got {wrong[0]:g}")


def check_finite(known: Floats) -> None:
    """Refuse numbers that are not finite."""
    if not np.isfinite(known).all():
        raise ValueError(f"observation must be finite, got {known[~np.isfinite(known)][0]}")


def _readable(array: Floats) -> Floats:
    """Return an array with the layout that the core reads."""
    return np.ascontiguousarray(array, dtype=np.float64)
