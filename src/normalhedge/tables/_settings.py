"""The settings of a blend: the mixture that fits a table, and the lag of its outcomes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.rules import Automatic, hedger_of, is_automatic, with_memory
from normalhedge.tables._rounds import NEVER
from normalhedge.tables.frames import Columns, Panel, as_tuple, count_experts
from normalhedge.tables.quantiles import QuantileTable, quantile_options


def tuned_options(
    table: Any, columns: Columns, options: dict[str, Any], found: QuantileTable | None
) -> dict[str, Any]:
    """Return the options of a new mixture, its hedger tuned by the number of experts."""
    if found is not None:
        options = quantile_options(found.levels, options)
    plain = as_tuple(options.get("include", ()))  # it may be an iterator, and is read twice
    rest = {k: v for k, v in options.items() if k not in {"memory", "half_life"}}
    hedger = with_memory(options.get("hedger"), options.get("memory"), options.get("half_life"))
    if isinstance(hedger, str) and not is_automatic(hedger):
        hedger = hedger_of(hedger, count_experts(table, columns) + len(plain))
    return {**rest, "include": plain, "hedger": hedger}


def pooled_mixture(
    mixture: Mixture,
    columns: Columns,
    panel: Panel,
    pooled: bool | None,  # noqa: FBT001
    continued: bool,  # noqa: FBT001
    options: Mapping[str, Any],
) -> Mixture:
    """Return the mixture with all series of one time in one round, or with a game for each series.

    An automatic mixture has both if the series are in step: otherwise a lag would be another time
    for each series.
    """
    shared = not columns.by and columns.cutoff is None
    if not shared and pooled is None and continued:
        shared = mixture.settings.shared
    elif not shared and pooled is None:
        in_step = _in_step(panel.series, panel.times)
        shared = in_step and isinstance(mixture.settings.hedger, Automatic)
    elif not shared:
        shared = bool(pooled)
    if mixture.settings.shared == shared:
        return mixture
    if continued:
        raise ValueError(f"the mixture is {'' if mixture.settings.shared else 'not '}pooled")
    return Mixture(shared=shared, **options)


def _in_step(series: np.ndarray, times: np.ndarray) -> bool:
    """Tell whether series have most of the times between their first and their last."""
    count = np.bincount(series)
    first, last = np.full(len(count), times.max()), np.zeros(len(count), dtype=times.dtype)
    np.minimum.at(first, series, times)
    np.maximum.at(last, series, times)
    return bool(2 * count.sum() >= (last - first + 1)[count > 0].sum())


def checked_lag(lag: int, columns: Columns) -> int:
    """Return the lag of a table; refuse one beside a cutoff."""
    if lag != 0 and columns.cutoff is not None:
        raise ValueError("lag and cutoff both say when outcomes are known: give one of them")
    try:
        return 0 if lag == 0 else min(inputs.count("lag", lag), NEVER)
    except ValueError:
        raise ValueError(f"lag must not be negative, got {lag}") from None
