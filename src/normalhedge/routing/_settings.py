"""The settings of `Router`: each option once, with its default, its check and its text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from normalhedge.boundary import inputs
from normalhedge.boundary.terminal import clipped
from normalhedge.hedgers import CompiledHedger
from normalhedge.live.options import option
from normalhedge.routing._rules import OnEstimates, OverRules, Rule, rule_named

MOST_CONTEXTS = 64
"""The largest number of contexts that have weights of their own."""

MOST_SEED = 2**64 - 1


@dataclass(frozen=True)
class RouterSettings:
    """The settings of `Router`, checked; `Router` explains them."""

    actions: Iterable[str] = option(
        (), "The names of the actions to begin with; others may join.", by_name=False
    )
    rule: str | Rule | CompiledHedger = option(
        "auto",
        "How to learn: a rule or its name (see `rule_named`), or a hedger. The default hedges over "
        "rules (`OverRules`).",
        short="How to learn: auto, exp3-ix, tsallis-inf, maillard or a hedger.",
    )
    gains: tuple[float, float] = option(
        (0.0, 1.0),
        "The least and the largest gain that an action can have.",
        short="The least and the largest gain, as LOW,HIGH.",
        shown="0,1",
    )
    shows: Mapping[str, Iterable[str]] | None = option(
        None,
        "The other actions whose gains are known, too, whenever an action is chosen: a mapping of "
        "the chosen action to their names. For actions whose gains are known whichever is chosen, "
        "see ``seen`` of `choose`.",
    )
    costs: Mapping[str, float] | None = option(
        None,
        "The cost of each action each time it is chosen, at least 0; needs ``budget``. If costs "
        "are known only afterwards, the most that each may be: see ``cost`` of `reward`.",
    )
    budget: float | None = option(
        None,
        "The mean cost of a round that should not be exceeded; needs ``costs``.",
    )
    max_pending: int = option(
        10_000,
        "The largest number of rounds that wait for their gains; the oldest ones expire.",
        short="The largest number of rounds that wait for their gains.",
    )
    history: int = option(
        1000,
        "The least number of settled rounds to keep, for `correct`, `summary` and `evaluate`.",
        short="The number of settled rounds to keep.",
    )
    seed: int = option(
        0, "The seed of the draws, from 0 to 2^64 - 1.", short="The seed of the draws."
    )

    def __post_init__(self) -> None:
        actions = check_names("actions", self.actions)
        self._set("actions", actions)
        if isinstance(self.rule, str):
            self._set("rule", rule_named(self.rule, len(actions)))
        elif isinstance(self.rule, CompiledHedger):
            self._set("rule", OnEstimates(self.rule))
        elif not isinstance(self.rule, Rule):
            raise TypeError(f"rule must be a rule, a hedger or a name, got {self.rule!r}")
        if isinstance(self.rule, OverRules):
            self._set("rule", OverRules(priced=self.budget is not None))
        self._set("gains", _check_range(self.gains))
        if self.shows is not None:
            shows = {a: check_names("shows", others) for a, others in self.shows.items()}
            self._set("shows", shows)
        self._check_budget(actions)
        self._set("max_pending", inputs.count("max_pending", self.max_pending))
        self._set("history", inputs.count("history", self.history))
        self._set("seed", inputs.count("seed", self.seed, 0, MOST_SEED))

    def _check_budget(self, actions: tuple[str, ...]) -> None:
        if (self.costs is None) != (self.budget is None):
            raise ValueError("costs and budget belong together: give both or none")
        if self.costs is None or self.budget is None:
            return
        budget = inputs.number("budget", self.budget, 0.0)
        self._set("budget", budget)
        costs = {
            name: inputs.number(f"the cost of {name}", cost, 0.0, closed=True)
            for name, cost in self.costs.items()
        }
        self._set("costs", costs)
        missing = [name for name in actions if name not in costs]
        if missing:
            raise ValueError(f"costs must have each action: {clipped(missing[0], 80)!r} is missing")
        if actions and min(costs[name] for name in actions) > budget:
            cheapest = min(actions, key=lambda name: costs[name])
            raise ValueError(
                f"budget must be at least the cost of the cheapest action, {costs[cheapest]:g} of "
                f"{clipped(cheapest, 80)!r}, got {budget:g}"
            )

    def cost(self, action: str) -> float:
        """Return the cost of an action."""
        if self.costs is None:
            return 0.0
        if action not in self.costs:
            raise ValueError(f"costs must have each action: {clipped(action, 80)!r} is missing")
        return self.costs[action]

    def learner(self) -> Rule:
        """Return the rule."""
        assert isinstance(self.rule, Rule)
        return self.rule

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def check_names(argument: str, names: object) -> tuple[str, ...]:
    """Check that there are different names, and return them."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"{argument} must be a list of names, got {clipped(repr(names), 80)}")
    result = tuple(names)
    for name in result:
        check_name(argument, name)
    if len(set(result)) < len(result):
        twice = next(name for name in result if result.count(name) > 1)
        raise ValueError(f"{argument} must be different, got {clipped(twice, 80)!r} twice")
    return result


def check_name(argument: str, name: object) -> str:
    """Check that a name is a text that is not empty, and return it."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"{argument} must be texts that are not empty, got {name!r}")
    return name


def _check_range(gains: Any) -> tuple[float, float]:
    """Check the range of the gains."""
    try:
        least, largest = gains
    except (TypeError, ValueError):
        raise TypeError(f"gains must be the least and the largest gain, got {gains!r}") from None
    low = inputs.number("the least gain", least, -inputs.LARGEST)
    high = inputs.number("the largest gain", largest, -inputs.LARGEST)
    if not low < high:
        raise ValueError(f"gains must be a least and a larger gain, got {low:g} and {high:g}")
    return low, high
