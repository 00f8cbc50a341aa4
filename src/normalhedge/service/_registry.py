"""Changes of mixtures: every one goes through here, and into the log."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from normalhedge.live.line_stream import REFUSALS, refusal
from normalhedge.service import _memory as memory
from normalhedge.service._keys import Change, once
from normalhedge.service._live import SMALL, Answered, Live, Loaded
from normalhedge.service._problems import Kind, Problem, unavailable
from normalhedge.service._recovery import compressed_state, is_repeatable
from normalhedge.service._senders import described
from normalhedge.service._storage import Event

LONG, SLOW = 0.004, 0.03
"""Work that takes longer than LONG seconds is done in a thread, so that others go on; work that
takes longer than SLOW in a thread where it delays other slow work only."""

Requests = Sequence[dict[str, Any] | Problem]
"""Several requests; a problem stands for one that could not be read."""

_encode = msgspec.json.Encoder().encode


class Worked(NamedTuple):
    """The result of a request."""

    answer: str  # as JSON
    state: bytes | None  # the state after it, if the request cannot be repeated


class Registry(memory.Memory):
    """The mixtures of a service, and the only way to change them."""

    replayed = 0

    async def change(
        self,
        live: Live,
        kind: str,
        request: dict[str, Any] | Requests,
        key: str | None = None,
    ) -> Answered:
        """Do a request, write it to the log, and return the answer."""
        if key is None or isinstance(request, dict):
            change = Change.of(kind, request, key)
        else:
            change = await self.at_work(Change.of, kind, request, key)
        answered = await once(self, live, change, lambda: self._change(live, change))
        self.replayed += answered.replayed
        return answered

    async def _change(self, live: Live, change: Change) -> Answered:
        request = change.content
        self.check_ready()
        takes = live.cost * (1 if isinstance(request, dict) else len(request))
        corrects = _corrects(request)
        long = takes > LONG or corrects or live.kind.is_wide(request)
        if long or live.object is None or live.turn.locked():
            async with live.turn:
                mixture = await self.load(live)
                if long:
                    again = mixture.settings.history if corrects else 1  # rounds are played again
                    quick = takes * again < SLOW
                    worked = await self._work_in_thread(live, mixture, request, quick=quick)
                else:
                    worked = self._work(live, live.loaded(), request)
                text, future = self._log(live, change, worked)
        else:
            worked = self._work(live, live.loaded(), request)
            text, future = self._log(live, change, worked)
        if future is not None:
            await future
        return Answered(text)

    async def _work_in_thread(
        self,
        live: Live,
        mixture: Any,
        request: dict[str, Any] | Requests,
        *,
        quick: bool,
    ) -> Worked:
        """Let the mixture answer in a thread; refuse if the database failed meanwhile."""
        try:
            worked = await self.at_work(self._work, live, live.loaded(), request, quick=quick)
        except Problem:
            if live.object is mixture and self.ready:
                raise
            live.unload()
            raise unavailable() from None
        if live.object is not mixture or not self.ready:
            live.unload()
            raise unavailable()
        return worked

    def _work(self, live: Live, loaded: Loaded, request: dict[str, Any] | Requests) -> Worked:
        """Let the mixture answer; its operations are in ``loaded.done``.

        The mixture may be unloaded while this runs in a thread: only ``loaded`` is used.
        """
        begun = time.thread_time()  # a busy machine does not make it long
        loaded.done.clear()
        many = 1
        try:
            if isinstance(request, dict):
                answer: dict[str, Any] = {}
                try:
                    self._do(loaded, request, answer)
                except REFUSALS as error:
                    raise refuse(loaded.object, request, error) from error
                text = _encode(answer)
            else:
                many = len(request)
                text = self._answer_all(loaded, request)
            # The snapshot after a change that cannot be repeated is kept as long as its event.
            state = None
            if not is_repeatable(loaded.done):
                state = compressed_state(loaded.object)
        except BaseException:
            if loaded.done:  # it is ahead of the log, and will be loaded again
                live.unload()
            raise
        live.cost += 0.1 * ((time.thread_time() - begun) / max(many, 1) - live.cost)
        return Worked(text.decode(), state)

    def _answer_all(self, loaded: Loaded, requests: Requests) -> bytes:
        """Answer several requests, until the answers have become too long."""
        parts: list[bytes] = []
        size, most = 0, self.limits.answer
        for request in requests:
            if size > most:
                request = Problem(  # noqa: PLW2901
                    422,
                    f"this was not done: the answers to this request have {size:,} bytes already, "
                    f"and one answer has at most {most:,}; send the rest in another request",
                )
            parts.append(_encode(self._part(loaded, request)))
            size += len(parts[-1])
        return b'{"answers":[%b]}' % b",".join(parts)

    def _part(self, loaded: Loaded, request: dict[str, Any] | Problem) -> dict[str, Any]:
        """Answer one of several requests; a refusal is part of the answer."""
        answer: dict[str, Any] = {}
        try:
            if isinstance(request, Problem):
                raise request
            self._do(loaded, request, answer)
        except Problem as problem:
            answer["error"] = problem.sentence
        except REFUSALS as error:
            answer["error"] = refusal(error)
        return answer

    def _do(self, loaded: Loaded, request: dict[str, Any], answer: dict[str, Any]) -> None:
        """Do a line of a stream, within the limits of the server."""
        loaded.kind.check(loaded.object, request, self.limits)
        loaded.stream.reply(request, answer)

    def _log(
        self, live: Live, change: Change, worked: Worked
    ) -> "tuple[str, asyncio.Future[None] | None]":
        """Hand the operations over to the log; return the answer, and when it may be sent."""
        done = live.done
        try:
            text = worked.answer
            if not done:
                return text, None
            body = _encode(done[0] if isinstance(change.content, dict) else done).decode()
            now, committer = time.time(), self.committer
            sequence = committer.next_sequence()
            event = Event(
                sequence, live.row.id, now, change.kind, change.key, change.digest, body, text,
                len(done), live.note(done, now), described(),
            )  # fmt: skip
            live.sequence = sequence
            live.since += len(done)
            snapshot = None
            if worked.state is not None:
                snapshot = live.snapshot_row(worked.state, kept=True)
            elif live.since >= memory.SNAPSHOT_EVERY and live.row.id not in self.snapshots:
                if live.size > SMALL:  # in a thread, while the mixture goes on
                    self.snapshot_aside(live)
                else:
                    snapshot = live.snapshot_row(compressed_state(live.object), kept=False)
            self.weigh(live)
        except BaseException:
            live.unload()  # it is ahead of the log
            raise
        live.unwritten += 1
        return text, committer.write(event, snapshot)


def _corrects(request: dict[str, Any] | Requests) -> bool:
    """Tell whether a request corrects an outcome: rounds are then played again."""
    if isinstance(request, dict):
        return "correct" in request
    return any(isinstance(part, dict) and "correct" in part for part in request)


def refuse(thing: Any, request: dict[str, Any], error: Exception) -> Problem:
    """Return the answer to a request that the mixture or the router refused."""
    status = 409 if "waits for its outcome already" in str(error) else 422
    kind: Kind = "type" if isinstance(error, TypeError) else "value"
    if isinstance(error, LookupError):
        ticket, kind = request.get("ticket"), "key"
        status = 409 if isinstance(ticket, int) and 0 <= ticket < thing.next_ticket else 404
    return Problem(status, refusal(error), kind=kind)
