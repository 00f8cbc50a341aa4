"""``normalhedge latent``: files, tables, states, and errors."""

import csv
import math
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from normalhedge.latent import Regimes
from tests.cli.command import call
from tests.latent.regimes.examples import switching, weather

FAST = ("--states", "1-2")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "weather.csv"
    heat = 3.0 * switching(300)[0] + np.random.default_rng(2).normal(size=300)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["day", "kind", "rain", "heat", "empty", "odd", "same", "far"])
        for day, word in enumerate(weather()):
            rain = "" if day == 9 else 0.0 if word == "dry" else 1.5 + day % 3
            when = f"20{20 + day // 336}/{day // 28 % 12 + 1:02d}/{day % 28 + 1:02d}"
            odd, far = "x" if day == 50 else day / 3, "inf" if day == 3 else day / 3
            rows.writerow([when, word, rain, heat[day], "", odd, 1, far])
    return path


def test_a_column_of_numbers(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    out, ahead, page = (tmp_path / name for name in ("o.csv", "a.parquet", "page.html"))
    code, text, error = call(
        capsys, "latent", str(data), "--column", "heat", "--time", "day", *FAST, "--forecast", "3",
        "--out", str(out), "--forecast-out", str(ahead), "--report", str(page),
    )  # fmt: skip
    assert code == 0
    assert "guessed: heat holds real numbers" in error
    for word in (
        "regime",
        "mean duration",
        "current regime",
        "+3",
        "90% interval",
        f"wrote {page}",
    ):
        assert word in text
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 300
    assert rows[5]["day"] == "2020/01/06"
    assert float(rows[50]["probability"]) >= 0.5
    table = pq.read_table(ahead)
    assert table.column_names[:4] == ["ahead", "mean", "low", "high"]
    assert table.num_rows == 3
    html = page.read_text()
    for word in ("The series and its regimes", "over time", "simple baselines", "2020-01-06",
                 "Can the intervals be trusted", "The next rounds"):  # fmt: skip
        assert word in html


def test_symbols_limits_and_several_columns(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "b.parquet"
    options = ("--column", "rain", "--above", "0", "--forecast", "2", "--out", str(out))
    code, text, _ = call(capsys, "latent", str(data), *options, *FAST)
    assert code == 0
    assert "1 of them without an observation" in text
    assert "p(above 0)" in text
    assert pq.read_table(out).column("observed")[9].as_py() is None
    code, text, _ = call(
        capsys, "latent", str(data), "--column", "heat", "--column", "rain", *FAST, "--forecast",
        "1", "--hedger", "normal-hedge:memory=200", "--budget", "9", "--seed", "4",
    )  # fmt: skip
    assert (code, "mean rain" in text) == (0, True)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ((), "--column is needed: .* has day, kind, rain"),
        (("--column", "kin"), "kind"),
        (("--column", "empty"), "no value is given"),
        (("--column", "same"), "every value is 1"),
        (("--column", "odd"), "values must be numbers, got 'x' in row 51"),
        (("--column", "far"), "within ±1e100, got inf in row 4"),
        (("--column", "day"), "these are dates, such as 2020.01.01"),
        (("--column", "heat", "--column", "kind"), "must all be numbers: in column kind, values"),
        (("--column", "heat", "--column", "heat"), "twice"),
        (("--column", "kind", "--above", "0"), "values must be numbers, got '(wet|dry)' in row 1"),
        (("--column", "heat", "--states", "0"), "number of states"),
        (("--column", "heat", "--states", "5-2"), "number of states"),
        (("--column", "heat", "--states", "two"), "number of states"),
        (("--column", "heat", "--forecast", "0"), "forecast"),
        (("--column", "heat", "--forecast", "-3"), "forecast"),
        (("--column", "heat", "--forecast", "many"), "forecast"),
        (("--column", "heat", "--forecast", "99999999"), "forecast"),
        (("--column", "heat", "--level", "1"), "level"),
        (("--column", "heat", "--hedger", "normal-hedg"), "normal-hedge"),
        (("--column", "heat", "--out", "x.txt"), "must end in"),
        (("--column", "heat", "--report", "x.csv"), "must end in .html"),
        (("--column", "heat", "--time", "year"), "year"),
        (("--column", "kind", "--kind", "numbers"), "values must be numbers"),
        (("--column", "heat", "--kind", "counts"), "counts must be whole numbers"),
        (("--column", "heat", "--out", "a.csv", "--forecast", "1", "--forecast-out", "a.csv"),
         "written already"),
        (("--column", "heat", "--forecast-out", "a.csv"), "needs --forecast"),
        (("--column", "heat", "--symbols", "a,b"), "--symbols is for streams"),
        (("--column", "heat", "--sync"), "--sync is for streams"),
        (("--column", "heat", "--state", "no/such/folder/s.json"), "there is no folder"),
    ],
)  # fmt: skip
def test_wrong_words_are_one_sentence(
    capsys: pytest.CaptureFixture[str], data: Path, options: tuple[str, ...], word: str
) -> None:
    code, _, error = call(capsys, "latent", str(data), *options)
    assert code == 2
    assert len(error.strip().splitlines()) == 1
    assert re.search(word, error)


