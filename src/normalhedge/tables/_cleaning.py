"""Columns as people have them: numbers with bad cells, labels as text, columns of no forecasts.

Nothing is changed without a sentence about it.
"""

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.tables.frames import (
    MODELS,
    SERIES,
    TARGETS,
    TIMES,
    Columns,
    encode,
    is_empty,
    is_text,
    replace_column,
)

THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+")
"""A whole number with commas between thousands."""

FEW = 0.1
"""The largest share of cells of a column of numbers that may be something else."""

SHOWN = 3
"""The number of bad cells that are shown."""

FAR = 20.0
"""A column is suspected if it is this many times farther from the target than the others."""

ENOUGH = 10
"""The number of rows from which on columns are suspected."""

MOST, TYPICAL = 100_000, 10_000
"""The number of rows of a large table that are looked at: for rare values, and for medians."""

COUNTS = {
    True: "counts up evenly, like a row number",
    False: "counts down evenly, like a time in falling order, so that the blend learns backwards",
}

PARTS = "_-. "
"""Characters between the parts of a name."""


def with_numbers(table: Any, spec: Columns) -> tuple[Any, list[str]]:
    """Return a table in which columns of numbers with a few bad cells are numbers; and remarks.

    A column of text counts as numbers if it has the role of numbers, or if some of its cells have a
    decimal point, and nine in ten cells are numbers. Bad cells become missing values.
    """
    numbers = {spec.target, spec.forecast, *(spec.experts or ()), *spec.classes}
    others = {
        spec.time,
        spec.cutoff,
        spec.model,
        *spec.by,
        *(spec.context or ()),
        *TIMES,
        *SERIES,
        *MODELS,
        "cutoff",
    }
    remarks = []
    for name in _single(table):
        if not is_text(table.schema.field(name).type) or (name in others and name not in numbers):
            continue
        words, codes = encode(table[name])
        values = np.array([_number(word) for word in words])
        cells, empty = values[codes], np.array([not word.strip() for word in words])[codes]
        bad = np.isnan(cells) & ~empty
        plain = any(c in words[k] for k in np.flatnonzero(~np.isnan(values)) for c in ".,")
        if bad.sum() > FEW * (~empty).sum() or not (plain or name in numbers):
            continue
        table = replace_column(table, name, cells)
        if bad.any():
            remarks.append(_bad_cells(name, bad, [words[k] for k in codes[bad][:SHOWN]]))
    return table, remarks


def _single(table: Any) -> list[str]:
    """Return the columns whose names appear once; others are refused later."""
    return [name for name, count in Counter(table.column_names).items() if count == 1]


def _number(word: str) -> float:
    """Return the number of a cell; NaN if it is none.

    Of a point and a comma, the last is the decimal sign; a comma before three digits separates
    thousands.
    """
    text = word.replace(" ", "").replace("\u00a0", "")
    if "," in text and ("." in text or THOUSANDS.fullmatch(text)):
        other = "," if text.rfind(".") > text.rfind(",") or "." not in text else "."
        text = text.replace(other, "")
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return float("nan")


def _bad_cells(name: str, bad: np.ndarray, words: Sequence[str]) -> str:
    rows = ", ".join(str(row + 1) for row in np.flatnonzero(bad)[:SHOWN])
    count = int(bad.sum())
    more = ", ..." * (count > SHOWN)
    cells = "cell of column {} is no number" if count == 1 else "cells of column {} are no numbers"
    shown = ", ".join(map(repr, dict.fromkeys(words)))
    return f"{count} {cells.format(name)} and missing (row {rows}{more}: {shown})"


