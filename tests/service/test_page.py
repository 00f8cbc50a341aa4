"""The page on the service: its commands are run, and a server gives its answers."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import pytest

from normalhedge import Client
from normalhedge.service._limits import Limits
from normalhedge.service.settings import Settings, read_settings
from tests.service.running import process

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "service.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, flags=re.DOTALL)


def matches(said: Any, written: Any) -> bool:
    """Tell whether an answer is the one on the page, in which ``...`` stands for anything."""
    if isinstance(written, dict) and isinstance(said, dict):
        return written.keys() == said.keys() and all(
            matches(said[key], value) for key, value in written.items()
        )
    return bool(written in ("...", said))


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_commands_and_answers(tmp_path: Path) -> None:
    folder = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "no_proxy": "*"}
    ran = 0
    with process("--db", str(tmp_path / "normalhedge.db")) as (url, child):

        def run(text: str) -> str:
            text = text.replace("localhost:8008", url.removeprefix("http://"))
            done = subprocess.run(
                ["sh", "-euc", text], cwd=tmp_path, env=env, capture_output=True, check=False
            )
            assert done.returncode == 0, (text, done.stderr.decode())
            return done.stdout.decode()

        for k, (kind, text) in enumerate(BLOCKS):
            if kind == "python":
                program = text.replace("http://localhost:8008", url)
                subprocess.run(
                    [sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL
                )
            elif kind == "sh" and "pip install" not in text:
                if "normalhedge restore" in text:  # the page says to stop the server first
                    child.terminate()
                    assert child.wait(30) == 0
                said = run(text)
                if BLOCKS[k + 1 :] and BLOCKS[k + 1][0] == "json":
                    assert matches(json.loads(said), json.loads(BLOCKS[k + 1][1])), said
            else:
                continue
            ran += 1
    assert ran > 10
    assert list(tmp_path.glob("normalhedge.db.before-*"))
    assert (tmp_path / "answers.jsonl").read_text().count("error") == 0


def test_the_table_of_limits_has_them_all() -> None:
    part = PAGE.partition("## Limits")[2]
    named = re.findall(r"`(\w+)`", part.partition("|---")[2])
    assert sorted(set(named)) == sorted(f.name for f in fields(Limits) if f.name != "name")


def test_the_example_of_settings_is_accepted() -> None:
    found = read_settings(ROOT / "deploy" / "settings.toml", {})
    assert found.port == Settings().port
    assert found.limits.rate == 500.0
    assert tomllib.loads((ROOT / "deploy" / "settings.toml").read_text())["keep_days"] == 400


def test_the_image_and_the_units_name_settings_that_there_are() -> None:
    image = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    named = dict(re.findall(r"(NORMALHEDGE_\w+)=(\S+)", image))
    assert len(named) == 2
    found = read_settings(None, named)
    assert (found.db, found.host) == ("/data/normalhedge.db", "0.0.0.0")
    assert "USER 10001" in image
    for unit in ("normalhedge.service", "normalhedge-backup.service"):
        text = (ROOT / "deploy" / unit).read_text("utf-8")
        (words,) = re.findall(r"^ExecStart=.*bin/normalhedge (\w+.*)$", text, flags=re.MULTILINE)
        verb, *options = words.split()
        said = subprocess.run(
            [sys.executable, "-m", "normalhedge", verb, "--help"], capture_output=True, check=True
        )
        assert all(o.encode() in said.stdout for o in options if o.startswith("--"))


def test_the_metrics_of_the_alarms_exist(server: str) -> None:
    with Client(server) as client:
        mixture = client.mixture("load", interval=0.9)
        for outcome in range(3):
            mixture.update(mixture.predict({"a": 1.0, "b": 2.0}).ticket, float(outcome))
    text = httpx.get(f"{server}/metrics").text
    for name in set(re.findall(r"normalhedge_\w+", PAGE)):
        assert f"\n{name}" in text or f"\n# TYPE {name} " in text, name
