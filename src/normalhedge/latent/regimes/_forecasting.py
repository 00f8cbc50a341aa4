"""Forecasts of several rounds: distributions, regimes and switches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.latent.models.emissions import FAMILIES, Autoregressive, Emission, Gaussian
from normalhedge.latent.regimes._candidates import Candidate
from normalhedge.latent.regimes._predictive import Predictive
from normalhedge.latent.regimes._regime_labels import RegimeLabels

FURTHEST = 10_000  # the largest number of rounds that can be forecast


@dataclass(frozen=True, eq=False)
class Forecast:
    """A forecast of the next h rounds.

    Attributes
    ----------
    rounds
        The predictive distribution of each round; ``forecast[0]`` is the next one.
    probabilities
        The probability of each regime, h x regimes.
    switching
        The probability that the regime differs from the regime one round before, h.
    """

    rounds: tuple[Predictive, ...]
    probabilities: Floats
    switching: Floats

    @property
    def means(self) -> Floats:
        """The mean of each round, h, or h x d with several columns."""
        return np.array([ahead.mean for ahead in self.rounds])

    @property
    def states(self) -> Any:
        """The most probable regime in each round; -1 before the first fit."""
        known = self.probabilities.any(axis=1)
        return np.where(known, self.probabilities.argmax(axis=1), -1)

    def interval(self, level: float = 0.9) -> Floats:
        """Return the central interval of each round, h x 2, or h x d x 2 with several columns."""
        return np.array([ahead.interval(level) for ahead in self.rounds])

    def __getitem__(self, place: int) -> Predictive:
        return self.rounds[place]

    def __iter__(self) -> Iterator[Predictive]:
        return iter(self.rounds)

    def __len__(self) -> int:
        return len(self.rounds)

    def __repr__(self) -> str:
        return f"<Forecast: {counted(len(self), 'round')}, next {self.rounds[0]!r}>"


def mixture(
    shares: Floats, parameters: Iterable[tuple[str, Floats]], previous: Floats
) -> Predictive:
    """Return the mixture of all states of the candidates."""
    families: dict[str, list[tuple[Floats, Floats]]] = {}
    for mine, (family, rows) in zip(shares, parameters, strict=True):
        families.setdefault(family, []).append((mine[: rows.shape[1]], rows))
    parts = [
        (
            np.concatenate([share for share, _ in group]),
            FAMILIES[name].from_core(np.concatenate([rows for _, rows in group], axis=1)),
        )
        for name, group in families.items()
    ]
    return Predictive(parts, previous)


def forecast(
    rounds: int,
    candidates: Sequence[Candidate],
    weights: Floats,
    beliefs: Floats,
    labels: RegimeLabels,
    previous: Floats,
) -> Forecast:
    """Return a forecast of the next rounds.

    The states of each model move by its transitions; the weights of the models do not change:

        p(y_{t+h}) = sum_n w_n sum_s (P_n(S_{t+1} | y_1..y_t) A_n^(h-1))(s) b_ns(y)

    For autoregressive states the mean and the variance in each state are exact. From the second
    round on, the distribution within a state is approximated by a normal one.
    """
    width = beliefs.shape[1]
    moves = np.zeros((len(candidates), width, width))
    before = np.zeros_like(beliefs)
    models = [candidate.now() for candidate in candidates]
    for n, (candidate, model) in enumerate(zip(candidates, models, strict=True)):
        moves[n, : model.states, : model.states] = model.transition
        before[n, : model.states] = candidate.filtered
    parameters = [(c.recipe.family, m.emission.parameters())
                  for c, m in zip(candidates, models, strict=True)]  # fmt: skip
    first = mixture(weights[:, np.newaxis] * beliefs, parameters, previous)
    paths = [_Path(model.emission, previous[0]) for model in models]
    ahead, regimes, switching = [first], [], []
    for step in range(rounds):
        if step:
            after = np.einsum("nr,nrs->ns", beliefs, moves)
            back = beliefs[:, :, np.newaxis] * moves / np.maximum(after, 1e-300)[:, np.newaxis]
            before, beliefs = beliefs, after
            shares = weights[:, np.newaxis] * beliefs
            ahead.append(_later(first, shares, candidates, paths, back))
        regimes.append(labels.regimes(weights[np.newaxis], beliefs[np.newaxis])[0])
        switching.append(labels.switching(weights[np.newaxis], before[np.newaxis])[0])
    return Forecast(tuple(ahead), np.array(regimes), np.array(switching))


class _Path:
    """The mean and variance of an autoregressive observation in each state."""

    def __init__(self, emission: Emission, previous: float) -> None:
        self._emission = emission
        if isinstance(self._emission, Autoregressive):
            self.means = self._emission.means_after(previous)
            self.variances = self._emission.variances_after(previous)

    def move(self, back: Floats) -> None:
        """Advance by a round, given P(S_{t-1} = r | S_t = s), k x k."""
        emission = self._emission
        assert isinstance(emission, Autoregressive)
        mean = self.means @ back
        variance = (self.variances + self.means**2) @ back - mean**2
        self.means = emission.intercepts + emission.slopes * mean
        self.variances = emission.deviations**2 + emission.slopes**2 * np.maximum(variance, 0.0)


def _later(
    first: Predictive,
    shares: Floats,
    candidates: Sequence[Candidate],
    paths: list[_Path],
    back: Floats,
) -> Predictive:
    """Return the mixture of a later round."""
    sizes = [candidate.recipe.states for candidate in candidates]
    if candidates[0].recipe.family == "autoregressive":
        for path, k, mine in zip(paths, sizes, back, strict=True):
            path.move(mine[:k, :k])
        moments = [(path.means, path.variances) for path in paths]
        states = Gaussian.from_core(np.concatenate(moments, axis=1))
        share = np.concatenate([mine[:k] for mine, k in zip(shares, sizes, strict=True)])
        return Predictive([(share, states)], first.previous)
    families: dict[str, list[Floats]] = {}
    for mine, candidate, k in zip(shares, candidates, sizes, strict=True):
        families.setdefault(candidate.recipe.family, []).append(mine[:k])
    parts = zip(families.values(), first.parts, strict=True)
    return Predictive(
        [(np.concatenate(group), emission) for group, (_, emission) in parts], first.previous
    )
