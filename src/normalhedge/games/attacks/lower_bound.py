"""What an attack is: gains for groups of experts, and how far they drive NormalHedge."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from normalhedge import _core, _inputs
from normalhedge.games.natures.protocol import BLOCK
from normalhedge.hedgers import NormalHedge
from normalhedge.potentials import SMALLEST_C, exp_or_inf

Goal = Literal["potential", "regret"]
"""What an attack is to make large."""


class Reached(NamedTuple):
    """How far a game went.

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
class Groups:
    """A nature that gives all experts of a group the same gains.

    Parameters
    ----------
    sizes
        How many experts are in each group; those of the first group come first.
    table
        The gains, a row for each round and a column for each group.
    """

    sizes: tuple[int, ...]
    table: np.ndarray

    @property
    def experts(self) -> int:
        """How many experts there are in all groups."""
        return sum(self.sizes)

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:  # noqa: ARG002
        """Yield the gains of all experts in blocks; nothing in them is drawn."""
        if rounds > len(self.table):
            raise ValueError(f"rounds must be at most {len(self.table)}, got {rounds}")
        length = max(BLOCK // self.experts, 1)
        for start in range(0, rounds, length):
            yield np.repeat(self.table[start : min(start + length, rounds)], self.sizes, axis=1)


@dataclass(frozen=True, eq=False)
class Attack:
    """Gains that drive NormalHedge to a potential and a regret: a lower bound for any promise.

    Attributes
    ----------
    name
        How it was found, with its settings.
    alpha, c
        The settings of NormalHedge it was found for.
    sizes
        How many experts are in each group; experts of a group share their gains.
    gains
        The gains, a row for each round and a column for each group.
    log_potential
        The highest ``ln Psi`` of any round.
    regret
        The largest ``sqrt(alpha) R`` of any round.
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
        """How many rounds it takes."""
        return len(self.gains)

    @property
    def nature(self) -> Groups:
        """The attack as a nature, for `play`."""
        return Groups(self.sizes, self.gains)

    def __str__(self) -> str:
        """Return what was reached as a sentence."""
        return (
            f"{self.name}: potential {self.potential:.6g} and regret {self.regret:.4g}/sqrt(alpha) "
            f"with {self.n_experts} experts in {self.rounds} rounds"
        )

    def __repr__(self) -> str:
        """Return what was reached, not all of the gains."""
        return f"<Attack alpha={self.alpha:g} c={self.c:g} {self}>"

    def replay(self) -> Reached:
        """Play the attack against `NormalHedge`, expert by expert, and return how far it goes.

        It costs ``rounds`` times ``n_experts``; that the groups were played right does not rest on
        it, but whoever doubts them can see.
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
        """Return how far the attack comes towards a goal."""
        return self.regret if goal == "regret" else self.log_potential


def settings(
    alpha: float, n_experts: int, c: float, goal: Goal = "potential", *, least: int = 2
) -> tuple[float, int, float]:
    """Check what every attack takes."""
    if goal not in get_args(Goal):
        raise ValueError(f"goal must be one of {', '.join(get_args(Goal))}, got {goal!r}")
    alpha = _inputs.number("alpha", alpha, 0.0, 1.0)
    c = _inputs.number("c", c, SMALLEST_C)
    if _inputs.count("n_experts", n_experts) < least:
        raise ValueError(f"n_experts must be at least {least}, got {n_experts}")
    return alpha, int(n_experts), c


def carry_out(
    name: str, alpha: float, c: float, sizes: tuple[int, ...], gains: np.ndarray
) -> Attack:
    """Play gains on groups; keep the rounds until both the potential and the regret are highest."""
    leads, logs = np.empty(len(gains)), np.empty(len(gains))
    told = np.ascontiguousarray(gains, dtype=np.float64)
    _core.follow_groups(np.array(sizes, dtype=np.float64), told, alpha, c, leads, logs)
    kept = gains[: 1 + max(int(leads.argmax()), int(logs.argmax()))].copy()
    kept.setflags(write=False)
    return Attack(name, alpha, c, sizes, kept, float(logs.max()), float(leads.max()))
