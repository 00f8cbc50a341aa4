"""Files of other projects: the ones that npm has, with their licences."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from normalhedge import service
from tests.service.examples import talk
from tests.service.running import Asked

VENDOR = Path(service.__file__).parent / "vendor"
PACKAGES: list[dict[str, Any]] = json.loads((VENDOR / "vendored.cdx.json").read_text())[
    "components"
]


def digests(package: dict[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each file of a package, as the bill of materials has it."""
    return {file["name"]: file["hashes"][0]["content"] for file in package["components"]}


def test_every_file_is_in_the_bill_of_materials() -> None:
    files = {path.relative_to(VENDOR).as_posix() for path in VENDOR.glob("*/*")}
    assert files == {name for package in PACKAGES for name in digests(package)}


@pytest.mark.parametrize(
    "path", ["../_http.py", "%2e%2e/_http.py", "uplot/../../_http.py", "uplot"]
)
def test_only_the_files_of_the_folder_are_served(client: Asked, path: str) -> None:
    request = f"GET /vendor/{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    assert talk(client, request.encode()).startswith(b"HTTP/1.1 404")


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package["name"])
def test_files_are_as_they_were_published(package: dict[str, Any]) -> None:
    for name, digest in digests(package).items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest
    folder = VENDOR / next(iter(digests(package))).split("/")[0]
    licence = (folder / "LICENSE").read_text()
    words = {"MIT": "MIT License", "Apache-2.0": "Apache License"}
    assert words[package["licenses"][0]["license"]["id"]] in licence
    assert package["version"] in next(folder.glob("*.js")).read_text()
    assert package["purl"] == f"pkg:npm/{package['name']}@{package['version']}"
    assert re.search(r"licen[cs]e", licence, flags=re.IGNORECASE)
