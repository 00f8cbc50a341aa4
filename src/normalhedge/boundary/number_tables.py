"""Tables in files: read numbers in blocks, and write results whole or not at all."""

import csv
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.terminal import shown
from normalhedge.boundary.whole_files import write_whole

if TYPE_CHECKING:
    import pyarrow as pa


class NumberFile:
    """A CSV or Parquet file of numbers that is read in blocks of rows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise ValueError(f"there is no file {path}")
        self._parquet = path.suffix.lower() in {".parquet", ".pq"}
        if not self._parquet and path.suffix.lower() not in {".csv", ".txt"}:
            raise ValueError(f"{path} must end in .csv or .parquet")

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns; their numbers if a CSV file has no header."""
        if self._parquet:
            return [str(name) for name in self._opened().schema_arrow.names]
        first = self._first_row()
        return first if _is_header(first) else [str(k) for k in range(len(first))]

    @cached_property
    def _length(self) -> int:
        if self._parquet:
            return int(self._opened().metadata.num_rows)
        return sum(len(block) for block in self.blocks(1 << 16))

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._length

    def blocks(self, length: int) -> Iterator[np.ndarray]:
        """Yield the rows in blocks of float64; raise an error that names the first bad entry."""
        row = 0
        if self._parquet:
            for batch in self._opened().iter_batches(batch_size=length):
                yield self._numbers(batch, row)
                row += batch.num_rows
            return
        for lines in self._csv_rows(length):
            yield _parsed(lines, self.columns, self.path, row)
            row += len(lines)

    def _opened(self) -> Any:
        parquet = extras.require("pyarrow.parquet")
        try:
            return parquet.ParquetFile(self.path)
        except Exception as error:
            raise ValueError(f"{self.path} is not a readable Parquet file: {error}") from None

    def _numbers(self, batch: "pa.RecordBatch", row: int) -> np.ndarray:
        columns = []
        for name, values in zip(self.columns, batch.columns, strict=True):
            if not (_is_number(values.type)):
                raise ValueError(f"{self.path}: column {name} holds {values.type}, not numbers")
            if values.null_count:
                null = row + int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
                raise ValueError(f"{self.path}: column {name} is empty in row {null + 1}")
            columns.append(values.to_numpy(zero_copy_only=False).astype(np.float64))
        return np.column_stack(columns)

    def _first_row(self) -> list[str]:
        with _open_csv(self.path) as file:
            first = next((row for row in csv.reader(file) if row), [])
        if not first:
            raise ValueError(f"{self.path} is empty")
        return [word.strip() for word in first]

    def _csv_rows(self, length: int) -> Iterator[list[list[str]]]:
        with _open_csv(self.path) as file:
            rows = (row for row in csv.reader(file) if any(word.strip() for word in row))
            if _is_header(self._first_row()):
                next(rows)
            lines: list[list[str]] = []
            for line in rows:
                lines.append(line)
                if len(lines) == length:
                    yield lines
                    lines = []
            if lines:
                yield lines


def _open_csv(path: Path) -> IO[str]:
    return path.open(newline="", encoding="utf-8-sig", errors="replace")


def _is_number(kind: "pa.DataType") -> bool:
    types = extras.require("pyarrow.types")
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _is_header(words: list[str]) -> bool:
    """Tell whether a first row is a header: it is data if any of its entries is a number."""
    return not any(_all_numbers([word]) for word in words)


def _all_numbers(words: list[str]) -> bool:
    try:
        np.array(words, dtype=np.float64)
    except ValueError:
        return False
    return True


