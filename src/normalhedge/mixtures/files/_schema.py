"""The schema of a file of a mixture: each entry once, with its versions and its check.

Version 1 had regrets in place of ledgers, as all hedgers then used discounted regrets. Version 2
had no checksum, version 3 no regrets in units of the loss and no delays. Before version 6 the
default had no corrections, except in version 5, of which there was no release, no recalibrations of
class probabilities and other ways of combining quantiles: files go on so. It had no usual number of
rows of a round either, which is then the mean of the past rounds; arrays were lists of numbers, and
files did not hold the history.
All versions are read: an entry that a version does not have keeps its value in a new mixture,
unless it can be computed.
"""

import json
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple

import numpy as np

from normalhedge.hedgers import HEDGERS
from normalhedge.live.arrays import write_array
from normalhedge.mixtures.files._entries import (
    MOST,
    check_floats,
    check_list,
    check_truth,
    check_whole,
    check_words,
)
from normalhedge.mixtures.files._history import read_history, write_history
from normalhedge.mixtures.files._intervals import (
    interval_options,
    read_intervals,
    write_intervals,
)
from normalhedge.mixtures.files._rounds import bytes_of_blocks, read_pending, write_pending
from normalhedge.mixtures.files._tables import read_facts, write_deferred, write_facts
from normalhedge.mixtures.losses import Loss, LossFunction, loss_of, restored_loss
from normalhedge.mixtures.rules import Automatic, Prior, levels_of, part_of
from normalhedge.mixtures.state import (
    LIMITS,
    OPTIONS,
    REGRET,
    SETTLED,
    STEPS,
    MixtureSettings,
    MixtureState,
    TableFacts,
    check_cells,
    item_indices,
    takes_contexts,
)

FORMAT = "normalhedge mixture"
VERSION = 6
SEALED = 3
"""The first version with a checksum. Files before it are refused if they have unknown entries."""

KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (getattr(f, "__self__", f) for f in HEDGERS.values())
} | {"Automatic": Automatic}
"""All hedgers by the names of their classes."""

SUMS_BEFORE_THE_GUARD = 5
"""The number of sums of an expert in files of earlier versions of this package."""

TOLERANCE = 1e-3
"""The largest error of a weight, compared with its ledger: versions of the package may differ."""


class Entry(NamedTuple):
    """An entry of a file, and the versions that have it."""

    name: str
    since: int = 1
    until: int = VERSION
    optional: bool = False  # whether it came without a new version, after `SEALED`
    check: Callable[[str, Any], Any] | None = None  # checks a counter or a mark of the core
    field: str = ""  # the field of the state that it is an array of
    low: float = -1e300  # low, high: the accepted numbers of an array
    high: float = 1e300


SCHEMA = (
    Entry("format"),
    Entry("version"),
    Entry("recipe"),
    *(
        Entry(name, 1 if name in {"max_pending", "max_age", "history"} else SEALED, optional=True)
        for name in LIMITS
    ),
    Entry("names"),
    Entry("items"),
    Entry("rounds", check=check_whole),
    Entry("expired", check=check_whole),
    Entry("next_ticket", check=check_whole),
    Entry("joined_late", since=2, check=check_truth),
    Entry("left", since=4, check=check_whole),
    Entry("seeded", since=4, check=check_truth),
    Entry("warned", since=6, check=check_truth),
    Entry("weights", field="weights", low=0.0, high=1.0),
    Entry("regrets", until=1, field="ledgers", low=-1e100, high=1e100),
    Entry("ledgers", since=2, field="ledgers", low=-1e100, high=1e100),
    Entry("commons", since=2, field="totals"),
    Entry("loss_regrets", since=4, field="loss_regrets"),
    Entry("delays", since=4, field="delays", low=0.0, high=MOST),
    Entry("marks", field="marks", low=-1),
    Entry("ranges", field="ranges"),
    Entry("pool_ranges", field="pool_ranges", low=0.0),
    Entry("cells", since=6),
    Entry("equation_rows", since=6, field="equation_rows"),
    Entry("equation_squares", since=6, field="equation_squares"),
    Entry("cell_rows", since=6, field="cell_rows"),
    Entry("cell_squares", since=6, field="cell_squares"),
    Entry("classes", since=6),
    Entry("recalibrations", since=6, field="recalibrations"),
    Entry("sums", field="expert_sums"),
    Entry("totals", field="total_sums"),
    Entry("retired", since=SEALED, optional=True),
    Entry("time_kind"),
    Entry("last_times"),
    Entry("pending"),
    Entry("intervals", since=SEALED, optional=True),
    Entry("ids"),
    Entry("last_table", since=SEALED, optional=True),
    Entry("settled", since=6),
)
"""All entries. The number of operations that a file holds and the name of its journal stand before
them: see `normalhedge.mixtures.files`."""


