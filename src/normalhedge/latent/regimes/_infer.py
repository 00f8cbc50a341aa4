"""Find the regimes of a whole series."""

from collections.abc import Sequence as Row
from dataclasses import replace
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.progress import Listener, listener
from normalhedge.boundary.terminal import counted
from normalhedge.latent.models.emissions import Categorical
from normalhedge.latent.regimes._encoding import Encoding
from normalhedge.latent.regimes._inferred import Inferred, Live
from normalhedge.latent.regimes._predictive import Predictive
from normalhedge.latent.regimes._recipes import ENOUGH
from normalhedge.latent.regimes._regime_labels import RegimeLabels
from normalhedge.latent.regimes._regime_path import RegimePath
from normalhedge.latent.regimes._regimes import Regimes
from normalhedge.latent.regimes._rule import renumber_history
from normalhedge.latent.regimes._sequence import Sequence, encode
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.live.options import with_options

# the options of `Regimes` that follow from the series and the seed
OWN = ("emission", "symbols", "rng")
LEAST = 20  # the smallest number of observations from which regimes can be learned
# the largest number of rounds in which the whole distribution is compared with the observation
CHECKED = 500


@with_options(RegimesSettings, without=OWN)
def infer(
    values: Any,
    *,
    time: Row[Any] | None = None,
    kind: str | None = None,
    above: float | None = None,
    given: Any = None,
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
    given
        Covariates of each value, which are known before it: a column, or several as for values.
        Values are real numbers then, and a state is a regression: mean + slopes x + noise.
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
    >>> inferred = infer(rng.normal(0.0, np.where(wild, 2.0, 0.5)))
    >>> inferred.states[[500, 580, 700, 780]]
    array([0, 1, 0, 1])
    >>> {state: round(p.deviation, 1) > 1 for state, p in inferred.parameters.items()}
    {0: False, 1: True}
    >>> ahead = inferred.forecast(5)
    >>> len(ahead), ahead.interval(0.9).shape
    (5, (5, 2))

    A slope that changes its sign, and the same seen in hindsight:

    >>> x = rng.normal(size=800)
    >>> related = infer(np.where(wild, 2.0, -1.0) * x + rng.normal(size=800), given=x)
    >>> sorted(p.slopes.round().tolist() for p in related.hindsight.parameters.values())
    [[-1.0], [2.0]]
    """
    sequence = encode(values, kind=kind, above=above, given=given)
    count = int(sequence.known.sum())
    if count < LEAST:
        raise ValueError(f"at least {LEAST} values are needed to learn regimes from, got {count}")
    regimes = new_regimes(sequence.encoding, seed, **options)
    inferred = _follow(sequence, regimes, time, progress)
    if not inferred.path.probabilities.any():
        least = min(regimes.numbers)
        raise ValueError(
            f"{count} values are too few for models with {least} state{'s' * (least > 1)} or more: "
            f"{ENOUGH * least} are needed, and some more to be predicted"
        )
    new = inferred.live.regimes.renumber()
    history = renumber_history(inferred.symbol_history, new)
    return replace(inferred, path=inferred.path.renumber(new), symbol_history=history)


def new_regimes(encoding: Encoding, seed: int = 0, **options: Any) -> Regimes:
    """Return regimes without observations."""
    rng, symbols = np.random.default_rng(seed), len(encoding.labels) or None
    return Regimes(encoding.emission, symbols=symbols, rng=rng, **options)


def resume(
    live: Live | Inferred,
    values: Any,
    *,
    time: Row[Any] | None = None,
    given: Any = None,
    progress: Listener = None,
) -> Inferred:
    """Continue with the values that came since; ``live`` is not changed.

    Parameters
    ----------
    live
        The regimes to continue: an `Inferred`, its ``live``, or the content of a state file.
    values
        The new values only, as for `infer`.
    time
        The time of each new value.
    given
        The covariates of each new value, if there are any.
    progress
        As for `infer`.
    """
    live = live.live if isinstance(live, Inferred) else live
    sequence = encode(values, encoding=live.encoding, given=given)
    if not len(sequence.numbers):
        raise ValueError("there is nothing to learn from: no value is given")
    return _follow(sequence, live.regimes, time, progress)


def _follow(
    sequence: Sequence, regimes: Regimes, time: Row[Any] | None, progress: Listener
) -> Inferred:
    """Learn a series, starting with the given regimes, which do not change."""
    rounds, labels = len(sequence.numbers), sequence.labels
    if time is not None and len(time) != rounds:
        raise ValueError(
            f"time must have one entry for each of {counted(rounds, 'value')}, got {len(time)}"
        )
    encoding, rule = sequence.encoding, regimes._rule
    probabilities = np.full((rounds, len(labels)), np.nan)
    pits = np.full((rounds, max(len(encoding.columns), 1), 2), np.nan)
    parts, history = [], []
    state, table = rule.accept(regimes._state, sequence.numbers, sequence.given)
    start, reviews = 0, 0
    told = listener(progress)
    told.total(rounds)
    for stop in _stops(sequence):
        if stop > start:
            state, path = rule.run(state, table[start:stop])
            parts.append(path)
            if labels and len(state.history) > reviews:
                reviews = len(state.history)
                history.append((state.rounds, _symbols(state.labels)))
        if stop == rounds:
            break
        ahead = rule.predict(state, None if sequence.given is None else sequence.given[stop])
        if labels:
            probabilities[stop] = ahead.symbols if ahead.parts else np.nan
        elif ahead.parts:
            observed = table[stop, : pits.shape[1]]
            pits[stop] = _pits(ahead, observed, counts=encoding.kind == "counts")
        told.done(stop - start, "learning")
        start = stop
    told.done(rounds - start, "learning")
    return Inferred(
        sequence,
        None if time is None else tuple(time),
        RegimePath.join(parts),
        probabilities,
        pits,
        Live(Regimes.at(rule, state), encoding),
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


def _pits(ahead: Predictive, observed: Floats, *, counts: bool) -> Floats:
    """Return P(y < observed) and P(y <= observed), for each column."""
    columns = zip(ahead.columns(), observed, strict=True)
    up_to = np.array([float(part.share_below(value)) for part, value in columns])
    if not counts:  # the two are the same
        return np.column_stack([up_to, up_to])
    return np.array([[float(ahead.share_below(observed[0] - 1.0)), up_to[0]]])


def _symbols(labels: RegimeLabels) -> dict[int, Floats]:
    """Return the probabilities of symbols in each regime."""
    if labels.model is None or not isinstance(labels.model.emission, Categorical):
        return {}
    numbers = labels.identity.numbers.tolist()
    return dict(zip(numbers, labels.model.emission.probabilities, strict=True))
