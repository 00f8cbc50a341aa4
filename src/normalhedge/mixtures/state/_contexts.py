"""Contexts of rounds, such as the hour or the weather, and the cells that they divide rounds into.

A cell is a value of a context: ``hour=7``. The core numbers the cells of a mixture, and the first
cell of a context makes the context known; the contexts are numbered in that order.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from normalhedge._core import Live
from normalhedge.boundary.terminal import clipped
from normalhedge.mixtures.rules import CONTEXTS, Automatic
from normalhedge.mixtures.state._forecasts import Keys
from normalhedge.mixtures.state._settings import MixtureSettings

MOST_CELLS = 64
"""The largest number of cells of a context. A further value has the weights common to all cells."""

LONGEST = 100
"""The largest number of characters of the name and of a value of a context."""


def takes_contexts(settings: MixtureSettings) -> bool:
    """Tell whether the weights of a mixture can depend on contexts."""
    hedger = settings.hedger
    return isinstance(hedger, Automatic) and bool(hedger.target(settings.loss)) and settings.shared


def refuse_contexts(settings: MixtureSettings) -> None:
    """Raise if the weights of a mixture cannot depend on contexts."""
    if not takes_contexts(settings):
        raise ValueError(
            'context needs the hedger "auto" without inside=true, a loss of numbers, and items '
            f"that share their weights; this mixture has {settings.hedger!r}, the loss "
            f"{settings.loss.name} and shared={settings.shared}"
        )


def contexts_of(live: Live) -> list[str]:
    """Return the names of the contexts of a mixture, in their order."""
    return list(dict.fromkeys(cell.partition("=")[0] for cell in live.cells))


def value_text(name: str, value: Any) -> str | None:
    """Return a value of a context as text; None if it is missing.

    A whole number, also one that is a float, and the text of its digits are the same value.
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        if math.isnan(number):
            return None
        if number.is_integer():
            return str(int(number))
        raise ValueError(
            f"context {name} must be a category, got {value!r}: divide numbers into classes first"
        )
    if value is None or isinstance(value, str):
        if value is not None and len(value) > LONGEST:
            raise ValueError(
                f"context {name} must have at most {LONGEST} characters, it has {len(value)}"
            )
        return value
    raise TypeError(
        f"context {name} must be text, a whole number, true or false, got {clipped(repr(value))}"
    )


def plan_cells(
    live: Live, values: Mapping[str, Iterable[str]]
) -> tuple[list[tuple[int, dict[str, int]]], list[str]]:
    """Return for each context its number and the cell of each value, and the names of new cells.

    A value without a cell, since the context has as many as it may have, is left out.
    """
    names, cells = contexts_of(live), live.cells
    wanted = [*names, *(name for name in values if name not in names)]
    if len(wanted) > CONTEXTS:
        raise ValueError(
            f"a mixture has at most {CONTEXTS} contexts, these are {len(wanted)}: "
            f"{clipped(', '.join(wanted))}"
        )
    plans, new = [], list[str]()
    for name, texts in values.items():
        _check_name(name)
        count = sum(cell.partition("=")[0] == name for cell in cells)
        places = dict[str, int]()
        for text in dict.fromkeys(texts):
            place = live.find_cell(f"{name}={text}")
            if place < 0 and count < MOST_CELLS:
                place, count = len(cells) + len(new), count + 1
                new.append(f"{name}={text}")
            if place >= 0:
                places[text] = place
        plans.append((wanted.index(name), places))
    return plans, new


def read_context(
    live: Live, context: Mapping[str, Any], keys: Keys
) -> tuple[np.ndarray, list[str]]:
    """Return the cells of the rows of a round, -1 where there is none; and the names of new cells.

    A context has a value for all items of the round, or a sequence or a mapping with one for each.
    """
    if not isinstance(context, Mapping):
        raise TypeError(
            f"context must be a mapping of names to values, got {type(context).__name__}"
        )
    rows = 1 if keys is None else len(keys)
    texts = {name: _row_texts(name, value, keys, rows) for name, value in context.items()}
    values = {name: [text for text in row if text is not None] for name, row in texts.items()}
    plans, new = plan_cells(live, values)
    cells = np.full((rows, CONTEXTS), -1, dtype=np.int32)
    for (number, places), row in zip(plans, texts.values(), strict=True):
        cells[:, number] = [-1 if text is None else places.get(text, -1) for text in row]
    return cells, new


def _row_texts(name: str, value: Any, keys: Keys, rows: int) -> Sequence[str | None]:
    """Return the value of a context in each row of a round."""
    _check_name(name)
    if isinstance(value, Mapping) and keys is not None:
        unknown = [key for key in value if key not in keys]
        if unknown:
            raise ValueError(f"context {name} has an item {unknown[0]!r} that has no forecast")
        return [value_text(name, value.get(key)) for key in keys]
    if isinstance(value, list | tuple | np.ndarray) and keys is not None:
        if len(value) != rows:
            raise ValueError(
                f"context {name} must have a value for each of {rows} items, got {len(value)}"
            )
        return [value_text(name, part) for part in value]
    return [value_text(name, value)] * rows


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"names of contexts must be strings, got {name!r}")
    if not name or "=" in name or len(name) > LONGEST:
        raise ValueError(
            f"the name of a context must have 1 to {LONGEST} characters and no '=', "
            f"got {clipped(repr(name))}"
        )
