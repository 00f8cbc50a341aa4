"""Routers in files: versioned JSON with a checksum, exact to the bit, written all or nothing."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from normalhedge._core import Routing
from normalhedge.boundary import whole_files
from normalhedge.boundary.terminal import clipped, shown
from normalhedge.hedgers import CompiledHedger
from normalhedge.live import sealed_file
from normalhedge.live.arrays import read_array, write_array
from normalhedge.live.journal import Operation, journal_of, refuse_beside, replay
from normalhedge.routing import _rules
from normalhedge.routing._rules import OnEstimates, Rule
from normalhedge.routing._settings import RouterSettings
from normalhedge.routing._state import RouterState

T = TypeVar("T", bound=RouterState)

FORMAT = "normalhedge router"
VERSION = 1
VERSIONS = range(1, VERSION + 1)
ATTEMPTS = 5
"""The number of attempts to read a file while a stream folds its journal into it."""


class RouterSnapshot(NamedTuple):
    """The content of a file."""

    settings: RouterSettings
    core: Routing
    sequence: int = 0  # the number of operations of its journal that it holds
    journal: str = ""  # the name of its journal; empty if it has none


def save(state: RouterState, path: Path) -> int:
    """Write a router, and return the number of bytes."""
    refuse_beside(path, "route")
    return write_snapshot(RouterSnapshot(state.settings, state._core), path)


def write_snapshot(snapshot: RouterSnapshot, path: Path) -> int:
    """Write a router with its place in its journal; return the number of bytes."""
    text = snapshot_text(snapshot)
    whole_files.write_whole(path, lambda part: part.write_text(text, "ascii"))
    return len(text)


def plain_settings(settings: RouterSettings) -> dict[str, Any]:
    """Return settings as JSON has them, without the actions."""
    return {
        "rule": _write_rule(settings.learner()),
        "gains": list(settings.gains),
        "shows": settings.shows and {name: list(o) for name, o in settings.shows.items()},
        "costs": settings.costs,
        "budget": settings.budget,
        "max_pending": settings.max_pending,
        "history": settings.history,
        "seed": settings.seed,
    }


def snapshot_text(snapshot: RouterSnapshot) -> str:
    """Return the text of a file."""
    numbers = snapshot.core.dump()
    return sealed_file.sealed(
        {
            "format": FORMAT,
            "version": VERSION,
            "sequence": snapshot.sequence,
            "journal": snapshot.journal,
            "settings": plain_settings(snapshot.settings),
            "actions": list(snapshot.core.every),
            "contexts": snapshot.core.contexts,
            "count": len(numbers),
            "numbers": write_array(numbers),
        }
    )


def load(
    path: Path, make: Callable[[RouterSettings, Routing], T], redo: Callable[[T, Operation], object]
) -> T:
    """Return the router of a file, after the operations of a journal beside it."""
    for attempt in range(ATTEMPTS):
        snapshot = read_snapshot(path)
        router = make(snapshot.settings, snapshot.core)
        try:
            replay(journal_of(path), partial(redo, router), snapshot.sequence, snapshot.journal)
            break
        except ValueError:
            # A stream may have folded its journal between the two reads.
            if attempt == ATTEMPTS - 1 or read_snapshot(path).sequence == snapshot.sequence:
                raise
    return router


def read_snapshot(path: Path) -> RouterSnapshot:
    """Return the content of a file, without its journal; refuse a file that is not a router."""
    return _snapshot(sealed_file.read(path, FORMAT, VERSIONS, 1, "a router"), str(path))


def read_snapshot_text(data: bytes, source: str) -> RouterSnapshot:
    """Return the content of a text that `snapshot_text` wrote; refuse any other text."""
    return _snapshot(sealed_file.open_sealed(data, source, FORMAT, VERSIONS, 1, "a router"), source)


def _snapshot(content: dict[str, Any], source: str) -> RouterSnapshot:
    try:
        chosen = dict(content["settings"])
        rule = _read_rule(chosen.pop("rule"))
        settings = RouterSettings((), rule=rule, **{**chosen, "gains": tuple(chosen["gains"])})
        core = RouterState(settings).new_core()
        numbers = read_array("numbers", content["numbers"], (content["count"],))
        core.restore(numbers, tuple(content["actions"]), dict(content["contexts"]))
        place = content["sequence"], content["journal"]
        if type(place[0]) is not int or place[0] < 0 or not isinstance(place[1], str):
            raise ValueError("sequence and journal must be a number and a word")
        return RouterSnapshot(settings, core, *place)
    except KeyError as error:
        raise ValueError(f"{source} cannot be read: {error} is missing") from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{source} cannot be read: {clipped(shown(str(error)))}") from None


def _write_rule(rule: Rule) -> dict[str, Any]:
    """Return a rule as its class and its fields, which are numbers."""
    if isinstance(rule, OnEstimates):
        return {"hedger": type(rule.hedger).__name__, **_fields(rule.hedger)}
    return {"rule": type(rule).__name__, **_fields(rule)}


def _fields(thing: Any) -> dict[str, Any]:
    return {
        name: getattr(thing, name) for name in thing.__dataclass_fields__ if name in vars(thing)
    }


def _read_rule(entry: dict[str, Any]) -> Rule:
    fields = dict(entry)
    if "hedger" in fields:
        kinds = {kind.__name__: kind for kind in _subclasses(CompiledHedger)}
        return OnEstimates(kinds[fields.pop("hedger")](**fields))
    kind = getattr(_rules, fields.pop("rule"))
    if not (isinstance(kind, type) and issubclass(kind, Rule)):
        raise ValueError(f"{kind!r} is not a rule")
    return kind(**fields)


def _subclasses(kind: type[Any]) -> list[type[Any]]:
    return [kind, *(deeper for below in kind.__subclasses__() for deeper in _subclasses(below))]
