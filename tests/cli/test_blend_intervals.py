"""The command ``blend`` with intervals."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures.streams._stream import Stream
from tests.cli.command import call
from tests.tables.examples import wide, write


def test_a_stream_with_intervals_continues(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = [json.dumps({"forecasts": {"a": 1.0 * t, "b": 2.0}}) for t in range(8)]
    lines[2:] = [
        json.dumps(json.loads(line) | {"ticket": t, "outcome": 1.5 * t})
        for t, line in enumerate(lines[2:])
    ]
    expected = list(Stream(Mixture(interval=(0.5, 0.9), season=3)).answers(lines))
    state, found = tmp_path / "state.json", []
    for part, words in ((lines[:5], ("--interval", "0.9,0.5", "--season", "3")), (lines[5:], ())):
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(part)))
        code, out, _ = call(capsys, "blend", "-", *words, "--state", str(state))
        assert code == 0
        found += [json.loads(line)["interval"] for line in out.splitlines()]
    assert found == [answer["interval"] for answer in expected]
    for others, sentence in (
        (["--interval", "0.8"], "was made with intervals 0.5,0.9 and season 3, not with 0.8"),
        (["--interval", "0.5,0.9", "--season", "4"], "not with 0.5,0.9 and season 4"),
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        code, _, errors = call(capsys, "blend", "-", *others, "--state", str(state))
        assert code == 2
        assert sentence in errors


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--interval", "90"), "--interval must be strictly between 0 and 1, got 90"),
        (("--interval", "0.9,x"), "--interval must be numbers such as 0.9,0.5, got 0.9,x"),
        (("--season", "24"), "--season is for intervals: give --interval, too"),
        (("--interval", "0.9", "--season", "1"), "--season"),
        (("--interval", "0.9", "--season", str(2**63)), "is not in the range 2<=x<=1000000"),
        (("--interval", "0.9", "--loss", "log"), "not for class probabilities"),
    ],
)
def test_wrong_options(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    code, _, errors = call(capsys, "blend", "-", *words)
    assert code == 2
    assert sentence in " ".join(errors.split())


def test_a_file_with_intervals(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    frame = pd.DataFrame(wide(60)).drop(columns="unique_id")
    expected = blend(frame, "y", time="ds", lag=2, interval=(0.5, 0.9), season=4)
    out, state = tmp_path / "out.csv", tmp_path / "state.json"
    words = ["--target", "y", "--time", "ds", "--lag", "2", "--out", str(out)]
    words += ["--state", str(state), "--interval", "0.9,0.5", "--season", "4"]
    parts = []
    for k, part in enumerate((frame[:30], frame[30:], frame[30:])):  # the last one is a rerun
        data = write(tmp_path / f"data{k % 2}.csv", part)
        code, told, _ = call(capsys, "blend", str(data), *words)
        assert code == 0
        assert "90 % interval covers" in told
        parts.append(pd.read_csv(out))
    pd.testing.assert_frame_equal(
        pd.concat([parts[0], parts[2]], ignore_index=True), expected.frame, check_dtype=False
    )
    pd.testing.assert_frame_equal(parts[1], parts[2])
