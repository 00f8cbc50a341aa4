"""What a frozen case is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[np.float64]]
"""What a case gives: numbers by name."""

TIGHT = 1e-12
"""How far numbers may move, relative to the largest of their array, unless a case says more."""

LOOSE = 1e-9
"""The same, where a long game amplifies rounding."""


class Nudge(NamedTuple):
    """A change that leaves all results as they are but for rounding, to see what rounding does.

    Attributes
    ----------
    scale
        What gains, forecasts and the like are multiplied by: one, or almost.
    reverse
        Whether the experts come in the opposite order; results are put back in order.
    """

    scale: float = 1.0
    reverse: bool = False

    def order(self, n: int) -> npt.NDArray[np.int64]:
        """Return the order in which n experts come; it is its own inverse."""
        return np.arange(n)[:: -1 if self.reverse else 1]


NO_NUDGE = Nudge()


@dataclass(frozen=True)
class Case:
    """Something to compute, and how exactly it must come out again.

    Attributes
    ----------
    name
        What it is called.
    run
        Computes it.
    tolerance
        See `TIGHT` and `LOOSE`.
    reason
        Why it is loose; empty where it is not.
    """

    name: str
    run: Callable[[Nudge], Arrays]
    tolerance: float = TIGHT
    reason: str = ""

    def __post_init__(self) -> None:
        assert (self.tolerance == TIGHT) == (not self.reason), "a loose case needs a reason"


def number(value: Any) -> npt.NDArray[np.float64]:
    """Return a number as an array; none is NaN."""
    return np.array(np.nan if value is None else value, dtype=np.float64)


def of_state(state: Any, order: npt.NDArray[np.int64]) -> Arrays:
    """Return what is read off a state, its experts put in an order.

    Hedgers on a potential had no ledger when these numbers were frozen: their regrets are all.
    """
    return {
        "weights": np.array(state.weights)[order],
        "regrets": np.array(state.regrets)[order],
        "counts": np.array([state.rounds, state.joined], dtype=np.float64),
        "gain": number(state.gain),
    }


def of_ledger(state: Any, order: npt.NDArray[np.int64]) -> Arrays:
    """Return the same and the ledger, of hedgers that always had one.

    By rows, which differ in size: each is compared by its own.
    """
    rows = {f"ledger {k}": np.array(row)[order] for k, row in enumerate(state.ledger)}
    totals = {f"total {k}": number(total) for k, total in enumerate(state.totals)}
    return of_state(state, order) | rows | totals


def under(name: str, arrays: Arrays) -> Arrays:
    """Return the arrays under a longer name."""
    return {f"{name}/{key}": array for key, array in arrays.items()}
