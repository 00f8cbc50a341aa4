"""Progress of long work, as its listeners hear it."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import NormalHedge, blend
from normalhedge.boundary.progress import SILENT, Listener, PieceOfWork, Silent, listener, shares
from normalhedge.latent import infer
from normalhedge.research.games import IndependentCoins, play


class Heard(Silent):
    """A progress that remembers."""

    def __init__(self) -> None:
        self.units = np.nan
        self.reports: list[tuple[float, str]] = []
        self.sentences: list[str] = []

    def total(self, units: float) -> None:
        self.units = units

    def done(self, units: float, what: str) -> None:
        self.reports.append((units, what))

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


SERIES = np.random.default_rng(0).normal(size=120)

WORK: dict[str, Callable[[Listener], object]] = {
    "blending": lambda told: blend(pa.table({"y": SERIES, "a": SERIES}), "y", progress=told),
    "learning": lambda told: infer([*SERIES, None], states=1, progress=told),
    "playing": lambda told: play([NormalHedge(0.1)], IndependentCoins(3), 70, 2, progress=told),
}


@pytest.mark.parametrize("what", WORK)
def test_all_work_is_reported(what: str) -> None:
    heard, told = Heard(), list[float]()
    WORK[what](heard)
    assert sum(units for units, _ in heard.reports) == pytest.approx(heard.units)
    assert {name for _, name in heard.reports} == {what}
    WORK[what](told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    WORK[what](None)


def test_a_listener_is_one_of_three() -> None:
    heard = Heard()
    assert listener(heard) is heard
    assert listener(None) is SILENT
    told: list[float] = []
    share = listener(told.append)
    share.say("nobody hears it")
    share.total(4)
    for _ in range(5):
        share.done(1, "one more than there are")
    assert told == [0.25, 0.5, 0.75, 1.0, 1.0]


def test_shares_of_the_whole() -> None:
    heard = Heard()
    report = shares(heard, "reading")
    for share in (0.25, 0.75, 1.0):
        report(share)
    assert heard.units == 1.0
    assert heard.reports == [(0.25, "reading"), (0.5, "reading"), (0.25, "reading")]


def test_a_piece_is_worth_its_units_of_the_whole() -> None:
    heard = Heard()
    piece = PieceOfWork(heard, 30.0, "figure-1")
    piece.total(6)
    piece.done(2, "playing")
    piece.done(4, "playing")
    piece.say("done")
    assert heard.reports == [(10.0, "figure-1"), (20.0, "figure-1")]
    assert heard.sentences == ["done"]
