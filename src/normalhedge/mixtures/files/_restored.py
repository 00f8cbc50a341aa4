"""Restore a mixture from the content of a file; check every entry, and refuse a bad file."""

import json
import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import HEDGERS
from normalhedge.mixtures.files._entries import MOST, below, floats, listed, whole, words
from normalhedge.mixtures.files._restored_intervals import interval_options, read_intervals
from normalhedge.mixtures.losses import Loss, LossFunction, loss_of, restored_loss
from normalhedge.mixtures.rules import Automatic, Prior, levels_of, part_of
from normalhedge.mixtures.state import (
    LIMITS,
    MARKS,
    OPTIONS,
    REGRET,
    TOTAL_SUMS,
    Books,
    DeferredOutcome,
    LastTable,
    MixtureSettings,
    RoundRecord,
    TableFacts,
)

KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (getattr(f, "__self__", f) for f in HEDGERS.values())
} | {"Automatic": Automatic}
"""All hedgers by the names of their classes."""

FIELDS = {
    "weights": "weights",
    "ledgers": "ledgers",
    "commons": "totals",
    "loss_regrets": "loss_regrets",
    "delays": "delays",
    "marks": "marks",
    "ranges": "ranges",
    "pool_ranges": "pool_ranges",
    "sums": "expert_sums",
    "totals": "total_sums",
}
"""The entries of a file that are fields of the state, and the names of the fields."""

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
    """Return the mixture that a file describes."""
    books = _new_books(found, loss)
    live = books.live
    books.join(words("names", found["names"]))
    books.item_indices(words("items", found["items"]))
    if books.names != found["names"] or books.items != found["items"]:
        raise ValueError("names and items must be different words, in the order of their arrival")
    live.rounds, live.expired, live.next_ticket = (
        whole(key, found[key]) for key in ("rounds", "expired", "next_ticket")
    )
    retired = words("retired", found.get("retired", []))
    if not set(retired) <= set(books.names):
        raise ValueError("retired experts must be among the names")
    live.restore(None, retired, [], [])
    _read_arrays(books, found)
    times = _read_times(books, found)
    pending = [_read_pending(books, entry) for entry in listed("pending", found["pending"])]
    for earlier, later in pairwise(pending):
        if later.ticket <= earlier.ticket:
            raise ValueError(f"ticket {later.ticket} is out of order")
    if books.intervals is not None:
        pending = read_intervals(books, pending, found["intervals"])
    pending = _read_ids(books, pending, found)
    live.replace_pending(live.version, [], pending, live.next_ticket, live.expired)
    facts = TableFacts({}, times, found["time_kind"])
    facts = facts._replace(
        deferred={
            record.ticket: _deferred(books, facts, record, entry["blend"])
            for record, entry in zip(pending, found["pending"], strict=True)
            if entry["blend"] is not None
        }
    )
    if found.get("last_table") is not None:
        last = _last_table(books, facts, found["last_table"], found["recipe"], loss)
        facts = facts._replace(last_table=last)
    live.attached = facts
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
    limits = _limits(found)
    components, prior = hedger.pop("components", None), hedger.pop("prior", None)
    own_loss = loss_of(restored_loss(recipe.pop("loss"), loss))
    rule = kind(**hedger)
    known = [one.name for one in rule.components(own_loss)] if kind is Automatic else None
    if known != components:
        raise ValueError("its components are those of another version: blend the table again")
    if kind is Automatic:  # what its second level does is no setting
        recipe = {k: v for k, v in recipe.items() if k not in OPTIONS or not OPTIONS[k].single}
        rule = rule if prior is None else _with_prior(rule, own_loss, prior)
    settings = MixtureSettings.of(
        hedger=rule, loss=own_loss, **recipe, **interval_options(found), **limits
    )
    books = Books.new(settings)
    plain = settings.to_plain()
    if loss is not None:
        plain["loss"] = found["recipe"]["loss"]
    for name, value in found["recipe"].items():
        now = plain[name]
        if name == "hedger":  # newer versions may have added settings
            now = {key: now[key] for key in value}
        if json.dumps(now) != json.dumps(value):
            raise ValueError(f"its {name} must not be {value!r}")
    return books


def _with_prior(rule: Automatic, loss: Loss, found: Mapping[str, Any]) -> Automatic:
    """Return the default with the prior of a file: versions of the package may differ."""
    usual = rule.prior_of(loss)
    ways = floats("prior", found["ways"], (len(usual.ways),), 0.0, 1.0)
    share = float(floats("insured", [found["insured"]], (1,), 0.0, 1.0)[0])
    if not ways.min() > 0.0 or abs(ways.sum() - 1.0) > TOLERANCE or not 0.0 < share < 1.0:
        raise ValueError("its prior must have positive weights that sum to one")
    prior = Prior(tuple(ways.tolist()), share)
    return rule if prior == usual else rule.starting_from(prior)


