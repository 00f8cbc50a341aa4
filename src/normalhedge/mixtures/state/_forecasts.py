"""Read forecasts and outcomes in the forms in which users give them, as arrays."""

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.mixtures.losses import Loss

Keys = Sequence[str] | range | None
"""The names of the rows of a round: None if there is one row, a range if rows have no names."""

SUM_TOLERANCE = 0.01
"""The largest distance from one of a sum of class probabilities."""

SAME_LEVEL = 1e-9
"""Levels that differ by less are the same."""


def as_mapping(name: str, values: Any) -> Mapping[str, Any]:
    """Return a mapping of names, also of a series of pandas or of a table with a single row.

    Its index or its columns are the names.
    """
    if isinstance(values, Mapping):
        return values
    shape = getattr(values, "shape", None)
    if hasattr(values, "columns") and shape is not None and len(shape) == 2:
        if shape[0] != 1:
            raise ValueError(
                f"{name} must be one row of a table, got {shape[0]:,} rows: blend(table) takes a "
                "whole table"
            )
        return {str(column): np.asarray(values[column])[0] for column in values.columns}
    if hasattr(values, "index") and hasattr(values, "to_dict") and shape is not None:
        names = [str(label) for label in values.index]
        if len(set(names)) < len(names):
            raise ValueError(f"{name} must have each expert once in its index, got {names[:5]}")
        return dict(zip(names, np.asarray(values).tolist(), strict=True))
    raise TypeError(
        f"{name} must be a mapping of names to {'forecasts' if name == 'forecasts' else 'numbers'}"
        f", or a row of a table, got {type(values).__name__}"
    )


def check_confidence(confidence: Mapping[str, Any], known: Callable[[str], bool]) -> None:
    """Refuse confidences that are not numbers in [0, 1] of known experts."""
    for name, value in confidence.items():
        if not known(name):
            raise ValueError(f"confidence names {name!r}, which is not an expert")
        inputs.number(f"confidence of {name!r}", value, 0.0, 1.0, closed=True)


def read(
    forecasts: Mapping[str, Any],
    index: Mapping[str, int],
    n: int,
    *,
    of_classes: bool,
    levels: Sequence[float] = (),
) -> tuple[Floats, Keys]:
    """Return forecasts as a table of rows x classes x experts, and the keys of its rows."""
    columns = {
        name: _quantile_rows(name, forecast, levels)
        if levels
        else _rows(name, forecast, of_classes=of_classes)
        for name, forecast in forecasts.items()
    }
    awake = {name: column for name, column in columns.items() if column is not None}
    keys = _common_keys(awake)
    rows = 1 if keys is None else len(keys)
    if not rows:
        raise ValueError("forecasts must be of at least one item, got empty mappings")
    sizes = (cell.size for _, cells in awake.values() for cell in cells)
    classes = len(levels) or max(sizes, default=1)
    table = np.full((rows, classes, n), np.nan)
    place = {key: row for row, key in enumerate(keys or ())}
    for name, (names, cells) in awake.items():
        places = [place[key] for key in names] if isinstance(names, list) else range(rows)
        for row, cell in zip(places, cells, strict=True):
            if of_classes:
                _check_classes(name, cell, classes)
            table[row, :, index[name]] = cell
    return table, keys


def _rows(name: str, forecast: Any, *, of_classes: bool) -> tuple[Keys, list[Floats]] | None:
    """Return the keys and the numbers of an expert's forecast; None if it sleeps."""
    if forecast is None:
        return None
    if isinstance(forecast, Mapping):
        keys = [str(key) for key in forecast]
        return keys, [_numbers(name, value, 1 if of_classes else 0) for value in forecast.values()]
    if isinstance(forecast, bool | np.bool_):
        raise TypeError(f"forecasts of {name!r} must be numbers, got {forecast!r}")
    if isinstance(forecast, numbers.Real):
        if of_classes and not np.isnan(_float(name, forecast)):
            raise ValueError(
                f"forecasts of {name!r} must be class probabilities, such as [0.7, 0.3] or "
                f"{{'calm': 0.7, 'outage': 0.3}}, got {forecast!r}"
            )
        return (None, [np.array([_float(name, forecast)])]) if not of_classes else None
    cells = _numbers(name, forecast, None)
    if of_classes and cells.ndim == 1:
        return None, [cells]
    if cells.ndim != (2 if of_classes else 1) or not len(cells):
        raise ValueError(f"forecasts of {name!r} must be a number or a sequence, got {forecast!r}")
    return range(len(cells)), [np.atleast_1d(cell) for cell in cells]


