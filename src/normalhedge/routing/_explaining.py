"""A router in words and tables: its summary, and how its choices have changed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from normalhedge.boundary import notebook
from normalhedge.boundary.terminal import counted, shown
from normalhedge.guarantees import Bound
from normalhedge.routing._evaluation import Value, evaluate
from normalhedge.routing._state import RouterState
from normalhedge.routing._values import Record


class ActionSummary(NamedTuple):
    """An action in the summary of a router."""

    action: str
    probability: float  # now, without a context
    chosen: int  # how often, in the history
    value: Value | None  # what it would have earned if it had always been chosen


class ActionChange(NamedTuple):
    """An action in the earlier and in the later half of the history."""

    action: str
    share_before: float  # of the choices
    share_after: float
    gain_before: float | None  # the mean gain, where it was chosen
    gain_after: float | None


class _Table:
    """Lines of text, and a table in a notebook."""

    def _facts(self) -> list[str]:
        raise NotImplementedError

    def _rows(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        raise NotImplementedError

    def __str__(self) -> str:
        head, rows = self._rows()
        widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
        lines = [
            "  ".join(
                [
                    row[0].ljust(widths[0]),
                    *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
                ]
            )
            for row in [head, *rows]
        ]
        return "\n".join([*self._facts(), *(line.rstrip() for line in lines)])

    def _repr_html_(self) -> str:
        facts = "".join(f"<p>{notebook.cell(fact)}</p>" for fact in self._facts())
        return facts + notebook.html_table(*self._rows())


class RouterSummary(_Table):
    """The state of a router.

    Attributes
    ----------
    actions
        The actions, the most probable first.
    rounds, pending, expired
        How many rounds are settled, wait, and waited too long.
    gain
        The mean gain of the choices.
    rules
        The weights of the rules of the default.
    spending
        The state of the budget, see `Router.spending`.
    bound
        The bound on the expected regret.
    """

    def __init__(self, router: RouterState, actions: list[ActionSummary], kept: int) -> None:
        self.actions = actions
        self.rounds, self.pending, self.expired = router.rounds, len(router.pending), router.expired
        self.gain = router.gain
        self.rules = router.rule_weights()
        self.spending = router.spending
        self.bound: Bound = router.bound()
        self._kept = kept

    def _facts(self) -> list[str]:
        facts = [
            f"{counted(self.rounds, 'round')}, {self.pending:,} pending, {self.expired:,} expired; "
            f"mean gain {self.gain:.4g}",
            str(self.bound),
        ]
        if self.spending:
            facts.append(
                "mean cost {mean_cost:.4g} of {budget:.4g} a round; excess {excess:.4g}, at most "
                "{largest_excess:.4g}; price {price:.4g}".format(**self.spending)
            )
        if self.rules:
            parts = sorted(self.rules.items(), key=lambda item: -item[1])
            facts.append("rules: " + ", ".join(f"{name} {w:.2f}" for name, w in parts))
        return facts

    def _rows(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        head = ("action", "probability", f"chosen of {self._kept:,}", "value", "interval")
        rows: list[Sequence[str]] = []
        for one in self.actions:
            value = ("-", "-")
            if one.value is not None:
                value = f"{one.value.estimate:.4g}", f"{one.value.low:.4g} to {one.value.high:.4g}"
            rows.append((shown(one.action), f"{one.probability:.3f}", f"{one.chosen:,}", *value))
        return head, rows


class RouterExplanation(_Table):
    """How the choices have changed over the history.

    Attributes
    ----------
    changes
        The actions, the one whose share has changed most first.
    """

    def __init__(self, changes: list[ActionChange], kept: int) -> None:
        self.changes = changes
        self._kept = kept

    def _facts(self) -> list[str]:
        return [f"the earlier and the later half of the last {counted(self._kept, 'round')}"]

    def _rows(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        head = ("action", "share", "then", "gain", "then")
        return head, [
            (
                shown(one.action),
                f"{one.share_before:.3f}",
                f"{one.share_after:.3f}",
                _gain(one.gain_before),
                _gain(one.gain_after),
            )
            for one in self.changes
        ]


def _gain(gain: float | None) -> str:
    return "-" if gain is None else f"{gain:.4g}"


def summarise(router: RouterState) -> RouterSummary:
    """Return the summary of a router."""
    kept = router.history
    probabilities = router.probabilities() if router.actions else {}
    actions = []
    for action, probability in sorted(probabilities.items(), key=lambda item: -item[1]):
        chosen = sum(record.action == action for record in kept)
        # A router that learns leaves logs for which normal intervals are too narrow.
        value = None
        if chosen:
            gains = router.settings.gains
            value = evaluate(kept, action, method="ips", interval="certain", gains=gains)
        actions.append(ActionSummary(action, probability, chosen, value))
    return RouterSummary(router, actions, len(kept))


def explain(router: RouterState) -> RouterExplanation:
    """Return how the choices of a router have changed."""
    kept = router.history
    half = len(kept) // 2
    names = dict.fromkeys([*router.actions, *(record.action for record in kept)])
    changes = [_change(name, kept[:half], kept[half:]) for name in names]
    changes.sort(key=lambda change: -abs(change.share_after - change.share_before))
    return RouterExplanation(changes, len(kept))


def _change(action: str, before: list[Record], after: list[Record]) -> ActionChange:
    def part(records: list[Record]) -> tuple[float, Any]:
        gains = [record.gain for record in records if record.action == action]
        share = len(gains) / len(records) if records else 0.0
        return share, sum(gains) / len(gains) if gains else None

    (share_before, gain_before), (share_after, gain_after) = part(before), part(after)
    return ActionChange(action, share_before, share_after, gain_before, gain_after)