def entries_of(version: int) -> dict[str, Entry]:
    """Return the entries of a version by name."""
    return {entry.name: entry for entry in SCHEMA if entry.since <= version <= entry.until}


def write_mixture(state: MixtureState, *, history: bool = True) -> dict[str, Any]:
    """Return the entries of a file of the present version."""
    live, facts = state.live, TableFacts.of(state.live)
    deferred = {ticket: write_deferred(due) for ticket, due in facts.deferred.items()}
    return {
        "format": FORMAT,
        "version": VERSION,
        "recipe": state.settings.to_plain(),
        **{name: getattr(state.settings, name) for name in LIMITS},
        "names": live.names,
        "items": live.items,
        "cells": live.cells,
        "classes": live.classes,
        **_write_numbers(state),
        "retired": sorted(live.retired),
        **write_facts(facts, write_mixture),
        **write_pending(state, deferred),
        # not `history`, which is the limit
        "settled": write_history(state, _write_numbers, whole=history),
    }


def _write_numbers(state: MixtureState) -> dict[str, Any]:
    """Return the counters, the arrays and the intervals."""
    live, entries = state.live, entries_of(VERSION).values()
    return {
        **{entry.name: getattr(live, entry.name) for entry in entries if entry.check},
        **{entry.name: write_array(getattr(live, entry.field)) for entry in entries if entry.field},
        "intervals": write_intervals(state),
    }


def read_mixture(
    content: Mapping[str, Any], loss: Loss | LossFunction | None, most: float = inf
) -> MixtureState:
    """Return the mixture of the entries of a file of any version, if it has at most so many bytes.

    Arrays are compressed: a small file may hold a large mixture.
    """
    entries = entries_of(content["version"])
    _check_names(entries, content)
    state = _new_state(content, loss)
    live = state.live
    if most < inf:
        _check_bytes(state, content, most)
    state.join(check_words("names", content["names"]))
    item_indices(live, check_words("items", content["items"]))
    cells = check_words("cells", content.get("cells", []))
    check_cells(cells)
    if len(set(cells)) == len(cells) and (not cells or takes_contexts(state.settings)):
        live.join(live.version, [], [], cells, [])
    classes = check_words("classes", content.get("classes", []))
    if len(set(classes)) == len(classes) and (not classes or state.settings.loss.of_classes):
        live.join(live.version, [], [], [], classes)
    written = (content["names"], content["items"], cells, classes)
    if (state.names, state.items, live.cells, live.classes) != written:
        raise ValueError(
            "names, items, cells and classes must be different words, in their first order"
        )
    retired = check_words("retired", content.get("retired", []))
    if not set(retired) <= set(state.names):
        raise ValueError("retired experts must be among the names")
    live.restore(None, retired, [], [])

    def read_numbers(of: MixtureState, numbers: Mapping[str, Any]) -> None:
        _read_numbers(of, numbers, content["version"])

    def read_before(before: Mapping[str, Any]) -> MixtureState:
        if before["recipe"] != content["recipe"] or before.get("last_table") is not None:
            raise ValueError("the mixture before the last table does not fit")
        return read_mixture(before, loss, most)

    read_numbers(state, content)
    pairs = read_pending(state, content)
    facts = read_facts(state, content, pairs, read_before)
    pending = [record for record, _ in pairs]
    live.replace_pending(live.version, [], pending, live.next_ticket, live.expired)
    if "settled" in entries:
        live.restore(None, retired, *read_history(state, content["settled"], pending, read_numbers))
    live.attached = facts
    return state


def _check_bytes(state: MixtureState, content: Mapping[str, Any], most: float) -> None:
    """Refuse a mixture that would take too much memory, before it does."""
    words = (check_list(name, content.get(name, [])) for name in AXES)
    names, items, cells, classes = words
    size = state.live.bytes_with(len(names), len(items), len(cells), len(classes))
    if content["version"] >= 6:
        blocks = check_list("pending", content["pending"])
        size += bytes_of_blocks(
            state, [*blocks, *check_list("rounds", content["settled"]["rounds"])]
        )
    if size > most:
        raise ValueError(
            f"the mixture would take {size / 1e6:,.0f} MB with {len(names):,} experts, "
            f"{len(items):,} items and its rounds, and at most {most / 1e6:,.0f} MB are accepted"
        )