def _quantile_rows(
    name: str, forecast: Any, levels: Sequence[float]
) -> tuple[Keys, list[Floats]] | None:
    """Return the keys and the quantiles of an expert's forecast; None if it sleeps."""
    if _is_missing(forecast) or (isinstance(forecast, Mapping) and not forecast):
        return None
    if isinstance(forecast, Mapping):
        if all(_is_missing(value) for value in forecast.values()):  # of levels, or of series
            return None if all(_place(key, levels) is not None for key in forecast) else ([], [])
        if not any(isinstance(value, Mapping) or np.ndim(value) for value in forecast.values()):
            return None, [_by_level(name, forecast, levels)]
        keys = [str(key) for key in forecast]
        return keys, [_quantiles(name, value, levels) for value in forecast.values()]
    cells = _numbers(name, forecast, None)
    if cells.ndim > 2 or not cells.size:
        raise ValueError(f"forecasts of {name!r} must be quantiles by level, got {forecast!r}")
    if cells.ndim < 2:
        return None, [_quantiles(name, cells, levels)]
    return range(len(cells)), [_quantiles(name, cell, levels) for cell in cells]


def _quantiles(name: str, quantiles: Any, levels: Sequence[float]) -> Floats:
    """Return the quantiles of one item; all NaN if the expert sleeps there."""
    if isinstance(quantiles, Mapping):
        return _by_level(name, quantiles, levels)
    if _is_missing(quantiles):
        return np.full(len(levels), np.nan)
    cells = np.atleast_1d(_numbers(name, quantiles, None))
    if cells.shape != (len(levels),):
        raise ValueError(
            f"forecasts of {name!r} must have {len(levels)} quantiles each, one for each level, "
            f"got {cells.size}"
        )
    return cells


def _by_level(name: str, quantiles: Mapping[Any, Any], levels: Sequence[float]) -> Floats:
    """Return the quantiles of a mapping of levels to numbers; NaN for levels it does not have."""
    result, seen = np.full(len(levels), np.nan), set[int]()
    for key, value in quantiles.items():
        place = _place(key, levels)
        if place is None:
            accepted = ", ".join(f"{level:g}" for level in levels)
            raise ValueError(
                f"forecasts of {name!r} have level {key!r}, which is none of {accepted}"
            )
        if place in seen:
            raise ValueError(f"forecasts of {name!r} have level {levels[place]:g} twice")
        seen.add(place)
        result[place] = _numbers(name, value, 0)[0]
    return result


def _place(key: Any, levels: Sequence[float]) -> int | None:
    """Return the place of a level, given as a number or as its text; None if it is unknown."""
    try:
        level = float(key)
    except (TypeError, ValueError):
        return None
    near = (k for k, accepted in enumerate(levels) if abs(accepted - level) < SAME_LEVEL)
    return next(near, None)


def _is_missing(value: Any) -> bool:
    """Tell whether a value is None or a number that is NaN."""
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _float(name: str, number: numbers.Real) -> float:
    try:
        return float(number)
    except OverflowError:
        raise ValueError(f"forecasts of {name!r} must be numbers that a float can hold") from None


