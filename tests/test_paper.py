"""The paper, reproduced in small."""

import dataclasses
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from normalhedge.experiments import claims, measures, paper
from normalhedge.experiments.cells import Cells, trace_from_arrays, trace_to_arrays
from normalhedge.experiments.figures import (
    ALPHA,
    FIGURES,
    HEDGE,
    HEDGE_CORRECTED,
    HEDGE_DERIVED,
    STYLES,
    Panel,
    normal,
)
from normalhedge.experiments.fingerprint import NOW, PACKAGE, SHOWN, contents, fingerprint
from normalhedge.games import Curves, GoodAndBad, Trace, play
from normalhedge.reports import Claim

PAGE_VERSION = '"normalhedge": normalhedge.__version__,'
SMALL = paper.Settings(runs=2, rounds=400, quick=True)


def test_the_figures_are_those_of_the_paper() -> None:
    one, two, three = FIGURES
    assert {(p.gamma, p.f) for p in one.panels} == {
        (g, f) for g in (0.2, 0.4, 0.6, 0.8) for f in (0.001, 0.01)
    }
    assert {(p.gamma, p.f) for p in two.panels} == {
        (g, f) for g in (0.2, 0.4, 0.6, 0.8) for f in (0.1, 0.5)
    }
    assert [(p.gamma, p.experts) for p in three.panels] == [
        (g, n) for n in (1000, 100, 10) for g in (0.2, 0.8)
    ]
    assert all(p.f == 0.1 for p in three.panels)
    assert {p.experts for p in one.panels + two.panels} == {1000}
    settings = paper.Settings()
    assert (settings.runs, settings.rounds, ALPHA) == (50, 10_000, 0.001)
    panel = one.panels[0]
    assert list(panel.hedgers()) == list(STYLES)
    printed = [name for name, style in STYLES.items() if not style.second]
    assert printed == [HEDGE, normal(1.0), normal(2.0), normal(4.0)]
    assert panel.nature.good == 1
    assert panel.nature.shift == 1000


def small_trace(panel: Panel = FIGURES[2].panels[-1]) -> Trace:
    return play(panel.hedgers(), panel.nature, 400, 3, every=20, parts=10)


def test_cells_come_back_to_the_bit(tmp_path: Path) -> None:
    said: list[str] = []
    cells = Cells(tmp_path / "cells", said.append)
    trace = small_trace()
    cells.save("one", {"seed": 1}, trace_to_arrays(trace))
    arrays = cells.load("one", {"seed": 1})
    assert arrays is not None
    back = trace_from_arrays(arrays)
    assert back.hedgers == trace.hedgers
    assert back.runs == trace.runs
    for name in ("rounds", "highest_regret", "highest_potential", "part_regret"):
        np.testing.assert_array_equal(getattr(back, name), getattr(trace, name))
    for name in ("regret", "potential", "gain"):
        for one, other in zip(getattr(back, name), getattr(trace, name), strict=True):
            np.testing.assert_array_equal(one, other)
    assert cells.load("one", {"seed": 2}) is None
    assert cells.load("two", {"seed": 1}) is None
    assert said == []


def test_a_cell_with_a_part_missing_is_computed_again(tmp_path: Path) -> None:
    said: list[str] = []
    cells = Cells(tmp_path, said.append)
    cells.save("one", {}, {"a": np.arange(3.0), "b": np.arange(4.0)})
    with np.load(tmp_path / "one.npz") as saved:
        left = {name: saved[name] for name in saved.files if name != "b"}
    np.savez_compressed(tmp_path / "one.npz", **left)
    assert cells.load("one", {}) is None
    assert "parts of it are missing" in said[0]


