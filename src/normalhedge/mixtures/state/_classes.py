"""The classes of a mixture of class probabilities: the core keeps their names, in one order.

Forecasts are sequences of probabilities, whose classes are numbered, or mappings of the names of
classes to probabilities. The first round decides which.
"""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from normalhedge._core import Live
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import clipped
from normalhedge.mixtures.losses import Loss
from normalhedge.mixtures.state._forecasts import Keys
from normalhedge.mixtures.state._tickets import shape_values


def join_classes(live: Live, loss: Loss, count: int) -> None:
    """Let so many classes join as far as they are not there yet."""
    new = number_classes(live, loss, count)
    live.join(live.version, [], [], [], new)


def number_classes(live: Live, loss: Loss, count: int) -> list[str]:
    """Return the names of new classes for forecasts of so many: numbers, where none were given."""
    known = len(live.classes) if loss.of_classes else count
    return [str(k) for k in range(known, count)]


def named_classes(classes: list[str]) -> list[str]:
    """Return the classes of a mixture, if they have names; none if they are numbered."""
    return [] if classes == [str(k) for k in range(len(classes))] else classes


def order_classes(
    known: list[str], loss: Loss, forecasts: Mapping[str, Any]
) -> tuple[Mapping[str, Any], list[str]]:
    """Return forecasts with sequences in place of mappings of classes; and new named classes."""
    if not loss.of_classes:
        return forecasts, []
    if not any(_names_of(forecast) for forecast in forecasts.values()):
        if named_classes(known):
            _refuse_numbered(forecasts, known)
        return forecasts, []
    classes = known or sorted({name for f in forecasts.values() for name in _names_of(f)})
    if len(classes) < 2:
        raise ValueError(f"forecasts must have two classes or more, got {classes[0]!r} alone")
    ordered = {name: _ordered(name, f, classes) for name, f in forecasts.items()}
    return ordered, [] if known else classes


def _names_of(forecast: Any) -> list[str]:
    """Return the names of the classes of a forecast; none if it does not name them."""
    if not isinstance(forecast, Mapping) or not forecast:
        return []
    parts = list(forecast.values())
    if all(isinstance(part, Real) for part in parts):
        return [_text(key) for key in forecast]
    mappings = [part for part in parts if isinstance(part, Mapping)]
    return [_text(key) for part in mappings for key in part]


def _text(key: Any) -> str:
    if isinstance(key, str) or (isinstance(key, Integral) and not isinstance(key, bool)):
        return str(key)
    raise TypeError(f"names of classes must be strings, got {key!r}")


def _ordered(name: str, forecast: Any, classes: Sequence[str]) -> Any:
    """Return the forecast of an expert with sequences of probabilities in the order of classes."""
    if _is_asleep(forecast):
        return None
    if isinstance(forecast, Mapping) and all(isinstance(p, Real) for p in forecast.values()):
        return _probabilities(name, forecast, classes)
    if isinstance(forecast, Mapping):
        return {
            key: [np.nan] * len(classes)
            if _is_asleep(part)
            else _probabilities(name, part, classes)
            for key, part in forecast.items()
        }
    return _probabilities(name, forecast, classes)


def _probabilities(name: str, forecast: Any, classes: Sequence[str]) -> list[float]:
    """Return the probabilities of a mapping, in the order of classes."""
    if not isinstance(forecast, Mapping):
        raise TypeError(
            f"forecasts of {name!r} must be a mapping of the classes {_list(classes)} to "
            f"probabilities, got {clipped(repr(forecast))}"
        )
    told = {_text(key): value for key, value in forecast.items()}
    unknown = [key for key in told if key not in classes]
    if unknown:
        raise ValueError(
            f"forecasts of {name!r} have the class {clipped(repr(unknown[0]))}, which is none of "
            f"{_list(classes)}"
        )
    missing = [key for key in classes if key not in told]
    if missing:
        raise ValueError(
            f"forecasts of {name!r} lack the class {missing[0]!r}: there must be a probability of "
            "each class, 0 where it is impossible"
        )
    return [told[key] for key in classes]


def _refuse_numbered(forecasts: Mapping[str, Any], classes: Sequence[str]) -> None:
    for name, forecast in forecasts.items():
        if not _is_asleep(forecast) and not isinstance(forecast, Mapping):
            _probabilities(name, forecast, classes)


def _is_asleep(forecast: Any) -> bool:
    missing = isinstance(forecast, float | np.floating) and bool(np.isnan(forecast))
    return forecast is None or missing or (isinstance(forecast, Mapping) and not forecast)


def _list(classes: Sequence[str]) -> str:
    return clipped(", ".join(classes))


def shape_classes(classes: list[str], values: Floats, keys: Keys) -> Any:
    """Return predictions in the form of the forecasts: by class, if classes have names."""
    shaped, classes = shape_values(values, keys), named_classes(classes)
    if not classes or shaped is None:
        return shaped
    if isinstance(shaped, dict):
        return {
            key: None if part is None else dict(zip(classes, part, strict=True))
            for key, part in shaped.items()
        }
    return dict(zip(classes, shaped.tolist(), strict=True))


def number_outcome(classes: list[str], outcome: Any) -> Any:
    """Return an outcome with numbers in place of the names of classes."""
    classes = named_classes(classes)
    if not classes:
        return outcome
    if isinstance(outcome, Mapping):
        return {key: _number(part, classes) for key, part in outcome.items()}
    return _number(outcome, classes)


def _number(outcome: Any, classes: Sequence[str]) -> Any:
    if outcome is None or (isinstance(outcome, float) and np.isnan(outcome)):
        return outcome
    if not isinstance(outcome, str) or outcome not in classes:
        if isinstance(outcome, str) and outcome.strip().casefold() in {
            name.casefold() for name in classes
        }:
            raise ValueError(
                f"outcome must be spelt as the classes {_list(classes)}, got "
                f"{clipped(repr(outcome))}"
            )
        raise ValueError(
            f"outcome must be one of the classes {_list(classes)}, got {clipped(repr(outcome))}"
        )
    return classes.index(outcome)
