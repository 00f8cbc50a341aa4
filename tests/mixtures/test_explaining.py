"""Explanations: who gained weight, through which rounds, and what an absence would have cost."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures.explanations import (
    Absence,
    Explanation,
    estimate_absences,
    trace_changes,
    trace_moves,
)
from normalhedge.mixtures.losses import Loss, loss_of


def switching(rounds: int, hedger: str | None = None, history: int = 200) -> Mixture:
    """Return a mixture in which the better model changes halfway."""
    mixture, rng = Mixture(hedger, history=history), np.random.default_rng(0)
    for t in range(rounds):
        y, noise = rng.normal(), rng.normal(size=2)
        sizes = (0.1, 2.0) if t < rounds // 2 else (2.0, 0.1)
        said = {name: y + size * e for name, size, e in zip("ab", sizes, noise, strict=True)}
        said |= {"c": y + 1.0} if t >= 2 else {}
        ticket = mixture.predict(said, {"c": 0.5} if t % 5 == 4 else None, id=t).ticket
        if t >= 3:
            mixture.update(ticket - 3, float(y))
    return mixture


@pytest.mark.parametrize("hedger", [None, "squint", "normal-hedge:memory=20,c=1"])
def test_the_weights_are_those_that_the_mixture_had(hedger: str | None, tmp_path: Path) -> None:
    mixture = switching(150, hedger)
    before = [row.weight for row in switching(100, hedger).summary().experts]
    explained = mixture.explain()
    names = [row.name for row in explained.changes]
    assert {"a", "b"} <= set(names)
    now = {row.name: row.weight for row in mixture.summary().experts}
    for row in explained.changes:
        assert row.after == now[row.name]
        assert (row.after > row.before) == (row.name != "a") or row.name == "c"
    assert len(before) == 3
    assert explained.moves == tuple(sorted(explained.moves, key=lambda row: -row.moved))
    assert {row.name for row in explained.absences} == {"a", "b", "c"}
    assert "estimate" in explained.method
    assert "since" in explained.where
    mixture.save(tmp_path / "m.json")
    assert Mixture.load(tmp_path / "m.json").explain() == explained
    assert str(mixture.explain()) == str(explained)  # it changed nothing
    assert "<table>" in explained._repr_html_()


def test_without_a_history_there_is_a_sentence() -> None:
    for mixture in (Mixture(), switching(20, history=0)):
        assert "There is nothing to explain" in str(mixture.explain())
    mixture = switching(60)
    mixture.leave("c")
    assert "cannot be played again" in str(mixture.explain())


def test_changes_and_moves_by_hand() -> None:
    weights = np.array([[0.5, 0.5, 0.0], [0.6, 0.4, 0.0], [0.9, 0.1, 0.0], [0.8, 0.2, 0.0]])
    losses = np.array([[1.0, 2.0, np.nan], [0.0, 4.0, np.nan], [3.0, 1.0, np.nan]])
    changes = trace_changes("abc", weights, ["mon", "tue", "wed"])
    assert [row[:1] + row[3:] for row in changes] == [("a", "tue"), ("b", "tue")]
    moves = trace_moves("abc", weights, losses, ["mon", "tue", "wed"])
    assert [row.label for row in moves[:1]] == ["tue"]
    assert moves[0].moved == pytest.approx(0.3)
    assert (moves[0].gained, moves[0].lost) == ("a", "b")
    assert (moves[0].gained_loss, moves[0].lost_loss) == (0.0, 4.0)


def test_absences_follow_the_equation() -> None:
    rng, loss = np.random.default_rng(0), loss_of("square")
    x, y, q = rng.normal(size=(40, 1, 3)), rng.normal(size=40), rng.dirichlet(np.ones(3), 40)
    x[:5, 0, 0] = np.nan
    y[7] = np.nan
    found = {row.name: row for row in _absences(loss, x, y, q)}
    for k, name in enumerate("abc"):
        costs = []
        for t in range(40):
            if np.isnan(y[t]):
                continue
            awake = ~np.isnan(x[t, 0])
            whole = np.average(x[t, 0, awake], weights=q[t, awake])
            others = awake & (np.arange(3) != k)
            rest = np.average(x[t, 0, others], weights=q[t, others])
            costs.append((rest - y[t]) ** 2 - (whole - y[t]) ** 2)
        assert found[name].cost == pytest.approx(np.mean(costs))


def _absences(loss: Loss, x: np.ndarray, y: np.ndarray, q: np.ndarray) -> tuple[Absence, ...]:
    return estimate_absences("abc", loss, x, y, np.zeros(len(y), dtype=np.int32), q)


def test_absences_of_labels_and_of_a_lonely_expert() -> None:
    labels = np.array([[[1.0, 2.0, 2.0]], [[1.0, 1.0, 2.0]]])
    found = _absences(loss_of("zero-one"), labels, np.array([1.0, 1.0]), np.full((2, 3), 1 / 3))
    assert {row.name: row.cost for row in found}["c"] <= 0.0
    alone = np.array([[[1.0, 2.0, 2.0]]])
    weights = np.array([[1.0, 0.0, 0.0]])
    (row,) = _absences(loss_of("square"), alone, np.array([3.0]), weights)
    assert (row.name, row.cost) == ("a", 0.0)  # nobody else has any weight


def table(rounds: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.normal(size=rounds).cumsum()
    columns = {"day": pd.date_range("2024-01-01", periods=rounds), "y": y}
    for k, name in enumerate(("good", "fair", "poor")):
        columns[name] = y + rng.normal(size=rounds) * (0.3 + k)
    return pd.DataFrame(columns)


def test_a_table_is_blended_again_without_each_expert() -> None:
    frame = table(120)
    result = blend(frame, "y", time="day", lag=2)
    explained = result.explain()
    assert explained.method == "blended again without it"
    errors = {}
    for name in ("good", "fair", "poor"):
        rest = blend(frame.drop(columns=name), "y", time="day", lag=2).frame
        errors[name] = ((rest["blend"] - rest["y"]) ** 2).mean()
    whole = ((result.frame["blend"] - result.frame["y"]) ** 2).mean()
    for row in explained.absences:
        assert row.cost == pytest.approx(errors[row.name] - whole)
        assert row.share == pytest.approx(row.cost / whole)
    assert explained.absences[0].name == "good"
    assert explained.where == "from 2024-01-01 to 2024-04-29"
    assert explained.changes[0].name in {"good", "poor"}


def test_a_table_that_continues_or_is_long_gets_an_estimate() -> None:
    frame = table(120)
    first = blend(frame[:60], "y", time="day")
    second = blend(frame[60:], "y", time="day", mixture=first.mixture)
    assert "estimate" in second.explain().method
    assert second.explain().absences[0].name == "good"
    long = frame.melt(["day", "y"], var_name="model", value_name="forecast")
    long = blend(long, "y", time="day", model="model", forecast="forecast")
    assert "estimate" in long.explain().method
    assert long.explain().absences[0].name == "good"
    assert "too short" in str(blend(frame[:1], "y", time="day").explain())


def test_a_loss_that_grows_many_times_is_told_as_a_multiple() -> None:
    absences = (Absence("a", 20.0, 4.0), Absence("b", 4e6, 4.9e6), Absence("c", -0.3, -0.353))
    explained = Explanation("rounds", (), (), absences, "an estimate", ())
    body = explained.tables()[0][1][1]
    assert [row[-1] for row in body] == ["+400.0%", "4,900,001 times", "-35.3%"]
