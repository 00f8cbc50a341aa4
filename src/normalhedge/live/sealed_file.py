"""JSON files whose first entry is a checksum of the rest."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from normalhedge.boundary import whole_files
from normalhedge.boundary.terminal import clipped


def sealed(content: Mapping[str, Any]) -> str:
    """Return the text of a file: the checksum, then the content."""
    text = json.dumps(content, allow_nan=False)
    return f'{{"checksum": "{hashlib.sha256(text.encode("ascii")).hexdigest()}", {text[1:]}'


def read(path: Path, form: str, versions: range, checked: int, what: str) -> dict[str, Any]:
    """Return the content of a file; raise a ValueError if its checksum is wrong."""
    if whole_files.refuse_special(path) is None:
        raise ValueError(f"there is no file {path}")
    return open_sealed(path.read_bytes(), str(path), form, versions, checked, what)


def open_sealed(
    data: bytes, source: str, form: str, versions: range, checked: int, what: str
) -> dict[str, Any]:
    """Return the content of a sealed text after verifying its checksum."""
    try:
        text = data.decode("utf-8")
        content = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(f"{source} is nested too deeply to be {what}") from None
    except ValueError as error:  # not UTF-8, not JSON, or a number with too many digits
        raise ValueError(f"{source} is not a whole JSON file: {clipped(str(error))}") from None
    if not isinstance(content, dict) or content.get("format") != form:
        raise ValueError(f"{source} does not hold {what}")
    version = content.get("version")
    if type(version) is not int or version not in versions:
        raise ValueError(
            f"{source} has version {clipped(repr(version))}; this version of normalhedge reads up "
            f"to {versions[-1]}"
        )
    if version >= checked:
        checksum = content.pop("checksum", None)
        if checksum is None or sealed(content) != text:
            raise ValueError(
                f"{source} was changed after it was written: its checksum does not match"
            )
    return content


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not a number of JSON")
