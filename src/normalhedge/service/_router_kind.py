"""Routers as the service has them."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from prometheus_client.core import GaugeMetricFamily

from normalhedge.boundary.terminal import clipped
from normalhedge.live import json_lines
from normalhedge.live.journal import Operation
from normalhedge.live.line_stream import REFUSALS, LineStream, refusal
from normalhedge.mixtures.streams import Budget
from normalhedge.routing import (
    Router,
    RouterSnapshot,
    RouterStream,
    plain_settings,
    read_snapshot_text,
    snapshot_text,
)
from normalhedge.service import _router_forms as forms
from normalhedge.service._forms import CorrectedAnswer, SettledAnswer
from normalhedge.service._kind import Kind, KindForms, Verb, most
from normalhedge.service._limits import Limits, check_words
from normalhedge.service._problems import Problem

PENDING, HISTORY = 10_000, 1000  # the usual numbers of rounds, as of `Router`

PLACE = 32  # the bytes that an action takes in the list of a round

WIDE = 200  # actions from which on a router is not small


def _choice(form: forms.ChoiceRequest) -> dict[str, Any]:
    wishes = msgspec.structs.asdict(form)
    return {"choose": {name: value for name, value in wishes.items() if value is not None}}


def _change(form: forms.ActionChange) -> dict[str, Any]:
    change: dict[str, Any] = msgspec.to_builtins(form)
    if len(change) != 1:
        raise Problem(422, "give exactly one of join and leave")
    return change


class RouterKind(Kind):
    """Routers: an action out, its gain in."""

    word = "router"
    moments = "last_choice", "last_gain"
    shapes = KindForms(
        forms.NewRouter, forms.RouterList, forms.RouterDetails, forms.RouterSummaryAnswer,
        forms.PastChoices,
    )  # fmt: skip
    verbs = (
        Verb("choose", "Draw an action; its ticket waits for the gain.",
             forms.ChoiceRequest, forms.ChoiceAnswer, _choice),
        Verb("reward", "Learn the gain of a choice: at once, late, in any order.",
             forms.Reward, SettledAnswer, msgspec.to_builtins),
        Verb("correct", "Replace the gain of a round that is settled.",
             forms.Reward, CorrectedAnswer,
             lambda form: {"ticket": form.ticket, "correct": form.gain}),
        Verb("actions", "Let an action join or leave.",
             forms.ActionChange, forms.ActionAnswer, _change, by_line=True),
    )  # fmt: skip
    metrics = (
        (GaugeMetricFamily, "actions", "Actions."),
        (GaugeMetricFamily, "last_choice", "When the last action was drawn."),
        (GaugeMetricFamily, "last_gain", "When the last gain came."),
        (GaugeMetricFamily, "gain", "The mean gain of the choices."),
    )
    is_whole = True
    has_alerts = False

    def new(self, form: Any, limits: Limits) -> tuple[dict[str, Any], Any]:
        """Return the options that are stored with a new router, and the router."""
        options = msgspec.structs.asdict(form)
        del options["name"]
        _check_actions(options["actions"], limits)
        options["max_pending"] = most(
            "max_pending", options["max_pending"], limits.pending, PENDING
        )
        options["history"] = most("history", options["history"], limits.history, HISTORY)
        options = {name: value for name, value in options.items() if value is not None}
        try:
            router = Router(**options)
        except REFUSALS as error:
            raise Problem(422, refusal(error)) from error
        return {"router": options}, router

    def settings(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the settings in stored options."""
        settings: dict[str, Any] = options["router"]
        return settings

    def imported(self, body: bytes, limits: Limits) -> tuple[dict[str, Any], Any]:
        """Return the options and the router of a state that a client sent."""
        try:
            router = self.read(body, "the state")
        except ValueError as error:
            raise Problem(422, clipped(str(error))) from error
        settings = router.settings
        _check_actions(router.actions, limits)
        if settings.max_pending > limits.pending or settings.history > limits.history:
            raise Problem(422, "the state allows more pending rounds or history than this server")
        _check_memory(router, 0, limits)
        return {"router": plain_settings(settings)}, router

    def read(self, data: bytes, source: str) -> Router:
        """Return the router of a state."""
        snapshot = read_snapshot_text(data, source)
        return Router.of(snapshot.settings, snapshot.core)

    def text(self, thing: Router) -> str:
        """Return the state of a router, as `Router.save` writes it."""
        return snapshot_text(RouterSnapshot(thing.settings, thing._core))

    def stream(
        self, thing: Router, note: Callable[[Operation], object], budget: Budget
    ) -> LineStream:
        """Return a stream on a router; `check` holds its budget."""
        del budget
        return RouterStream(thing, note)

    def check(self, thing: Router, request: Mapping[str, Any], limits: Limits) -> None:
        """Refuse a line with which a router would have too many actions, or take too much memory.

        A plain choice takes as much as the rounds that were allowed; the others more.
        """
        count, choice = len(thing.actions), request.get("choose")
        if isinstance(name := request.get("join"), str):
            _check_actions([*thing.actions, name], limits)
        if isinstance(choice, dict):
            if "awake" in choice or "seen" in choice:
                _check_memory(thing, PLACE * count, limits)
            if choice.get("context") is not None:  # it may get weights of its own
                _check_memory(thing, thing.memory // (1 + len(thing.contexts)), limits)
        elif "join" in request or "leave" in request:  # rounds that wait note what was offered
            _check_memory(thing, PLACE * (count + 1) * (1 + len(thing.pending)), limits)

    def is_wide(self, request: Any) -> bool:
        """Tell whether a line may take long: with an action, all weights are written anew."""
        return isinstance(request, dict) and ("join" in request or "leave" in request)

    def is_small(self, thing: Router) -> bool:
        """Tell whether a router with few bytes is so small that work on it is quick."""
        return len(thing.actions) <= WIDE

    def learned(self, thing: Router) -> float:
        """Return the number of the actions in all contexts."""
        return float(len(thing.actions) * (1 + len(thing.contexts)))

    def size(self, thing: Router) -> int:
        """Return the bytes of a router with its rounds."""
        return thing.memory

    def health(self, thing: Router) -> dict[str, Any]:
        """Return the numbers of a loaded router."""
        return {
            "actions": len(thing.actions),
            "contexts": len(thing.contexts),
            "rounds": thing.next_ticket,
            "settled": thing.rounds,
            "gain": json_lines.plain(thing.gain),
            "spending": json_lines.plain(thing.spending),
        }

    def details(self, thing: Router) -> dict[str, Any]:
        """Return the actions of a router, and the probabilities of the next choice."""
        return {
            "names": thing.actions,
            "probabilities": thing.probabilities() if thing.actions else {},
            "rules": thing.rule_weights(),
        }

    def summary(self, thing: Router) -> dict[str, Any]:
        """Return the summary of a router as plain data."""
        summary = thing.summary()
        same = ("rounds", "pending", "expired", "gain", "rules", "spending")
        plain: dict[str, Any] = json_lines.plain(
            {
                **{name: getattr(summary, name) for name in same},
                "bound": summary.bound.regret,
            }
        )
        actions = [
            one._asdict() | {"value": one.value and msgspec.to_builtins(one.value)}
            for one in summary.actions
        ]
        return plain | {
            "bound_source": summary.bound.source,
            "actions": [json_lines.plain(action) for action in actions],
            "text": str(summary),
        }

    def line_of(self, operation: Operation) -> dict[str, Any]:
        """Return the line of a stream that asks for an operation."""
        if "choose" in operation:
            return {"choose": operation["choose"]}
        if "reward" in operation:
            return {"ticket": operation["reward"], "gain": operation["gain"]}
        if "correct" in operation:
            return {"ticket": operation["correct"], "correct": operation["gain"]}
        return operation


def _check_actions(names: Any, limits: Limits) -> None:
    """Refuse too many actions, or names that are too long."""
    if len(names) > limits.actions:
        raise Problem(422, f"a router has at most {limits.actions:,} actions on this server")
    check_words(names, limits, "an action")


def _check_memory(router: Router, more: float, limits: Limits) -> None:
    """Refuse what a router would need more memory for than a server gives it."""
    size = router.memory + more
    if size > limits.memory:
        raise Problem(
            422,
            f"with this, the router would take {size / 1e6:,.0f} MB, and this server gives it at "
            f"most {limits.memory / 1e6:,.0f} MB: send gains first, or keep several routers",
        )
