"""Saved mixtures for tests, and the message with which a file is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures.files._schema import SCHEMA, entries_of, read_mixture
from normalhedge.mixtures.state import RoundRecord
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
    found = version_4(found)
    return {k: v for k, v in found.items() if k in entries_of(2)} | {"version": 2}


def version_4(found: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a file with lists in place of text, as version 4 had them."""
    live = read_mixture({k: v for k, v in found.items() if k != "checksum"}, None).live
    found = {k: v for k, v in found.items() if k in entries_of(4)} | {"version": 4}
    fields = {e.name: getattr(live, e.field).tolist() for e in SCHEMA if e.field}
    found |= {name: array for name, array in fields.items() if name in found}
    if live.parts:  # there was no usual number of rows of a round
        _, first, end = live.parts["usual_rows"]
        found["commons"] = [totals[:first] + totals[end:] for totals in found["commons"]]
    further = [entry for block in found["pending"] for entry in block["blend"]]
    records = [RoundRecord(*record) for t in live.tickets() if (record := live.pending_round(t))]
    found["pending"] = [
        {
            "ticket": record.ticket,
            "forecasts": nulls(record.forecasts),
            "confidence": [] if record.confidence is None else record.confidence.tolist(),
            "values": nulls(record.values),
            "items": record.items.tolist(),
            "number": record.number,
            "keys": len(record.keys) if isinstance(record.keys, range) else record.keys,
            "blend": blend,
        }
        for record, blend in zip(records, further, strict=True)
    ]
    if found["intervals"]:
        tokens = [[r.ticket, nulls(r.tokens)] for r in records if r.tokens is not None]
        found["intervals"] = found["intervals"] | {
            "games": live.intervals.tolist(),
            "predicted": live.interval_rounds.tolist(),
            "tokens": tokens,
        }
    return found


def nulls(array: np.ndarray) -> Any:
    """Return nested lists with None for NaN and infinity, which JSON does not have."""
    if array.ndim > 1:
        return [nulls(part) for part in array]
    return [value if np.isfinite(value) else None for value in array.tolist()]


def refused(path: Path, text: str | bytes) -> str:
    """Return the sentence with which a file is refused."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=path.name) as caught:
        Mixture.load(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    return str(caught.value)
