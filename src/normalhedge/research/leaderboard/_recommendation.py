"""The recommendation for a panel: auto, unless a single rule is clearly better."""

import math
from typing import NamedTuple

from normalhedge.mixtures.rules import is_automatic
from normalhedge.research.leaderboard._standings import Standing

BETTER = 0.05
"""A single rule is recommended only if auto loses more by this share of the rule's loss, on the
whole panel and in its second half. Among many rules some are better by chance, and the best one is
known only afterwards."""


class Recommendation(NamedTuple):
    """The name of the hedger to use, and the reason in words."""

    hedger: str
    reason: str


def recommend(standing: Standing) -> Recommendation | None:
    """Return the hedger to use on a panel; none if auto or all single rules were left out."""
    losses = dict(zip(standing.hedgers, standing.mean("loss").tolist(), strict=True))
    late = dict(zip(standing.hedgers, standing.mean("late").tolist(), strict=True))
    played = [name for name, loss in losses.items() if math.isfinite(loss)]
    automatic = [name for name in played if is_automatic(name)]
    rules = sorted((name for name in played if not is_automatic(name)), key=losses.__getitem__)
    if not automatic or not rules:
        return None
    auto, best = min(automatic, key=losses.__getitem__), rules[0]
    for rule in rules:
        if _far(losses[auto], losses[rule]) and _far(late[auto], late[rule]):
            whole, half = _gap(losses[auto], losses[rule]), _gap(late[auto], late[rule])
            reason = f"{auto} loses {whole} {rule}, and {half} it in the second half"
            return Recommendation(rule, f"on this panel {reason}")
    gap = _gap(losses[auto], losses[best])
    reason = f"on this panel {auto} loses {gap} the best single rule, {best}"
    if _far(losses[auto], losses[best]):
        reason += f", but in the second half {_gap(late[auto], late[best])} it"
    if losses[auto] > losses[best]:
        reason += "; nobody knows that beforehand"
    return Recommendation(auto, reason)


def _far(auto: float, rule: float) -> bool:
    """Tell whether a rule is clearly better; an unknown loss is not."""
    return auto - rule > BETTER * abs(rule)


def _gap(auto: float, rule: float) -> str:
    """Return the difference of the losses in words, to be followed by the name of the rule."""
    if not math.isfinite(auto) or not math.isfinite(rule):
        return "nothing that is known beside"
    if auto == rule:
        return "as much as"
    if rule == 0.0:
        return f"{auto:.4g}, where nothing is lost by"
    share = abs((auto - rule) / rule)
    points = f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:,.0f} %"
    return f"{points} {'more' if auto > rule else 'less'} than"
