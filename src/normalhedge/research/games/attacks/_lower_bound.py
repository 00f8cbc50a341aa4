"""Attacks: gains for groups of experts, and the potential and regret they drive NormalHedge to.

The core plays the attacks group by group (``src/core/groups.hpp``), because all experts of a group
have the same weight: a million experts in three groups cost as much as three. `Attack.replay` plays
them expert by expert with the `NormalHedge` of `hedgers`, and the tests compare the two.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.guarantees.potentials import SMALLEST_C, exp_or_inf
from normalhedge.hedgers import NormalHedge
from normalhedge.research.games.natures import InBlocks

Goal = Literal["potential", "regret"]
"""The quantity that an attack maximises."""


class Reached(NamedTuple):
    """The largest values in a game.

    Attributes
    ----------
    log_potential
        The highest ``ln Psi`` of any round.
    regret
        The largest ``sqrt(alpha) R`` of any round.
    """

    log_potential: float
    regret: float


@dataclass(frozen=True, eq=False)
class Groups(InBlocks):
    """A nature that gives all experts of a group the same gains.

    Parameters
    ----------
    sizes
        The number of experts in each group; the experts of the first group come first.
    table
        The gains, one row for each round and one column for each group.
    """

    sizes: tuple[int, ...]
    table: np.ndarray

    @property
    def experts(self) -> int:  # type: ignore[override]
        """How many experts there are in all groups."""
        return sum(self.sizes)

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the gains of all experts in blocks; there are at most the rows of the table."""
        if rounds > len(self.table):
            raise ValueError(f"rounds must be at most {len(self.table)}, got {rounds}")
        return super().gains(rounds, rng)

    def _block(self, t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        del rng
        return np.repeat(self.table[t[:, 0]], self.sizes, axis=1)


@dataclass(frozen=True, eq=False)
class Attack:
    """Gains that drive NormalHedge to a potential and a regret: no valid bound is smaller.

    Attributes
    ----------
    name
        The method that found it, with its parameters.
    alpha, c
        The settings of the NormalHedge that is attacked.
    sizes
        The number of experts in each group; all experts of a group have the same gains.
    gains
        The gains, one row for each round and one column for each group.
    log_potential, regret
        As in `Reached`.
    """

    name: str
    alpha: float
    c: float
    sizes: tuple[int, ...]
    gains: np.ndarray
    log_potential: float
    regret: float

    @property
    def potential(self) -> float:
        """The highest average potential; infinity where it exceeds the largest float."""
        return exp_or_inf(self.log_potential)

    @property
    def n_experts(self) -> int:
        """How many experts there are in all groups."""
        return sum(self.sizes)

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return len(self.gains)

    @property
    def nature(self) -> Groups:
        """The attack as a nature, for `play`."""
        return Groups(self.sizes, self.gains)

    def __str__(self) -> str:
        """Return the largest potential and regret as a sentence."""
        return (
            f"{self.name}: potential {self.potential:.6g} and regret {self.regret:.4g}/sqrt(alpha) "
            f"with {self.n_experts} experts in {self.rounds} rounds"
        )

    def __repr__(self) -> str:
        """Return the largest potential and regret, not all of the gains."""
        return f"<Attack alpha={self.alpha:g} c={self.c:g} {self}>"

    def replay(self) -> Reached:
        """Play the attack against `NormalHedge` expert by expert, and return the largest values.

        It takes O(rounds x n_experts) time. It is an independent check of the play by groups.
        """
        hedger = NormalHedge(self.alpha, self.c)
        state = hedger.init(self.n_experts)
        highest, largest = -math.inf, -math.inf
        for block in self.nature.gains(self.rounds, np.random.default_rng(0)):
            run = hedger.run(block, state=state)
            state = run.state
            highest = max(highest, float(run.log_potential.max()))
            largest = max(largest, float(run.best_regret.max()))
        return Reached(highest, math.sqrt(self.alpha) * largest)

    def reached(self, goal: Goal) -> float:
        """Return the value that the attack reaches: ``ln Psi`` or ``sqrt(alpha) R``."""
        return self.regret if goal == "regret" else self.log_potential


def settings(
    alpha: float, n_experts: int, c: float, goal: Goal = "potential", *, least: int = 2
) -> tuple[float, int, float]:
    """Check the arguments that all attacks have, and return the numbers."""
    if goal not in get_args(Goal):
        raise ValueError(f"goal must be one of {', '.join(get_args(Goal))}, got {goal!r}")
    alpha = inputs.number("alpha", alpha, 0.0, 1.0)
    c = inputs.number("c", c, SMALLEST_C)
    return alpha, inputs.count("n_experts", n_experts, least), c


def carry_out(
    name: str, alpha: float, c: float, sizes: tuple[int, ...], gains: np.ndarray
) -> Attack:
    """Play gains on groups and return them as an attack.

    The attack ends when both the potential and the regret have reached their largest values.
    """
    leads, logs = np.empty(len(gains)), np.empty(len(gains))
    table = np.ascontiguousarray(gains, dtype=np.float64)
    _core.follow_groups(np.array(sizes, dtype=np.float64), table, alpha, c, leads, logs)
    kept = gains[: 1 + max(int(leads.argmax()), int(logs.argmax()))].copy()
    kept.setflags(write=False)
    return Attack(name, alpha, c, sizes, kept, float(logs.max()), float(leads.max()))
