"""``normalhedge latent``: files, streams, pages, and what is refused."""

import csv
import io
import json
import math
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from normalhedge.latent import Live, Regimes, infer, resume
from normalhedge.latent.regimes.baselines import baselines
from normalhedge.latent.regimes.code import Code
from normalhedge.latent.regimes.regimes_file import RegimesFile
from normalhedge.latent.regimes.regimes_stream import RegimesStream
from normalhedge.reports import write_inferred
from tests.test_cli import call
from tests.test_infer import switching, weather
from tests.test_latent_saved import bits
from tests.test_report import opened

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
    for word in ("regime", "stays for", "the regime now", "+3", "90% interval", f"wrote {page}"):
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
    for word in ("The series and its regimes", "over time", "simple others", "2020-01-06",
                 "Can the intervals be trusted", "The next rounds"):  # fmt: skip
        assert word in html


def test_symbols_limits_and_several_columns(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "b.parquet"
    options = ("--column", "rain", "--above", "0", "--forecast", "2", "--out", str(out))
    code, text, _ = call(capsys, "latent", str(data), *options, *FAST)
    assert code == 0
    assert "1 of them missing" in text
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
        (("--column", "odd"), "numbers are wanted, got 'x' in row 51"),
        (("--column", "far"), "within ±1e100, got inf in row 4"),
        (("--column", "day"), "these are dates, such as 2020.01.01"),
        (("--column", "heat", "--column", "kind"), "must all be numbers: in kind numbers are"),
        (("--column", "heat", "--column", "heat"), "twice"),
        (("--column", "kind", "--above", "0"), "numbers are wanted, got '(wet|dry)' in row 1"),
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
        (("--column", "kind", "--kind", "numbers"), "numbers are wanted"),
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
    assert (code, "30 of them missing" in text) == (0, True)


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
    assert (code, "--states is settled" in error) == (2, True)
    assert not list(tmp_path.glob("*.lock"))


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium here")
@pytest.mark.parametrize("kind", ["two", "many", "numbers", "columns", "counts"])
def test_the_page_in_a_browser(tmp_path: Path, kind: str) -> None:
    values: Any = weather()
    state, rng = switching(300)
    if kind == "many":
        values = [f"{word} {k % 3}" for k, word in enumerate(values)]
    elif kind == "numbers":
        values = rng.normal(2.0 * state, 1.0)
    elif kind == "columns":
        values = {"<b>": rng.normal(2.0 * state, 1.0), "b": rng.normal(size=300)}
    elif kind == "counts":
        values = rng.poisson(2 + 4 * state).tolist()
    found = infer(values, states=(1, 2))
    page = tmp_path / "page.html"
    write_inferred(
        page, found, baselines(found.sequence), title="t", subtitle="s", command="c", settings={},
        ahead=found.forecast(2),
    )  # fmt: skip
    shown = opened(page, tmp_path / "profile")
    assert shown.count("main-svg") >= 5
    assert "<td>nan" not in shown


@pytest.mark.parametrize("rounds", [1, 7, 80])
def test_the_page_of_what_came_since(tmp_path: Path, rounds: int) -> None:
    noise = np.random.default_rng(1).normal(size=(230, 2))
    for values in (weather(230), noise[:, 0].tolist(), noise):
        first = infer(values[:150], states=(1, 2))
        found = resume(first.live, values[150 : 150 + rounds])
        page = tmp_path / "page.html"
        write_inferred(
            page, found, baselines(found.sequence), title="t", subtitle="s", command="c",
            settings={}, ahead=found.forecast(1), level=0.5,
        )  # fmt: skip
        text = page.read_text()
        assert "<td>nan" not in text
        assert "p(wet)" in text or "50% interval" in text
        assert len(found.symbol_history) <= 4


@pytest.mark.parametrize(
    ("when", "word"),
    [
        ([None, *range(299)], "Some times are missing"),
        ([0, *range(299)], "do not increase"),
        (["a", *range(299)], "of several kinds"),
    ],
)
def test_odd_times_are_not_drawn(tmp_path: Path, when: list[Any], word: str) -> None:
    page = tmp_path / "page.html"
    found = infer(weather(), states=1, time=when)
    write_inferred(page, found, {}, title="t", subtitle="s", command="c", settings={})
    assert word in page.read_text()


# Streams


def answers(live: Live, *lines: str | bytes) -> list[Any]:
    stream = RegimesStream(live)
    return [stream.answer(k, line) for k, line in enumerate(lines, start=1)]


def test_every_line_is_answered() -> None:
    said = answers(
        Live(Regimes("gaussian", (1, 2)), Code("numbers")),
        "0.5", '{"y": 1.5}', "null", "", '{"y": null}', *(f"{k / 7}" for k in range(40)),
    )  # fmt: skip
    assert said[3] is None
    assert said[0] == {
        "line": 1, "round": 1, "state": None, "probabilities": [], "switch": None, "next": None,
    }  # fmt: skip
    last = said[-1]
    assert (last["line"], last["round"], last["state"]) == (45, 44, 0)
    assert sum(last["probabilities"]) == pytest.approx(1.0)
    low, high = last["next"]["interval"]
    assert low < last["next"]["mean"] < high
    json.dumps(said, allow_nan=False)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("x", "this is not JSON"),
        (b"\xff", "this is not UTF-8"),
        ("[" * 100_000, "nested too deeply"),
        ('"word"', "numbers are wanted, got 'word'"),
        ("[1, 2]", "one number is wanted"),
        ("true", "a number is wanted, got true"),
        ("1e999", "within ±1e100"),
        ("Infinity", "within ±1e100"),
        ('{"x": 1}', "a line is an observation"),
        ('{"y": {"y": 1}}', "words or numbers are wanted"),
        ("{}", "a line is an observation"),
        ("9" * 5000, "not JSON"),
    ],
)
def test_bad_lines_are_answered_and_change_nothing(line: str | bytes, word: str) -> None:
    regimes = Regimes("gaussian", (1, 2))
    regimes.run(np.sin(np.arange(60.0) ** 2))
    before = bits(regimes)
    (said,) = answers(Live(regimes, Code("numbers")), line)
    assert word in said["error"]
    assert "in row" not in said["error"]
    assert len(said["error"]) < 1000
    assert bits(regimes) == before


