"""Adversaries: their gains answer the state of one hedger in each round."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.hedgers import CompiledHedger, Hedger, State
from normalhedge.research.games.natures._protocol import InBlocks


@dataclass(frozen=True)
class Contrary(InBlocks):
    """The fewest experts that have half of the hedger's weight gain -1, all others +1.

    No hedger ever has a positive gain against it. A hedger that puts its weight on a few experts
    loses almost 1 in every round while nearly all experts gain; a hedger that spreads its weight
    loses little. Other hedgers can play on the same gains, but the gains are aimed at the target.

    Parameters
    ----------
    experts
        N, at least 2.
    target
        The hedger that is attacked; any hedger will do.

    Examples
    --------
    >>> from normalhedge import NormalHedge
    >>> nature = Contrary(experts=4, target=NormalHedge(0.1))
    >>> next(nature.gains(1, np.random.default_rng(0))).tolist()
    [[1, 1, -1, -1]]
    """

    experts: int
    target: Hedger[Any]

    def __post_init__(self) -> None:
        experts = inputs.count("experts", self.experts, 2)
        _check_target(self.target)
        object.__setattr__(self, "experts", experts)

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the gains in blocks; rng breaks ties of weights, in the same way in all rounds."""
        state = self.target.init(self.experts)
        tie = rng.random(self.experts)
        for t in self._times(rounds):
            block = np.empty((len(t), self.experts), dtype=np.int8)
            for row in block:
                heaviest = np.lexsort((tie, -state.weights))
                # The tolerance makes it half of the experts if all weights are equal.
                carried = np.cumsum(state.weights[heaviest]) >= 0.5 - 1e-9
                row[:] = 1
                row[heaviest[: int(carried.argmax()) + 1]] = -1
                state = self.target.step(state, row)
            yield block


@dataclass(frozen=True)
class Holding(InBlocks):
    """Hold some experts at a share of the hedger's weight; then one of them breaks away.

    While the first ``held`` experts have less weight than ``share`` they gain +1 and the others -1,
    else the other way round. After some rounds the first expert gains +1 in every round, and all
    others -1. It needs the weights of the hedger only, so every hedger can be attacked.

    Parameters
    ----------
    experts
        N, at least 2.
    target
        The hedger that is attacked; any hedger will do.
    held
        How many experts are held, less than N.
    share
        The weight at which they are held, in (0, 1).
    until
        The number of rounds of holding. None: half of the game.

    Examples
    --------
    >>> from normalhedge import NormalHedge
    >>> nature = Holding(experts=3, target=NormalHedge(0.1), share=0.5)
    >>> next(nature.gains(4, np.random.default_rng(0))).tolist()
    [[1, -1, -1], [-1, 1, 1], [1, -1, -1], [1, -1, -1]]
    """

    experts: int
    target: Hedger[Any]
    held: int = 1
    share: float = 0.5
    until: int | None = None

    def __post_init__(self) -> None:
        experts = inputs.count("experts", self.experts, 2)
        _check_target(self.target)
        object.__setattr__(self, "experts", experts)
        object.__setattr__(self, "held", inputs.count("held", self.held, 1, experts - 1))
        object.__setattr__(self, "share", inputs.number("share", self.share, 0.0, 1.0))
        if self.until is not None:
            object.__setattr__(self, "until", inputs.count("until", self.until, 0))

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the gains in blocks; nothing is random."""
        del rng
        until = rounds // 2 if self.until is None else self.until
        state, held = self.target.init(self.experts), self.held
        for t in self._times(rounds):
            block = np.full((len(t), self.experts), -1, dtype=np.int8)
            for row, now in zip(block, t[:, 0], strict=True):
                if now >= until:
                    row[0] = 1
                elif state.weights[:held].sum() < self.share - 1e-9:
                    row[:held] = 1
                else:
                    row[held:] = 1
                state = self.target.step(state, row)
            yield block


@dataclass(frozen=True)
class Greedy(InBlocks):
    """Raise the average potential of one hedger as far as possible in each round.

    The experts are ordered by their regret. The first k of them gain +1 and the others -1, or the
    other way round, or every second one gains +1; k = 1, 2, 4, ..., N/2 are tried. Other hedgers
    can play on the same gains, but the gains are aimed at the target.

    Parameters
    ----------
    experts
        N, at least 2.
    target
        The hedger that is attacked; it must have a potential.
    """

    experts: int
    target: CompiledHedger

    def __post_init__(self) -> None:
        experts = inputs.count("experts", self.experts, 2)
        if not getattr(self.target, "has_potential", False):
            raise TypeError(
                "target must be a hedger with a potential, such as NormalHedge(0.01), got "
                f"{self.target!r}"
            )
        object.__setattr__(self, "experts", experts)

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the gains in blocks; rng orders the experts before the first regrets."""
        moves = self._moves()
        state = self.target.init(self.experts)
        regrets = rng.random(self.experts)
        for t in self._times(rounds):
            block = np.empty((len(t), self.experts), dtype=np.int8)
            for row in block:
                order = np.argsort(-regrets, kind="stable")
                row[order] = self._best(state, moves, order)
                state = self.target.step(state, row, in_place=True)
                regrets = state.regrets
            yield block

    def _moves(self) -> np.ndarray:
        """Return the gains that are tried, one row each, for experts ordered by regret."""
        n = self.experts
        ks = sorted({*(2**j for j in range(n.bit_length()) if 2**j <= n // 2), n // 2})
        heads = np.array([np.where(np.arange(n) < k, 1, -1) for k in ks], dtype=np.int8)
        turns = np.where(np.arange(n) % 2 == 0, 1, -1).astype(np.int8)[None, :]
        half = np.concatenate([heads, heads[:, ::-1], turns])
        return np.unique(np.concatenate([half, -half]), axis=0)

    def _best(self, state: State, moves: np.ndarray, order: np.ndarray) -> np.ndarray:
        ordered = state._replace(weights=state.weights[order], ledger=state.ledger[:, order])
        reached = [self.target.log_potential(self.target.step(ordered, move)) for move in moves]
        best: np.ndarray = moves[int(np.argmax(reached))]
        return best


def _check_target(target: object) -> None:
    if isinstance(target, type) or not isinstance(target, Hedger):
        raise TypeError(f"target must be a hedger, got {target!r}")
