"""Online EM: a hidden Markov model that learns its parameters one observation at a time."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge import _core, _inputs
from normalhedge._inputs import Floats
from normalhedge.latent.models.emissions import Emission, RealEmission
from normalhedge.latent.models.fitted import Fitted
from normalhedge.latent.models.fitting import FLOOR, PSEUDO_COUNT


class OnlineRun(NamedTuple):
    """Many rounds of online EM.

    Attributes
    ----------
    beliefs, filtered
        P(S_t | y_1..y_{t-1}) and P(S_t | y_1..y_t), T x k.
    emissions
        The emissions before each round, as one emission with T k states: the states of the first
        round, then of the second, and so on.
    log_densities
        ln p(y_t | y_1..y_{t-1}); 0 where the observation is missing.
    """

    beliefs: Floats
    filtered: Floats
    emissions: Emission
    log_densities: Floats


class OnlineEM:
    """Expectation and maximisation, one observation at a time, with forgetting.

    The sufficient statistics of the expectation step are discounted means, given each possible
    current state. The parameters are replaced in every round:

        rho(s) <- (1 - e) sum_r rho(r) P(S_{t-1} = r | S_t = s, y_1..y_{t-1}) + e s(S_{t-1}, s, y_t)

    with e = 1 - forgetting. The estimates follow drifting parameters with a memory of 1 / e
    observations.

    Parameters
    ----------
    fitted
        The model to start from.
    forgetting
        The share of the statistics that a round keeps, strictly between 0 and 1.
    beliefs
        P(S_0), before the transition to the first observation; the stationary distribution by
        default.
    previous
        The observation before the first, which autoregressive states need; none by default.
    pseudo_count, floor
        As for `fit`. The pseudo count is added for one memory of observations; the floor is a share
        of the discounted variance of all observations.

    Notes
    -----
    A missing observation lets time pass. The degrees of freedom of Student's t do not change; the
    size of a negative binomial distribution is found from the variance. A round costs k^4 + d k^3
    products, with d statistics for each state.

    References
    ----------
    Cappe, "Online EM algorithm for hidden Markov models" (2011); Mongillo and Deneve, "Online
    learning with hidden Markov models" (2008).
    """

    def __init__(
        self,
        fitted: Fitted,
        forgetting: float,
        *,
        beliefs: npt.ArrayLike | None = None,
        previous: npt.ArrayLike | None = None,
        pseudo_count: float = PSEUDO_COUNT,
        floor: float = FLOOR,
    ) -> None:
        self.forgetting = _inputs.number("forgetting", forgetting, 0.0, 1.0)
        emission, shares = fitted.emission, fitted.stationary()
        pseudo_count = _inputs.number("pseudo_count", pseudo_count, 0.0, closed=True)
        self._relative = _inputs.number("floor", floor, 0.0) if emission.scaled else 0.0
        self._family, d, k = type(emission), emission.columns, fitted.states
        self._centre, self._width = np.zeros(d), np.ones(d)
        if isinstance(emission, RealEmission):
            self._centre, self._width = _units(emission, shares)
            emission = emission.rescaled(-self._centre / self._width, 1.0 / self._width)
        self._place, self._scale = float(self._centre[0]), float(self._width[0])
        self._log_width = float(np.log(self._width).sum())
        rows = emission.parameters()
        self._transition, self._rows = fitted.transition.copy(), rows
        self._filter = shares.copy() if beliefs is None else _distribution(beliefs, k)
        statistics = _core.em_statistics(emission.family, d, len(rows))
        least = 1e-8 if emission.scaled else 1e-6
        self._guards = np.array([least, pseudo_count, 3.0])  # degrees that are not estimated
        self._arrays = (
            self._filter,
            self._transition,
            self._rows,
            np.empty((k * k, k)),
            np.empty((k * statistics, k)),
            np.full(d, np.nan),
            np.tile([0.0, 1.0], d),
            self._guards,
        )
        _core.online_begin(emission.family, shares, *self._arrays)
        self._settings = (1.0 - self.forgetting, self._relative)
        self._template = emission
        if previous is not None:
            self._arrays[5][:] = self._accepted(np.reshape(previous, (1, -1)))[0]

    @property
    def states(self) -> int:
        """The number of states, k."""
        return len(self._filter)

    @property
    def beliefs(self) -> Floats:
        """P(S_{t+1} | y_1..y_t), the prediction of the next state."""
        return np.asarray(self._filter @ self._transition)

    @property
    def filtered(self) -> Floats:
        """P(S_t | y_1..y_t)."""
        return self._filter.copy()

    @property
    def transition(self) -> Floats:
        """The current transition probabilities, k x k."""
        return self._transition.copy()

    @property
    def emission(self) -> Emission:
        """The current emission."""
        return self._restored(self._rows.copy())

    def observe(self, observation: npt.ArrayLike) -> float:
        """Learn an observation; return ln p(y_t | y_1..y_{t-1}), 0 where it is missing (NaN)."""
        if isinstance(observation, float) and self._plain(observation):
            seen = np.array([(observation - self._place) / self._scale])
        else:
            row = np.reshape(_inputs.numbers_array("observations", observation), (1, -1))
            seen = self._accepted(row)[0]
        return self._learned(seen)

    def observe_checked(self, row: Floats) -> float:
        """Learn d numbers that `Emission.accepted` has checked; see `observe`."""
        return self._learned((row - self._centre) / self._width if self._relative else row)

    def _learned(self, seen: Floats) -> float:
        found = _core.online_observe(self._family.family, seen, *self._arrays, *self._settings)
        return found - self._log_width if found else found

    def run(self, observations: npt.ArrayLike) -> OnlineRun:
        """Learn many observations, as `observe` does one by one."""
        seen = self._accepted(observations)
        rounds, k = len(seen), self.states
        beliefs, filtered, logs = np.empty((rounds, k)), np.empty((rounds, k)), np.empty(rounds)
        kept = np.empty((rounds, *self._rows.shape))
        written = beliefs, filtered, kept, logs
        _core.online_run(self._family.family, seen, *self._arrays, *self._settings, *written)
        rows = np.moveaxis(kept, 0, 1).reshape(len(self._rows), rounds * k)
        totals = np.where(logs != 0.0, logs - self._log_width, 0.0)
        return OnlineRun(beliefs, filtered, self._restored(rows), totals)

    def _plain(self, number: float) -> bool:
        """Return whether no check is needed: a single number in a family of real numbers."""
        small = abs(number) <= _inputs.LARGEST or number != number  # noqa: PLR0124 -- or NaN
        return small and self._template.scaled and len(self._centre) == 1

    def _accepted(self, observations: npt.ArrayLike) -> Floats:
        return (self._template.accepted(observations) - self._centre) / self._width

    def _restored(self, rows: Floats) -> Emission:
        emission = self._family.from_parameters(rows)
        if isinstance(emission, RealEmission):
            return emission.rescaled(self._centre, self._width)
        return emission


def _units(emission: Emission, shares: Floats) -> tuple[Floats, Floats]:
    """Return mean and deviation of each column in the long run."""
    means, variances = (part.reshape(len(shares), -1) for part in emission.moments())
    centre = shares @ means
    return centre, np.sqrt(shares @ (variances + np.square(means - centre)))


def _distribution(beliefs: npt.ArrayLike, states: int) -> Floats:
    given = _inputs.numbers_array("beliefs", beliefs).astype(np.float64)
    if given.shape != (states,) or not (given >= 0.0).all() or abs(given.sum() - 1.0) > 1e-6:
        raise ValueError(f"beliefs must be probabilities of the {states} states, summing to one")
    return np.asarray(given / given.sum())
