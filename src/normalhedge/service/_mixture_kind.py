"""Mixtures as the service has them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from prometheus_client.core import GaugeMetricFamily

from normalhedge.boundary.terminal import clipped
from normalhedge.live import json_lines
from normalhedge.live.journal import Operation
from normalhedge.live.line_stream import REFUSALS, LineStream, refusal
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.files import Snapshot, read_snapshot_text, snapshot_text
from normalhedge.mixtures.losses import Loss
from normalhedge.mixtures.state import HISTORY, SINGLE, MixtureState, sum_rows
from normalhedge.mixtures.streams import Budget, Stream
from normalhedge.mixtures.summaries import Summary, expert_weights
from normalhedge.service import _mixture_forms as forms
from normalhedge.service._forms import Answers, CorrectedAnswer, SettledAnswer, as_line
from normalhedge.service._kind import Kind, KindForms, Verb, most
from normalhedge.service._limits import Limits, check_words
from normalhedge.service._problems import Problem

CELLS = 200  # items times experts up to which a mixture is small
WIDE = 500  # forecasts of a round from which on it is blended in a thread

CHANGES = forms.ExpertChange.__struct_fields__  # the changes of experts


def _settlement(form: forms.Settlement) -> dict[str, Any]:
    line = as_line(form)
    if ("ticket" in line) == ("id" in line):
        raise Problem(422, "give the ticket or the id of the round, and not both")
    return line


def _correction(form: forms.Settlement) -> dict[str, Any]:
    line = _settlement(form)
    line["correct"] = line.pop("outcome")
    return line


def _change(form: forms.ExpertChange) -> dict[str, Any]:
    line = as_line(form)
    if len(line) != 1:
        raise Problem(422, "give exactly one of leave, retire, rename and inherit")
    return line


class MixtureKind(Kind):
    """Mixtures: forecasts and outcomes in, blends out."""

    word = "mixture"
    moments = "last_forecast", "last_outcome"
    shapes = KindForms(
        forms.NewMixture, forms.MixtureList, forms.MixtureDetails, forms.SummaryAnswer,
        forms.PastRounds,
    )  # fmt: skip
    verbs = (
        Verb("predict", "Blend the forecasts of a round; its ticket waits for the outcome.",
             forms.RoundForecasts, forms.PredictionAnswer, as_line),
        Verb("outcome", "Learn from the outcome of a round: at once, late, in any order.",
             forms.Settlement, SettledAnswer, _settlement),
        Verb("outcomes", "Learn from many outcomes, each refused or learned on its own.",
             forms.Settlements, Answers, lambda form: list(map(as_line, form.outcomes))),
        Verb("correct", "Replace the outcome of a round that is settled.",
             forms.Settlement, CorrectedAnswer, _correction),
        Verb("experts", "Rename, retire or remove an expert, or let one inherit.",
             forms.ExpertChange, forms.ChangedAnswer, _change, by_line=True),
    )  # fmt: skip
    metrics = (
        (GaugeMetricFamily, "experts", "Experts."),
        (GaugeMetricFamily, "last_forecast", "When the last round was predicted."),
        (GaugeMetricFamily, "last_outcome", "When the last outcome came."),
        (GaugeMetricFamily, "loss_ratio",
         "Loss of the blend, divided by the loss of the plain mean."),
        (GaugeMetricFamily, "alerts",
         "Experts that got worse, stopped, or repeat another.", "kind"),
        (GaugeMetricFamily, "coverage", "Share of outcomes that intervals cover.", "level"),
    )  # fmt: skip
    is_whole = False
    has_alerts = True

    def new(self, form: Any, limits: Limits) -> tuple[dict[str, Any], Any]:
        """Return the options that are stored with a new mixture, and the mixture."""
        options = limit_options(form, limits)
        try:
            mixture = Mixture(**options)
        except REFUSALS as error:
            raise Problem(422, refusal(error)) from error
        _check_memory(mixture, limits)
        return options, mixture

    def settings(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the settings in stored options."""
        return options

    def imported(self, body: bytes, limits: Limits) -> tuple[dict[str, Any], Any]:
        """Return the options and the mixture of a state that a client sent."""
        mixture = _read_state(body, limits)
        _check_memory(mixture, limits)
        return {"recipe": mixture.settings.to_plain()}, mixture

    def read(self, data: bytes, source: str) -> Mixture:
        """Return the mixture of a state."""
        return Mixture.of(read_snapshot_text(data, source).state)

    def text(self, thing: Mixture) -> str:
        """Return the state of a mixture, as `Mixture.save` writes it."""
        with thing.live.turn:
            return snapshot_text(Snapshot(thing))

    def stream(
        self, thing: Mixture, note: Callable[[Operation], object], budget: Budget
    ) -> LineStream:
        """Return a stream on a mixture, which refuses lines beyond a budget."""
        return Stream(thing, note, budget)

    def check(self, thing: Mixture, request: Mapping[str, Any], limits: Limits) -> None:
        """Refuse a line with names that are too long, or with too many items."""
        change = next(filter(request.__contains__, CHANGES), None)
        if "correct" in request:
            _check_correction(thing, request)
        elif change is not None:
            names = request[change] if isinstance(request[change], list) else [request[change]]
            check_words([name for name in names if isinstance(name, str)], limits, "an expert")
        elif "outcome" not in request or "forecasts" in request:
            check_forecasts(thing, request.get("forecasts", request), limits)
            if "context" in request:
                _check_context(request["context"], limits)

    def is_wide(self, request: Any) -> bool:
        """Tell whether a round has so many forecasts that it may take long."""
        forecasts = request.get("forecasts") if isinstance(request, dict) else None
        if not isinstance(forecasts, dict) or not forecasts:
            return False
        first = next(iter(forecasts.values()))
        return len(forecasts) * (len(first) if isinstance(first, dict | list) else 1) > WIDE

    def is_small(self, thing: Mixture) -> bool:
        """Tell whether a mixture with few bytes is so small that work on it is quick."""
        return len(thing.names) * len(thing.items) <= CELLS

    def learned(self, thing: Mixture) -> float:
        """Return the bytes of what was learned."""
        return thing.live.bytes_with(0, 0, 0, 0)

    def size(self, thing: Mixture) -> int:
        """Return the bytes of a mixture with its checkpoints and its rounds."""
        return int(self.learned(thing)) + thing.live.bytes_of_rounds

    def health(self, thing: Mixture) -> dict[str, Any]:
        """Return the numbers of a loaded mixture."""
        totals = thing.live.total_sums
        settled = float(totals[sum_rows.SETTLED])
        blend, uniform = float(totals[sum_rows.BLEND]), float(totals[sum_rows.UNIFORM])
        return {
            "experts": len(thing.names),
            "items": len(thing.items),
            "rounds": thing.rounds,
            "settled": int(settled),
            "loss": blend / settled if settled else None,
            "plain_mean_loss": uniform / settled if settled else None,
            "worse_than_plain_mean": bool(settled and blend > uniform),
            "coverage": _coverage_rows(thing.covered()),
            "loss_name": str(thing.settings.loss),
        }

    def details(self, thing: Mixture) -> dict[str, Any]:
        """Return the experts of a mixture and their weights."""
        return {
            "names": thing.names,
            "retired": sorted(thing.retired),
            "item_names": thing.items,
            "weights": _weights(thing),
        }

    def summary(self, thing: Mixture) -> dict[str, Any]:
        """Return the summary of a mixture as plain data."""
        return summary_form(thing.summary())

    def line_of(self, operation: Operation) -> dict[str, Any]:
        """Return the line of a stream that asks for an operation."""
        if "predict" in operation:
            line = {"forecasts": operation["predict"]}
            kept = ("confidence", "context", "id")
            return line | {name: operation[name] for name in kept if name in operation}
        if "update" in operation:
            line = {"ticket": operation["update"], "outcome": operation["outcome"]}
            return line | ({"id": operation["id"]} if "id" in operation else {})
        if "correct" in operation:
            return {"ticket": operation["correct"], "correct": operation["outcome"]}
        return operation

    def has_past(self, thing: Any) -> bool:
        """Tell whether it has a history: snapshots of versions before 0.3 do not hold it."""
        return bool(len(thing.history) or not thing.live.total_sums[sum_rows.SETTLED])

    def loss(self, thing: Mixture) -> Loss:
        """Return the loss by which rounds are judged."""
        return thing.settings.loss


