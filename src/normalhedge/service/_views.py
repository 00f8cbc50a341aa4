"""Answers to requests that only read about one mixture or router, or list them."""

import json
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, TypeVar

import msgspec

from normalhedge.live.line_stream import REFUSALS
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.streams import plain_prediction
from normalhedge.service import _recovery as recovery
from normalhedge.service._calls import JSON, LINES, Call, Reply, StreamedReply
from normalhedge.service._forms import as_json, as_line, decode
from normalhedge.service._kind import Kind
from normalhedge.service._kinds import kind_of_object
from normalhedge.service._live import Live
from normalhedge.service._mixture_forms import PeekRequest
from normalhedge.service._mixture_kind import check_forecasts
from normalhedge.service._overview import alarm_page, from_log, healths, number_of, sender_of
from normalhedge.service._past import END, PastLimits, Place, past_rounds
from normalhedge.service._problems import Problem, unavailable
from normalhedge.service._registry import Registry, refuse
from normalhedge.service._storage import Event, Storage
from normalhedge.service.access import Holder

T = TypeVar("T")

FEW = 500  # rounds that are listed at once
FEW_ROUNDS = 100  # rounds of a short page of history


class Views:
    """The handlers of requests that only read about the mixtures, or the routers, of a service."""

    def __init__(self, registry: Registry, kind: Kind) -> None:
        self.registry = registry
        self.kind = kind

    def _find(self, call: Call) -> Live:
        """Return the object of a request."""
        return self.registry.find(call.name, self.kind)

    async def all(self, call: Call) -> Reply:
        """List them with their health, by name."""
        query = call.query_params
        after, limit = query.get("after", ""), int(number_of(query, "limit", 1, 1000) or 1000)
        names = [
            name
            for name, live in sorted(self.registry.names.items())
            if name > after and live.kind is self.kind and call.holder.sees(name)
        ]
        found = [health async for health in healths(self.registry, names[:limit])]
        following = names[limit - 1] if len(names) > limit else None
        return Reply(as_json({self.kind.words: found, "time": time.time(), "next": following}))

    async def one(self, call: Call) -> Reply:
        """Return it with its settings and its parts."""
        live = self._find(call)
        details = await self.registry.read(live, self.kind.details)
        now = time.time()
        if live.object is None:  # the database failed meanwhile
            raise unavailable()
        details |= {
            "settings": self.kind.settings(json.loads(live.row.options)),
            "next_ticket": live.object.next_ticket,
            "sequence": live.sequence,
        }
        return Reply(as_json(live.health(now) | details))

    async def peek(self, call: Call) -> Reply:
        """Return the prediction that forecasts would get; nothing changes."""
        call.require(JSON)
        live = self._find(call)
        request = as_line(decode(await call.content(), PeekRequest))

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

        quick = not self.kind.is_wide(request)
        return Reply(await self.registry.read(live, look, quick=quick))

    async def summary(self, call: Call) -> Reply:
        """Return its summary, as tables and as text."""
        live = self._find(call)
        async with live.summing:  # whoever asks meanwhile gets the same summary
            if live.summary is None or live.object is None or live.summary[0] != live.sequence:
                live.summary = await from_log(self._of_state(live, _summary))
            return Reply(live.summary[1])

    async def _of_state(self, live: Live, call: Callable[[Any], T]) -> tuple[int, T]:
        """Return the last event of an object, and a function of its state that takes long."""
        if not live.small:
            return await self.registry.of_state(live, call)
        copy, sequence = await self.registry.copy(live)
        return sequence, await self.registry.export(live, call, copy)

    async def pending(self, call: Call) -> Reply:
        """List rounds that wait for their outcomes, by ticket."""
        live, query = self._find(call), call.query_params
        begin = number_of(query, "after", 0)
        after = -1 if begin is None else int(begin)
        limit = int(number_of(query, "limit", 1, 10_000) or 10_000)

        def work(thing: Any) -> bytes:
            ids = {ticket: text for text, ticket in getattr(thing, "ids", {}).items()}
            rows: list[bytes] = []
            size, last, more = 0, after, False
            for ticket in thing.pending:
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

        few = live.object is not None and len(live.object.pending) <= FEW
        return Reply(await self.registry.read(live, work, quick=few))

    async def alarms(self, call: Call) -> Reply:
        """List its alarms, the newest first."""
        return await alarm_page(self.registry, call, [self._find(call).row.id])

    async def history(self, call: Call) -> Reply:
        """Return settled rounds with their weights and losses, by range of time."""
        live = self._find(call)
        query = call.query_params
        since, until = number_of(query, "since"), number_of(query, "until")
        limit = int(number_of(query, "limit", 1, 10_000) or 500)
        try:
            place = Place.of(query["before"]) if "before" in query else END
        except ValueError:
            raise Problem(422, "before must be the 'next' of an earlier answer") from None
        loss = await self.registry.read(live, self.kind.loss)
        limits = PastLimits(limit, self.registry.limits.answer, since, until)
        arguments = (live.row.id, loss, limits, place)
        if limit <= FEW_ROUNDS and live.small and since is None and until is None:
            storage = self.registry.storage
            work = self.registry.at_work(past_rounds, storage, *arguments, quick=True)
        else:
            work = self.registry.aside(live, past_rounds, *arguments)
        rounds, before = await from_log(work)
        rest: dict[str, Any] = {} if loss is None else {"loss_name": str(loss)}
        rest["next"] = None if before is None else str(before)
        return Reply(b'{"rounds":[%b],%b' % (b",".join(rounds), as_json(rest)[1:]))

    async def state(self, call: Call) -> Reply:
        """Export the state, in the format in which Python saves it."""
        live = self._find(call)
        sequence = number_of(call.query_params, "sequence", 0)
        if sequence is None:
            _, text = await from_log(self._of_state(live, recovery.state_text))
        else:
            text = await from_log(self.registry.aside(live, _text_at, live.row.id, int(sequence)))
        name = f'attachment; filename="{live.row.name}.json"'
        return Reply(text, headers={"content-disposition": name})

    async def log(self, call: Call) -> StreamedReply:
        """Export the log as lines that the command line replays to the same numbers."""
        live = self._find(call)
        after = int(number_of(call.query_params, "after", 0) or 0)
        whole = call.query_params.get("events") == "true"
        return StreamedReply(
            self._exported(live, after, call.holder, whole=whole), media_type=LINES
        )

    async def _exported(
        self, live: Live, after: int, holder: Holder, *, whole: bool
    ) -> AsyncIterator[bytes]:
        while True:
            form = partial(_whole, holder) if whole else partial(_lines, self.kind)
            part, after = await from_log(self.registry.aside(live, _part, live.row.id, after, form))
            if not part:
                return
            yield part


