"""``normalhedge latent -``: signals, options and the command."""

import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from normalhedge.latent import Live, Regimes
from normalhedge.latent.regimes._encoding import Encoding
from tests.cli.command import call
from tests.cli.processes import ask, running
from tests.latent.regimes.examples import answers, bits, switching

FAST = ("--states", "1-2")

COMMAND = [sys.executable, "-m", "normalhedge", "latent", "-"]


def test_signals_and_kills(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    values = switching(90)[1].normal(size=90).tolist()
    expected = Live(Regimes("gaussian", (1, 2)), Encoding("numbers"))
    answers(expected, *map(json.dumps, values))
    with running("latent", "--state", str(path), *FAST) as first:
        for k, value in enumerate(values[:30], start=1):
            assert ask(first, json.dumps(value))["round"] == k
        run = subprocess.run(
            [*COMMAND, "--state", str(path)], input=b"1\n", capture_output=True, check=False
        )
        assert (run.returncode, run.stdout) == (2, b"")
        assert b"is in use by process" in run.stderr
        first.kill()
        first.wait()
    with running("latent", "--state", str(path)) as second:
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
        (("--above", "1", "--kind", "counts"), "--above needs one column of numbers"),
        (("--column", "a", "--column", "b", "--kind", "counts"), "several columns must be numbers"),
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