@pytest.mark.parametrize(
    "spoil", [lambda b: b[:50], lambda b: b[:0], lambda b: b[:-40] + b"x" * 40]
)
def test_a_spoiled_cell_is_computed_again_with_a_word(
    tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    said: list[str] = []
    cells = Cells(tmp_path, said.append)
    cells.save("one", {}, {"a": np.arange(1000.0)})
    path = tmp_path / "one.npz"
    path.write_bytes(spoil(path.read_bytes()))
    assert cells.load("one", {}) is None
    assert len(said) == 1
    assert "one.npz cannot be read" in said[0]
    assert "computed again" in said[0]


def copied(folder: Path) -> tuple[Path, Path]:
    """Copy the package; return its folder, and a file in place of the core."""
    package = folder / "normalhedge"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    core = folder / "_core.so"
    core.write_bytes(b"core")
    return package, core


@pytest.mark.parametrize("upper", [(), ("latent",), ("mixtures",), ("mixtures", "latent")])
@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("hedgers/normal_hedge.py", ""),
        ("_inputs.py", ""),
        ("experiments/contests.py", ""),
        ("experiments/paper.py", ""),
        ("certificates/proofs/index.json", ""),
        ("latent/hmm_bank.py", "latent"),
        ("mixtures/mixture.py", "mixtures"),
        ("cli/paper.py", "nowhere"),
        ("reports/page.py", "nowhere"),
        ("plots.py", "nowhere"),
        ("experiments/claims.py", "nowhere"),
        ("py.typed", "nowhere"),
    ],
)
def test_the_fingerprint_changes_with_what_computes(
    tmp_path: Path, upper: tuple[str, ...], name: str, layer: str
) -> None:
    package, core = copied(tmp_path)
    before = fingerprint(*upper, code=contents(package, core))
    moved = package.rename(tmp_path / "elsewhere")
    assert fingerprint(*upper, code=contents(moved, core)) == before
    content = bytearray((moved / name).read_bytes() or b"x")
    content[-1] ^= 1
    (moved / name).write_bytes(content)
    after = fingerprint(*upper, code=contents(moved, core))
    assert (after != before) == (layer in ("", *upper))


def test_the_fingerprint_has_the_core_and_the_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, core = copied(tmp_path)
    before = contents(package, core)
    core.write_bytes(b"cor3")
    assert fingerprint(code=contents(package, core)) != fingerprint(code=before)
    core.write_bytes(b"core")
    assert contents(package, core) == before
    assert before["core"] != NOW["core"]
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"another {name}")
    after = contents(package, core)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"numpy", "scipy", "latent/hmmlearn"}
    only = {**before, "latent/hmmlearn": "another"}
    assert fingerprint(code=only) == fingerprint(code=before)
    assert fingerprint("latent", code=only) != fingerprint("latent", code=before)
    assert len({fingerprint(), fingerprint("latent"), fingerprint("mixtures")}) == 3
    with pytest.raises(ValueError, match="upper must be of latent, mixtures, got games"):
        fingerprint("games")


def test_what_the_fingerprint_leaves_out_computes_nothing() -> None:
    """Nothing that measures imports what only judges or shows, and no key has a version."""
    shown = [Path(name).stem for name in SHOWN if name.startswith("experiments/")]
    assert all((PACKAGE / name).exists() for name in SHOWN)
    for path in (PACKAGE / "experiments").glob("*.py"):
        text = path.read_text("utf-8")
        # A page names the version; a key does not.
        said = [line.strip() for line in text.splitlines() if "__version__" in line]
        assert {*said} <= {PAGE_VERSION, '"numpy": np.__version__,'}, path
        if path.stem not in ("paper", "leaderboard", *shown):
            assert not re.search(rf"experiments(\.| import .*)({'|'.join(shown)})\b", text), path
    # The layers of one measurement that the fingerprint of another leaves out.
    for folder, others in (
        ("mixtures", "latent"),
        ("latent", "mixtures"),
        ("games", "latent|mixtures"),
        ("hedgers", "games|latent|mixtures"),
        ("certificates", "games|latent|mixtures"),
    ):
        for path in (PACKAGE / folder).rglob("*.py"):
            assert not re.search(rf"^\s*(from|import) normalhedge\.({others})\b",
                                 path.read_text("utf-8"), re.MULTILINE), path  # fmt: skip