def _numbers(name: str, values: Any, ndim: int | None) -> Floats:
    try:
        array = np.array(np.nan if values is None else values)
        if array.dtype.kind == "O":
            array = np.array([np.nan if value is None else value for value in values])
    except ValueError:
        raise ValueError(f"forecasts of {name!r} must all have the same length") from None
    except TypeError:
        raise TypeError(f"forecasts of {name!r} must be numbers, got {values!r}") from None
    if array.dtype.kind not in "fiu":
        raise TypeError(f"forecasts of {name!r} must be numbers, got {values!r}")
    if ndim == 0 and array.ndim:
        raise ValueError(f"forecasts of {name!r} must be a number for each item, got {values!r}")
    array = array.astype(np.float64)
    return np.atleast_1d(array) if ndim is not None else array


def _common_keys(columns: Mapping[str, tuple[Keys, list[Floats]]]) -> Keys:
    kinds = {type(keys) for keys, _ in columns.values()}
    lengths = {len(keys) for keys, _ in columns.values() if isinstance(keys, range)}
    if len(kinds) > 1 or len(lengths) > 1:
        raise ValueError(
            "forecasts must all be of one form: a number each, a mapping each, or sequences of "
            "one length"
        )
    if list in kinds:
        return list(dict.fromkeys(str(key) for keys, _ in columns.values() for key in keys or ()))
    return range(lengths.pop()) if lengths else None


def _check_classes(name: str, cell: Floats, classes: int) -> None:
    usable = np.abs(cell) < LARGEST
    if not usable.any():
        return
    if cell.size != classes:
        raise ValueError(
            f"forecasts of {name!r} must have {classes} class probabilities, got {cell.size}"
        )
    if classes == 1:
        raise ValueError(f"forecasts of {name!r} must have two class probabilities or more, got 1")
    if not usable.all() or cell.min() < -1e-9 or abs(cell.sum() - 1.0) > SUM_TOLERANCE:
        raise ValueError(
            f"forecasts of {name!r} must be probabilities that sum to one, got {cell.tolist()}"
        )


def read_outcome(
    outcome: Any, keys: Keys, rows: int, classes: int, loss: Loss | None = None
) -> Floats:
    """Return the outcome of each row; NaN where it is unknown."""
    result = np.empty(rows)
    for row, value in enumerate(_by_row(outcome, keys, rows)):
        if isinstance(value, bool) or not isinstance(value, numbers.Real | None):
            raise TypeError(f"outcome must be a number, got {value!r} ({type(value).__name__})")
        result[row] = np.nan if value is None else float(value)
    if np.isnan(result).all():
        raise ValueError(f"outcome must be known, at least in part, got {outcome!r}")
    known = result[~np.isnan(result)]
    if not (np.abs(known) < LARGEST).all():
        raise ValueError(f"outcome must be finite and within ±{LARGEST:g}, got {outcome!r}")
    if loss is not None and not loss.takes(known).all():
        raise ValueError(f"outcome must {loss.outcome_must[0]}, got {outcome!r}")
    if classes > 1 and not (np.isin(known, range(classes))).all():
        raise ValueError(f"outcome must be a class in 0..{classes - 1}, got {outcome!r}")
    return result


def _by_row(outcome: Any, keys: Keys, rows: int) -> list[Any]:
    if keys is None:
        return [outcome]
    if isinstance(keys, range):
        values = list(outcome) if isinstance(outcome, Sequence | np.ndarray) else [outcome]
        if len(values) != rows:
            raise ValueError(f"outcome must have {rows} numbers, as the forecasts had")
        return values
    if not isinstance(outcome, Mapping):
        hint = ""
        if isinstance(outcome, str) and outcome in {str(key) for key in keys}:
            hint = (
                f": {outcome} is one of several items here; if it is a class, and the forecasts "
                "are class probabilities, make the mixture with loss='brier' or loss='log'"
            )
        raise TypeError(f"outcome must be a mapping, as the forecasts were, got {outcome!r}{hint}")
    forecast = set(keys)
    unknown = [key for key in outcome if str(key) not in forecast]
    if unknown:
        raise ValueError(f"outcome has {unknown[0]!r}, which was not forecast")
    named = {str(key): value for key, value in outcome.items()}
    return [named.get(key) for key in keys]
