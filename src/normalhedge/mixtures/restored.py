"""Restore a mixture from the content of a file; check every entry, and refuse a bad file."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.hedgers import HEDGERS
from normalhedge.mixtures._entries import MOST, below, floats, listed, whole, words
from normalhedge.mixtures._sums import MARKS, REGRET, TOTAL_SUMS
from normalhedge.mixtures.automatic import Automatic, insured, levels_of
from normalhedge.mixtures.books import Books
from normalhedge.mixtures.losses import Loss, LossFunction, restored_loss
from normalhedge.mixtures.recipe import Recipe
from normalhedge.mixtures.restored_intervals import new_intervals, read_intervals
from normalhedge.mixtures.tickets import DeferredOutcome, LastTable, PendingRound

KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (getattr(f, "__self__", f) for f in HEDGERS.values())
} | {"Automatic": Automatic}
"""All hedgers by the names of their classes."""

OPTIONS: dict[str, Callable[[Books], int | None]] = {
    "max_pending": lambda books: books.max_pending,
    "max_age": lambda books: books.max_age,
    "history": lambda books: books.history_size,
    "forget_after": lambda books: books.forget_after,
    "max_names": lambda books: books.max_names,
}
"""Arguments of `Mixture` that the file holds beside its recipe, whole numbers or null, and how to
read each from the books. An argument that an older file does not have gets its default."""

NULLABLE = {"max_age", "forget_after"}
"""The options that may be null."""

WITH_LOSSES = 4
"""The first version with regrets in units of the loss, delays, and how many experts left."""

SUMS_BEFORE_THE_GUARD = 5
"""The number of sums of an expert in files of earlier versions of this package."""

TOLERANCE = 1e-3
"""The largest error of a weight, compared with its ledger: versions of the package may differ."""

_COMMON = frozenset({
    "format", "version", "recipe", "max_pending", "max_age", "history", "names", "items", "rounds",
    "expired", "next_ticket", "weights", "marks", "ranges", "pool_ranges", "sums", "totals",
    "last_times", "time_kind", "ids", "pending",
})  # fmt: skip
ENTRIES = {
    1: _COMMON | {"regrets"},
    2: _COMMON | {"ledgers", "commons", "joined_late"},
}
"""The entries of the files of earlier versions, which have no checksum."""

ROUND = frozenset(
    {"ticket", "forecasts", "confidence", "values", "items", "number", "keys", "blend"}
)
"""The entries of a pending round in a file."""

TIMES = {
    "": (int, float, str),
    "dates": (int, float, str),
    "numbers": (int, float),
    "words": (str,),
}
"""The types in a file of each kind of times."""


def check_entries(found: Mapping[str, Any]) -> None:
    """Refuse files of earlier versions with missing or unknown entries."""
    expected = ENTRIES.get(found["version"])
    if expected is None:
        return
    for name in sorted(expected - found.keys()):
        raise KeyError(name)
    for name in sorted(found.keys() - expected):
        raise ValueError(f"{name!r} is not an entry of version {found['version']}")


def restored(found: Mapping[str, Any], loss: Loss | LossFunction | None) -> Books:
    """Return the mixture that a file describes.

    Parameters
    ----------
    found
        The content of the file.
    loss
        The loss, if it is a function of the user; None otherwise.

    Raises
    ------
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError
        If any entry is not one that a mixture writes.
    """
    books = _new_books(found, loss)
    books.join(words("names", found["names"]))
    books.item_indices(words("items", found["items"]))
    if books.names != found["names"] or books.items != found["items"]:
        raise ValueError("names and items must be different words, in the order of their arrival")
    books.rounds, books.expired, books.next_ticket = (
        whole(key, found[key]) for key in ("rounds", "expired", "next_ticket")
    )
    books.retired = frozenset(words("retired", found.get("retired", [])))
    if not books.retired <= set(books.names):
        raise ValueError("retired experts must be among the names")
    if books.retired:
        books.simple = False
    _read_arrays(books, found)
    _read_times(books, found)
    for entry in listed("pending", found["pending"]):
        _read_pending(books, entry)
    if books.intervals is not None:
        read_intervals(books, found["intervals"])
    _read_ids(books, found)
    if found.get("last_table") is not None:
        books.last_table = _last_table(books, found["last_table"], found["recipe"], loss)
    return books


def _new_books(found: Mapping[str, Any], loss: Loss | LossFunction | None) -> Books:
    """Return empty books with the recipe of a file; refuse a recipe that no mixture writes."""
    recipe = dict(found["recipe"])
    hedger = dict(recipe.pop("hedger"))
    kind = KINDS.get(hedger.pop("kind"))
    if kind is None:
        raise ValueError(f"its hedger must be one of {', '.join(KINDS)}")
    if found["version"] < 3 and kind is Automatic:
        raise ValueError(f"version {found['version']} did not have the hedger Automatic")
    if found["version"] == 1 and not kind.has_potential:
        raise ValueError(f"version 1 did not have the hedger {kind.__name__}")
    options = _options(found)
    components = hedger.pop("components", None)
    if kind is Automatic:
        recipe = {name: recipe[name] for name in ("loss", "shared")}
    checked = Recipe.of(kind(**hedger), restored_loss(recipe.pop("loss"), loss), **recipe)
    books = Books(checked, intervals=new_intervals(found, checked.loss), **options)
    plain = books.recipe.to_plain()
    if plain["hedger"].get("components") != components:
        raise ValueError("its components are those of another version: blend the table again")
    if loss is not None:
        plain["loss"] = found["recipe"]["loss"]
    for name, value in found["recipe"].items():
        now = plain[name]
        if name == "hedger":  # newer versions may have added settings
            now = {key: now[key] for key in value}
        if json.dumps(now) != json.dumps(value):
            raise ValueError(f"its {name} must not be {value!r}")
    return books


def _options(found: Mapping[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name in OPTIONS:
        if name in found:
            empty = found[name] is None and name in NULLABLE
            options[name] = None if empty else whole(name, found[name])
    return options


def _read_arrays(books: Books, found: Mapping[str, Any]) -> None:
    """Read the arrays of the core."""
    own, n = books.games, len(books.names)
    games = len(own.weights)
    weights = floats("weights", found["weights"], (games, n), 0.0, 1.0)
    if games and n and np.abs(weights.sum(axis=1) - 1.0).max() > 1e-6:
        raise ValueError("weights must sum to one")
    own.weights[:] = weights
    if found["version"] >= WITH_LOSSES:  # the delays come first: the weights depend on them
        own.delays[:] = floats("delays", found["delays"], own.delays.shape, 0.0, MOST)
    least = -1e300 if isinstance(books.recipe.hedger, Automatic) else 0.0
    own.ranges[:] = floats("ranges", found["ranges"], own.ranges.shape, least, 1e300)
    _read_ledgers(books, found)
    marks = floats("marks", found["marks"], (games, MARKS, n), -1, books.rounds, integral=True)
    own.marks[:] = marks.astype(np.int64)
    own.pool_ranges[:] = floats("pool_ranges", found["pool_ranges"], (games, 2), 0.0, 1e300)
    sums = floats("sums", found["sums"], (len(found["sums"]), n), -1e300, 1e300)
    count = len(own.expert_sums)
    if len(sums) not in (
        {count} if books.recipe.loss.of_levels else {count, SUMS_BEFORE_THE_GUARD}
    ):
        raise ValueError(f"sums must have {count} rows, it has {len(sums)}")
    own.expert_sums[: len(sums)] = sums
    own.total_sums[:] = floats("totals", found["totals"], (TOTAL_SUMS,), -1e300, 1e300)
    if found["version"] >= WITH_LOSSES:
        given = floats("loss_regrets", found["loss_regrets"], (games, n), -1e300, 1e300)
        own.loss_regrets[:] = given
        books.left = whole("left", found["left"])
        if type(found["seeded"]) is not bool:
            raise ValueError(f"seeded must be true or false, it is {found['seeded']!r}")
        books.seeded = found["seeded"]
    elif not isinstance(books.recipe.hedger, Automatic):
        own.delays[:, -1] = books.rounds
        units = 0.5 * own.ranges[:games, 0] if len(own.ranges) >= games else np.zeros(games)
        own.loss_regrets[:] = units[:, np.newaxis] * books.regrets
        own.total_sums[REGRET] = 0.0  # it was in gains


def _read_ledgers(books: Books, found: Mapping[str, Any]) -> None:
    """Read the memory of the hedger; refuse ledgers whose weights are not those of the file."""
    games = books.games
    if found["version"] == 1:
        given = floats("regrets", found["regrets"], books.regrets.shape, -1e100, 1e100)
        games.ledgers[:, 0] = given
    else:
        games.ledgers[:] = floats("ledgers", found["ledgers"], games.ledgers.shape, -1e100, 1e100)
        games.totals[:] = _totals(books, found)
        if type(found["joined_late"]) is not bool:
            raise ValueError(f"joined_late must be true or false, it is {found['joined_late']!r}")
        books.joined_late = found["joined_late"]
    if not books.names:
        return
    given, ledgers, totals = games.weights.copy(), games.ledgers.copy(), games.totals.copy()
    for game in range(len(given)):
        games.weigh(game)
    wrong = not np.abs(games.ledgers - ledgers).max(initial=0.0) <= TOLERANCE
    weights = games.weights.copy()
    games.weights[:], games.ledgers[:], games.totals[:] = given, ledgers, totals
    if isinstance(books.recipe.hedger, Automatic):  # its ledgers hold the weights of its components
        levels = np.concatenate(levels_of(games)[:3], axis=1)
        wrong = wrong or not ((levels >= 0.0) & (levels <= 1.0)).all()
    else:
        wrong = wrong or not np.abs(weights - given).max(initial=0.0) <= TOLERANCE
    if wrong:
        raise ValueError(
            f"its weights are not those that {books.recipe.hedger!r} computes from its ledgers"
        )


def _totals(books: Books, found: Mapping[str, Any]) -> Floats:
    """Return the totals of each game; files before version 4 have no losses of components."""
    shape, hedger = books.games.totals.shape, books.recipe.hedger
    if found["version"] >= WITH_LOSSES or not isinstance(hedger, Automatic):
        most = 1e300 if isinstance(hedger, Automatic) else 1e100  # losses, or gains
        return floats("commons", found["commons"], shape, -most, most)
    games, added = books.games, insured(books.games)
    given = floats("commons", found["commons"], (shape[0], shape[1] - added), -1e100, 1e100)
    return hedger.with_losses(books.recipe.loss, games, given)


def _read_times(books: Books, found: Mapping[str, Any]) -> None:
    kind = found["time_kind"]
    if not isinstance(kind, str) or kind not in TIMES:
        raise ValueError(f"time_kind must be one of {', '.join(TIMES)}, it is {kind!r}")
    books.time_kind = kind
    for pair in listed("last_times", found["last_times"]):
        game, time = listed("last_times", pair, 2)
        if below("game", game, len(books.games.weights)) in books.last_times:
            raise ValueError(f"game {game} has two last times")
        books.last_times[game] = _time(books, time)


def _last_table(
    books: Books, found: Mapping[str, Any], recipe: Any, loss: Loss | LossFunction | None
) -> LastTable:
    """Read what is known of the last table, with the mixture before it."""
    before = None
    if found["before"] is not None:
        if found["before"]["recipe"] != recipe or found["before"].get("last_table") is not None:
            raise ValueError("the mixture before the last table does not fit")
        before = restored(found["before"], loss)
        memories = [
            None if one.intervals is None else one.intervals.settings for one in (before, books)
        ]
        if memories[0] != memories[1]:
            raise ValueError("the mixture before the last table has other intervals")
    until: dict[str, Any] = {}
    for pair in listed("until", found["until"]):
        item, time = listed("until", pair, 2)
        if item not in books.items or item in until:
            raise ValueError("until must have an item once")
        until[item] = _time(books, time) if books.time_kind else below("until", time, MOST)
    if not until or not isinstance(found["digest"], str):
        raise ValueError("the last table must have items and a digest")
    rounds, ticket, pending = (whole("mark", k) for k in listed("mark", found["mark"], 3))
    return LastTable(before, until, found["digest"], (rounds, ticket, pending))


def _read_ids(books: Books, found: Mapping[str, Any]) -> None:
    """Read the ids that a stream gave its rounds: JSON texts, each of a different round."""
    ids = dict(found["ids"])
    for name, ticket in ids.items():
        below("id", ticket, books.next_ticket)
        if found["version"] > 2 and ticket not in books.pending:
            raise ValueError(f"id {name} belongs to no pending round")
        if json.dumps(json.loads(name)) != name:
            raise ValueError(f"id {name} is not written as JSON")
    if len(set(ids.values())) < len(ids):
        raise ValueError("two ids belong to the same round")
    books.ids = ids


def _read_pending(books: Books, entry: Mapping[str, Any]) -> None:
    """Read a pending round."""
    if entry.keys() != ROUND:
        raise ValueError(f"a pending round must have {', '.join(sorted(ROUND))}")
    ticket = below("ticket", entry["ticket"], books.next_ticket)
    if books.pending and ticket <= next(reversed(books.pending)):
        raise ValueError(f"ticket {ticket} is out of order")
    items = [below("item", i, len(books.items)) for i in listed("items", entry["items"])]
    rows, classes, n = _shape(ticket, entry["forecasts"])
    forecasts = floats(
        "forecasts", entry["forecasts"], (rows, classes, n), -math.inf, math.inf, missing=True
    )
    width = classes * books.games.shape[3]
    values = floats("values", entry["values"], (rows, width), -1e100, 1e100, missing=True)
    if len(items) != rows or n > len(books.names):
        raise ValueError(f"ticket {ticket} does not fit its forecasts")
    confidence = None
    if entry["confidence"] != []:
        confidence = floats("confidence", entry["confidence"], (n,), 0.0, 1.0)
    keys = _keys(ticket, entry["keys"], rows)
    awake = np.any(np.all(np.abs(forecasts) < 1e100, axis=1), axis=1)
    loss = books.recipe.loss
    fits = classes == len(loss.levels) if loss.of_levels else (classes > 1) == loss.of_classes
    if not fits and (classes > 1 or awake.any()):
        raise ValueError(f"ticket {ticket} does not fit the loss, with {classes} classes")
    if (np.isnan(values[:, :classes]).any(axis=1) & awake).any() and confidence is None:
        raise ValueError(f"ticket {ticket} has no prediction")
    number = below("number", entry["number"], books.rounds)
    which = np.array(items, dtype=np.int32)
    books.pending[ticket] = PendingRound(forecasts, confidence, values, which, number, keys)
    if entry["blend"] is not None:
        books.deferred[ticket] = _deferred(books, ticket, entry["blend"], rows, classes)


def _shape(ticket: int, forecasts: Any) -> tuple[int, int, int]:
    """Return the shape of the forecasts, read off the first of each list."""
    try:
        return len(forecasts), len(forecasts[0]), len(forecasts[0][0])
    except (TypeError, LookupError):
        raise ValueError(f"ticket {ticket} has no forecasts") from None


def _keys(ticket: int, keys: Any, rows: int) -> Any:
    if keys is not None:
        keys = (
            words("keys", keys) if isinstance(keys, list) else range(below("keys", keys, 1 << 31))
        )
    if (1 if keys is None else len(keys)) != rows:
        raise ValueError(f"ticket {ticket} does not fit its keys")
    return keys


def _deferred(
    books: Books, ticket: int, found: Mapping[str, Any], rows: int, classes: int
) -> DeferredOutcome:
    """Read the outcomes of a pending round of a table, and when they may be used."""
    due = DeferredOutcome(**found)
    outcomes = floats("outcomes", due.outcomes, (rows,), -1e100, 1e100, missing=True)
    known = outcomes[~np.isnan(outcomes)]
    of_classes = books.recipe.loss.of_classes
    if of_classes and classes > 1 and not np.isin(known, range(classes)).all():
        raise ValueError(f"outcomes of ticket {ticket} must be classes in 0..{classes - 1}")
    below("game", due.game, len(books.games.weights))
    whole("due", due.due)
    times = [_time(books, time) for time in listed("known", due.known)]
    if times and len(times) != rows:
        raise ValueError(f"ticket {ticket} does not fit the times of its outcomes")
    time = None if due.time is None else _time(books, due.time)
    return DeferredOutcome(due.game, due.due, times, time, outcomes, whole("since", due.since))


def _time(books: Books, value: Any) -> Any:
    """Return a time; refuse one that cannot be compared with the others."""
    before = next(iter(books.last_times.values()), value)
    if (
        type(value) not in TIMES[books.time_kind]
        or (isinstance(value, float) and not math.isfinite(value))
        or isinstance(value, str) != isinstance(before, str)
    ):
        raise ValueError(f"a time must be of the same kind as the others, it is {value!r}")
    return value