def test_what_other_code_kept_is_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    measured = {"a": np.arange(3.0)}

    def measure(_seed: int, *, quick: bool) -> measures.Arrays:
        calls.append(f"{quick}")
        return measured

    monkeypatch.setattr(paper, "MEASUREMENTS", {"variance": measure, "learning": measure})
    codes = {(): "one", ("latent",): "two"}
    monkeypatch.setattr(paper, "fingerprint", lambda *upper: codes[upper])
    cells = Cells(tmp_path, print)

    def ask() -> int:
        for name in ("variance", "learning"):
            found = paper._measure(name, SMALL, cells, paper.Progress())
            np.testing.assert_array_equal(found["a"], measured["a"])
        return len(calls)

    assert [ask(), ask()] == [2, 2]
    codes[("latent",)] = "three"  # the other one does not depend on it
    assert [ask(), ask()] == [3, 3]
    codes[()] = "four"
    assert [ask(), ask()] == [4, 4]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    left, other = tmp_path / f".one.npz.part-{process.pid}-0123abcd.npz", tmp_path / ".part-abc.npz"
    for path in (left, other):
        path.write_bytes(b"half")
    Cells(tmp_path, print)
    assert not left.exists()
    assert other.exists()  # it may be anybody's


class Counted(paper.Progress):
    def __init__(self) -> None:
        self.units = self.expected = 0.0
        self.names: list[str] = []
        self.said: list[str] = []

    def total(self, units: float) -> None:
        self.expected = units

    def done(self, units: float, what: str) -> None:
        self.units += units
        self.names.append(what)

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


def test_reproduce_writes_everything_and_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Counted()
    result = paper.reproduce(tmp_path, SMALL, only=["figure-3"], progress=watch)
    assert watch.units == pytest.approx(watch.expected)
    names = {path.name for path in result.files}
    assert names == {
        "figure-3.png",
        "figure-3.pdf",
        "figure-3-second-set.png",
        "figure-3-second-set.pdf",
        "figure-3.parquet",
        "claims.parquet",
        "report.html",
    }
    assert all(path.stat().st_size > 1000 for path in result.files)
    data = pq.read_table(tmp_path / "figure-3.parquet")
    assert data.num_rows == 6 * 8 * 20
    assert "regret_mean" in data.column_names
    before = (tmp_path / "figure-3.parquet").read_bytes()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    spoiled = tmp_path / "cells" / "panel-gamma0.8-f0.1-n10.npz"
    spoiled.write_bytes(b"nonsense")
    again = Counted()
    paper.reproduce(tmp_path, SMALL, only=["figure-3"], progress=again)
    assert len(again.said) == 1
    assert (tmp_path / "figure-3.parquet").read_bytes() == before
    monkeypatch.setattr(paper, "play", refuse)
    paper.reproduce(tmp_path, SMALL, only=["figure-3"])
    with pytest.raises(AssertionError, match="computed again"):
        paper.reproduce(tmp_path, dataclasses.replace(SMALL, seed=1), only=["figure-3"])


