"""Series that do not have all of their times in common: pooling goes on, and says what it did."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.live.sealed_file import sealed
from normalhedge.mixtures.rules import part_of
from tests.mixtures.saved_examples import version_4

SERIES, WEEKS, MODELS = 60, 100, 6


def panel(
    days: np.ndarray, series: int = SERIES, weeks: int = WEEKS, kept: np.ndarray | None = None
) -> pd.DataFrame:
    """Return weekly forecasts of models that share an error; ``days``: the day of each week."""
    rng = np.random.default_rng(0)
    y = rng.normal(50.0, 20.0, (series, 1)) + rng.normal(0.0, 3.0, (series, weeks))
    shared = rng.normal(0.0, 2.0, (series, weeks, 1))
    sizes = np.linspace(2.0, 8.0, MODELS)[rng.permutation(MODELS)]
    own = sizes * np.exp(0.3 * rng.normal(size=(series, 1, MODELS)))
    errors = (
        shared + own * rng.normal(size=(series, weeks, MODELS)) + np.linspace(-3.0, 5.0, MODELS)
    )
    times = days.reshape(-1, 1) + 7 * np.arange(weeks)
    table = {
        "series": np.repeat([f"s{k:02}" for k in range(series)], weeks),
        "time": np.broadcast_to(times, (series, weeks)).ravel(),
        "y": y.ravel(),
    }
    table |= {f"m{i}": (y[..., np.newaxis] + errors)[..., i].ravel() for i in range(MODELS)}
    frame = pd.DataFrame(table)
    return frame if kept is None else frame[kept.ravel()]


def loss_of(frame: pd.DataFrame, loss: str, **options: Any) -> float:
    found = blend(frame, "y", by="series", time="time", loss=loss, **options).frame
    errors = (found["y"] - found["blend"]).abs()
    return float(np.sqrt((errors**2).mean()) if loss == "square" else errors.mean())


TOGETHER = np.zeros(SERIES, dtype=int)
ONE = np.where(np.arange(SERIES) == 0, -1, 0)
THREE = np.arange(SERIES) % 3


@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("days", [ONE, THREE], ids=["one on another day", "three days"])
def test_other_days_of_the_week_spoil_nothing(days: np.ndarray, loss: str) -> None:
    assert loss_of(panel(days), loss) < 1.01 * loss_of(panel(TOGETHER), loss)


@pytest.mark.parametrize("loss", ["square", "absolute"])
@pytest.mark.parametrize("days", [1000 * np.arange(SERIES), np.arange(SERIES) % 7], ids=str)
def test_pooling_is_no_worse_than_weights_of_each_series(days: np.ndarray, loss: str) -> None:
    frame = panel(days)
    assert loss_of(frame, loss) < 1.02 * loss_of(frame, loss, pooled=False)


def test_series_that_never_meet() -> None:
    frame = panel(TOGETHER, weeks=30)
    frame["time"] = 100 * frame["time"] + frame["series"].str[1:].astype(int)
    assert loss_of(frame, "square") < 1.02 * loss_of(frame, "square", pooled=False)


def test_the_notes_say_what_was_done() -> None:
    def notes(frame: pd.DataFrame, **options: Any) -> str:
        return "; ".join(blend(frame, "y", by="series", time="time", **options).notes)

    together, three = panel(TOGETHER, weeks=20), panel(7 * THREE, weeks=20)
    apart = panel(THREE, weeks=20)
    for frame in (together, three, apart):
        assert "60 series pooled: in the end the blend follows the meta level of all" in notes(
            frame
        )
        assert "pooled" not in notes(frame, pooled=False)
        assert "pooled" not in notes(frame, hedger="squint")
    assert "few times in common" not in notes(together) + notes(three) + notes(together, lag=2)
    assert "an outcome counts from the next time of the table on" in notes(apart)
    alone = blend(apart, "y", by="series", time="time", lag=2)
    assert not alone.mixture.settings.shared
    assert "weights of its own alone: a lag of 2 is another time for each" in "; ".join(alone.notes)
    assert "60 series pooled" in notes(apart, lag=2, pooled=True)
    assert "pooled" not in notes(together[together["series"] == "s00"])


@pytest.mark.parametrize("days", [ONE[:9], THREE[:9], np.arange(9)], ids=str)
def test_parts_and_orders_of_rows_give_the_same_numbers(days: np.ndarray, tmp_path: Path) -> None:
    frame = panel(days, series=9, weeks=40)
    keys, options = ["time", "series"], {"target": "y", "by": "series", "time": "time"}
    whole = blend(frame.sort_values(keys), **options).frame["blend"].to_numpy()  # type: ignore[arg-type]
    shuffled = blend(frame.sample(frac=1.0, random_state=1), **options).frame  # type: ignore[arg-type]
    # Series are added up in the order in which they appear: that order changes rounding alone.
    np.testing.assert_allclose(shuffled.sort_values(keys)["blend"], whole, rtol=1e-9)
    mixture, parts = None, []
    for part in np.array_split(np.unique(frame["time"]), 4):
        rows = frame[frame["time"].isin(part)].sort_values(keys)
        found = blend(rows, mixture=mixture, **options)  # type: ignore[arg-type]
        parts.append(found.frame["blend"].to_numpy())
        found.mixture.save(tmp_path / "state.json")
        mixture = Mixture.load(tmp_path / "state.json")
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_the_usual_number_of_rows_is_the_mean_over_rows() -> None:
    mixture = blend(panel(ONE, weeks=20), "y", by="series", time="time").mixture
    squares, rows, rounds = part_of(mixture.live, "usual_rows")[0]
    sizes, ages = np.tile([1, SERIES - 1], 20), 0.99 ** np.arange(40)[::-1]
    np.testing.assert_allclose(
        [squares, rows, rounds], ages @ np.stack([sizes**2, sizes, 1.0 + 0.0 * sizes], axis=1)
    )
    assert squares / rows > SERIES - 3


def test_an_older_file_goes_on_with_the_mean_size_of_its_rounds(tmp_path: Path) -> None:
    path, frame = tmp_path / "state.json", panel(TOGETHER[:4], series=4, weeks=20)
    options = {"target": "y", "by": "series", "time": "time"}
    mixture = blend(frame, hedger="auto:inside=true", **options).mixture  # type: ignore[arg-type]
    mixture.save(path)
    found = version_4(json.loads(path.read_text()))
    del found["recipe"]["hedger"]["inside"]
    path.write_text(sealed(found))
    squares, rows, rounds = part_of(Mixture.load(path).live, "usual_rows")[0]
    assert (rounds, rows / rounds, squares / rows) == (20.0, 4.0, 4.0)
    np.testing.assert_array_equal(Mixture.load(path).weights, mixture.weights)


def test_equal_rounds_give_the_numbers_from_before_rounds_had_a_share() -> None:
    frame = panel(TOGETHER[:5], series=5, weeks=40)
    found = blend(frame, "y", by="series", time="time", hedger="auto:inside=true").frame["blend"]
    before = [
        58.56020144982781, 38.45673970211275, 63.50715053108394, 58.009370329831505,
        41.086699431327716,
    ]  # fmt: skip
    np.testing.assert_allclose(found.to_numpy()[39::40], before, rtol=1e-12)


def test_a_series_alone_plays_whole_rounds() -> None:
    frame = panel(TOGETHER, weeks=30)
    one = frame[frame["series"] == "s00"]
    pooled = blend(one, "y", by="series", time="time").frame["blend"]
    alone = blend(one, "y", time="time", experts=[f"m{i}" for i in range(MODELS)]).frame["blend"]
    np.testing.assert_array_equal(pooled.to_numpy(), alone.to_numpy())
