"""What a mixture shows: its settings, its experts, its rounds, its weights and its bound."""

from contextlib import nullcontext
from typing import Any
from warnings import warn

import numpy as np

from normalhedge._core import Live
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees import Bound
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.state import Books, MixtureSettings, PendingRounds, SettledRound
from normalhedge.mixtures.summaries import Summary, regret_bound, summarise

INSIDE = nullcontext()
"""An interrupt on the way out of the last manager of a ``with`` may skip its exit: let that be this
one, and not the lock."""


class MixtureViews:
    """The part of `Mixture` that changes nothing."""

    _books: Books
    _live: Live

    @property
    def books(self) -> Books:
        """The memory of the mixture, for other modules of this package."""
        return self._books

    @property
    def settings(self) -> MixtureSettings:
        """The settings, with all defaults filled in."""
        return self._books.settings

    @property
    def recipe(self) -> MixtureSettings:
        """The former name of `settings`."""
        warn("Mixture.recipe is called settings now", DeprecationWarning, stacklevel=2)
        return self.settings

    @property
    def live(self) -> Live:
        """The object of the core, which owns the state and the ledger."""
        return self._live

    @property
    def names(self) -> list[str]:
        """The experts, in the order in which they joined."""
        return self._books.names

    @property
    def items(self) -> list[str]:
        """The names of the items, in the order in which they were first seen."""
        return self._books.items

    @property
    def rounds(self) -> int:
        """The number of rounds that were predicted."""
        return self._books.rounds

    @property
    def pending(self) -> PendingRounds:
        """The rounds that wait for their outcomes, by ticket."""
        return self._books.pending

    @property
    def next_ticket(self) -> int:
        """The ticket of the next round."""
        return self._books.next_ticket

    @property
    def expired(self) -> int:
        """The number of rounds that were given up: see ``max_pending`` and ``max_age``."""
        return self._books.expired

    @property
    def history(self) -> list[SettledRound]:
        """The last settled rounds, with their outcomes and the columns of the present experts."""
        return self._books.history

    @property
    def max_pending(self) -> int:
        """The largest number of rounds that wait for their outcomes."""
        return self.settings.max_pending

    @property
    def ids(self) -> dict[str, int]:
        """Tickets of pending rounds by the ids that the caller gave them, written as JSON."""
        return self._live.ids

    @property
    def weights(self) -> Floats:
        """The weights of each game; games x experts."""
        return self._books.weights

    @property
    def regrets(self) -> Floats:
        """The regrets of each game, in units of gain; games x experts.

        NaN for an automatic mixture: its regrets are to ways of combining, not to experts.
        """
        return self._books.regrets

    @property
    def loss_regrets(self) -> Floats:
        """The regrets of each game, in units of the loss; games x experts.

        `bound` bounds them. NaN for an automatic mixture.
        """
        automatic = isinstance(self.settings.hedger, Automatic)
        return np.full_like(self.weights, np.nan) if automatic else self._live.loss_regrets

    @property
    def ranges(self) -> Floats:
        """The range of losses of each item, and the part of it used lately; NaN with auto."""
        return self._books.ranges

    @property
    def levels(self) -> Floats:
        """The settings of the loss that the core needs: `Loss.settings`."""
        return self._books.levels

    def state(self, item: str | None = None) -> Any:
        """Return the state of the hedger.

        The `bounds` of a hedger hold for this state if `bound` is finite.

        Parameters
        ----------
        item
            The item whose state to return, if each item has its own weights.
        """
        return self._books.hedger_state(item)

    def bound(self) -> Bound:
        r"""Return the bound on the regret, in units of the loss.

        The regret to an expert i is the sum of the losses of the blend less those of the expert,
        over the settled rounds, each weighted by the confidence k of the expert: 0 if it slept, 1
        if it gave none. It is discounted as the hedger forgets, in the order in which outcomes
        came:

        .. math:: \sum_t (1 - \alpha)^{T - t} k_{i,t} (\ell_{A,t} - \ell_{i,t}) \le
                  \frac s2 \cdot \text{bound of the hedger} + \text{measured}

        s is the range of the losses. The second part is zero for a convex loss of known range that
        is combined by the mean, with outcomes known at once. Otherwise the mixture measures the
        cost of clipped losses and changing ranges, of the median and the vote, of ``even``, of a
        loss that is not convex, and of late outcomes. For late outcomes NormalHedge has a theorem
        of its own, for the mean without ``even``.

        The bound is infinite, and says why, where no theorem covers the hedger: if it needs a known
        range, if experts join or leave and it depends on their number, if an expert inherits the
        record of another, or if several items with learned ranges share their weights.

        For an automatic mixture, the bound is on the regret to each of its components, without a
        discount: see `Automatic`.

        Examples
        --------
        >>> from normalhedge import Mixture
        >>> mixture = Mixture("normal-hedge:memory=100", "l1")
        >>> for day in range(50):
        ...     made = mixture.predict({"sure": [0.1, 0.9], "fair": [0.5, 0.5]})
        ...     mixture.update(made.ticket, day % 2)
        >>> print(mixture.bound())  # doctest: +ELLIPSIS
        regret <= 6.52158 in l1 loss, discounted at 0.01 a round (proof, ...)
        """
        return regret_bound(self._books)

    def summary(self) -> Summary:
        """Return a summary of the mixture, which prints as tables, also in a notebook."""
        with self._live.turn, INSIDE:
            return summarise(self._books)

    def __repr__(self) -> str:
        """Return the settings and the numbers of experts and rounds, in a line."""
        books = self._books
        parts = [f"{books.rounds:,} rounds", f"{len(books.pending):,} pending"]
        parts += [f"{len(books.items):,} items"] * (len(books.items) > 1)
        shown = ", ".join(books.names[:4]) + ", ..." * (len(books.names) > 4)
        experts = f"{len(books.names):,} experts" + f" ({shown})" * bool(shown)
        rule = (
            "auto" if isinstance(books.settings.hedger, Automatic) else repr(books.settings.hedger)
        )
        return f"Mixture({rule}, {books.settings.loss}: {experts}, {', '.join(parts)})"