def _summary(thing: Any) -> str:
    """Return the summary of a mixture or a router, as JSON."""
    return as_json(kind_of_object(thing).summary(thing)).decode()


def _text_at(storage: Storage, number: int, sequence: int) -> str:
    """Return the state after an event; for 0, the oldest from which the log can be replayed."""
    if not sequence:
        sequence = storage.snapshots(number)[-1]
    return recovery.state_text(recovery.state_at(storage, number, sequence))


def _part(
    storage: Storage, number: int, after: int, form: Callable[[Event], list[bytes]]
) -> tuple[bytes, int]:
    """Return the next part of an export, and the last event that is in it."""
    events = storage.events(number, after)
    if not events:
        return b"", after
    lines = [line for event in events for line in form(event)]
    return b"\n".join([*lines, b""]), events[-1].sequence


def _lines(kind: Kind, event: Event) -> list[bytes]:
    """Return the lines of a stream that ask for the operations of an event."""
    return [as_json(kind.line_of(done)) for done in recovery.operations_of(event)]


def _whole(holder: Holder, event: Event) -> list[bytes]:
    """Return the line of an event with its answer, which both are JSON already."""
    plain = event._asdict()
    plain["digest"] = None if event.digest is None else event.digest.hex()
    plain |= {name: msgspec.Raw(plain[name].encode()) for name in ("body", "answer")}
    plain |= sender_of(plain.pop("sender"), holder)
    return [as_json(plain)]
