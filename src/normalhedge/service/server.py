"""The server: a service put together, behind uvicorn."""

import asyncio
import gc
import signal
import socket
import ssl
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import Receive, Scope, Send

import normalhedge
from normalhedge.boundary.terminal import counted
from normalhedge.service import _logs as logs
from normalhedge.service._alarms import Alarms
from normalhedge.service._broadcast import Broadcast
from normalhedge.service._changes import Changes
from normalhedge.service._compaction import compact_daily
from normalhedge.service._connections import patient
from normalhedge.service._directory import Directory
from normalhedge.service._forms import as_json
from normalhedge.service._health import Readiness
from normalhedge.service._http import Application
from normalhedge.service._kinds import KINDS
from normalhedge.service._metrics import Metrics
from normalhedge.service._open import OpenAnswers
from normalhedge.service._openapi import document
from normalhedge.service._overview import Overview
from normalhedge.service._problems import InUseError, Problem, StorageFailure
from normalhedge.service._registry import Registry
from normalhedge.service._routes import Served, health_routes, page_routes, routes
from normalhedge.service._sqlite import SQLite
from normalhedge.service._storage import Storage
from normalhedge.service._telling import target_of
from normalhedge.service._views import Views
from normalhedge.service.access import Access, read_tokens
from normalhedge.service.settings import Settings, read_settings

WAIT = 0.5  # the seconds between two attempts to take a database over
LOOK = 0.4  # the seconds between two looks at files that may be replaced: tokens, certificates


def storage_of(db: str, seconds: float = Settings.db_seconds) -> Storage:
    """Return the database of an address, whose statements take so long at most, or of a file."""
    if db.startswith(("postgresql://", "postgres://")):
        from normalhedge.service._postgres import PostgreSQL  # noqa: PLC0415 -- its own extra

        return PostgreSQL(db, seconds)
    return SQLite(Path(db))


class Service:
    """A database, the registry of its mixtures, and the application that answers for them."""

    def __init__(self, storage: Storage, settings: Settings) -> None:
        limits = settings.limits
        tokens = None if settings.token_file is None else Path(settings.token_file)
        self.storage = storage
        self.settings = settings
        self.access = Access(limits, tokens, settings.hosts)
        self.answers = OpenAnswers(self.access)
        self.target = target_of(
            settings.alarm_url, settings.alarm_secret_file, settings.alarm_command
        )
        self.owned = asyncio.Event()  # whether this process owns the database
        self.application = Application(self.answers, limits, self._observe, self._lifespan)
        self._stopping = asyncio.Event()
        self._rest()

    def _rest(self) -> None:
        """Be as before the start."""
        self.registry: Registry | None = None
        self.alarms: Alarms | None = None
        self._health = Readiness(self._why_not)
        self._waiting = "this server has not started: its ASGI server must run the lifespan"
        self._observed: Callable[[str, str, int, float], None] = lambda *_: None
        self._standing_by: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.application.answer_at(health_routes(self._health), elsewhere=self._refuse)

    def _why_not(self) -> str:
        """Return why requests are not answered; empty if they are."""
        return "the server stops" if self._stopping.is_set() else self._waiting

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request that came before this process owns the database."""
        del scope, receive, send
        raise Problem(503, self._why_not(), {"retry-after": "1"})

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Own the database, or wait for it if the settings say so; give it up at the end."""
        loop = asyncio.get_running_loop()
        self.owned, self._stopping = asyncio.Event(), asyncio.Event()
        self.answers.begin()
        try:
            try:
                await asyncio.to_thread(self.storage.open)
            except InUseError as error:
                if not self.settings.wait:
                    raise
                logs.info("waiting", sentence=str(error))
                self._waiting = f"this server stands by: {error}"
                self._standing_by = loop.create_task(self._stand_by())
            else:
                await self._take_over()
            self._tasks.append(loop.create_task(self._watch_tokens()))
            yield
        finally:
            await self._stop()
            self._rest()

    @asynccontextmanager
    async def _lifespan(self, application: Any) -> AsyncIterator[None]:
        """Do the same below another server."""
        del application
        async with self.running():
            yield

    async def _stand_by(self) -> None:
        """Take the database over as soon as its owner has gone."""
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(WAIT):
                    await self._stopping.wait()
                    return
            try:
                await asyncio.to_thread(self.storage.open)
                await self._take_over()
                return
            except InUseError as error:
                sentence = f"this server stands by: {error}"
            except (ValueError, StorageFailure) as error:
                sentence = f"this server cannot take the database over: {error}"
                await asyncio.to_thread(self.storage.close)
                if sentence != self._waiting:
                    logs.error("waiting", sentence=str(error))
            self._waiting = sentence

    async def _take_over(self) -> None:
        """Answer for the database, which this process owns from now on."""
        limits = self.settings.limits
        registry = Registry(self.storage, limits)
        broadcast = Broadcast(registry)
        registry.on_written, registry.on_renamed = broadcast.tell, self.answers.follow
        alarms = Alarms(registry, self.target)
        alarms.on_changed = broadcast.tell_alarm
        metrics = Metrics(registry, alarms, lambda: broadcast.count, self._health)
        overview, directory = Overview(registry, metrics), Directory(registry)
        kinds = [
            Served(kind, Changes(registry, directory, kind), Views(registry, kind))
            for kind in KINDS
        ]
        described = routes(overview, broadcast, self._health, kinds)
        overview.document = as_json(document(described))
        await registry.start()
        alarms.start()
        self.alarms = alarms
        self.registry = self._health.registry = registry
        self._observed = metrics.observe
        self._waiting = ""
        self.application.answer_at(described, page_routes())
        keeping = compact_daily(registry, self.settings.keep_days)
        self._tasks.append(asyncio.get_running_loop().create_task(keeping))
        self.owned.set()

    async def _watch_tokens(self) -> None:
        """Notice tokens that are new, removed or expired."""
        while self.settings.token_file is not None:
            await asyncio.sleep(LOOK)
            await asyncio.to_thread(self.access.read_again)
            self.answers.end_refused()

    def _observe(self, route: str, mixture: str, status: int, seconds: float) -> None:
        """Count a request, and write a line about it."""
        self._observed(route, mixture, status, seconds)
        if self.settings.log_requests:
            known = self.registry is not None and mixture in self.registry.names
            names = {"mixture": mixture} if known else {}
            logs.info("request", route=route, status=status, seconds=round(seconds, 6), **names)

    def begin_stop(self) -> None:
        """End the answers that stay open: they would keep the server from stopping."""
        self._stopping.set()
        self.answers.end_all()

    async def _stop(self) -> None:
        """Write all that was begun, and give the database up."""
        self.begin_stop()
        if self._standing_by is not None:
            await self._standing_by
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.alarms is not None:
            await self.alarms.stop()
        if self.registry is not None:
            await self.registry.stop()
        await asyncio.to_thread(self.storage.close)


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
    service = Service(storage, settings)
    async with service.running():
        listening = await _listening(service)
        with closing(listening):
            await _serve(service, listening, on_started)
    logs.info("stopped")


