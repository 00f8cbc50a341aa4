"""Arguments of the client as JSON, and JSON of the server as values of `Mixture`."""

import json
import numbers
from collections.abc import Callable, Iterable, Mapping
from math import inf, isfinite, isinf
from typing import Any
from urllib.parse import quote

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.specs import nearest
from normalhedge.mixtures.state import (
    OPTIONS,
    Keys,
    Prediction,
    as_mapping,
    id_text,
    value_text,
)

MIXTURES, ROUTERS = "/v1/mixtures", "/v1/routers"


def path_of(name: str, word: str = "mixture") -> str:
    """Return the path of a mixture or a router."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a {word} must be text, got {name!r}")
    if not name.strip(".") or "/" in name:
        raise KeyError(f"there is no {word} {name!r}")
    return f"/v1/{word}s/{quote(name, safe='')}"


def encode_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as JSON has them; refuse settings that cannot be sent."""
    encoded = {}
    for name, value in settings.items():
        if name not in OPTIONS:
            raise TypeError(str(nearest("setting", name, OPTIONS)))
        kind = OPTIONS[name].kind
        if kind == "named" and not isinstance(value, str | None):
            raise TypeError(
                f"{name} must be a name, such as {'squint' if name == 'hedger' else 'absolute'!r}: "
                f"a server runs no code of its clients, got {value!r}"
            )
        if kind == "words" and isinstance(value, str):
            value = [value]  # noqa: PLW2901
        if kind in {"words", "numbers"} and isinstance(value, Iterable):
            value = list(value)  # noqa: PLW2901
        encoded[name] = plain(value, name)
    return encoded


def check_same(name: str, wanted: Mapping[str, Any], present: Mapping[str, Any]) -> None:
    """Refuse settings that a mixture, which is there already, does not have."""
    if "recipe" in present:  # it was imported
        return
    for option, value in wanted.items():
        there = present.get(option, OPTIONS[option].as_json)
        if value not in (there, None) and {value, there} != {"auto", None}:
            raise ValueError(
                f"mixture {name!r} is there already, with {option} {there!r} and not {value!r}"
            )


def encode_forecasts(forecasts: Any, confidence: Any, context: Any = None) -> dict[str, Any]:
    """Return the forecasts, the confidence and the context of a round as JSON has them."""
    forecasts = as_mapping("forecasts", forecasts)
    body: dict[str, Any] = {"forecasts": dict(map(_forecast, forecasts.items()))}
    if confidence is not None:
        confidence = as_mapping("confidence", confidence)
        body["confidence"] = {
            name: inputs.number(f"confidence of {name!r}", value, 0.0, 1.0, closed=True)
            for name, value in confidence.items()
        }
    if context is not None:
        if not isinstance(context, Mapping):
            raise TypeError(f"context must be a mapping of names, got {type(context).__name__}")
        body["context"] = {str(name): _context(name, value) for name, value in context.items()}
    return body


def _context(name: str, value: Any) -> Any:
    """Return the value of a context, or its values for the items, as JSON has them."""
    if isinstance(value, Mapping):
        return {str(key): value_text(name, part) for key, part in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [value_text(name, part) for part in value]
    return value_text(name, value)


def _forecast(pair: tuple[Any, Any]) -> tuple[str, Any]:
    """Return the name and the forecast of an expert as JSON has them."""
    name, value = pair
    if not isinstance(name, str):
        raise TypeError(f"names of experts must be strings, got {name!r}")
    if isinstance(value, str | bool):
        raise TypeError(f"forecasts of {name!r} must be numbers, got {value!r}")
    return name, plain(value, f"forecasts of {name!r}")


def encode_id(round_id: Any) -> dict[str, Any]:
    """Return the id of a round as JSON has it; nothing for None."""
    if round_id is None:
        return {}
    id_text(round_id)
    return {"id": round_id}


def encode_outcome(ticket: Any, outcome: Any, round_id: Any) -> dict[str, Any]:
    """Return an outcome, and its ticket or its id, as JSON has them."""
    if (ticket is None) == (round_id is None):
        raise TypeError("give the ticket or the id of the round")
    if isinstance(outcome, str | bool):
        kind = type(outcome).__name__
        raise TypeError(f"outcome must be a number, got {outcome!r} ({kind})")
    if isinstance(outcome, float) and isinf(outcome):
        raise ValueError(f"outcome must be finite, got {outcome!r}")
    encoded = {"outcome": plain(outcome, "outcome")}
    if round_id is not None:
        return encoded | {"id": round_id}
    whole = isinstance(ticket, numbers.Integral) and not isinstance(ticket, bool)
    if not whole or not 0 <= int(ticket) <= 2**53:
        raise KeyError(f"ticket {ticket!r} was never given out")
    return encoded | {"ticket": int(ticket)}


def check_experts(*names: Any) -> None:
    """Refuse names of experts that no expert can have."""
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"there is no expert {name!r}")


def plain(value: Any, what: str) -> Any:
    """Return a value as JSON has it: NaN and infinite numbers, which mean the same, become None."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        return number if isfinite(number) else None
    if isinstance(value, Mapping):
        return {str(name): plain(part, what) for name, part in value.items()}
    if hasattr(value, "__array__"):
        value = np.asarray(value).tolist()
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [plain(part, what) for part in value]
    raise TypeError(f"{what} must be numbers, got {value!r}")


def read_prediction(body: bytes) -> Prediction:
    """Return the prediction that an answer holds, as `Mixture.predict` returns it."""
    answer = json.loads(body)
    weights: dict[str, Any] = answer["weights"]
    first: Any = next(iter(weights.values()), 0.0)
    keys: Keys = None
    columns: list[Any] = [[weight] for weight in weights.values()]
    if isinstance(first, list):
        keys, columns = range(len(first)), list(weights.values())
    elif isinstance(first, dict):
        keys, columns = list(first), [list(column.values()) for column in weights.values()]
    distribution = np.array(columns, dtype=np.float64).T
    intervals = None
    if answer.get("interval") is not None:
        intervals = {
            float(level): (None, None)
            if answer["prediction"] is None
            else (_numbers(low, -inf), _numbers(high, inf))
            for level, (low, high) in answer["interval"].items()
        }
    value = _numbers(answer["prediction"], None)
    return Prediction(value, answer.get("ticket", -1), list(weights), distribution, keys, intervals)


def _numbers(value: Any, missing: float | None) -> Any:
    """Return a blend or a bound in the form in which a mixture has it."""
    if isinstance(value, dict):
        if missing is None:
            return value
        return {name: _numbers(part, missing) for name, part in value.items()}
    if isinstance(value, list):
        filled = np.array(value, dtype=np.float64)
        return filled if missing is None else np.where(np.isnan(filled), missing, filled)
    return missing if value is None else value


def read_object(body: bytes) -> dict[str, Any]:
    """Return an answer as it is."""
    return dict(json.loads(body))


def read_list(name: str) -> Callable[[bytes], list[dict[str, Any]]]:
    """Return a function that reads the one list of an answer."""
    return lambda body: list(json.loads(body)[name])


def skip(body: bytes) -> None:
    """Return nothing of an answer."""
