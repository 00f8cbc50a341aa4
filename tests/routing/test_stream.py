"""Streams of JSON lines, their journals, and the command line."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from normalhedge import Router
from normalhedge.routing import RouterFile, RouterStream
from tests.routing.examples import same

LINES = [
    {"choose": {}},
    {"ticket": 0, "gain": 0.7},
    {"choose": {"context": "x", "awake": ["a", "b"], "seen": ["a"]}},
    {"ticket": 0, "correct": 0.6},
    {"join": "c"},
    {"leave": "c"},
]


def test_lines_and_answers() -> None:
    stream = RouterStream(Router(["a", "b"]))
    answers: list[Any] = [stream.answer(k, json.dumps(line)) for k, line in enumerate(LINES, 1)]
    assert answers[0]["ticket"] == 0
    assert answers[0]["action"] in answers[0]["probabilities"]
    assert answers[1] == {"line": 2, "settled": 0}
    assert answers[3:] == [
        {"line": 4, "corrected": 0},
        {"line": 5, "joined": "c"},
        {"line": 6, "left": "c"},
    ]
    assert stream.answer(7, "  ") is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "not JSON"),
        ("3", "a line must be an object"),
        ('{"choose": {}, "gain": 1}', "a line must be an object"),
        ('{"choose": 3}', "choose must be an object"),
        ('{"choose": {"mood": 1}}', "choose must be an object"),
        ('{"ticket": 4, "gain": 0.5}', "no choice with ticket 4"),
        ('{"ticket": 0, "gain": null}', "must be a number"),
        ('{"leave": "z"}', "unknown action 'z'"),
        ('{"join": 3}', "not empty, got 3"),
    ],
)
def test_a_bad_line_is_answered_and_changes_nothing(line: str, words: str) -> None:
    router = Router(["a", "b"])
    router.choose()
    before = router.copy()
    noted: list[Any] = []
    stream = RouterStream(router, noted.append)
    answer = stream.answer(1, line)
    assert answer is not None
    assert words in answer["error"]
    assert stream.refused == 1
    assert not noted
    assert same(router, before)


def test_a_journal_repeats_everything(tmp_path: Path) -> None:
    file = RouterFile(tmp_path / "state.json")
    router, noted = Router(["a", "b"], seed=9), list[Any]()
    file.begin(router)
    stream = RouterStream(router, noted.append)
    for k in range(300):
        noted.clear()
        stream.answer(2 * k, json.dumps({"choose": {"context": k % 3}}))
        stream.answer(2 * k + 1, json.dumps({"ticket": k, "gain": (k % 7) / 7}))
        file.append(noted)
    file.abandon()  # as if the process had been killed
    again = RouterFile(tmp_path / "state.json").load()
    assert again is not None
    assert same(router, again)
    assert same(router, Router.load(tmp_path / "state.json"))
    with pytest.raises(ValueError, match="normalhedge route -"):
        router.save(tmp_path / "state.json")


def test_the_command_survives_kill_9(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    command = [sys.executable, "-m", "normalhedge", "route", "-", "--state", str(state)]
    process = subprocess.Popen(
        [*command, "--actions", "a,b", "--seed", "3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    chosen = []
    for k in range(20):
        process.stdin.write(b'{"choose": {}}\n' + b'{"ticket": %d, "gain": 0.5}\n' % k)
        process.stdin.flush()
        chosen.append(json.loads(process.stdout.readline())["action"])
        process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdin.close()
    process.stdout.close()
    result = subprocess.run(command, input=b'{"choose": {}}\n', capture_output=True, check=True)
    router = Router(["a", "b"], seed=3)
    for k in range(20):
        assert router.choose().action == chosen[k]
        router.reward(k, 0.5)
    assert json.loads(result.stdout)["action"] == router.choose().action
    refused = subprocess.run([*command, "--seed", "4"], input=b"", capture_output=True, check=False)
    assert refused.returncode == 2
    assert b"has its settings already" in refused.stderr
