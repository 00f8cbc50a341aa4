"""All mixtures of a service: every change of one goes through here, and into the log."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec

from normalhedge.mixtures import Mixture
from normalhedge.mixtures.stream import REFUSALS, refusal
from normalhedge.service import logs
from normalhedge.service.committer import Committer
from normalhedge.service.limits import Limits, check_forecasts, check_name
from normalhedge.service.live import Answered, Live
from normalhedge.service.problems import DamagedLog, Problem, StorageFailure, unavailable
from normalhedge.service.recovery import compressed_state, must_be_kept, recover
from normalhedge.service.storage import Batch, Event, MixtureRow, SnapshotRow, Storage

T = TypeVar("T")

SNAPSHOT_EVERY = 1000
"""A snapshot is made after this many operations on a mixture."""

LONG = 0.004
"""Work that takes longer than this many seconds is done in a thread, so that others go on."""

THREADS = 4
"""The number of threads for work that takes long, and for reading."""

Requests = Sequence[dict[str, Any] | Problem]
"""Several requests; a problem stands for one that could not be read."""

_encode = msgspec.json.Encoder().encode


class Registry:
    """The mixtures of a service by name, and the only way to change them.

    Parameters
    ----------
    storage
        The database, which is open.
    limits
        The limits.
    on_written
        Called with events when they are on the disk.

    Attributes
    ----------
    names, by_id
        The mixtures by name and by number.
    ready
        Whether the database can be used.
    """

    def __init__(
        self,
        storage: Storage,
        limits: Limits,
        on_written: Callable[[list[Event]], None] = lambda _: None,
    ) -> None:
        self.storage = storage
        self.limits = limits
        self.names: dict[str, Live] = {}
        self.by_id: dict[int, Live] = {}
        self.ready = True
        self.replayed = 0
        self.failures = 0
        self._reserved: set[str] = set()
        self._directory = Live(MixtureRow(0, "", 0.0, ""))
        self._next_id = 1
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(THREADS, "worker")
        self._recovering: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._told = on_written
        self.committer = Committer(storage, self._on_written, self._on_failure)

    async def start(self) -> None:
        """Read the list of mixtures."""
        await self._read_directory()
        self._warming = self._loop.create_task(self.warm())

    async def _read_directory(self) -> None:
        """Read the list of mixtures, and forget the states of those that are known."""
        rows = await self.in_thread(self.storage.mixtures)
        last = await self.in_thread(self.storage.last_sequence)
        before = self.by_id
        self.by_id, self.names = {}, {}
        for row in rows:
            if row.deleted is None:
                # Requests that wait hold the old object: there must be one of each mixture only.
                live = before.pop(row.id, None) or Live(row)
                live.row = row
                live.unload()
                self.by_id[row.id] = self.names[row.name] = live
        for live in before.values():
            live.gone = True
            live.unload()
        self._next_id = max((row.id for row in rows), default=0) + 1
        self.committer.sequence = max(self.committer.sequence, last)

    async def stop(self) -> None:
        """Finish what was begun, write snapshots that make the next start quick, and stop."""
        await self.committer.drain()
        for task in (self._recovering, self._warming):
            if task is not None:
                task.cancel()
        try:
            rows = await self.in_thread(self._last_snapshots)
            if rows and self.ready:
                await self.committer.in_turn(self.storage.append, Batch([], rows))
        except StorageFailure as error:
            logs.error("storage", sentence=str(error))
        self.committer.close()
        self._pool.shutdown()

    def _last_snapshots(self) -> list[SnapshotRow]:
        """Return snapshots of the mixtures whose replay would take long."""
        return [
            SnapshotRow(
                live.row.id,
                live.sequence,
                compressed_state(live.mixture),
                kept=False,
                previous=live.snapshot,
            )
            for live in self.by_id.values()
            if live.mixture is not None and live.since > SNAPSHOT_EVERY // 2
        ]

    async def warm(self) -> None:
        """Load all mixtures, one after the other, while requests are answered."""
        for live in list(self.by_id.values())[: self.limits.loaded]:
            try:
                async with live.turn:
                    await self.load(live)
            except Problem:
                if self.ready and not live.gone:
                    logs.error("load", mixture=live.row.name)
            await asyncio.sleep(0)

    async def in_thread(self, call: Callable[..., T], *given: Any) -> T:
        """Call a function in a thread.

        Parameters
        ----------
        call
            The function.
        *given
            Its arguments.
        """
        return await self._loop.run_in_executor(self._pool, call, *given)

    def find(self, name: str) -> Live:
        """Return a mixture; raise a problem if there is none of this name."""
        live = self.names.get(name)
        if live is None:
            raise Problem(404, f"there is no mixture {name[:100]!r}")
        return live

    async def load(self, live: Live) -> Mixture:
        """Return the mixture, and load it if it is not in memory. Its turn must be held."""
        if live.mixture is None:
            self.check_ready()
            while live.unwritten:  # the log does not have its last events yet
                await self.committer.drain()
            if live.gone:
                raise Problem(404, f"there is no mixture {live.row.name!r}")
            try:
                found = await self.in_thread(recover, self.storage, live.row.id)
            except StorageFailure as error:
                self._failed(error, set())
                raise unavailable() from error
            except DamagedLog as error:
                logs.error("damaged", mixture=live.row.name, sentence=str(error))
                raise Problem(
                    503, "the log of this mixture is damaged; the log of the server says where"
                ) from error
            live.take(found)
            self._unload_idle()
        assert live.mixture is not None
        return live.mixture

    def _unload_idle(self) -> None:
        """Keep no more mixtures in memory than the limit says."""
        loaded = [live for live in self.by_id.values() if live.mixture is not None]
        spare = len(loaded) - self.limits.loaded
        if spare > 0:
            loaded.sort(key=lambda live: max(live.last_forecast or 0, live.last_outcome or 0))
            idle = [one for one in loaded if not one.unwritten and not one.turn.locked()]
            for live in idle[:spare]:
                live.unload()

    def check_ready(self) -> None:
        """Raise a problem if the database cannot be used."""
        if not self.ready:
            raise unavailable()

    async def read(self, live: Live, call: Callable[[Mixture], T]) -> T:
        """Return what a function of a mixture says, in a thread, while the mixture rests.

        Parameters
        ----------
        live
            The mixture.
        call
            The function, which must not change it.
        """
        async with live.turn:
            mixture = await self.load(live)
            return await self.in_thread(call, mixture)

    async def change(
        self,
        live: Live,
        kind: str,
        request: dict[str, Any] | Requests,
        key: str | None = None,
    ) -> Answered:
        """Do what a request asks, write it to the log, and return the answer.

        Parameters
        ----------
        live
            The mixture.
        kind
            The kind of the event.
        request
            A line of a stream, as an object; or several, whose refusals are part of the answer.
        key
            The idempotency key.
        """
        if key is None:
            return await self._change(live, kind, request, None, None)
        digest = digest_of(kind, request)
        return await self._once(
            live, key, digest, lambda: self._change(live, kind, request, key, digest)
        )

    async def _once(self, live: Live, key: str, digest: bytes, work: Callable[[], Any]) -> Answered:
        """Do work unless it was done with the same key; then return its answer."""
        running = live.in_flight.get(key)
        if running is not None:
            _check_digest(digest, running[0])
            return (await asyncio.shield(running[1]))._replace(replayed=True)
        future: asyncio.Future[Answered] = self._loop.create_future()
        live.in_flight[key] = digest, future
        try:
            self.check_ready()
            event = await self._event_by_key(live.row.id, key)
            if event is not None:
                _check_digest(digest, event.digest)
                self.replayed += 1
                answered = Answered(event.answer, replayed=True)
            else:
                answered = await work()
        except BaseException as error:
            told = error if isinstance(error, Exception) else unavailable()
            future.set_exception(told)
            future.exception()  # it was looked at: others may not be waiting
            raise
        else:
            future.set_result(answered)
            return answered
        finally:
            del live.in_flight[key]

    async def _event_by_key(self, mixture: int, key: str) -> Event | None:
        try:
            if self.storage.lookups_are_quick:
                return self.storage.event_by_key(mixture, key)
            return await self.in_thread(self.storage.event_by_key, mixture, key)
        except StorageFailure as error:
            self._failed(error, set())
            raise unavailable() from error

    async def _change(
        self,
        live: Live,
        kind: str,
        request: dict[str, Any] | Requests,
        key: str | None,
        digest: bytes | None,
    ) -> Answered:
        if not self.ready:
            raise unavailable()
        many = 1 if isinstance(request, dict) else len(request)
        long = live.cost * many > LONG or kind == "correct"
        if long or live.mixture is None or live.turn.locked():
            async with live.turn:
                mixture = await self.load(live)
                if long:
                    answer = await self.in_thread(self._work, live, request)
                    if live.mixture is not mixture or not self.ready:  # it failed meanwhile
                        live.unload()
                        raise unavailable()
                else:
                    answer = self._work(live, request)
                written = self._log(live, kind, key, digest, answer, request)
        else:
            answer = self._work(live, request)
            written = self._log(live, kind, key, digest, answer, request)
        text, future = written
        if future is not None:
            await future
        return Answered(text)

    def _work(self, live: Live, request: dict[str, Any] | Requests) -> Any:
        """Let the mixture answer; what it does is in ``live.done``."""
        stream, begun = live.stream, time.perf_counter()
        assert stream is not None
        live.done.clear()
        if isinstance(request, dict):
            many, answer = 1, self._reply(live, request)
        else:
            many, answer = len(request), {"answers": [self._part(live, part) for part in request]}
        live.cost += 0.1 * ((time.perf_counter() - begun) / max(many, 1) - live.cost)
        return answer

    def _reply(self, live: Live, request: dict[str, Any]) -> dict[str, Any]:
        assert live.stream is not None
        assert live.mixture is not None
        if "forecasts" in request:
            check_forecasts(live.mixture, request["forecasts"], self.limits)
        answer: dict[str, Any] = {}
        try:
            live.stream.reply(request, answer)
        except REFUSALS as error:
            raise refused(live.mixture, request, error) from error
        return answer

    def _part(self, live: Live, request: dict[str, Any] | Problem) -> dict[str, Any]:
        """Answer one of several requests; a refusal is part of the answer."""
        assert live.stream is not None
        assert live.mixture is not None
        answer: dict[str, Any] = {}
        if isinstance(request, Problem):
            return {"error": request.sentence}
        try:
            if "outcome" not in request or "forecasts" in request:
                forecasts = request.get("forecasts", request)
                check_forecasts(live.mixture, forecasts, self.limits)
            live.stream.reply(request, answer)
        except Problem as problem:
            answer["error"] = problem.sentence
        except REFUSALS as error:
            answer["error"] = refusal(error)
        return answer

    def _log(
        self,
        live: Live,
        kind: str,
        key: str | None,
        digest: bytes | None,
        answer: Any,
        request: Any,
    ) -> "tuple[str, asyncio.Future[None] | None]":
        """Hand what was done over to the log; return the answer, and when it may be sent."""
        done, mixture = live.done, live.mixture
        assert mixture is not None
        try:
            text = _encode(answer).decode()
            if not done:
                return text, None
            body = _encode(done[0] if isinstance(request, dict) else done).decode()
            now, committer = time.time(), self.committer
            sequence = committer.next_sequence()
            event = Event(
                sequence, live.row.id, now, kind, key, digest, body, text, len(done),
                live.note(done, now),
            )  # fmt: skip
            live.sequence = sequence
            live.since += len(done)
            snapshot = None
            kept = must_be_kept(done)
            if kept or live.since >= SNAPSHOT_EVERY:
                snapshot = SnapshotRow(
                    live.row.id, sequence, compressed_state(mixture), kept, live.snapshot
                )
                live.snapshot, live.since = sequence, 0
        except BaseException:
            live.unload()  # it is ahead of the log
            raise
        live.unwritten += 1
        return text, committer.write(event, snapshot)

    async def create(
        self,
        name: str,
        options: dict[str, Any],
        mixture: Mixture,
        key: str | None = None,
        kind: str = "create",
    ) -> Answered:
        """Create a mixture; refuse a name that is taken.

        Parameters
        ----------
        name
            Its name.
        options
            The arguments of `Mixture`; those of an import are its settings.
        mixture
            The mixture.
        key
            The idempotency key.
        kind
            ``create`` or ``import``.
        """
        body = {kind: check_name(name), "options": options}

        async def work() -> Answered:
            if name in self.names or name in self._reserved:
                raise Problem(409, f"there is a mixture {name!r} already")
            if len(self.names) >= self.limits.mixtures:
                raise Problem(422, f"this server has at most {self.limits.mixtures} mixtures")
            row = MixtureRow(self._next_id, name, time.time(), _encode(options).decode())
            self._next_id += 1
            state = await self.in_thread(compressed_state, mixture)
            return await self._write_row(
                kind, body | {"id": row.id}, row, key, lambda: self._add(row), state
            )

        return await self._directory_change(kind, body, key, {name}, work)

    async def rename(self, old: str, name: str, key: str | None = None) -> Answered:
        """Give a mixture another name.

        Parameters
        ----------
        old, name
            The present name and the new one.
        key
            The idempotency key.
        """
        body = {"rename": [old, check_name(name)]}

        async def work() -> Answered:
            live = self.find(old)
            if name in self.names or name in self._reserved:
                raise Problem(409, f"there is a mixture {name!r} already")
            async with live.turn:
                self._check_present(live)
                row = live.row._replace(name=name)
                return await self._write_row(
                    "rename", body, row, key, lambda: self._renamed(live, row)
                )

        return await self._directory_change("rename", body, key, {name}, work)

    async def delete(self, name: str, key: str | None = None) -> Answered:
        """Delete a mixture; its events stay in the database until the log is compacted.

        Parameters
        ----------
        name
            Its name.
        key
            The idempotency key.
        """
        body = {"delete": name}

        async def work() -> Answered:
            live = self.find(name)
            async with live.turn:
                self._check_present(live)
                row = live.row._replace(deleted=time.time())
                return await self._write_row("delete", body, row, key, lambda: self._removed(live))

        return await self._directory_change("delete", body, key, set(), work)

    async def _directory_change(
        self,
        kind: str,
        body: dict[str, Any],
        key: str | None,
        names: set[str],
        work: Callable[[], Any],
    ) -> Answered:
        async def reserved() -> Answered:
            self.check_ready()
            taken = names & self._reserved
            if taken:
                raise Problem(409, f"a mixture {taken.pop()!r} is being made already")
            done: Answered = await work()
            return done

        if key is None:
            return await reserved()
        return await self._once(self._directory, key, digest_of(kind, body), reserved)

    async def _write_row(
        self,
        kind: str,
        body: dict[str, Any],
        row: MixtureRow,
        key: str | None,
        then: Callable[[], None],
        state: bytes | None = None,
    ) -> Answered:
        """Write a change of the list of mixtures; do it in memory when it is on the disk."""
        sequence, now = self.committer.next_sequence(), time.time()
        answer = _encode({"name": row.name, "created": row.created, "sequence": sequence}).decode()
        plain = {name: value for name, value in body.items() if name != "id"}
        digest = None if key is None else digest_of(kind, plain)
        event = Event(sequence, 0, now, kind, key, digest, _encode(body).decode(), answer, 0, None)
        snapshot = None
        if state is not None:
            snapshot = SnapshotRow(row.id, sequence, state, kept=True, previous=0)
        self._reserved.add(row.name)
        try:
            await self.committer.write(event, snapshot, row)
        finally:
            self._reserved.discard(row.name)
        then()
        return Answered(answer)

    def _add(self, row: MixtureRow) -> None:
        self.by_id[row.id] = self.names[row.name] = Live(row)

    def _renamed(self, live: Live, row: MixtureRow) -> None:
        del self.names[live.row.name]
        live.row = row
        self.names[row.name] = live

    def _removed(self, live: Live) -> None:
        live.gone = True
        live.unload()
        del self.names[live.row.name], self.by_id[live.row.id]

    def _check_present(self, live: Live) -> None:
        if live.gone:
            raise Problem(404, f"there is no mixture {live.row.name!r}")

    def _on_written(self, events: list[Event]) -> None:
        for event in events:
            live = self.by_id.get(event.mixture)
            if live is not None:
                live.unwritten -= 1
        self._told(events)

    def _on_failure(self, failure: StorageFailure, lost: set[int]) -> None:
        self._failed(failure, lost)

    def _failed(self, failure: StorageFailure, lost: set[int]) -> None:
        """Forget states that are ahead of the log, and try to use the database again."""
        self.failures += 1
        logs.error("storage", sentence=str(failure), mixtures=len(lost))
        for live in list(self.by_id.values()) if failure.lost else map(self.by_id.get, lost):
            if live is not None:
                live.unload()
                live.unwritten = 0
        self.ready = False
        if self._recovering is None or self._recovering.done():
            self._recovering = self._loop.create_task(self._recover())

    async def _recover(self) -> None:
        """Wait until the database can be used."""
        pause = 0.05
        while True:
            try:
                owned = await self.committer.in_turn(self.storage.reopen)
                last = await self.in_thread(self.storage.last_sequence)
                if not owned:
                    await self._read_directory()
                break
            except StorageFailure as error:
                logs.error("storage", sentence=str(error))
                await asyncio.sleep(pause)
                pause = min(2 * pause, 2.0)
        self.committer.sequence = max(self.committer.sequence, last)
        self.ready = True
        logs.info("storage", sentence="the database can be used again")


def digest_of(kind: str, request: Any) -> bytes:
    """Return the digest of a request: the same for the same content in another order or spacing.

    Parameters
    ----------
    kind
        The kind of the event.
    request
        The request.
    """
    return blake2b(_sorted([kind, request]), digest_size=16).digest()


_sorted = msgspec.json.Encoder(order="sorted").encode


def _check_digest(given: bytes, known: bytes | None) -> None:
    if given != known:
        raise Problem(
            409, "this Idempotency-Key was used for another request: choose a new key for each"
        )


def refused(mixture: Mixture, request: dict[str, Any], error: Exception) -> Problem:
    """Return the answer to a request that the mixture refused.

    Parameters
    ----------
    mixture
        The mixture.
    request
        The request.
    error
        Why it was refused.
    """
    status = 422
    if isinstance(error, KeyError):
        ticket = request.get("ticket")
        status = 409 if isinstance(ticket, int) and 0 <= ticket < mixture.next_ticket else 404
    elif "waits for its outcome already" in str(error):
        status = 409
    return Problem(status, refusal(error))
