"""Forecasts of several rounds: distributions, regimes and switches."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.latent.models import Fitted
from normalhedge.latent.models.emissions import ALL, Autoregressive, Gaussian
from normalhedge.latent.regimes._filter_bank import CandidateFilters, FilterBank, at_covariates
from normalhedge.latent.regimes._predictive import Predictive
from normalhedge.latent.regimes._recipes import Candidate
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


def mixture(mixtures: Iterable[tuple[str, Floats, Floats]], previous: Floats) -> Predictive:
    """Return the sum of mixtures: the family, the shares and the parameters of each."""
    families: dict[str, list[tuple[Floats, Floats]]] = {}
    for family, shares, rows in mixtures:
        families.setdefault(family, []).append((shares, rows))
    parts = [
        (
            _joined([share for share, _ in group], 0),
            ALL[name].from_core(_joined([rows for _, rows in group], 1)),
        )
        for name, group in families.items()
    ]
    return Predictive(parts, previous)


def _joined(parts: list[Floats], axis: int) -> Floats:
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=axis)


def forecast(
    rounds: int,
    bank: FilterBank,
    filters: CandidateFilters,
    weights: Floats,
    labels: RegimeLabels,
    previous: Floats,
    given: Floats | None = None,
) -> Forecast:
    """Return a forecast of the next rounds; ``given`` are their covariates, h x p.

    The states of each model move by its transitions; the weights of the models do not change:

        p(y_{t+h}) = sum_n w_n sum_s (P_n(S_{t+1} | y_1..y_t) A_n^(h-1))(s) b_ns(y)

    For autoregressive states the mean and the variance in each state are exact. From the second
    round on, the distribution within a state is approximated by a normal one.
    """
    candidates, beliefs = bank.candidates(filters), bank.predicted(filters)
    width = beliefs.shape[1]
    moves = np.zeros((len(candidates), width, width))
    before = np.zeros_like(beliefs)
    paths: dict[int, _Path] = {}
    for n, candidate in enumerate(candidates):
        if isinstance(candidate, Candidate):
            model = candidate.now()
            moves[n, : model.states, : model.states] = model.transition
            before[n, : model.states] = candidate.filtered
            paths[n] = _Path(candidate.recipe.family, model, previous[0])
    first = mixture(bank.mixtures(filters, weights, None if given is None else given[0]), previous)
    ahead, regimes, switching = [first], [], []
    for step in range(rounds):
        if step:
            after = np.einsum("nr,nrs->ns", beliefs, moves)
            back = beliefs[:, :, np.newaxis] * moves / np.maximum(after, 1e-300)[:, np.newaxis]
            before, beliefs = beliefs, after
            later = {n: path.move(beliefs[n], back[n]) for n, path in paths.items()}
            later |= bank.components(filters, step + 1)
            parts = [
                (later[n][0], weight * later[n][1], later[n][2]) for n, weight in enumerate(weights)
            ]
            if given is not None:
                parts = [at_covariates(*part, given[step]) for part in parts]
            ahead.append(mixture(parts, previous))
        regimes.append(labels.regimes(weights[np.newaxis], beliefs[np.newaxis])[0][0])
        switching.append(labels.regimes(weights[np.newaxis], before[np.newaxis])[1][0])
    return Forecast(tuple(ahead), np.array(regimes), np.array(switching))


class _Path:
    """The distribution of an observation in each state of a hidden Markov model, over time."""

    def __init__(self, family: str, model: Fitted, previous: float) -> None:
        self._family, self._emission = family, model.emission
        self._rows = model.emission.parameters()
        if isinstance(model.emission, Autoregressive):
            self._means = model.emission.means_after(previous)
            self._variances = model.emission.variances_after(previous)

    def move(self, beliefs: Floats, back: Floats) -> tuple[str, Floats, Floats]:
        """Advance by a round, given P(S_t) and P(S_{t-1} = r | S_t = s)."""
        emission, k = self._emission, self._emission.states
        if not isinstance(emission, Autoregressive):
            return self._family, beliefs[:k], self._rows
        mean = self._means @ back[:k, :k]
        variance = (self._variances + self._means**2) @ back[:k, :k] - mean**2
        self._means = emission.intercepts + emission.slopes * mean
        spread = emission.slopes**2 * np.maximum(variance, 0.0)
        self._variances = emission.deviations**2 + spread
        return Gaussian.family, beliefs[:k], np.stack([self._means, self._variances])
