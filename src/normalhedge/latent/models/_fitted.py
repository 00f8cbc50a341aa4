"""A fitted hidden Markov model: filtering, smoothing and sampling."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions import Emission, Regression, join_given


@dataclass(frozen=True, eq=False)
class Fitted:
    """A hidden Markov model with its states in order."""

    # initial, transition: probabilities, k and k x k
    initial: Floats
    transition: Floats
    emission: Emission  # the distributions of observations in the states
    log_likelihood: float = math.nan  # ln P(y_1..y_T), in the units of the observations
    iterations: int = 0  # the number of EM iterations
    # The objective before each iteration and at the end: the log likelihood of standardised
    # observations plus the contribution of the pseudo counts. It never decreases.
    trace: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def states(self) -> int:
        """The number of states, k."""
        return len(self.initial)

    def stationary(self) -> Floats:
        """Return the stationary distribution of the states."""
        return self._stationary

    @cached_property
    def _stationary(self) -> Floats:
        return stationary(self.transition)

    @cached_property
    def numbers(self) -> Floats:
        """The parameters of the emission as the core reads them, rows x k."""
        rows = self.emission.parameters()
        rows.setflags(write=False)
        return rows

    def smoothed(
        self, observations: npt.ArrayLike, *, given: npt.ArrayLike | None = None
    ) -> tuple[Floats, Floats, float]:
        """Return P(S_t | y_1..y_T), T x k, the expected transitions, k x k, and ln P(y)."""
        return self.smooth(self._accepted(observations, given))

    def _accepted(self, observations: npt.ArrayLike, given: npt.ArrayLike | None) -> Floats:
        """Return observations with their covariates as T x columns, checked."""
        if isinstance(self.emission, Regression) != (given is not None):
            needs = "needs" if given is None else "has no place for"
            raise ValueError(f"a model of this kind {needs} given, the covariates")
        if given is not None:
            observations = join_given(observations, given)
        return self.emission.accepted(observations)

    def smooth(self, seen: Floats) -> tuple[Floats, Floats, float]:
        """Return the same for observations that are already checked, T x columns."""
        logs = self.emission.log_densities(seen)
        states, moves = np.empty_like(logs), np.empty((self.states, self.states))
        total = _core.em_expect(logs, self.initial, self.transition, states, moves)
        return states, moves, total

    def filtered(
        self, observations: npt.ArrayLike, *, given: npt.ArrayLike | None = None
    ) -> tuple[Floats, Floats]:
        """Return P(S_t | y_1..y_{t-1}), (T + 1) x k, and ln p(y_t | y_1..y_{t-1}), T.

        Both are causal, given the parameters: row t uses the observations before t, and the last
        row predicts the state after the series.
        """
        seen = self._accepted(observations, given)
        logs = self.emission.log_densities(seen)[..., np.newaxis]
        moves = self.transition[..., np.newaxis].copy()
        beliefs, _, totals = filter_together(logs, self.initial[:, np.newaxis], moves)
        return beliefs[..., 0], totals[:, 0]

    def permuted(self, order: npt.ArrayLike) -> Self:
        """Return the model with its states in another order."""
        places = np.asarray(order)
        return replace(
            self,
            initial=self.initial[places],
            transition=self.transition[np.ix_(places, places)],
            emission=self.emission.permuted(places),
        )

    def sample(self, rounds: int, rng: np.random.Generator) -> tuple[npt.NDArray[np.intp], Floats]:
        """Draw hidden states and observations."""
        path = draw_path(self.initial, self.transition, rounds, rng)
        return path, self.emission.sample(path, rng)


def filter_together(logs: Floats, beliefs: Floats, moves: Floats) -> tuple[Floats, Floats, Floats]:
    """Filter N models with at most K states, given log densities, T x K x N.

    Returns P(S_t | y_1..y_{t-1}), (T + 1) x K x N, the densities relative to the largest of each
    model, and ln p(y_t | y_1..y_{t-1}), T x N.
    """
    highest = logs.max(axis=1, initial=-1e300)
    scores = np.exp(logs - highest[:, np.newaxis])
    predicted = np.empty((len(logs) + 1, *beliefs.shape))
    predicted[0] = beliefs
    totals = np.zeros((len(logs) + 1, beliefs.shape[1]))
    _core.filter_run(predicted, scores, np.zeros(len(logs)), moves, 0.0, totals)
    return predicted, scores, totals[1:] + highest


def draw_path(
    initial: Floats, transition: Floats, rounds: int, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Draw the hidden states of a Markov chain."""
    path = np.empty(inputs.count("rounds", rounds), dtype=np.intp)
    steps, draws = np.cumsum(transition, axis=1), rng.random(len(path))
    chances = np.cumsum(initial)
    for t, draw in enumerate(draws):
        path[t] = min(int(np.searchsorted(chances, draw, side="right")), len(initial) - 1)
        chances = steps[path[t]]
    return path


def stationary(transition: Floats) -> Floats:
    """Return a distribution that the transitions leave unchanged."""
    k = len(transition)
    system = np.concatenate([transition.T - np.eye(k), np.ones((1, k))])
    shares = np.linalg.lstsq(system, np.concatenate([np.zeros(k), [1.0]]))[0]
    shares = np.maximum(shares, 0.0)
    return np.asarray(shares / shares.sum())
