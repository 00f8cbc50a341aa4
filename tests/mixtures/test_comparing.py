"""The blend beside its yardsticks, against obvious loops over the same rows."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture, blend
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.summaries import _comparison as comparing
from normalhedge.mixtures.summaries._best_convex import best_convex
from normalhedge.mixtures.summaries._comparison import Comparison, Line, plain_medians
from normalhedge.tables import Blend
from tests.mixtures.summary_examples import NAMES, fed, numbers, table_of


def loss_of(kind: str, x: Any, y: float) -> float:
    """Return the loss of a number, or of class probabilities."""
    if kind == "square":
        return float((x - y) ** 2)
    if kind == "absolute":
        return abs(float(x) - y)
    if kind == "pinball":
        return float(0.2 * (y - x) if x < y else 0.8 * (x - y))
    if kind == "log":
        return -math.log(max(x[int(y)], 1e-6))
    if kind == "l1":
        return 1.0 - float(x[int(y)])
    if kind == "zero-one-classes":
        return float(np.argmax(x) != y)
    raise AssertionError(kind)


def awake_values(row: Floats) -> list[Any]:
    """Return the forecasts of those awake, of one row (classes x experts)."""
    found = [row[:, i] for i in range(row.shape[1]) if np.isfinite(row[:, i]).all()]
    return [x[0] for x in found] if row.shape[0] == 1 else found


def oracle(forecasts: Floats, said: Floats) -> dict[str, list[Any]]:
    """Return what the blend, the plain combinations and each expert said, row by row."""
    columns: dict[str, list[Any]] = {"blend": [], "plain mean": [], "plain median": []}
    columns |= {name: [] for name in NAMES}
    for row, made in zip(forecasts, said, strict=True):
        heard = awake_values(row)
        mean, median = np.mean(heard, axis=0), np.median(heard, axis=0)
        if row.shape[0] > 1:
            median = median / median.sum()
        columns["blend"].append(made[0] if row.shape[0] == 1 else made)
        columns["plain mean"].append(mean)
        columns["plain median"].append(median)
        for i, name in enumerate(NAMES):
            own = row[0, i] if row.shape[0] == 1 else row[:, i]
            stands_in = median if row.shape[0] == 1 else mean
            columns[name].append(own if np.isfinite(row[:, i]).all() else stands_in)
    return columns


def check_lines(found: Comparison, columns: dict[str, list[Any]], y: Floats, kind: str) -> None:
    """Compare the lines of a comparison with the predictions, row by row."""
    lines = {line.name: line for line in found.lines}
    best = min(NAMES, key=lambda name: mean(columns[name], y, kind))
    for name in ("blend", "plain mean", "plain median", "best expert"):
        line, own = lines[name], columns[best if name == "best expert" else name]
        assert line.loss == pytest.approx(mean(own, y, kind), rel=1e-9)
        if np.ndim(own[0]):
            assert math.isnan(line.mae)
            assert math.isnan(line.rmse)
        else:
            assert line.mae == pytest.approx(mean(own, y, "absolute"), rel=1e-9)
            assert line.rmse == pytest.approx(math.sqrt(mean(own, y, "square")), rel=1e-9)
    assert lines["best expert"].remark.startswith(best)


def mean(said: list[Any], y: Floats, kind: str) -> float:
    return float(np.mean([loss_of(kind, x, t) for x, t in zip(said, y, strict=True)]))


@pytest.mark.parametrize("hedger", ["auto", "squint"])
@pytest.mark.parametrize("loss", ["square", "absolute", "pinball:level=0.2"])
def test_a_table_is_compared_with_what_anybody_could_do(
    hedger: str, loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "CHUNK", 100)  # so that it is done in many pieces
    y, x = numbers(130)
    x[7], y[11] = np.nan, np.nan  # a row without forecasts, and one without an outcome
    found = blend(table_of(y, x), "y", hedger=hedger, loss=loss)
    known = np.isfinite(y) & np.isfinite(x).any(axis=1)
    said = np.array(found.frame["blend"].to_numpy(), dtype=float)[known, None]
    compared, kind = found.summary().comparison, loss.partition(":")[0]
    assert compared.rows == 128
    columns = oracle(x[known][:, None], said)
    check_lines(compared, columns, y[known], kind)
    told = np.ascontiguousarray(x[known][:, None]), y[known], np.zeros(128, dtype=np.int32)
    weights = best_convex(found.mixture.settings.loss, *told, "median").weights
    convex = [sum(w * columns[name][t] for w, name in zip(weights, NAMES, strict=True))
              for t in range(128)]  # fmt: skip
    line = compared.lines[-1]
    assert line.name == "best convex combination"
    assert line.remark == "in hindsight; the plain median in place of sleeping experts"
    assert line.loss <= compared.loss_of("best expert") * (1 + 1e-6)
    assert line.loss == pytest.approx(mean(convex, y[known], kind))
    assert line.mae == pytest.approx(mean(convex, y[known], "absolute"))
    assert line.rmse == pytest.approx(math.sqrt(mean(convex, y[known], "square")))


@pytest.mark.parametrize("loss", ["log", "l1", "zero-one-classes"])
def test_classes_are_compared_by_their_loss_only(loss: str) -> None:
    rng = np.random.default_rng(1)
    mixture = Mixture(loss=loss)
    kept, outcomes, said = [], [], []
    for k in range(40):
        y = int(rng.integers(3))
        p = rng.dirichlet([1, 1, 1], size=4)
        p[:, y] += 0.5
        p /= p.sum(axis=1, keepdims=True)
        given: dict[str, Any] = {name: p[i].tolist() for i, name in enumerate(NAMES)}
        if k % 5 == 0:
            given["ar"], p[1] = None, np.nan
        made = mixture.predict(given)
        mixture.update(made.ticket, y)
        kept.append(p.T)
        outcomes.append(float(y))
        said.append(made.value)
    summary = mixture.summary()
    columns = oracle(np.array(kept), np.array(said))
    check_lines(summary.comparison, columns, np.array(outcomes), loss)
    assert summary.comparison.table()[0] == ["", f"{loss} loss", ""]
    assert "RMSE" not in str(summary)


def test_medians_over_those_awake() -> None:
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 6):
        for of_all in (True, False):
            x = rng.normal(size=(50, 1, n)).round(1)
            awake = rng.random((50, n)) < 0.5
            awake[:, 0], awake[of_all] = True, True
            found = plain_medians(x, awake)
            expected = [np.median(row[0, own]) for row, own in zip(x, awake, strict=True)]
            np.testing.assert_allclose(found[:, 0], expected, rtol=1e-12)


def test_labels_are_compared_with_a_vote() -> None:
    mixture = Mixture(loss="zero-one")
    rng = np.random.default_rng(3)
    wrong = {"blend": 0, "vote": 0}
    for _ in range(50):
        y = int(rng.integers(3))
        said = {name: y if rng.random() < 0.6 else 1 for name in "abc"}
        made = mixture.predict(said)
        mixture.update(made.ticket, y)
        counts = {label: list(said.values()).count(label) for label in sorted(said.values())}
        wrong["blend"] += made.value != y
        wrong["vote"] += max(counts, key=counts.__getitem__) != y
    lines = {line.name: line for line in mixture.summary().comparison.lines}
    assert list(lines) == ["blend", "plain vote", "best expert"]
    assert lines["blend"].loss == pytest.approx(wrong["blend"] / 50)
    assert lines["plain vote"].loss == pytest.approx(wrong["vote"] / 50)


def test_a_loss_of_your_own_is_compared() -> None:
    y, x = numbers(60)
    found = blend(table_of(y, x), "y", loss=lambda x, y: np.abs(x - y) ** 1.5)
    square = blend(table_of(y, x), "y")
    lines = {line.name: line for line in found.summary().comparison.lines}
    assert list(lines) == ["blend", "plain mean", "plain median", "best expert"]
    means = np.nanmean(x, axis=1)
    assert lines["plain mean"].loss == pytest.approx(np.mean(np.abs(means - y) ** 1.5))
    plain = {line.name: line for line in square.summary().comparison.lines}["plain mean"]
    assert lines["plain mean"].rmse == pytest.approx(plain.rmse)


def test_a_live_mixture_is_compared_in_the_rounds_it_keeps() -> None:
    y, x = numbers(90)
    mixture = fed(Mixture(history=50), y, x)
    summary = mixture.summary()
    compared = summary.comparison
    assert (compared.rows, compared.rounds, compared.since) == (50, 50, 40)
    said = np.array([one.round.values[0, :1] for one in mixture.history])
    check_lines(compared, oracle(x[40:, None], said), y[40:], "square")
    text = str(summary)
    assert "means over 50 rows of the last 50 settled rounds, since round 40" in text
    assert "mean losses over 50 rows" in text
    assert "uniform weights" in text  # over all rounds
    assert "(90 rows)" in text
    assert not Mixture().summary().comparison.rows
    # Nothing is kept of a table, nor by a file.
    assert "means over" not in str(blend(table_of(y, x), "y").mixture.summary())


def test_who_has_no_confidence_is_not_compared() -> None:
    y, x = numbers(30)
    x[:, 1:] = np.where(np.isnan(x[:, 1:]), 0.0, x[:, 1:])
    silent = fed(Mixture(), y, x, confidence={"naive": 0.0}).summary().comparison
    x[:, 2] = np.nan
    gone = fed(Mixture(), y, x).summary().comparison
    assert silent.lines == gone.lines


def test_portfolios_are_compared_with_even_weights() -> None:
    rng = np.random.default_rng(6)
    mixture, wealth = Mixture("squint", loss="log-wealth"), np.ones(2)
    for _ in range(150):
        relatives = dict(zip("abc", np.exp(0.05 * rng.normal(size=3)).tolist(), strict=True))
        made = mixture.predict(relatives)
        mixture.update(made.ticket, 1.0)
        wealth *= made.value, np.mean(list(relatives.values()))
    compared = mixture.summary().comparison
    assert [line.name for line in compared.lines] == [
        "blend", "plain mean", "best expert", "best convex combination"
    ]  # fmt: skip
    np.testing.assert_allclose([line.loss for line in compared.lines[:2]], -np.log(wealth) / 150)
    assert compared.table()[0] == ["", "log-wealth loss", ""]
    lines = Line("blend", math.log(10 / 9) / 150), Line("plain mean", 0.0)
    assert replace(compared, lines=lines).warning == (
        "the blend made 10 % less than the plain mean, over 150 rows of the last 150 settled "
        "rounds, since round 0"
    )
    assert replace(compared, lines=(lines[1], lines[1])).warning == ""


def test_the_best_combination_counts_every_row() -> None:
    # The best expert is asleep half of the time, and all others are far off.
    y = np.zeros(400)
    x = np.tile([np.nan, 1e6, 2e6, 1e6], (400, 1))
    x[::2, 0] = 0.0
    line = blend(table_of(y, x), "y").summary().comparison.lines[-1]
    assert line.name == "best convex combination"
    assert line.loss > 1e6


def test_of_a_large_table_the_best_combination_is_fitted_to_some_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(comparing, "SAMPLE", 200)
    y, x = numbers(200)
    for loss, told in (("square", False), ("absolute", True)):
        summary = blend(table_of(y, x), "y", loss=loss).summary()
        line = summary.comparison.lines[-1]
        assert line.remark.endswith("; fitted to one row in 4") == told
        assert math.isnan(summary.convex_gap) == told
        assert "the least loss may be" not in str(summary)


def test_parts_are_kept_apart() -> None:
    found = blend(table_of(*numbers(20)), "y", include=("mean", "median"))
    assert isinstance(found, Blend)
    assert not isinstance(found.mixture.settings.hedger, Automatic)
    lines = {line.name: line for line in found.summary().comparison.lines}
    assert lines["best expert"].remark.partition(";")[0] in NAMES  # not a plain combination


def test_a_few_rows_that_make_the_headline() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    x = y[:, None] + rng.normal(size=(400, 4))
    steady = blend(table_of(y, x), "y").summary()
    assert steady.headline == ""
    x[200:204, 0] += 400.0
    mad = blend(table_of(y, x), "y").summary()
    assert mad.headline.startswith("without the 4 rows with the largest losses, the blend lost ")
    assert "% less than the plain mean (over all rows 100 % less)" in mad.headline
    assert mad.headline in str(mad)
    assert mad.headline in mad._repr_html_()
    # the numbers of the sentence
    usual = {line.name: line.loss for line in mad.comparison.usual}
    means, said = x.mean(axis=1), np.array(blend(table_of(y, x), "y").frame["blend"])
    worst = np.argsort(
        np.maximum(np.maximum((means - y) ** 2, (np.median(x, axis=1) - y) ** 2), (said - y) ** 2)
    )
    kept = worst[:-4]
    assert usual["plain mean"] == pytest.approx(((means - y) ** 2)[kept].mean())
    assert usual["blend"] == pytest.approx(((said - y) ** 2)[kept].mean())
