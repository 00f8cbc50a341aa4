"""Find the regimes of a whole series."""

import copy
from collections.abc import Sequence as Row
from dataclasses import replace
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.progress import Listener, listener
from normalhedge.latent.models.emissions import Categorical
from normalhedge.latent.regimes._candidates import ENOUGH
from normalhedge.latent.regimes._code import Code
from normalhedge.latent.regimes._course import Course
from normalhedge.latent.regimes._inferred import Inferred, Live
from normalhedge.latent.regimes._predictive import Predictive
from normalhedge.latent.regimes._regimes import Regimes
from normalhedge.latent.regimes._sequence import Sequence, encode
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.live.options import with_options

OWN = ("emission", "symbols", "rng")
"""The options of `Regimes` that follow from the series and the seed."""

LEAST = 20
"""The smallest number of observations from which regimes can be learned."""

CHECKED = 500
"""The largest number of rounds in which the whole distribution is compared with the observation."""


@with_options(RegimesSettings, without=OWN)
def infer(
    values: Any,
    *,
    time: Row[Any] | None = None,
    kind: str | None = None,
    above: float | None = None,
    seed: int = 0,
    progress: Listener = None,
    **options: Any,
) -> Inferred:
    """Find the regimes of a series, and predict each round from the rounds before it.

    Parameters
    ----------
    values
        Numbers, counts, or words; several columns of numbers as a mapping of names to columns, as
        rows, or as a data frame. None, NaN or an empty string where missing.
    time
        The time of each value, which is copied into the results.
    kind
        "numbers", "autoregressive" (numbers that depend on the last one), "counts" or "symbols";
        guessed by default, see `encode`.
    above
        A limit that turns numbers into two symbols: at most the limit, or above it.
    seed
        The seed of the random starts of fits.
    progress
        A function that is called with the finished share of the work, or a
        `normalhedge.boundary.progress.Progress`.
    **options
        Further options of `Regimes`, such as ``states`` and ``budget``.

    Notes
    -----
    Predictions are causal. Only the kind of the series and its set of symbols are taken from the
    whole of it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> wild = np.arange(800) // 80 % 2       # calm for 80 rounds, then wild for 80
    >>> found = infer(rng.normal(0.0, np.where(wild, 2.0, 0.5)))
    >>> found.states[[500, 580, 700, 780]]
    array([0, 1, 0, 1])
    >>> {state: round(p.deviation, 1) > 1 for state, p in found.parameters.items()}
    {0: False, 1: True}
    >>> ahead = found.forecast(5)
    >>> len(ahead), ahead.interval(0.9).shape
    (5, (5, 2))
    """
    sequence = encode(values, kind=kind, above=above)
    known = int(sequence.known.sum())
    if known < LEAST:
        raise ValueError(f"at least {LEAST} values are needed to learn regimes from, got {known}")
    code = sequence.code
    regimes = new_regimes(code, seed, **options)
    found = _inferred(sequence, Live(regimes, code), time, progress)
    if not found.course.probabilities.any():
        least = min(regimes.numbers)
        raise ValueError(
            f"{known} values are too few for models with {least} state{'s' * (least > 1)} or more: "
            f"{ENOUGH * least} are needed, and some more to be predicted"
        )
    new = regimes.renumber()
    history = [
        (rounds, dict(sorted((int(new[old]), one) for old, one in there.items())))
        for rounds, there in found.symbol_history
    ]
    return replace(found, course=found.course.renumbered(new), _symbols_by_state=tuple(history))


def new_regimes(code: Code, seed: int = 0, **options: Any) -> Regimes:
    """Return regimes without observations."""
    rng, symbols = np.random.default_rng(seed), len(code.labels) or None
    return Regimes(code.emission, symbols=symbols, rng=rng, **options)


def resume(
    live: Live | Inferred,
    values: Any,
    *,
    time: Row[Any] | None = None,
    progress: Listener = None,
) -> Inferred:
    """Continue with the values that came since; ``live`` is not changed.

    Parameters
    ----------
    live
        The regimes to continue: an `Inferred`, its ``live``, or that of a state file.
    values
        The new values only, as for `infer`.
    time
        The time of each new value.
    progress
        As for `infer`.
    """
    live = live.live if isinstance(live, Inferred) else live
    sequence = encode(values, code=live.code)
    if not len(sequence.numbers):
        raise ValueError("there is nothing to learn from: no value is given")
    return _inferred(sequence, Live(copy.copy(live.regimes), live.code), time, progress)


def _inferred(
    sequence: Sequence,
    live: Live,
    time: Row[Any] | None,
    progress: Listener,
) -> Inferred:
    rounds, regimes, labels = len(sequence.numbers), live.regimes, sequence.labels
    if time is not None and len(time) != rounds:
        raise ValueError(f"time must have one entry for each of {rounds:,} values, has {len(time)}")
    columns = max(len(live.code.columns), 1)
    probabilities = np.full((rounds, len(labels)), np.nan)
    pits = np.full((rounds, columns, 2), np.nan)
    parts: list[Course] = []
    history: list[tuple[int, dict[int, Floats]]] = []
    start, reviews = 0, 0
    told = listener(progress)
    told.total(rounds)
    for stop in _stops(sequence):
        if stop > start:
            parts.append(regimes.run(sequence.numbers[start:stop]))
        if stop == rounds:
            break
        ahead = regimes.predict()
        if labels:
            probabilities[stop] = ahead.symbols if ahead.parts else np.nan
        elif ahead.parts:
            pits[stop] = _pits(ahead, sequence.numbers[stop], counts=live.code.kind == "counts")
        parts.append(regimes.run(sequence.numbers[stop : stop + 1]))
        if labels and len(regimes._state.history) > reviews:
            reviews = len(regimes._state.history)
            history.append((regimes.rounds, _symbols(regimes)))
        told.done(stop + 1 - start, "learning")
        start = stop + 1
    told.done(rounds - start, "learning")
    return Inferred(
        sequence,
        None if time is None else tuple(time),
        Course.joined(parts),
        probabilities,
        pits,
        live,
        tuple(history),
    )


def _stops(sequence: Sequence) -> list[int]:
    """Return the rounds whose whole distribution is examined, and the end."""
    rounds = len(sequence.numbers)
    chosen = np.arange(rounds)
    if not sequence.labels:
        chosen = np.flatnonzero(sequence.known)
        chosen = chosen[np.linspace(0, len(chosen) - 1, min(len(chosen), CHECKED)).astype(int)]
    return [*np.unique(chosen).tolist(), rounds]


def _pits(ahead: Predictive, observed: Any, *, counts: bool) -> Floats:
    """Return P(y < observed) and P(y <= observed), for each column."""
    values, parts = np.atleast_1d(observed), ahead.columns()
    return np.array(
        [
            [float(part.cdf(value - counts)), float(part.cdf(value))]
            for part, value in zip(parts, values, strict=True)
        ]
    )


def _symbols(regimes: Regimes) -> dict[int, Floats]:
    """Return the probabilities of symbols in each regime."""
    naming = regimes._state.naming
    model = naming.model
    if model is None or not isinstance(model.emission, Categorical):
        return {}
    numbers = naming.identity.numbers.tolist()
    return {number: model.emission.probabilities[s] for s, number in enumerate(numbers)}
