"""Online EM: a hidden Markov model that learns its parameters one observation at a time."""

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models._tasks import FLOOR, PSEUDO_COUNT, scale
from normalhedge.latent.models.emissions import Emission, RealEmission, Regression

# the numbers of a model in their order; the core knows their sizes
FIELDS = ("filter", "transition", "parameters", "moves", "sums", "previous", "spread")


class OnlineRun(NamedTuple):
    """Many rounds of online EM."""

    # beliefs, filtered: P(S_t | y_1..y_{t-1}) and P(S_t | y_1..y_t), T x k
    beliefs: Floats
    filtered: Floats
    # the emissions before each round, as one emission with T k states: the states of the first
    # round, then of the second, and so on
    emissions: Emission
    log_densities: Floats  # ln p(y_t | y_1..y_{t-1}); 0 where the observation is missing


class OnlineEM:
    """Expectation and maximisation, one observation at a time, with forgetting.

    The sufficient statistics of the expectation step are discounted means, given each possible
    current state. The parameters are replaced in every round:

        rho(s) <- (1 - e) sum_r rho(r) P(S_{t-1} = r | S_t = s, y_1..y_{t-1}) + e s(S_{t-1}, s, y_t)

    with e = 1 - forgetting. The estimates follow drifting parameters with a memory of 1 / e
    observations.

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
        units: tuple[Floats, Floats] | None = None,
        pseudo_count: float = PSEUDO_COUNT,
        floor: float = FLOOR,
    ) -> None:
        self.forgetting = inputs.number("forgetting", forgetting, 0.0, 1.0)
        emission, shares = fitted.emission, fitted.stationary()
        pseudo_count = inputs.number("pseudo_count", pseudo_count, 0.0, closed=True)
        relative = inputs.number("floor", floor, 0.0) if emission.scaled else 0.0
        d, k = emission.columns, fitted.states
        self.centre, self.width = np.zeros(d), np.ones(d)
        if isinstance(emission, RealEmission):
            self.centre, self.width = _units(emission, shares) if units is None else units
            emission = emission._rescaled(-self.centre / self.width, 1.0 / self.width)
        self.template = emission
        least = 1e-8 if emission.scaled else 1e-6
        degrees = 3.0  # more than 0: they are not estimated
        self.settings = np.array([1.0 - self.forgetting, relative, least, pseudo_count, degrees])
        self._lay_out()
        self.block = np.zeros(self._places[-1])
        self._field("filter")[:] = shares if beliefs is None else _distribution(beliefs, k)
        self._field("transition")[:] = fitted.transition.ravel()
        self._field("parameters")[:] = emission.parameters().ravel()
        self._field("previous")[:] = np.nan
        self._field("spread")[:] = np.tile([0.0, 1.0], d)
        _core.online_begin(self.shape, self.settings, d, shares, self.block)
        if previous is not None:
            self._field("previous")[:] = self._accepted(np.reshape(previous, (1, -1)))[0]

    def _lay_out(self) -> None:
        """Find where each field begins."""
        emission = self.template
        rows = len(emission.parameters())
        self.shape = np.array([_core.online_family(emission.family), emission.states, rows, 0])
        places = np.empty(len(FIELDS) + 1, dtype=np.int64)
        _core.online_layout(self.shape, emission.columns, places)
        self._places: list[int] = places.tolist()

    def parts(self) -> tuple[Any, ...]:
        """Return everything that `of_parts` needs."""
        template, units = self.template, (self.centre, self.width)
        return template, self.forgetting, *units, self.settings, self.block

    @classmethod
    def of_parts(
        cls,
        template: Emission,
        forgetting: float,
        centre: Floats,
        width: Floats,
        settings: Floats,
        block: Floats,
    ) -> Self:
        """Return a model that has learned something."""
        made = cls.__new__(cls)
        made.template, made.forgetting, made.settings = template, forgetting, settings
        made.centre, made.width, made.block = centre, width, block
        made._lay_out()
        if len(block) != made._places[-1]:
            raise ValueError("the numbers of a model do not fit its size")
        made.emission.__post_init__()  # refuses parameters of a damaged file
        return made

    def _field(self, name: str) -> Floats:
        """Return a part of the block, flat; see `FIELDS`."""
        place = FIELDS.index(name)
        return self.block[self._places[place] : self._places[place + 1]]

    def at(self, block: Floats) -> Self:
        """Return the same model with other numbers."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, block=block)
        return other

    @property
    def states(self) -> int:
        """The number of states, k."""
        return int(self.shape[1])

    @property
    def beliefs(self) -> Floats:
        """P(S_{t+1} | y_1..y_t), the prediction of the next state."""
        return np.asarray(self._field("filter") @ self.transition)

    @property
    def filtered(self) -> Floats:
        """P(S_t | y_1..y_t)."""
        return self._field("filter").copy()

    @property
    def transition(self) -> Floats:
        """The current transition probabilities, k x k."""
        return self._field("transition").reshape(self.states, self.states).copy()

    @property
    def emission(self) -> Emission:
        """The current emission."""
        return self._restore(self._field("parameters").reshape(-1, self.states))

    def observe(self, observation: npt.ArrayLike) -> float:
        """Learn an observation; return ln p(y_t | y_1..y_{t-1}), 0 where it is missing (NaN)."""
        row = np.reshape(inputs.numbers_array("observations", observation), (1, -1))
        return float(self.run(row).log_densities[0])

    def run(self, observations: npt.ArrayLike) -> OnlineRun:
        """Learn many observations, as `observe` does one by one."""
        block, seen = self.block.copy(), self._accepted(observations)
        rounds, k, rows = len(seen), self.states, int(self.shape[2])
        beliefs, filtered, logs = np.empty((rounds, k)), np.empty((rounds, k)), np.empty(rounds)
        kept = np.empty((rounds, rows, k))
        _core.online_run(self.shape, self.settings, seen, block, beliefs, filtered, kept, logs)
        self.block = block
        emissions = self._restore(np.moveaxis(kept, 0, 1).reshape(rows, rounds * k))
        unit = np.log(self.width[: self.template.predicted]).sum()  # of an observation
        totals = np.where(logs != 0.0, logs - unit, 0.0)
        return OnlineRun(beliefs, filtered, emissions, totals)

    def _accepted(self, observations: npt.ArrayLike) -> Floats:
        return (self.template.accepted(observations) - self.centre) / self.width

    def _restore(self, rows: Floats) -> Emission:
        emission = type(self.template).from_core(rows)
        if isinstance(emission, RealEmission):
            return emission._rescaled(self.centre, self.width)
        return emission


def _units(emission: Emission, shares: Floats) -> tuple[Floats, Floats]:
    """Return mean and deviation of each column in the long run."""
    means, variances = (part.reshape(len(shares), -1) for part in emission.moments())
    centre = shares @ means
    return centre, np.sqrt(shares @ (variances + np.square(means - centre)))


def units_for(fitted: Fitted, seen: Floats) -> tuple[Floats, Floats] | None:
    """Return the units of a model that does not tell those of its covariates, from observations."""
    return scale(seen[~np.isnan(seen[:, 0])]) if isinstance(fitted.emission, Regression) else None


def _distribution(beliefs: npt.ArrayLike, states: int) -> Floats:
    shares = inputs.numbers_array("beliefs", beliefs).astype(np.float64)
    if shares.shape != (states,) or not (shares >= 0.0).all() or abs(shares.sum() - 1.0) > 1e-6:
        raise ValueError(f"beliefs must be probabilities of the {states} states, summing to one")
    return np.asarray(shares / shares.sum())
