"""Latencies: how many fall between two edges, and their sum."""

from bisect import bisect_left

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""The edges of the histograms of latencies, in seconds."""


class Latencies:
    """The latencies of one kind of work."""

    def __init__(self) -> None:
        self.count = [0] * (len(BUCKETS) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.count[bisect_left(BUCKETS, seconds)] += 1
        self.sum += seconds