AXES = ("names", "items", "cells", "classes")
"""The entries whose lengths are the lengths of the axes of a state."""


def _read_numbers(state: MixtureState, content: Mapping[str, Any], version: int) -> None:
    """Read the counters, the arrays and the intervals."""
    entries = entries_of(version)
    for name, entry in entries.items():
        if entry.check is not None:
            setattr(state.live, name, entry.check(name, content[name]))
    arrays = {e.field: _read_array(state, e, content, version) for e in entries.values() if e.field}
    _assign(state, arrays, version)
    if state.intervals is not None:
        read_intervals(state, content["intervals"])


def _check_names(entries: Mapping[str, Entry], content: Mapping[str, Any]) -> None:
    """Refuse missing entries and, in a file without a checksum, unknown ones."""
    sealed = content["version"] >= SEALED
    for name, entry in entries.items():
        if name not in content and not (sealed and entry.optional):
            raise KeyError(name)
    for name in sorted(content.keys() - entries.keys()):
        if not sealed:
            raise ValueError(f"{name!r} is not an entry of version {content['version']}")


def _new_state(content: Mapping[str, Any], loss: Loss | LossFunction | None) -> MixtureState:
    """Return an empty mixture with the recipe of a file; refuse a recipe that no mixture writes."""
    recipe = dict(content["recipe"])
    hedger = dict(recipe.pop("hedger"))
    kind = KINDS.get(hedger.pop("kind"))
    if kind is None:
        raise ValueError(f"its hedger must be one of {', '.join(KINDS)}")
    if content["version"] < 3 and kind is Automatic:
        raise ValueError(f"version {content['version']} did not have the hedger Automatic")
    if content["version"] == 1 and not kind.has_potential:
        raise ValueError(f"version 1 did not have the hedger {kind.__name__}")
    options = interval_options(content.get("intervals")) | _limits(content)
    components, prior = hedger.pop("components", None), hedger.pop("prior", None)
    own_loss = loss_of(restored_loss(recipe.pop("loss"), loss))
    written = content["recipe"]
    if kind is Automatic and content["version"] < 6:
        if content["version"] == 5 and kind(**hedger).target(own_loss):
            raise ValueError("a development version had other corrections: blend the table again")
        if "inside" in hedger:
            written = {**written, "hedger": {**written["hedger"], "inside": True}}
        hedger["inside"] = True
    rule = kind(**hedger)
    names = [part.name for part in rule.components(own_loss)] if kind is Automatic else None
    if names != components:
        raise ValueError("another version had other components: blend the table again")
    if kind is Automatic:  # the options of a single rule describe its second level
        recipe = {k: v for k, v in recipe.items() if k not in OPTIONS or not OPTIONS[k].single}
        rule = rule if prior is None else _with_prior(rule, own_loss, prior)
    settings = MixtureSettings.of(hedger=rule, loss=own_loss, **recipe, **options)
    _check_recipe(settings, written, loss)
    return MixtureState.new(settings)


def _check_recipe(settings: MixtureSettings, recipe: Any, loss: Any) -> None:
    """Refuse a recipe that these settings would not write."""
    plain = settings.to_plain()
    if loss is not None:
        plain["loss"] = recipe["loss"]
    for name, value in recipe.items():
        now = plain[name]
        if name == "hedger":  # newer versions may have added settings
            now = {key: now[key] for key in value}
        if json.dumps(now) != json.dumps(value):
            raise ValueError(f"its {name} must not be {value!r}")