async def _listening(service: Service) -> socket.socket:
    """Return a socket that listens; a stand-by waits for the port, too, if it is taken."""
    try:
        return _socket(service.settings)
    except ValueError:
        if service.owned.is_set():
            raise
    await service.owned.wait()
    return _socket(service.settings)


async def _serve(
    service: Service,
    listening: socket.socket,
    on_started: Callable[[str, Callable[[], None]], None],
) -> None:
    loop, settings = asyncio.get_running_loop(), service.settings
    config = uvicorn.Config(
        service.application,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        proxy_headers=bool(settings.trust_proxy),
        forwarded_allow_ips=list(settings.trust_proxy),
        timeout_keep_alive=75,
        timeout_graceful_shutdown=max(1, round(settings.stop_seconds)),
        http=patient(settings.limits.header_seconds, settings.limits.connections),
        ws="none",
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        ssl_ca_certs=settings.tls_client_ca,
        ssl_cert_reqs=ssl.CERT_REQUIRED if settings.tls_client_ca else ssl.CERT_NONE,
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
    scheme = "http" if settings.tls_cert is None else "https"
    url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
    serving = loop.create_task(server.serve(sockets=[listening]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.005)
    tasks = [loop.create_task(_tell(service, url)), loop.create_task(_renew(config, settings))]
    if server.started:
        on_started(url, stop)
    try:
        await serving
    finally:
        for task in tasks:
            task.cancel()


async def _tell(service: Service, url: str) -> None:
    """Write a line as soon as mixtures can be used."""
    if not service.owned.is_set():
        logs.info("standing by", url=url)
    await service.owned.wait()
    assert service.registry is not None
    logs.info("started", url=url, db=_shown(service.settings.db),
              mixtures=len(service.registry.names), version=normalhedge.__version__)  # fmt: skip


async def _renew(config: uvicorn.Config, settings: Settings) -> None:
    """Use a certificate that was renewed, for connections from then on."""
    if settings.tls_cert is None:
        return
    paths = [Path(path) for path in (settings.tls_cert, settings.tls_key) if path is not None]
    before = [path.read_bytes() for path in paths]
    while True:
        await asyncio.sleep(LOOK)
        try:
            now = [path.read_bytes() for path in paths]
            if now != before:
                before = now
                assert config.ssl is not None
                config.ssl.load_cert_chain(settings.tls_cert, settings.tls_key)
                logs.info("certificate", sentence=f"{settings.tls_cert} is used from now on")
        except (OSError, ValueError) as error:  # an error of SSL is one of the system
            logs.error("certificate", sentence=f"{settings.tls_cert} is not used: {error}")


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


def app(settings: Settings | None = None) -> Application:
    """Return the service as an application of ASGI, for other servers and for middleware.

    The server must run its lifespan, in which it owns the database, with one worker. Without
    settings, they come from the environment.
    """
    settings = read_settings(None) if settings is None else settings
    settings.check()
    return Service(storage_of(settings.db, settings.db_seconds), settings).application


def serve(settings: Settings) -> None:
    """Open the database and serve until a signal asks to stop."""
    settings.check()
    warnings.simplefilter("ignore", RuntimeWarning)  # forecasts of clients, not faults of ours
    sys.setswitchinterval(0.0001)  # threads hand over quickly: one waits for the disk
    gc.freeze()
    _run(run(settings, storage_of(settings.db, settings.db_seconds)))


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
    storage = storage_of(settings.db, settings.db_seconds)
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
