"""The list of mixtures: create, rename and delete them. Memory follows when it is on the disk."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from normalhedge.mixtures import Mixture
from normalhedge.service._keys import digest_of, once
from normalhedge.service._limits import check_name
from normalhedge.service._live import Answered, LiveMixture
from normalhedge.service._memory import Memory
from normalhedge.service._problems import Problem
from normalhedge.service._recovery import compressed_state
from normalhedge.service._storage import Event, MixtureRow, SnapshotRow

_encode = msgspec.json.Encoder().encode


class Directory:
    """The changes of the list of mixtures."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._reserved: set[str] = set()
        self._log = LiveMixture(MixtureRow(0, "", 0.0, ""))

    async def create(
        self,
        name: str,
        options: dict[str, Any],
        mixture: Mixture,
        key: str | None = None,
        kind: str = "create",
    ) -> Answered:
        """Create a mixture; refuse a name that is taken."""
        body = {kind: check_name(name), "options": options}

        async def work() -> Answered:
            memory, most = self.memory, self.memory.limits.mixtures
            if len(memory.names) >= most:
                raise Problem(422, f"this server has at most {most} mixtures")
            row = MixtureRow(memory.next_id, name, time.time(), _encode(options).decode())
            memory.next_id += 1
            state = await memory.in_thread(compressed_state, mixture)
            return await self._write_row(
                kind, body | {"id": row.id}, row, key, lambda: self._add(row), state
            )

        return await self._change(kind, body, key, name, work)

    async def rename(self, old: str, name: str, key: str | None = None) -> Answered:
        """Give a mixture another name."""
        body = {"rename": [old, check_name(name)]}

        async def work() -> Answered:
            live = self.memory.find(old)
            async with live.turn:
                self._check_present(live)
                row = live.row._replace(name=name)
                return await self._write_row(
                    "rename", body, row, key, lambda: self._renamed(live, row)
                )

        return await self._change("rename", body, key, name, work)

    async def delete(self, name: str, key: str | None = None) -> Answered:
        """Delete a mixture; its events stay in the database until the log is compacted."""
        body = {"delete": name}

        async def work() -> Answered:
            live = self.memory.find(name)
            async with live.turn:
                self._check_present(live)
                row = live.row._replace(deleted=time.time())
                return await self._write_row("delete", body, row, key, lambda: self._removed(live))

        return await self._change("delete", body, key, None, work)

    async def _change(
        self,
        kind: str,
        body: dict[str, Any],
        key: str | None,
        name: str | None,
        work: Callable[[], Awaitable[Answered]],
    ) -> Answered:
        """Do work, once for each key, with a new name that nobody else can take meanwhile."""

        async def reserved() -> Answered:
            self.memory.check_ready()
            if name is None:
                return await work()
            if name in self.memory.names or name in self._reserved:
                raise Problem(409, f"there is a mixture {name!r} already")
            self._reserved.add(name)
            try:
                return await work()
            finally:
                self._reserved.discard(name)

        if key is None:
            return await reserved()
        return await once(self.memory, self._log, key, digest_of(kind, body), reserved)

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
        committer, now = self.memory.committer, time.time()
        sequence = committer.next_sequence()
        answer = _encode({"name": row.name, "created": row.created, "sequence": sequence}).decode()
        plain = {name: value for name, value in body.items() if name != "id"}
        digest = None if key is None else digest_of(kind, plain)
        event = Event(sequence, 0, now, kind, key, digest, _encode(body).decode(), answer, 0, None)
        snapshot = None
        if state is not None:
            snapshot = SnapshotRow(row.id, sequence, state, kept=True, previous=0)
        await committer.write(event, snapshot, row)
        then()
        return Answered(answer)

    def _add(self, row: MixtureRow) -> None:
        self.memory.by_id[row.id] = self.memory.names[row.name] = LiveMixture(row)

    def _renamed(self, live: LiveMixture, row: MixtureRow) -> None:
        del self.memory.names[live.row.name]
        live.row = row
        self.memory.names[row.name] = live

    def _removed(self, live: LiveMixture) -> None:
        live.gone = True
        live.unload()
        del self.memory.names[live.row.name], self.memory.by_id[live.row.id]

    def _check_present(self, live: LiveMixture) -> None:
        if live.gone:
            raise Problem(404, f"there is no mixture {live.row.name!r}")
