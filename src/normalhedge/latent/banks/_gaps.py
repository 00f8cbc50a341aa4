"""Games over many rounds, some of which are missing: a missing round does not change the game."""

from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger, Hedger, State


def run(
    hedger: Hedger[Any], game: Any, gains: Floats, confidence: Floats | None, symbols: Floats
) -> tuple[Any, Floats]:
    """Return the state after the known rounds, and the distribution played in each round, T x N."""
    known = ~np.isnan(symbols)
    if known.all():
        whole = hedger.run(gains, confidence, state=game, keep_weights=True)
        assert whole.weights is not None
        return whole.state, whole.weights
    if confidence is None:
        return _run_awake(hedger, game, gains, known)
    if isinstance(hedger, CompiledHedger):
        return _run_compiled(hedger, game, gains, confidence, symbols)
    return _run_in_pieces(hedger, game, gains, confidence, known)


def _run_awake(
    hedger: Hedger[Any], game: Any, gains: Floats, known: np.ndarray
) -> tuple[Any, Floats]:
    """Play the known rounds; a gap has the same distribution as the round after it."""
    if not known.any():
        return game, np.repeat(hedger.play(game)[np.newaxis], len(known), axis=0)
    observed = hedger.run(gains[known], state=game, keep_weights=True)
    assert observed.weights is not None
    played = np.concatenate([observed.weights, hedger.play(observed.state)[np.newaxis]])
    return observed.state, played[np.cumsum(known) - known]


def _run_compiled(
    hedger: CompiledHedger, game: State, gains: Floats, confidence: Floats, symbols: Floats
) -> tuple[State, Floats]:
    """Play all rounds in the core, which skips the missing ones."""
    weights, ledger, totals, rounds, joined, gain = State(*game)
    now = weights.copy(), ledger.copy(), totals.copy()
    table, confident, numbers = (np.ascontiguousarray(a) for a in (gains, confidence, symbols))
    played = np.empty(table.shape)
    done, last = _core.run_with_gaps(hedger._engine, *now, table, confident, numbers, played)
    if done < len(gains):
        inputs.refuse(table[done], confident[done], done)
    known = len(gains) - int(np.isnan(symbols).sum())
    if known:
        gain = None if np.isnan(last) else last
    return State(*now, rounds + known, joined, gain), played


def _run_in_pieces(
    hedger: Hedger[Any], game: Any, gains: Floats, confidence: Floats, known: np.ndarray
) -> tuple[Any, Floats]:
    """Play the rounds between two gaps in one call, with a hedger of any kind."""
    played = np.empty(gains.shape)
    cuts = [0, *(np.flatnonzero(known[1:] != known[:-1]) + 1).tolist(), len(known)]
    for first, last in pairwise(cuts):
        if known[first]:
            part = slice(first, last)
            piece = hedger.run(gains[part], confidence[part], state=game, keep_weights=True)
            game, played[part] = piece.state, piece.weights
        else:
            for t in range(first, last):
                played[t] = hedger.play(game, confidence[t])
    return game, played


def row_of_each(table: Floats, symbols: Floats) -> Floats:
    """Return the row of the table for each symbol; NaN where the symbol is missing."""
    missing = np.isnan(symbols)
    found = table[np.where(missing, 0.0, symbols).astype(np.intp)]
    found[missing] = np.nan
    return found


def entry_of_each(table: Floats, symbols: Floats) -> Floats:
    """Return the entry of each row at the place of its symbol; NaN where the symbol is missing."""
    missing = np.isnan(symbols)
    found = table[np.arange(len(table)), np.where(missing, 0.0, symbols).astype(np.intp)]
    found[missing] = np.nan
    return found
