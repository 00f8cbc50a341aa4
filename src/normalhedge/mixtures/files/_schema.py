"""The schema of a file of a mixture: each entry once, with its versions, writer and reader.

Version 1 had regrets in place of ledgers, as all hedgers then used discounted regrets. Version 2
had no checksum, version 3 no regrets in units of the loss, no delays and no `Automatic` losses of
components. `VERSION` reads them all: an entry that a version does not have keeps its value in a new
mixture, unless `_upgrade_to_version_4` computes it.
"""

import json
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import HEDGERS
from normalhedge.mixtures.files import _rounds
from normalhedge.mixtures.files._entries import MOST, floats, listed, truth, whole, words
from normalhedge.mixtures.losses import Loss, LossFunction, loss_of, restored_loss
from normalhedge.mixtures.rules import Automatic, Prior, levels_of, part_of
from normalhedge.mixtures.state import (
    LIMITS,
    OPTIONS,
    REGRET,
    MixtureSettings,
    MixtureState,
    RoundRecord,
    TableFacts,
    item_indices,
)

FORMAT = "normalhedge mixture"
VERSION = 4
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


class Reading:
    """A file that is being read: its version, and the mixture that its entries fill."""

    def __init__(self, found: Mapping[str, Any], loss: Loss | LossFunction | None) -> None:
        self.recipe, self.version, self.loss = found["recipe"], found["version"], loss
        self.state = _new_state(found, loss)
        self.live = self.state.live
        self.automatic = isinstance(self.state.settings.hedger, Automatic)
        self.arrays: dict[str, Floats] = {}  # fields of the state
        self.pending: list[RoundRecord] = []
        self.facts = TableFacts({}, {})

    def replace_pending(self, records: list[RoundRecord]) -> None:
        live, self.pending = self.live, records
        live.replace_pending(live.version, live.tickets(), records, live.next_ticket, live.expired)


class Entry(NamedTuple):
    """An entry of a file."""

    name: str
    write: Callable[[MixtureState], Any]
    read: Callable[[Reading, Any], object]  # checks the value, and puts it into the mixture
    since: int = 1  # since, until: the versions that have it
    until: int = VERSION
    optional: bool = False  # whether it came without a new version, from `SEALED` on


def _number(name: str, check: Callable[[str, Any], Any], since: int = 1) -> Entry:
    """Describe a counter or a mark of the core."""
    return Entry(
        name,
        lambda state: getattr(state.live, name),
        lambda reading, value: setattr(reading.live, name, check(name, value)),
        since,
    )


def _array(
    name: str, field: str, low: float, high: float, since: int = 1, auto_low: float | None = None
) -> Entry:
    """Describe a field of the state; ``auto_low`` is its least number in an automatic mixture."""

    def read(reading: Reading, value: Any) -> None:
        least = low if auto_low is None or not reading.automatic else auto_low
        shape = getattr(reading.live, field).shape
        reading.arrays[field] = floats(name, value, shape, least, high)

    return Entry(name, lambda state: getattr(state.live, field).tolist(), read, since)


def _read_names(reading: Reading, value: Any) -> None:
    reading.state.join(words("names", value))
    if reading.state.names != value:
        raise ValueError("names and items must be different words, in the order of their arrival")


def _read_items(reading: Reading, value: Any) -> None:
    item_indices(reading.live, words("items", value))
    if reading.state.items != value:
        raise ValueError("names and items must be different words, in the order of their arrival")


def _read_regrets(reading: Reading, value: Any) -> None:
    ledgers = reading.live.ledgers
    ledgers[:, 0] = floats("regrets", value, ledgers[:, 0].shape, -1e100, 1e100)
    reading.arrays["ledgers"] = ledgers


def _read_commons(reading: Reading, value: Any) -> None:
    games, count = reading.live.totals.shape
    losses = reading.automatic and reading.version >= 4  # they are larger than gains
    if reading.automatic and not losses:
        count -= part_of(reading.live, "insurance").shape[1]
    most = 1e300 if losses else 1e100
    reading.arrays["totals"] = floats("commons", value, (games, count), -most, most)


