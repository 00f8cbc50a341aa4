"""Answers to requests that only read."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import msgspec
import numpy as np
from starlette.datastructures import QueryParams

from normalhedge.live import json_lines
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.state import Operation
from normalhedge.mixtures.streams import REFUSALS, plain_prediction
from normalhedge.mixtures.summaries import Summary, expert_weights
from normalhedge.service import _forms as forms, _recovery as recovery
from normalhedge.service._alarms import alarm_form
from normalhedge.service._calls import JSON, LINES, Call, Reply, StreamedReply
from normalhedge.service._forms import as_json, decode
from normalhedge.service._limits import check_forecasts
from normalhedge.service._live import LiveMixture, coverage_rows
from normalhedge.service._metrics import Metrics
from normalhedge.service._past import END, PastLimits, Place, past_rounds
from normalhedge.service._problems import DamagedLog, Problem, StorageFailure, unavailable
from normalhedge.service._registry import Registry, is_wide, refuse
from normalhedge.service._storage import Event, Storage
from normalhedge.service.access import Holder

T = TypeVar("T")

FEW = 500  # rounds that are listed at once
FEW_ROUNDS = 100  # rounds of a short page of history
AT_ONCE = 20  # the number of mixtures whose health is told before others are served


class Views:
    """The handlers of requests that only read."""

    def __init__(self, registry: Registry, metrics: Metrics) -> None:
        self.registry = registry
        self.numbers = metrics
        self.document = b"{}"  # the OpenAPI document

    async def mixtures(self, call: Call) -> Reply:
        """List mixtures with their health, by name."""
        query = call.query_params
        after, limit = query.get("after", ""), int(_number(query, "limit", 1, 1000) or 1000)
        names = [
            name for name in sorted(self.registry.names) if name > after and call.holder.sees(name)
        ]
        healths = [health async for health in self._healths(names[:limit])]
        following = names[limit - 1] if len(names) > limit else None
        return Reply(as_json({"mixtures": healths, "time": time.time(), "next": following}))

    async def _healths(self, names: list[str]) -> AsyncIterator[dict[str, Any]]:
        """Yield the health of mixtures; others are served meanwhile."""
        for k, name in enumerate(names):
            if k % AT_ONCE == AT_ONCE - 1:
                await asyncio.sleep(0)
            live = self.registry.names.get(name)
            if live is not None:
                yield live.health(time.time())

    async def mixture(self, call: Call) -> Reply:
        """Return a mixture, its settings and experts."""
        live = self.registry.find(call.name)
        weights = await self.registry.read(live, _weights)
        mixture, now = live.mixture, time.time()
        if mixture is None:  # the database failed meanwhile
            raise unavailable()
        details = {
            "settings": json.loads(live.row.options),
            "names": mixture.names,
            "retired": sorted(mixture.retired),
            "item_names": mixture.items,
            "weights": weights,
            "next_ticket": mixture.next_ticket,
            "sequence": live.sequence,
        }
        return Reply(as_json(live.health(now) | details))

    async def peek(self, call: Call) -> Reply:
        """Return the prediction that forecasts would get; nothing changes."""
        call.require(JSON)
        live = self.registry.find(call.name)
        request = forms.as_line(decode(await call.content(), forms.PeekRequest))

        def look(mixture: Mixture) -> bytes:
            check_forecasts(mixture, request["forecasts"], self.registry.limits)
            try:
                prediction = mixture.peek(
                    request["forecasts"],
                    request.get("confidence"),
                    context=request.get("context"),
                )
            except REFUSALS as error:
                raise refuse(mixture, request, error) from error
            return as_json(plain_prediction(prediction))

        quick = not is_wide(request)
        return Reply(await self.registry.read(live, look, quick=quick))

    async def summary(self, call: Call) -> Reply:
        """Compare the blend with its experts and with plain combinations."""
        live = self.registry.find(call.name)
        async with live.summing:  # whoever asks meanwhile gets the same summary
            if live.summary is None or live.mixture is None or live.summary[0] != live.sequence:
                live.summary = await self._from_log(self._of_state(live, _summary))
            return Reply(live.summary[1])

    async def _of_state(self, live: LiveMixture, call: Callable[[Mixture], T]) -> tuple[int, T]:
        """Return the last event of a mixture, and a function of its state that takes long."""
        if not live.small:
            return await self.registry.of_state(live, call)
        copy, sequence = await self.registry.copy(live)
        return sequence, await self.registry.export(live, call, copy)

    async def pending(self, call: Call) -> Reply:
        """List rounds that wait for their outcomes, by ticket."""
        live, query = self.registry.find(call.name), call.query_params
        begin = _number(query, "after", 0)
        after = -1 if begin is None else int(begin)
        limit = int(_number(query, "limit", 1, 10_000) or 10_000)

        def work(mixture: Mixture) -> bytes:
            ids = {ticket: text for text, ticket in mixture.ids.items()}
            rows: list[bytes] = []
            size, last, more = 0, after, False
            for ticket in mixture.pending:
                if ticket <= after:
                    continue
                if more := len(rows) == limit or size > self.registry.limits.answer:
                    break
                row: dict[str, Any] = {"ticket": ticket, "time": live.delays.made.get(ticket)}
                if ticket in ids:
                    row["id"] = msgspec.Raw(ids[ticket].encode())
                rows.append(as_json(row))
                size, last = size + len(rows[-1]), ticket
            return b'{"pending":[%b],"next":%b}' % (
                b",".join(rows),
                as_json(last if more else None),
            )

        few = live.mixture is not None and len(live.mixture.pending) <= FEW
        return Reply(await self.registry.read(live, work, quick=few))

    async def alarms(self, call: Call) -> Reply:
        """List the alarms of all mixtures, the newest first."""
        by_id = self.registry.by_id
        numbers = None
        if call.holder.mixtures is not None:
            numbers = [k for k, live in by_id.items() if call.holder.sees(live.row.name)]
        return await self._alarms(call, numbers)

    async def mixture_alarms(self, call: Call) -> Reply:
        """List the alarms of a mixture, the newest first."""
        return await self._alarms(call, [self.registry.find(call.name).row.id])

    async def _alarms(self, call: Call, numbers: list[int] | None) -> Reply:
        before = _number(call.query_params, "before", 1)
        limit = int(_number(call.query_params, "limit", 1, 1000) or 100)
        rows = await self._from_log(self.registry.in_thread(
            self.registry.storage.alarms, numbers, None if before is None else int(before), limit
        ))  # fmt: skip
        by_id = self.registry.by_id
        return Reply(as_json({"alarms": [
            alarm_form(row, by_id[row.mixture].row.name if row.mixture in by_id else None)
            for row in rows
        ]}))  # fmt: skip

    async def history(self, call: Call) -> Reply:
        """Return settled rounds with their weights and losses, by range of time."""
        live = self.registry.find(call.name)
        query = call.query_params
        since, until = _number(query, "since"), _number(query, "until")
        limit = int(_number(query, "limit", 1, 10_000) or 500)
        try:
            place = Place.of(query["before"]) if "before" in query else END
        except ValueError:
            raise Problem(422, "before must be the 'next' of an earlier answer") from None
        loss = await self.registry.read(live, lambda mixture: mixture.settings.loss)
        limits = PastLimits(limit, self.registry.limits.answer, since, until)
        arguments = (live.row.id, loss, limits, place)
        if limit <= FEW_ROUNDS and live.small and since is None and until is None:
            storage = self.registry.storage
            work = self.registry.at_work(past_rounds, storage, *arguments, quick=True)
        else:
            work = self.registry.aside(live, past_rounds, *arguments)
        rounds, before = await self._from_log(work)
        rest = {"loss_name": str(loss), "next": None if before is None else str(before)}
        return Reply(b'{"rounds":[%b],%b' % (b",".join(rounds), as_json(rest)[1:]))

    async def state(self, call: Call) -> Reply:
        """Export the state, in the format of Mixture.save."""
        live = self.registry.find(call.name)
        sequence = _number(call.query_params, "sequence", 0)
        if sequence is None:
            _, text = await self._from_log(self._of_state(live, recovery.state_text))
        else:
            work = self.registry.aside(live, _text_at, live.row.id, int(sequence))
            text = await self._from_log(work)
        name = f'attachment; filename="{live.row.name}.json"'
        return Reply(text, headers={"content-disposition": name})

    async def log(self, call: Call) -> StreamedReply:
        """Export the log as lines that 'normalhedge blend -' replays to the same numbers."""
        live = self.registry.find(call.name)
        after = int(_number(call.query_params, "after", 0) or 0)
        whole = call.query_params.get("events") == "true"
        return StreamedReply(
            self._exported(live, after, call.holder, whole=whole), media_type=LINES
        )

    async def _exported(
        self, live: LiveMixture, after: int, holder: Holder, *, whole: bool
    ) -> AsyncIterator[bytes]:
        while True:
            work = self.registry.aside(live, _part, live.row.id, after, holder.scope, whole)
            part, after = await self._from_log(work)
            if not part:
                return
            yield part

    async def changes(self, call: Call) -> StreamedReply:
        """Export the changes of the list of mixtures: who created, renamed or deleted one."""
        after = int(_number(call.query_params, "after", 0) or 0)
        return StreamedReply(self._changes(after, call.holder), media_type=LINES)

    async def _changes(self, after: int, holder: Holder) -> AsyncIterator[bytes]:
        storage = self.registry.storage
        while events := await self._from_log(self.registry.at_work(storage.events, 0, after)):
            after = events[-1].sequence
            for event in events:
                body = json.loads(event.body)
                told = {"sequence": event.sequence, "time": event.time, "kind": event.kind}
                sender = _sender(event.sender, holder.scope)
                yield as_json(told | {"change": body} | sender) + b"\n"

    async def _from_log(self, work: Awaitable[T]) -> T:
        """Return the result of work that reads the log."""
        try:
            return await work
        except (StorageFailure, DamagedLog) as error:
            raise unavailable() from error
        except LookupError as error:
            raise Problem(404, str(error.args[0])) from error

    async def metrics(self, call: Call) -> Reply:
        """Return numbers for Prometheus."""
        names = list(filter(call.holder.sees, self.registry.names))
        healths = [health async for health in self._healths(names)]
        text = await self.numbers.text(healths)
        return Reply(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def openapi(self, call: Call) -> Reply:
        """Return this document."""
        del call
        return Reply(self.document)


def _text_at(storage: Storage, mixture: int, sequence: int) -> str:
    """Return the state after an event; for 0, the oldest from which the log can be replayed."""
    if not sequence:
        sequence = storage.snapshots(mixture)[-1]
    return recovery.state_text(recovery.state_at(storage, mixture, sequence))


def _part(
    storage: Storage,
    mixture: int,
    after: int,
    scope: str,
    whole: bool,  # noqa: FBT001
) -> tuple[bytes, int]:
    """Return the next part of an export, and the last event that is in it."""
    events = storage.events(mixture, after)
    if not events:
        return b"", after
    lines = [
        line for event in events for line in (_whole(event, scope) if whole else _lines(event))
    ]
    return b"\n".join([*lines, b""]), events[-1].sequence


def _whole(event: Event, scope: str) -> list[bytes]:
    """Return the line of an event with its answer, which both are JSON already."""
    plain = event._asdict()
    plain["digest"] = None if event.digest is None else event.digest.hex()
    plain |= {name: msgspec.Raw(plain[name].encode()) for name in ("body", "answer")}
    plain |= _sender(plain.pop("sender"), scope)
    return [as_json(plain)]


def _lines(event: Event) -> list[bytes]:
    """Return the lines of a stream that ask for the operations of an event."""
    return [as_json(line_of(operation)) for operation in recovery.operations_of(event)]


def line_of(operation: Operation) -> dict[str, Any]:
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


def _sender(text: str | None, scope: str) -> dict[str, Any]:
    """Return the sender of an event, for administrators only: it has the addresses of others."""
    return {"sender": json.loads(text)} if text and scope == "admin" else {}


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


def _summary(mixture: Mixture) -> str:
    return as_json(summary_form(mixture.summary())).decode()


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
        "coverage": coverage_rows(summary.covered),
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


def _number(query: QueryParams, name: str, low: float = -1e15, high: float = 1e15) -> float | None:
    """Return a number of the query of an address; None if it is not there."""
    text = query.get(name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise Problem(422, f"{name} must be a number from {low:g} to {high:g}")
    return value
