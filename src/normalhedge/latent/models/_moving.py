"""Hidden Markov models whose parameters move, fitted to a whole series in hindsight."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models._tasks import FLOOR, PSEUDO_COUNT, log_units, make_task, standardise
from normalhedge.latent.models.emissions import Categorical

LENGTH = 10  # the number of rounds that share their parameters
ITERATIONS = 60
TOLERANCE = 0.1  # a fit ends when ln P(y) changes by less than this many nats


@dataclass(frozen=True, eq=False)
class Moving:
    """A hidden Markov model whose parameters move; blocks of 10 rounds share theirs.

    The statistics of a block come from all rounds, weighted by exp(-distance / memory) on both
    sides, with the smoothed probabilities of the states as shares. One chain of states runs through
    the whole series, so that a state keeps its name while its parameters drift.
    """

    initial: Floats  # k
    transitions: Floats  # blocks x k x k; the last block's entry made the last step
    logs: Floats  # ln b_s(y_t), T x k
    log_likelihood: float
    free: float  # the effective number of free parameters

    def smoothed(self) -> Floats:
        """Return P(S_t | y_1..y_T), T x k."""
        result = np.empty_like(self.logs)
        _core.moving_expect(self.logs, self.initial, self.transitions, LENGTH, result)
        return result

    def path(self) -> npt.NDArray[np.int64]:
        """Return the most probable sequence of states (Viterbi), T."""
        result = np.empty(len(self.logs), dtype=np.int64)
        _core.moving_path(self.logs, self.initial, self.transitions, LENGTH, result)
        return result


def fit_moving(
    seen: Floats,
    base: Fitted,
    *,
    memory: float = 0.0,
    memory_of_moves: float = 0.0,
    starts: Sequence[Floats] = (),
    symbols: int | None = None,
    floor: float = FLOOR,
) -> Moving:
    """Fit a model that moves, from a model that does not, and from shares of states, T x k.

    A memory of 0 means that parameters do not move. The degrees of freedom of Student's t and the
    size of a negative binomial distribution never do.
    """
    family = type(base.emission)
    task = make_task(family, seen, np.array([floor, PSEUDO_COUNT, 0.0]), symbols)
    start = standardise(task, base, base.states)
    rounds, k, blocks = len(seen), base.states, -(-len(seen) // LENGTH)
    kept = [np.exp(-LENGTH / size) if size else 1.0 for size in (memory, memory_of_moves)]
    iterations = ITERATIONS if memory or memory_of_moves else 0
    best: Moving | None = None
    units = log_units(task)
    free = _free(base, *(_degrees(blocks, keep) for keep in kept))
    for shares in (None, *starts):
        initial, logs = start.initial.copy(), np.empty((rounds, k))
        transitions = np.repeat(start.transition[np.newaxis], blocks, axis=0)
        rows = np.repeat(start.rows[np.newaxis], blocks, axis=0)
        total, _ = _core.moving_fit(
            family.family,
            task.observations,
            LENGTH,
            np.array(kept),
            initial,
            transitions,
            rows,
            shares,
            task.guards,
            iterations,
            TOLERANCE,
            logs,
        )
        if best is None or total - units > best.log_likelihood:
            best = Moving(initial, transitions, logs, total - units, free)
    assert best is not None
    return best


def _degrees(blocks: int, keep: float) -> float:
    """Return how many free numbers a parameter has that moves: sum_b 1 / sum_c keep^|b - c|."""
    if keep == 1.0:
        return 1.0
    places = np.arange(blocks)
    before = (1.0 - keep ** (places + 1.0)) / (1.0 - keep)
    after = keep * (1.0 - keep ** (blocks - 1.0 - places)) / (1.0 - keep)
    return float((1.0 / (before + after)).sum())


def _free(base: Fitted, emissions: float, moves: float) -> float:
    """Return the effective number of free parameters."""
    k, rows = base.states, len(base.emission.parameters())
    family = type(base.emission)
    fixed = int(family.family in {"student", "negative_binomial"})
    free = rows - fixed
    if family is Categorical:
        free = rows - 1
    elif family.family == "full":
        d = base.emission.columns
        free = d * (d + 3) // 2
    return k * (free * emissions + fixed) + k * (k - 1) * moves + k - 1
