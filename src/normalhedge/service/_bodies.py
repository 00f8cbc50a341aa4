"""Read the bodies of requests: JSON that is checked before anything is done."""

import json
from typing import Any, TypeVar

import msgspec

from normalhedge.boundary.terminal import clipped
from normalhedge.service._problems import Problem

T = TypeVar("T")

_decode = msgspec.json.Decoder().decode


def decoded(body: bytes, form: type[T]) -> T:
    """Return the form that a body holds; raise a problem if it holds something else."""
    try:
        return msgspec.convert(parsed(body), form)
    except msgspec.ValidationError as error:
        raise Problem(422, f"the request is not as described: {clipped(str(error))}") from None


def parsed(body: bytes) -> Any:
    """Return the JSON of a body; raise a problem if it is none, or a name is repeated."""
    try:
        value = _decode(body)
        names = _names(value)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Problem(400, f"the request is not JSON in UTF-8: {clipped(str(error))}") from None
    except RecursionError:
        raise Problem(400, "the request is nested too deeply") from None
    # Where a name is repeated in an object, the last one would silently win. There are as many
    # colons as names, unless some stand in texts.
    if body.count(b":") != names:
        _refuse_repeated(body)
    return value


def _names(value: Any) -> int:
    """Return the number of names in all objects of a value."""
    kind = type(value)
    if kind is dict:
        return len(value) + sum(
            [_names(part) for part in value.values() if type(part) is not float]
        )
    if kind is list:
        return sum([_names(part) for part in value if type(part) is not float])
    return 0


def _refuse_repeated(body: bytes) -> None:
    """Raise a problem if a name is there twice in an object."""
    try:
        json.loads(body, object_pairs_hook=_once)
    except RecursionError:
        raise Problem(400, "the request is nested too deeply") from None
    except ValueError as error:  # a number with too many digits
        raise Problem(400, f"the request is not JSON in UTF-8: {clipped(str(error))}") from None


def _once(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise Problem(422, f"{clipped(name, 80)!r} is there twice in one object")
        seen.add(name)
