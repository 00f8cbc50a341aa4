"""Sequences of people: how they are read, predicted and told."""

import csv
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from normalhedge import Hedge
from normalhedge.latent import HMMBank, infer
from normalhedge.latent.sequence import encode
from normalhedge.reports import write_inferred
from tests.test_cli import call
from tests.test_report import opened


def weather(days: int = 300) -> list[str]:
    bank = HMMBank.grid(2, [0.9], [0.1, 0.9])
    _, symbols = bank.sample(days, np.random.default_rng(0))
    return [("dry", "wet")[int(x)] for x in symbols]


def test_symbols_and_numbers_are_told_apart() -> None:
    words = encode(["b", None, "a", "", "b", float("nan")])
    assert words.labels == ("a", "b")
    np.testing.assert_array_equal(words.numbers, [1, np.nan, 0, np.nan, 1, np.nan])
    assert words.decoded() == ["b", None, "a", None, "b", None]
    assert words.said == "2 symbols"
    assert encode([True, False]).labels == ("False", "True")
    assert encode([10, 9, 10.0]).labels == ("9", "10")
    assert encode(list(range(13))).labels == ()
    assert encode([1000001, 1000002, 1000001]).labels == ("1000001", "1000002")
    assert encode([1, 2, 2.5]).labels == ()
    assert encode([1, 2, 2.5], kind="symbols").labels == ("1", "2", "2.5")
    assert encode([1, 2, 1], kind="numbers").labels == ()
    rain = encode([0.0, 2.0, None], above=0.0)
    np.testing.assert_array_equal(rain.numbers, [0, 1, np.nan])
    assert rain.labels == ("at most 0", "above 0")


@pytest.mark.parametrize(
    ("values", "options", "word"),
    [
        ([], {}, "no value is given"),
        ([None, float("nan"), " "], {}, "no value is given"),
        (["a", "a", None], {}, "every value is a"),
        ([2.5, 2.5], {}, "every value is 2.5"),
        ([1.0, 2.0], {"above": 5}, "every value is at most 5"),
        (["a", "b"], {"above": 0}, "numbers are wanted, got 'a' in row 1"),
        (["a", 1.0], {"kind": "numbers"}, "numbers are wanted, got 'a'"),
        ([1.0, math.inf], {"kind": "numbers"}, "within ±1e100, got inf in row 2"),
        ([1.5, 1e200], {}, "within ±1e100, got 1e.200 in row 2"),
        ([1, 2], {"kind": "words"}, "kind must be one of symbols, numbers"),
        ([1, 2], {"kind": "numbers", "above": 1}, "kind cannot be numbers"),
        ([f"day {k}" for k in range(300)], {}, "300 different symbols in 300 rows are too many"),
        ([f"day {k}" for k in range(30)], {}, "30 different symbols in 30 rows"),
        ([10**400, 1, 2], {}, "within ±1e100"),
        ([["a"], ["b"]], {}, r"words or numbers are wanted, got \['a'\] in row 1"),
        ([b"caf\xe9", "a"], {}, "words or numbers are wanted"),
        (["1", 1, "a"], {}, "words and numbers are mixed"),
        (["a", "b"], {"above": math.nan}, "above must"),
    ],
)
def test_what_cannot_be_predicted_is_a_sentence(values: Any, options: Any, word: str) -> None:
    with pytest.raises((ValueError, TypeError), match=word):
        encode(values, **options)


def test_states_of_symbols_are_found() -> None:
    bank = HMMBank.grid(2, [0.97], [0.1, 0.9])
    hidden, symbols = bank.sample(1500, np.random.default_rng(1))
    values: list[Any] = [("dry", "wet")[int(x)] for x in symbols]
    values[7] = None
    found = infer(values, candidates=80)
    assert found.sequence.labels == ("dry", "wet")
    assert (found.main.states[300:] == hidden[300:]).mean() > 0.85
    assert found.states.argmax(axis=1).tolist() == [0, 1]
    assert found.next.sum() == pytest.approx(1.0)
    assert found.next_states.sum() == pytest.approx(1.0)
    losses = {name: np.nanmean(went.losses) for name, went in found.went.items()}
    assert losses["state experts"] < 0.9 * losses["persistence"]
    _, rows = found.table()
    assert len(rows) == 11
    assert [float(row[1]) for row in rows] == sorted(float(row[1]) for row in rows)
    said, came, count = found.reliability()
    assert count.sum() == 1499
    assert (said * count).sum() == pytest.approx(np.delete(found.main.said[:, 1], 7).sum())
    assert (came * count).sum() == sum(value == "wet" for value in values)
    columns = found.columns()
    assert list(columns)[:4] == ["observed", "predicted", "p(dry)", "p(wet)"]
    assert columns["observed"][7] is None
    assert columns["loss"][7] is None


