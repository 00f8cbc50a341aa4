"""The list of mixtures and routers: create, rename, delete. Memory follows what is on the disk."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from hashlib import blake2b
from typing import Any
from weakref import WeakValueDictionary

import msgspec

from normalhedge.service._keys import Change, once
from normalhedge.service._kind import Kind
from normalhedge.service._limits import check_name
from normalhedge.service._live import Answered, Live
from normalhedge.service._memory import Memory
from normalhedge.service._problems import Problem, no_object
from normalhedge.service._recovery import compressed_state
from normalhedge.service._senders import described
from normalhedge.service._storage import Event, MixtureRow, SnapshotRow

_encode = msgspec.json.Encoder().encode


class Directory:
    """The changes of the list of mixtures."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._names: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._log = Live(MixtureRow(0, "", 0.0, ""))

    async def create(
        self,
        name: str,
        options: dict[str, Any],
        thing: Any,
        key: str | None = None,
        kind: str = "create",
    ) -> Answered:
        """Create a mixture; refuse a name that is taken."""
        state = await self.memory.at_work(compressed_state, thing)
        content = {kind: check_name(name), "options": options}
        if kind == "import":  # the key stands for this state, and no other
            content["state"] = blake2b(state, digest_size=16).hexdigest()
        change = Change.of(kind, content, key)

        async def work() -> Answered:
            memory, most = self.memory, self.memory.limits.mixtures
            if len(memory.names) >= most:
                raise Problem(422, f"this server has at most {most} mixtures and routers")
            row = MixtureRow(memory.next_id, name, time.time(), _encode(options).decode())
            memory.next_id += 1
            return await self._write(change, row, change.content | {"id": row.id}, state)

        return await self._change(change, name, work)

    async def rename(self, kind: Kind, old: str, name: str, key: str | None = None) -> Answered:
        """Give a mixture another name."""
        change = Change.of("rename", {"rename": [old, check_name(name)]}, key)

        async def work() -> Answered:
            async with self._turn(old, kind) as live:
                return await self._write(change, live.row._replace(name=name), change.content)

        return await self._change(change, name, work)

    async def delete(self, kind: Kind, name: str, key: str | None = None) -> Answered:
        """Delete a mixture; its events stay in the database until the log is compacted."""
        change = Change.of("delete", {"delete": name}, key)

        async def work() -> Answered:
            async with self._turn(name, kind) as live:
                row = live.row._replace(deleted=time.time())
                return await self._write(change, row, change.content)

        return await self._change(change, None, work)

    @asynccontextmanager
    async def _turn(self, name: str, kind: Kind) -> AsyncIterator[Live]:
        """Hold the turn of a mixture that is still there."""
        live = self.memory.find(name, kind)
        async with live.turn:
            if live.gone:
                raise no_object(name, kind.word)
            yield live

    async def _change(
        self, change: Change, name: str | None, work: Callable[[], Awaitable[Answered]]
    ) -> Answered:
        """Do work, once for each key, with a new name that nobody else can take meanwhile."""

        async def reserve() -> Answered:
            # Another request for the name may be on its way to the disk: its success decides.
            lock = nullcontext() if name is None else self._names.setdefault(name, asyncio.Lock())
            async with lock:
                self.memory.check_ready()
                if name in self.memory.names:
                    word = self.memory.names[name].kind.word
                    raise Problem(409, f"there is a {word} {name!r} already")
                return await work()

        return await once(self.memory, self._log, change, reserve)

    async def _write(
        self, change: Change, row: MixtureRow, body: dict[str, Any], state: bytes | None = None
    ) -> Answered:
        """Write a change of the list of mixtures; memory follows when it is on the disk."""
        committer, now = self.memory.committer, time.time()
        sequence = committer.next_sequence()
        answer = _encode({"name": row.name, "created": row.created, "sequence": sequence}).decode()
        event = Event(
            sequence, 0, now, change.kind, change.key, change.digest, _encode(body).decode(),
            answer, 0, None, described(),
        )  # fmt: skip
        snapshot = None
        if state is not None:
            snapshot = SnapshotRow(row.id, sequence, state, kept=True, previous=0)
        await committer.write(event, snapshot, row)
        self.memory.follow(row)
        return Answered(answer)
