"""Every loss works from the table to the page: blend, summary, page and command line."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures import LOSSES, Loss
from normalhedge.mixtures.losses import CLASSES, NUMBERS, loss_of
from normalhedge.tables._hindsight import hindsight
from tests.cli.command import call
from tests.reports.test_blend import write

SETTINGS = {"pinball": ":level=0.9", "huber": ":delta=0.5", "expectile": ":level=0.8"}
MADE = {
    name + SETTINGS.get(name, ""): make().forecasts
    for name, make in LOSSES.items()
    if name != "crps"
}
OF_NUMBERS = [text for text, kind in MADE.items() if kind is NUMBERS]
OF_CLASSES = [text for text, kind in MADE.items() if kind is CLASSES]


def table_for(loss: str) -> tuple[pa.Table, dict[str, Any]]:
    """Return a table of forecasts, and the arguments of `blend` that go with it."""
    rng = np.random.default_rng(3)
    if loss in OF_CLASSES:
        labels, p = rng.integers(0, 2, 120), rng.uniform(0.05, 0.95, 360)
        columns = {"time": np.repeat(np.arange(120), 3), "model": ["a", "b", "c"] * 120}
        table = pa.table({"y": np.repeat(labels, 3), **columns, "p": 1.0 - p, "q": p})
        return table, {"classes": ["p", "q"], "time": "time", "model": "model"}
    y = rng.normal(5.0, 2.0, 120)
    errors = {name: rng.normal(0.3 * k, 1.0, 120) for k, name in enumerate("abc")}
    return pa.table({"y": y, **{name: y + error for name, error in errors.items()}}), {}


@pytest.mark.parametrize("loss", [*OF_NUMBERS, *OF_CLASSES])
@pytest.mark.parametrize("hedger", ["auto", "squint"])
def test_a_table_its_summary_and_its_page(loss: str, hedger: str, tmp_path: Path) -> None:
    table, options = table_for(loss)
    result = blend(table, "y", hedger=hedger, loss=loss, **options)
    summary, one = result.summary(), loss_of(loss)
    assert f"loss {one.brief}" in str(summary)
    lines = {line.name: line.loss for line in summary.comparison.lines}
    found = hindsight(result)
    if one.has_best_convex:
        assert lines["best convex combination"] <= lines["best expert"] + 1e-12
        assert found.convex <= found.expert + 1e-12
        assert summary.comparison.gap <= 1e-6 * lines["best convex combination"]
    else:
        assert "best convex combination" not in lines
        assert np.isnan(found.convex)
    write(tmp_path / "page.html", result, summary, "A page")
    page = (tmp_path / "page.html").read_text()
    assert one.name in page
    result.mixture.save(tmp_path / "mixture.json")
    assert Mixture.load(tmp_path / "mixture.json").settings.loss == one


@pytest.mark.parametrize("loss", OF_NUMBERS)
def test_the_command_line(loss: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pc.write_csv(table_for(loss)[0], tmp_path / "table.csv")
    saved = str(tmp_path / "out.csv")
    code, out, error = call(
        capsys,
        "blend",
        str(tmp_path / "table.csv"),
        "--target",
        "y",
        "--loss",
        loss,
        "--out",
        saved,
    )
    assert (code, error.count("error")) == (0, 0), error
    assert loss_of(loss).name in out + error


def test_percentages_of_nothing_are_refused() -> None:
    mixture = Mixture("squint", "mape")
    ticket = mixture.predict({"a": 1.0, "b": 2.0}).ticket
    for outcome in (0, 0.0, -0.0):
        with pytest.raises(ValueError, match="outcome must not be 0 with the mape loss"):
            mixture.update(ticket, outcome)
    mixture.update(ticket, 1.5)
    table = pa.table({"y": [1.0, 0.0], "a": [1.0, 2.0], "b": [1.0, 3.0]})
    with pytest.raises(ValueError, match=r"column y must not have 0 with the mape loss.* in row 2"):
        blend(table, "y", loss="mape")
    assert blend(table, "y", loss="smape").mixture.settings.loss.width == 2.0


def test_a_convex_loss_of_your_own_has_a_best_convex_combination() -> None:
    own = Loss(
        "mine", function=lambda x, y: (x - y) ** 2, slope=lambda x, y: 2 * (x - y), convex=True
    )
    table, _ = table_for("square")
    mine, known = (
        blend(table, "y", hedger="squint", loss=loss).summary() for loss in (own, "square")
    )
    assert mine.comparison.loss_of("best convex combination") == pytest.approx(
        known.comparison.loss_of("best convex combination"), rel=1e-8
    )