def _read_marks(reading: Reading, value: Any) -> None:
    shape, rounds = reading.live.marks.shape, reading.live.rounds
    marks = floats("marks", value, shape, -1, rounds, integral=True)
    reading.arrays["marks"] = marks.astype(np.int64)


def _read_sums(reading: Reading, value: Any) -> None:
    expert_sums = np.zeros_like(reading.live.expert_sums)
    count, n = expert_sums.shape
    sums = floats("sums", value, (len(value), n), -1e300, 1e300)
    of_levels = reading.state.settings.loss.of_levels
    if len(sums) not in ({count} if of_levels else {count, SUMS_BEFORE_THE_GUARD}):
        raise ValueError(f"sums must have {count} rows, it has {len(sums)}")
    expert_sums[: len(sums)] = sums
    reading.arrays["expert_sums"] = expert_sums


def _read_retired(reading: Reading, value: Any) -> None:
    if not set(words("retired", value)) <= set(reading.state.names):
        raise ValueError("retired experts must be among the names")
    reading.live.restore(None, value, [], [])


def _read_time_kind(reading: Reading, value: Any) -> None:
    reading.facts = reading.facts._replace(time_kind=_rounds.read_time_kind(value))


def _read_times(reading: Reading, value: Any) -> None:
    times = _rounds.read_times(reading.state, reading.facts.time_kind, value)
    reading.facts = reading.facts._replace(last_times=times)


def _read_pending(reading: Reading, value: Any) -> None:
    state = reading.state
    records = [_rounds.read_round(state, entry) for entry in listed("pending", value)]
    for earlier, later in pairwise(records):
        if later.ticket <= earlier.ticket:
            raise ValueError(f"ticket {later.ticket} is out of order")
    reading.replace_pending(records)
    deferred = {
        record.ticket: _rounds.read_deferred(state, reading.facts, record, entry["blend"])
        for record, entry in zip(records, value, strict=True)
        if entry["blend"] is not None
    }
    reading.facts = reading.facts._replace(deferred=deferred)


def _read_intervals(reading: Reading, value: Any) -> None:
    if value is not None:
        reading.replace_pending(_rounds.read_intervals(reading.state, reading.pending, value))


def _read_ids(reading: Reading, value: Any) -> None:
    ids = _rounds.read_ids(reading.state, dict(value), reading.version)
    reading.replace_pending([r._replace(id=ids.get(r.ticket)) for r in reading.pending])


def _read_last_table(reading: Reading, value: Any) -> None:
    def restore(before: Mapping[str, Any]) -> MixtureState:
        if before["recipe"] != reading.recipe:
            raise ValueError("the mixture before the last table does not fit")
        return read_mixture(before, reading.loss)

    if value is not None:
        last = _rounds.read_last_table(reading.state, reading.facts, value, restore)
        reading.facts = reading.facts._replace(last_table=last)


def _facts(state: MixtureState) -> TableFacts:
    return TableFacts.of(state.live)


def _already_read(reading: Reading, value: Any) -> None:
    """Do nothing: `_new_state` needs these entries before there is a mixture."""


