"""The page of a blend: what it shows, and how it looks in a browser."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import blend
from normalhedge.reports import write_blend
from normalhedge.reports._verdict import verdict
from normalhedge.reports._wording import number
from normalhedge.reports.analysis._review import Review, review
from normalhedge.tables._timeline import timeline
from tests.reports.browser import in_browser, opened

NAME = "<img src=x onerror=alert(1)>"
SERIES = "<i>shop</i> & {k}"


def written(folder: Path, result: Any, **more: Any) -> tuple[Path, Review]:
    found = review(result, **more)
    path = folder / "page.html"
    write_blend(
        path, result.summary(), timeline(result), found, title="<b>title</b>", notes=result.notes,
        command="normalhedge blend", settings={"normalhedge": "0"},
    )  # fmt: skip
    return path, found


def body(path: Path) -> str:
    return path.read_text("utf-8").split("<body>")[1]


def cells(html: str) -> list[str]:
    return [unescape(cell) for cell in re.findall(r"<td[^>]*>([^<]*)</td>", html)]


def hourly(rounds: int = 24 * 30, series: int = 15) -> pd.DataFrame:
    """Return hourly rows of several series: a model that sleeps, and one that is absurd."""
    rng = np.random.default_rng(0)
    when = pd.date_range("2024-02-01", periods=rounds, freq="h").repeat(series)
    frame = pd.DataFrame({"ds": when})
    frame["unique_id"] = [SERIES.format(k=k) for k in range(series)] * rounds
    frame["y"] = 1000.0 + 100.0 * rng.normal(size=len(frame))
    frame[NAME] = frame["y"] + 10.0 * rng.normal(size=len(frame))
    frame["sleepy"] = (frame["y"] + 5.0 * rng.normal(size=len(frame))).where(when.day % 2 == 0)
    frame["ar"] = frame["y"] + 20.0 * rng.normal(size=len(frame))
    frame["absurd"] = 1e9
    return frame


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Review]:
    result = blend(hourly(), "y", by="unique_id", time="ds")
    x = result.frame["blend"].to_numpy()
    bands = {c: np.full(len(x), h) for c, h in ((0.5, 3.0), (0.9, 8.0))}
    lower, upper = ({c: x + s * h for c, h in bands.items()} for s in (-1.0, 1.0))
    return written(tmp_path_factory.mktemp("page"), result, lower=lower, upper=upper)


def test_the_verdict_comes_first_and_research_last(page: tuple[Path, Review]) -> None:
    html = body(page[0])
    told = verdict(page[1])
    assert told.sentence in unescape(html)
    order = [
        'id="verdict"', "Forecast and actual", 'id="errors-section"', "Errors by hour of the day",
        "Errors by weekday", "Errors by series", 'id="coverage-section"', 'id="weights-section"',
        'id="awake-section"', "For researchers", 'id="facts-section"', 'id="reproduce"',
    ]  # fmt: skip
    places = [html.index(part) for part in order]
    assert places == sorted(places)


def test_the_page_holds_the_numbers(page: tuple[Path, Review]) -> None:
    path, found = page
    shown = cells(body(path))
    for k, name in enumerate(found.errors.names):
        at = shown.index("plain average" if name == "plain mean" else name)
        want = [number(float(found.errors.values[m, 0, k])) for m in (1, 0)]  # MAE, RMSE
        assert shown[at + 1 : at + 3] == want
    assert found.series is not None
    for g, name in enumerate(found.series.labels):  # shown, or folded
        at = shown.index(name)
        assert shown[at + 1] == f"{found.series.counts[g, 0]:,}"
        assert shown[at + 2] == number(float(found.series.values[1, g, 0]))
    assert found.coverage is not None
    at = shown.index("90 %")
    assert shown[at + 1] == f"{100 * found.coverage.covered[1]:.1f} %"
    assert "nan" not in " ".join(shown)


def test_names_are_texts(page: tuple[Path, Review]) -> None:
    html = body(page[0])
    for bad in (NAME, "<i>shop", "<b>title"):
        assert bad not in html
    assert "&lt;img src=x" in html


def test_a_page_stays_small(page: tuple[Path, Review]) -> None:
    html = page[0].read_text("utf-8")
    assert len(html) < 3_500_000
    assert re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(?!data:)[^"]*"', html) == []


@in_browser
def test_the_page_in_a_browser(page: tuple[Path, Review], tmp_path: Path) -> None:
    shown = opened(page[0], tmp_path)
    for section in (
        "forecast", "by-hour-of-the-day", "by-weekday", "coverage", "reliability", "weights",
        "loss", "awake", "behind", "components",
    ):  # fmt: skip
        assert "<svg" in shown.split(f'id="{section}"')[1].split("<h2")[0], section
    forecast = shown.split('id="forecast"')[1].split("<h2")[0]
    assert "updatemenu-header" in forecast
    assert "90 % interval" in forecast
    assert "<img src=x" not in shown


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_few_rows(tmp_path: Path, rows: int) -> None:
    frame = pd.DataFrame(
        {"y": np.arange(rows) + 1.0, "a": np.arange(rows) * 1.0, "b": [1.0] * rows}
    )
    path, _ = written(tmp_path, blend(frame, "y"))
    html = body(path)
    assert "too early to say" in html
    assert "nan" not in " ".join(cells(html))


@pytest.mark.parametrize("loss", ["l1", "zero-one", "log-wealth", "pinball", "own"])
def test_other_losses(tmp_path: Path, loss: str) -> None:
    rng = np.random.default_rng(1)
    if loss == "l1":
        rows = [(t, t % 2, m, p, 1 - p) for t in range(40) for m, p in (("a", 0.3), ("b", 0.6))]
        frame = pd.DataFrame(rows, columns=["t", "y", "model", "p0", "p1"])
        result = blend(frame, "y", time="t", classes=["p0", "p1"], loss=loss)
    else:
        frame = pd.DataFrame(np.exp(rng.normal(size=(60, 3))), columns=["y", "a", "b"])
        frame = (frame > 1).astype(float) if loss == "zero-one" else frame
        given: Any = (lambda x, y: np.abs(x - y) ** 1.5) if loss == "own" else loss
        result = blend(frame, "y", loss=given)
    path, found = written(tmp_path, result)
    assert verdict(found).sentence in unescape(body(path))
    assert "nan" not in " ".join(cells(body(path)))
