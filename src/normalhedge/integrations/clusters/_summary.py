"""The summary of a table that was blended in parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from normalhedge.boundary import number_tables
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.mixtures.state import sum_rows
from normalhedge.tables import Blend


class PartSums(NamedTuple):
    """The sums of a part of a table."""

    series: int  # the number of series
    names: tuple[str, ...]  # the names of the experts
    # experts, totals: sums x experts, and sums; see `normalhedge.mixtures.state.sum_rows`
    experts: Floats
    totals: Floats


NOTHING = PartSums(0, (), np.zeros((sum_rows.CROSSED + 1, 0)), np.zeros(sum_rows.TOTAL_SUMS))
"""The sums of a part without rows."""


class ClusterExpert(NamedTuple):
    """An expert in all series together."""

    name: str
    # weight, awake: its mean weight over all rows, and the share of rows in which it was awake
    weight: float
    awake: float
    # loss, blend_loss: its mean loss, and the mean loss of the blend in the same rows; NaN if
    # it has no settled row
    loss: float
    blend_loss: float


@dataclass(frozen=True)
class ClusterSummary:
    """All series of a table that was blended in parts; ``print`` shows it as a table.

    Its means are sums over the parts, in their order. They do not depend on the workers; other
    parts change them in the last digits.

    Attributes
    ----------
    series, rows
        The numbers of series and of rows.
    settled, silent
        The numbers of rows with an outcome, and of rows in which no expert was awake.
    blend, uniform
        The mean losses over all settled rows of the blend, and of uniform weights.
    experts
        The experts, by their mean weight.
    """

    series: int
    rows: int
    settled: int
    silent: int
    blend: float
    uniform: float
    experts: list[ClusterExpert]

    def __str__(self) -> str:
        """Return the numbers as text."""
        lines = [
            f"{self.series:,} series, {counted(self.rows, 'row')}, "
            f"{self.settled:,} of them with an outcome",
            f"mean loss {self.blend:.6g}, of uniform weights {self.uniform:.6g}",
        ]
        header = ["expert", "weight", "awake", "loss", "loss of the blend there"]
        rows = [[expert.name, *(f"{value:.4g}" for value in expert[1:])] for expert in self.experts]
        return "\n".join([*lines, "", *number_tables.as_text(header, rows)])


def sum_blend(blended: Blend) -> PartSums:
    """Return the sums of a blend."""
    totals = blended.totals.sum(axis=0)
    totals[sum_rows.REGRET :] = 0.0  # the largest, not sums
    experts = np.zeros((sum_rows.CROSSED + 1, len(blended.mixture.names)))
    experts[: blended.sums.shape[1]] = blended.sums.sum(axis=0)
    names = tuple(blended.mixture.names)
    return PartSums(len(np.unique(blended.rounds.items)), names, experts, totals)


def add_sums(parts: Sequence[PartSums]) -> PartSums:
    """Return the sums of several parts; an expert may be missing in some of them."""
    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    experts, totals = np.zeros((sum_rows.CROSSED + 1, len(names))), np.zeros(sum_rows.TOTAL_SUMS)
    place = {name: k for k, name in enumerate(names)}
    for part in parts:
        experts[:, [place[name] for name in part.names]] += part.experts
        totals += part.totals
    return PartSums(sum(part.series for part in parts), names, experts, totals)


def summarise(parts: Sequence[PartSums]) -> ClusterSummary:
    """Return the summary of all parts."""
    series, names, experts, totals = add_sums(parts)
    rows, settled = totals[sum_rows.ROWS], totals[sum_rows.SETTLED]
    found = [
        ClusterExpert(
            name,
            _ratio(one[sum_rows.WEIGHT], rows),
            _ratio(one[sum_rows.AWAKE], rows),
            _ratio(one[sum_rows.LOSS], one[sum_rows.SCORED]),
            _ratio(one[sum_rows.BLEND_LOSS], one[sum_rows.SCORED]),
        )
        for name, one in zip(names, experts.T, strict=True)
    ]
    return ClusterSummary(
        series,
        int(rows),
        int(settled),
        int(totals[sum_rows.SILENT]),
        _ratio(totals[sum_rows.BLEND], settled),
        _ratio(totals[sum_rows.UNIFORM], settled),
        sorted(found, key=lambda one: -one.weight),
    )


def _ratio(total: float, count: float) -> float:
    return float(total / count) if count else float("nan")