def test_predictions_know_nothing_of_what_comes() -> None:
    values = weather(200)
    whole, half = infer(values, candidates=30), infer(values[:120], candidates=30)
    for name, went in half.went.items():
        if "hindsight" not in name:
            np.testing.assert_allclose(went.said, whole.went[name].said[:120], atol=1e-12)
    rng = np.random.default_rng(2)
    numbers = rng.normal(5.0, 2.0, size=150).tolist()
    one, other = infer(numbers, candidates=30), infer([*numbers[:100], *[99.0] * 50], candidates=30)
    np.testing.assert_allclose(one.main.said[20:100], other.main.said[20:100], atol=1e-12)


def test_states_of_numbers_are_found() -> None:
    rng = np.random.default_rng(3)
    hidden = np.repeat([0, 1, 0, 1, 0, 1], 150)
    values: list[Any] = (np.array([10.0, 20.0])[hidden] + rng.normal(size=900)).tolist()
    values[:10] = [20.0 + x for x in rng.normal(size=10)]  # both are seen in the warm-up
    values[50], values[400] = None, 1e9
    found = infer(values, candidates=300)
    assert found.start == 20
    assert np.isnan(found.main.said[:20]).all()
    assert np.isnan(found.main.losses[:20]).all()
    assert np.isfinite(found.main.said[20:]).all()
    assert found.impossible == 1
    assert (found.main.states[300:] == hidden[300:]).mean() > 0.85
    assert found.states[0, 0] < found.states[1, 0]
    assert found.table()[0][2] == "mean error"
    assert found.columns()["predicted"][3] is None


def test_the_scale_waits_for_a_second_value() -> None:
    with pytest.raises(ValueError, match="real numbers need more than 20 values"):
        infer([1.5, 2.5, 3.5])
    found = infer([0.5] * 40 + [1.5, 0.5, 2.5, 0.7] * 20, candidates=20)
    assert found.start == 41
    assert np.isfinite(found.main.losses[41:]).all()


def test_one_state_one_candidate_and_other_hedgers() -> None:
    found = infer(weather(), states=1, candidates=1, hedger=Hedge(alpha=0.05, eta=0.5))
    assert found.main.state_weights.shape == (300, 1)
    assert found.main.candidates.min() == 1.0
    assert infer([0, 1], candidates=3).main.said.shape == (2, 2)


def test_a_symbol_may_be_rare_and_many() -> None:
    values = [f"s{k % 37}" for k in range(400)]
    found = infer(values, candidates=20, states=3)
    assert found.next.shape == (37,)
    assert np.isfinite(found.main.losses).all()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "weather.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["day", "kind", "rain", "empty"])
        for day, word in enumerate(weather()):
            rain = "" if day == 9 else 0.0 if word == "dry" else 1.5 + day % 3
            rows.writerow(
                [f"20{20 + day // 336}/{day // 28 % 12 + 1:02d}/{day % 28 + 1:02d}", word, rain, ""]
            )
    return path


def test_the_command(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    out, weights, page = (tmp_path / name for name in ("said.csv", "weights.parquet", "page.html"))
    options = ("--time", "day", "--candidates", "40", "--out", str(out), "--weights", str(weights))
    code, text, error = call(
        capsys, "latent", str(data), "--column", "kind", *options, "--report", str(page)
    )
    assert code == 0
    assert "kind holds 2 symbols" in error
    for word in ("persistence", "Bayes average", "what comes next: dry", f"wrote {page}"):
        assert word in text
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 300
    assert float(rows[5]["p(dry)"]) + float(rows[5]["p(wet)"]) == pytest.approx(1.0)
    assert rows[5]["day"] == "2020/01/06"
    table = pq.read_table(weights)
    assert table.num_columns == 41
    totals = sum(table.column(k).to_numpy() for k in range(1, 41))
    np.testing.assert_allclose(totals, 1.0)
    html = page.read_text()
    for word in ("What was said", "The hidden state", "Cumulative loss", "2020-01-06"):
        assert word in html
    code, text, _ = call(
        capsys, "latent", str(data), "--column", "rain", "--above", "0", "--states", "1",
        "--memory", "50", "--hedger", "hedge-fixed:eta=0.3", "--out", str(tmp_path / "b.parquet"),
    )  # fmt: skip
    assert code == 0
    assert "1 of them missing" in text
    assert pq.read_table(tmp_path / "b.parquet").column("observed")[9].as_py() is None


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ((), "--column is needed: .* has day, kind, rain, empty"),
        (("--column", "kin"), "kind"),
        (("--column", "empty"), "no value is given"),
        (("--column", "kind", "--above", "0"), "numbers are wanted, got 'wet' in row 1"),
        (("--column", "kind", "--states", "0"), "states"),
        (("--column", "kind", "--candidates", "0"), "candidates"),
        (("--column", "kind", "--memory", "0.5"), "memory must be"),
        (("--column", "kind", "--hedger", "normal-hedg"), "normal-hedge"),
        (("--column", "kind", "--out", "x.txt"), "must end in"),
        (("--column", "kind", "--report", "x.csv"), "must end in .html"),
        (("--column", "kind", "--time", "year"), "year"),
        (("--column", "day", "--kind", "numbers"), "numbers are wanted"),
        (("--column", "kind", "--out", "a.csv", "--weights", "a.csv"), "written already"),
        (
            ("--column", "kind", "--hedger", "normal-hedge:alpha=0.1", "--memory", "9"),
            "one of them",
        ),
    ],
)
def test_wrong_words_are_one_sentence(
    capsys: pytest.CaptureFixture[str], data: Path, options: tuple[str, ...], word: str
) -> None:
    code, _, error = call(capsys, "latent", str(data), *options)
    assert code == 2
    assert len(error.strip().splitlines()) == 1
    assert re.search(word, error)


