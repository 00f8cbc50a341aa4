"""The settings of a blend: the mixture that fits a table, and the lag of its outcomes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.losses import Loss, crps
from normalhedge.mixtures.rules import (
    Automatic,
    hedger_of,
    is_automatic,
    levels_of,
    with_memory,
)
from normalhedge.tables._rounds import NEVER
from normalhedge.tables.frames import Columns, Panel, as_tuple, count_experts
from normalhedge.tables.quantiles import QuantileTable


def tune_options(
    table: Any, columns: Columns, options: dict[str, Any], quantiles: QuantileTable | None
) -> dict[str, Any]:
    """Return the options of a new mixture, its hedger tuned by the number of experts."""
    if quantiles is not None:
        options = {**options, "loss": _quantile_loss(quantiles.levels, options.get("loss"))}
    plain = as_tuple(options.get("include", ()))  # it may be an iterator, and is read twice
    rest = {k: v for k, v in options.items() if k not in {"memory", "half_life"}}
    hedger = with_memory(options.get("hedger"), options.get("memory"), options.get("half_life"))
    if isinstance(hedger, str) and not is_automatic(hedger):
        hedger = hedger_of(hedger, count_experts(table, columns) + len(plain))
    return {**rest, "include": plain, "hedger": hedger}


def _quantile_loss(levels: tuple[float, ...], loss: Any) -> Loss:
    """Return the loss of quantile forecasts, which is the loss of their levels."""
    same = isinstance(loss, Loss) and tuple(sorted(loss.levels)) == levels
    if loss in {None, "pinball", "crps", "wis"} or (same and loss.name in {"pinball", "crps"}):
        return crps(levels)
    raise ValueError(
        f"this table has quantiles at {_list(levels)}, so its loss is the pinball loss at these "
        f"levels: leave out loss, got {loss if isinstance(loss, str | Loss) else 'a function'}"
    )


def check_loss(loss: Loss, columns: Columns, quantiles: QuantileTable | None) -> None:
    """Refuse a loss for other forecasts than a table has."""
    if quantiles is None and len(loss.levels) > 1:
        raise ValueError(
            f"loss {loss.name} at several levels needs a table with the quantile level of each "
            "forecast: name the column of levels with level, or the columns with quantiles"
        )
    if quantiles is not None and not loss.levels:
        raise ValueError(
            f"this table has quantiles at {_list(quantiles.levels)}, but the mixture has none: its "
            f"loss is {loss}"
        )
    if quantiles is not None and loss.levels != quantiles.levels:
        raise ValueError(
            f"the mixture has the levels {_list(loss.levels)}, and the table must have the same; "
            f"it has {_list(quantiles.levels)}"
        )
    if columns.of_classes != loss.of_classes:
        raise ValueError(
            f"loss {loss} needs {'class' if not columns.of_classes else 'numbers, not'}"
            " probabilities: see classes"
        )


def _list(levels: Sequence[float]) -> str:
    return " ".join(f"{level:g}" for level in levels)


def pool_mixture(
    mixture: Mixture,
    columns: Columns,
    panel: Panel,
    lag: int,
    pooled: bool | None,  # noqa: FBT001
    continued: bool,  # noqa: FBT001
    options: Mapping[str, Any],
) -> Mixture:
    """Return the mixture with all series of one time in one round, or with a game for each series.

    An automatic mixture has both. But where series have few times in common, a lag would be another
    time for each series than for the table: then each series has a game of its own.
    """
    shared = not columns.by and columns.cutoff is None
    if not shared and pooled is not None:
        shared = bool(pooled)
    elif not shared and continued:
        shared = mixture.settings.shared
    elif not shared and isinstance(mixture.settings.hedger, Automatic):
        shared = lag == 0 or in_step(panel.series, panel.times)
    if mixture.settings.shared == shared:
        return mixture
    if continued:
        raise ValueError(f"the mixture is {'' if mixture.settings.shared else 'not '}pooled")
    return Mixture(shared=shared, **options)


def describe_pooling(
    mixture: Mixture,
    columns: Columns,
    series: int,
    lag: int,
    *,
    pooled: bool | None,
    together: bool,
) -> list[str]:
    """Return a note on whether the series of a table share their weights.

    ``together``: whether they have most of their times in common.
    """
    if series < 2 or pooled is False or not isinstance(mixture.settings.hedger, Automatic):
        return []
    if not mixture.settings.shared:
        return [
            f"{series:,} series with few times in common, each with weights of its own alone: a "
            f"lag of {lag} is another time for each; pooled=True counts it in the times of all"
        ] * (lag > 0 and not together)
    choice = levels_of(mixture.live).choice[0]
    common = 100.0 * choice[0] / choice.sum() if choice.sum() > 0.0 else 75.0
    text = (
        f"{series:,} series pooled: in the end the blend follows the meta level of all series by "
        f"{common:.0f} %, and the meta level of each by {100.0 - common:.0f} %"
    )
    if columns.cutoff is not None or together:
        return [text]
    return [
        text,
        "the series have few times in common: an outcome counts from the next time of the table "
        "on, whichever series has that time; if it is known later, name a cutoff or pass "
        "pooled=False",
    ]


def in_step(series: np.ndarray, times: np.ndarray) -> bool:
    """Tell whether series have most of the times between their first and their last."""
    count = np.bincount(series)
    first, last = np.full(len(count), times.max()), np.zeros(len(count), dtype=times.dtype)
    np.minimum.at(first, series, times)
    np.maximum.at(last, series, times)
    return bool(2 * count.sum() >= (last - first + 1)[count > 0].sum())


def check_lag(lag: int, columns: Columns) -> int:
    """Return the lag of a table; refuse a lag together with a cutoff."""
    if lag != 0 and columns.cutoff is not None:
        raise ValueError("lag and cutoff both set when outcomes are known: give one of them")
    try:
        return 0 if lag == 0 else min(inputs.count("lag", lag), NEVER)
    except ValueError:
        raise ValueError(f"lag must not be negative, got {lag}") from None
