"""How a series changes: by regimes that return, by breaks, by wandering, or not at all."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.latent.regimes._candidates import CandidatePool
from normalhedge.latent.regimes._filter_bank import CandidateFilters, FilterBank
from normalhedge.latent.regimes._recipes import Candidate, SeriesCandidate
from normalhedge.latent.regimes._regime_labels import EVIDENCE, KINDS, RegimeLabels
from normalhedge.latent.regimes._series_models import Conjugate

NEAR = 3  # a break is found if it came within so many rounds
# regimes return if there were at least so many switches; a series that breaks once has one
RETURNS = 1.5
# states that stay no more often than they would at random, by this share, are no regimes
LASTING = 0.2


class Break(NamedTuple):
    """A change for good.

    Attributes
    ----------
    round
        The first round after the change, counted from 0.
    probability
        The probability that the last break came within three rounds of this one; NaN for earlier
        breaks, which are the most probable ones given the later ones.
    """

    round: int
    probability: float


@dataclass(frozen=True)
class Evidence:
    """How a series changes, and how sure that is.

    Attributes
    ----------
    kind
        ``"regimes"`` that return, ``"breaks"``, ``"wandering"``, or ``"nothing"``.
    nats
        By how many nats the models of each kind have predicted better than models with one state:
        the logarithm of a Bayes factor.
    weights
        The current total weight of the models of each kind.
    enough
        The nats that a kind must have to be more than nothing.
    breaks
        The most probable breaks, at most the last five, in order. A model of breaks takes a switch
        of regimes for a break, too.
    """

    kind: str
    nats: dict[str, float]
    weights: dict[str, float]
    enough: float
    breaks: tuple[Break, ...]

    def sentence(self, time: Sequence[Any] | None = None) -> str:
        """Return the verdict in words.

        Parameters
        ----------
        time
            The time of each round, to name breaks by; by default they are named by their rounds.
        """
        lead = f"{self.nats[self.kind]:.1f} nats better than one unchanging state"
        if self.kind == "nothing":
            best = max(KINDS[1:], key=self.nats.__getitem__)
            if best == "regimes" and self.nats[best] >= self.enough:
                return (
                    "nothing changes: states follow each other at random, and only describe the "
                    "shape of the distribution"
                )
            return (
                "nothing changes: neither regimes nor breaks predict clearly better than one state "
                f"({best}: {self.nats[best]:+.1f} nats)"
            )
        if self.kind == "regimes":
            return f"regimes that return predict {lead}"
        if self.kind == "wandering":
            return f"a level that wanders predicts {lead}"
        if not self.breaks:
            return f"breaks predict {lead}"
        last = self.breaks[-1]
        in_time = time is not None and 0 <= last.round < len(time)
        when = f"{time[last.round]}" if time is not None and in_time else f"round {last.round}"
        if len(self.breaks) == 1:
            what = f"a break at {when}"
        else:
            what = f"{counted(len(self.breaks), 'break')}, the last at {when}"
        return (
            f"{what} (within {NEAR} rounds with probability {last.probability:.2f}): "
            f"models of breaks predict {lead}"
        )


def evidence(
    labels: RegimeLabels,
    pool: CandidatePool,
    bank: FilterBank | None,
    filters: CandidateFilters,
    weights: Floats,
    rounds: int,
    observed: int,
    worth: float,
) -> Evidence:
    """Return how a series has changed so far."""
    nats = dict(zip(KINDS, labels.evidence.tolist(), strict=True))
    shares = weights @ labels.kinds if len(labels.kinds) else np.zeros(len(KINDS))
    by_kind = dict(zip(KINDS, shares.tolist(), strict=True))
    enough = max(EVIDENCE, worth * observed)
    best = max(KINDS[1:], key=nats.__getitem__)
    if nats[best] < enough:
        best = "nothing"
    elif best != "wandering" and nats["regimes"] >= enough:
        # Regimes must be seen before they can be learned, so breaks may be a little ahead.
        switches, lasting = _switches(pool, observed)
        returned = switches >= RETURNS or nats["regimes"] > nats["breaks"] + enough
        if best == "regimes" and abs(lasting) < LASTING:
            best = "nothing"
        elif returned and nats["regimes"] > nats["breaks"] - enough:
            best = "regimes"
        else:
            best = "breaks"
    breaks = () if bank is None else _breaks(bank, filters, weights, rounds)
    return Evidence(best, nats, by_kind, enough, breaks)


def _switches(pool: CandidatePool, observed: int) -> tuple[float, float]:
    """Return the expected number of switches, by the best hidden Markov model of all rounds.

    The second number says how much more often states stay than they would at random, at most 1.
    """
    models = [
        (standing, candidate.fitted)
        for standing, candidate in zip(pool.standing, pool.candidates, strict=True)
        if isinstance(candidate, Candidate)
        and candidate.recipe.states > 1
        and not (candidate.recipe.window or candidate.recipe.memory)
    ]
    if not models:
        return math.inf, 1.0
    model = max(models, key=lambda pair: pair[0])[1]
    shares = model.stationary()
    stay = float(shares @ np.diag(model.transition))
    at_random = float(shares @ shares)
    return observed * (1.0 - stay), (stay - at_random) / max(1.0 - at_random, 1e-9)


def _breaks(
    bank: FilterBank, filters: CandidateFilters, weights: Floats, rounds: int
) -> tuple[Break, ...]:
    """Return the breaks of the model of breaks with the largest weight."""
    found = [
        (weight, candidate.model.runs(candidate.numbers))
        for weight, candidate in zip(weights, bank.candidates(filters), strict=True)
        if isinstance(candidate, SeriesCandidate)
        and isinstance(candidate.model, Conjugate)
        and candidate.model.kind == "breaks"
    ]
    if not found:
        return ()
    runs = max(found, key=lambda pair: pair[0])[1]
    best = runs[runs[:, 1].argmax()]
    near = np.abs(runs[:, 2] - best[2]) <= NEAR
    ago = best[2:][~np.isnan(best[2:])]
    last = float(min(runs[near, 1].sum(), 1.0))
    return tuple(
        Break(rounds - int(back), last if place == len(ago) - 1 else float("nan"))
        for place, back in enumerate(ago[::-1])
    )
