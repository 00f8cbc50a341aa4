"""Is the process there, and can requests be written: ``/healthz`` and ``/readyz``."""

import asyncio
import time
from collections.abc import Callable

import normalhedge
from normalhedge.service._calls import Call, Reply
from normalhedge.service._forms import ServerState, as_json
from normalhedge.service._problems import StorageFailure
from normalhedge.service._registry import Registry

FRESH = 1.0  # a request that was written in the last seconds shows that others can be, too
PATIENCE = 2.0  # for how many seconds the database may take to write


class Readiness:
    """The handlers of the routes of health, which answer before there is a registry."""

    def __init__(self, waiting: Callable[[], str]) -> None:
        self.registry: Registry | None = None
        self.known = ""  # what the last look found
        self._waiting = waiting
        self._trying: asyncio.Task[None] | None = None  # the last attempt to write
        self._begun = 0.0

    async def healthz(self, call: Call) -> Reply:
        """Tell that the process answers."""
        del call
        return Reply(as_json(ServerState(ok=True, version=normalhedge.__version__)))

    async def readyz(self, call: Call) -> Reply:
        """Tell whether requests can be written to the database, by writing to it."""
        del call
        trouble = await self.trouble()
        state = ServerState(ok=not trouble, version=normalhedge.__version__)
        if trouble:
            state.error = trouble
        return Reply(as_json(state), 503 if trouble else 200)

    async def trouble(self) -> str:
        """Return why requests cannot be written; empty if they can."""
        self.known = await self._look()
        return self.known

    async def _look(self) -> str:
        registry, waiting = self.registry, self._waiting()
        if waiting or registry is None:
            return waiting
        if not registry.ready:
            return "the database cannot be used"
        if time.monotonic() - registry.committer.written < FRESH:
            return ""
        if self._trying is None or (self._trying.done() and time.monotonic() - self._begun > FRESH):
            # No more often: anybody may ask, and each attempt is a write of the disk.
            self._begun = time.monotonic()
            self._trying = asyncio.create_task(registry.try_to_write())
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.shield(self._trying)
        except TimeoutError:
            return f"the database has not written anything for {PATIENCE:g} seconds"
        except StorageFailure as error:
            return f"the database cannot be written: {error}"
        return ""
