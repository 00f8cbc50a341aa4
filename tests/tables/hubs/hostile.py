"""Submissions that nobody should have sent: a seeded generator of files that cannot be used."""

import csv
import gzip
import io
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.tables.hubs.examples import COUNT

Rows = list[dict[str, str]]

BAD: dict[str, tuple[str, ...]] = {
    "reference_date": ("TBD", "2024-13-45", "", "0000-00-00", "1e5", "24-02-2024", "2023-02-24"),
    "target_end_date": ("TBD", "2024-02-30", "9999-99-99", "soon\u2028", "99999999", "1066-10-14"),
    "horizon": ("99999999", "-99999999", "1e300", "two", "0.5", "inf", "", "1" * 400),
    "location": ("99", "us", "\u202eSU", "US|06", "x" * 5000, "=1+1", "\x1f"),
    "target": ("wk inc", "peak", "", "wk inc toy\u0301"),
    "output_type": ("quantiles", "QUANTILE", "cdf", "samples", "", "pmf,mean"),
    "output_type_id": ("median", "1.5", "-0.1", "0", "1", "5%", "0,5", "1e-400", "\u00bd", "0.123"),
    "value": ("much", "1e400", "-inf", "12,5", "1,2,3", "0x10", "1_000", "<5", "5%", "\u0663",
              "=1+1", "", "1e100", "1.2.3", "--1", "\U0001f600", "9" * 400, "1 2"),
}  # fmt: skip
"""Cells that no submission may have, by column."""


def variants(good: Rows, seed: int, count: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield what is wrong with a file, the ending of its name, and the file."""
    rng = np.random.default_rng(seed)
    yield from _broken_files(good, rng)
    columns = list(BAD)
    for _ in range(count):
        column = columns[rng.integers(len(columns))]
        cell = BAD[column][rng.integers(len(BAD[column]))]
        share = (0.0, 0.3, 1.0)[rng.integers(3)]
        rows = _with_cell(good, column, cell, share, rng)
        yield f"{column} {cell[:30]!r} in {share:.0%} of the rows", "csv", written(rows)


def _with_cell(rows: Rows, column: str, cell: str, share: float, rng: np.random.Generator) -> Rows:
    """Return rows with another cell in some rows with quantiles, in one row at least."""
    quantiles = [
        k
        for k, row in enumerate(rows)
        if row["output_type"] == "quantile" and row["horizon"] in "01"
    ]
    chosen = {k for k in quantiles if rng.random() < share} | {int(rng.choice(quantiles))}
    return [{**row, column: cell} if k in chosen else row for k, row in enumerate(rows)]


def written(rows: Rows, **dialect: Any) -> bytes:
    """Return rows as a CSV file."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), **dialect)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def _broken_files(good: Rows, rng: np.random.Generator) -> Iterator[tuple[str, str, bytes]]:
    """Yield files that are not tables, and tables with other columns or rows."""
    text = written(good)
    head, _, body = text.partition(b"\n")
    packed = gzip.compress(text)
    yield "nothing", "csv", b""
    yield "blank lines", "csv", b"\n \n\n"
    yield "a head only", "csv", head + b"\n"
    yield "noise", "csv", rng.bytes(3000)
    yield "noise", "parquet", rng.bytes(3000)
    yield "noise", "csv.gz", rng.bytes(3000)
    yield "zeros", "csv", bytes(1000)
    yield "the first bytes of Parquet", "parquet", b"PAR1" + rng.bytes(500) + b"PAR1"
    yield "a CSV file that is called Parquet", "parquet", text
    yield "a packed file that is cut", "csv.gz", packed[: len(packed) // 2]
    yield "a packed file with a wrong byte", "csv.gz", _flipped(packed, rng)
    yield "a plain file that is called packed", "csv.gz", text
    yield "a packed file that is called plain", "csv", packed
    yield "other encoding", "csv", text.decode().encode("utf-16")
    yield "a letter of Latin-1", "csv", text.replace(b"quantile", b"qu\xe4ntile")
    yield "semicolons", "csv", text.replace(b",", b";")
    yield "an open quote", "csv", text + b'"2024-02-24,US'
    yield "a longer row", "csv", text + b"1,2,3,4,5,6,7,8,9,10,11,12\n"
    yield "a page of the web", "csv", b"<html><body>404: not found</body></html>\n"
    yield "10,000 columns", "csv", b",".join(b"%d" % k for k in range(10_000)) + b"\n" + body
    yield "a column twice", "csv", text.replace(b"horizon", b"location", 1)
    yield "two spellings of a level", "csv", written([*good, *_respelled(good)])
    yield "every row twice", "csv", written(good + good)
    for name in good[0]:
        if name not in {"target", "target_end_date"}:
            kept = [{k: v for k, v in row.items() if k != name} for row in good]
            yield f"no column {name}", "csv", written(kept)


def _respelled(good: Rows) -> Rows:
    return [{**row, "output_type_id": ".5"} for row in good if row["output_type_id"] == "0.5"]


def _flipped(data: bytes, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(20, len(data) - 20))
    return data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]


def target_of(rows: Rows) -> Rows:
    """Return the rows of the target with quantiles of each step ahead."""
    return [row for row in rows if row["target"] == COUNT]