def test_streams_of_other_kinds() -> None:
    symbols = Live(Regimes("categorical", (1, 2), symbols=2), Code("symbols", ("dry", "wet")))
    said = answers(symbols, *(json.dumps(word) for word in weather(40)), '"hot"', "null")
    assert "'hot' is not one of the symbols dry, wet" in said[-2]["error"]
    assert sum(said[-1]["next"].values()) == pytest.approx(1.0)
    both = Live(Regimes("full", (1,)), Code("numbers", columns=("a", "b")))
    noise = np.random.default_rng(0).normal(size=(20, 2)).tolist()
    said = answers(both, "null", *map(json.dumps, noise), "[1, null]", "[1]", "3")
    assert "an observation has 2 numbers" in said[-1]["error"]
    assert "an observation has 2 numbers" in said[-2]["error"]
    assert np.shape(said[-3]["next"]["interval"]) == (2, 2)
    limit = Live(
        Regimes("categorical", (1,), symbols=2), Code("symbols", ("at most 1", "above 1"), 1.0)
    )
    assert set(answers(limit, *("2", "0") * 4)[-1]["next"]) == {"at most 1", "above 1"}
    counts = Live(Regimes("poisson", (1,)), Code("counts"))
    assert "counts" in answers(counts, "1.5")[0]["error"]


def test_a_state_goes_on_after_a_sudden_end(tmp_path: Path) -> None:
    values = switching(200)[1].normal(size=200).tolist()
    path = tmp_path / "s.json"
    expected = Live(Regimes("gaussian", (1, 2)), Code("numbers"))
    answers(expected, *map(json.dumps, values))
    live = Live(Regimes("gaussian", (1, 2)), Code("numbers"))
    for start in range(0, 200, 40):
        file = RegimesFile(path)
        live = file.load() or live
        file.begin(live)
        done: list[Any] = []
        stream = RegimesStream(live, 0.9, done.append)
        for k, value in enumerate(values[start : start + 40]):
            done.clear()
            stream.answer(k, json.dumps(value))
            file.append(done)
        file.abandon()  # as if killed here
    assert bits(Regimes.load(path)) == bits(expected.regimes)
    with pytest.raises(ValueError, match=r"holds rounds of a stream .* latent - --state"):
        expected.regimes.save(path)
    found = RegimesFile(path).load()
    assert found is not None
    assert bits(found.regimes) == bits(expected.regimes)


