"""The server: a service put together, behind uvicorn."""

import asyncio
import gc
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

import normalhedge
from normalhedge.boundary.terminal import counted
from normalhedge.service import _logs as logs
from normalhedge.service._alarms import Alarms
from normalhedge.service._broadcast import Broadcast
from normalhedge.service._changes import Changes
from normalhedge.service._compaction import compact_daily
from normalhedge.service._connections import patient
from normalhedge.service._forms import as_json
from normalhedge.service._http import Application
from normalhedge.service._metrics import Metrics
from normalhedge.service._openapi import document
from normalhedge.service._problems import InUseError
from normalhedge.service._registry import Registry
from normalhedge.service._routes import page_routes, routes
from normalhedge.service._sqlite import SQLite
from normalhedge.service._storage import Storage
from normalhedge.service._telling import target_of
from normalhedge.service._views import Views
from normalhedge.service.access import Access, read_tokens
from normalhedge.service.settings import Settings

WAIT = 0.5  # the seconds between two attempts to take a database over


def storage_of(db: str) -> Storage:
    """Return the database of an address or of a file."""
    if db.startswith(("postgresql://", "postgres://")):
        from normalhedge.service._postgres import PostgreSQL  # noqa: PLC0415 -- its own extra

        return PostgreSQL(db)
    return SQLite(Path(db))


class Service:
    """A registry with all that answers for it; made in the event loop."""

    def __init__(self, storage: Storage, settings: Settings) -> None:
        limits = settings.limits
        tokens = None if settings.token_file is None else Path(settings.token_file)
        access = Access(limits, tokens, settings.hosts)
        self.registry = Registry(storage, limits)
        self.broadcast = Broadcast(self.registry)
        self.registry.on_written = self.broadcast.tell
        target = target_of(settings.alarm_url, settings.alarm_secret_file, settings.alarm_command)
        self.alarms = Alarms(self.registry, target)
        self.alarms.on_changed = self.broadcast.tell_alarm
        self.metrics = Metrics(self.registry, self.alarms, lambda: self.broadcast.count)
        self.views = Views(self.registry, self.metrics)
        described = routes(Changes(self.registry), self.views, self.broadcast)
        self.views.document = as_json(document(described))
        observe = self._observe if settings.log_requests else self.metrics.observe
        self.application = Application(described, page_routes(), access, limits, observe)

    def _observe(self, route: str, mixture: str, status: int, seconds: float) -> None:
        """Count a request, and write a line about it."""
        self.metrics.observe(route, mixture, status, seconds)
        names = {"mixture": mixture} if mixture in self.registry.names else {}
        logs.info("request", route=route, status=status, seconds=round(seconds, 6), **names)

    def begin_stop(self) -> None:
        """Disconnect listeners: they would keep the server from stopping."""
        self.views.stopping = True
        self.broadcast.close()


class _Server(uvicorn.Server):
    """A server that leaves signals alone: uvicorn would raise them again before all is written."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def run(
    settings: Settings,
    storage: Storage,
    on_started: Callable[[str, Callable[[], None]], None] = lambda *_: None,
) -> None:
    """Serve until a signal asks to stop."""
    loop = asyncio.get_running_loop()
    service = Service(storage, settings)
    await service.registry.start()
    service.alarms.start()
    listening = _socket(settings)
    config = uvicorn.Config(
        service.application,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        proxy_headers=False,  # the token names the sender, not a header
        timeout_keep_alive=75,
        timeout_graceful_shutdown=max(1, round(settings.stop_seconds)),
        limit_concurrency=settings.limits.connections,
        http=patient(settings.limits.header_seconds),
        ws="none",
    )
    logs.take_over("uvicorn")
    server = _Server(config)

    def stop() -> None:
        server.force_exit = server.should_exit  # asked twice: do not wait for anybody
        server.should_exit = True
        loop.call_soon_threadsafe(service.begin_stop)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop())
    host, port = listening.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    compacting = loop.create_task(compact_daily(service.registry, settings.keep_days))
    serving = loop.create_task(server.serve(sockets=[listening]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.005)
    if server.started:
        logs.info("started", url=url, db=_shown(settings.db), mixtures=len(service.registry.names),
                  version=normalhedge.__version__)  # fmt: skip
        on_started(url, stop)
    try:
        await serving
    finally:
        service.begin_stop()
        compacting.cancel()
        await service.alarms.stop()
        await service.registry.stop()
        logs.info("stopped")


def _socket(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        raise ValueError(
            f"cannot listen on {settings.host}, port {settings.port}: {error.strerror or error}"
        ) from None
    listening.listen(2048)
    listening.set_inheritable(True)
    return listening


def _shown(db: str) -> str:
    """Return the address of a database without its password."""
    before, at, after = db.rpartition("@")
    if not at or "://" not in before:
        return db
    return f"{before.partition('://')[0]}://...@{after}"


def serve(settings: Settings) -> None:
    """Open the database and serve until a signal asks to stop."""
    settings.check()
    warnings.simplefilter("ignore", RuntimeWarning)  # forecasts of clients, not faults of ours
    storage = storage_of(settings.db)
    _open(storage, wait=settings.wait)
    try:
        sys.setswitchinterval(0.0005)  # threads hand over quickly: one waits for the disk
        gc.freeze()
        _run(run(settings, storage))
    finally:
        storage.close()


def _open(storage: Storage, *, wait: bool) -> None:
    """Become the owner of a database, or wait until that is possible."""
    announced = False
    while True:
        try:
            storage.open()
            return
        except InUseError as error:
            if not wait:
                raise
            if not announced:
                logs.info("waiting", sentence=str(error))
                announced = True
            time.sleep(WAIT)


def _run(main: Any) -> None:
    try:
        import uvloop  # noqa: PLC0415 -- not on all systems
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


def check(settings: Settings) -> list[str]:
    """Return sentences about settings, database and port; raise a ValueError if one is wrong."""
    settings.check()
    sentences = []
    storage = storage_of(settings.db)
    storage.open()
    try:
        rows = [row for row in storage.mixtures() if row.deleted is None]
        sentences.append(
            f"{_shown(settings.db)} can be used: {counted(len(rows), 'mixture')}, "
            f"{storage.last_sequence()} events"
        )
    finally:
        storage.close()
    if settings.token_file is not None:
        sentences.append(f"{len(read_tokens(Path(settings.token_file)))} tokens")
    _socket(settings).close()
    return [*sentences, f"{settings.host}, port {settings.port}, is free"]
