"""The state of a tracker, its predictions, and the track of many rounds."""

from typing import Any, Literal, NamedTuple

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions import normal_cdf
from normalhedge.latent.tracking._dynamics import Belief, Ladder
from normalhedge.latent.tracking._kalman import Filters
from normalhedge.latent.tracking._paths import Cloud, Paths

Of = Literal["position", "observation"]

FARTHEST = 100_000  # the largest number of rounds that can be skipped or predicted in one call


class TrackPrediction(NamedTuple):
    """A prediction of the track, with a number for each column.

    Attributes
    ----------
    position
        The expected position under the most likely hypothesis.
    deviation
        Its standard deviation.
    low, high
        The interval under all hypotheses together; infinite while the scale is unknown.
    """

    position: Floats
    deviation: Floats
    low: Floats
    high: Floats


class Track(NamedTuple):
    """The results of `HedgedTracker.run`, with a row for each round.

    Attributes
    ----------
    positions
        The estimated position after each observation.
    expected, low, high
        The prediction before each observation, by `HedgedTracker.predict`.
    """

    positions: Floats
    expected: Floats
    low: Floats
    high: Floats


class TrackerState(NamedTuple):
    """Everything that a tracker has learned; nothing in it is ever changed in place."""

    # the dynamics; None before the first observation, if they are linear
    engine: Ladder | Paths | None
    belief: Any  # the state of the filters or paths
    columns: int | None = None  # the number of columns of an observation; None before the first one
    rounds: int = 0  # the number of rounds
    now: Floats | None = None  # the estimated position; None before the first observation
    # the last rounds: the belief before each, and its observation
    past: tuple[tuple[Any, Any], ...] = ()

    def position(self) -> Floats:
        """Return the estimated position; NaN before the first observation."""
        return np.full(self.columns or 1, np.nan) if self.now is None else self.now.copy()


def predict_track(state: TrackerState, steps: int, level: float, of: Of) -> TrackPrediction:
    """Return a prediction of the track."""
    ahead = check_whole("steps", steps, FARTHEST)
    share = inputs.number("level", level, 0.0, 1.0)
    if of not in {"position", "observation"}:
        raise ValueError(f"of must be 'position' or 'observation', got {of!r}")
    ends = np.array([0.5 - share / 2.0, 0.5 + share / 2.0])
    if isinstance(state.engine, Paths):
        return _from_paths(state.engine, state.belief, ahead, ends, of)
    if state.engine is None or state.now is None:
        unknown = np.full(state.columns or 1, np.nan)
        return TrackPrediction(unknown, unknown, unknown - np.inf, unknown + np.inf)
    return _from_filters(state.engine, state.belief, ahead, ends, of)


def _from_filters(
    engine: Ladder, belief: Belief, steps: int, ends: Floats, of: Of
) -> TrackPrediction:
    filters = engine.move_on(belief, steps)
    rounding = belief.readings.rounding()
    variance = belief.variance * filters.p00
    variance = variance + (belief.variance if of == "observation" else rounding)
    leader = int(belief.logs.argmax())
    inner = belief.games[leader].weights
    position = point(engine, belief, filters)
    known = np.isfinite(belief.variance[leader, 0])
    low, high = np.where(known, 0.0, -np.inf), np.where(known, 0.0, np.inf)
    weights = engine.weights(belief).ravel()
    rank = np.argsort(-weights)  # experts with the last thousandth of the weight are left out
    heavy = rank[: 1 + int(np.searchsorted(np.cumsum(weights[rank]), 0.999))]
    if known.any():
        means = filters.x[..., known].reshape(-1, known.sum())[heavy].T
        widths = np.sqrt(variance[..., known].reshape(-1, known.sum())[heavy].T)
        edges = quantiles(means, widths, weights[heavy], ends)
        low[known], high[known] = edges.T
        low, high = np.minimum(low, position), np.maximum(high, position)
    spread = inner @ (variance[leader] + np.square(filters.x[leader] - position))
    if of == "observation":  # a reading is at most half the resolution away
        low, high = low - np.sqrt(3.0 * rounding), high + np.sqrt(3.0 * rounding)
    origin, seen = belief.origin, np.isfinite(belief.readings.last)
    position = np.where(seen, position + origin, np.nan)
    return TrackPrediction(position, np.sqrt(spread), low + origin, high + origin)


