r"""Regrets from the gains alone, block by block, at any discount rate.

All experts are awake in a game, so the regrets of a hedger are ``R_i = G_i - A``: the discounted
totals of the experts less its own. Hence the regret to the best expert, or to the best quantile of
experts, is the lead of that expert or quantile less A, and hedgers of one rate share the leads.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger, Hedger, rank

SPAN = 16.0
"""The largest ``-ln (1-alpha)^L`` of the L rounds that are added up at once: what is lost to
rounding grows with the power itself."""


class Account(NamedTuple):
    """How the regret of a hedger is known."""

    rate: float  # the discount rate of the regret
    own: bool  # whether the hedger keeps it; otherwise it is computed from the gains
    late: bool  # whether it is about settled rounds, and quantiles come from the states


def accounts(
    hedgers: Mapping[str, Hedger[Any]], experts: int, discount: float | None
) -> list[Account]:
    """Return the account of each hedger.

    A hedger of the caller's own that has no attribute ``alpha``, or whose runs have no regrets,
    gets regrets at its alpha, or without a discount.
    """
    return [_account(hedger, experts, discount) for hedger in hedgers.values()]


def _account(hedger: Hedger[Any], experts: int, discount: float | None) -> Account:
    if discount is not None:
        return Account(discount, own=False, late=False)
    rate = getattr(hedger, "alpha", None)
    if not inputs.is_number(rate) or not 0.0 <= float(rate or 0.0) < 1.0:
        return Account(0.0, own=False, late=False)
    own = (
        isinstance(hedger, CompiledHedger)
        or not np.isnan(hedger.run(np.zeros((1, experts))).best_regret).any()
    )
    return Account(float(rate or 0.0), own, late=own and bool(getattr(hedger, "delay", 0)))


class Totals:
    """Discounted sums of each column, ``X_t = (1-alpha) X_(t-1) + g_t``, from block to block."""

    def __init__(self, columns: int, alpha: float) -> None:
        self._last, self._keep = np.zeros(columns), 1.0 - alpha
        self._length = int(max(SPAN / -np.log1p(-alpha), 1.0)) if alpha else 1 << 62

    def add(self, table: np.ndarray) -> Floats:
        """Add the rows of a block, and return the sums after each of them."""
        sums = np.empty(table.shape)
        for start in range(0, len(table), self._length):
            part = table[start : start + self._length]
            powers = self._keep ** np.arange(1.0, len(part) + 1.0)[:, None]
            some = sums[start : start + len(part)]
            np.cumsum(part / powers, axis=0, out=some)
            some += self._last
            some *= powers
            self._last = some[-1].copy()
        return sums


class Leads:
    """The leads of the best expert in all rounds, and of a quantile in some, block by block."""

    def __init__(
        self, experts: int, alpha: float, quantile: float | None, *, best: bool = True
    ) -> None:
        self._totals, self._best = Totals(experts, alpha), best
        self._place = None if quantile is None else experts - rank(quantile, experts)

    def add(self, block: np.ndarray, inside: np.ndarray) -> tuple[Floats | None, Floats | None]:
        """Add a block; return the leads of its rounds, and of a quantile in the rounds inside."""
        totals = self._totals.add(block)
        best: Floats | None = totals.max(axis=1) if self._best else None
        if self._place is None:
            return best, None
        if len(inside) < len(totals):
            totals = totals[inside]
        totals.partition(self._place, axis=1)
        return best, totals[:, self._place].copy()
