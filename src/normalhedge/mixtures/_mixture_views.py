"""The views of a mixture: the state of its hedger, its bound and its summary."""

from typing import Any
from warnings import warn

import numpy as np

from normalhedge.boundary.charts import Drawable, Drawing
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.guarantees import Bound
from normalhedge.hedgers import State
from normalhedge.mixtures.alerts import Alert, watch_mixture
from normalhedge.mixtures.explanations import Explanation, explain_mixture
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.state import INSIDE, MixtureSettings, MixtureState
from normalhedge.mixtures.summaries import Summary, mixture_panels, regret_bound, summarise


class MixtureViews(MixtureState, Drawable):
    """The part of `Mixture` that changes nothing."""

    @property
    def books(self) -> MixtureState:
        """The former name of the state of a mixture: the mixture has its attributes itself."""
        message = "Mixture.books goes with the next release: a Mixture has its attributes itself"
        warn(message, DeprecationWarning, stacklevel=2)
        return self

    @property
    def recipe(self) -> MixtureSettings:
        """The former name of `settings`."""
        warn("Mixture.recipe is called settings now", DeprecationWarning, stacklevel=2)
        return self.settings

    @property
    def max_pending(self) -> int:
        """The largest number of rounds that wait for their outcomes."""
        return self.settings.max_pending

    @property
    def ids(self) -> dict[str, int]:
        """Tickets of pending rounds by the ids that the caller gave them, written as JSON."""
        return self._live.ids

    @property
    def loss_regrets(self) -> Floats:
        """The regrets of each game, in units of the loss; games x experts.

        `bound` bounds them. NaN for an automatic mixture.
        """
        automatic = isinstance(self.settings.hedger, Automatic)
        return np.full_like(self.weights, np.nan) if automatic else self._live.loss_regrets

    @property
    def levels(self) -> Floats:
        """The settings of the loss that the core needs: `Loss.settings`."""
        return np.array(self.settings.loss.settings)

    def state(self, item: str | None = None) -> Any:
        """Return the state of the hedger.

        The `bounds` of a hedger hold for this state if `bound` is finite.

        Parameters
        ----------
        item
            The item whose state to return, if each item has its own weights.
        """
        live, weights = self._live, self.weights
        if not self.names or not len(weights):
            raise ValueError("nothing was predicted yet")
        game = 0 if self.settings.shared or item is None else live.find_item(item)
        if game < 0 or (item is None and not self.settings.shared):
            raise ValueError(f"item must be one of {', '.join(self.items)}, got {item!r}")
        states = live.states
        if states is not None:
            return states[game]
        ledger, totals = live.ledgers[game], live.totals[game]
        return State(weights[game], ledger, totals, self.rounds, len(self.names), None)

    def bound(self) -> Bound:
        r"""Return the bound on the regret, in units of the loss.

        The regret to an expert i is the sum of the differences of losses, blend less expert, over
        the settled rounds, each weighted by the confidence k of the expert: 0 if it slept, 1
        if it gave none. It is discounted as the hedger forgets, in the order in which outcomes
        came:

        .. math:: \sum_t (1 - \alpha)^{T - t} k_{i,t} (\ell_{A,t} - \ell_{i,t}) \le
                  \frac s2 \cdot \text{bound of the hedger} + \text{measured}

        s is the range of the losses. The second part is zero for a convex loss of known range that
        is combined by the mean, with outcomes known at once. Otherwise the mixture measures the
        cost of clipped losses and changing ranges, of the median and the vote, of ``even``, of a
        loss that is not convex, and of late outcomes. For late outcomes NormalHedge has a theorem
        of its own, for the mean without ``even``.

        The bound is infinite, and gives the reason, where no theorem covers the hedger: if it needs
        a known range, if experts join or leave and it depends on their number, if an expert
        inherits the record of another, or if several items with learned ranges share their weights.

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
        return regret_bound(self)

    def summary(self) -> Summary:
        """Return a summary of the mixture, which prints as tables, also in a notebook."""
        with self._live.turn, INSIDE:
            return summarise(self)

    def alerts(self) -> tuple[Alert, ...]:
        """Return the experts that got worse, that stopped, or that repeat another one.

        They are found in the `history`, so that a round costs nothing. The probability of a false
        alarm, that any expert got worse, is at most 1 % in 1,000 rounds: see the guide on watching
        a blend.
        """
        with self._live.turn, INSIDE:
            return watch_mixture(self)

    def explain(self) -> Explanation:
        """Return who has changed, and why: weights, the rounds that moved them, and absences.

        The rounds since the earlier checkpoint, about the last half of the `history` or more, are
        replayed on a copy. The loss of the blend without an expert is an estimate: its weight is
        divided among the others.

        Examples
        --------
        >>> from normalhedge import Mixture
        >>> mixture = Mixture("squint")
        >>> for t in range(60):
        ...     made = mixture.predict({"gam": t + 0.1, "ar": t - 2.0 if t < 30 else t + 9.0})
        ...     mixture.update(made.ticket, float(t))
        >>> mixture.explain().changes[0].name
        'gam'
        """
        with self._live.turn, INSIDE:
            return explain_mixture(self)

    def _drawing(self) -> Drawing:
        with self._live.turn, INSIDE:
            return repr(self), mixture_panels(self)

    def _repr_html_(self) -> str:
        """Return the summary as HTML, for a notebook."""
        return self.summary()._repr_html_()

    def __repr__(self) -> str:
        parts = [counted(self.rounds, "round"), f"{len(self.pending):,} pending"]
        parts += [counted(len(self.items), "item")] * (len(self.items) > 1)
        shown = ", ".join(self.names[:4]) + ", ..." * (len(self.names) > 4)
        experts = counted(len(self.names), "expert") + f" ({shown})" * bool(shown)
        rule = "auto" if isinstance(self.settings.hedger, Automatic) else repr(self.settings.hedger)
        return f"Mixture({rule}, {self.settings.loss}: {experts}, {', '.join(parts)})"
