"""The regimes of a whole series in hindsight: smoothed probabilities, and the likeliest path."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.latent.models import (
    scale,
)
from normalhedge.latent.models.emissions import (
    ALL,
    Categorical,
    DiagonalGaussian,
    Emission,
    Regression,
)
from normalhedge.latent.regimes._explanations import autoregression, explanations
from normalhedge.latent.regimes._matching import Labels, assignment, order
from normalhedge.latent.regimes._recipes import ENOUGH
from normalhedge.latent.regimes._regime_labels import EVIDENCE, Parameters

# regimes in hindsight take the numbers of causal ones with which they share so many of the rounds
CLEAR = 0.7
LEAST_WEIGHT = 1e-6  # models with less weight are left out


@dataclass(frozen=True, eq=False)
class RegimesInHindsight:
    """The regimes of a series, given all of its rounds.

    Hidden Markov models are fitted to the whole series: with parameters that stay, and with
    parameters that move within 40, 100 or 400 rounds. The score of a model is Akaike's: the
    logarithm of its likelihood, less the effective number p of its free parameters, times n / (n -
    p - 1) for n observations. The number of regimes is the smallest number of states whose best
    score is not behind the best of all by more than 4 nats or by ``worth`` nats a round. Models
    with that number of states are averaged with weights in proportion to exp(score). Beside the
    models with one state, of one column of numbers, stands an autoregression: a level that wanders
    is no regime.

    Attributes
    ----------
    probabilities
        The smoothed probability of each regime in each round, P(S_t | y_1..y_T), T x regimes.
    path
        The most probable sequence of regimes in the model with the largest weight, T.
    weights
        The weight of each model, by its description.
    scores
        The best score for each number of states, in nats a round, minus the best of all.
    parameters
        Mean and deviation of the observations in each regime, the probability that it lasts for
        another round, and its share of rounds; with covariates, the regression in each regime.
    symbols
        The share of each symbol in each regime; empty for numbers.
    stays
        The number of stays in each regime on the path.
    moving
        The weight of the models whose emissions move, or follow the last value.

    References
    ----------
    Viterbi (1967); Baum, Petrie, Soules and Weiss (1970); Hurvich and Tsai (1989).
    """

    probabilities: Floats
    path: npt.NDArray[np.intp]
    weights: dict[str, float]
    scores: dict[int, float]
    parameters: dict[int, Parameters]
    symbols: dict[int, Floats]
    stays: dict[int, int]
    moving: float

    def fold(self, causal: Floats) -> Floats:
        """Return probabilities of causal regimes by the regimes in hindsight, T x regimes.

        A regime that is none in hindsight counts for the one with which it shares most rounds.
        """
        return np.asarray(causal @ np.eye(self.probabilities.shape[1])[self.fold_places(causal)])

    def fold_places(self, causal: Floats) -> Labels:
        """Return the regime in hindsight of each causal one."""
        states, most = self.probabilities.shape[1], causal.shape[1]
        shared = causal.T @ self.probabilities
        places: Labels = shared.argmax(axis=1)
        places[:states] = assignment(shared[:states] + 1e-6 * np.eye(states)[:most])
        return places

    @property
    def states(self) -> npt.NDArray[np.intp]:
        """The regime with the largest smoothed probability in each round."""
        return np.asarray(self.probabilities.argmax(axis=1))

    def __len__(self) -> int:
        return len(self.path)

    def __repr__(self) -> str:
        best = next(iter(self.weights), "none")
        size = f"{counted(len(self), 'round')}, {counted(len(self.parameters), 'regime')}"
        return f"<RegimesInHindsight: {size}, best {best}>"


def look_back(
    seen: Floats,
    families: Sequence[str],
    numbers: Sequence[int],
    *,
    worth: float,
    rng: np.random.Generator,
    causal: Floats,
    symbols: int | None = None,
) -> RegimesInHindsight:
    """Return the regimes in hindsight of T x d observations.

    The regimes have the numbers of the regimes in ``causal``, T' x most probabilities of the last
    rounds, with which they share most rounds; if they share too few, they are numbered by mean or
    deviation. The results are for these rounds.
    """
    rounds = len(causal)
    known = ~np.isnan(seen[:, 0])
    count = int(known.sum())
    if not count:
        none = np.full(rounds, -1)
        return RegimesInHindsight(np.zeros((rounds, 1)), none, {}, {}, {}, {}, {}, 0.0)
    found = list(explanations(seen, families, _possible(numbers, count), rng, symbols))
    if families[0] == "gaussian" and 1 in numbers:
        found.append(autoregression(seen, rng))
    best = {k: max(e.score for e in found if e.states == k) for k in {e.states for e in found}}
    top = max(best.values())
    slack = max(EVIDENCE, worth * count)
    states = min(k for k, score in best.items() if score >= top - slack)
    chosen = sorted((e for e in found if e.states == states), key=lambda e: -e.score)
    shares = np.exp([e.score - chosen[0].score for e in chosen])
    shares /= shares.sum()
    smoothed = np.zeros((len(seen), states))
    weights: dict[str, float] = {}
    first = chosen[0].model.smoothed()
    for explanation, share in zip(chosen, shares.tolist(), strict=True):
        if share >= LEAST_WEIGHT:
            mine = first if explanation is chosen[0] else explanation.model.smoothed()
            smoothed[:, assignment(mine.T @ first)] += share * mine
            weights[str(explanation)] = share
    smoothed /= smoothed.sum(axis=1, keepdims=True)
    summary = _summary(seen, smoothed, families[0], symbols)
    compared = summary
    if isinstance(summary, Regression):
        compared = summary.compared(*scale(seen[known]))
    new = _numbers(compared, smoothed[-rounds:], causal)
    placed = np.empty_like(smoothed)
    placed[:, new] = smoothed
    path = new[chosen[0].model.path()]
    return RegimesInHindsight(
        placed[-rounds:],
        path[-rounds:],
        weights,
        {k: (best[k] - top) / count for k in sorted(best)},
        _parameters(summary, placed, path, new),
        {} if symbols is None else _symbols(summary, new),
        _stays(path, states),
        float(shares[[e.moves for e in chosen]].sum()),
    )


def _possible(numbers: Sequence[int], count: int) -> list[int]:
    """Return the numbers of states for which there are enough observations, or the smallest."""
    return [k for k in numbers if k == 1 or ENOUGH * k <= count] or [min(numbers)]


def _summary(seen: Floats, smoothed: Floats, family: str, symbols: int | None) -> Emission:
    """Return the observations in each regime as a distribution, or as a regression."""
    known = ~np.isnan(seen[:, 0])
    shares = smoothed[known] + 1e-12
    shares = shares / shares.sum(axis=0)
    if symbols is not None:
        counts = shares.T @ (seen[known] == np.arange(symbols))
        return Categorical(counts / counts.sum(axis=1, keepdims=True))
    if ALL[family] is Regression:
        rows = [_least_squares(seen[known], mine) for mine in shares.T]
        return Regression.from_core(np.array(rows).T)
    means = shares.T @ seen[known]
    away = np.stack([mine @ np.square(seen[known] - mean)
                     for mine, mean in zip(shares.T, means, strict=True)])  # fmt: skip
    return DiagonalGaussian(means, np.sqrt(np.maximum(away, 1e-300)))


def _least_squares(seen: Floats, weights: Floats) -> Floats:
    """Return intercept, slopes and variance of a weighted regression of the first column."""
    roots = np.sqrt(weights / weights.sum())
    design = np.column_stack([np.ones(len(seen)), seen[:, 1:]]) * roots[:, np.newaxis]
    y = seen[:, 0] * roots
    coefficients = np.linalg.lstsq(design, y)[0]
    variance = float(np.square(y - design @ coefficients).sum())
    return np.array([*coefficients, max(variance, 1e-300)])


def _numbers(summary: Emission, smoothed: Floats, causal: Floats) -> Labels:
    """Return the number of each state: of the causal regime with which it shares most rounds."""
    states = smoothed.shape[1]
    numbers: Labels = np.empty(states, dtype=np.intp)
    numbers[order(summary)] = np.arange(states)
    shared = 1e-6 * (numbers[:, np.newaxis] == np.arange(states))
    shared[:, : causal.shape[1]] += smoothed.T @ causal[:, :states]
    chosen = assignment(shared)
    together = shared[np.arange(states), chosen].sum()
    return chosen if together > CLEAR * causal.sum() else numbers


def _parameters(
    summary: Emission, smoothed: Floats, path: Labels, new: Labels
) -> dict[int, Parameters]:
    """Return the parameters of each regime; the mean duration is that of the path."""
    means, variances = summary.moments()
    stays = _stays(path, len(new))
    result = {}
    for number in range(len(new)):
        state = int(np.flatnonzero(new == number)[0])
        mean, deviation = (_plain(part[state]) for part in (means, np.sqrt(variances)))
        stay = 1.0 - stays[number] / max(int((path == number).sum()), 1)
        share = float(smoothed[:, number].mean())
        slopes = summary.slopes[state] if isinstance(summary, Regression) else None
        stay = stay if stays[number] else 0.0
        result[number] = Parameters(mean, deviation, stay, share, slopes)
    return result


def _stays(path: Labels, states: int) -> dict[int, int]:
    """Return the number of stays in each state of a path."""
    begun = path[np.r_[True, path[1:] != path[:-1]]]
    return dict(enumerate(np.bincount(begun, minlength=states).tolist()))


def _symbols(summary: Emission, new: Labels) -> dict[int, Floats]:
    assert isinstance(summary, Categorical)
    pairs = zip(new.tolist(), summary.probabilities, strict=True)
    return dict(sorted(pairs, key=lambda pair: pair[0]))


def _plain(value: Any) -> Any:
    parts = np.ravel(value)
    return float(parts[0]) if parts.size == 1 else parts
