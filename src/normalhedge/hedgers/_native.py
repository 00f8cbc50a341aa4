"""A hedger as compiled code knows it: a few arrays, and the addresses of its kernels.

Whatever the hedger, a game is its weights, a ledger (a row for each thing that is remembered of
every expert, the regrets first) and totals. `rules` are what its kernels call settings, followed by
what each row, each total and at last the scores are to be multiplied by when past gains are to
count half. Four kernels play it:

    rounds(weights, ledger, totals, rules, gains, confidence, records, played)
    score(weights, ledger, totals, rules, scores)       what the next two go by
    share(weights, scores, rules, confidence, played)   what is played
    weigh(weights, scores, rules)                       the weights

where ``records`` has a row of gain, largest regret and ln mean Phi for each round (the last is left
alone where there is no potential), and ``played`` is empty. The scores of a hedger on discounted
regrets are these.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from normalhedge._inputs import Floats
from normalhedge._jit import VECTOR, address, call_at, kernel
from normalhedge.hedgers import AnyHedger, _ledger, _round
from normalhedge.hedgers._ledger import REGRET, spread_scores
from normalhedge.hedgers._round import BAD_INPUT
from normalhedge.hedgers.ledger_state import LedgerState
from normalhedge.hedgers.potential_hedger import PotentialHedger
from normalhedge.hedgers.regret_state import RegretState
from normalhedge.potentials import weigh

_ROW, _TABLE = types.float64[::1], types.float64[:, ::1]
_ROUNDS = types.int64(_ROW, _TABLE, _ROW, _ROW, _TABLE, _TABLE, _TABLE, _TABLE)
_SCORE = types.none(_ROW, _TABLE, _ROW, _ROW, _ROW)
_SHARE = types.none(_ROW, _ROW, _ROW, _ROW, _ROW)
_WEIGH = types.none(_ROW, _ROW, _ROW)

call_rounds, call_score = call_at(_ROUNDS), call_at(_SCORE)
call_share, call_weigh = call_at(_SHARE), call_at(_WEIGH)

Hands = tuple[int, int, int, int]
"""The addresses of rounds, score, share and weigh."""


def hands(hedger: AnyHedger) -> Hands:
    """Return the addresses of its kernels; what is not in the cache is compiled."""
    kernels: tuple[Any, ...]
    if isinstance(hedger, PotentialHedger):
        kernels = _potential_rounds, _potential_score, _potential_share, _potential_weigh
    else:
        kernels = hedger._kernels.rounds, hedger._kernels.score, _ledger_share, _ledger_weigh
    rounds, score, share, write = kernels
    return (
        address(rounds, _ROUNDS),
        address(score, _SCORE),
        address(share, _SHARE),
        address(write, _WEIGH),
    )


class Shape(NamedTuple):
    """What a hedger needs for a game: how many rows and totals, and the rules."""

    rows: int
    totals: int
    rules: Floats


def shape(hedger: AnyHedger) -> Shape:
    """Return what a hedger needs for a game."""
    if isinstance(hedger, PotentialHedger):
        return Shape(1, 0, np.array([hedger._keep, hedger._rate, hedger._squared, 0.5, 1.0]))
    state = hedger.init(1)
    ours = len(state.ledger) - len(hedger.rows)
    degrees = [1] * ours + [hedger.degrees.get(name, 1) for name in hedger.rows + hedger.names]
    degrees.append(hedger.degrees.get("weights", 0))
    rules = np.concatenate([hedger._settings, 0.5 ** np.array(degrees)])
    return Shape(len(state.ledger), len(state.totals), rules)


def begin(hedger: AnyHedger, n: int) -> tuple[Floats, Floats]:
    """Return the ledger and the totals before the first round."""
    if isinstance(hedger, PotentialHedger):
        return np.zeros((1, n)), np.zeros(0)
    state = hedger.init(n)
    return state.ledger, state.totals


def newcomers(hedger: AnyHedger, count: int, n: int) -> Floats:
    """Return the columns of so many that join n others."""
    if isinstance(hedger, PotentialHedger):
        return np.zeros((1, count))
    return hedger.join(hedger.init(n), count).ledger[:, n:]


def state_of(
    hedger: AnyHedger, weights: Floats, ledger: Floats, totals: Floats, rounds: int
) -> RegretState | LedgerState:
    """Return a game as a state of its hedger."""
    n = len(weights)
    if isinstance(hedger, PotentialHedger):
        return RegretState(weights.copy(), ledger[REGRET].copy(), rounds, n, None)
    return LedgerState(weights.copy(), ledger.copy(), totals.copy(), rounds, n, None)


@kernel(VECTOR)
def scored(weights: Floats, ledger: Floats, totals: Floats, rules: Floats, score: int) -> Floats:
    """Return the scores; the game is left as it was."""
    scores = np.empty_like(weights)
    call_score(score, weights, ledger, totals.copy(), rules, scores)
    return scores


@kernel(VECTOR, inline=False)
def reweigh(
    weights: Floats, ledger: Floats, totals: Floats, rules: Floats, score: int, write: int
) -> None:
    """Write the weights that belong to the ledger, or make them sum to one where they are it."""
    call_weigh(write, weights, scored(weights, ledger, totals, rules, score), rules)


@kernel(VECTOR, inline=False)
def halve(
    weights: Floats, ledger: Floats, totals: Floats, rules: Floats, score: int, write: int
) -> None:
    """Let all gains so far count half."""
    rows, n = ledger.shape
    first = rules.size - rows - totals.size - 1
    for r in range(rows):
        for i in range(n):
            ledger[r, i] *= rules[first + r]
    for k in range(totals.size):
        totals[k] *= rules[first + rows + k]
    scores = scored(weights, ledger, totals, rules, score)
    if rules[rules.size - 1] != 1.0:
        for i in range(n):
            scores[i] *= rules[rules.size - 1]
    call_weigh(write, weights, scores, rules)


@kernel(VECTOR, inline=False)
def _potential_rounds(
    weights: Floats,
    ledger: Floats,
    totals: Floats,
    rules: Floats,
    gains: Floats,
    confidence: Floats,
    records: Floats,
    played: Floats,
) -> int:
    regrets, keep, rate, squared = ledger[REGRET], rules[0], rules[1], rules[2] > 0.0
    for t in range(len(gains)):
        if len(confidence) > 0:
            results = _round.step(weights, regrets, gains[t], confidence[t], keep, rate, squared)
        else:
            results = _round.step(weights, regrets, gains[t], None, keep, rate, squared)
        if results[0] == BAD_INPUT:
            return t
        records[t, 0], records[t, 1], records[t, 2] = results
    return len(gains)


@kernel(VECTOR, inline=False)
def _potential_score(
    weights: Floats, ledger: Floats, totals: Floats, rules: Floats, scores: Floats
) -> None:
    for i in range(scores.size):
        scores[i] = ledger[REGRET, i]


@kernel(VECTOR, inline=False)
def _potential_share(
    weights: Floats, scores: Floats, rules: Floats, confidence: Floats, played: Floats
) -> None:
    _round.share(weights, scores, confidence, rules[1], rules[2] > 0.0, played)


@kernel(VECTOR, inline=False)
def _potential_weigh(weights: Floats, scores: Floats, rules: Floats) -> None:
    weigh(scores, rules[1], rules[2] > 0.0, weights)


@kernel(VECTOR, inline=False)
def _ledger_share(
    weights: Floats, scores: Floats, rules: Floats, confidence: Floats, played: Floats
) -> None:
    _ledger.share(scores, confidence, played)


@kernel(VECTOR, inline=False)
def _ledger_weigh(weights: Floats, scores: Floats, rules: Floats) -> None:
    spread_scores(scores, weights)
