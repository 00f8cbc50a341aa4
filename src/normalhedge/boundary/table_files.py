"""Read whole tables: CSV of any delimiter and encoding, Parquet, Excel, JSON lines."""

import csv
import gzip
import re
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from normalhedge.boundary import extras

if TYPE_CHECKING:
    import pyarrow as pa

ENDINGS = ".csv, .csv.gz, .tsv, .parquet, .xlsx, .ods or .jsonl"
SAMPLE = 100
"""The number of lines by which delimiter and decimal comma are guessed."""

WITH_OFFSET = re.compile(r"\s*\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?[+-]\d\d:?\d\d\s*")
WITH_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
WITH_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")


def read_arrow(path: Path, encoding: str | None = None) -> "pa.Table":
    """Read a whole table from a file; the ending of the name gives its format."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    name = path.name.lower().removesuffix(".gz")
    reader: Callable[[Path], Any]
    encoding = encoding or _encoding_of_mark(path)
    if name.endswith((".parquet", ".pq")):
        reader = extras.require("pyarrow.parquet").read_table
    elif name.endswith((".csv", ".tsv", ".txt")):
        reader = partial(_read_csv, encoding=encoding or "utf-8")
    elif name.endswith((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")):
        reader = _read_sheet
    elif name.endswith((".jsonl", ".ndjson")):
        reader = extras.require("pyarrow.json").read_json
    else:
        raise ValueError(f"{path} must end in {ENDINGS}")
    try:
        table = reader(path)
        _ = table.column_names  # raises an error if they are not UTF-8
        return table
    except (extras.require("pyarrow").ArrowException, UnicodeError) as error:
        reason = str(error).splitlines()[0]
        if encoding is None and "UTF8" in reason.upper().replace("-", ""):
            reason += "; if the file is not in UTF-8, name its encoding, such as latin-1 or cp1252"
        if "Expected 1 columns" in reason:
            reason += "; the first line must have the names of the columns"
        raise ValueError(f"{path} cannot be read: {reason}") from None
    except LookupError:
        raise ValueError(f"encoding must be the name of a Python codec, got {encoding!r}") from None


def _read_csv(path: Path, encoding: str) -> Any:
    """Read a CSV file; the delimiter is the most frequent of comma, semicolon, tab and bar."""
    arrow = extras.require("pyarrow.csv")
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    read_as = "utf-8-sig" if encoding.lower().replace("-", "") == "utf8" else encoding
    with opened(path, "rt", encoding=read_as, errors="replace") as file:
        lines = [line for _, line in zip(range(SAMPLE), file, strict=False)]
    first = lines[0] if lines else ""
    delimiter = max(",;\t|", key=first.count)
    # In a single column, an empty line is a missing value.
    single = delimiter not in first
    local = _columns_with_offsets(lines, delimiter)
    table = arrow.read_csv(
        path,
        read_options=arrow.ReadOptions(encoding=encoding),
        parse_options=arrow.ParseOptions(delimiter=delimiter, ignore_empty_lines=not single),
        convert_options=arrow.ConvertOptions(
            # NA and similar words are missing values in columns of text too.
            strings_can_be_null=True,
            # Arrow would convert them to UTC, and forget the clock of the place.
            column_types=dict.fromkeys(local, extras.require("pyarrow").string()),
            decimal_point="," if _has_decimal_commas(lines[1:], delimiter) else ".",
        ),
    )
    if any(map(extras.require("pyarrow.types").is_binary, table.schema.types)):
        raise UnicodeError("some text is not in UTF-8")
    return _without_empty_end(table) if single else table


def _encoding_of_mark(path: Path) -> str | None:
    """Return the encoding that the first bytes of a file tell, if it is not UTF-8."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rb") as file:
            return "utf-16" if file.read(2) in {b"\xff\xfe", b"\xfe\xff"} else None
    except (OSError, EOFError):  # the reader tells
        return None


def _columns_with_offsets(lines: list[str], delimiter: str) -> list[str]:
    """Return the columns of times with their offset from UTC, such as 2024-01-01T01:00+01:00."""
    head, *rows = list(csv.reader(lines, delimiter=delimiter)) or [[]]
    columns = zip_longest(*rows, fillvalue="")
    return [
        name
        for name, cells in zip(head, columns, strict=False)
        if any(map(WITH_OFFSET.fullmatch, cells)) and head.count(name) == 1
    ]


def _has_decimal_commas(lines: list[str], delimiter: str) -> bool:
    """Tell whether numbers are written with a comma: some are, and none with a point."""
    if delimiter == ",":
        return False
    cells = [cell.strip('"\n\r ') for line in lines for cell in line.split(delimiter)]
    return any(map(WITH_COMMA.fullmatch, cells)) and not any(map(WITH_POINT.fullmatch, cells))


def _without_empty_end(table: Any) -> Any:
    """Return a table of one column without the missing values at its end."""
    known = extras.require("pyarrow.compute").is_valid(table.column(0)).to_numpy()
    rows = int(known.nonzero()[0].max(initial=-1)) + 1
    return table.slice(0, rows)


def _read_sheet(path: Path) -> Any:
    """Read the first sheet of a workbook; its first row has the names of the columns."""
    calamine, pa = extras.require("python_calamine"), extras.require("pyarrow")
    try:
        rows = calamine.load_workbook(str(path)).get_sheet_by_index(0).to_python()
    except (calamine.CalamineError, OSError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not rows:
        raise ValueError(f"{path} is empty")
    head = [str(name) for name in rows[0]]
    columns = [
        [None if cell == "" else cell for cell in column] for column in zip(*rows[1:], strict=True)
    ]
    arrays = []
    for column in columns or [[] for _ in head]:
        try:
            arrays.append(pa.array(column))
        except pa.ArrowException:  # numbers and words in one column
            arrays.append(pa.array([None if cell is None else str(cell) for cell in column]))
    return pa.table(arrays, names=head)
