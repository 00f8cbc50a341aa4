"""A greedy adversary: in each round, the gains that raise the potential most."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.hedgers import CompiledHedger, State
from normalhedge.research.games.natures._protocol import BLOCK


@dataclass(frozen=True)
class Greedy:
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
        """Yield the gains in blocks.

        Parameters
        ----------
        rounds, rng
            As for `Nature.gains`; rng orders the experts in the first round, where all regrets
            are zero.
        """
        moves = self._moves()
        state = self.target.init(self.experts)
        regrets = rng.random(self.experts)
        length = max(BLOCK // self.experts, 1)
        for start in range(0, rounds, length):
            block = np.empty((min(length, rounds - start), self.experts), dtype=np.int8)
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
