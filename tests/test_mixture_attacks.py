"""What must not reach the core, which looks at no index, and what must come back from it."""

import copy
import json
import pickle
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge._sealed import sealed
from normalhedge.mixtures import Loss
from normalhedge.mixtures.mixture import ARRAYS
from normalhedge.mixtures.stream import Stream
from tests.rules import either

# Classes


@either
@pytest.mark.parametrize("loss", ["log", "l1", "zero-one-classes"])
def test_one_class_is_refused(loss: str, hedger: str | None) -> None:
    mixture = Mixture(hedger, loss)
    with pytest.raises(ValueError, match="two class probabilities or more, got 1"):
        mixture.predict({"a": [1.0], "b": [1.0]})
    assert mixture.names == []
    made = mixture.predict({"a": None, "b": None})  # nobody is awake: of how many is not known
    mixture.update(made.ticket, 2)


def test_classes_are_columns_of_a_long_table() -> None:
    wide = pd.DataFrame({"y": [0, 1, 2], "a": 0.5, "b": 0.2, "p": 0.5, "q": 0.5, "r": 0.0})
    with pytest.raises(ValueError, match="classes need a long table"):
        blend(wide, "y", ["a", "b"], classes=["p", "q", "r"], loss="log")
    long = pd.DataFrame({"y": [0, 0], "time": [0, 1], "model": "a", "p": 1.0})
    with pytest.raises(ValueError, match="two columns or more, got p alone"):
        blend(long, "y", classes=["p"], loss="log")


def of_classes(start: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "y": [0, 0, 1, 1],
            "time": [start, start, start + 1, start + 1],
            "model": ["a", "b"] * 2,
            "p": [0.5, 0.2, 0.5, 0.2],
            "q": [0.5, 0.8, 0.5, 0.8],
        }
    )


@either
@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"blend": {"outcomes": [1e9]}}, r"must be classes in 0\.\.1"),
        ({"blend": {"outcomes": [-1.0]}}, r"must be classes in 0\.\.1"),
        ({"forecasts": [[[1.0, 1.0]]], "values": [[1.0]]}, "does not fit the loss, with 1 classes"),
    ],
)
def test_a_file_with_outcomes_that_are_no_class(
    tmp_path: Path, changes: dict[str, Any], word: str, hedger: str | None
) -> None:
    path = tmp_path / "state.json"
    made = blend(of_classes(0), "y", classes=["p", "q"], loss="log", lag=1, hedger=hedger).mixture
    made.save(path)
    if "values" in changes:
        changes = changes | {"values": [[1.0] * made.games.shape[3]]}
    saved = json.loads(path.read_text())
    for key, value in changes.items():
        place = saved["pending"][0]
        place[key] = place[key] | value if isinstance(value, dict) else value
    del saved["checksum"]
    path.write_text(sealed(saved))
    with pytest.raises(ValueError, match=word):
        Mixture.load(path)


@either
def test_numbers_in_a_file_have_no_classes(tmp_path: Path, hedger: str | None) -> None:
    mixture, path = Mixture(hedger), tmp_path / "state.json"
    mixture.predict({"a": 1.0, "b": 2.0})
    mixture.save(path)
    saved = json.loads(path.read_text())
    values = [[0.5, 0.5] * mixture.games.shape[3]]
    saved["pending"][0] |= {"forecasts": [[[0.5, 0.5], [0.5, 0.5]]], "values": values}
    del saved["checksum"]
    path.write_text(sealed(saved))
    with pytest.raises(ValueError, match="does not fit the loss, with 2 classes"):
        Mixture.load(path)


@either
def test_a_summary_of_rounds_of_other_classes(hedger: str | None) -> None:
    mixture = Mixture(hedger, "log")
    for said in ([0.5, 0.5], [0.2, 0.3, 0.5], None, [0.1, 0.1, 0.8]):
        made = mixture.predict({"a": said, "b": said})
        mixture.update(made.ticket, 1)
    assert mixture.summary().convex_rows == 2
    silent = Mixture(hedger, "log")
    silent.update(silent.predict({"a": None, "b": None}).ticket, 1)
    assert silent.summary().convex_rows == 0


# Losses of your own


def alike(forecasts: np.ndarray, _outcome: float, size: float) -> np.ndarray:
    return np.full_like(forecasts, size)


def test_losses_of_your_own_stay_where_files_can_hold_them() -> None:
    for size in (1e201, -1e308, np.inf, np.nan):
        mixture = Mixture(loss=Loss("mine", function=partial(alike, size=size)))
        ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
        with pytest.raises(ValueError, match=r"a finite number within ±1e\+200"):
            mixture.update(ticket, 0.0)
        assert ticket in mixture.pending
    for slope in (np.nan, np.inf, 1e101):
        own = Loss("mine", function=lambda x, y: (x - y) ** 2, slope=lambda *_, s=slope: s)
        mixture = Mixture(loss=own)
        ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
        with pytest.raises(ValueError, match="the slope of loss mine must be a finite number"):
            mixture.update(ticket, 0.0)


def test_a_loss_of_your_own_does_not_let_experts_join() -> None:
    def joins(forecasts: np.ndarray, _outcome: float) -> np.ndarray:
        mixture.join(["c"])
        return forecasts

    mixture = Mixture("squint", joins)
    ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
    with pytest.raises(RuntimeError, match="must not be used while it predicts or learns"):
        mixture.update(ticket, 0.0)


