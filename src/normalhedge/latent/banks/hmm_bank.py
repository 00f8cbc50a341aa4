"""Banks of candidate hidden Markov models, held as arrays and filtered together."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge import _core, _inputs
from normalhedge._inputs import Floats
from normalhedge.latent.models import _parameters

_observe = _core.filter_observe  # looked up once


class BankState(NamedTuple):
    """Where the candidates stand, before the next observation.

    Attributes
    ----------
    beliefs
        ``P_n(S_{t+1} = s | x_1..x_t)``, states x candidates; none exceeds one.
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


class BankRun(NamedTuple):
    """Many rounds of a bank.

    Attributes
    ----------
    state
        After the last of them.
    beliefs
        Before each observation, T x k x N; see `BankState`.
    log_likelihood
        Before each observation, T x N.
    scores
        How likely each state made each observation, T x k x N, bounded as by `HMMBank.bounded`; NaN
        where it was missing.
    """

    state: BankState
    beliefs: Floats
    log_likelihood: Floats
    scores: Floats


@dataclass(frozen=True, eq=False)
class HMMBank:
    """N hidden Markov models with k states each, over m symbols or over real numbers.

    Built by `discrete` and `gaussian` from arrays, by `random` and `random_gaussian`, by `grid` and
    `grid_gaussian`, by `perturbed`, or by `from_hmmlearn`. A bank does not change: `init` gives the
    state before the first observation, `observe` the next one, `run` many.

    Attributes
    ----------
    initial, transition
        k x N, and k x k x N (from, to, candidate).
    emission
        m x k x N: the probability of each symbol; none for real numbers.
    means, deviations
        k x N, for real numbers; none for symbols.
    width
        How wide an interval real numbers are scored in, see `bounded`; none for symbols.

    Notes
    -----
    One observation costs O(N k^2) time. Beliefs are normalised by their actual sum in every round.
    A missing observation (NaN or None) lets time pass and teaches nothing, and so does one that a
    candidate thinks impossible, for that candidate: one with a likelihood below 1e-280. For real
    numbers that is some 36 deviations from every mean.

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
    width: float | None = None

    def __post_init__(self) -> None:
        for name, array in self._arrays().items():  # as the core reads them
            object.__setattr__(self, name, _readable(array))

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
        first, moves = _parameters.dynamics(initial, transition)
        table = _parameters.rows("emission", emission, (*first.shape, None))
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
        width: float | None = None,
    ) -> "HMMBank":
        """Return a bank of models over real numbers, normal given the state.

        Parameters
        ----------
        initial, transition
            As for `discrete`.
        means, deviations
            N x k; deviations > 0.
        width
            See `bounded`; the smallest deviation by default.
        """
        first, moves = _parameters.dynamics(initial, transition)
        mean, deviation = _parameters.normals(means, deviations, first.shape)
        wide = float(deviation.min()) if width is None else _inputs.number("width", width, 0.0)
        return cls(_last(first), _last(moves), None, _last(mean), _last(deviation), wide)

    @classmethod
    def random(
        cls,
        candidates: int,
        states: int,
        symbols: int,
        rng: np.random.Generator,
        stay: float = 0.9,
        evenness: float = 1.0,
    ) -> "HMMBank":
        """Return models drawn at random: Dirichlet emissions, states that tend to stay.

        Parameters
        ----------
        candidates, states, symbols
            N, k and m.
        rng
            Where the draws come from.
        stay
            About how much of the probability stays in a state; drawn around it.
        evenness
            The parameter of the Dirichlet distribution: with 1 all emissions are as probable, with
            less those that are almost sure of a symbol are more so.
        """
        first, moves = _parameters.random_dynamics(candidates, states, stay, rng)
        m = _inputs.count("symbols", symbols)
        even = np.full(m, _inputs.number("evenness", evenness, 0.0, _inputs.LARGEST))
        return cls.discrete(first, moves, rng.dirichlet(even, size=first.shape))

    @classmethod
    def random_gaussian(
        cls,
        candidates: int,
        states: int,
        middle: float,
        spread: float,
        rng: np.random.Generator,
        stay: float = 0.9,
    ) -> "HMMBank":
        """Return models over real numbers, drawn at random.

        Parameters
        ----------
        candidates, states, rng, stay
            As for `random`.
        middle, spread
            About where the numbers lie: half of the means are drawn within 1.6 spreads of the
            middle, and all within 6; deviations between an eighth of a spread and two, evenly in
            the logarithm. The width is a quarter of a spread.
        """
        first, moves = _parameters.random_dynamics(candidates, states, stay, rng)
        middle = _inputs.number("middle", middle, -_inputs.LARGEST, _inputs.LARGEST)
        spread = _inputs.number("spread", spread, 0.0, _inputs.LARGEST)
        means = middle + spread * np.sinh(rng.uniform(-2.5, 2.5, size=first.shape))
        deviations = spread * 2.0 ** rng.uniform(-3.0, 1.0, size=first.shape)
        return cls.gaussian(first, moves, means, deviations, spread / 4.0)

    @classmethod
    def grid(cls, states: int, stay: npt.ArrayLike, says: npt.ArrayLike) -> "HMMBank":
        """Return every model of a grid: each probability to stay, each choice of k emissions.

        Parameters
        ----------
        states
            k.
        stay
            Probabilities to stay in a state; the rest is spread evenly over the other states.
        says
            Distributions over symbols, one a row, or probabilities of symbol 1. Each candidate gets
            k different ones, in their order.

        Examples
        --------
        >>> HMMBank.grid(2, stay=[0.9, 0.99], says=[0.1, 0.5, 0.9]).candidates
        6
        """
        table = _parameters.distributions(says)
        (first, moves), which = _parameters.grid_dynamics(states, stay, len(table))
        return cls.discrete(first, moves, table[which])

    @classmethod
    def grid_gaussian(
        cls, states: int, stay: npt.ArrayLike, means: npt.ArrayLike, deviations: npt.ArrayLike
    ) -> "HMMBank":
        """Return every model of a grid over real numbers; see `grid`.

        Parameters
        ----------
        states, stay
            As for `grid`.
        means, deviations
            A normal distribution is made of each mean with each deviation.
        """
        pair = np.meshgrid(
            *(np.atleast_1d(_inputs.numbers_array(name, given)) for name, given in
              (("means", means), ("deviations", deviations))), indexing="ij"
        )  # fmt: skip
        (first, moves), which = _parameters.grid_dynamics(states, stay, pair[0].size)
        return cls.gaussian(first, moves, pair[0].ravel()[which], pair[1].ravel()[which])

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
        self, parents: npt.ArrayLike, spread: npt.ArrayLike, rng: np.random.Generator
    ) -> "HMMBank":
        """Return copies of some candidates, their probabilities moved in the logarithm.

        Every probability p becomes proportional to ``p exp(spread z)`` with normal z; means move by
        ``spread`` deviations, and deviations as probabilities do.

        Parameters
        ----------
        parents
            Which candidates to copy; an index may stand several times.
        spread
            How far they are moved, in (0, 10]; one number, or one for each copy.
        rng
            Where the draws come from.
        """
        chosen = self.take(parents)
        far = _inputs.numbers_array("spread", spread).astype(np.float64)
        if far.shape not in {(), (chosen.candidates,)} or not ((far > 0.0) & (far <= 10.0)).all():
            raise ValueError("spread must be a number in (0, 10], or one for each copy")

        def moved(table: Floats, axis: int) -> Floats:
            raw = table * np.exp(far * rng.normal(size=table.shape))
            return np.ascontiguousarray(raw / raw.sum(axis=axis, keepdims=True))

        emission, means, deviations = chosen.emission, chosen.means, chosen.deviations
        if emission is not None:
            emission = moved(emission, 0)
        else:
            assert means is not None
            assert deviations is not None
            means = means + far * deviations * rng.normal(size=means.shape)
            deviations = deviations * np.exp(far * rng.normal(size=deviations.shape))
        initial, transition = moved(chosen.initial, 0), moved(chosen.transition, 1)
        return HMMBank(initial, transition, emission, means, deviations, self.width)

    def take(self, candidates: npt.ArrayLike) -> "HMMBank":
        """Return the bank of these candidates."""
        which = np.atleast_1d(_inputs.numbers_array("candidates", candidates))
        if which.dtype.kind not in "iu" or which.ndim != 1 or not which.size:
            raise TypeError(f"candidates must be whole numbers, at least one, got {candidates!r}")
        if not (which.min() >= 0 and which.max() < self.candidates):
            raise ValueError(f"candidates must be in 0..{self.candidates - 1}, got {candidates!r}")
        arrays = self._arrays()
        chosen: dict[str, Any] = {k: np.ascontiguousarray(arrays[k][..., which]) for k in arrays}
        return replace(self, **chosen)

    def joined(self, other: "HMMBank") -> "HMMBank":
        """Return the bank of these candidates, and then those of another bank of the same kind."""
        if self.states != other.states or self.symbol_count != other.symbol_count:
            raise ValueError("banks must have the same states and symbols to be joined")
        if self.width != other.width:
            raise ValueError("banks must have the same width to be joined")
        arrays, others = self._arrays(), other._arrays()
        both: dict[str, Any] = {
            name: np.concatenate([arrays[name], others[name]], axis=-1) for name in arrays
        }
        return replace(self, **both)

    def _arrays(self) -> dict[str, Any]:
        names = ("initial", "transition", "emission", "means", "deviations")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def init(self) -> BankState:
        """Return the state before the first observation."""
        return BankState(np.minimum(self.initial, 1.0), np.zeros(self.candidates), 0, 0)

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
        return self.learn(state, self.scores(observation), keep)

    def learn(self, state: BankState, scores: Floats | None, keep: float = 1.0) -> BankState:
        """Return the state after an observation that is scored like this.

        Parameters
        ----------
        state
            Where the candidates stand; it is not changed.
        scores
            What `scores` says of the observation, k x N; none where it is missing.
        keep
            As for `observe`.
        """
        try:
            return _observe(state, scores, self.transition, keep)
        except TypeError:  # arrays that do not lie as the core reads them
            beliefs, logs, *counts = state
            there = BankState(_readable(beliefs), _readable(logs), *counts)
            return _observe(
                there, None if scores is None else _readable(scores), self.transition, keep
            )

    def scores(self, observation: float | None) -> Floats | None:
        """Return how likely each state of each candidate makes an observation, k x N.

        None where it is missing. For real numbers it is a density.
        """
        emission = self.emission
        if type(observation) is int and emission is not None and 0 <= observation < len(emission):
            scores: Floats = emission[observation]
            return scores
        if observation is None:
            return None
        number = _single(observation)
        if number != number:  # noqa: PLR0124 -- NaN
            return None
        if emission is not None:
            if not number.is_integer():
                raise ValueError(f"observation must be a symbol, a whole number, got {number}")
            if not 0 <= number < len(emission):
                raise ValueError(
                    f"observation must be a symbol in 0..{self.symbol_count - 1}, got {number:g}"
                )
            return self.scores(int(number))
        if not np.isfinite(number):
            raise ValueError(f"observation must be finite, got {number}")
        return self.densities(number)

    def densities(self, number: float | Floats) -> Floats:
        """Return the normal densities of the states at a number, k x N."""
        assert self.means is not None
        assert self.deviations is not None
        z = (number - self.means) / self.deviations
        return np.asarray(np.exp(-0.5 * z * z) / (self.deviations * np.sqrt(2.0 * np.pi)))

    def bounded(self, observation: float | None) -> Floats | None:
        """Return a score in [0, 1] of an observation for each state of each candidate, k x N.

        The probability of a symbol; of a real number the probability of an interval of the bank's
        `width` around it, as the density has it, clipped at 1. None where it is missing.
        """
        scores = self.scores(observation)
        return None if scores is None else self.bound(scores)

    def bound(self, scores: Floats) -> Floats:
        """Return what `bounded` makes of `scores`: probabilities stay, densities are clipped."""
        if self.emission is not None:
            return scores
        assert self.width is not None
        return np.minimum(self.width * scores, 1.0)

    def run(
        self, observations: npt.ArrayLike, state: BankState | None = None, keep: float = 1.0
    ) -> BankRun:
        """Filter a whole sequence: what folding `observe` gives.

        Parameters
        ----------
        observations
            Symbols, or real numbers; NaN where missing.
        state
            Where to start from; it is not changed. None: from the beginning.
        keep
            As for `observe`.

        Raises
        ------
        ValueError, TypeError
            As for `observe`.
        """
        numbers = self.sequence(observations)
        start = self.init() if state is None else state
        absent = np.isnan(numbers)
        if self.emission is not None:
            scores = self.emission[np.where(absent, 0.0, numbers).astype(np.intp)]
        else:
            scores = self.densities(np.where(absent, 0.0, numbers)[:, np.newaxis, np.newaxis])
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
        """Return observations as numbers, NaN where missing; refuse what `observe` would."""
        try:
            numbers = np.array(observations, dtype=np.float64)  # None becomes NaN
        except (TypeError, ValueError):
            _inputs.numbers_array("observations", observations)  # says why
            raise
        if numbers.ndim != 1:
            raise ValueError(f"observations must be one row of numbers, got shape {numbers.shape}")
        known = numbers[~np.isnan(numbers)]
        if self.emission is None:
            wrong = ~np.isfinite(known)
        else:
            wrong = (known != np.floor(known)) | (known < 0) | (known >= self.symbol_count)
        if wrong.any():
            self.scores(float(known[wrong][0]))  # says why
        return numbers

    def symbols(self, state: BankState) -> Floats:
        """Return the one-step predictive distribution of each candidate over symbols, m x N."""
        if self.emission is None:
            raise ValueError("a bank over real numbers has no symbols")
        return np.asarray(np.einsum("xsn,sn->xn", self.emission, state.beliefs))

    def sample(
        self, rounds: int, rng: np.random.Generator, candidate: int = 0
    ) -> tuple[np.ndarray, Floats]:
        """Return hidden states and observations, drawn from one of the candidates.

        Parameters
        ----------
        rounds
            How many.
        rng
            Where the draws come from.
        candidate
            Which one.
        """
        rounds = _inputs.count("rounds", rounds)
        one = self.take(candidate)
        places = rng.random(rounds)
        moves = np.cumsum(one.transition[..., 0], axis=1)
        states = np.empty(rounds, dtype=np.intp)
        row = np.cumsum(one.initial[:, 0])
        for t in range(rounds):
            states[t] = min(int(row.searchsorted(places[t], side="right")), self.states - 1)
            row = moves[states[t]]
        if one.emission is None:
            assert one.means is not None
            assert one.deviations is not None
            return states, rng.normal(one.means[states, 0], one.deviations[states, 0])
        below = np.cumsum(one.emission[..., 0], axis=0)[:-1, states]
        return states, (rng.random(rounds) >= below).sum(axis=0).astype(np.float64)


def _single(observation: Any) -> float:
    if type(observation) in {int, float}:
        return float(observation)
    value = _inputs.numbers_array("observation", observation)
    if value.ndim:
        raise ValueError(f"observation must be one number, got shape {value.shape}")
    return float(value)


def _readable(array: Floats) -> Floats:
    """Return an array as the core reads it."""
    return np.ascontiguousarray(array, dtype=np.float64)


def _last(array: Floats) -> Floats:
    """Return an array with its first axis, that of the candidates, at the end."""
    return np.ascontiguousarray(np.moveaxis(array, 0, -1))