def _limits(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the limits on the memory; one that an older file does not have gets its default."""
    limits: dict[str, Any] = {}
    for name in LIMITS:
        if name in found:
            empty = found[name] is None and OPTIONS[name].default is None
            limits[name] = None if empty else whole(name, found[name])
    return limits


def _read_arrays(books: Books, found: Mapping[str, Any]) -> None:
    """Read the fields of the state."""
    live, n = books.live, len(books.names)
    games = len(live.weights)
    weights = floats("weights", found["weights"], (games, n), 0.0, 1.0)
    if games and n and np.abs(weights.sum(axis=1) - 1.0).max() > 1e-6:
        raise ValueError("weights must sum to one")
    delays = np.zeros_like(live.delays)
    if found["version"] >= WITH_LOSSES:  # the weights depend on them
        delays = floats("delays", found["delays"], delays.shape, 0.0, MOST)
    automatic = isinstance(books.settings.hedger, Automatic)
    ranges = floats(
        "ranges", found["ranges"], live.ranges.shape, -1e300 if automatic else 0.0, 1e300
    )
    live.assign(live.version, {"weights": weights, "delays": delays, "ranges": ranges})
    _read_ledgers(books, found)
    marks = floats("marks", found["marks"], (games, MARKS, n), -1, books.rounds, integral=True)
    sums = floats("sums", found["sums"], (len(found["sums"]), n), -1e300, 1e300)
    expert_sums = np.zeros_like(live.expert_sums)
    count = len(expert_sums)
    if len(sums) not in (
        {count} if books.settings.loss.of_levels else {count, SUMS_BEFORE_THE_GUARD}
    ):
        raise ValueError(f"sums must have {count} rows, it has {len(sums)}")
    expert_sums[: len(sums)] = sums
    total_sums = floats("totals", found["totals"], (TOTAL_SUMS,), -1e300, 1e300)
    loss_regrets = np.zeros((games, n))
    if found["version"] >= WITH_LOSSES:
        loss_regrets = floats("loss_regrets", found["loss_regrets"], (games, n), -1e300, 1e300)
        live.left = whole("left", found["left"])
        if type(found["seeded"]) is not bool:
            raise ValueError(f"seeded must be true or false, it is {found['seeded']!r}")
        live.seeded = found["seeded"]
    elif not automatic:
        delays[:, -1] = books.rounds
        units = 0.5 * ranges[:games, 0] if len(ranges) >= games else np.zeros(games)
        loss_regrets = units[:, np.newaxis] * books.regrets
        total_sums[REGRET] = 0.0  # it was in gains
    live.assign(
        live.version,
        {
            "marks": marks.astype(np.int64),
            "pool_ranges": floats("pool_ranges", found["pool_ranges"], (games, 2), 0.0, 1e300),
            "expert_sums": expert_sums,
            "total_sums": total_sums,
            "loss_regrets": loss_regrets,
            "delays": delays,
        },
    )


def _read_ledgers(books: Books, found: Mapping[str, Any]) -> None:
    """Read the memory of the hedger; refuse ledgers whose weights are not those of the file."""
    live = books.live
    weights, ledgers, totals = live.weights, live.ledgers, live.totals
    if found["version"] == 1:
        ledgers[:, 0] = floats("regrets", found["regrets"], weights.shape, -1e100, 1e100)
    else:
        ledgers = floats("ledgers", found["ledgers"], ledgers.shape, -1e100, 1e100)
        totals = _totals(books, found)
        if type(found["joined_late"]) is not bool:
            raise ValueError(f"joined_late must be true or false, it is {found['joined_late']!r}")
        live.joined_late = found["joined_late"]
    given = {"weights": weights, "ledgers": ledgers, "totals": totals}
    live.assign(live.version, given)
    if not books.names:
        return
    live.weigh()
    wrong = not np.abs(live.ledgers - ledgers).max(initial=0.0) <= TOLERANCE
    computed = live.weights
    live.assign(live.version, given)
    if isinstance(
        books.settings.hedger, Automatic
    ):  # its ledgers hold the weights of its components
        levels = np.concatenate(levels_of(live)[:3], axis=1)
        wrong = wrong or not ((levels >= 0.0) & (levels <= 1.0)).all()
    else:
        wrong = wrong or not np.abs(computed - weights).max(initial=0.0) <= TOLERANCE
    if wrong:
        raise ValueError(
            f"its weights are not those that {books.settings.hedger!r} computes from its ledgers"
        )


def _totals(books: Books, found: Mapping[str, Any]) -> Floats:
    """Return the totals of each game; files before version 4 have no losses of components."""
    shape, hedger = books.live.totals.shape, books.settings.hedger
    if found["version"] >= WITH_LOSSES or not isinstance(hedger, Automatic):
        most = 1e300 if isinstance(hedger, Automatic) else 1e100  # losses, or gains
        return floats("commons", found["commons"], shape, -most, most)
    added = part_of(books.live, "insurance").shape[1]
    given = floats("commons", found["commons"], (shape[0], shape[1] - added), -1e100, 1e100)
    return hedger.with_losses(books.settings.loss, books.live, given)


def _read_times(books: Books, found: Mapping[str, Any]) -> dict[int, Any]:
    """Return the last time of each game."""
    kind, times = found["time_kind"], dict[int, Any]()
    if not isinstance(kind, str) or kind not in TIMES:
        raise ValueError(f"time_kind must be one of {', '.join(TIMES)}, it is {kind!r}")
    for pair in listed("last_times", found["last_times"]):
        game, time = listed("last_times", pair, 2)
        if below("game", game, len(books.weights)) in times:
            raise ValueError(f"game {game} has two last times")
        times[game] = _time(TableFacts({}, times, kind), time)
    return times


def _last_table(
    books: Books,
    facts: TableFacts,
    found: Mapping[str, Any],
    recipe: Any,
    loss: Loss | LossFunction | None,
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
        until[item] = _time(facts, time) if facts.time_kind else below("until", time, MOST)
    if not until or not isinstance(found["digest"], str):
        raise ValueError("the last table must have items and a digest")
    rounds, ticket, pending = (whole("mark", k) for k in listed("mark", found["mark"], 3))
    return LastTable(before, until, found["digest"], (rounds, ticket, pending))


def _read_ids(
    books: Books, pending: list[RoundRecord], found: Mapping[str, Any]
) -> list[RoundRecord]:
    """Return the pending rounds with the ids that a stream gave them: JSON texts, all different."""
    ids, tickets = dict(found["ids"]), {record.ticket for record in pending}
    for name, ticket in ids.items():
        below("id", ticket, books.next_ticket)
        if found["version"] > 2 and ticket not in tickets:
            raise ValueError(f"id {name} belongs to no pending round")
        if json.dumps(json.loads(name)) != name:
            raise ValueError(f"id {name} is not written as JSON")
    if len(set(ids.values())) < len(ids):
        raise ValueError("two ids belong to the same round")
    names = {ticket: name for name, ticket in ids.items()}
    return [record._replace(id=names.get(record.ticket)) for record in pending]


def _read_pending(books: Books, entry: Mapping[str, Any]) -> RoundRecord:
    """Return a pending round."""
    if entry.keys() != ROUND:
        raise ValueError(f"a pending round must have {', '.join(sorted(ROUND))}")
    ticket = below("ticket", entry["ticket"], books.next_ticket)
    items = [below("item", i, len(books.items)) for i in listed("items", entry["items"])]
    rows, classes, n = _shape(ticket, entry["forecasts"])
    forecasts = floats(
        "forecasts", entry["forecasts"], (rows, classes, n), -math.inf, math.inf, missing=True
    )
    width = classes * books.live.value_count
    values = floats("values", entry["values"], (rows, width), -1e100, 1e100, missing=True)
    if len(items) != rows or n > len(books.names):
        raise ValueError(f"ticket {ticket} does not fit its forecasts")
    confidence = None
    if entry["confidence"] != []:
        confidence = floats("confidence", entry["confidence"], (n,), 0.0, 1.0)
    keys = _keys(ticket, entry["keys"], rows)
    awake = np.any(np.all(np.abs(forecasts) < 1e100, axis=1), axis=1)
    loss = books.settings.loss
    fits = classes == len(loss.levels) if loss.of_levels else (classes > 1) == loss.of_classes
    if not fits and (classes > 1 or awake.any()):
        raise ValueError(f"ticket {ticket} does not fit the loss, with {classes} classes")
    if (np.isnan(values[:, :classes]).any(axis=1) & awake).any() and confidence is None:
        raise ValueError(f"ticket {ticket} has no prediction")
    number = below("number", entry["number"], books.rounds)
    which = np.array(items, dtype=np.int32)
    kept = tuple(keys) if isinstance(keys, list) else keys
    return RoundRecord(ticket, number, forecasts, confidence, values, which, kept, None, None)


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
    books: Books, facts: TableFacts, record: RoundRecord, found: Mapping[str, Any]
) -> DeferredOutcome:
    """Read the outcomes of a pending round of a table, and when they may be used."""
    rows, classes, _ = record.forecasts.shape
    due = DeferredOutcome(**found)
    outcomes = floats("outcomes", due.outcomes, (rows,), -1e100, 1e100, missing=True)
    known = outcomes[~np.isnan(outcomes)]
    of_classes = books.settings.loss.of_classes
    if of_classes and classes > 1 and not np.isin(known, range(classes)).all():
        raise ValueError(f"outcomes of ticket {record.ticket} must be classes in 0..{classes - 1}")
    below("game", due.game, len(books.weights))
    whole("due", due.due)
    times = [_time(facts, time) for time in listed("known", due.known)]
    if times and len(times) != rows:
        raise ValueError(f"ticket {record.ticket} does not fit the times of its outcomes")
    time = None if due.time is None else _time(facts, due.time)
    return DeferredOutcome(due.game, due.due, times, time, outcomes, whole("since", due.since))


def _time(facts: TableFacts, value: Any) -> Any:
    """Return a time; refuse one that cannot be compared with the others."""
    before = next(iter(facts.last_times.values()), value)
    if (
        type(value) not in TIMES[facts.time_kind]
        or (isinstance(value, float) and not math.isfinite(value))
        or isinstance(value, str) != isinstance(before, str)
    ):
        raise ValueError(f"a time must be of the same kind as the others, it is {value!r}")
    return value
