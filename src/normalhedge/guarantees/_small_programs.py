"""Many small linear programs at once: far faster than one call of a library for each."""

import numpy as np

from normalhedge.boundary.inputs import Floats

MOST_STEPS = 500
"""The most exchanges of a row; a few dozen are usual."""

TINY = 1e-9
"""A row counts as kept if it is missed by less than this part of the largest variable."""

PREFERENCES = (1e-8, 2.3e-8, 3.7e-8)
"""A faint preference for larger variables: it decides between solutions that are equally good."""


def largest_margins(
    rows: Floats, needs: Floats, limits: Floats, largest: float
) -> tuple[Floats, Floats]:
    r"""Maximise the margin of each of n programs in three variables; return variables and margins.

    .. math:: \max_{v,\,t} \; t \quad\text{with}\quad a_k \cdot v - t \ge b_k , \qquad
              l \le v \le u, \quad t \le t_{max} .

    The dual simplex method, for all programs at the same time: each keeps four rows that hold with
    equality, and exchanges one of them for the row that is missed most, until none is missed. The
    margin that is returned is computed from the rows, so it is never too large.
    """
    n = len(rows)
    box = np.zeros((7, 4))
    box[0:3, 0:3], box[3:6, 0:3], box[6, 3] = -np.eye(3), np.eye(3), -1.0
    edges = np.concatenate([-limits[:, 1], limits[:, 0], [-largest]])
    matrix = np.concatenate(
        [
            np.concatenate([rows, np.full((*needs.shape, 1), -1.0)], axis=2),
            np.broadcast_to(box, (n, *box.shape)),
        ],
        axis=1,
    )
    right = np.concatenate([needs, np.broadcast_to(edges, (n, edges.size))], axis=1)
    size = np.abs(matrix).max(axis=2)
    matrix, right = matrix / size[:, :, None], right / size
    first = needs.shape[1] + np.array([0, 1, 2, 6])
    basis = np.broadcast_to(first, (n, 4)).copy()
    points, open_ = np.zeros((n, 4)), np.arange(n)
    for _ in range(MOST_STEPS):
        held = np.take_along_axis(matrix[open_], basis[open_][:, :, None], axis=1)
        values = np.take_along_axis(right[open_], basis[open_], axis=1)
        points[open_] = np.linalg.solve(held, values[:, :, None])[:, :, 0]
        left = np.einsum("nki,ni->nk", matrix[open_], points[open_]) - right[open_]
        missed = left.argmin(axis=1)
        kept = left.min(axis=1) >= -TINY * (1.0 + np.abs(points[open_]).max(axis=1))
        open_, held, missed = open_[~kept], held[~kept], missed[~kept]
        if not open_.size:
            break
        basis[open_, _leaving(held, matrix[open_, missed])] = missed
    variables = np.clip(points[:, :3], limits[:, 0], limits[:, 1])
    margins = (np.einsum("nki,ni->nk", rows, variables) - needs).min(axis=1)
    return variables, np.minimum(margins, largest)


def _leaving(held: Floats, entering: Floats) -> np.ndarray:
    """Return which of four rows makes place, so that the margin stays an upper limit."""
    goal = np.broadcast_to(-np.array([*PREFERENCES, 1.0]), entering.shape)
    both = np.linalg.solve(np.swapaxes(held, 1, 2), np.stack([goal, entering], axis=2))
    weights, shares = np.maximum(both[:, :, 0], 0.0), both[:, :, 1]
    ratios = np.full(weights.shape, np.inf)
    np.divide(weights, shares, out=ratios, where=shares > 1e-13)
    leaving: np.ndarray = ratios.argmin(axis=1)
    return leaving
