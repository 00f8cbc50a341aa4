"""Read the columns of Arrow tables as numbers and words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import clipped

SAMPLE = 100
"""The number of rows from which an example is taken."""


def free_name(name: str, table: Any) -> str:
    """Return a name that no column of a table has: the given one, with underscores if needed."""
    while name in table.column_names:
        name += "_"
    return name


def replace_column(table: Any, name: str, values: Any) -> Any:
    """Return a table with other values in one of its columns; NaN becomes a missing value."""
    if isinstance(values, np.ndarray):
        values = extras.require("pyarrow").array(values, from_pandas=True)
    return table.set_column(table.column_names.index(name), name, values)


def is_text(kind: Any) -> bool:
    """Tell whether an Arrow type holds words."""
    types = extras.require("pyarrow.types")
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_number(kind: Any) -> bool:
    """Tell whether an Arrow type holds numbers."""
    types = extras.require("pyarrow.types")
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def is_empty(kind: Any) -> bool:
    """Tell whether an Arrow type has no values: no cell of its column has one."""
    return bool(extras.require("pyarrow.types").is_null(kind))


def may_hold_numbers(kind: Any) -> bool:
    """Tell whether a column of this Arrow type can be read as numbers; an empty one has no type."""
    return is_number(kind) or is_empty(kind)


def refuse_other_than_numbers(table: Any, name: str) -> None:
    """Raise TypeError if a column cannot be read as numbers."""
    kind = table.schema.field(name).type
    if not may_hold_numbers(kind):
        held = kind
        if is_text(kind):
            texts = [text for text in table[name].slice(0, SAMPLE).to_pylist() if text]
            held = "text" + (f", such as {clipped(repr(texts[0]), 40)}" if texts else "")
        raise TypeError(f"column {name} must hold numbers, it holds {held}")


def floats(column: Any) -> Floats:
    """Return a column of numbers as an array; NaN where it is empty."""
    pa = extras.require("pyarrow")
    array = column.cast(pa.float64(), safe=False).combine_chunks()
    values: Floats = array.to_numpy(zero_copy_only=False)
    return values


def words(column: Any) -> Any:
    """Return a column as strings; empty strings where it is empty."""
    pa, pc = extras.require("pyarrow"), extras.require("pyarrow.compute")
    return pc.fill_null(column.cast(pa.string()), "")


def encode(column: Any, every: Sequence[str] | None = None) -> tuple[list[str], np.ndarray]:
    """Return the distinct values of a column as strings, and the index of each row's value."""
    types = extras.require("pyarrow.types")
    if column.null_count or types.is_dictionary(column.type):
        column = words(column)
    coded = column.combine_chunks().dictionary_encode()
    codes: np.ndarray = coded.indices.to_numpy()
    names, codes = words(coded.dictionary).to_pylist(), codes.astype(np.int32, copy=False)
    if every is None:
        return names, codes
    place = {name: k for k, name in enumerate(every)}
    return list(every), np.array([place[name] for name in names], dtype=np.int32)[codes]
