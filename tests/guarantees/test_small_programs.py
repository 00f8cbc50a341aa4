"""Many small linear programs at once, beside a library that solves one."""

import numpy as np
import pytest
from scipy import optimize

from normalhedge.guarantees._small_programs import largest_margins

LIMITS = np.array([(0.0, 50.0), (-9.0, 9.0), (-9.0, 9.0)])


def drawn(seed: int, programs: int = 30, rows: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(programs, rows, 3)), rng.normal(size=(programs, rows))


def solved(rows: np.ndarray, needs: np.ndarray, largest: float) -> float:
    matrix = np.column_stack([-rows, np.ones(len(rows))])
    bounds = [*map(tuple, LIMITS), (None, largest)]
    found = optimize.linprog([0, 0, 0, -1], A_ub=matrix, b_ub=-needs, bounds=bounds)
    return float(found.x[3])


@pytest.mark.parametrize("seed", range(4))
def test_the_margins_agree_with_a_library(seed: int) -> None:
    rows, needs = drawn(seed)
    if seed == 3:  # many rows are the same, and many hold with equality
        rows[:, 10:20], needs[:, 10:20] = rows[:, :10], needs[:, :10]
        needs[:, 20:] = 0.0
    _, margins = largest_margins(rows, needs, LIMITS, 1.0)
    wanted = [solved(*program, 1.0) for program in zip(rows, needs, strict=True)]
    np.testing.assert_allclose(margins, wanted, atol=1e-6)


def test_the_variables_leave_the_margin() -> None:
    rows, needs = drawn(5)
    variables, margins = largest_margins(rows, needs, LIMITS, 1.0)
    left = np.einsum("nki,ni->nk", rows, variables) - needs
    np.testing.assert_allclose(margins, np.minimum(left.min(axis=1), 1.0))
    assert (variables >= LIMITS[:, 0]).all()
    assert (variables <= LIMITS[:, 1]).all()
    assert largest_margins(rows[:1], needs[:1] - 1e3, LIMITS, 0.25)[1] == 0.25