def test_wrong_files_are_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    empty, header, cut, few = (tmp_path / f"{n}.csv" for n in ("empty", "header", "cut", "few"))
    cut = cut.with_suffix(".parquet")
    empty.write_text("")
    header.write_text("x\n")
    cut.write_bytes(b"PAR1")
    few.write_text("x\n1.5\n2\n3\n4\n5\n")
    for path in (tmp_path / "none.csv", empty, header, cut, few):
        code, _, error = call(capsys, "latent", str(path), "--column", "x")
        assert code == 2
        assert len(error.strip().splitlines()) == 1
    assert "at least 20 values are needed" in error
    code, _, error = call(capsys, "latent", str(few), "--out", str(few))
    assert (code, "write to another file" in error) == (2, True)
    path = tmp_path / "odd.csv"
    path.write_text("x,x\n1,2\n")
    code, _, error = call(capsys, "latent", str(path), "--column", "x")
    assert (code, "2 columns called x" in error) == (2, True)
    path.write_text("1\n0\n1\n0\n")
    code, _, error = call(capsys, "latent", str(path))
    assert (code, "must name the columns" in error) == (2, True)
    path.write_text("state,x\n" + "".join(f"{k},{math.sin(k * k)}\n" for k in range(50)))
    options = ("--column", "x", "--time", "state", "--out", str(tmp_path / "o.csv"))
    code, _, error = call(capsys, "latent", str(path), *options)
    assert (code, "state is a column of the output" in error) == (2, True)
    many = tmp_path / "many.csv"
    many.write_text("x\n" + "".join(f"name {k}\n" for k in range(10**6)))
    code, _, error = call(capsys, "latent", str(many))
    assert (code, "1,000,000 different symbols" in error) == (2, True)


def test_columns_of_arrow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.parquet"
    pq.write_table(pa.table({"x": pa.array([True, None, False] * 30)}), path)
    code, text, _ = call(capsys, "latent", str(path), *FAST)
    assert (code, "30 of them without an observation" in text) == (0, True)


def test_a_file_continues_where_another_ended(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    values = 3.0 * switching(300)[0] + np.random.default_rng(2).normal(size=300)
    one, two, both = (tmp_path / f"{name}.csv" for name in ("one", "two", "both"))
    for path, part in ((one, values[:180]), (two, values[180:]), (both, values)):
        path.write_text("x\n" + "".join(f"{x!r}\n" for x in part.tolist()))
    state, whole = tmp_path / "s.json", tmp_path / "w.json"
    for path, kept, options in ((one, state, FAST), (two, state, ()), (both, whole, FAST)):
        code, text, _ = call(capsys, "latent", str(path), "--state", str(kept), *options)
        assert (code, f"wrote {kept}" in text) == (0, True)
    found, expected = Regimes.load(state), Regimes.load(whole)
    assert found.rounds == expected.rounds == 300
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-6)
    code, _, error = call(capsys, "latent", str(two), "--state", str(state), "--states", "3")
    assert (code, "--states cannot change" in error) == (2, True)
    assert not list(tmp_path.glob("*.lock"))


def test_a_damaged_state_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"format": "normalhedge mixture", "version": 3}')
    code, _, error = call(capsys, "latent", "-", "--state", str(path))
    assert (code, "does not hold regimes" in error) == (2, True)
    assert len(error.strip().splitlines()) == 1