def _limits(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the limits on the memory; one that an older file does not have gets its default."""
    return {
        name: None
        if content[name] is None and OPTIONS[name].default is None
        else check_whole(name, content[name])
        for name in LIMITS
        if name in content
    }


def _with_prior(rule: Automatic, loss: Loss, entry: Mapping[str, Any]) -> Automatic:
    """Return the default with the prior of a file: versions of the package may differ."""
    usual = rule.prior_of(loss)
    ways = check_floats("prior", entry["ways"], (len(usual.ways),), 0.0, 1.0)
    share = float(check_floats("insured", [entry["insured"]], (1,), 0.0, 1.0)[0])
    if not ways.min() > 0.0 or abs(ways.sum() - 1.0) > TOLERANCE or not 0.0 < share < 1.0:
        raise ValueError("its prior must have positive weights that sum to one")
    prior = Prior(tuple(ways.tolist()), share)
    return rule if prior == usual else rule.starting_from(prior)


def _read_array(
    state: MixtureState, entry: Entry, content: Mapping[str, Any], version: int
) -> np.ndarray:
    """Return an array of a file, in the shape of its field."""
    name, value, present = entry.name, content[entry.name], getattr(state.live, entry.field)
    automatic, low, high = isinstance(state.settings.hedger, Automatic), entry.low, entry.high
    shape = present.shape
    if name == "regrets":  # the first row of a ledger, as all hedgers then had no other
        present[:, 0] = check_floats(name, value, (shape[0], shape[2]), low, high)
        return np.asarray(present)
    if name == "marks":
        return check_floats(name, value, shape, low, state.rounds, integral=True).astype(np.int64)
    first_sums = version < 6 and len(value) == SUMS_BEFORE_THE_GUARD
    if name == "sums" and not state.settings.loss.of_levels and first_sums:
        present[:] = 0.0
        present[: len(value)] = check_floats(name, value, (len(value), shape[1]), low, high)
        return np.asarray(present)
    if name == "ranges" and not automatic:
        low = 0.0
    if name == "commons" and not (automatic and version >= 4):  # gains, not losses
        low, high = -1e100, 1e100
        if automatic:
            shape = (shape[0], shape[1] - part_of(state.live, "insurance").shape[1])
    if name == "commons" and automatic and version < 6:
        shape = (shape[0], shape[1] - part_of(state.live, "usual_rows").shape[1])
    return check_floats(name, value, shape, low, high)


def _assign(state: MixtureState, arrays: dict[str, np.ndarray], version: int) -> None:
    """Put arrays into a mixture; refuse ledgers that belong to other weights."""
    live, hedger, weights = state.live, state.settings.hedger, arrays["weights"]
    if weights.size and np.abs(weights.sum(axis=1) - 1.0).max() > 1e-6:
        raise ValueError("weights must sum to one")
    arrays = {"delays": np.zeros_like(live.delays), **arrays}
    if version < 4 and isinstance(hedger, Automatic):
        live.assign(live.version, {"ranges": arrays["ranges"]})  # the losses depend on them
        arrays["totals"] = hedger.with_losses(state.settings.loss, live, arrays["totals"])
    if version < 6 and isinstance(hedger, Automatic):
        arrays["totals"] = np.hstack([arrays["totals"], _usual_rows(state, arrays["total_sums"])])
    live.assign(live.version, arrays)
    if state.names:
        live.weigh()
        wrong = not np.abs(live.ledgers - arrays["ledgers"]).max(initial=0.0) <= TOLERANCE
        computed = live.weights
        live.assign(live.version, arrays)
        if isinstance(hedger, Automatic):  # its ledgers hold the weights of its components
            levels = np.concatenate(levels_of(live)[:3], axis=1)
            wrong = wrong or not ((levels >= 0.0) & (levels <= 1.0)).all()
        else:
            wrong = wrong or not np.abs(computed - weights).max(initial=0.0) <= TOLERANCE
        if wrong:
            raise ValueError(f"its weights are not the ones {hedger!r} computes from its ledgers")
    if version < 4 and not isinstance(hedger, Automatic):
        _estimate_loss_regrets(state)


def _usual_rows(state: MixtureState, sums: np.ndarray) -> np.ndarray:
    """Return the usual number of rows of the rounds so far, for the totals of each game."""
    usual = np.zeros_like(part_of(state.live, "usual_rows"))
    rounds, rows = min(float(sums[STEPS]), 100.0), sums[SETTLED] / max(sums[STEPS], 1.0)
    usual[:1] = rounds * np.array([rows**2, rows, 1.0])
    return usual


def _estimate_loss_regrets(state: MixtureState) -> None:
    """Estimate the regrets of a single rule in units of the loss from its regrets in gains."""
    live, games = state.live, len(state.weights)
    delays, total_sums, ranges = live.delays, live.total_sums, live.ranges
    delays[:, -1] = live.rounds
    total_sums[REGRET] = 0.0  # it was in gains
    units = 0.5 * ranges[:games, 0] if len(ranges) >= games else np.zeros(games)
    regrets = units[:, np.newaxis] * state.regrets
    fields = {"loss_regrets": regrets, "delays": delays, "total_sums": total_sums}
    live.assign(live.version, fields)
