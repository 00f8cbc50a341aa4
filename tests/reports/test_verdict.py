"""The verdict on a blend, in sentences."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import blend
from normalhedge.reports.verdict import verdict
from normalhedge.reports.wording import excess, number
from normalhedge.tables.review import Review, review


def table(rounds: int = 300, seed: int = 0, **more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = 50.0 + rng.normal(size=rounds)
    return {
        "y": y,
        "a": y + rng.normal(size=rounds),
        "b": y + 3.0 + rng.normal(size=rounds),
        **more,
    }


def rmse(values: Any, y: Any) -> float:
    return float(np.sqrt(np.mean((np.asarray(values) - y) ** 2)))


@pytest.mark.parametrize(
    ("rounds", "word", "between"), [(300, "below", " and"), (40, "above", ", but")]
)
def test_the_numbers_of_the_sentence(rounds: int, word: str, between: str) -> None:
    data = table(rounds)
    result = blend(pa.table(data), "y")
    own = rmse(result.frame["blend"], data["y"])
    plain = rmse((data["a"] + data["b"]) / 2, data["y"])
    best = min(rmse(data[name], data["y"]) for name in ("a", "b"))
    found = verdict(review(result))
    # Points as people round them: none from 10 % on, else one digit.
    first, second = 100 * (own / best - 1), 100 * (1 - own / plain)
    points = f"{abs(first):.1f}" if abs(first) < 9.95 else f"{abs(first):.0f}"
    assert (first < 0) == (word == "below")
    assert second > 10
    assert found.sentence.startswith(
        f"The blend's error is {points} % {word} the best single model (a){between} {second:.0f} % "
        "below the plain average."
    )
    assert found.warnings == []
    for value in (own, plain, best):
        assert number(value) in found.small
    assert "chosen in hindsight, and compared over the same rows" in found.small


def test_a_best_model_that_slept_is_compared_over_its_own_rows() -> None:
    data = table()
    data["a"][::3] = np.nan
    result = blend(pa.table(data), "y")
    there = ~np.isnan(data["a"])
    own = rmse(np.asarray(result.frame["blend"])[there], data["y"][there])
    share = own / rmse(data["a"][there], data["y"][there]) - 1.0
    found = verdict(review(result))
    assert f"{excess(share)} the best single model (a)" in found.sentence
    assert f"the 200 rows in which it made a forecast, where the blend has {number(own)}" in (
        found.small
    )


def test_the_median_is_named_where_a_model_spoils_the_average() -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=300)
    models = {name: y + rng.normal(size=300) for name in ("a", "b", "c")} | {"d": np.full(300, 1e9)}
    result = blend(pa.table({"y": y, **models}), "y")
    found = review(result)
    share = rmse(result.frame["blend"], y) / rmse(np.median([*models.values()], axis=0), y) - 1.0
    assert "less than 1 % of that of the plain average" in verdict(found).sentence
    assert f"{excess(share)} the plain median" in verdict(found).sentence
    assert "plain median" not in verdict(review(blend(pa.table(table()), "y"))).sentence


def test_two_rounds_are_too_few() -> None:
    found = verdict(review(blend(pa.table(table(2)), "y")))
    assert found.sentence.startswith("After 2 rounds it is too early to say")
    assert found.warnings == []


def test_a_warning_where_the_plain_average_is_better() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=400)
    models = {f"m{k}": y + rng.normal(size=400) for k in range(12)}
    result = blend(pa.table({"y": y, **models}), "y", hedger="normal-hedge")
    own, plain = rmse(result.frame["blend"], y), rmse(np.mean([*models.values()], axis=0), y)
    assert own > 1.01 * plain
    (warning,) = verdict(review(result)).warnings
    assert f"the plain average ({number(plain)})" in warning
    assert f"the error of the blend is {number(own)}" in warning


def test_a_difference_within_the_range_of_chance() -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=60)
    twins = {name: y + rng.normal(size=60) for name in ("a", "b")}
    found = review(blend(pa.table({"y": y, **twins}), "y"))
    assert not found.leads["plain mean"].clear
    assert "the plain average is within the range of chance" in verdict(found).sentence


def test_one_model_and_no_outcome() -> None:
    data = table()
    only = review(blend(pa.table({"y": data["y"], "a": data["a"]}), "y"))
    assert "one model only" in verdict(only).sentence
    none = pa.table({"y": pa.array([None, None], pa.float64()), "a": [1.0, 2.0], "b": [1.0, 2.0]})
    assert "No row of this table has an outcome yet" in verdict(review(blend(none, "y"))).sentence


def test_a_single_absurd_row_is_named() -> None:
    days = np.datetime64("2024-01-01") + np.arange(300)
    data = table(ds=days)
    for name in ("a", "b"):
        data[name][200] = 1e7
    found = verdict(review(blend(pa.table(data), "y", time="ds")))
    assert "A single row makes up 100 % of the squared errors of the blend: 19 July 2024" in (
        found.small
    )


def test_the_share_of_series() -> None:
    rng = np.random.default_rng(3)
    y = rng.normal(size=300)
    frame = {
        "y": y,
        "of": ["x", "y", "z"] * 100,
        "t": np.arange(300) // 3,
        "a": y + 0.1,
        "b": y + 5,
    }
    found = verdict(review(blend(pa.table(frame), "y", by="of", time="t")))
    assert "a smaller error than the plain average in 3 of the 3 series" in found.small


def test_wealth_is_earned() -> None:
    rng = np.random.default_rng(4)
    assets = {name: np.exp(0.02 * rng.normal(size=200)) for name in ("gold", "oil")}
    result = blend(pa.table({"y": np.ones(200), **assets}), "y", loss="log-wealth")
    own = np.prod(np.asarray(result.frame["blend"]))
    even = np.prod((assets["gold"] + assets["oil"]) / 2)
    best = max(np.prod(asset) for asset in assets.values())
    shown = re.findall(r"([\d.]+) % (more|less) than", verdict(review(result)).sentence)
    signed = [float(points) * (1 if word == "more" else -1) for points, word in shown]
    assert signed == pytest.approx([100 * (own / best - 1), 100 * (own / even - 1)], abs=0.06)


def edited(found: Review, blend_error: float, mean_error: float) -> Review:
    """Return a review with other errors of the blend and of the plain mean."""
    values, beside = found.errors.values.copy(), found.errors.blend.copy()
    values[0, 0, :2], beside[0, 0, 1] = (blend_error, mean_error), blend_error
    return replace(found, errors=replace(found.errors, values=values, blend=beside))


@pytest.mark.parametrize(
    ("own", "plain", "words"),
    [
        (0.7, 1.0, "30 % below the plain average"),
        (1.0, 1.0, "the same as the plain average"),
        (3.1, 1.0, "3.1 times that of the plain average"),
        (1e-6, 1.0, "less than 1 % of that of the plain average"),
        (1.0, 0.0, "above the plain average, which made no error"),
        (1e9, 1.0, "far above the plain average"),
    ],
)
def test_shares_in_words(own: float, plain: float, words: str) -> None:
    found = review(blend(pa.table(table()), "y"))
    assert words in verdict(edited(found, own, plain)).sentence
