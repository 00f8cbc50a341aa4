"""The default blend, late outcomes, quantiles, intervals, streams and the losses of 0.3.0."""

import functools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from normalhedge import Mixture, blend
from normalhedge.mixtures import crps
from normalhedge.mixtures.streams._stream import Stream
from tests.frozen.case import Arrays, Case, Nudge
from tests.frozen.mixture_cases import rounds_of, table_of, to_arrow

LAGS = (0, 1, 7)
RULES = {
    "auto": "auto:inside=true",  # frozen before the default had corrections
    "auto:guard=false": "auto:guard=false,inside=true",
    "normal-hedge": "normal-hedge",
    "squint:alpha=0": "squint:alpha=0",
    "ml-poly-opera:alpha=0": "ml-poly-opera:alpha=0",
}
"""The rule of each name."""

LOSSES = {
    "square": "numbers", "absolute": "numbers", "pinball:level=0.9": "numbers", "log": "classes",
    "l1": "classes", "zero-one": "labels",
}  # fmt: skip
NEW_LOSSES = {
    "huber:delta=1": "numbers", "expectile:level=0.8": "numbers", "smape": "numbers",
    "brier": "classes",
}  # fmt: skip
LEVELS = (0.1, 0.3, 0.5, 0.9)


def _numbers(value: Any) -> list[float]:
    """Return all numbers of a prediction, in order."""
    if isinstance(value, dict):
        return [x for part in value.values() for x in _numbers(part)]
    if isinstance(value, list | tuple | np.ndarray):
        return [x for part in value for x in _numbers(part)]
    return [np.nan if value is None else float(value)]


def _result(mixture: Mixture, said: list[float]) -> Arrays:
    summary, bound = mixture.summary(), mixture.bound()
    weights = [row.weight for row in sorted(summary.experts, key=lambda row: row.name)]
    return {
        "said": np.array(said),
        "weights": np.array(weights),
        "losses": np.array([summary.blend, summary.uniform]),
        "bound": np.array([bound.regret, bound.measured]),
    }


def late(rule: str, loss: str, kind: str, form: str, lag: int, nudge: Nudge) -> Arrays:
    """Return the forecasts of a mixture whose outcomes come so many rounds late, and its end."""
    mixture, said = Mixture(rule, loss), list[float]()
    waiting: list[tuple[int, Any]] = []
    for t, one in enumerate(rounds_of(kind, form, nudge, seed=31)):
        made = mixture.predict(one.forecasts, one.confidence)
        said += _numbers(made.value)
        waiting.append((made.ticket, one.outcome))
        if len(waiting) > lag:
            ticket, outcome = waiting.pop(t % 2 if lag > 1 else 0)
            mixture.update(ticket, outcome)
    return _result(mixture, said)


def with_quantiles(rule: str, items: int, lag: int, nudge: Nudge) -> Arrays:
    """Return the quantiles and the intervals of a mixture."""
    rng = np.random.default_rng(41)
    mixture, said = Mixture(rule, crps(LEVELS), interval=0.8), list[float]()
    waiting: list[tuple[int, Any]] = []
    for t in range(40):
        centre = rng.normal(size=(4, items)) + 0.1 * t
        spread = np.sort(rng.normal(size=(4, items, len(LEVELS))), axis=2)
        cells = nudge.scale * (centre[:, :, None] + spread)
        names = [k for k in range(4) if (t + k) % 6]
        forecasts = {f"m{k}": {f"s{j}": cells[k, j].tolist() for j in range(items)} for k in names}
        made = mixture.predict(forecasts)
        said += _numbers(made.value) + _numbers([*(made.intervals or {}).values()])
        waiting.append((made.ticket, {f"s{j}": nudge.scale * 0.1 * t for j in range(items)}))
        if len(waiting) > lag:
            mixture.update(*waiting.pop(0))
    return _result(mixture, [x for x in said if np.isfinite(x)])


def table(rule: str, by: bool, lag: int, pooled: bool, nudge: Nudge) -> Arrays:
    """Return the forecasts and intervals of a table that is blended in two parts."""
    columns = table_of(3 if by else 1, 40, nudge)
    options: dict[str, Any] = {"target": "y", "time": "ds", "lag": lag, "interval": 0.9}
    options |= {"by": "id", "pooled": pooled} if by else {"experts": ["ant", "bee", "cat", "dog"]}
    cut = 25 * (3 if by else 1)
    parts = [{k: v[a:b] for k, v in columns.items()} for a, b in ((0, cut), (cut, None))]
    first = blend(to_arrow(parts[0]), **options, hedger=rule)
    del options["interval"]
    options.pop("pooled", None)
    second = blend(to_arrow(parts[1]), **options, mixture=first.mixture)
    said = [x for part in (first, second) for x in part.frame.column("blend").to_pylist()]
    return _result(second.mixture, _numbers(said))


def stream(rule: str, nudge: Nudge) -> Arrays:
    """Return the answers of a stream with ids, corrections and changes of experts."""
    answers = Stream(mixture := Mixture(rule))
    lines: list[dict[str, Any]] = []
    rng = np.random.default_rng(51)
    for t in range(40):
        cells = nudge.scale * rng.normal(size=3)
        names = [name for k, name in enumerate(("ant", "bee", "cat")) if (t + k) % 7]
        forecasts = {n: float(x) for n, x in zip(names, cells, strict=False)}
        lines.append({"id": t, "forecasts": forecasts})
        if t > 2:
            lines.append({"id": t - 2, "outcome": nudge.scale * float(rng.normal())})
        if t == 20:
            lines.append({"id": 15, "correct": nudge.scale * 0.5})
        if t == 25:
            lines.append({"inherit": ["new", "ant"]})
        if t == 30:
            lines.append({"retire": "bee"})
    found = list(answers.answers(json.dumps(line) for line in lines))
    assert not any("error" in answer for answer in found)
    return _result(mixture, [x for a in found for x in _numbers(a.get("prediction"))])


def cases() -> Iterator[Case]:
    """Yield all of them."""
    every = LOSSES | NEW_LOSSES
    yield from _of_losses(RULES, every)
    for name in ("auto", "normal-hedge"):
        for items, lag in ((1, 0), (3, 2)):
            case = f"later/{name}/quantiles/{items} items, lag {lag}"
            yield Case(case, functools.partial(with_quantiles, RULES[name], items, lag))
        yield from _of_tables(name, RULES[name])
    numbers = {loss: kind for loss, kind in every.items() if kind == "numbers"}
    yield from _of_losses({"corrected": "auto"}, numbers)
    yield from _of_tables("corrected", "auto")


def _of_losses(rules: dict[str, str], losses: dict[str, str]) -> Iterator[Case]:
    part = functools.partial
    for name, rule in rules.items():
        for loss, kind in losses.items():
            for lag in LAGS:
                case = f"later/{name}/{loss}/lag {lag}"
                yield Case(case, part(late, rule, loss, kind, "number", lag))
            if loss in {"square", "absolute", "log", "huber:delta=1"}:
                yield Case(f"later/{name}/{loss}/items", part(late, rule, loss, kind, "items", 1))


def _of_tables(name: str, rule: str) -> Iterator[Case]:
    for by, lag, pooled in ((False, 0, True), (True, 0, True), (True, 3, False)):
        case = f"later/{name}/table/{'by, ' * by}lag {lag}{', pooled' * pooled}"
        yield Case(case, functools.partial(table, rule, by, lag, pooled))
    yield Case(f"later/{name}/stream", functools.partial(stream, rule))
