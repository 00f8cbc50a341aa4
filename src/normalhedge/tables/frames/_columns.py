"""The roles of the columns of a table: target, experts, time and others, given or guessed.

A *wide* table has a column for each expert; a *long* one has a column of models and one of
forecasts, or one for each class.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from normalhedge.boundary import specs
from normalhedge.tables.frames._conversion import time_of_index
from normalhedge.tables.frames._frames import encode, is_number, refuse_other_than_numbers
from normalhedge.tables.frames._times import zone_of

TIMES = ("ds", "time", "date", "datetime", "timestamp", "reference_date", "forecast_date", "t")
SERIES = ("unique_id", "series", "series_id", "location", "item_id")
TARGETS = ("y", "target", "truth", "actual", "outcome", "y_true")
MODELS = ("model", "model_id", "forecaster", "expert", "team")
COUNTS = ("id", "index", "row", "horizon", "step", "Unnamed: 0", "")
"""The usual names of columns, for guesses; columns of counts are not experts."""


@dataclass(frozen=True)
class WholeTable:
    """Facts about a table that is blended in parts, each with some of its series.

    If each series has its own weights, rows of other series decide no more than these facts.
    """

    # The distinct times of the forecasts, as `_frames.times` returns them. The phase of a season
    # counts them.
    times: np.ndarray | None = None
    # cutoffs, targets: The distinct pairs of a cutoff and a time, as sortable numbers or words; the
    # steps ahead count the times of a cutoff. None without a cutoff.
    cutoffs: np.ndarray | None = None
    targets: np.ndarray | None = None
    # the names of the models of a long table, in the order in which they first appear; their number
    # tunes some hedgers
    models: tuple[str, ...] | None = None
    levels: tuple[float, ...] | None = None  # the levels of a long table of quantiles, in order

    def steps(self, cutoffs: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the step ahead of some rows, from 0: its place among the times of its cutoff."""
        assert self.cutoffs is not None
        assert self.targets is not None
        made, made_code = np.unique(self.cutoffs, return_inverse=True)
        due, due_code = np.unique(self.targets, return_inverse=True)
        pairs = np.unique(made_code * np.int64(len(due)) + due_code)
        first = np.searchsorted(pairs, pairs // len(due) * len(due), side="left")
        codes = np.searchsorted(made, cutoffs) * np.int64(len(due)) + np.searchsorted(due, targets)
        places = np.searchsorted(pairs, codes)
        return np.asarray(places - first[places])


@dataclass
class Columns:
    """The roles of the columns of a table; `guess` fills in roles that are not given."""

    # target, experts, by, time, cutoff, model, forecast, classes: as in `blend`
    target: str | None = None
    experts: Sequence[str] | None = None
    by: Sequence[str] = ()
    time: str | None = None
    cutoff: str | None = None
    model: str | None = None
    forecast: str | None = None
    classes: Sequence[str] = ()
    binary: bool = False  # whether forecasts are probabilities of one event, which is class 1
    notes: list[str] = field(default_factory=list)  # sentences about the guesses
    # facts about a larger table, if this table is a part of it
    whole: WholeTable = field(default_factory=WholeTable)
    # the names of the contexts; None for the parts of dates that are tried by default
    context: Sequence[str] | None = None
    # whether dates with the year at the end have the day first; None: as the table shows
    dayfirst: bool | None = None
    zone: str = ""  # the zones of the times, if they have any

    @property
    def of_classes(self) -> bool:
        """Whether forecasts are class probabilities."""
        return self.binary or bool(self.classes)

    @property
    def index(self) -> list[str]:
        """The columns that identify a row of a result: series, time and cutoff."""
        return [*self.by, *filter(None, (self.time, self.cutoff))]

    @property
    def forecast_time(self) -> str | None:
        """The column of the times at which forecasts are made: the cutoff, or else the time."""
        return self.cutoff or self.time


def guess(table: Any, columns: Columns) -> Columns:  # noqa: C901 -- one line for each guess
    """Check the roles that were given, and guess the others."""
    names = table.column_names
    _refuse_twice("column", names)
    single = (columns.target, columns.time, columns.cutoff, columns.model, columns.forecast)
    several = (*(columns.experts or ()), *columns.by, *columns.classes)
    for name in (*filter(None, single), *several):
        if name not in names:
            raise specs.nearest("column", name, names)
    notes: list[str] = []
    taken: set[str | None] = {*single, *several, *(columns.context or ())}

    def find(role: str, usual: Sequence[str]) -> str | None:
        name = next((name for name in usual if name in names and name not in taken), None)
        if name is not None:
            notes.append(f"{role}: {name}")
            taken.add(name)
        return name

    target = columns.target or find("target", TARGETS)
    if target is None:
        raise ValueError(f"target must name one of the columns: {', '.join(names)}")
    model = columns.model
    if model is None and columns.experts is None:
        model = find("long table, models in", MODELS)
    time = columns.time or find("time", [*filter(None, [time_of_index(table)]), *TIMES])
    by = columns.by or tuple(filter(None, [find("series", SERIES)]))
    cutoff = columns.cutoff
    if cutoff is None and time is not None:
        cutoff = find("forecasts made at", ("cutoff",))
    experts, forecast = columns.experts, columns.forecast
    if model is not None and forecast is None and not columns.classes:
        forecast = find("forecasts in", ("forecast", "prediction", "value"))
        if forecast is None:
            raise ValueError(f"forecast must name one of the columns: {', '.join(names)}")
    if model is None and experts is None:
        free = [n for n in names if n not in taken and n not in COUNTS]
        experts = [n for n in free if is_number(table.schema.field(n).type)]
        notes.append(f"experts: {', '.join(experts[:6])}{', ...' if len(experts) > 6 else ''}")
        left = [n for n in names if n not in taken and n not in experts]
        if left:
            notes.append(f"left out: {', '.join(left)}")
    zone = "" if time is None else zone_of(table[time])
    if zone:
        notes.append(f"times of {time} are in {zone}")
    result = replace(
        columns, target=target, experts=experts, by=by, time=time, cutoff=cutoff, model=model,
        forecast=forecast, notes=notes, zone=zone,
    )  # fmt: skip
    _check(table, result)
    return result


def free_numbers(table: Any, columns: Columns, others: Collection[str]) -> list[str]:
    """Return the columns of numbers that have no role, and none of the usual names of roles."""
    roles = {columns.time, columns.cutoff, *columns.by, *others}
    usual = {"cutoff", *TIMES, *SERIES, *COUNTS}
    return [
        name
        for name in table.column_names
        if name not in roles | usual and is_number(table.schema.field(name).type)
    ]


def count_experts(table: Any, columns: Columns) -> int:
    """Return the number of experts of a table."""
    if columns.model is None:
        return len(columns.experts or ())
    return len(columns.whole.models or encode(table[columns.model])[0])


def _check(table: Any, columns: Columns) -> None:
    """Refuse columns that do not go together, or that hold no numbers where numbers are needed."""
    experts = list(columns.experts or ())
    _refuse_twice("expert", experts)
    wrong = {columns.target, columns.time, columns.cutoff, *columns.by} & set(experts)
    if wrong:
        raise ValueError(f"column {wrong.pop()} cannot be an expert: it has another role")
    _refuse_two_roles(columns)
    if columns.time is None and columns.model is not None:
        raise ValueError("a long table needs the time: which of its rows belong together?")
    if columns.classes and columns.model is None:
        raise ValueError("classes need a long table, with a column model: one row for each expert")
    if len(columns.classes) == 1:
        raise ValueError(f"classes must be two columns or more, got {columns.classes[0]} alone")
    if columns.time is None and columns.cutoff is not None:
        raise ValueError("cutoff needs the time that the forecasts are for")
    if columns.model is None and not experts:
        raise ValueError(f"there is no column of numbers left for experts besides {columns.target}")
    for name in filter(None, {columns.target, columns.forecast, *experts, *columns.classes}):
        refuse_other_than_numbers(table, name)


def _refuse_two_roles(columns: Columns) -> None:
    single = ("target", "time", "cutoff", "model", "forecast")
    roles: dict[str | None, str] = {}
    for role, name in [
        *((role, getattr(columns, role)) for role in single),
        *(("by", name) for name in columns.by),
        *(("classes", name) for name in columns.classes),
    ]:
        if name is not None and name in roles:
            raise ValueError(f"column {name} cannot be both {roles[name]} and {role}")
        roles[name] = role


def _refuse_twice(role: str, names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"{role} {name} appears twice")


def as_tuple(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return a name, or several, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def check_names(role: str, names: object) -> tuple[str, ...]:
    """Return the names of the columns of a role; refuse anything but text."""
    if names is None:
        return ()
    several = (names,) if isinstance(names, str) or not isinstance(names, Iterable) else names
    return tuple(check_name(role, name) for name in several)


def check_name(role: str, name: object) -> str:
    """Return the name of a column; refuse anything but text."""
    if isinstance(name, str):
        return name
    raise TypeError(
        f"{role} must name columns, as text, got {name!r:.40}; a column with the label 3 is '3'"
    )