def _parsed(lines: list[list[str]], columns: list[str], path: Path, row: int) -> np.ndarray:
    for k, line in enumerate(lines):
        if len(line) != len(columns):
            raise ValueError(
                f"{path}: row {row + k + 1} has {len(line)} entries, not {len(columns)}"
            )
    try:
        return np.array(lines, dtype=np.float64)
    except ValueError:
        for k, line in enumerate(lines):
            for name, word in zip(columns, line, strict=True):
                if not _all_numbers([word]):
                    raise ValueError(
                        f"{path}: column {name} is {word!r} in row {row + k + 1}, not a number"
                    ) from None
        raise


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The first characters of texts that a spreadsheet takes for formulas."""


def write_table(path: Path, columns: dict[str, Any], *, safe: bool = False) -> None:
    """Write named columns as CSV or Parquet, depending on the suffix of the path."""
    if path.suffix.lower() == ".csv":
        cells = [np.asarray(column).tolist() for column in columns.values()]
        names: list[Any] = list(columns)
        if safe:
            names, *cells = (list(map(_inert, column)) for column in (names, *cells))

        def write_csv(part: Path) -> None:
            with part.open("w", newline="", encoding="utf-8") as file:
                rows = csv.writer(file)
                rows.writerow(names)
                rows.writerows(zip(*cells, strict=True))

        write_whole(path, write_csv)
    elif path.suffix.lower() in {".parquet", ".pq"}:
        pyarrow = extras.require("pyarrow")
        write_arrow(path, pyarrow.table({k: np.asarray(c) for k, c in columns.items()}))
    else:
        raise ValueError(f"{path} must end in .csv or .parquet")


def _inert(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def write_text_table(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table for people as Markdown or LaTeX, depending on the suffix of the path."""
    lines = as_latex(head, rows) if path.suffix.lower() == ".tex" else as_markdown(head, rows)
    write_whole(path, lambda part: part.write_text("\n".join(lines) + "\n", encoding="utf-8"))


def as_markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return [lines[0], "|---" * len(head) + "|", *lines[1:]]


LATEX = str.maketrans(
    {char: f"\\{char}" for char in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "α": r"$\alpha$",
        "ε": r"$\varepsilon$",
        "γ": r"$\gamma$",
        "η": r"$\eta$",
        "µ": r"\textmu{}",
        "√": r"$\surd$",
        "×": r"$\times$",
        "±": r"$\pm$",
        "<": r"$<$",
        ">": r"$>$",
    }
)
"""The characters that LaTeX reads otherwise than as they are, or that its fonts lack."""


def as_latex(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    r"""Return the lines of a ``tabular`` with the rules of the package booktabs.

    Examples
    --------
    >>> as_latex(["c", "R √α"], [["1", "**3.6**"]])[3:5]
    ['1 & \\textbf{3.6} \\\\', '\\bottomrule']
    """
    plain = [[BOLD.sub(r"\\textbf{\1}", cell.translate(LATEX)) for cell in line] for line in rows]
    lines = [" & ".join(cells) + r" \\" for cells in ([c.translate(LATEX) for c in head], *plain)]
    start = rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}} \toprule"
    return [start, lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}"]


BOLD = re.compile(r"\*\*(.+?)\*\*")
"""Bold text in the cells of tables, as Markdown writes it."""


def write_arrow(path: Path, table: "pa.Table", *, safe: bool = False) -> None:
    """Write an Arrow table as CSV or Parquet, depending on the suffix of the path."""
    if path.suffix.lower() == ".csv":
        write = extras.require("pyarrow.csv").write_csv
        table = _with_local_times(table)
        table = _inert_table(table) if safe else table
    else:
        write = extras.require("pyarrow.parquet").write_table
    write_whole(path, lambda part: write(table, part))


def _with_local_times(table: "pa.Table") -> "pa.Table":
    """Return a table with times of a place as text with their offset; CSV has UTC otherwise."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    for k, kind in enumerate(table.schema.types):
        if pa.types.is_timestamp(kind) and kind.tz not in {None, "UTC"}:
            seconds = table.column(k)
            if kind.unit != "s" and pc.all(pc.equal(pc.subsecond(seconds), 0.0)).as_py():
                seconds = seconds.cast(pa.timestamp("s", kind.tz))
            texts = pc.strftime(seconds, "%Y-%m-%dT%H:%M:%S%Ez")
            table = table.set_column(k, table.column_names[k], texts)
    return table


def _inert_table(table: "pa.Table") -> "pa.Table":
    """Return a table without texts or column names that a spreadsheet takes for formulas."""
    pa = extras.require("pyarrow")
    columns = []
    for column in table.columns:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            cells = [_inert(cell) for cell in column.to_pylist()]
            columns.append(pa.array(cells, kind))
        else:
            columns.append(column)
    return pa.table(columns, names=[_inert(name) for name in table.column_names])


def as_text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table for a terminal.

    The first column, and columns without a head (remarks), are aligned left, the others right.
    """
    lines = [[shown(cell) for cell in line] for line in (head, *rows)]
    sides = ["<" if k == 0 or not name else ">" for k, name in enumerate(head)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    forms = [f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True)]
    return ["  ".join(forms).format(*line) for line in lines]
