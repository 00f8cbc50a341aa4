"""Mixtures in files: versioned JSON, to the bit, written all or nothing."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge import _tables
from normalhedge.hedgers import HEDGERS
from normalhedge.mixtures._sums import EXPERT_SUMS, MARKS, TOTAL_SUMS
from normalhedge.mixtures.losses import LOSSES, Loss, LossFunction
from normalhedge.mixtures.mixture import Mixture
from normalhedge.mixtures.tickets import Open, Waiting

FORMAT = "normalhedge mixture"
VERSION = 2
"""Version 1 had regrets in place of ledgers: its hedgers were those on discounted regrets."""

KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (getattr(f, "__self__", f) for f in HEDGERS.values())
}
"""The hedgers by the names of their classes."""

AMISS = 1e-3
"""How far a weight may be from what its ledger gives: those of another version may differ."""


def save(mixture: Mixture, path: Path) -> None:
    """Write a mixture; what was there before stays if anything goes wrong."""
    text = json.dumps(_written(mixture), allow_nan=False)
    _tables.write_whole(path, lambda part: part.write_text(text, "utf-8"))


def load(path: Path, loss: Loss | LossFunction | None) -> Mixture:
    """Return the mixture that was written; refuse what cannot be one, in a sentence."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a whole JSON file: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"{path} does not hold a mixture")
    version = found.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise ValueError(
            f"{path} has version {version!r}; this version of normalhedge reads up to {VERSION}"
        )
    try:
        return _read(found, loss)
    except KeyError as error:
        raise ValueError(f"{path} cannot be read: {error} is missing") from None
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None


def _written(mixture: Mixture) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "recipe": mixture.recipe.to_plain(),
        "max_pending": mixture.max_pending,
        "max_age": mixture.max_age,
        "history": mixture.history.maxlen,
        "names": mixture.names,
        "items": mixture.items,
        "rounds": mixture.rounds,
        "expired": mixture.expired,
        "next_ticket": mixture.next_ticket,
        "weights": mixture.games.weights.tolist(),
        "ledgers": mixture.games.ledgers.tolist(),
        "commons": mixture.games.totals.tolist(),
        "joined_late": mixture.joined_late,
        "marks": mixture.games.marks.tolist(),
        "ranges": mixture.games.ranges.tolist(),
        "pool_ranges": mixture.games.pool_ranges.tolist(),
        "sums": mixture.games.expert_sums.tolist(),
        "totals": mixture.games.total_sums.tolist(),
        "last_times": list(mixture.last_times.items()),
        "time_kind": mixture.time_kind,
        "ids": mixture.ids,
        "pending": [
            {
                "ticket": ticket,
                "forecasts": _nulls(waiting.forecasts),
                "confidence": [] if waiting.confidence is None else waiting.confidence.tolist(),
                "values": _nulls(waiting.values),
                "items": waiting.items.tolist(),
                "number": waiting.number,
                "keys": len(waiting.keys) if isinstance(waiting.keys, range) else waiting.keys,
                "blend": None if ticket not in mixture.waiting else _due(mixture.waiting[ticket]),
            }
            for ticket, waiting in mixture.pending.items()
        ],
    }


def _due(waiting: Waiting) -> dict[str, Any]:
    return {**waiting._asdict(), "outcomes": _nulls(waiting.outcomes)}


def _read(found: Mapping[str, Any], loss: Loss | LossFunction | None) -> Mixture:
    recipe = dict(found["recipe"])
    hedger = dict(recipe.pop("hedger"))
    kind = KINDS.get(hedger.pop("kind"))
    if kind is None:
        raise ValueError(f"its hedger is none of {', '.join(KINDS)}")
    if found["version"] == 1 and not kind.has_potential:
        raise ValueError(f"there was no {kind.__name__} in version 1")
    mixture = Mixture(
        kind(**hedger),
        _loss(recipe.pop("loss"), loss),
        **recipe,
        max_pending=found["max_pending"],
        max_age=found["max_age"],
        history=found["history"],
    )
    mixture.join([str(name) for name in found["names"]])
    mixture.item_indices([str(item) for item in found["items"]])
    if mixture.names != found["names"] or mixture.items != found["items"]:
        raise ValueError("names and items must be different words")
    mixture.rounds, mixture.expired, mixture.next_ticket = (
        _whole(key, found[key]) for key in ("rounds", "expired", "next_ticket")
    )
    own, n, items = mixture.games, len(mixture.names), len(mixture.items)
    games = len(own.weights)
    weights = _floats("weights", found["weights"], (games, n), 0.0, 1.0)
    if games and n and np.abs(weights.sum(axis=1) - 1.0).max() > 1e-6:
        raise ValueError("weights must sum to one")
    own.weights[:] = weights
    _read_ledgers(mixture, found)
    marks = _floats("marks", found["marks"], (games, MARKS, n), -1, mixture.rounds)
    own.marks[:] = marks.astype(np.int64)
    own.ranges[:] = _floats("ranges", found["ranges"], (items, 2), 0.0, 1e300)
    own.pool_ranges[:] = _floats("pool_ranges", found["pool_ranges"], (games, 2), 0.0, 1e300)
    own.expert_sums[:] = _floats("sums", found["sums"], (EXPERT_SUMS, n), -1e300, 1e300)
    own.total_sums[:] = _floats("totals", found["totals"], (TOTAL_SUMS,), -1e300, 1e300)
    mixture.last_times = {
        _below("game", game, games): _time(time) for game, time in found["last_times"]
    }
    mixture.time_kind = str(found["time_kind"])
    mixture.ids = {str(k): _below("id", v, mixture.next_ticket) for k, v in found["ids"].items()}
    for entry in found["pending"]:
        _read_open(mixture, entry)
    return mixture


