"""Predictions of a tracker, and the track of many rounds."""

from typing import NamedTuple

from normalhedge.boundary.inputs import Floats


class TrackPrediction(NamedTuple):
    """A prediction of the track, with a number for each column.

    Attributes
    ----------
    position
        The expected position under the most likely hypothesis.
    deviation
        Its standard deviation.
    low, high
        The interval under all hypotheses together; infinite while the scale is unknown.
    """

    position: Floats
    deviation: Floats
    low: Floats
    high: Floats


class Track(NamedTuple):
    """The results of `HedgedTracker.run`, with a row for each round.

    Attributes
    ----------
    positions
        The estimated position after each observation.
    expected, low, high
        The prediction before each observation, by `HedgedTracker.predict`.
    """

    positions: Floats
    expected: Floats
    low: Floats
    high: Floats
