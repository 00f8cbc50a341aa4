"""Banks of candidate hidden Markov models, held as arrays and filtered together."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.latent import _filter

SUM_TOLERANCE = 1e-6
"""How far probabilities may be from summing to one; they are then normalised."""


class BankState(NamedTuple):
    """Where the candidates stand, before the next observation.

    Attributes
    ----------
    beliefs
        ``P_n(S_{t+1} = s | x_1..x_t)``, states x candidates.
    log_likelihood
        ``ln P_n(x_1..x_t)`` of each candidate; what is impossible counts as 1e-280.
    rounds
        How many rounds have passed, those with a missing observation included.
    impossible
        How many observations no candidate thought possible; they count as missing.
    """

    beliefs: Floats
    log_likelihood: Floats
    rounds: int
    impossible: int


@dataclass(frozen=True, eq=False)
class HMMBank:
    """N hidden Markov models with k states each, over m symbols or over real numbers.

    Built by `discrete`, `gaussian`, `random`, `perturbed` or `from_hmmlearn`. A bank does not
    change: `init` gives the state before the first observation, `observe` the next one.

    Attributes
    ----------
    initial, transition
        k x N, and k x k x N (from, to, candidate).
    emission
        m x k x N: the probability of each symbol; none for real numbers.
    means, deviations
        k x N, for real numbers; none for symbols.

    Notes
    -----
    One observation costs O(N k^2) time. Beliefs are normalised by their actual sum in every round.
    A missing observation (NaN or None) lets time pass and teaches nothing, and so does one that a
    candidate thinks impossible, for that candidate.

    Examples
    --------
    >>> stay, say = [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.3, 0.7]]
    >>> bank = HMMBank.discrete([[0.5, 0.5]], [stay], [say])
    >>> state = bank.observe(bank.init(), 0)
    >>> state.beliefs[:, 0].round(4)
    array([0.6818, 0.3182])
    >>> bank.symbols(state)[:, 0].round(4)
    array([0.6409, 0.3591])
    """

    initial: Floats
    transition: Floats
    emission: Floats | None = None
    means: Floats | None = None
    deviations: Floats | None = None

    @property
    def candidates(self) -> int:
        """How many candidates there are, N."""
        return int(self.initial.shape[1])

    @property
    def states(self) -> int:
        """How many states each of them has, k."""
        return int(self.initial.shape[0])

    @property
    def symbol_count(self) -> int:
        """How many symbols there are, m; 0 for real numbers."""
        return 0 if self.emission is None else int(self.emission.shape[0])

    @classmethod
    def discrete(
        cls, initial: npt.ArrayLike, transition: npt.ArrayLike, emission: npt.ArrayLike
    ) -> "HMMBank":
        """Return a bank of models over symbols 0, 1, ..., m - 1.

        Parameters
        ----------
        initial, transition, emission
            N x k, N x k x k (rows: from) and N x k x m; each row sums to one.
        """
        first, moves = _dynamics(initial, transition)
        table = _rows("emission", emission, (*first.shape, None))
        if table.shape[2] < 2:
            raise ValueError(f"emission must have at least two symbols, got {table.shape[2]}")
        return cls(_last(first), _last(moves), np.ascontiguousarray(table.transpose(2, 1, 0)))

    @classmethod
    def gaussian(
        cls,
        initial: npt.ArrayLike,
        transition: npt.ArrayLike,
        means: npt.ArrayLike,
        deviations: npt.ArrayLike,
    ) -> "HMMBank":
        """Return a bank of models over real numbers, normal given the state.

        Parameters
        ----------
        initial, transition
            As for `discrete`.
        means, deviations
            N x k; deviations > 0.
        """
        first, moves = _dynamics(initial, transition)
        mean, deviation = (
            _inputs.numbers_array(name, values).astype(np.float64)
            for name, values in (("means", means), ("deviations", deviations))
        )
        for name, values in (("means", mean), ("deviations", deviation)):
            if values.shape != first.shape or not np.isfinite(values).all():
                raise ValueError(f"{name} must be finite numbers of shape {first.shape}")
        if deviation.min() <= 0.0:
            raise ValueError("deviations must be larger than zero")
        return cls(_last(first), _last(moves), None, _last(mean), _last(deviation))

    @classmethod
    def random(
        cls, candidates: int, states: int, symbols: int, rng: np.random.Generator, stay: float = 0.9
    ) -> "HMMBank":
        """Return models drawn at random: flat Dirichlet emissions, states that tend to stay.

        Parameters
        ----------
        candidates, states, symbols
            N, k and m.
        rng
            Where the draws come from.
        stay
            About how much of the probability stays in a state; drawn around it.
        """
        n, k = _inputs.count("candidates", candidates), _inputs.count("states", states)
        m = _inputs.count("symbols", symbols)
        stay = _inputs.number("stay", stay, 0.0, 1.0)
        moves = rng.dirichlet(np.ones(k), size=(n, k))
        keep = rng.beta(10.0 * stay, 10.0 * (1.0 - stay), size=(n, k, 1))
        moves = keep * np.eye(k) + (1.0 - keep) * moves
        return cls.discrete(np.full((n, k), 1.0 / k), moves, rng.dirichlet(np.ones(m), size=(n, k)))

    @classmethod
    def from_hmmlearn(cls, models: Iterable[Any]) -> "HMMBank":
        """Return a bank of fitted ``CategoricalHMM`` or ``GaussianHMM`` models of hmmlearn."""
        fitted = list(models)
        if not fitted:
            raise ValueError("models must be at least one")
        initial = [model.startprob_ for model in fitted]
        transition = [model.transmat_ for model in fitted]
        if all(hasattr(model, "emissionprob_") for model in fitted):
            return cls.discrete(initial, transition, [model.emissionprob_ for model in fitted])
        if not all(hasattr(model, "means_") and model.means_.shape[1] == 1 for model in fitted):
            raise ValueError("models must all be CategoricalHMM or GaussianHMM of one dimension")
        means = [model.means_[:, 0] for model in fitted]
        deviations = [np.sqrt(np.asarray(model.covars_).reshape(len(m), -1)[:, 0])
                      for model, m in zip(fitted, means, strict=True)]  # fmt: skip
        return cls.gaussian(initial, transition, means, deviations)

    def perturbed(
        self, parents: npt.ArrayLike, spread: float, rng: np.random.Generator
    ) -> "HMMBank":
        """Return copies of some candidates, their probabilities moved in the logarithm.

        Every probability p becomes proportional to ``p exp(spread z)`` with normal z; means move by
        ``spread`` deviations.

        Parameters
        ----------
        parents
            Which candidates to copy; an index may stand several times.
        spread
            How far they are moved, > 0.
        rng
            Where the draws come from.
        """
        spread = _inputs.number("spread", spread, 0.0)
        chosen = self.take(parents)

        def moved(table: Floats, axis: int) -> Floats:
            raw = table * np.exp(spread * rng.normal(size=table.shape))
            return np.ascontiguousarray(raw / raw.sum(axis=axis, keepdims=True))

        emission, means, deviations = chosen.emission, chosen.means, chosen.deviations
        if emission is not None:
            emission = moved(emission, 0)
        else:
            assert means is not None
            assert deviations is not None
            means = means + spread * deviations * rng.normal(size=means.shape)
            deviations = deviations * np.exp(spread * rng.normal(size=deviations.shape))
        initial, transition = moved(chosen.initial, 0), moved(chosen.transition, 1)
        return HMMBank(initial, transition, emission, means, deviations)

    def take(self, candidates: npt.ArrayLike) -> "HMMBank":
        """Return the bank of these candidates."""
        which = np.atleast_1d(np.asarray(candidates, dtype=np.int64))
        return self._map(lambda array: np.ascontiguousarray(array[..., which]))

    def joined(self, other: "HMMBank") -> "HMMBank":
        """Return the bank of these candidates, and then those of another bank of the same kind."""
        if self.states != other.states or self.symbol_count != other.symbol_count:
            raise ValueError("banks must have the same states and symbols to be joined")
        pairs = iter([array for array in other._arrays() if array is not None])
        return self._map(lambda array: np.concatenate([array, next(pairs)], axis=-1))

    def _arrays(self) -> tuple[Floats | None, ...]:
        return (self.initial, self.transition, self.emission, self.means, self.deviations)

    def _map(self, change: Callable[[Floats], Floats]) -> "HMMBank":
        return HMMBank(*(None if a is None else change(a) for a in self._arrays()))  # type: ignore[arg-type]

    def init(self) -> BankState:
        """Return the state before the first observation."""
        return BankState(self.initial.copy(), np.zeros(self.candidates), 0, 0)

    def observe(self, state: BankState, observation: float | None, keep: float = 1.0) -> BankState:
        """Return the state after an observation.

        Parameters
        ----------
        state
            Where the candidates stand; it is not changed.
        observation
            A symbol, or a real number; NaN or None where it is missing.
        keep
            What is kept of the log-likelihood so far; less than 1 forgets.

        Raises
        ------
        ValueError, TypeError
            If the observation is outside of the alphabet, or not a number.
        """
        scores = self.scores(observation)
        beliefs, logs = np.empty_like(state.beliefs), np.empty(self.candidates)
        refused = _filter.observe(
            state.beliefs, scores, self.transition, keep, state.log_likelihood, beliefs, logs
        )
        missing = refused == self.candidates
        if missing:  # impossible under every candidate: no reason to prefer one of them
            logs = keep * state.log_likelihood
        return BankState(beliefs, logs, state.rounds + 1, state.impossible + missing)

    def scores(self, observation: float | None) -> Floats | None:
        """Return how likely each state of each candidate makes an observation, k x N.

        None where it is missing. For real numbers it is a density.
        """
        if observation is None:
            return None
        number = _single(observation)
        if number != number:  # noqa: PLR0124 -- NaN
            return None
        if self.emission is not None:
            if not number.is_integer():
                raise ValueError(f"observation must be a symbol, a whole number, got {number}")
            if not 0 <= number < len(self.emission):
                raise ValueError(
                    f"observation must be a symbol in 0..{self.symbol_count - 1}, got {number:g}"
                )
            scores: Floats = self.emission[int(number)]
            return scores
        if not np.isfinite(number):
            raise ValueError(f"observation must be finite, got {number}")
        return self.densities(number)

    def densities(self, number: float) -> Floats:
        """Return the normal densities of the states at a number, k x N."""
        assert self.means is not None
        assert self.deviations is not None
        z = (number - self.means) / self.deviations
        return np.asarray(np.exp(-0.5 * z * z) / (self.deviations * np.sqrt(2.0 * np.pi)))

    @property
    def width(self) -> float:
        """How wide an interval is scored in, for real numbers: the smallest deviation of all."""
        if self.deviations is None:
            raise ValueError("a bank over symbols has no width")
        return float(self.deviations.min())

    def bounded(self, observation: float | None) -> Floats | None:
        """Return a score in [0, 1] of an observation for each state of each candidate, k x N.

        The probability of a symbol; of a real number the probability of an interval of the bank's
        `width` around it, as the density has it, clipped at 1. None where it is missing.
        """
        scores = self.scores(observation)
        if scores is None or self.emission is not None:
            return scores
        return np.minimum(self.width * scores, 1.0)

    def symbols(self, state: BankState) -> Floats:
        """Return the one-step predictive distribution of each candidate over symbols, m x N."""
        if self.emission is None:
            raise ValueError("a bank over real numbers has no symbols")
        return np.asarray(np.einsum("xsn,sn->xn", self.emission, state.beliefs))


def _single(observation: Any) -> float:
    if type(observation) in {int, float}:
        return float(observation)
    value = _inputs.numbers_array("observation", observation)
    if value.ndim:
        raise ValueError(f"observation must be one number, got shape {value.shape}")
    return float(value)


def _dynamics(initial: npt.ArrayLike, transition: npt.ArrayLike) -> tuple[Floats, Floats]:
    first = _rows("initial", initial, (None, None))
    n, k = first.shape
    return first, _rows("transition", transition, (n, k, k))


def _rows(name: str, values: npt.ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """Return probabilities whose last axis sums to one, exactly."""
    array = _inputs.numbers_array(name, values).astype(np.float64)
    if array.ndim != len(shape) or any(
        want is not None and want != got for want, got in zip(shape, array.shape, strict=True)
    ):
        wanted = " x ".join("any" if want is None else str(want) for want in shape)
        raise ValueError(f"{name} must have shape {wanted}, got {array.shape}")
    if 0 in array.shape:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    sums = array.sum(axis=-1, keepdims=True)
    if not (array >= 0.0).all() or not (np.abs(sums - 1.0) <= SUM_TOLERANCE).all():
        raise ValueError(f"{name} must be probabilities: not negative, each row summing to one")
    return np.asarray(array / sums)


def _last(array: Floats) -> Floats:
    """Return an array with its first axis, that of the candidates, at the end."""
    return np.ascontiguousarray(np.moveaxis(array, 0, -1))
