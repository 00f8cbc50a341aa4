"""Search the states that two or three groups of experts can be driven to."""

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from normalhedge import _core
from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.research.games.attacks._lower_bound import Attack, Goal, carry_out, settings

FLOOR = -0.5
"""All scaled regrets below this are in the same cell."""

MOST_CELLS = 1 << 26
MOST_STATES = 1 << 21
"""The refinement of the grid stops before it exceeds these."""

FOREVER = np.iinfo(np.int64).max


class _Tree(NamedTuple):
    """The states that were reached, each with its parent and the move from there."""

    parents: np.ndarray
    moves: np.ndarray
    best: int  # the state that is best for the goal
    reached: float  # its logarithm of the potential, or its scaled regret
    finished: bool  # whether the search ended before it ran out of room

    def path(self) -> np.ndarray:
        """Return the moves that lead to the best state."""
        state = self.best
        path: list[int] = []
        while state > 0:
            path.append(self.moves[state])
            state = self.parents[state]
        return np.array(path[::-1] or [0], dtype=np.int64)


def explore(
    alpha: float,
    sizes: Sequence[int],
    c: float,
    goal: Goal = "potential",
    *,
    width: float | None = None,
    rounds: int | None = None,
    levels: Sequence[float] = (-1.0, 1.0),
    start: np.ndarray | None = None,
) -> Attack:
    """Return the best sequence of extreme gains that a search on a grid finds.

    The search is breadth first from ``x = 0``: every group gains -1 or +1, in all combinations. Of
    all states in one cell of the grid (groups of equal size in any order) it follows only the one
    with the largest potential, because as ``alpha -> 0`` Nature moves freely along surfaces of
    equal potential. States are never rounded, so the attack can be replayed and is a lower bound. A
    better attack may exist.

    Parameters
    ----------
    alpha, c, goal
        As for `attack`.
    sizes
        The number of experts in each of two or three groups.
    width
        The width of a cell. None: start with ``sqrt(alpha)`` and halve it until the result has
        changed by less than 1e-6 twice, or until the grid is too large.
    rounds
        The largest number of rounds after ``start``. None: search until no cell is
        new or improves.
    levels
        The gains that a group may get.
    start
        Gains to start with, one row for each round and one column for each group, all of them among
        ``levels``. The search starts from all states on that path, so the result is at least as
        good.

    Examples
    --------
    >>> explore(0.1, (1, 1), c=1.0).potential.__round__(4)
    1.73
    """
    sizes = tuple(inputs.count("sizes", size) for size in sizes)
    if len(sizes) not in {2, 3}:
        raise ValueError(f"sizes must be of two or three groups, got {len(sizes)}")
    alpha, n_experts, c = settings(alpha, sum(sizes), c, goal)
    if not levels or not all(-1.0 <= level <= 1.0 for level in levels):
        raise ValueError(f"levels must be numbers in [-1, 1], got {levels!r}")
    moves = np.array(list(product(levels, repeat=len(sizes))))
    longest = FOREVER if rounds is None else inputs.count("rounds", rounds)
    path = _path(start, moves)
    span = _span(alpha, n_experts, c)
    grid = _Grid(np.array(sizes, dtype=np.float64), moves, alpha, c, longest, path, span, goal)
    if width is None:
        tree, width = _refine(grid)
    else:
        tree = grid.search(inputs.number("width", width, 0.0))
    gains = moves[tree.path()]
    if set(levels) <= {-1.0, 0.0, 1.0}:
        gains = gains.astype(np.int8)
    name = f"search of {len(sizes)} groups, cells of {width:.2g}"
    return carry_out(name if tree.finished else f"{name}, cut short", alpha, c, sizes, gains)


def _path(start: np.ndarray | None, moves: Floats) -> np.ndarray:
    """Return the index of the move in each row of ``start``."""
    if start is None:
        return np.empty(0, dtype=np.int16)
    if start.ndim != 2 or start.shape[1] != moves.shape[1]:
        raise ValueError(f"start must have a column for each group, got shape {start.shape}")
    same = (start[:, None] == moves).all(axis=2)
    if not same.any(axis=1).all():
        raise ValueError("start must be made of gains that are among levels")
    path: np.ndarray = np.argmax(same, axis=1).astype(np.int16)
    return path


def _span(alpha: float, n_experts: int, c: float) -> float:
    """Return the span of the grid: scaled regrets beyond it are all in the last cell."""
    log_potential = 2.0 + (min(1.0 / (4.0 * c - 2.0), 8.0) if c > 0.5 else 8.0)
    ceiling = math.sqrt(2.0 * c * (math.log(n_experts) + log_potential))
    return min(ceiling, 2.0 / math.sqrt(alpha)) - FLOOR


class _Grid(NamedTuple):
    """The problem of the search."""

    sizes: Floats
    moves: Floats
    alpha: float
    c: float
    rounds: int
    path: np.ndarray
    span: float
    goal: Goal

    @property
    def finest(self) -> float:
        """The smallest width of cells that fits into memory."""
        return self.span / (math.floor(math.pow(MOST_CELLS, 1.0 / self.sizes.size)) - 1)

    def search(self, width: float) -> _Tree:
        """Search the states with cells of this width."""
        if width < self.finest:
            raise ValueError(f"width must be at least {self.finest:.2g} here, got {width:g}")
        cells, groups = math.ceil(self.span / width), self.sizes.size
        # The operating system provides memory only for the parts that are written.
        room = len(self.path) + 8 * MOST_STATES
        states, logs = np.empty((room, groups)), np.empty(room)
        parents, taken = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int16)
        keeper = np.empty(cells**groups, dtype=np.int32)
        arrays = (keeper, states, logs, parents, taken)
        numbers = (*self[:4], FLOOR, width, cells, self.path, self.rounds)
        count, finished = _core.explore_groups(*numbers, *arrays)
        values = states[:count].max(axis=1) if self.goal == "regret" else logs[:count]
        best = int(values.argmax())
        tree = parents[:count].copy(), taken[:count].copy()
        return _Tree(*tree, best, float(values[best]), finished)


def _refine(grid: _Grid) -> tuple[_Tree, float]:
    """Halve the width of the cells until that does not help, or the grid is too large."""
    width = max(math.sqrt(grid.alpha), grid.finest)
    tree = grid.search(width)
    best, best_width, settled = tree, width, 0
    while settled < 2 and tree.finished and width / 2.0 >= grid.finest:
        if len(tree.parents) * 2**grid.sizes.size > MOST_STATES:
            break
        width /= 2.0
        tree = grid.search(width)
        settled = settled + 1 if abs(tree.reached - best.reached) < 1e-6 else 0
        if tree.reached > best.reached:
            best, best_width = tree, width
    return best, best_width
