"""The headline of a page: from a file of forecasts to sentences, with one mad week."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import blend
from normalhedge.cli import main
from normalhedge.reports._verdict import absurdity, verdict
from normalhedge.reports.analysis import review
from tests.reports.browser import in_browser, opened

MODELS = ["gam", "ar", "arima"]
DAYS, WEEK = 700, slice(400, 407)


def daily(seed: int = 0) -> pd.DataFrame:
    """Return daily forecasts of three good models."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"ds": pd.date_range("2023-01-01", periods=DAYS, freq="D")})
    frame["y"] = 100.0 + 20.0 * rng.normal(size=DAYS)
    for k, name in enumerate(MODELS):
        frame[name] = frame["y"] + (3.0 + k) * rng.normal(size=DAYS)
    return frame


def page_of(folder: Path, frame: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Return the text above the first section of a page, and the file with the blend."""
    data, out, page = folder / "data.csv", folder / "out.csv", folder / "page.html"
    frame.to_csv(data, index=False)
    words = ["blend", data, "--target", "y", "--time", "ds", "--out", out, "--report", page]
    main([str(word) for word in words])
    above = page.read_text("utf-8").split("<body>")[1].split("<h2")[0]
    return unescape(re.sub(r"<[^>]*>", "", above)), pd.read_csv(out)


def excess_over_mean(frame: pd.DataFrame, out: pd.DataFrame) -> tuple[float, float]:
    """Return by how many percent the RMSE of the blend is above the plain mean's.

    First over all rows, then without the 7 rows of the largest error of the blend, of the plain
    mean, of the plain median or of the best model.
    """
    table = pd.DataFrame({"blend": out["blend"], "mean": frame[MODELS].mean(axis=1)})
    table["median"] = frame[MODELS].median(axis=1)
    table["gam"] = frame["gam"]
    squares = table.sub(frame["y"], axis=0) ** 2
    kept = squares.drop(squares.max(axis=1).nlargest(DAYS // 100).index)
    every, usual = (part.mean() ** 0.5 for part in (squares, kept))
    shares = (rmse["blend"] / rmse["mean"] - 1.0 for rmse in (every, usual))
    first, second = (100.0 * float(share) for share in shares)
    return first, second


def told(text: str, other: str) -> float:
    """Return the number of percent that a text says beside a yardstick."""
    hit = re.search(rf"([\d.]+) % (below|above) the {other}", text)
    assert hit is not None, text
    return float(hit[1]) * (1.0 if hit[2] == "above" else -1.0)


def test_a_mad_week_does_not_make_the_headline(tmp_path: Path) -> None:
    frame = daily()
    frame.loc[frame.index[WEEK], "arima"] += 5000.0
    text, out = page_of(tmp_path, frame)
    every, usual = excess_over_mean(frame, out)
    assert every < -90.0 < -40.0 < usual < 0.0
    headline, rest = text.split("Over all rows it is ")
    assert headline.split("\n")[-1].startswith("In 99 % of the rows, the blend's error is ")
    assert told(headline, "plain average") == pytest.approx(usual, abs=0.51)
    assert told(rest, "plain average") == pytest.approx(every, abs=0.51)
    assert "7 rows (most from 5 February 2024 to 11 February 2024) make the difference." in rest
    assert "arima was absurd in 7 of 700 rows (most from" in rest


def test_calm_models_leave_the_headline_alone(tmp_path: Path) -> None:
    text, out = page_of(tmp_path, daily())
    every, _ = excess_over_mean(daily(), out)
    assert "of the rows" not in text
    assert "absurd" not in text
    assert told(text, "plain average") == pytest.approx(every, abs=0.51)


def test_rows_that_nobody_could_forecast_hide_the_lead(tmp_path: Path) -> None:
    frame = daily()
    frame["ar"] = frame["y"] + 40.0 + frame["ar"] - 100.0  # a poor model spoils the plain average
    frame.loc[frame.index[50:700:100], "y"] += 3000.0
    text, out = page_of(tmp_path, frame)
    every, usual = excess_over_mean(frame, out)
    assert abs(every) < 5.0 < -usual
    first, second = text.split("In 99 % of the rows it is ")
    assert first.strip().split("\n")[-1].startswith("The blend's error is ")
    assert told(first, "plain average") == pytest.approx(every, abs=0.51)
    assert told(second, "plain average") == pytest.approx(usual, abs=0.51)
    assert "without 7 rows with the largest errors." in second  # far apart: no stretch of time
    assert "was absurd" not in text


def test_the_model_with_most_harm_comes_first() -> None:
    frame = daily()
    frame["copy"] = frame["gam"] + 1.0
    frame.loc[frame.index[WEEK], "arima"] += 500.0
    frame.loc[frame.index[:40], "ar"] += 2000.0
    found = review(blend(frame, "y", time="ds"))
    assert [(model.name, len(model.rows)) for model in found.absurd] == [("ar", 40), ("arima", 7)]
    worst = found.absurd[0]
    squares = ((frame["ar"] - frame["y"]) ** 2)[:40]
    assert worst.error == pytest.approx(squares.mean() ** 0.5)
    rest = frame[["gam", "ar", "arima", "copy"]].sub(frame["y"], axis=0)[:40] ** 2
    assert worst.median == pytest.approx(np.sort(rest, axis=1)[:, 1].mean() ** 0.5)
    assert absurdity(found).endswith("Absurd at times, too: arima (7 rows).")
    assert absurdity(found).startswith("ar was absurd in 40 of 700 rows")


def test_the_guard_is_told_of_where_nobody_was_absurd() -> None:
    found = review(blend(daily(), "y", time="ds"))
    assert found.absurd == []
    assert absurdity(found) == ""
    assert absurdity(found, [("ar", 6), ("gam", 1)]) == ""  # less than one in a hundred rows
    assert absurdity(found, [("ar", 7), ("gam", 1)]) == (
        "ar had 7 absurd forecasts, which the guard clipped."
    )


@pytest.mark.parametrize("loss", ["zero-one", "log-wealth"])
def test_losses_without_outliers_have_one_headline(loss: str) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(np.exp(rng.normal(size=(300, 3))), columns=["y", "a", "b"])
    given: Any = (frame > 1).astype(float) if loss == "zero-one" else frame
    found = review(blend(given, "y", loss=loss))
    assert found.usual is None
    assert "of the rows" not in verdict(found).sentence


@pytest.mark.parametrize(
    ("every", "usual", "start"),
    [
        (-0.5, -0.1, "In 99 % of the rows"),
        (-0.1, -0.5, "The blend's error is 10 % below"),
        (-0.03, 0.02, "In 99 % of the rows"),
        (0.2, -0.3, "The blend's error is 20 % above"),
        (-0.3, -0.25, ""),  # less than a third
        (-0.05, -0.02, ""),  # less than five points
        (-0.004, 0.004, ""),  # less than one
    ],
)
def test_a_change_counts_from_a_size_on(every: float, usual: float, start: str) -> None:
    found = review(blend(daily(), "y", time="ds"))

    def shifted(comparison: Any, share: float) -> Any:
        """Return a comparison in which the blend has a share of the error of the plain mean."""
        errors = comparison.errors
        values = errors.values.copy()
        values[0, 0, 1] = errors.blend[0, 0, 1] / (1.0 + share)
        return replace(comparison, errors=replace(errors, values=values), best=None)

    assert found.usual is not None
    assert found.usual.rows == 693
    text = verdict(replace(shifted(found, every), usual=shifted(found.usual, usual))).sentence
    assert text.startswith(start)
    assert ("of the rows" in text) == bool(start)
    assert ("make the difference" in text) == start.startswith("In")


@in_browser
@pytest.mark.parametrize("width", [500, 420])
def test_narrow_pages_lose_no_column(tmp_path: Path, width: int) -> None:
    """Each table stays in its box, which scrolls and says so; the page itself does not scroll."""
    page_of(tmp_path, daily().rename(columns={"gam": "a gam of rather many words"}))
    page = tmp_path / "page.html"
    script = """<script>addEventListener("load", () => {
      document.body.style.width = "WIDTHpx";
      document.querySelectorAll("details").forEach(fold => { fold.open = true; });
      setTimeout(() => {
        const edge = document.body.getBoundingClientRect().right;
        const boxes = [...document.querySelectorAll(".wide")];
        const loose = [...document.querySelectorAll("table")].filter(x => !x.closest(".wide"));
        const wide = boxes.filter(x => x.scrollWidth > x.clientWidth + 1);
        const told = wide.filter(x => getComputedStyle(x, "::before").content.includes("scroll"));
        const away = boxes.filter(x => x.getBoundingClientRect().right > edge);
        document.title = [boxes.length > 3, wide.length > 0, told.length === wide.length,
          loose.length, away.length,
          document.documentElement.scrollWidth <= innerWidth].join(" ");
      }, 1000);
    });</script></body>""".replace("WIDTH", str(width - 32))
    page.write_text(page.read_text("utf-8").replace("</body>", script), "utf-8")
    shown = opened(page, tmp_path / "browser", "--window-size=500,900")
    assert "<title>true true true 0 0 true</title>" in shown


def test_a_single_mad_row_has_one_date(tmp_path: Path) -> None:
    frame = daily().head(120)
    frame.loc[frame.index[60], "arima"] += 5000.0
    text, _ = page_of(tmp_path, frame)
    assert "1 row (on " in text
    assert "1 row (most" not in text