def test_journals_are_folded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("normalhedge.latent.regimes.regimes_file.RegimesFile.limit", lambda *_: 500)
    file, live = RegimesFile(tmp_path / "s.json"), Live(Regimes("gaussian", (1,)), Code("numbers"))
    file.begin(live)
    done: list[Any] = []
    stream = RegimesStream(live, 0.9, done.append)
    for k in range(60):
        done.clear()
        stream.answer(k, f"{math.sin(k)}")
        file.append(done)
        file.fold_if_long(live)
    file.abandon()
    assert (tmp_path / "s.json.journal").stat().st_size < 1000
    assert bits(Regimes.load(tmp_path / "s.json")) == bits(live.regimes)


def test_states_of_the_interface_go_on_in_a_stream(tmp_path: Path) -> None:
    for kind, code in {
        "gaussian": Code("numbers"), "negative_binomial": Code("counts"),
        "autoregressive": Code("autoregressive"), "student": Code("numbers"),
    }.items():  # fmt: skip
        regimes = Regimes(kind)
        regimes.run([1.0, 2.0, 0.0, 4.0, 1.0])
        regimes.save(tmp_path / "s.json")
        live = RegimesFile(tmp_path / "s.json").load()
        assert live is not None
        assert live.code == code
    regimes = Regimes("categorical", symbols=3)
    regimes.save(tmp_path / "s.json")
    live = RegimesFile(tmp_path / "s.json").load()
    assert live is not None
    assert live.code == Code("symbols", ("0", "1", "2"))


COMMAND = [sys.executable, "-m", "normalhedge", "latent", "-"]


@contextmanager
def running(*options: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the command on a stream."""
    pipe = subprocess.PIPE
    with subprocess.Popen([*COMMAND, *options], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


def ask(process: "subprocess.Popen[bytes]", line: str) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line.encode() + b"\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def test_signals_and_kills(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    values = switching(90)[1].normal(size=90).tolist()
    expected = Live(Regimes("gaussian", (1, 2)), Code("numbers"))
    answers(expected, *map(json.dumps, values))
    with running("--state", str(path), *FAST) as first:
        for k, value in enumerate(values[:30], start=1):
            assert ask(first, json.dumps(value))["round"] == k
        run = subprocess.run(
            [*COMMAND, "--state", str(path)], input=b"1\n", capture_output=True, check=False
        )
        assert (run.returncode, run.stdout) == (2, b"")
        assert b"is in use by process" in run.stderr
        first.kill()
        first.wait()
    with running("--state", str(path)) as second:
        for value in values[30:60]:
            ask(second, json.dumps(value))
        assert "error" in ask(second, "nonsense")
        second.send_signal(signal.SIGTERM)
        assert second.wait(30) == 143
    run = subprocess.run(
        [*COMMAND, "--state", str(path)],
        input="".join(f"{x!r}\n" for x in values[60:]).encode(),
        capture_output=True,
        check=True,
    )
    assert json.loads(run.stdout.splitlines()[-1])["round"] == 90
    assert bits(Regimes.load(path)) == bits(expected.regimes)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["s.json"]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--time", "t"), "--time is for files"),
        (("--report", "x.html"), "--report is for files"),
        (("--forecast", "3"), "--forecast is for files"),
        (("--kind", "symbols"), "needs --symbols"),
        (("--symbols", "a"), "needs --symbols"),
        (("--symbols", "a,a"), "all different"),
        (("--symbols", "a,b", "--kind", "counts"), "one column of symbols"),
        (("--above", "1", "--kind", "counts"), "--above makes two symbols"),
        (("--column", "a", "--column", "b", "--kind", "counts"), "several columns are numbers"),
        (("--sync",), "--sync needs --state"),
    ],
)
def test_wrong_options_of_streams(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], word: str
) -> None:
    code, _, error = call(capsys, "latent", "-", *options)
    assert code == 2
    assert len(error.strip().splitlines()) == 1
    assert word in error


def test_a_stream_in_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for options, lines in (
        (("--symbols", "dry,wet"), '"wet"\n"dry"\n'),
        (("--above", "1"), "0\n2\n"),
        (("--column", "a", "--column", "b"), "[1, 2]\n[2, 3]\n"),
        (("--kind", "counts"), "1\n2\n"),
    ):
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        code, text, _ = call(capsys, "latent", "-", *options)
        assert code == 0
        assert json.loads(text.splitlines()[-1])["round"] == 2


def test_a_damaged_state_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"format": "normalhedge mixture", "version": 3}')
    code, _, error = call(capsys, "latent", "-", "--state", str(path))
    assert (code, "does not hold regimes" in error) == (2, True)
    assert len(error.strip().splitlines()) == 1
