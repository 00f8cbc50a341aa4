"""The stays of the most probable path, as a table."""

from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge.latent.regimes._sequence import Sequence


def segments(
    path: npt.NDArray[np.intp], sequence: Sequence, time: tuple[Any, ...] | None
) -> dict[str, list[Any]]:
    """Return the stays as columns: first and last round, regime, rounds and observations.

    Observations are summed up by mean and deviation in each column of numbers, or by the share of
    each symbol; NaN where a stay has none. Rounds without a regime are left out.
    """
    rounds = len(path)
    starts = np.flatnonzero(np.r_[True, path[1:] != path[:-1]]) if rounds else np.arange(0)
    stops = np.r_[starts[1:], rounds]
    kept = path[starts] >= 0
    starts, stops = starts[kept], stops[kept]
    result: dict[str, list[Any]] = {
        "from": [_when(time, t) for t in starts.tolist()],
        "to": [_when(time, t) for t in (stops - 1).tolist()],
        "regime": path[starts].tolist(),
        "rounds": (stops - starts).tolist(),
    }
    table = sequence.numbers.reshape(rounds, -1)
    parts = [
        table[a:b][~np.isnan(table[a:b]).any(axis=1)] for a, b in zip(starts, stops, strict=True)
    ]
    if sequence.labels:
        for symbol, label in enumerate(sequence.labels):
            result[f"p({label})"] = [_mean(part[:, 0] == symbol) for part in parts]
        return result
    for k, name in enumerate(sequence.encoding.number_columns):
        result[f"mean {name}".strip()] = [_mean(part[:, k]) for part in parts]
        result[f"deviation {name}".strip()] = [
            float(part[:, k].std()) if len(part) else np.nan for part in parts
        ]
    return result


def _when(time: tuple[Any, ...] | None, round_: int) -> Any:
    return round_ if time is None else time[round_]


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")