SCHEMA = (
    Entry("recipe", lambda state: state.settings.to_plain(), _already_read),
    *(
        Entry(
            name,
            lambda state, name=name: getattr(state.settings, name),
            _already_read,
            since=1 if name in {"max_pending", "max_age", "history"} else SEALED,
            optional=True,
        )
        for name in LIMITS
    ),
    Entry("names", lambda state: state.names, _read_names),
    Entry("items", lambda state: state.items, _read_items),
    _number("rounds", whole),
    _number("expired", whole),
    _number("next_ticket", whole),
    Entry("retired", lambda s: sorted(s.retired), _read_retired, since=SEALED, optional=True),
    _array("weights", "weights", 0.0, 1.0),
    Entry("regrets", lambda state: None, _read_regrets, until=1),
    _array("ledgers", "ledgers", -1e100, 1e100, since=2),
    Entry("commons", lambda state: state.live.totals.tolist(), _read_commons, since=2),
    _array("loss_regrets", "loss_regrets", -1e300, 1e300, since=4),
    _array("delays", "delays", 0.0, MOST, since=4),
    Entry("marks", lambda state: state.live.marks.tolist(), _read_marks),
    _array("ranges", "ranges", 0.0, 1e300, auto_low=-1e300),
    _array("pool_ranges", "pool_ranges", 0.0, 1e300),
    Entry("sums", lambda state: state.live.expert_sums.tolist(), _read_sums),
    _array("totals", "total_sums", -1e300, 1e300),
    _number("joined_late", truth, since=2),
    _number("left", whole, since=4),
    _number("seeded", truth, since=4),
    Entry("time_kind", lambda state: _facts(state).time_kind, _read_time_kind),
    Entry("last_times", lambda state: list(_facts(state).last_times.items()), _read_times),
    Entry("pending", _rounds.write_pending, _read_pending),
    Entry("intervals", _rounds.write_intervals, _read_intervals, since=SEALED, optional=True),
    Entry("ids", lambda state: state.live.ids, _read_ids),
    Entry(
        "last_table",
        lambda state: _rounds.write_last_table(_facts(state).last_table, write_mixture),
        _read_last_table,
        since=SEALED,
        optional=True,
    ),
)
"""All entries, in the order in which they are written and read. The number of operations that a
file holds and the name of its journal stand before them: see `normalhedge.mixtures.files`."""


def entries_of(version: int) -> set[str]:
    """Return the names of the entries of a version."""
    return {"format", "version"} | {e.name for e in SCHEMA if e.since <= version <= e.until}


def write_mixture(state: MixtureState) -> dict[str, Any]:
    """Return the entries of a file of the present version."""
    entries = {entry.name: entry.write(state) for entry in SCHEMA if entry.until == VERSION}
    return {"format": FORMAT, "version": VERSION, **entries}


def read_mixture(found: Mapping[str, Any], loss: Loss | LossFunction | None) -> MixtureState:
    """Return the mixture that the entries of a file of any version describe."""
    version = found["version"]
    if version < SEALED:
        for name in sorted(entries_of(version) - found.keys()):
            raise KeyError(name)
        for name in sorted(found.keys() - entries_of(version)):
            raise ValueError(f"{name!r} is not an entry of version {version}")
    reading = Reading(found, loss)
    for entry in SCHEMA:
        if entry.since <= version <= entry.until and (entry.name in found or not entry.optional):
            entry.read(reading, found[entry.name])
        if entry.name == "totals":  # the last array
            _assign(reading)
    reading.live.attached = reading.facts
    return reading.state


def _new_state(found: Mapping[str, Any], loss: Loss | LossFunction | None) -> MixtureState:
    """Return an empty mixture with the recipe of a file; refuse a recipe that no mixture writes."""
    recipe = dict(found["recipe"])
    hedger = dict(recipe.pop("hedger"))
    kind = KINDS.get(hedger.pop("kind"))
    if kind is None:
        raise ValueError(f"its hedger must be one of {', '.join(KINDS)}")
    if found["version"] < 3 and kind is Automatic:
        raise ValueError(f"version {found['version']} did not have the hedger Automatic")
    if found["version"] == 1 and not kind.has_potential:
        raise ValueError(f"version 1 did not have the hedger {kind.__name__}")
    options = _rounds.interval_options(found.get("intervals"))
    for name in LIMITS:
        if name in found:
            empty = found[name] is None and OPTIONS[name].default is None
            options[name] = None if empty else whole(name, found[name])
    components, prior = hedger.pop("components", None), hedger.pop("prior", None)
    own_loss = loss_of(restored_loss(recipe.pop("loss"), loss))
    rule = kind(**hedger)
    names = [part.name for part in rule.components(own_loss)] if kind is Automatic else None
    if names != components:
        raise ValueError("another version had other components: blend the table again")
    if kind is Automatic:  # the options of a single rule describe its second level
        recipe = {k: v for k, v in recipe.items() if k not in OPTIONS or not OPTIONS[k].single}
        rule = rule if prior is None else _with_prior(rule, own_loss, prior)
    settings = MixtureSettings.of(hedger=rule, loss=own_loss, **recipe, **options)
    plain = settings.to_plain()
    if loss is not None:
        plain["loss"] = found["recipe"]["loss"]
    for name, value in found["recipe"].items():
        now = plain[name]
        if name == "hedger":  # newer versions may have added settings
            now = {key: now[key] for key in value}
        if json.dumps(now) != json.dumps(value):
            raise ValueError(f"its {name} must not be {value!r}")
    return MixtureState.new(settings)


