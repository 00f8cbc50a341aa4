"""Starting points of fits: divisions of the observations among the states."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats

Labels = npt.NDArray[np.intp]

ROUNDS_OF_KMEANS = 5
DRAWN = 3  # the number of starts after which the next ones are drawn at random


class Divided(NamedTuple):
    """A series that is to be divided."""

    filled: Floats  # the observations, without gaps
    line: Floats  # one number for each
    nearby: Floats  # how much the numbers vary near each


def prepare(observations: Floats) -> Divided:
    """Return a series that is to be divided, of which some are known."""
    filled = _fill_gaps(observations)
    line = _line(filled)
    return Divided(filled, line, _nearby(line))


def divisions(
    series: Divided, states: int, count: int, rng: np.random.Generator
) -> Iterator[Labels]:
    """Yield divisions of the observations among the states, as a state for each observation.

    The first is by value, the second by how much the numbers vary nearby, the third into pieces of
    time. The others are random: in turn by distance from drawn observations, and pieces of drawn
    lengths.
    """
    filled, line, nearby = series
    t = np.arange(len(filled))
    for start in range(1 if states == 1 else count):
        if start == 0:
            yield _by_distance(filled, _centres(filled, _ranks(line, states), states))
        elif start == 1:
            yield _ranks(nearby, states)
        elif start == 2:
            yield t * states // len(t)
        elif start % 2:
            both = np.column_stack([filled, nearby])
            yield _by_distance(both, both[rng.integers(len(both), size=states)])
        else:
            yield _pieces(len(t), states, rng)


def shares(labels: Labels, states: int) -> Floats:
    """Return shares of the states, T x k: 0.9 for the state of the division, the rest even."""
    return 0.9 * np.eye(states)[labels] + 0.1 / states


def transition(labels: Labels, states: int) -> Floats:
    """Return transition probabilities counted in a division, with one added to each count."""
    counts = np.ones((states, states))
    np.add.at(counts, (labels[:-1], labels[1:]), 1.0)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _fill_gaps(observations: Floats) -> Floats:
    """Return observations with the last known one in place of each missing one."""
    known = ~np.isnan(observations[:, 0])
    places = np.maximum.accumulate(np.where(known, np.arange(len(known)), -1))
    return observations[np.where(places < 0, known.argmax(), places)]


def _line(filled: Floats) -> Floats:
    """Return the first principal component of the observations, one number for each."""
    if filled.shape[1] == 1:
        return filled[:, 0]
    away = filled - filled.mean(axis=0)
    return np.asarray(away @ np.linalg.svd(away, full_matrices=False)[2][0])


def _nearby(line: Floats) -> Floats:
    """Return the mean distance from the median, over a window."""
    away = np.abs(line - np.median(line))
    width = max(1, min(10, len(line) // 20))
    sums = np.cumsum(np.concatenate([[0.0], away]))
    last = np.minimum(np.arange(len(line)) + width // 2 + 1, len(line))
    first = np.maximum(last - width, 0)
    return np.asarray((sums[last] - sums[first]) / (last - first))


def _ranks(values: Floats, states: int) -> Labels:
    """Return k groups of one size, by rank; equal values share a group."""
    ranks = np.searchsorted(np.sort(values), values)
    return ranks * states // len(values)


def _centres(points: Floats, labels: Labels, states: int) -> Floats:
    """Return the mean of each group; of one without points, the mean of all."""
    counts = np.bincount(labels, minlength=states)[:, np.newaxis]
    sums = np.zeros((states, points.shape[1]))
    np.add.at(sums, labels, points)
    return np.where(counts > 0, sums / np.maximum(counts, 1), points.mean(axis=0))


def _by_distance(points: Floats, centres: Floats) -> Labels:
    """Return the nearest centre of each point, after some rounds of k-means."""
    labels: Labels = np.zeros(len(points), dtype=np.intp)
    for _ in range(ROUNDS_OF_KMEANS):
        labels = np.square(points[:, np.newaxis] - centres).sum(axis=2).argmin(axis=1)
        centres = _centres(points, labels, len(centres))
    return labels


def _pieces(rounds: int, states: int, rng: np.random.Generator) -> Labels:
    """Return states that stay for drawn lengths of time."""
    stay = max(2.0, rounds / (states * rng.integers(2, 10)))
    switch = rng.random(rounds) < 1.0 / stay
    step = rng.integers(1, states, size=rounds)
    return np.asarray((rng.integers(states) + np.cumsum(switch * step)) % states, dtype=np.intp)
