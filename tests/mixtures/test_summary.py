"""The text of a summary, in a terminal and in a notebook."""

import re
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture, blend
from normalhedge.boundary.terminal import counted
from normalhedge.hedgers import Hedge
from normalhedge.mixtures import Summary
from normalhedge.mixtures.state.sum_rows import ABSURD
from tests.mixtures.summary_examples import fed, numbers, table_of
from tests.rules import SINGLE


def test_a_summary_tells_the_story() -> None:
    mixture = Mixture(Hedge(alpha=0.05, eta=0.5), loss="absolute")
    rng = np.random.default_rng(10)
    for k in range(60):
        said: dict[str, float | None] = {
            "good": 0.1 * rng.normal(),
            "bad": rng.normal(),
            "late": None,
        }
        if k > 50:
            said["late"] = 0.5
        mixture.update(mixture.predict(said).ticket, 0.0)
    summary = mixture.summary()
    assert summary.best is not None
    assert summary.best.name == "good"
    assert summary.blend < summary.uniform
    assert summary.convex <= summary.convex_blend
    assert summary.regret <= summary.bound.regret
    text = str(summary)
    for word in (
        "good",
        "late",
        "at most",
        "best convex combination",
        "above average since",
        "60",
    ):
        assert word in text
    page = summary._repr_html_()
    assert page.count("<table>") == 4
    # Results come first, theory last.
    results, theory = text.split("\n  theory\n")
    assert "best convex combination" in results
    assert "at most" in theory
    assert "at most" not in results
    assert page.index("best convex combination") < page.index("<p>theory</p>")
    assert "good" in page
    assert str(Mixture().summary()).startswith("auto (14 ways of combining, guard on)")
    assert str(Mixture(SINGLE).summary()).startswith("NormalHedge")


def test_small_components_are_summed_up() -> None:
    y, x = numbers(300)
    summary = fed(Mixture(), y, x).summary()
    head, body = summary.component_table()
    assert head == ["component", "weight", "mean loss"]
    shown = [row for row in summary.components if row.weight >= 0.03]
    rest = counted(14 - len(shown), "other")
    assert [row[0] for row in body] == [*(row.name for row in shown), rest]
    assert sum(float(row[1]) for row in body) == pytest.approx(1.0, abs=0.01)
    assert body[-1][2] == ""


def test_the_settings_of_auto() -> None:
    def settings(*given: Any, **more: Any) -> str:
        return Mixture(*given, **more).summary().settings

    assert settings() == "auto (14 ways of combining, guard on), loss square"
    assert settings("auto:guard=false") == "auto (14 ways of combining, guard off), loss square"
    assert "compared over 50 rounds" in settings("auto:memory=50")
    assert settings(loss="l1") == "auto (14 ways of combining), loss l1"
    assert settings(loss="zero-one") == "auto (4 ways of combining), loss zero-one"
    assert settings("squint").startswith("Squint(alpha=0.05), loss square, mean, gradient")


def test_what_means_nothing_for_auto_is_left_out() -> None:
    y, x = numbers(60)
    auto, single = (fed(Mixture(hedger), y, x) for hedger in (None, "normal-hedge"))
    assert np.isnan(auto.regrets).all()
    assert auto.regrets.shape == auto.weights.shape
    assert np.isfinite(single.regrets).all()
    for word in ("largest regret", "range of losses"):
        assert word not in str(auto.summary())
        assert word in str(single.summary())
    assert "regret" not in auto.summary().table()[0]  # the columns of the experts
    assert "regret" in single.summary().table()[0]
    assert "regret to a component" in str(auto.summary())
    assert "weights of the components" not in str(single.summary())
    assert single.summary().components == []


def test_the_guard_names_whom_it_moved() -> None:
    y, x = numbers(200)
    x = np.nan_to_num(x)
    x[50:140:10, 0] = 1e9
    x[55:85:10, 3] = -1e9
    mixture = fed(Mixture(), y, x)
    counts = dict(zip(mixture.names, mixture.live.expert_sums[ABSURD], strict=True))
    assert counts["gam"] >= 9
    said = mixture.summary().guarded
    assert said.startswith(f"the guard moved {int(sum(counts.values()))} absurd forecasts: ")
    assert f"{int(counts['gam'])} of gam" in said
    assert f"{int(counts['survey'])} of survey" in said
    assert said.endswith("auto:guard=false switches it off")
    assert said in str(mixture.summary())
    free = fed(Mixture("auto:guard=false"), y, x).summary()
    assert free.guarded == ""
    assert "the guard moved" not in str(free)
    assert blend(table_of(y, x), "y").summary().guarded == said


def test_of_many_experts_the_guard_names_some() -> None:
    y, x = numbers(30)
    summary = fed(Mixture(), y, x).summary()
    moved = [(f"team-{k}", 9 - k) for k in range(7)]
    said = Summary(**{**vars(summary), "moved": moved}).guarded
    assert said.startswith("the guard moved 42 absurd forecasts: 9 of team-0, 8 of team-1, ")
    assert "5 of team-4, 7 of 2 others;" in said
    said = Summary(**{**vars(summary), "moved": [("a", 1)]}).guarded
    assert said.startswith("the guard moved 1 absurd forecast: 1 of a;")


def test_a_notebook_shows_the_same() -> None:
    y, x = numbers(120)
    x[60] = [1e9, 0.0, 0.0, 0.0]
    mixture = fed(Mixture(), y, x)
    mixture.update(mixture.predict({"<b>bold</b>": 1.0}).ticket, 1.0)
    summary = mixture.summary()
    page = summary._repr_html_()
    assert "<b>bold</b>" not in page
    for title, (head, body) in summary.tables():
        assert title in page
        for cell in [*head, *(cell for row in body for cell in row if "<" not in cell)]:
            assert f">{cell}</t" in page
    assert summary.guarded in page
    assert page.count("<table>") == 5


def test_rows_and_rounds_are_told_apart() -> None:
    mixture = Mixture()
    for _ in range(3):
        made = mixture.predict({"a": {"x": 1.0, "y": 2.0}, "b": {"x": 1.0, "y": 2.0}})
        mixture.update(made.ticket, {"x": 1.0, "y": 2.0})
    assert mixture.summary().facts()[0] == ("rows", "6, in 3 rounds")
    single = Mixture()
    single.update(single.predict({"a": 1.0}).ticket, 1.0)
    assert single.summary().facts()[0] == ("rounds", "1")
    assert repr(single) == "Mixture(auto, square: 1 expert (a), 1 round, 0 pending)"


def test_one_is_not_counted_as_many() -> None:
    mixture = Mixture(interval=0.9)
    mixture.update(mixture.predict({"a": 1.0, "b": 2.0}).ticket, 1.0)
    made = mixture.predict({"a": 1.0, "b": 2.0})
    mixture.update(made.ticket, 1.0)
    text = str(mixture.summary())
    assert "of 1 outcome" in text
    assert not re.search(r"\b1 (rows|rounds|others|outcomes|experts)\b", text)
