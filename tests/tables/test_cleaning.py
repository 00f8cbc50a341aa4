"""Tables as people have them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.tables._cleaning import _number
from tests.tables.examples import values, wide


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("1.5", 1.5), ("-1,5", -1.5), ("1.234,5", 1234.5), ("1,234.5", 1234.5), ("1,234", 1234.0),
        ("1,234,567", 1234567.0), ("1 234,5", 1234.5), ("1e3", 1000.0), (" 7 ", 7.0),
        ("1,23", 1.23),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(word: str, number: float) -> None:
    assert _number(word) == number


def test_words_are_no_numbers() -> None:
    assert all(np.isnan(_number(word)) for word in ("", "n/a", "1.2.3", "--", "twelve"))


def test_a_few_bad_cells_do_not_cost_the_model() -> None:
    table = pd.DataFrame(wide(asleep=0.0))
    dirty = table.astype({"gam": object, "y": object})
    dirty.loc[[3, 7], "gam"] = ["n/a!", "?"]
    dirty.loc[5, "y"] = "tbd"
    clean = table.copy()
    clean.loc[[3, 7], "gam"] = np.nan
    clean.loc[5, "y"] = np.nan
    dirty = dirty.astype({"gam": str, "y": str})
    found = blend(dirty, "y")
    np.testing.assert_array_equal(values(found), values(blend(clean, "y")))
    notes = "; ".join(found.notes)
    assert "2 cells of column gam are no numbers and missing (row 4, 8: 'n/a!', '?')" in notes
    assert "1 cell of column y is no number and missing (row 6: 'tbd')" in notes


def test_a_column_of_words_is_no_model() -> None:
    table = pd.DataFrame(wide())
    table["colour"] = np.where(table.index % 2, "1.5", "red")
    table["code"] = [f"{k % 7:02d}" if k else "US" for k in table.index]
    found = blend(table, "y")
    assert found.mixture.names == ["gam", "ar", "naive"]
    assert "left out: colour, code" in found.notes


def test_columns_that_are_no_forecasts_are_named() -> None:
    table = pd.DataFrame(wide(asleep=0.0))
    table["count"] = table.index
    table["pressure"] = 1e6 + table.index % 5
    notes = "; ".join(blend(table, "y").notes)
    assert "count counts up evenly, like a row number: is it a forecast?" in notes
    assert "times as far from the target as the others: is it a forecast?" in notes
    assert "pressure is " in notes
    given = blend(table, "y", ["gam", "ar", "naive", "pressure"]).notes
    assert not any("is it a forecast" in note for note in given)


def test_a_datetime_index_is_the_time() -> None:
    table = pd.DataFrame(wide(asleep=0.0)).drop(columns=["unique_id"])
    expected = values(blend(table, "y"))
    dates = pd.date_range("2024-01-01", periods=len(table), freq="h", name="Date")
    for index in (dates, dates.rename(None), dates.to_period("h")):
        frame = table.drop(columns=["ds"]).set_index(index).sample(frac=1.0, random_state=0)
        found = blend(frame, "y")
        assert found.frame.index.equals(frame.index)
        assert list(found.frame.columns) == ["y", "blend"]
        np.testing.assert_array_equal(found.frame.sort_index()["blend"], expected)


def test_double_hours_are_explained_and_told_apart_by_their_offsets(tmp_path: Path) -> None:
    hours = pd.date_range("2024-10-25", periods=120, freq="h", tz="Europe/Berlin")
    table = pd.DataFrame(wide(asleep=0.0)).drop(columns=["unique_id"])
    expected = values(blend(table, "y"))
    assert hours.tz_localize(None).duplicated().sum() == 1
    with pytest.raises(ValueError, match="daylight saving time repeats, write the times with"):
        blend(table.assign(ds=hours.tz_localize(None)), "y")
    texts = [hour.isoformat() for hour in hours]
    assert sorted(texts) != texts
    for times in (hours, texts):
        np.testing.assert_array_equal(values(blend(table.assign(ds=times), "y")), expected)
    first = blend(table.assign(ds=texts).head(60), "y")
    first.mixture.save(tmp_path / "m.json")
    for times in (hours, texts):  # both are dates
        rest = table.assign(ds=times).iloc[60:]
        np.testing.assert_array_equal(first.predict(rest.head(1))["blend"], expected[60:61])
        later = blend(rest, "y", mixture=Mixture.load(tmp_path / "m.json"))
        np.testing.assert_array_equal(values(later), expected[60:])
    naive = table.assign(ds=[text[:19] for text in texts]).iloc[60:]
    with pytest.raises(ValueError, match="cannot be compared with the earlier ones"):
        blend(naive, "y", mixture=first.mixture)


def test_labels_as_text() -> None:
    rng = np.random.default_rng(0)
    sky = rng.choice(["rain", "snow", "sun"], size=60)
    good = np.where(rng.uniform(size=60) < 0.9, sky, "rain")
    table = pd.DataFrame({"y": sky, "good": good, "bad": rng.choice(["sun", "snow"], size=60)})
    found = blend(table, "y", loss="zero-one").frame
    assert (found["blend"] == good)[20:].mean() > 0.9
    assert found["y"].tolist() == sky.tolist()
    codes = {"rain": 0, "snow": 1, "sun": 2}
    coded = table.apply(lambda column: column.map(codes))
    numbers = blend(coded, "y", loss="zero-one").frame
    assert [codes[word] for word in found["blend"]] == numbers["blend"].tolist()


def test_the_target_of_class_probabilities_may_be_text() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for t in range(40):
        truth = int(rng.integers(3))
        for model, skill in (("good", 0.8), ("bad", 0.1)):
            p = np.full(3, (1 - skill) / 2)
            p[truth] = skill
            rows.append(
                {"model": model, "t": t, "y": truth, "p_rain": p[0], "p_snow": p[1], "p_sun": p[2]}
            )
    table = pd.DataFrame(rows)
    classes = ["p_rain", "p_snow", "p_sun"]
    options: dict[str, Any] = {"time": "t", "classes": classes, "loss": "l1"}
    expected = blend(table, "y", **options).frame
    for names in (["rain", "snow", "sun"], classes):
        found = blend(table.assign(y=[names[k] for k in table["y"]]), "y", **options).frame
        np.testing.assert_array_equal(found["blend_p_rain"], expected["blend_p_rain"])
        assert found["y"].iloc[0] in names
    with pytest.raises(ValueError, match="column y has the label 'fog', which is not one of rain"):
        blend(table.assign(y="fog"), "y", **options)


def test_labels_may_end_alike() -> None:
    """Both rain and sun end in n."""
    rows = [
        {"ds": t, "model": m, "p_rain": p, "p_sun": 1.0 - p, "y": "rain" if t % 3 else "sun"}
        for t in range(12)
        for m, p in (("a", 0.8), ("b", 0.4))
    ]
    table = pd.DataFrame(rows)
    found = blend(table, classes=["p_rain", "p_sun"], loss="log")
    assert found.frame["y"].tolist() == ["rain" if t % 3 else "sun" for t in range(12)]
    plain = table.rename(columns={"p_rain": "prain", "p_sun": "psnow"}).replace("sun", "snow")
    assert blend(plain, classes=["prain", "psnow"], loss="log").frame["y"][0] == "snow"


def _weather() -> pd.DataFrame:
    """Days of rain and sun, and of snow at the end."""
    rng = np.random.default_rng(0)
    truth = [*rng.choice(["rain", "sun"], 40), "snow", "snow"]
    right = rng.random((42, 3)) < [0.9, 0.5, 0.2]
    table = pd.DataFrame({"ds": range(42), "y": truth})
    for k, name in enumerate("abc"):
        table[name] = np.where(right[:, k], truth, "sun")
    return table


def test_labels_keep_their_meaning_from_table_to_table() -> None:
    """A later table has other labels, and the outcomes of rows that waited."""
    table, options = _weather(), {"loss": "zero-one", "hedger": "normal-hedge"}
    whole = blend(table, **options)  # type: ignore[arg-type]
    said, mixture = [], None
    for day in range(42):
        rows = table.iloc[max(day - 1, 0) : day + 1].copy()  # the outcome of yesterday
        rows.loc[day, "y"] = None
        found = blend(rows, **({"mixture": mixture} if mixture else options))  # type: ignore[arg-type]
        mixture = found.mixture
        said.append(found.frame["blend"].iloc[-1])
    assert said == whole.frame["blend"].tolist()


@pytest.mark.parametrize("said", [["rain", "sun"], [0.0, 1.0]])
def test_a_first_table_may_have_no_outcome_yet(said: list[Any]) -> None:
    """A column without a single value has no type: it holds labels if the columns of experts do."""
    table = pd.DataFrame({"a": [said[0]], "b": [said[1]], "c": [said[0]]})
    found = blend(table.assign(y=pd.Series([None], dtype=object)), "y", loss="zero-one")
    assert found.frame["blend"].tolist() == [said[0]]


def test_a_growing_table_with_a_new_label_is_recognised() -> None:
    table = _weather()
    first = blend(table.head(40), loss="zero-one", hedger="normal-hedge")
    later = blend(table, mixture=first.mixture)
    assert len(later.frame) == 42
    assert later.frame["blend"].tolist()[:40] == first.frame["blend"].tolist()


def test_the_future_of_labels_has_labels() -> None:
    table = _weather()
    found = blend(table.head(40), loss="zero-one", hedger="normal-hedge")
    unknown = table.assign(y=table["y"].where(table.index < 40))
    expected = blend(unknown, loss="zero-one", hedger="normal-hedge").frame["blend"].tolist()[40:]
    for columns in (["y"], ["y", "c"]):
        result = found.predict(table.iloc[40:].drop(columns=columns))
        assert result["blend"].tolist() == expected
