"""What a router is made of: its settings, and the object of the core that owns everything else."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Self

from normalhedge._core import Routing
from normalhedge.boundary import inputs, specs
from normalhedge.boundary.terminal import clipped
from normalhedge.guarantees import Bound
from normalhedge.routing._rules import RoundsPlayed
from normalhedge.routing._settings import MOST_CONTEXTS, RouterSettings
from normalhedge.routing._values import Choice, Record

MOST_CATEGORY = 200
"""The largest length of a context, as text."""


class RouterState:
    """Settings and the object of the core, with checks of the arguments of its operations."""

    def __init__(self, settings: RouterSettings) -> None:
        self.settings = settings
        self._core = self.new_core()

    def new_core(self) -> Routing:
        """Return an object of the core without actions."""
        settings, rule = self.settings, self.settings.learner()
        low, high = settings.gains
        return Routing(
            rule.recipes,
            rule.prior,
            low,
            high,
            settings.max_pending,
            settings.history,
            MOST_CONTEXTS,
            settings.seed,
            settings.budget or 0.0,
            Choice,
        )

    @classmethod
    def of(cls, settings: RouterSettings, core: Routing) -> Self:
        """Return a router that continues where an object of the core is.

        Parameters
        ----------
        settings, core
            The parts of the router.
        """
        made = cls.__new__(cls)
        made.settings, made._core = settings, core
        return made

    def copy(self) -> Self:
        """Return a router that is in the same state, and chooses the same from now on."""
        return self.of(self.settings, self._copy_of_core())

    def _copy_of_core(self) -> Routing:
        core, own = self.new_core(), self._core
        core.restore(own.dump(), own.every, own.contexts)
        return core

    def __getstate__(self) -> tuple[Any, ...]:
        core = self._core
        return self.settings, core.dump(), core.every, core.contexts

    def __setstate__(self, parts: tuple[Any, ...]) -> None:
        self.settings, *rest = parts
        self._core = self.new_core()
        self._core.restore(*rest)

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions, in the order in which they joined."""
        return self._core.names

    @property
    def rounds(self) -> int:
        """The number of rounds whose gains are known."""
        return self._core.rounds

    @property
    def next_ticket(self) -> int:
        """The ticket of the next choice."""
        return self._core.next

    @property
    def memory(self) -> int:
        """The bytes that it takes, about."""
        return int(self._core.bytes)

    @property
    def pending(self) -> list[int]:
        """The tickets of the rounds that wait for their gains."""
        return self._core.pending()

    @property
    def expired(self) -> int:
        """The number of rounds that waited too long."""
        return self._core.expired

    @property
    def gain(self) -> float:
        """The mean gain of the choices; NaN before the first one is known."""
        return self._core.mean

    @property
    def contexts(self) -> tuple[str, ...]:
        """The contexts that have weights of their own."""
        return tuple(self._core.contexts)

    @property
    def spending(self) -> dict[str, float]:
        """The budget: mean cost of a round, limit, price, and excess over the limit so far.

        ``largest_excess`` bounds the excess, as long as an action within the budget was offered in
        each round. The price is in gain for a unit of cost. Empty without a budget.
        """
        if self.settings.budget is None:
            return {}
        rounds, spent, price, largest = self._core.spending
        return {
            "mean_cost": spent / rounds if rounds else math.nan,
            "budget": self.settings.budget,
            "price": price,
            "excess": spent - rounds * self.settings.budget,
            "largest_excess": largest,
        }

    def rule_weights(self, context: Any = None) -> dict[str, float]:
        """Return the weights of the rules that the default hedges over; empty with another rule.

        Parameters
        ----------
        context
            A context, for the weights in its own rounds.
        """
        names = getattr(self.settings.learner(), "names", ())
        weights = self._core.weights(self._cell(context)[0])
        return dict(zip(names, weights, strict=True)) if weights else {}

    def context_share(self, context: Any) -> float:
        """Return the share that the weights of a context have beside the common ones.

        Parameters
        ----------
        context
            A context, as for `choose`.
        """
        cell = self._cell(context)[0]
        return self._core.share(cell) if cell else 0.0

    @property
    def history(self) -> list[Record]:
        """The settled rounds that are kept, in the order in which they were settled."""
        names = self._core.every
        contexts = {number: label for label, number in self._core.contexts.items()}
        return [_record(row, names, contexts) for row in self._core.history()]

    def probabilities(
        self, context: Any = None, awake: Iterable[str] | None = None
    ) -> dict[str, float]:
        """Return the probabilities of the next choice, without a choice.

        A budget that is nearly spent may restrict the choice further.

        Parameters
        ----------
        context, awake
            As for `choose`.
        """
        places = None if awake is None else self._places("awake", awake)
        if places is not None and not places:
            raise ValueError("awake must name at least one action")
        distribution = self._core.distribution(self._cell(context)[0], places)
        return dict(zip(self.actions, distribution.tolist(), strict=True))

    def bound(self) -> Bound:
        """Return the bound on the expected regret so far, in the unit of the gains.

        The expectation is over the draws, for gains that do not depend on them. Where no theorem
        applies the bound is infinite, and says why. For the default it is the price of hedging over
        rules: what the router may be behind each of them, on what was seen.

        Examples
        --------
        >>> from normalhedge import Router
        >>> router = Router(["a", "b"], rule="exp3-ix")
        >>> for _ in range(100):
        ...     router.reward(router.choose().ticket, 0.5)
        >>> print(router.bound())
        regret <= 38.6526 in gains (EXP3-IX, in expectation)
        """
        core = self._core
        low, high = self.settings.gains
        played = RoundsPlayed(
            rounds=self.rounds,
            actions=len(self.actions),
            full=core.full,
            late=core.late,
            changed=core.changed,
            beside=bool(core.contexts or self.settings.budget),
            price=max(core.prices(0), default=0.0),
            width=high - low,
        )
        return self.settings.learner().bound(played)

    def _places(self, argument: str, names: object) -> list[int]:
        """Return the places of actions in rising order."""
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise TypeError(f"{argument} must be a list of actions, got {clipped(repr(names), 80)}")
        places = set()
        for name in names:
            if name not in self.actions:
                raise specs.nearest("action", clipped(str(name), 80), self.actions)
            places.add(self.actions.index(name))
        return sorted(places)

    def _cell(self, context: Any) -> tuple[int, str | None]:
        """Return the number of a context, 0 for none; and its text if it is to be opened."""
        if context is None:
            return 0, None
        label = _label(context)
        number = self._core.contexts.get(label)
        if number is not None:
            return number, None
        return 0, label if len(self._core.contexts) < MOST_CONTEXTS else None

    def _ticket(self, ticket: object) -> int:
        return inputs.count("ticket", ticket, 0, inputs.LARGEST_WHOLE)

    def _gains(self, waiting: tuple[Any, ...], gain: Any) -> tuple[list[int], list[float], bool]:
        """Return the numbers of actions, their gains, and whether these are all."""
        _, action, _, _, full, awake, known, _ = waiting
        numbers = self._core.numbers
        if not isinstance(gain, Mapping):
            name = self._name(action)
            if len(known) > 1:
                others = ", ".join(clipped(self._name(n), 80) for n in known[1:4])
                raise ValueError(
                    f"gain must be a mapping with the gains of {clipped(name, 80)} and of the "
                    f"actions that are seen with it: {others}"
                )
            return [action], [self._gain(name, gain)], full
        offered = {numbers[name] for name in self.actions} if awake is None else set(awake)
        offered |= set(known)
        gains: dict[int, float] = {}
        for name, value in gain.items():
            number = numbers.get(name, -1)
            if number not in offered:
                raise ValueError(f"{clipped(repr(name), 80)} was not offered in this round")
            gains[number] = self._gain(name, value)
        if offered <= set(gains) and not offered <= set(known):
            return [action, *(n for n in gains if n != action)], self._in_order(action, gains), True
        for number in known:
            if number not in gains:
                raise ValueError(
                    f"gain must have {clipped(self._name(number), 80)!r}, which was chosen or is "
                    "seen with the choice"
                )
        for number in gains:
            if number not in known:
                raise ValueError(
                    f"the gain of {clipped(self._name(number), 80)!r} can only be used with the "
                    "gains of all that were offered, or if choose is told of it by seen, or the "
                    "router by shows"
                )
        return [action, *(n for n in gains if n != action)], self._in_order(action, gains), full

    @staticmethod
    def _in_order(action: int, gains: Mapping[int, float]) -> list[float]:
        return [gains[action], *(gain for number, gain in gains.items() if number != action)]

    def _gain(self, name: str, value: object) -> float:
        low, high = self.settings.gains
        return inputs.number(f"the gain of {clipped(name, 80)}", value, low, high, closed=True)

    def _cost(self, name: str, cost: object) -> float:
        most = self.settings.cost(name)
        if self.settings.budget is None:
            raise ValueError("cost must be left out: the router has no budget")
        what = f"the cost of {clipped(name, 80)}"
        return inputs.number(what, cost, 0.0, most, closed=True)

    def _name(self, number: int) -> str:
        return self._core.every[number]


def _record(row: tuple[Any, ...], names: tuple[str, ...], contexts: dict[int, str]) -> Record:
    ticket, action, probability, cell, _, awake, known, gains = row
    return Record(
        names[action],
        probability,
        gains[0],
        contexts.get(cell),
        None if awake is None else tuple(names[number] for number in awake),
        {names[n]: gain for n, gain in zip(known, gains, strict=True) if not math.isnan(gain)},
        ticket,
    )


def _label(context: Any) -> str:
    """Return the JSON text that identifies a context."""
    parts = context.values() if isinstance(context, Mapping) else [context]
    for part in parts:
        if not isinstance(part, str | int):  # truth values are whole numbers
            raise TypeError(
                "context must be text, a whole number, true or false, or a mapping of names to "
                f"these, got {clipped(repr(context), 80)}"
            )
    if isinstance(context, Mapping):
        if not context or not all(isinstance(name, str) for name in context):
            raise TypeError(f"context must have names, got {clipped(repr(context), 80)}")
        context = dict(sorted(context.items()))
    label = json.dumps(context)
    if len(label) > MOST_CATEGORY:
        raise ValueError(f"context must be short, got {clipped(label, 80)}")
    return label
