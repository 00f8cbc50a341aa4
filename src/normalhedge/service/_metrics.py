"""Numbers for Prometheus."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from threading import Lock
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.utils import floatToGoString

from normalhedge.mixtures.alerts import KINDS as ALERTS
from normalhedge.service._alarms import KINDS, Alarms
from normalhedge.service._health import Readiness
from normalhedge.service._kind import COMMON
from normalhedge.service._kinds import KINDS as OBJECTS
from normalhedge.service._latencies import BUCKETS, Latencies
from normalhedge.service._registry import Registry


class Metrics:
    """The numbers of a service."""

    def __init__(
        self, registry: Registry, alarms: Alarms, listeners: Callable[[], int], health: Readiness
    ) -> None:
        self._registry = registry
        self._alarms = alarms
        self._listeners = listeners
        self._healths: Iterable[dict[str, Any]] = ()
        self._turn = Lock()
        self._health = health
        self._all = CollectorRegistry(auto_describe=False)
        self._requests: Counter[tuple[str, int]] = Counter()  # by route and status
        self._latencies: dict[str, Latencies] = {}  # by route
        self._by_mixture: dict[str, tuple[int, float]] = {}
        self._all.register(self)
        ProcessCollector(registry=self._all)

    def observe(self, route: str, mixture: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests[route, status] += 1
        latencies = self._latencies.get(route)
        if latencies is None:
            latencies = self._latencies[route] = Latencies()
        latencies.add(seconds)
        if status < 400 and mixture in self._registry.names:
            count, total = self._by_mixture.get(mixture, (0, 0.0))
            self._by_mixture[mixture] = count + 1, total + seconds
            if len(self._by_mixture) > 2 * len(self._registry.names):  # many were deleted
                names = self._registry.names
                self._by_mixture = {k: v for k, v in self._by_mixture.items() if k in names}

    async def text(self, healths: Iterable[dict[str, Any]] = ()) -> bytes:
        """Return the numbers of the server, and of mixtures from their health."""
        await self._health.trouble()
        return await self._registry.in_thread(self._text, healths)

    def _text(self, healths: Iterable[dict[str, Any]]) -> bytes:
        with self._turn:
            self._healths = healths
            return generate_latest(self._all)

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers that are read when they are asked for."""
        registry, committer = self._registry, self._registry.committer
        for name, text, value in (
            ("ready", "Whether the database can be written.", float(not self._health.known)),
            (
                "mixtures_damaged",
                "Mixtures and routers whose log is damaged.",
                len(registry.damaged),
            ),
            ("alarms_untold", "Alarms that nobody took yet.", len(self._alarms.untold)),
            ("listeners", "Connections that listen to events.", self._listeners()),
        ):
            yield GaugeMetricFamily(f"normalhedge_{name}", text, value)
        counts = Counter(live.kind.word for live in list(registry.by_id.values()))
        for kind in OBJECTS:
            yield GaugeMetricFamily(
                f"normalhedge_{kind.words}", f"{kind.words.title()}.", counts[kind.word]
            )
        for name, text, count in (
            ("commits", "Transactions.", committer.batches),
            ("events", "Events written to the log.", committer.events),
            ("replays", "Requests answered from the log by their key.", registry.replayed),
            ("alarm_failures", "Attempts to tell an alarm that failed.", self._alarms.failures),
            ("storage_failures", "Failures of the database.", registry.failures),
        ):
            yield CounterMetricFamily(f"normalhedge_{name}", text, count)
        begun = CounterMetricFamily("normalhedge_alarms", "Alarms that began.", labels=["kind"])
        for alarm in KINDS:
            begun.add_metric([alarm], self._alarms.found[alarm])
        yield begun
        yield from self._by_route()
        yield from self._of_objects()

    def _by_route(self) -> Iterator[Metric]:
        """Yield the numbers of requests."""
        requests = CounterMetricFamily(
            "normalhedge_requests", "Requests by route and status.", labels=["route", "status"]
        )
        for (route, status), count in list(self._requests.items()):
            requests.add_metric([route, str(status)], count)
        yield requests
        seconds = HistogramMetricFamily(
            "normalhedge_request_seconds", "Latency of requests by route.", labels=["route"]
        )
        for route, latencies in list(self._latencies.items()):
            _add_latencies(seconds, [route], latencies)
        yield seconds
        commits = HistogramMetricFamily("normalhedge_commit_seconds", "Duration of transactions.")
        _add_latencies(commits, [], self._registry.committer.latencies)
        yield commits

    def _of_objects(self) -> Iterator[Metric]:
        """Yield the numbers of each mixture and router, as far as it is loaded."""
        tables: dict[str, dict[str, Any]] = {
            kind.word: {
                name: family(f"normalhedge_{kind.word}_{name}", text, labels=[kind.word, *labels])
                for family, name, text, *labels in (*COMMON, *kind.metrics)
            }
            for kind in OBJECTS
        }
        for numbers in self._healths:
            name = numbers["name"]
            live = self._registry.names.get(name)
            if live is None:
                continue
            families = tables[live.kind.word]
            numbers["damaged"] = float(live.row.id in self._registry.damaged)
            if numbers.get("plain_mean_loss"):
                numbers["loss_ratio"] = numbers["loss"] / numbers["plain_mean_loss"]
            if name in self._by_mixture:
                numbers["requests"], numbers["request_seconds"] = self._by_mixture[name]
            for row in numbers.pop("coverage", ()):
                if row["covered"] is not None:
                    families["coverage"].add_metric([name, f"{row['level']:g}"], row["covered"])
            _add_alerts(families.get("alerts"), name, numbers.pop("alerts", None))
            for key, family in families.items():
                if numbers.get(key) is not None:
                    family.add_metric([name], numbers[key])
        for families in tables.values():
            yield from families.values()


EDGES = [*map(floatToGoString, BUCKETS), "+Inf"]


def _add_latencies(family: Any, labels: list[str], latencies: Latencies) -> None:
    """Add a histogram."""
    below = zip(EDGES, accumulate(latencies.count), strict=True)
    family.add_metric(labels, list(below), latencies.sum)


def _add_alerts(family: Any, name: str, alerts: list[dict[str, Any]] | None) -> None:
    """Add the numbers of alerts of a loaded mixture, by kind."""
    if alerts is not None:
        kinds = [alert["kind"] for alert in alerts]
        for kind in ALERTS:
            family.add_metric([name, kind], kinds.count(kind))
