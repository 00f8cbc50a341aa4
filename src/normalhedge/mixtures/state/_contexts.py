"""Contexts of rounds, such as the hour or the weather, and the cells that they divide rounds into.

A cell is a value of a context: ``hour=7``. The core numbers the cells of a mixture, and the first
cell of a context makes the context known; the contexts are numbered in that order.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from normalhedge._core import Live
from normalhedge.boundary.terminal import clipped
from normalhedge.mixtures.rules import CONTEXTS, Automatic
from normalhedge.mixtures.state._forecasts import Keys
from normalhedge.mixtures.state._settings import MixtureSettings

MOST_CELLS = 64
"""The largest number of cells of a context. A further value has the weights common to all cells."""

LONGEST, WIDEST = 100, 1 << 63
"""The largest number of characters of the name and of a value of a context, and a bound on whole
numbers."""


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
    """Return a value of a context as text; None if it is missing, or empty.

    A whole number, also one that is a float, and the text of its digits are the same value.
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, Real):
        number = int(value) if isinstance(value, Integral) else float(value)
        if isinstance(number, float) and math.isnan(number):
            return None
        if isinstance(number, float) and not number.is_integer():
            raise ValueError(
                f"context {name} must be a category, got {value!r}: divide numbers into classes "
                "first"
            )
        if not abs(number) < WIDEST:
            raise ValueError(f"context {name} must be a whole number below 2^63, or text")
        return str(int(number))
    if value is None or isinstance(value, str):
        if value is not None and len(value) > LONGEST:
            raise ValueError(
                f"context {name} must have at most {LONGEST} characters, it has {len(value)}"
            )
        return value or None
    raise TypeError(
        f"context {name} must be text, a whole number, true or false, got {clipped(repr(value))}"
    )


class CellPlan(NamedTuple):
    """The contexts of a mixture and their cells, with new ones that are about to join."""

    contexts: list[str]  # the names of the contexts, in their order
    places: dict[str, dict[str, int]]  # the cell of each value, by context
    new: list[str]  # the names of new cells


def plan_cells(live: Live, values: Iterable[tuple[str, str]]) -> CellPlan:
    """Return the cells of pairs of a context and a value, in the order of their rounds.

    A value without a cell, since the context has as many as it may have, is left out.
    """
    cells = live.cells
    counts = Counter(cell.partition("=")[0] for cell in cells)
    places, new = dict[str, dict[str, int]](), list[str]()
    for name, text in dict.fromkeys(values):
        place = live.find_cell(f"{name}={text}")
        if place < 0 and counts[name] < MOST_CELLS:
            place = len(cells) + len(new)
            counts[name] += 1
            new.append(f"{name}={text}")
        if place >= 0:
            places.setdefault(name, {})[text] = place
    names = list(dict.fromkeys(cell.partition("=")[0] for cell in (*cells, *new)))
    check_count(names)
    return CellPlan(names, places, new)


def check_cells(cells: Sequence[str]) -> None:
    """Raise if a mixture could not have made these cells."""
    counts = Counter(cell.partition("=")[0] for cell in cells)
    check_count(list(counts))
    for name in counts:
        check_name(name)
    if not all("=" in cell for cell in cells) or max(counts.values(), default=0) > MOST_CELLS:
        raise ValueError(f"cells must be at most {MOST_CELLS} values of a context, as name=value")


def check_count(names: Sequence[str]) -> None:
    """Raise if there are more contexts than a mixture may have."""
    if len(names) > CONTEXTS:
        raise ValueError(
            f"a mixture has at most {CONTEXTS} contexts, these are {len(names)}: "
            f"{clipped(', '.join(names))}"
        )


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
    pairs = [(name, text) for name, row in texts.items() for text in row if text is not None]
    plan = plan_cells(live, pairs)
    cells = np.full((rows, CONTEXTS), -1, dtype=np.int32)
    for name, places in plan.places.items():
        column = [-1 if text is None else places.get(text, -1) for text in texts[name]]
        cells[:, plan.contexts.index(name)] = column
    return cells, plan.new


def _row_texts(name: str, value: Any, keys: Keys, rows: int) -> Sequence[str | None]:
    """Return the value of a context in each row of a round."""
    check_name(name)
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


def check_name(name: Any) -> None:
    """Raise if a context cannot have this name."""
    if not isinstance(name, str):
        raise TypeError(f"names of contexts must be strings, got {name!r}")
    if not name or "=" in name or len(name) > LONGEST:
        raise ValueError(
            f"the name of a context must have 1 to {LONGEST} characters and no '=', "
            f"got {clipped(repr(name))}"
        )
