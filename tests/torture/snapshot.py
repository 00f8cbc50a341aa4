"""Everything that is to be seen of a mixture, and whether it is sound."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge._core import STATE_FIELDS as ARRAYS
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.state._table_facts import TableFacts
from tests.torture.result import is_sentence, one_line

FIELDS = (
    "names", "items", "rounds", "next_ticket", "expired", "ids", "last_times", "time_kind",
    "joined_late",
)  # fmt: skip

Snapshot = dict[str, Any]


def loaded(path: Path) -> tuple[Mixture | None, str | None]:
    """Return the mixture of a file; or none, and what is wrong with the refusal, if anything is."""
    try:
        return Mixture.load(path), None
    except ValueError as error:
        return None, None if is_sentence(str(error)) else f"no sentence: {str(error)[:200]!r}"
    except Exception as error:
        return None, one_line(error)


def snapshot(mixture: Mixture, *, history: bool = True) -> Snapshot:
    """Return copies of all that a mixture consists of."""
    found: Snapshot = {
        name: _copied(getattr(mixture, name)) for name in FIELDS if hasattr(mixture, name)
    }
    found |= {f"games.{name}": np.array(getattr(mixture.live, name)) for name in ARRAYS}
    if mixture.live.states is not None:
        found["states"] = _copied(list(mixture.live.states))
    found["pending"] = {
        t: _copied(round_._replace(id=None)) for t, round_ in mixture.pending.items()
    }
    found["waiting"] = _copied(dict(TableFacts.of(mixture.live).deferred))
    found["recipe"] = str(mixture.settings)
    found["retired"] = sorted(mixture.retired)
    intervals = mixture.intervals
    found["intervals"] = None if intervals is None else str(intervals.conformal)
    if history:
        found["history"] = len(mixture.history)
    return found


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Mapping):
        return {key: _copied(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(part) for part in value]
    return value


def difference(one: Any, other: Any, path: str = "") -> str | None:
    """Return where two snapshots differ first, or None."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return _different_arrays(one, other, path)
    parts: list[tuple[Any, Any, str]] = []
    if isinstance(one, dict) and isinstance(other, dict):
        if list(one) != list(other):
            return f"{path} has {_few(one)}, not {_few(other)}"
        parts = [(one[k], other[k], f"{path}.{k}".strip(".")) for k in one]
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{path} has {len(one)} entries, not {len(other)}"
        parts = [(a, b, f"{path}[{k}]") for k, (a, b) in enumerate(zip(one, other, strict=True))]
    else:
        same = one == other or (one != one and other != other)  # noqa: PLR0124 -- NaN
        return None if same and type(one) is type(other) else f"{path} is {one!r}, not {other!r}"
    return next((found for part in parts if (found := difference(*part))), None)


def _different_arrays(one: np.ndarray, other: np.ndarray, path: str) -> str | None:
    if one.shape != other.shape:
        return f"{path} has shape {one.shape}, not {other.shape}"
    same = np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return None if same and one.dtype == other.dtype else f"{path} differs"


def _few(keys: Mapping[Any, Any]) -> str:
    return f"{len(keys)} ({', '.join(map(str, list(keys)[:4]))}...)"


def amiss(mixture: Mixture) -> str | None:
    """Return what is unsound about a mixture, or None."""
    games, n = mixture.live, len(mixture.names)
    columns = {
        name: getattr(games, name).shape[-1]
        for name in ("weights", "ledgers", "marks", "expert_sums")
    }
    if set(columns.values()) != {n}:
        return f"{n} names, but columns: {columns}"
    if len(games.ranges) != len(mixture.items):
        return f"ranges has {len(games.ranges)} rows for {len(mixture.items)} items"
    sums = games.weights.sum(axis=1)
    if n and sums.size and not np.allclose(sums, 1.0, atol=1e-6):
        return f"weights sum to {sums}"
    if len(set(mixture.names)) != n:
        return "a name is there twice"
    for ticket, waiting in mixture.pending.items():
        columns = {"forecasts": waiting.forecasts.shape[2]}
        if not 0 <= ticket < mixture.next_ticket or columns["forecasts"] > n:
            return f"ticket {ticket} of {mixture.next_ticket}, {columns} for {n} names"
    return None


def outcome_for(waiting: Any, value: float) -> Any:
    """Return an outcome in the form of a round that waits."""
    if waiting.forecasts.shape[1] > 1:
        value = 0
    if waiting.keys is None:
        return value
    if isinstance(waiting.keys, range):
        return [value] * len(waiting.keys)
    return dict.fromkeys(waiting.keys, value)


def unusable(mixture: Mixture, rounds: int = 2, *, summary: bool = True) -> str | None:
    """Play on with a mixture; return what goes wrong, or None."""
    try:
        for ticket, waiting in list(mixture.pending.items()):
            if ticket not in TableFacts.of(mixture.live).deferred:
                mixture.update(ticket, outcome_for(waiting, 1.5))
        for k in range(rounds):
            said = {name: 1.0 + k + j for j, name in enumerate(mixture.names[:3])} or {"new": 1.0}
            if mixture.settings.loss.of_classes:
                said = {name: [0.5, 0.5] for name in said}  # type: ignore[misc]
            elif len(mixture.settings.loss.levels) > 1:
                levels = len(mixture.settings.loss.levels)
                said = {name: [1.0] * levels for name in said}  # type: ignore[misc]
            ticket = mixture.predict(said).ticket
            mixture.update(ticket, outcome_for(mixture.pending[ticket], 1.0))
            if ticket in mixture.pending:
                return f"ticket {ticket} is pending after its update"
        if summary:  # which takes longer than all the rest
            mixture.summary()
    except Exception as error:
        return f"it cannot be used: {one_line(error)}"
    return amiss(mixture)