def test_interrupted_work_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    right = play

    def stop_at_the_third(*arguments: object, **options: object) -> object:
        calls.append("")
        if len(calls) == 3:
            raise KeyboardInterrupt
        return right(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(paper, "play", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        paper.reproduce(tmp_path, SMALL, only=["figure-3"])
    assert len(list((tmp_path / "cells").iterdir())) == 2
    paper.reproduce(tmp_path, SMALL, only=["figure-3"])
    assert len(calls) == 3 + 4


def test_an_unknown_part_of_the_paper(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="did you mean figure-1"):
        paper.reproduce(tmp_path, SMALL, only=["figur-1"])


def fake(regrets: dict[str, float], runs: int = 6, noise: float = 0.01) -> Trace:
    """A trace of given mean regrets; the first part of the game twice as good for NormalHedge."""
    rng = np.random.default_rng(0)
    common = rng.normal(0, 1, (runs, 10))
    early = np.array([0.5] + [1.0] * 9)
    part = np.array(
        [
            regrets[name] * (early if name.startswith("Normal") else 1.0)
            + common
            + rng.normal(0, noise, (runs, 10))
            for name in STYLES
        ]
    )
    nothing = Curves(np.zeros((len(STYLES), 1)), np.zeros((len(STYLES), 1)))
    zeros = np.zeros(len(STYLES))
    return Trace(
        tuple(STYLES),
        np.array([1]),
        runs,
        nothing,
        nothing,
        nothing,
        None,
        None,
        zeros,
        zeros,
        part,
        None,
    )


GOOD = {
    HEDGE: 50.0,
    HEDGE_DERIVED: 45.0,
    HEDGE_CORRECTED: 46.0,
    normal(4.0): 40.0,
    normal(2.0): 35.0,
    normal(1.0): 30.0,
    normal(0.75): 29.0,
    normal(0.5): 28.0,
}
PANELS = [panel for figure in FIGURES for panel in figure.panels]


def test_verdicts_follow_the_data() -> None:
    good = dict.fromkeys(PANELS, fake(GOOD))
    assert verdict(claims.large_and_many(good)) == "holds"
    assert verdict(claims.smaller_c(good)) == "holds"
    assert verdict(claims.every_simulation(good)) == "holds"
    sharp = fake(GOOD | {HEDGE_DERIVED: 20.0})
    assert verdict(claims.every_simulation(good | {PANELS[0]: sharp})) == (
        f"holds only against {HEDGE} and {HEDGE_CORRECTED}"
    )
    bad = fake(GOOD | {HEDGE: 20.0, HEDGE_DERIVED: 20.0, HEDGE_CORRECTED: 20.0})
    assert verdict(claims.every_simulation(good | {PANELS[0]: bad})) == "does not hold"
    assert verdict(claims.large_and_many(dict.fromkeys(PANELS, bad))) == "does not hold"
    rising = fake(GOOD | {normal(1.0): 36.0, normal(2.0): 35.5, normal(4.0): 35.0})
    assert verdict(claims.smaller_c(dict.fromkeys(PANELS, rising))) == "does not hold"
    mixed = {panel: good[panel] if panel.f <= 0.01 else rising for panel in PANELS}
    assert verdict(claims.smaller_c(mixed)) == (
        "holds only if f = 0.001, N = 1000 or f = 0.01, N = 1000"
    )
    tie = fake(GOOD | {HEDGE: 28.5}, noise=5.0)  # as good as c = 1 is over all parts
    assert verdict(claims.every_simulation(dict.fromkeys(PANELS, tie))) != "holds"


def test_the_verdict_on_fewer_experts_follows_the_data() -> None:
    traces = {
        Panel(gamma, 0.1, n): fake({k: v + extra * k.startswith("Hedge") for k, v in GOOD.items()})
        for gamma in (0.2, 0.8)
        for n, extra in ((1000, 0.0), (100, 10.0), (10, 20.0))
    }
    assert verdict(claims.fewer_experts(traces)) == "holds"
    level = fake(GOOD | {HEDGE: 60.0})  # the other two rates do not gain from N = 1000 to 100
    some = traces | {Panel(gamma, 0.1, 100): level for gamma in (0.2, 0.8)}
    assert verdict(claims.fewer_experts(some)) == f"holds only against {HEDGE}"
    traces[Panel(0.8, 0.1, 10)] = fake(GOOD)
    assert verdict(claims.fewer_experts(traces)) == "does not hold"
    assert claims.judge({}, {}) == []


def test_an_advantage_that_is_not_early_is_said_to_be_so() -> None:
    trace = fake(GOOD)
    for name in (normal(1.0), normal(2.0), normal(4.0)):
        trace.part_regret[trace.hedgers.index(name), :, 0] *= 2.5
    row = claims.large_and_many(dict.fromkeys(PANELS[:4], trace))
    assert row.verdict == "holds only over all rounds"


def verdict(row: Claim) -> str:
    return row.verdict


def test_claims_are_judged_on_all_of_their_panels_or_not_at_all() -> None:
    traces = dict.fromkeys(PANELS, fake(GOOD))
    assert len(claims.judge(traces, {})) == 4
    assert [
        row.where for row in claims.judge(dict.fromkeys(FIGURES[2].panels, fake(GOOD)), {})
    ] == ["Section 4.2.2"]
    del traces[PANELS[0]]
    assert len(claims.judge(traces, {})) == 2


def test_parts_of_the_game_are_compared_apart() -> None:
    # Hedge is as good as NormalHedge over all, but not before the first shift.
    trace = fake(GOOD | {HEDGE: 28.5})
    assert claims._compare(trace, normal(1.0), HEDGE, slice(0, 1)) == -1
    assert claims._compare(trace, normal(1.0), HEDGE, slice(1, None)) == 1
    assert claims._compare(fake(GOOD, runs=1), normal(1.0), HEDGE) == 0


def test_times_to_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    def carried(nature: GoodAndBad, rounds: int, _: object) -> np.ndarray:
        shifts = rounds // nature.shift
        one = np.zeros((3, shifts, nature.shift // measures.SWITCH_EVERY))
        one[:, :, 3:] = 0.6  # seen first after 40 rounds
        one[2] = 0.4
        return one.reshape(3, -1)

    monkeypatch.setattr(measures, "good_weight", carried)
    times = measures.switch(0, quick=True)["times"]
    np.testing.assert_allclose(times[:, :2], 0.04)
    assert np.isinf(times[:, 2]).all()
    assert claims.switching({"times": times}).verdict == "does not hold"


def test_the_other_measurements_agree_with_what_is_known() -> None:
    found = {name: measure(0, quick=True) for name, measure in measures.MEASURES.items()}
    bound = found["hedge-bound"]
    reached = dict(zip(bound["experts"], bound["reached"], strict=True))
    assert reached[1000] == pytest.approx(3.87, abs=0.005)
    assert found["variance"]["variance"].mean() == pytest.approx(0.5, abs=0.02)
    assert found["theorem-1"]["potential"].max() < 2.32
    np.testing.assert_allclose(found["theorem-1"]["alpha_over_limit"], 0.99)
    rows = {row.where: row.verdict for row in claims.judge({}, found)}
    assert rows == {
        "Theorem 1": "holds",
        "Section 2.2": "does not hold",
        "Section 3.2": rows["Section 3.2"],
        "Section 4.1": "does not hold",
    }


def test_verdicts_of_measurements_can_turn() -> None:
    theorem = measures.Arrays(
        nature=np.array(["coins"]),
        experts=np.array([10.0]),
        potential=np.array([2.5]),
        regret=np.array([1.1]),
        quantile=np.array([0.5]),
        alpha_over_limit=np.array([0.99]),
    )
    assert claims.theorem_potential(theorem).verdict == "does not hold"
    assert claims.theorem_regret(theorem).verdict == "does not hold"
    ones = np.array([1.0, 1.01, 0.99])
    assert claims.variance_claim({"variance": ones}).verdict == "holds"
    infinite = {"potential_1": 1e6 * ones, "potential_half": ones}
    assert claims.smallest_c(infinite).verdict == "holds"
    assert claims.smallest_c({"potential_1": ones, "potential_half": ones}).verdict != "holds"
    times = np.full((len(measures.SWITCH_SETTINGS), 3, 2, 2), 0.5)
    assert claims.switching({"times": times}).verdict == "holds"
    times[0] = math.inf
    assert claims.switching({"times": times}).verdict.startswith("holds only if")
    kept = {
        k: np.array([v])
        for k, v in zip(
            ("experts", "reached", "normal_hedge", "claimed", "true"),
            (10, 1.0, 1.0, 2.0, 3.0),
            strict=True,
        )
    }
    assert claims.hedge_bound(kept).verdict == "holds"
    once = {k: np.append(v, v) for k, v in kept.items()}
    once["reached"] = np.array([1.0, 2.5])
    assert claims.hedge_bound(once).verdict == "does not hold"


@pytest.mark.slow
def test_the_whole_paper_agrees_with_the_errata(tmp_path: Path) -> None:
    result = paper.reproduce(tmp_path, paper.Settings(runs=12))
    verdicts = {row.claim[:30]: row.verdict for row in result.claims}
    assert verdicts["c = 1 outperforms Hedge in eve"] == f"holds only against {HEDGE}"
    assert verdicts["A discounted sum of fair coins"] == "does not hold"
    assert verdicts["The regret of Hedge with the d"] == "does not hold"
