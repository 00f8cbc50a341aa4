"""Many rounds at once, of which some are missing: they leave the game as it is."""

from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge import _core, _inputs
from normalhedge._inputs import Floats
from normalhedge.hedgers import CompiledHedger, Hedger, State


def run(
    hedger: Hedger[Any], game: Any, gains: Floats, confidence: Floats | None, symbols: Floats
) -> tuple[Any, Floats]:
    """Return the state after the rounds that are known, and what is played in all of them, T x N.

    Parameters
    ----------
    hedger, game
        Who plays, and where the game stands; it is not changed.
    gains, confidence
        T x N; the gains of missing rounds are not looked at.
    symbols
        NaN where the round is missing: then something is played, and nothing learned.
    """
    known = ~np.isnan(symbols)
    if known.all():
        went = hedger.run(gains, confidence, state=game, keep_weights=True)
        assert went.weights is not None
        return went.state, went.weights
    if confidence is None:
        return _run_awake(hedger, game, gains, known)
    if isinstance(hedger, CompiledHedger):
        return _run_compiled(hedger, game, gains, confidence, symbols)
    return _run_in_pieces(hedger, game, gains, confidence, known)


def _run_awake(
    hedger: Hedger[Any], game: Any, gains: Floats, known: np.ndarray
) -> tuple[Any, Floats]:
    """Play the rounds that are known; in a gap, what is played after it would be played, too."""
    if not known.any():
        return game, np.repeat(hedger.play(game)[np.newaxis], len(known), axis=0)
    went = hedger.run(gains[known], state=game, keep_weights=True)
    assert went.weights is not None
    played = np.concatenate([went.weights, hedger.play(went.state)[np.newaxis]])
    return went.state, played[np.cumsum(known) - known]


def _run_compiled(
    hedger: CompiledHedger, game: State, gains: Floats, confidence: Floats, symbols: Floats
) -> tuple[State, Floats]:
    """Play all rounds in the core, which skips those that are missing."""
    weights, ledger, totals, rounds, joined, gain = State(*game)
    now = weights.copy(), ledger.copy(), totals.copy()
    table, rated, numbers = (np.ascontiguousarray(a) for a in (gains, confidence, symbols))
    played = np.empty(table.shape)
    done, last = _core.run_with_gaps(hedger._engine, *now, table, rated, numbers, played)
    if done < len(gains):
        _inputs.refuse(table[done], rated[done], done)
    known = len(gains) - int(np.isnan(symbols).sum())
    if known:
        gain = None if np.isnan(last) else last
    return State(*now, rounds + known, joined, gain), played


def _run_in_pieces(
    hedger: Hedger[Any], game: Any, gains: Floats, confidence: Floats, known: np.ndarray
) -> tuple[Any, Floats]:
    """Play the rounds between gaps at once, with a hedger of which nothing else is known."""
    played = np.empty(gains.shape)
    cuts = [0, *(np.flatnonzero(known[1:] != known[:-1]) + 1).tolist(), len(known)]
    for first, last in pairwise(cuts):
        if known[first]:
            part = slice(first, last)
            went = hedger.run(gains[part], confidence[part], state=game, keep_weights=True)
            game, played[part] = went.state, went.weights
        else:
            for t in range(first, last):
                played[t] = hedger.play(game, confidence[t])
    return game, played


def taken(table: Floats, symbols: Floats) -> Floats:
    """Return the row of each symbol; NaN where it is missing."""
    missing = np.isnan(symbols)
    found = table[np.where(missing, 0.0, symbols).astype(np.intp)]
    found[missing] = np.nan
    return found


def chosen(table: Floats, symbols: Floats) -> Floats:
    """Return, of each row, the entry of its symbol; NaN where that is missing."""
    missing = np.isnan(symbols)
    found = table[np.arange(len(table)), np.where(missing, 0.0, symbols).astype(np.intp)]
    found[missing] = np.nan
    return found