def sample_rows(cells: Floats, outcomes: Floats, most: int = MOST) -> tuple[Floats, Floats]:
    """Return the rows of a table, or evenly spaced ones of a large table."""
    step = -(-len(outcomes) // most)
    return cells[::step], outcomes[::step]


def suspects(experts: Sequence[str], forecasts: Floats, outcomes: Floats) -> list[str]:
    """Return sentences about experts that may not be forecasts at all."""
    if forecasts.shape[1] > 1 or len(experts) < 2 or len(outcomes) < ENOUGH:
        return []
    cells, outcomes = sample_rows(forecasts[:, 0], outcomes, TYPICAL)
    apart = np.abs(cells - outcomes[:, np.newaxis])
    enough = (~np.isnan(apart)).sum(axis=0) >= ENOUGH
    if enough.sum() < 2:
        return []
    distances = np.full(len(experts), np.nan)
    distances[enough] = np.nanmedian(apart[:, enough], axis=0)
    notes = []
    for k in np.flatnonzero(enough).tolist():
        rest = np.nanmedian(np.delete(distances, k))
        steps = np.diff(cells[~np.isnan(cells[:, k]), k])
        if len(steps) and steps[0] and (steps == steps[0]).all():
            notes.append(f"{experts[k]} {COUNTS[steps[0] > 0.0]}: is it a forecast?")
        elif distances[k] > FAR * rest > 0.0:
            far = f"{distances[k] / rest:,.0f} times as far from the target as the others"
            notes.append(f"{experts[k]} is {far}: is it a forecast?")
    return notes


@dataclass
class Labels:
    """Labels of classes as text, and the numbers that stand for them."""

    numbers: dict[str, int]  # by label
    columns: list[str]  # the columns with labels

    def encode(self, table: Any) -> Any:
        """Return a table with numbers in place of labels; refuse labels of no class."""
        for name in self.columns:
            if name not in table.column_names:
                continue  # a table of the future needs no target
            words, codes = encode(table[name])
            unknown = [word for word in words if word and word not in self.numbers]
            if unknown:
                raise ValueError(
                    f"column {name} has the label {unknown[0]!r}, which is not one of "
                    f"{', '.join([*self.numbers][:6])}"
                )
            numbers = np.array([self.numbers.get(word, np.nan) for word in words], dtype=float)
            table = replace_column(table, name, numbers[codes])
        return table

    def decode(self, table: Any, columns: Sequence[str]) -> Any:
        """Return a table with labels in place of numbers."""
        pa = extras.require("pyarrow")
        names = {number: label for label, number in self.numbers.items()}
        for name in columns:
            cells = [None if k is None else names.get(int(k)) for k in table[name].to_pylist()]
            table = replace_column(table, name, pa.array(cells, pa.string()))
        return table


def labels_of(table: Any, spec: Columns, *, of_labels: bool) -> Labels | None:
    """Return the labels of a table whose target is text; None if it has none.

    With class probabilities, the labels are the names of their columns, without the common parts:
    ``rain`` and ``sun`` for ``p_rain`` and ``p_sun``. With forecasts of labels, they are the words
    of the target and of the experts.
    """
    names = _single(table)
    target = spec.target or next((name for name in TARGETS if name in names), None)
    if target is None or target not in names:
        return None
    kind = table.schema.field(target).type
    unknown = of_labels and not spec.classes and is_empty(kind)  # of labels, if experts are
    if not is_text(kind) and not unknown:
        return None
    words = set(filter(None, encode(table[target])[0]))
    if spec.classes:
        named = class_names(spec.classes)
        labels = next((names for names in named if words <= set(names)), named[1])
        return Labels({label: k for k, label in enumerate(labels)}, [target])
    if not of_labels:
        return None
    roles = {spec.time, spec.cutoff, spec.model, *spec.by, *TIMES, *SERIES, *MODELS, target}
    wanted = [spec.forecast] if spec.forecast else list(spec.experts or ())
    columns = [name for name in wanted if name in names] or [
        name for name in names if name not in roles and is_text(table.schema.field(name).type)
    ]
    if unknown and not any(is_text(table.schema.field(name).type) for name in columns):
        return None
    for name in columns:
        words |= set(filter(None, encode(table[name])[0]))
    return label_numbers(sorted(words), [target, *columns])


def label_numbers(names: Sequence[str], columns: Sequence[str]) -> Labels:
    """Return labels whose numbers do not depend on the other labels of a table.

    A later table may have other labels, and outcomes of rounds of this one. A number has two bytes
    of the label, so that labels mostly keep their order, by which ties of votes are broken, and
    four bytes of its checksum.
    """
    texts = [name.encode() for name in names]
    first = (int.from_bytes(text[:2].ljust(2, b"\0"), "big") for text in texts)
    numbers = [(high << 32) + zlib.crc32(text) for high, text in zip(first, texts, strict=True)]
    if len(set(numbers)) < len(numbers):
        raise ValueError("two labels have the same checksum: use numbers in place of labels")
    return Labels(dict(zip(names, numbers, strict=True)), list(columns))


def class_names(columns: Sequence[str]) -> list[list[str]]:
    """Return the names that the classes of some columns may have in outcomes."""
    return [list(columns), _short(columns, PARTS), _short(columns)]


def _short(names: Sequence[str], parts: str = "") -> list[str]:
    """Return names without their common beginning and end."""
    first = _common(names, parts)
    rest = [name[first:][::-1] for name in names]
    last = _common(rest, parts)
    return [name[last:][::-1] for name in rest]


def _common(names: Sequence[str], parts: str) -> int:
    """Return the length of the common prefix of all names, up to one of ``parts`` if given."""
    letters = enumerate(zip(*names, strict=False))
    count = next((k for k, cs in letters if len(set(cs)) > 1), min(map(len, names)))
    return max(names[0][:count].rfind(c) for c in parts) + 1 if parts else count
