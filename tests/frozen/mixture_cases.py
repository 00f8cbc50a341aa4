"""Mixtures, tables that are blended, and mixtures in files.

It is long because it is frozen: the cases were written once, and none is changed or moved.
"""

import functools
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from normalhedge import Mixture, NormalHedge, blend
from normalhedge.mixtures.losses import Loss, pinball
from normalhedge.tables._hindsight import hindsight
from tests.frozen.case import Arrays, Case, Nudge, number, of_ledger, of_state, under
from tests.frozen.game_cases import EVERY, ON_POTENTIALS, hedger_of

HERE = Path(__file__).parent

NAMES = ("ant", "bee", "cat", "dog", "eel", "fox")
LATE = {"eel": 15, "fox": 33}
"""The round in which newcomers are first seen."""

ROUNDS = 54
SCALES = (14, 26)
"""The rounds in which the forecasts become larger, and then smaller."""

ROWS = ("north", "south", "west")

SINGLE: dict[str, Any] = {"hedger": NormalHedge(memory=20)}
"""What mixtures and tables had by default when these numbers were frozen."""


def steep(forecasts: npt.NDArray[np.float64], outcome: float) -> npt.NDArray[np.float64]:
    """Return a loss of one's own, convex and not even."""
    far = forecasts - outcome
    return np.asarray(np.where(far > 0.0, 2.0 * far * far, np.sqrt(1.0 + far * far) - 1.0))


def slope(prediction: float, outcome: float) -> float:
    """Return its derivative."""
    far = prediction - outcome
    return 4.0 * far if far > 0.0 else far / float(np.sqrt(1.0 + far * far))


STEEP = Loss("steep", function=steep, slope=slope)

OF_NUMBERS: dict[str, Any] = {
    "square": "square",
    "absolute": "absolute",
    "pinball": "pinball:level=0.9",
    "zero-one": "zero-one",
    "own": steep,
    "own with a slope": STEEP,
}
OF_CLASSES = ("log", "l1", "zero-one-classes")
WITH_SLOPE = ("square", "absolute", "pinball", "own with a slope", "log", "l1")


class Said(NamedTuple):
    """A round: forecasts by name, confidences or none, and the outcome."""

    forecasts: dict[str, Any]
    confidence: dict[str, float] | None
    outcome: Any


def rounds_of(kind: str, form: str, nudge: Nudge, seed: int = 20) -> list[Said]:
    """Return rounds of forecasts.

    Their scale grows and shrinks, so that ranges of losses must be learned anew. Experts are
    missing, none, NaN, or NaN in part; some are not sure; two come later. In one round nobody says
    anything.

    Parameters
    ----------
    kind
        "numbers", "labels" or "classes".
    form
        "number", "vector" or "items".
    nudge
        See there.
    seed
        Of the draws.
    """
    rng = np.random.default_rng(seed)
    found = []
    level = np.zeros(len(ROWS))
    for t in range(ROUNDS):
        level += rng.normal(size=len(ROWS))
        scale = (1.0, 9.0, 0.3)[int(np.searchsorted(SCALES, t, side="right"))]
        noise = rng.normal(size=(len(NAMES), len(ROWS)))
        wide = np.array([0.3, 0.6, 1.0, 1.5, 0.8, 0.5])[:, None]
        bias = np.array([0.1, -0.2, 0.5, 0.0, -0.6, 0.3])[:, None]
        cells: Any = scale * (level + bias + wide * noise)
        truth: Any = scale * (level + 0.2 * rng.normal(size=len(ROWS)))
        odds = np.exp(noise[..., None] * rng.normal(size=(len(NAMES), len(ROWS), 3)))
        drawn = rng.integers(0, 3, size=len(ROWS))
        if kind == "labels":
            cells, truth = np.rint(np.clip(cells, -2, 2)), np.rint(np.clip(truth, -2, 2))
        elif kind == "classes":
            odds[:4, np.arange(3), drawn] *= 1.8
            cells, truth = odds / odds.sum(axis=2, keepdims=True), drawn.astype(float)
            cells = nudge.scale * cells
        else:
            cells, truth = nudge.scale * cells, nudge.scale * truth
        found.append(_said(t, form, cells, truth, reverse=nudge.reverse))
    return found