def test_wrong_files_are_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    empty, header, cut = (tmp_path / name for name in ("empty.csv", "header.csv", "cut.parquet"))
    empty.write_text("")
    header.write_text("x\n")
    cut.write_bytes(b"PAR1")
    for path in (tmp_path / "none.csv", empty, header, cut):
        code, _, error = call(capsys, "latent", str(path), "--column", "x")
        assert code == 2
        assert len(error.strip().splitlines()) == 1
    same = tmp_path / "same.csv"
    same.write_text("x\n1\n2\n")
    code, _, error = call(capsys, "latent", str(same), "--out", str(same))
    assert code == 2
    assert "write to another file" in error
    assert same.read_text() == "x\n1\n2\n"


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium here")
@pytest.mark.parametrize("kind", ["two", "many", "numbers"])
def test_the_page_in_a_browser(tmp_path: Path, kind: str) -> None:
    values: list[Any] = weather()
    if kind == "many":
        values = [f"{word} {k % 3}" for k, word in enumerate(values)]
    elif kind == "numbers":
        values = [len(word) + k % 7 / 10 for k, word in enumerate(values)]
        values[60:90] = [3.0 + k / 9 for k in range(30)]
    page = tmp_path / "page.html"
    found = infer(values, candidates=20)
    write_inferred(
        page, found, range(len(values)), title="t", subtitle="s", command="c", settings={}
    )
    shown = opened(page, tmp_path / "profile")
    plots = {"two": 5, "many": 5, "numbers": 4}[kind]
    assert shown.count("main-svg") >= plots


def test_numbers_that_leave_their_scale_are_told() -> None:
    rng = np.random.default_rng(4)
    found = infer((np.arange(600) + rng.normal(size=600)).tolist(), candidates=20)
    assert found.impossible > 20
    assert (
        "leave the scale of the first 20" in dict(found.facts())["impossible under every candidate"]
    )
    assert np.isfinite(found.main.losses[20:]).all()


def test_only_the_weights_that_are_asked_for_are_kept() -> None:
    found = infer(weather(), candidates=40)
    kept = {name: went.candidates.shape[1] for name, went in found.went.items()}
    assert kept.pop("state experts") == 40
    assert set(kept.values()) == {0}
    assert all(went.candidates.base is None for went in found.went.values())


def test_hedgers_by_name(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    for name in ("squint", "fixed-share", "ada-hedge:alpha=0"):
        options = ("--column", "kind", "--candidates", "9", "--hedger", name)
        assert call(capsys, "latent", str(data), *options)[0] == 0


def test_names_of_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.csv"
    rows = "\n".join(f"{k},{word},{word}" for k, word in enumerate(weather(60)))
    path.write_text(f"loss,x,x\n{rows}\n")
    code, _, error = call(capsys, "latent", str(path), "--column", "x")
    assert (code, "2 columns called x" in error) == (2, True)
    path.write_text(f"loss,x,y\n{rows}\n")
    out = str(tmp_path / "o.csv")
    code, _, error = call(
        capsys, "latent", str(path), "--column", "x", "--time", "loss", "--out", out
    )
    assert (code, "loss is a column of the output" in error) == (2, True)
    path.write_text("1\n0\n1\n0\n")
    code, _, error = call(capsys, "latent", str(path))
    assert (code, "must name the columns" in error) == (2, True)
    path.write_text("x\n" + "\n".join(["NA", "rain", "sun", "sun", "null"] * 9) + "\n")
    code, text, _ = call(capsys, "latent", str(path), "--candidates", "9")
    assert (code, "18 of them missing" in text) == (0, True)


@pytest.mark.parametrize(
    ("when", "word"),
    [([None, *range(299)], "Some times are missing"), ([0, *range(299)], "do not increase")],
)
def test_odd_times_are_not_drawn(tmp_path: Path, when: list[Any], word: str) -> None:
    page = tmp_path / "page.html"
    found = infer(weather(), candidates=9)
    write_inferred(page, found, when, title="t", subtitle="s", command="c", settings={})
    assert word in page.read_text()


def test_columns_of_arrow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.parquet"
    pq.write_table(pa.table({"x": pa.array([True, None, False] * 30)}), path)
    code, text, _ = call(capsys, "latent", str(path), "--candidates", "10")
    assert code == 0
    assert "30 of them missing" in text
