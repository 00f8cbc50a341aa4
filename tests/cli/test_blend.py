"""The command ``blend`` on files."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures.rules import Automatic, Prior
from normalhedge.mixtures.streams._stream import Stream
from tests.cli.command import call
from tests.rules import either
from tests.tables.examples import values, wide, write
from tests.tables.test_contexts import hourly


@pytest.mark.parametrize("name", ["squint", "hedge-fixed:eta=0.3", "ml-prod:alpha=0"])
def test_a_stream_by_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    said = [{"forecasts": {"a": 1.0 * t, "b": 2.0, "c": 0.5}} for t in range(6)]
    settled: list[dict[str, Any]] = [{}, *({"ticket": t, "outcome": 1.0} for t in range(5))]
    lines = [json.dumps(one | other) for one, other in zip(said, settled, strict=True)]
    expected = list(Stream(Mixture(name)).answers(lines))
    state, found = tmp_path / "state.json", []
    for part in (lines[:3], lines[3:]):
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(part)))
        code, out, _ = call(capsys, "blend", "-", "--hedger", name, "--state", str(state))
        assert code == 0
        found += [json.loads(line)["prediction"] for line in out.splitlines()]
    assert found == [answer["prediction"] for answer in expected]


def test_the_command_continues_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    frame = pd.DataFrame(wide(60))
    data, state = write(tmp_path / "data.csv", frame), tmp_path / "state.json"
    words = [str(data), "--target", "y", "--state", str(state), "--hedger"]
    for name in ("optimistic-hedge", "hedge:memory=30", "squint"):
        code, _, errors = call(capsys, "blend", *words, name)
        if name == "hedge:memory=30":
            assert code == 2
            assert "unknown setting of hedge, 'memory'" in errors
            continue
        if name == "squint":
            assert code == 2
            assert "was made with another hedger" in errors
            continue
        more = frame.assign(ds=frame.ds + 60, late=1.0)  # one expert more: tuned by three it stays
        code, _, _ = call(
            capsys, "blend", str(write(tmp_path / "more.csv", more)), *words[1:], name
        )
        assert code == 0
        code, out, _ = call(capsys, "blend", *words, name, "--memory", "20")
        assert code == 0
        assert "OptimisticHedge" in out
    for name, sentence in [
        ("sqint", "did you mean squint"),
        ("squint:eta=1", "unknown setting of squint, 'eta'"),
        ("hedge-fixed", "hedge-fixed needs eta"),
        ("squint:alpha=2", "alpha must be"),
    ]:
        code, out, errors = call(capsys, "blend", str(data), "--hedger", name)
        assert code == 2
        assert sentence in errors
        assert out == ""
    code, _, errors = call(capsys, "blend", "-", "--hedger", "hedge")
    assert code == 2
    assert "hedge needs n_experts, as in hedge:n_experts=" in errors


@either
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, ending: str, hedger: str | None
) -> None:
    table = wide(series=2)
    data = write(tmp_path / f"data{ending}", table)
    out, report = tmp_path / f"out{ending}", tmp_path / "report.html"
    code, said, errors = call(
        capsys, "blend", str(data), "--target", "y", "--lag", "2", "--loss", "absolute",
        "--out", str(out), "--report", str(report), "--weights", "--hedger", hedger or "auto",
    )  # fmt: skip
    assert code == 0
    assert "notes: time: ds; series: unique_id; experts: gam, ar, naive" in errors
    assert "best convex combination" in said
    found = pd.read_csv(out) if ending == ".csv" else pd.read_parquet(out)
    expected = values(blend(pa.table(table), "y", lag=2, loss="absolute", hedger=hedger))
    np.testing.assert_allclose(found["blend"], expected, rtol=1e-12)
    assert "weight_gam" in found.columns
    assert "Which models the blend relies on" in report.read_text("utf-8")


def test_the_command_continues(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = wide(series=2)
    frame = pd.DataFrame(table)
    state, out = tmp_path / "state.json", tmp_path / "out.parquet"
    words = [
        "--target",
        "y",
        "--lag",
        "1",
        "--memory",
        "15",
        "--state",
        str(state),
        "--out",
        str(out),
    ]
    found = []
    for k, part in enumerate((frame.head(100), frame.iloc[100:150], frame)):
        data = write(tmp_path / f"{k}.parquet", part)
        code, _, _ = call(capsys, "blend", str(data), *words)
        assert code == 0
        found.append(pd.read_parquet(out)["blend"].to_numpy())
    whole = blend(frame, "y", lag=1, hedger="normal-hedge:c=1,alpha=0.06666666666666667")
    for first, part in zip((0, 100, 98), found, strict=True):  # two rows waited for the lag
        np.testing.assert_array_equal(part, values(whole)[first : first + len(part)])
    code, _, errors = call(
        capsys, "blend", str(data), "--target", "y", "--loss", "absolute", *words[6:8]
    )
    assert code == 2
    assert "was made with another loss: square, not " in errors
    text = state.read_text()
    state.write_text(text[: len(text) // 2])
    code, _, errors = call(capsys, "blend", str(data), *words)
    assert code == 2
    assert "is not a whole JSON file" in errors
    assert len(errors.splitlines()) == 1


@either
def test_the_command_on_a_stream(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    hedger: str | None,
) -> None:
    state = tmp_path / "state.json"
    outs, words = [], ["--state", str(state), *(["--hedger", hedger] if hedger else [])]
    for lines in ('{"a": 1, "b": 2}\n{"ticket": 0, "outcome": 1}\n', '{"a": 1, "b": 2}\n'):
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        code, out, _ = call(capsys, "blend", "-", *words)
        assert code == 0
        outs += [json.loads(line) for line in out.splitlines()]
    assert outs[2]["prediction"] == 1.0 if hedger else 1.0 < outs[2]["prediction"] < 1.5
    assert outs[2]["ticket"] == 1
    monkeypatch.setattr("sys.stdin", io.StringIO('{"a": 1}\nnope\n{"a": 2}\n'))
    code, out, errors = call(capsys, "blend", "-")
    assert code == 2
    assert len(out.splitlines()) == 3
    assert "line 2: this is not JSON" in errors
    assert "1 line refused; the others count" in errors


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.csv"], "there is no file nowhere.csv"),
        (["{data}", "--target", "z"], "unknown column 'z'"),
        (["{data}", "--experts", "gam,aar"], "did you mean ar"),
        (["{data}", "--loss", "squared"], "did you mean square"),
        (["{data}", "--lag", "-1"], "-1 is not in the range"),
        (["{data}", "--out", "x.txt"], "must end in .csv or .parquet"),
        (["{data}", "--report", "x.pdf"], "must end in .html"),
        (["{data}", "--memory", "0"], "memory must be"),
        (["-", "--target", "y"], "--target is for files"),
        (["{data}", "--even", "2"], "even must be"),
        (["{text}"], "must end in .csv, .csv.gz, .tsv, .parquet, .xlsx, .ods or .jsonl"),
        (["{broken}"], "cannot be read"),
        (["{empty}"], "cannot be read"),
    ],
)
def test_bad_words_for_blend(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], sentence: str
) -> None:
    places = {
        "data": write(tmp_path / "data.csv", wide()),
        "text": tmp_path / "data.docx",
        "broken": tmp_path / "broken.parquet",
        "empty": tmp_path / "empty.csv",
    }
    for name in ("text", "broken"):
        places[name].write_text("abc")
    places["empty"].write_text("")
    code, out, errors = call(capsys, "blend", *(word.format(**places) for word in words))
    assert code == 2
    assert out == ""
    assert sentence in errors
    assert len(errors.strip().splitlines()) == 1


def test_what_is_read_is_not_written_over(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = write(tmp_path / "data.csv", wide())
    code, _, errors = call(capsys, "blend", str(data), "--out", str(data))
    assert code == 2
    assert "is read by this command" in errors


@pytest.mark.parametrize("divided", [";", "\t", ","])
def test_any_csv(capsys: pytest.CaptureFixture[str], tmp_path: Path, divided: str) -> None:
    data, out = tmp_path / "data.csv.gz", tmp_path / "out.csv"
    pd.DataFrame(wide(30)).to_csv(data, index=False, sep=divided, encoding="utf-8-sig")
    code, _, _ = call(capsys, "blend", str(data), "--target", "y", "--out", str(out))
    assert code == 0
    np.testing.assert_allclose(pd.read_csv(out)["blend"], values(blend(pa.table(wide(30)), "y")))


def test_a_parquet_file_round_trip(tmp_path: Path) -> None:
    table = pa.table(wide())
    pq.write_table(table, tmp_path / "data.parquet")
    again = pq.read_table(tmp_path / "data.parquet")
    np.testing.assert_array_equal(values(blend(table, "y")), values(blend(again, "y")))


def test_the_next_horizon_and_a_job_that_runs_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    frame = pd.DataFrame(wide(60, asleep=0.0))
    past, future = write(tmp_path / "data.csv", frame.head(50)), tmp_path / "next.csv"
    write(future, frame.iloc[50:].drop(columns=["y"]))
    state, out = tmp_path / "state.json", tmp_path / "next-blend.csv"
    words = ["blend", str(past), "--target", "y", "--state", str(state)]
    found = []
    for _ in range(2):
        code, _, _ = call(capsys, *words, "--future", str(future), "--out", str(out))
        assert code == 0
        found.append((out.read_bytes(), state.read_bytes()))
    assert found[0] == found[1]
    expected = blend(frame.head(50), "y").predict(frame.iloc[50:])
    np.testing.assert_array_equal(pd.read_csv(out)["blend"], expected["blend"])
    for wrong, sentence in (
        (["--future", str(future)], "--future needs --out"),
        (["--future", str(out), "--out", str(out)], "is read by this command"),
        (["--future", str(past), "--out", str(out)], "it must come after them"),
        (["--future", str(tmp_path / "no.csv"), "--out", str(out)], "no.csv"),
    ):
        code, _, errors = call(capsys, *words, *wrong)
        assert code == 2
        assert sentence in errors
        assert (out.read_bytes(), state.read_bytes()) == found[0]


def test_a_good_file_is_never_replaced_by_an_empty_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    frame = pd.DataFrame(wide(60))
    state, out = tmp_path / "state.json", tmp_path / "blend.csv"
    first = write(tmp_path / "first.csv", frame.head(30))
    second = write(tmp_path / "second.csv", frame.iloc[30:])
    words = ["--target", "y", "--state", str(state), "--out", str(out)]
    for data in (first, second, second):
        assert call(capsys, "blend", str(data), *words)[0] == 0
        assert len(pd.read_csv(out)) == 30
    before = out.read_bytes(), state.read_bytes()
    code, _, errors = call(capsys, "blend", str(first), *words)
    assert code == 2
    assert "all rows of" in errors
    assert "were blended before" in errors
    assert (out.read_bytes(), state.read_bytes()) == before


def test_the_encoding_is_that_of_the_future_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame(wide(60, asleep=0.0)).rename(columns={"gam": "Müller"})
    past, future, out = (tmp_path / name for name in ("data.csv", "next.csv", "out.csv"))
    frame.head(50).to_csv(past, index=False, encoding="latin-1")
    frame.iloc[50:].drop(columns=["y"]).to_csv(future, index=False, encoding="latin-1")
    words = [
        "blend",
        str(past),
        "--encoding",
        "latin-1",
        "--future",
        str(future),
        "--out",
        str(out),
    ]
    code, _, errors = call(capsys, *words)
    assert code == 0, errors
    assert len(pd.read_csv(out)) == 10


def test_a_state_with_another_prior_goes_on_with_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table, state = pd.DataFrame(wide()), tmp_path / "state.json"
    data = write(tmp_path / "data.csv", wide())
    hedger = Automatic().starting_from(Prior((0.5, *[0.5 / 13] * 13), 0.5))
    first = blend(table.head(60), "y", hedger=hedger)
    first.mixture.save(state)
    expected = blend(table, "y", mixture=first.mixture)
    code, _, errors = call(
        capsys, "blend", str(data), "--target", "y", "--hedger", "auto", "--state", str(state)
    )
    assert (code, errors.count("another")) == (0, 0)
    found = Mixture.load(state)
    assert found.settings.hedger == hedger != Automatic()
    assert (found.weights == expected.mixture.weights).all()


def test_contexts_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    frame = hourly(days=30)
    data, out = write(tmp_path / "data.csv", frame), tmp_path / "out.csv"
    words = ["blend", str(data), "--target", "y", "--time", "ds", "--experts", "m0,m1,m2"]
    contexts: dict[str, Any] = {"none": [], "hour, weather": ["hour", "weather"]}
    for name, context in contexts.items():
        code, text, _ = call(capsys, *words, "--context", name, "--out", str(out))
        assert code == 0
        assert ("depend on the hour (24 values)" in text) == bool(context)
        expected = blend(
            frame, target="y", time="ds", experts=["m0", "m1", "m2"], context=context
        ).frame["blend"]
        np.testing.assert_allclose(pd.read_csv(out)["blend"], expected, rtol=1e-12)
    code, _, errors = call(capsys, *words, "--context", "wether")
    assert code == 2
    assert "unknown context 'wether': did you mean weather?" in errors
    code, _, errors = call(capsys, *words, "--context", "hour", "--hedger", "squint")
    assert code == 2
    assert 'context needs the hedger "auto"' in errors
    code, _, errors = call(capsys, "blend", "-", "--context", "hour")
    assert code == 2
    assert "--context is for files" in errors


@pytest.mark.parametrize("context", [(), ("--context", "hour,weather")])
def test_contexts_of_a_table_in_two_parts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, context: tuple[str, ...]
) -> None:
    frame, state = hourly(days=30), tmp_path / "state.json"
    blends = []
    for name, part in (("whole", frame), ("one", frame[:500]), ("two", frame[500:])):
        data, out = write(tmp_path / f"{name}.csv", part), tmp_path / f"{name}-out.csv"
        words = ["blend", str(data), "--target", "y", "--out", str(out), *context]
        if name != "whole":
            words += ["--state", str(state)]
        assert call(capsys, *words)[0] == 0
        blends.append(pd.read_csv(out)["blend"])
    np.testing.assert_array_equal(pd.concat(blends[1:]), blends[0])


def test_alerts_and_an_explanation(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng, names = np.random.default_rng(0), ["gam", "ar", "naive", "tbats"]
    frame = pd.DataFrame({"ds": range(400), "y": rng.normal(size=400)})
    for name in names:
        frame[name] = frame.y + rng.normal(size=400)
    frame.loc[250:, names[0]] += 8.0 * rng.normal(size=150)
    frame["twin"] = frame[names[1]]
    data, alerts = write(tmp_path / "data.csv", frame), tmp_path / "alerts.jsonl"
    page, state = tmp_path / "page.html", tmp_path / "state.json"
    words = [str(data), "--target", "y", "--alerts", str(alerts)]
    code, out, _ = call(
        capsys, "blend", *words, "--explain", "--report", str(page), "--state", str(state)
    )
    assert code == 0
    told = [json.loads(line) for line in alerts.read_text().splitlines()]
    assert [(one["kind"], one["expert"]) for one in told] == [
        ("degraded", names[0]),
        ("copy", "twin"),
    ]
    for one in told:
        assert f"Alert: {one['text']}." in out
        assert one["text"] in page.read_text()
    assert "the rounds that moved the weights most" in out
    assert "blended again without it" in out
    assert "What each model is worth" in page.read_text()
    size = state.stat().st_size
    assert f"wrote {state} ({size / 1000:.0f} kB)" in out
    frame = frame.drop(columns=["twin", names[0]])
    write(tmp_path / "data.csv", frame)
    assert call(capsys, "blend", *words)[0] == 0
    assert alerts.read_text() == ""
    code, _, errors = call(capsys, "blend", str(data), "--alerts", str(tmp_path / "alerts.csv"))
    assert code == 2
    assert ".jsonl" in errors
    code, _, errors = call(capsys, "blend", "-", "--alerts", str(alerts))
    assert code == 2
    assert "--alerts" in errors