def _said(t: int, form: str, cells: Any, truth: Any, *, reverse: bool) -> Said:
    rows = {"number": 1, "vector": 3}.get(form, 2 + (t > 20))
    forecasts: dict[str, Any] = {}
    for name in reversed(NAMES) if reverse else NAMES:
        i = NAMES.index(name)
        if t < LATE.get(name, 0) or (t % 5 == 2 and name == "bee"):
            continue
        mine = cells[i, :rows].copy()
        if t % 9 == 4 and name == "dog":
            mine[-1] = np.nan  # in part, where there are parts
        forecasts[name] = _shaped(form, mine)
        if (t % 7 == 3 and name == "cat") or t == 30:
            forecasts[name] = None
    confidence = {"ant": 0.5, "cat": 0.3, "dog": 0.0 if t % 8 == 5 else 1.0} if t % 4 == 1 else None
    outcome = truth[:rows].copy()
    if t % 10 == 6 and rows > 1:
        outcome[0] = np.nan
    plain = _shaped(form, outcome)
    if form == "items" and t % 10 == 6:
        plain.pop(ROWS[0])
    if t == 30:
        plain = 0.0  # of a round in which nobody says anything, the form is not known
    return Said(forecasts, confidence, plain)


def _shaped(form: str, cells: Any) -> Any:
    if form == "number":
        return cells[0].tolist()
    if form == "vector":
        return cells
    return dict(zip(ROWS, cells.tolist(), strict=False))


def play(mixture: Mixture, rounds: list[Said]) -> Arrays:
    """Predict all rounds and settle most: some late, and some never. Return what was predicted."""
    values: list[list[float]] = []
    late: dict[int, tuple[int, Any]] = {}
    for t, said in enumerate(rounds):
        made = mixture.predict(said.forecasts, said.confidence)
        values.append(_flat(made.value))
        if t in late:
            mixture.update(*late.pop(t))
        if t % 6 == 5:
            late[t + 4] = (made.ticket, said.outcome)
        elif t % 13 != 12:
            mixture.update(made.ticket, said.outcome)
    table = np.full((len(values), max(map(len, values))), np.nan)
    for row, value in zip(table, values, strict=True):
        row[: len(value)] = value
    order = sorted(range(len(made.names)), key=made.names.__getitem__)
    every = 1 if table.shape[1] == 1 else 5
    parts = np.split(table, SCALES)  # of different sizes, so each is compared by its own
    found = {f"values {k}": part[::every] for k, part in enumerate(parts)}
    return found | {"played": np.array(made.distribution)[:, order]}


def _flat(value: Any) -> list[float]:
    """Return a prediction as a row of numbers."""
    if isinstance(value, Mapping):
        parts = [value[row] for row in ROWS if row in value]
        return [x for part in parts for x in _flat(part)]
    return np.atleast_1d(np.array(number(value))).ravel().tolist()


COUNTS = ("rounds", "rows", "settled", "silent", "pending", "expired")
COLUMNS = ("weight", "loss", "blend_loss", "regret", "awake", "last_seen", "since")


def of_summary(summary: Any) -> Arrays:
    """Return the numbers of a summary but those of the best convex combination."""
    experts = sorted(summary.experts, key=lambda row: str(row.name))
    best = [row.name for row in experts].index(summary.best.name) if summary.best else None
    counts = [*(getattr(summary, name) for name in COUNTS), number(best)]
    columns = {
        f"experts' {name}": np.array([number(getattr(row, name)) for row in experts])
        for name in COLUMNS
    }
    return columns | {
        "counts": np.array(counts, dtype=np.float64),
        "losses": np.array([summary.blend, summary.uniform]),
        "regret": number(summary.regret),
        "bound": number(summary.bound.regret),
        "ranges": np.array(summary.ranges, dtype=np.float64),
    }


def of_mixture(mixture: Mixture, *, on_ledger: bool = False) -> Arrays:
    """Return where the games of a mixture stand, and its summary."""
    order = np.array(sorted(range(len(mixture.names)), key=mixture.names.__getitem__))
    read = of_ledger if on_ledger else of_state
    found = under("summary", of_summary(mixture.summary()))
    shared = mixture.settings.shared
    for item in [None] if shared else sorted(mixture.items):
        found |= under(f"state {item or ''}", read(mixture.state(item), order))
    return found


