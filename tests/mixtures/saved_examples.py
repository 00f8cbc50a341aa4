"""Saved mixtures for tests, and the message with which a file is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures.files._schema import entries_of
from normalhedge.mixtures.streams._stream import Stream
from tests.rules import SINGLE


def busy_file(path: Path, mixture: Mixture | None = None) -> str:
    """Save a mixture with a bit of everything; return the text of the file."""
    stream = Stream(mixture or Mixture("squint", even=0.1, include=["mean"]))
    lines: list[dict[str, Any]] = [{"forecasts": {"a": 1.0, "é": 2.0}, "id": k} for k in range(4)]
    lines += [{"id": 1, "outcome": 1.5}, {"forecasts": {"a": 1, "b": 2}, "confidence": {"a": 0.5}}]
    list(stream.answers(map(json.dumps, lines)))
    stream.mixture.save(path)
    return path.read_text()


def of_a_table(path: Path) -> dict[str, Any]:
    """Save a mixture that waits for the outcomes of a table; return its content, as version 2."""
    days = list(range(6))
    table = pa.table(
        {"ds": days, "y": [*map(float, days[:4]), None, None], "a": 1.0 * np.array(days)}
    )
    blend(table, "y", time="ds", lag=1, hedger=SINGLE).mixture.save(path)
    return version_2(json.loads(path.read_text()))


def version_2(found: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in found.items() if k in entries_of(2)} | {"version": 2}


def refused(path: Path, text: str | bytes) -> str:
    """Return the sentence with which a file is refused."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=path.name) as caught:
        Mixture.load(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    return str(caught.value)
