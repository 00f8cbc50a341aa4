"""Files of other projects: the ones that npm has, with their licences."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from normalhedge import service

VENDOR = Path(service.__file__).parent / "vendor"
PACKAGES: list[dict[str, Any]] = json.loads((VENDOR / "versions.json").read_text())


def test_every_folder_is_listed() -> None:
    folders = {path.name for path in VENDOR.iterdir() if path.is_dir()}
    assert folders == {package["folder"] for package in PACKAGES}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package["folder"])
def test_files_are_as_they_were_published(package: dict[str, Any]) -> None:
    folder = VENDOR / package["folder"]
    digests = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}
    assert digests == package["files"]
    licence = (folder / "LICENSE").read_text()
    words = {"MIT": "MIT License", "Apache-2.0": "Apache License"}
    assert words[package["licence"]] in licence
    script = next(folder.glob("*.js")).read_text()
    assert package["version"] in script
    assert re.search(r"licen[cs]e", licence, flags=re.IGNORECASE)