def test_a_table_that_cannot_be_finished_leaves_the_mixture_as_it_was() -> None:
    calls: list[float] = []

    def fails_once(forecasts: np.ndarray, outcome: float) -> np.ndarray:
        calls.append(outcome)
        if len(calls) == 25:
            raise ValueError("not now")
        return np.abs(forecasts - outcome)

    outcomes = [0.0, 1.0, 2.0] * 4
    table = pd.DataFrame({"t": range(12), "y": [*outcomes[:10], None, None], "a": 1.0, "b": 0.5})
    later = table.assign(t=table.t + 10, y=outcomes, late=2.0)
    mixture = Mixture("squint", fails_once)
    blend(table[:4], "y", ["a", "b"], time="t", lag=2, mixture=mixture)
    before = copy.copy(mixture)
    calls[:] = [0.0] * 15
    with pytest.raises(ValueError, match="not now"):
        blend(later, "y", ["a", "b", "late"], time="t", lag=2, mixture=mixture)
    assert (mixture.names, mixture.items) == (["a", "b"], before.items)
    for one in (mixture, before):
        blend(later, "y", ["a", "b", "late"], time="t", lag=2, mixture=one)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(mixture.games, name), getattr(before.games, name))
    assert mixture.rounds == before.rounds
    assert mixture.pending.keys() == before.pending.keys()


# Copies, threads


def played(mixture: Mixture, rounds: int = 5) -> Mixture:
    for t in range(rounds):
        made = mixture.predict({"a": 1.0 * t, "b": 2.0, "c": None if t % 3 == 1 else 0.5})
        mixture.update(made.ticket, 0.0)
    return mixture


def test_a_copy_is_a_mixture_of_its_own() -> None:
    one = played(Mixture("squint"))
    two = copy.copy(one)
    before = two.weights.copy()
    ticket = one.predict({"a": {"x": 1.0, "y": 2.0}, "b": {"x": 0.0}}).ticket
    one.update(ticket, {"x": 1.0, "y": 3.0})
    assert two.items == [""]
    assert ticket not in two.pending
    np.testing.assert_array_equal(two.weights, before)


def test_a_mixture_out_of_shared_memory() -> None:
    one = played(Mixture("squint"))
    parts: list[pickle.PickleBuffer] = []
    text = pickle.dumps(one, protocol=5, buffer_callback=parts.append)
    two = pickle.loads(text, buffers=[bytes(part) for part in parts])
    np.testing.assert_array_equal(played(two).weights, played(one).weights)


def test_threads_take_turns() -> None:
    mixture, wrong = played(Mixture("squint")), []

    def grow() -> None:
        for k in range(150):
            names = {f"x{i}": 1.0 for i in range(k)}
            mixture.update(mixture.predict(names | {"a": 0.5}).ticket, 1.0)

    def play() -> None:
        for t in range(400):
            mixture.update(mixture.predict({"a": 0.1 * t, "b": 2.0}).ticket, 1.0)

    def guarded(work: Any) -> None:
        try:
            work()
        except Exception as error:  # it would be lost with its thread
            wrong.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=guarded, args=(f,)) for f in (grow, play, play)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
    assert mixture.rounds == 5 + 150 + 800
    assert mixture.weights.sum() == pytest.approx(1.0)


# Many of them


def test_many_items_take_no_longer_each() -> None:
    items = [f"s{k}" for k in range(30_000)]  # ten seconds, were each looked for among all
    mixture = Mixture("squint")
    made = mixture.predict({"a": dict.fromkeys(items, 1.0), "b": dict.fromkeys(items, 2.0)})
    mixture.update(made.ticket, dict.fromkeys(items, 1.0))
    assert made.value["s29999"] == 1.5


def test_items_that_come_one_by_one_have_games_of_their_own() -> None:
    slowly, at_once = (Mixture("squint", shared=False) for _ in range(2))
    items = [f"s{k}" for k in range(300)]
    for item in items:
        made = slowly.predict({"a": {item: 1.0}, "b": {item: 2.0}})
        slowly.update(made.ticket, {item: 1.0})
    made = at_once.predict({"a": dict.fromkeys(items, 1.0), "b": dict.fromkeys(items, 2.0)})
    at_once.update(made.ticket, dict.fromkeys(items, 1.0))
    np.testing.assert_array_equal(slowly.games.ledgers, at_once.games.ledgers)
    np.testing.assert_array_equal(slowly.weights, at_once.weights)


def test_ids_of_rounds_that_expired_are_forgotten_in_time() -> None:
    stream = Stream(Mixture(max_pending=10))
    for k in range(100):
        (answer,) = stream.answers([json.dumps({"id": k, "forecasts": {"a": 1.0, "b": 2.0}})])
        assert answer["id"] == k
        assert len(stream.mixture.ids) <= 20
    (answer,) = stream.answers([json.dumps({"id": 5, "outcome": 1.0})])
    assert "error" in answer
    (answer,) = stream.answers([json.dumps({"id": 99, "outcome": 1.0})])
    assert answer["settled"] == 99