def _weights(mixture: Mixture) -> dict[str, float | None]:
    """Return the present weights of the experts."""
    if not mixture.names or not mixture.items:
        return dict.fromkeys(mixture.names)
    weights = np.asarray(expert_weights(mixture)).tolist()
    return dict(zip(mixture.names, weights, strict=True))


SAME = (
    "settings",
    "rounds",
    "rows",
    "settled",
    "silent",
    "pending",
    "expired",
    "warning",
    "regret",
)
"""The fields of a summary that the service tells under the same name."""

OF_EXPERT = ("name", "weight", "loss", "blend_loss", "awake", "last_seen", "since", "retired")
"""The fields of an expert that a summary tells."""


def summary_form(summary: Summary) -> dict[str, Any]:
    """Return a summary as plain data."""
    lines = summary.comparison.lines if summary.comparison.rows else []
    return {
        **{name: getattr(summary, name) for name in SAME},
        "loss": summary.blend,
        "plain_mean_loss": summary.uniform,
        "best": None if summary.best is None else summary.best.name,
        "notes": [
            note
            for note in (
                summary.corrected,
                summary.by_context,
                summary.guarded,
                summary.rearranged,
            )
            if note
        ],
        "alerts": [alert.to_plain() for alert in summary.alerts],
        "coverage": _coverage_rows(summary.covered),
        "bound": summary.bound.regret if summary.bound else None,
        "bound_unit": summary.bound.unit,
        "bound_source": summary.bound.source,
        "compared": {
            "rows": summary.comparison.rows,
            "lines": [json_lines.plain(line._asdict()) for line in lines],
        },
        "components": [row._asdict() for row in summary.components],
        "experts": [{name: getattr(row, name) for name in OF_EXPERT} for row in summary.experts],
        "text": str(summary),
    }