def mixed(kind: str, form: str, options: dict[str, Any], nudge: Nudge) -> Arrays:
    """Return what a mixture does with rounds of a kind and a form."""
    mixture, rounds = Mixture(**SINGLE | options), rounds_of(kind, form, nudge)
    if form == "vector":  # levels must be named even where nobody says anything
        rounds = [said for said in rounds if any(x is not None for x in said.forecasts.values())]
    return play(mixture, rounds) | of_mixture(mixture)


def hedged(text: str, shared: bool, nudge: Nudge) -> Arrays:
    """Return what a mixture does with a hedger: its range doubles, and experts join."""
    mixture = Mixture(hedger_of(text, 5, 0.05), shared=shared)
    found = play(mixture, rounds_of("numbers", "number" if shared else "items", nudge))
    return found | of_mixture(mixture, on_ledger=text not in ON_POTENTIALS)


def said_by_name(text: str, nudge: Nudge) -> Arrays:
    """Return what a mixture does that was given the name of a hedger."""
    mixture = Mixture(text, "absolute", combine="mean", gradient=False)
    return play(mixture, rounds_of("numbers", "vector", nudge)) | of_mixture(mixture)


def expiring(nudge: Nudge) -> Arrays:
    """Return what a mixture does that gives rounds up, and keeps little of the past."""
    found: Arrays = {}
    for name, limits in {"count": {"max_pending": 3}, "age": {"max_age": 5}}.items():
        options: dict[str, Any] = SINGLE | limits
        mixture = Mixture(loss="absolute", history=7, **options)
        values = []
        for t, said in enumerate(rounds_of("numbers", "number", nudge)):
            made = mixture.predict(said.forecasts)
            values += _flat(made.value)
            if t % 3 == 0:
                mixture.update(made.ticket, said.outcome)
        found |= under(name, {"values": np.array(values)} | of_mixture(mixture))
    return found