def _with_prior(rule: Automatic, loss: Loss, entry: Mapping[str, Any]) -> Automatic:
    """Return the default with the prior of a file: versions of the package may differ."""
    usual = rule.prior_of(loss)
    ways = floats("prior", entry["ways"], (len(usual.ways),), 0.0, 1.0)
    share = float(floats("insured", [entry["insured"]], (1,), 0.0, 1.0)[0])
    if not ways.min() > 0.0 or abs(ways.sum() - 1.0) > TOLERANCE or not 0.0 < share < 1.0:
        raise ValueError("its prior must have positive weights that sum to one")
    prior = Prior(tuple(ways.tolist()), share)
    return rule if prior == usual else rule.starting_from(prior)


def _assign(reading: Reading) -> None:
    """Put the arrays into the mixture; refuse ledgers that belong to other weights."""
    live, arrays, hedger = reading.live, reading.arrays, reading.state.settings.hedger
    weights = arrays["weights"]
    if weights.size and np.abs(weights.sum(axis=1) - 1.0).max() > 1e-6:
        raise ValueError("weights must sum to one")
    arrays = {"delays": np.zeros_like(live.delays), **arrays}
    if reading.version < 4 and isinstance(hedger, Automatic):
        live.assign(live.version, {"ranges": arrays["ranges"]})  # the losses depend on them
        loss = reading.state.settings.loss
        arrays["totals"] = hedger.with_losses(loss, live, arrays["totals"])
    live.assign(live.version, arrays)
    if weights.shape[1]:
        ledgers = live.ledgers
        live.weigh()
        wrong = not np.abs(live.ledgers - ledgers).max(initial=0.0) <= TOLERANCE
        computed = live.weights
        live.assign(live.version, arrays)
        if reading.automatic:  # its ledgers hold the weights of its components
            levels = np.concatenate(levels_of(live)[:3], axis=1)
            wrong = wrong or not ((levels >= 0.0) & (levels <= 1.0)).all()
        else:
            wrong = wrong or not np.abs(computed - weights).max(initial=0.0) <= TOLERANCE
        if wrong:
            raise ValueError(f"{hedger!r} computes other weights from its ledgers")
    if reading.version < 4 and not reading.automatic:
        _upgrade_to_version_4(reading)


def _upgrade_to_version_4(reading: Reading) -> None:
    """Estimate the regrets of a single rule in units of the loss from its regrets in gains."""
    live, games = reading.live, len(reading.live.weights)
    delays, total_sums, ranges = live.delays, live.total_sums, live.ranges
    delays[:, -1] = live.rounds
    units = 0.5 * ranges[:games, 0] if len(ranges) >= games else np.zeros(games)
    total_sums[REGRET] = 0.0  # it was in gains
    fields = {"loss_regrets": units[:, np.newaxis] * reading.state.regrets}
    live.assign(live.version, {**fields, "delays": delays, "total_sums": total_sums})