def _coverage_rows(covered: list[tuple[float, float, int]]) -> list[dict[str, Any]]:
    """Return the coverage of intervals as plain data."""
    return [
        {"level": level, "covered": share if count else None, "outcomes": count}
        for level, share, count in covered
    ]


def limit_options(form: Any, limits: Limits) -> dict[str, Any]:
    """Return the arguments of `Mixture` that a form gives, within the limits of the server."""
    options = msgspec.structs.asdict(form)
    del options["name"]
    for name, bound, usual in (
        ("max_pending", limits.pending, limits.pending),
        ("history", limits.history, HISTORY),
        ("max_names", limits.experts, limits.experts),
    ):
        options[name] = most(name, options[name], bound, usual)
    options = {name: value for name, value in options.items() if value is not None and value != []}
    # Options of a single rule choose one, where no hedger was named.
    if form.hedger == "auto" and any(getattr(form, name) not in (None, 0.0, []) for name in SINGLE):
        options["hedger"] = None
    return options


def _read_state(body: bytes, limits: Limits) -> Mixture:
    """Return the mixture of a state file, within the limits of the server."""
    try:
        state = read_snapshot_text(body, "the state", limits.memory).state
    except ValueError as error:
        raise Problem(422, clipped(str(error))) from error
    if len(state.names) > limits.experts or len(state.items) > limits.items:
        raise Problem(422, "the state has more experts or items than this server allows")
    if state.settings.max_pending > limits.pending or state.settings.history > limits.history:
        raise Problem(422, "the state allows more pending rounds or history than this server")
    check_words(state.names, limits, "an expert")
    check_words(state.items, limits, "an item")
    names = min(state.settings.max_names, limits.experts)
    return Mixture.of(MixtureState(replace(state.settings, max_names=names), state.live))


def _check_memory(mixture: Mixture, limits: Limits) -> None:
    """Refuse a new mixture that would take too much memory with an expert and an item."""
    live = mixture.live
    size = live.bytes_with(not live.names, not live.items, 0, 0) + live.bytes_of_rounds
    if size > limits.memory:
        raise Problem(
            422,
            f"this mixture would take {size / 1e6:,.0f} MB, and this server gives it at most "
            f"{limits.memory / 1e6:,.0f} MB: choose a shorter season or fewer intervals, or keep "
            "several mixtures",
        )


def _check_context(context: Any, limits: Limits) -> None:
    """Refuse categories whose names are too long."""
    if isinstance(context, dict):
        for name, value in context.items():
            values = value.values() if isinstance(value, dict) else value
            words = values if isinstance(values, list) else [values]
            check_words(
                [name, *(word for word in words if isinstance(word, str))], limits, "a context"
            )


def check_forecasts(mixture: Mixture, forecasts: Any, limits: Limits) -> None:
    """Refuse forecasts with names that are too long, or too many items."""
    if type(forecasts) is not dict:
        return
    check_words(forecasts, limits, "an expert")
    items: set[str] = set()
    for value in forecasts.values():
        if type(value) is dict:
            check_words(value, limits, "an item")
            items.update(value)
        elif type(value) is list:
            items.update(map(str, range(len(value))))
    if items and len(items.union(mixture.items)) > limits.items:
        raise Problem(422, f"a mixture has at most {limits.items} items on this server")


def _check_correction(mixture: Mixture, request: Mapping[str, Any]) -> None:
    """Refuse to correct a round that only some mixtures with the same log could correct.

    How far back a mixture can correct outcomes depends on when it was loaded: half of its history
    at least. Beyond that a restarted server could correct rounds that a replay of its log cannot.
    """
    reach = mixture.settings.history // 2
    ticket = request.get("ticket")
    if ticket is None and "id" in request:
        ticket = mixture.ticket_of(request["id"], settled=True)
    earlier = mixture.history[:-reach] if reach else mixture.history
    if any(settled.ticket == ticket for settled in earlier):
        raise Problem(
            409,
            f"the outcome of ticket {ticket} cannot be corrected any more: this server corrects "
            f"the last {reach} settled rounds (history = {mixture.settings.history})",
            kind="key",
        )