def _read_ledgers(mixture: Mixture, found: Mapping[str, Any]) -> None:
    """Read what the hedger remembers; refuse what is not of this hedger."""
    games = mixture.games
    if found["version"] == 1:
        given = _floats("regrets", found["regrets"], mixture.regrets.shape, -1e100, 1e100)
        games.ledgers[:, 0] = given
    else:
        for name, own in (("ledgers", games.ledgers), ("commons", games.totals)):
            own[:] = _floats(name, found[name], own.shape, -1e100, 1e100)
        mixture.joined_late = bool(found["joined_late"])
    if not mixture.names:
        return
    given, totals = games.weights.copy(), games.totals.copy()
    for game in range(len(given)):
        games.weigh(game)
    wrong = not np.abs(games.weights - given).max(initial=0.0) <= AMISS
    games.weights[:], games.totals[:] = given, totals
    if wrong:
        raise ValueError(
            f"its weights are not those that {mixture.recipe.hedger!r} gives its ledgers"
        )


def _read_open(mixture: Mixture, entry: Mapping[str, Any]) -> None:
    ticket = _below("ticket", entry["ticket"], mixture.next_ticket)
    items = np.array(
        [_below("item", i, len(mixture.items)) for i in entry["items"]], dtype=np.int32
    )
    forecasts = np.array(entry["forecasts"], dtype=np.float64)
    rows, classes, n = forecasts.shape
    values = _floats("values", entry["values"], (rows, classes), -1e100, 1e100, missing=True)
    if len(items) != rows or n > len(mixture.names):
        raise ValueError(f"ticket {ticket} does not fit its forecasts")
    confidence = None
    if entry["confidence"]:
        confidence = _floats("confidence", entry["confidence"], (n,), 0.0, 1.0)
    keys = entry["keys"]
    if keys is not None:
        keys = range(keys) if isinstance(keys, int) else [str(key) for key in keys]
    if (1 if keys is None else len(keys)) != rows:
        raise ValueError(f"ticket {ticket} does not fit its keys")
    awake = np.any(np.all(np.abs(forecasts) < 1e100, axis=1), axis=1)
    if (classes > 1) != mixture.recipe.loss.of_classes and (classes > 1 or awake.any()):
        raise ValueError(f"ticket {ticket} does not fit the loss, with {classes} classes")
    if (np.isnan(values).any(axis=1) & awake).any() and confidence is None:
        raise ValueError(f"ticket {ticket} was not predicted")
    number = _whole("number", entry["number"])
    mixture.pending[ticket] = Open(forecasts, confidence, values, items, number, keys)
    if entry["blend"] is not None:
        due = dict(entry["blend"])
        due["outcomes"] = _floats("outcomes", due["outcomes"], (rows,), -1e100, 1e100, missing=True)
        known = due["outcomes"][~np.isnan(due["outcomes"])]
        if classes > 1 and not np.isin(known, range(classes)).all():
            raise ValueError(f"outcomes of ticket {ticket} must be classes in 0..{classes - 1}")
        _below("game", due["game"], len(mixture.games.weights))
        _whole("due", due["due"])
        due["time"] = None if due["time"] is None else _time(due["time"])
        due["known"] = [_time(time) for time in due["known"]]
        if due["known"] and len(due["known"]) != rows:
            raise ValueError(f"ticket {ticket} does not fit the times of its outcomes")
        mixture.waiting[ticket] = Waiting(**due)


def _loss(written: Mapping[str, Any], given: Loss | LossFunction | None) -> Any:
    name, levels = written["name"], written["levels"]
    if bool(written["own"]) != (given is not None):
        raise ValueError(
            f"its loss {name!r} was one of your own: pass it as loss"
            if given is None
            else f"its loss {name!r} was none of your own: do not pass one"
        )
    if given is not None:
        return given
    if name not in LOSSES:
        raise ValueError(f"its loss {name!r} is none of {', '.join(LOSSES)}")
    return LOSSES[name](levels) if levels else LOSSES[name]()


def _nulls(array: np.ndarray) -> Any:
    """Return nested lists with None for NaN, which JSON does not have; infinity counts as NaN."""
    if array.ndim > 1:
        return [_nulls(part) for part in array]
    return [value if math.isfinite(value) else None for value in array.tolist()]


def _floats(
    name: str,
    values: Any,
    shape: tuple[int, ...],
    low: float,
    high: float,
    *,
    missing: bool = False,
) -> np.ndarray:
    array = np.array(values, dtype=np.float64)
    if array.size == 0 and 0 in shape:
        array = array.reshape(shape)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, it has {array.shape}")
    inside = (array >= low) & (array <= high)
    if not (inside | (np.isnan(array) if missing else False)).all():
        raise ValueError(f"{name} must lie in [{low:g}, {high:g}]")
    return array


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < 1 << 53:
        raise ValueError(f"{name} must be a whole number, it is {value!r}")
    return value


def _time(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"a time must be a number or a word, it is {value!r}")
    return value


def _below(name: str, value: Any, end: int) -> int:
    if not 0 <= _whole(name, value) < end:
        raise ValueError(f"{name} must be below {end}, it is {value!r}")
    return int(value)
