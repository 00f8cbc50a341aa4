"""Numbers for Prometheus."""

import time
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from normalhedge.service._registry import Registry

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""The edges of the histogram of latencies, in seconds."""


class Metrics:
    """The numbers of a service."""

    def __init__(self, registry: Registry, listeners: Callable[[], int]) -> None:
        self._registry = registry
        self._listeners = listeners
        self._sees: Callable[[str], bool] = lambda _: True
        self._all = CollectorRegistry(auto_describe=False)
        self._requests = Counter(
            "normalhedge_requests", "Requests by route and status.", ["route", "status"],
            registry=self._all,
        )  # fmt: skip
        self._seconds = Histogram(
            "normalhedge_request_seconds", "Latency of requests by route.", ["route"],
            buckets=BUCKETS, registry=self._all,
        )  # fmt: skip
        self._by_mixture: dict[str, tuple[int, float]] = {}
        self._children: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._all.register(self)

    def observe(self, route: str, mixture: str, status: int, seconds: float) -> None:
        """Count a request."""
        found = self._children.get((route, status))
        if found is None:
            found = self._requests.labels(route, str(status)), self._seconds.labels(route)
            self._children[route, status] = found
        found[0].inc()
        found[1].observe(seconds)
        if status < 400 and mixture in self._registry.names:
            count, total = self._by_mixture.get(mixture, (0, 0.0))
            self._by_mixture[mixture] = count + 1, total + seconds

    def text(self, sees: Callable[[str], bool] = lambda _: True) -> bytes:
        """Return the numbers of the mixtures that a token may see."""
        self._sees = sees
        return generate_latest(self._all)

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers that are read when they are asked for."""
        registry, now = self._registry, time.time()
        committer = registry.committer
        for name, said, value in (
            ("ready", "Whether the database can be used.", float(registry.ready)),
            ("mixtures", "Mixtures.", len(registry.names)),
            ("listeners", "Connections that listen to events.", self._listeners()),
        ):
            yield GaugeMetricFamily(f"normalhedge_{name}", said, value)
        for name, said, count in (
            ("commits", "Transactions.", committer.batches),
            ("events", "Events written to the log.", committer.events),
            ("replays", "Requests answered from the log by their key.", registry.replayed),
            ("storage_failures", "Failures of the database.", registry.failures),
        ):
            yield CounterMetricFamily(f"normalhedge_{name}", said, count)
        yield from self._mixtures(now)

    def _mixtures(self, now: float) -> Iterator[Metric]:
        """Yield the numbers of each mixture that is loaded."""
        label = ["mixture"]
        gauges = {
            name: GaugeMetricFamily(f"normalhedge_mixture_{name}", said, labels=label)
            for name, said in (
                ("experts", "Experts."),
                ("rounds", "Rounds that were predicted."),
                ("settled", "Rows with an outcome."),
                ("pending", "Rounds that wait for their outcomes."),
                ("expired", "Rounds that were given up."),
                ("overdue", "Outcomes that take much longer than the last ones did."),
                ("last_forecast", "When the last round was predicted."),
                ("last_outcome", "When the last outcome came."),
            )
        }
        ratio = GaugeMetricFamily(
            "normalhedge_mixture_loss_ratio", "Loss of the blend to that of the plain mean.",
            labels=label,
        )  # fmt: skip
        coverage = GaugeMetricFamily(
            "normalhedge_mixture_coverage", "Share of outcomes that intervals cover.",
            labels=["mixture", "level"],
        )  # fmt: skip
        count = CounterMetricFamily(
            "normalhedge_mixture_requests", "Requests that succeeded.", labels=label
        )
        total = CounterMetricFamily(
            "normalhedge_mixture_request_seconds", "Seconds that they took.", labels=label
        )
        names = self._registry.names
        self._by_mixture = {k: v for k, v in self._by_mixture.items() if k in names}
        for name, live in names.items():
            if not self._sees(name):
                continue
            asked = self._by_mixture.get(name)
            if asked is not None:
                count.add_metric([name], asked[0])
                total.add_metric([name], asked[1])
            health = live.health(now)
            for key, gauge in gauges.items():
                if health.get(key) is not None:
                    gauge.add_metric([name], health[key])
            if health.get("plain_mean_loss"):
                ratio.add_metric([name], health["loss"] / health["plain_mean_loss"])
            for row in health.get("coverage", ()):
                if row["covered"] is not None:
                    coverage.add_metric([name, f"{row['level']:g}"], row["covered"])
        yield from (*gauges.values(), ratio, coverage, count, total)
