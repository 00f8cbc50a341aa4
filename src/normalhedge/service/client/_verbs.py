"""The verbs of a mixture as requests: what the clients for threads and for asyncio share."""

import json
import numbers
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite, isinf
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.specs import nearest
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.files import read_snapshot_text
from normalhedge.mixtures.state import OPTIONS, Keys, Prediction, check_mapping, id_text
from normalhedge.service.client._retrying import Ask, new_key
from normalhedge.service.client._summaries import ServedSummary

ALL = "/v1/mixtures"


def path_of(name: str) -> str:
    """Return the path of a mixture."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a mixture must be text, got {name!r}")
    if not name.strip(".") or "/" in name:
        raise KeyError(f"there is no mixture {name!r}")
    return f"{ALL}/{quote(name, safe='')}"


def create(name: str, settings: Mapping[str, Any]) -> Ask:
    """Return the request for a new mixture."""
    given = {one: value for one, value in settings.items() if value is not None}
    return Ask("POST", ALL, json.loads, {"name": name, **given}, new_key())


def checked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as JSON has them; refuse those that cannot be sent."""
    found = {}
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
        found[name] = plain(value, name)
    return found


def check_same(name: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse settings that a mixture, which is there already, does not have."""
    if "recipe" in known:  # it was imported
        return
    for one, value in given.items():
        there = known.get(one, OPTIONS[one].as_json)
        if value not in (there, None) and {value, there} != {"auto", None}:
            raise ValueError(
                f"mixture {name!r} is there already, with {one} {there!r} and not {value!r}"
            )


def predict(
    path: str, forecasts: Any, confidence: Any, given: Any, key: str | None, *, peek: bool = False
) -> Ask:
    """Return the request for a prediction."""
    check_mapping(forecasts)
    body: dict[str, Any] = {"forecasts": dict(map(_forecast, forecasts.items()))}
    if confidence is not None:
        if not isinstance(confidence, Mapping):
            kind = type(confidence).__name__
            raise TypeError(f"confidence must be a mapping of names, got {kind}")
        body["confidence"] = {
            name: inputs.number(f"confidence of {name!r}", value, 0.0, 1.0, closed=True)
            for name, value in confidence.items()
        }
    if given is not None:
        id_text(given)
        body["id"] = given
    if peek:
        return Ask("POST", f"{path}/peek", prediction_of, body)
    return Ask("POST", f"{path}/predict", prediction_of, body, key or new_key())


def _forecast(given: tuple[Any, Any]) -> tuple[str, Any]:
    """Return the name and the forecast of an expert as JSON has them."""
    name, value = given
    if not isinstance(name, str):
        raise TypeError(f"names of experts must be strings, got {name!r}")
    if isinstance(value, str | bool):
        raise TypeError(f"forecasts of {name!r} must be numbers, got {value!r}")
    return name, plain(value, f"forecasts of {name!r}")


def settle(path: str, verb: str, ticket: Any, outcome: Any, given: Any, key: str | None) -> Ask:
    """Return the request that gives or corrects an outcome."""
    if (ticket is None) == (given is None):
        raise TypeError("give the ticket or the id of the round")
    if isinstance(outcome, str | bool):
        kind = type(outcome).__name__
        raise TypeError(f"outcome must be a number, got {outcome!r} ({kind})")
    if isinstance(outcome, float) and isinf(outcome):
        raise ValueError(f"outcome must be finite, got {outcome!r}")
    body: dict[str, Any] = {"outcome": plain(outcome, "outcome")}
    if given is not None:
        body["id"] = given
    else:
        body["ticket"] = _ticket(ticket)
    return Ask("POST", f"{path}/{verb}", _nothing, body, key or new_key())


def _ticket(ticket: Any) -> int:
    whole = isinstance(ticket, numbers.Integral) and not isinstance(ticket, bool)
    if not whole or not 0 <= int(ticket) <= 2**53:
        raise KeyError(f"ticket {ticket!r} was never given out")
    return int(ticket)


def experts(path: str, change: str, names: str | list[str], key: str | None) -> Ask:
    """Return the request for a change of experts."""
    for name in names if isinstance(names, list) else [names]:
        if not isinstance(name, str):
            raise ValueError(f"there is no expert {name!r}")
    return Ask("POST", f"{path}/experts", _nothing, {change: names}, key or new_key())


def batch(path: str, lines: Sequence[Mapping[str, Any]], key: str | None) -> Ask:
    """Return the request for many lines of a stream."""
    body = {"rounds": [plain(dict(line), "a line") for line in lines]}
    return Ask("POST", f"{path}/rounds", lambda b: json.loads(b)["answers"], body, key or new_key())


def past(path: str, since: float | None, until: float | None, limit: int) -> Ask:
    """Return the request for settled rounds."""
    query = {"since": since, "until": until, "limit": limit}
    query = {name: value for name, value in query.items() if value is not None}
    return Ask("GET", f"{path}/history", lambda b: json.loads(b)["rounds"], query=query)


def pending(path: str) -> Ask:
    """Return the request for the rounds that wait."""

    def read(body: bytes) -> dict[int, dict[str, Any]]:
        return {one.pop("ticket"): one for one in json.loads(body)["pending"]}

    return Ask("GET", f"{path}/pending", read)


def details(path: str) -> Ask:
    """Return the request for the settings, the experts and the health of a mixture."""
    return Ask("GET", path, json.loads)


def summary(path: str) -> Ask:
    """Return the request for the summary of a mixture."""
    return Ask("GET", f"{path}/summary", ServedSummary.of)


def state(path: str) -> Ask:
    """Return the request for the state of a mixture."""
    return Ask("GET", f"{path}/state", bytes)


def names() -> Ask:
    """Return the request for the names of all mixtures."""
    return Ask("GET", ALL, lambda body: [one["name"] for one in json.loads(body)["mixtures"]])


def rename(path: str, name: str) -> Ask:
    """Return the request for another name of a mixture."""
    return Ask("PATCH", path, _nothing, {"name": name}, new_key())


def delete(path: str) -> Ask:
    """Return the request to delete a mixture."""
    return Ask("DELETE", path, _nothing, key=new_key())


def upload(path: str, file: str | Path) -> Ask:
    """Return the request to make a mixture of a file that `Mixture.save` wrote."""
    return Ask("PUT", f"{path}/state", _nothing, Path(file).read_bytes(), new_key())


def local(content: bytes, name: str) -> Mixture:
    """Return the mixture of a state."""
    return Mixture.of(read_snapshot_text(content, name).state)


def _nothing(_: bytes) -> None:
    return None


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


def prediction_of(body: bytes) -> Prediction:
    """Return the prediction that an answer holds, as `Mixture.predict` returns it."""
    found = json.loads(body)
    weights: dict[str, Any] = found["weights"]
    first: Any = next(iter(weights.values()), 0.0)
    keys: Keys = None
    columns: list[Any] = [[weight] for weight in weights.values()]
    if isinstance(first, list):
        keys, columns = range(len(first)), list(weights.values())
    elif isinstance(first, dict):
        keys, columns = list(first), [list(column.values()) for column in weights.values()]
    distribution = np.array(columns, dtype=np.float64).T
    intervals = None
    if found.get("interval") is not None:
        intervals = {
            float(level): (None, None)
            if found["prediction"] is None
            else (_numbers(low, -inf), _numbers(high, inf))
            for level, (low, high) in found["interval"].items()
        }
    value = _numbers(found["prediction"], None)
    return Prediction(value, found.get("ticket", -1), list(weights), distribution, keys, intervals)


def _numbers(value: Any, missing: float | None) -> Any:
    """Return a blend or a bound in the form in which a mixture has it."""
    if isinstance(value, dict):
        return {name: _numbers(part, missing) if missing is not None else part for name, part in
                value.items()}  # fmt: skip
    if isinstance(value, list):
        filled = np.array(value, dtype=np.float64)
        return filled if missing is None else np.where(np.isnan(filled), missing, filled)
    return missing if value is None else value