def table_of(
    series: int, rounds: int, nudge: Nudge, *, kind: str = "numbers", seed: int = 30
) -> dict[str, Any]:
    """Return the columns of a wide table: some forecasts and some outcomes are missing."""
    rng = np.random.default_rng([seed, series, rounds])
    size = series * rounds
    time = np.repeat(np.arange(rounds), series)
    keys = np.tile([f"series {k}" for k in range(series)], rounds)
    y = rng.normal(size=(rounds, series)).cumsum(axis=0).ravel()
    experts: dict[str, Any] = {}
    for k, name in enumerate(NAMES[:4]):
        said = y + 0.2 * k - 0.3 + (0.3 + 0.3 * k) * rng.normal(size=size)
        said *= np.where(time < rounds // 2, 1.0, 4.0)
        if kind == "labels":
            said = np.rint(said)
        said[rng.random(size) < 0.12] = np.nan
        experts[name] = said
    y = np.where(time < rounds // 2, 1.0, 4.0) * y
    if kind == "labels":
        y = np.rint(y)
    y[rng.random(size) < 0.05] = np.nan
    scale = 1.0 if kind == "labels" else nudge.scale
    columns = {"ds": time, "id": keys, "y": scale * y}
    names = list(reversed(experts)) if nudge.reverse else list(experts)
    return columns | {name: scale * experts[name] for name in names}


def to_arrow(columns: Mapping[str, Any]) -> Any:
    """Return columns as an Arrow table; NaN is null."""
    return pa.table({k: pa.array(v, from_pandas=True) for k, v in columns.items()})


def of_frame(frame: Any, every: int = 1) -> Arrays:
    """Return the blends and the weights of a table, null as NaN."""
    names = sorted(n for n in frame.column_names if n.startswith(("blend", "weight_")))
    columns = {name: np.array(frame[name].to_pylist(), dtype=np.float64) for name in names}
    return {k: v[:: every if k.startswith("blend") else 7 * every] for k, v in columns.items()}


def blended(
    columns: Callable[[Nudge], dict[str, Any]],
    every: int,
    options: dict[str, Any],
    nudge: Nudge,
) -> Arrays:
    """Return what is blended of a table."""
    found = blend(to_arrow(columns(nudge)), **SINGLE | options)
    summary = under("table", of_summary(found.summary()))
    return of_frame(found.frame, every) | summary | of_mixture(found.mixture)


def long_table(series: int, rounds: int, nudge: Nudge) -> dict[str, Any]:
    """Return the columns of a long table: a row for each forecast."""
    wide = table_of(series, rounds, nudge)
    experts = [name for name in wide if name in NAMES]
    rows = [(wide["ds"][j], wide["id"][j], wide["y"][j], name, wide[name][j])
            for j in range(len(wide["ds"])) for name in experts
            if not np.isnan(wide[name][j])]  # fmt: skip
    return dict(zip(("ds", "id", "y", "model", "said"), map(list, zip(*rows, strict=True)),
                    strict=True))  # fmt: skip


def class_table(rounds: int, nudge: Nudge) -> dict[str, Any]:
    """Return the columns of a long table of class probabilities."""
    rng = np.random.default_rng(31)
    columns: dict[str, list[Any]] = {k: [] for k in ("ds", "y", "model", "low", "mid", "high")}
    for t in range(rounds):
        came = int(rng.integers(0, 3))
        odds = np.exp(rng.normal(size=(4, 3)))
        odds[:2, came] *= 3.0
        for i in nudge.order(4):
            if t % 5 == i:
                continue
            p = nudge.scale * odds[i] / odds[i].sum()
            for key, value in zip(columns, (t, came, NAMES[i], *p.tolist()), strict=True):
                columns[key].append(value)
    return columns


def cutoff_table(nudge: Nudge) -> dict[str, Any]:
    """Return the columns of forecasts that are made up to three steps ahead."""
    rng = np.random.default_rng(32)
    columns: dict[str, list[Any]] = {k: [] for k in ("id", "ds", "cutoff", "y", *NAMES[:3])}
    for key in ("north", "south"):
        y = rng.normal(size=40).cumsum()
        for made in range(34):
            for step in (1, 2, 3):
                noise = rng.normal(size=3) * [0.1 * step, 0.8, 0.4]
                said = nudge.scale * (y[made + step] + noise)
                row = (key, made + step, made, nudge.scale * y[made + step], *said.tolist())
                for name, value in zip(columns, row, strict=True):
                    columns[name].append(value)
    names = [*list(columns)[:4], *(NAMES[i] for i in nudge.order(3))]
    return {name: columns[name] for name in names}


def continued(series: int, lag: int, pooled: bool, hedger: str, nudge: Nudge) -> Arrays:
    """Return what is blended of a table in two parts; of the second, the mixture goes on."""
    columns = table_of(series, 50, nudge)
    cut = 30 * series
    options: dict[str, Any] = {"target": "y", "time": "ds", "lag": lag, "pooled": pooled}
    options |= {"by": "id"} if series > 1 else {"experts": list(NAMES[:4])}
    parts = [{k: v[a:b] for k, v in columns.items()} for a, b in ((0, cut), (cut, None))]
    first = blend(to_arrow(parts[0]), **options, hedger=hedger)
    second = blend(to_arrow(parts[1]), **options, weights=True, mixture=first.mixture)
    found = under("first", of_frame(first.frame, 3)) | under("second", of_frame(second.frame, 2))
    summary = of_summary(second.summary())
    return found | under("second", summary) | of_mixture(second.mixture)


def in_hindsight(loss: str, nudge: Nudge) -> Arrays:
    """Return what could have been in a table, but the best convex combination."""
    options: dict[str, Any] = SINGLE | {"target": "y", "time": "ds", "loss": loss}
    if loss in OF_CLASSES:
        columns = class_table(60, nudge)
        options |= {"model": "model", "classes": ["low", "mid", "high"]}
    else:
        columns = table_of(2, 60, nudge, kind="labels" if loss == "zero-one" else "numbers")
        options |= {"by": "id"}
    best = hindsight(blend(to_arrow(columns), **options), quantile=0.4, switches=3)
    return {"best": np.array([best.expert, best.quantile, best.sequence])}


SAVED = {
    "saved_v2_shared.json": "NormalHedge, shared, rounds that wait",
    "saved_v2_items.json": "Squint, each item has its own weights",
    "saved_v1_items.json": "NormalHedge, as version 1 wrote it",
}
"""Files that `make_frozen` writes, and what is in them."""


def busy(hedger: str, *, shared: bool) -> Mixture:
    """Return a mixture that has seen something, and has rounds that wait."""
    mixture = Mixture(hedger, "square" if shared else "absolute", shared=shared)
    for t, said in enumerate(rounds_of("numbers", "number" if shared else "items", Nudge())):
        made = mixture.predict(said.forecasts, said.confidence)
        if t % 9 != 5:
            mixture.update(made.ticket, said.outcome)
        if t == 36:
            break
    return mixture


def loaded(path: Path, form: str, nudge: Nudge) -> Arrays:
    """Return what a mixture out of a file goes on with: it is saved once more on the way."""
    mixture = Mixture.load(path)
    rounds = rounds_of("numbers", form, nudge, seed=21)[31:46]
    waiting = sorted(mixture.pending)
    first = mixture.predict(rounds[0].forecasts)
    found = {"first": np.array(_flat(first.value)), "waiting": np.array(waiting, dtype=np.float64)}
    for ticket in waiting:
        keys = mixture.pending[ticket].keys
        outcome: Any = 0.25
        if keys is not None:
            outcome = [0.25, 0.5] if isinstance(keys, range) else dict.fromkeys(keys, 0.25)
        mixture.update(ticket, outcome)
    with tempfile.TemporaryDirectory() as folder:
        mixture.save(Path(folder) / "again.json")
        mixture = Mixture.load(Path(folder) / "again.json")
    for k, said in enumerate(rounds[1:]):
        made = mixture.predict(said.forecasts, said.confidence)
        mixture.update(made.ticket, said.outcome)
        if k % 4 == 0:
            found[f"value {k}"] = np.array(_flat(made.value))
    return found | of_mixture(mixture)


def _ways() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every loss, with every way to combine, with the gradient and without."""
    for name, loss in OF_NUMBERS.items():
        kind = "labels" if name == "zero-one" else "numbers"
        for combine in ("mean", "median", "vote"):
            slopes = (False, True) if combine == "mean" and name in WITH_SLOPE else (False,)
            for gradient in slopes:
                options = {"loss": loss, "combine": combine, "gradient": gradient}
                yield f"{name}, {combine}{', gradient' * gradient}", kind, options
    for loss in OF_CLASSES:
        for gradient in (False, True) if loss in WITH_SLOPE else (False,):
            yield (
                f"{loss}{', gradient' * gradient}",
                "classes",
                {"loss": loss, "gradient": gradient},
            )


def _mixtures() -> Iterator[Case]:
    part = functools.partial
    for name, kind, options in _ways():
        for form in ("number", "vector", "items"):
            for shared in (True, False):
                if form == "number" and not shared:
                    continue
                own = options | {"shared": shared}
                label = f"mixture/{name}/{form}{'' if shared else ', apart'}"
                yield Case(label, part(mixed, kind, form, own))
    for loss, kind in (("square", "numbers"), ("absolute", "numbers"), ("log", "classes")):
        plain = ("mean",) if kind == "classes" else ("mean", "median")
        more: dict[str, dict[str, Any]] = {
            "even": {"even": 0.1},
            "include": {"include": plain},
            "both": {"even": 0.1, "include": plain},
        }
        for name, own in more.items():
            one: dict[str, Any] = {"loss": loss} | own
            yield Case(f"mixture/{loss}, {name}/number", part(mixed, kind, "number", one))
            one = one | {"shared": False}
            yield Case(f"mixture/{loss}, {name}/items, apart", part(mixed, kind, "items", one))
    levels = {"loss": pinball([0.1, 0.5, 0.9])}
    yield Case("mixture/pinball of levels/vector", part(mixed, "numbers", "vector", levels))
    mean = levels | {"combine": "mean", "shared": False}
    yield Case("mixture/pinball of levels/vector, apart", part(mixed, "numbers", "vector", mean))
    for text in EVERY:
        for shared in (True, False):
            label = f"mixture/hedger {text}{'' if shared else ', apart'}"
            yield Case(label, part(hedged, text, shared))
    for text in (
        "normal-hedge:memory=50,c=1",
        "squint",
        "ada-hedge",
        "ml-prod:alpha=0.1",
        "fixed-share:n_experts=5,share=0.05,eta=0.5",
    ):
        yield Case(f"mixture/by name {text}", part(said_by_name, text))
    yield Case("mixture/expiring", expiring)


def _tables() -> Iterator[Case]:
    """Yield tables by how they are cut into games, by loss, and by hedger."""
    part = functools.partial
    one, three = part(table_of, 1, 90), part(table_of, 3, 40)
    single: dict[str, Any] = {"target": "y", "time": "ds", "experts": list(NAMES[:4])}
    several: dict[str, Any] = {"target": "y", "time": "ds", "by": "id"}
    for lag in (0, 3):
        for label, columns, options in (
            ("one series", one, single),
            ("three series", three, several),
            ("pooled", three, several | {"pooled": True}),
        ):
            asked = options | {"lag": lag, "weights": True}
            yield Case(f"blend/{label}, lag {lag}", part(blended, columns, 1, asked))
            for text in ("squint", "fixed-share:share=0.05,eta=0.5"):
                own = asked | {"hedger": text}
                yield Case(f"blend/{label}, lag {lag}, {text}", part(blended, columns, 4, own))
    for name, kind, options in _ways():
        if kind == "classes":
            continue
        columns = part(table_of, 3, 24, kind=kind)
        asked = several | options
        yield Case(f"blend/{name}", part(blended, columns, 2, asked))
        pooled = asked | {"pooled": True, "lag": 1, "even": 0.05, "include": ("mean", "median")}
        yield Case(f"blend/{name}, pooled", part(blended, columns, 2, pooled))
    for text in EVERY:
        own = several | {"hedger": "hedge-fixed:eta=0.5" if text == "hedge-fixed" else text}
        yield Case(f"blend/hedger {text}", part(blended, three, 3, own))
        own = own | {"pooled": True, "lag": 2}
        yield Case(f"blend/hedger {text}, pooled", part(blended, three, 3, own))


def _forms() -> Iterator[Case]:
    """Yield tables of other forms, and tables that are continued."""
    part = functools.partial
    several: dict[str, Any] = {"target": "y", "time": "ds", "by": "id"}
    ahead: dict[str, Any] = {"target": "y", "time": "ds", "by": "id", "cutoff": "cutoff"}
    yield Case("blend/cutoff", part(blended, cutoff_table, 1, ahead))
    tall: dict[str, Any] = several | {"model": "model", "forecast": "said", "weights": True}
    yield Case("blend/long table", part(blended, part(long_table, 2, 30), 1, tall))
    for loss in OF_CLASSES:
        odds: dict[str, Any] = {"target": "y", "time": "ds", "model": "model", "loss": loss}
        odds |= {"classes": ["low", "mid", "high"]}
        yield Case(f"blend/classes, {loss}", part(blended, part(class_table, 60), 2, odds))
    for series, pooled_too in ((1, False), (3, False), (3, True)):
        for lag in (0, 3):
            for text in ("normal-hedge", "boa"):
                label = f"{series} series{', pooled' * pooled_too}, lag {lag}, {text}"
                run = part(continued, series, lag, pooled_too, text)
                yield Case(f"continued/{label}", run)


def cases() -> Iterator[Case]:
    """Yield them all."""
    part = functools.partial
    yield from _mixtures()
    yield from _tables()
    yield from _forms()
    for loss in ("square", "absolute", "pinball:level=0.9", "zero-one", *OF_CLASSES):
        yield Case(f"hindsight/{loss}", part(in_hindsight, loss))
    for name in SAVED:
        form = "number" if "shared" in name else "items"
        yield Case(f"saved/{name}", part(loaded, HERE / name, form))
    older = HERE.parent / "data" / "mixture-1.json"
    yield Case("saved/mixture-1.json", part(loaded, older, "vector"))