def point(engine: Ladder, belief: Belief, filters: Filters) -> Floats:
    """Return where the leading hypothesis is, from its origin."""
    leader = int(belief.logs.argmax())
    return np.asarray(engine.earned_weights([belief.games[leader]])[0] @ filters.x[leader])


def _from_paths(engine: Paths, cloud: Cloud, steps: int, ends: Floats, of: Of) -> TrackPrediction:
    plain, noisy = engine.ahead(cloud, steps)
    weights = cloud.game.weights
    if of == "observation":
        if cloud.noise is None:
            raise ValueError(
                "the interval of an observation needs a first observation, and the default "
                "gains; of='position' always works"
            )
        columns, rng = cloud.noise.shape[1], np.random.default_rng(0)
        plain, noisy = engine.observed_part(plain, columns), engine.observed_part(noisy, columns)
        noisy = noisy + cloud.noise * rng.normal(size=noisy.shape)
    position = np.asarray(weights @ plain)
    spread = weights @ np.square(noisy - weights @ noisy)
    low, high = np.array([weighted_quantiles(c, weights, ends) for c in noisy.T]).T
    low, high = np.minimum(low, position), np.maximum(high, position)
    return TrackPrediction(position, np.sqrt(spread), low, high)


def check_whole(name: str, value: Any, most: int | None = None) -> int:
    """Return a whole number of at least zero."""
    number = inputs.count(name, value, 0)
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}, got {number}")
    return number


def quantiles(means: Floats, widths: Floats, weights: Floats, ends: Floats) -> Floats:
    """Return quantiles of a mixture of normal distributions.

    Newton's method on F(x) = sum_i w_i Phi((x - m_i) / s_i), kept inside a bracket.
    """
    shares = weights / weights.sum()
    rank = np.argsort(means, axis=-1)
    half = np.argmax(np.cumsum(shares[rank], axis=-1) >= 0.5, axis=-1)[..., np.newaxis]
    middle = np.take_along_axis(rank, half, axis=-1)
    reach = 40.0 * widths
    low, high = (means - reach).min(axis=-1), (means + reach).max(axis=-1)
    low, high = (np.repeat(end[..., np.newaxis], len(ends), axis=-1) for end in (low, high))
    start = np.array([_normal_quantile(p) for p in ends])
    x: Floats = np.take_along_axis(means, middle, axis=-1)
    x = x + np.take_along_axis(widths, middle, axis=-1) * start
    means, widths = means[..., np.newaxis, :], widths[..., np.newaxis, :]
    for _ in range(200):
        z = (x[..., np.newaxis] - means) / widths
        miss = normal_cdf(z) @ shares - ends
        if (np.abs(miss) < 1e-9).all():
            break
        low, high = np.where(miss < 0.0, x, low), np.where(miss < 0.0, high, x)
        density = np.exp(-0.5 * np.square(np.clip(z, -38.0, 38.0))) / widths
        with np.errstate(divide="ignore", over="ignore"):
            new = x - miss / (density @ shares / 2.5066282746)
        new = np.where((new > low) & (new < high), new, 0.5 * (low + high))
        x = new
    return x


def weighted_quantiles(values: Floats, weights: Floats, ends: Floats) -> Floats:
    """Return quantiles of weighted points, by linear interpolation."""
    rank = np.argsort(values, kind="stable")
    below = np.cumsum(weights[rank]) - 0.5 * weights[rank]
    return np.asarray(np.interp(ends, below, values[rank]))


def _normal_quantile(p: float) -> float:
    """Return a starting point: the logistic approximation, within 0.02 for usual p."""
    return float(np.log(p / (1.0 - p)) / 1.702)
