"""What kind of series it is, in a sentence: regimes that return, a break, or nothing."""

from typing import NamedTuple

import numpy as np

from normalhedge.boundary.terminal import counted
from normalhedge.latent.regimes._evidence import LASTING
from normalhedge.latent.regimes._hindsight import RegimesInHindsight
from normalhedge.latent.regimes._inferred import Inferred

WORDS = ("No", "One", "Two", "Three", "Four", "Five")
MANY = 5  # the largest number of regimes that a sentence describes


class SeriesVerdict(NamedTuple):
    """The verdict on a series, given all rounds."""

    kind: str  # "regimes", "break", "wandering" or "nothing"
    sentence: str
    evidence: str  # the scores behind it, in a sentence


def verdict(inferred: Inferred) -> SeriesVerdict:
    """Return the verdict on a series.

    Regimes return if one of them has several stays on the path in hindsight. If each has one, there
    are breaks. With a single regime, its parameters wander or stay. States that last no longer than
    at random are no regimes.
    """
    evidence = _evidence(inferred)
    single = _single(inferred.hindsight)
    if single is not None:
        return SeriesVerdict(*single, evidence)
    looked = inferred.hindsight
    count = len(looked.parameters)
    stays = inferred.stays()
    if max(looked.stays.values()) > 1:
        number = WORDS[count] if count < len(WORDS) else str(count)
        described = ""
        if count <= MANY:
            described = ": " + ", ".join(
                f"state {k} ({_brief(inferred, k)}) in {counted(n, 'stay')}"
                for k, n in looked.stays.items()
            )
        drift = " and drift" if looked.moving > 0.5 else ""
        return SeriesVerdict(
            "regimes", f"{number} regimes that return{drift}{described}.", evidence
        )
    places = [str(when) for when in stays["from"][1:]]
    parts = " to ".join(f"state {k} ({_brief(inferred, k)})" for k in stays["regime"])
    if not places:
        words = f"No change: the most probable path stays in state {stays['regime'][0]}."
        return SeriesVerdict("nothing", words, evidence)
    name = "A break" if len(places) == 1 else f"{WORDS[min(len(places), 5)]} breaks"
    words = f"{name}, at {' and '.join(places)}: from {parts}. No regime returns."
    return SeriesVerdict("break", words, evidence)


def _single(looked: RegimesInHindsight) -> tuple[str, str] | None:
    """Return the kind of a series without regimes, and a sentence; None if there are regimes."""
    if not looked.parameters:
        return "nothing", "Nothing was observed."
    if len(looked.parameters) == 1:
        if looked.moving > 0.5:
            return "wandering", "No regimes: a single one that wanders explains the series as well."
        return "nothing", "No regimes: a single one explains the series as well."
    if all(p.stay <= p.share + LASTING for p in looked.parameters.values()):
        words = "states follow each other at random, and only describe the distribution"
        return "nothing", f"No regimes: {words}."
    return None


def _brief(inferred: Inferred, state: int) -> str:
    """Return what a regime is like, in a few words."""
    looked, encoding = inferred.hindsight, inferred.sequence.encoding
    if encoding.labels:
        shares = looked.symbols[state]
        likely = int(shares.argmax())
        return f"{encoding.labels[likely]} {shares[likely]:.0%}"
    parameters = looked.parameters[state]
    pairs = zip(np.ravel(parameters.mean), np.ravel(parameters.deviation), strict=True)
    parts = [
        f"{name} {mean:.3g} ± {deviation:.2g}".strip()
        for name, (mean, deviation) in zip(encoding.number_columns, pairs, strict=True)
    ]
    if encoding.given:
        slopes = zip(encoding.given, parameters.slopes, strict=True)
        parts += [f"slope of {name} {slope:.3g}" for name, slope in slopes]
    return ", ".join(parts[:3]) + (", ..." if len(parts) > 3 else "")


def _evidence(inferred: Inferred) -> str:
    scores = inferred.hindsight.scores
    causal = f"Predictions at the time: {inferred.evidence.sentence(inferred.time)}."
    if len(scores) < 2:
        return causal
    best = max(scores, key=lambda k: scores[k])
    parts = [f"{counted(k, 'state')} {scores[k]:+.3f}" for k in scores if k != best]
    return (
        f"Given all rounds, the best score in nats a round has a model with "
        f"{counted(best, 'state')}; others are behind it: {', '.join(parts)}. An additional state "
        f"counts as a regime if it adds {inferred.live.regimes.settings.worth:g} or more. {causal}"
    )
