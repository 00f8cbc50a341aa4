"""Read a file of a hub as a table of texts, within a budget of bytes after decompression."""

import gzip
import zlib
from pathlib import Path
from typing import IO, Any, cast

from normalhedge.boundary import extras
from normalhedge.tables.frames import words
from normalhedge.tables.hubs._cells import clean

LARGEST_FILE = 200_000_000
"""The largest file that is read, in bytes after decompression."""

COLUMNS = 1000
"""The largest number of columns of a file."""


class FileError(ValueError):
    """A file that cannot be used, with the reason."""


def read_text_table(path: Path, budget: int = LARGEST_FILE) -> Any:
    """Return a CSV or Parquet file as an Arrow table of clean texts: ``06`` stays ``06``.

    Raises
    ------
    FileError
        If the file cannot be read, or is larger than the budget.
    """
    pa = extras.require("pyarrow")
    reader = _read_parquet if path.suffix == ".parquet" else _read_csv
    try:
        table = reader(path, budget)
        names = [name.strip(" \t\ufeff\"'") for name in table.column_names]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise FileError(f"it has two columns {twice!r}")
        return pa.table([clean(words(column)) for column in table.columns], names=names)
    except (pa.ArrowException, OSError, EOFError, ValueError, zlib.error) as error:
        raise FileError(reason_of(error)) from None


def reason_of(error: BaseException) -> str:
    """Return the first line of the text of an error, not too long."""
    line = next(iter(str(error).splitlines()), "") or type(error).__name__
    return line if len(line) <= 200 else line[:197] + "..."


def _too_large(budget: int) -> FileError:
    return FileError(f"it has more than {budget:,} bytes after decompression (largest_file)")


def _read_csv(path: Path, budget: int) -> Any:
    csv, pa = extras.require("pyarrow.csv"), extras.require("pyarrow")
    with cast("IO[bytes]", (gzip.open if path.suffix == ".gz" else open)(path, "rb")) as file:
        data = file.read(budget + 1)
    if len(data) > budget:
        raise _too_large(budget)
    first = data.partition(b"\n")[0]
    if first.count(b",") >= COLUMNS:
        raise FileError(f"its first line has {first.count(b',') + 1:,} columns")
    if b"\0" in data:
        raise FileError("it is not a text in UTF-8")
    if not first.strip() and not data.strip():
        raise FileError("it is empty")
    with csv.open_csv(pa.BufferReader(data)) as stream:
        names = stream.schema.names
    options = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    return csv.read_csv(pa.BufferReader(data), convert_options=options)


def _read_parquet(path: Path, budget: int) -> Any:
    """Read a Parquet file; texts stay coded until it is known how many bytes they are in full."""
    parquet, pc = extras.require("pyarrow.parquet"), extras.require("pyarrow.compute")
    pa = extras.require("pyarrow")
    with parquet.ParquetFile(path) as opened:
        schema, metadata = opened.schema_arrow, opened.metadata
        names = [field.name for field in schema if _is_text(field.type)]
        nested = [field.name for field in schema if pa.types.is_nested(field.type)]
        if len(set(schema.names)) < len(schema):
            raise FileError("it has two columns of the same name")
        if nested:
            raise FileError(f"column {nested[0]} holds lists or structures")
        if len(schema) > COLUMNS:
            raise FileError(f"it has {len(schema):,} columns")
        stored = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
        size = max(stored, 8 * metadata.num_rows * len(schema))
        if size > budget:
            raise _too_large(budget)
    table = parquet.read_table(path, read_dictionary=names, partitioning=None)
    for name in names:
        coded = table[name].combine_chunks()
        lengths = pc.binary_length(coded.dictionary).take(coded.indices)
        size += pc.sum(lengths).as_py() or 0
        if size > budget:
            raise _too_large(budget)
    return table


def _is_text(kind: Any) -> bool:
    types = extras.require("pyarrow.types")
    return any(test(kind) for test in (types.is_string, types.is_large_string))
