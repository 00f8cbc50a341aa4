"""The comparison of the blend with its yardsticks, in numbers and in words."""

from dataclasses import dataclass
from math import expm1, isnan, nan
from typing import NamedTuple

from normalhedge.mixtures.losses import PLAIN_MEAN, PLAIN_MEDIAN, PLAIN_VOTE

WORSE, ENOUGH = 0.02, 100
"""A warning needs a plain combination whose loss is smaller by more than this share, over at least
this many rows."""

MANY = 2.0
"""Losses that exceed others by this factor are described as a multiple, not in percent."""

GAP = 1e-4
"""The possible error of the best convex combination is shown if it exceeds this share of its
loss."""

BEST_EXPERT, BEST_CONVEX = "best expert", "best convex combination"


class Line(NamedTuple):
    """A line of a comparison: mean losses over the rows compared."""

    name: str  # the blend, or one of its yardsticks
    loss: float  # the mean loss, by the loss of the mixture
    # mae, rmse: the mean absolute error and the root mean square error; NaN if they have no meaning
    mae: float = nan
    rmse: float = nan
    remark: str = ""  # an explanation for the reader


@dataclass(frozen=True)
class Comparison:
    """The blend and its yardsticks, all over the same rows."""

    loss: str  # the name of the mixture's loss
    rows: int  # the number of rows
    # since, rounds: see `Settled`
    since: int | None
    rounds: int
    # the blend, the plain combinations, the best expert and the best convex combination
    lines: tuple[Line, ...]
    # an upper bound on the error of the loss of the best convex combination; see `best_convex`
    gap: float = nan
    # component_losses, component_rows: the mean losses of the components of an automatic mixture
    # over the rows in which all of them made a forecast, and the number of these rows
    component_losses: tuple[float, ...] = ()
    component_rows: int = 0
    of_wealth: bool = False  # whether losses are logarithms of wealth

    def loss_of(self, name: str) -> float:
        """Return the mean loss of a line; NaN if no line has this name."""
        return next((line.loss for line in self.lines if line.name == name), nan)

    @property
    def where(self) -> str:
        """A description of the rows, such as ``120 rows of the table``."""
        rows = f"{self.rows:,} row{'s' * (self.rows != 1)}"
        if self.since is None:
            return f"{rows} of the table"
        return f"{rows} of the last {self.rounds:,} settled rounds, since round {self.since:,}"

    @property
    def warning(self) -> str:
        """A sentence if the blend was clearly worse than a plain combination; empty otherwise."""
        if self.rows < ENOUGH:
            return ""
        plain = [x for x in self.lines if x.name in {PLAIN_MEAN, PLAIN_MEDIAN, PLAIN_VOTE}]
        own = self.lines[0].loss
        if self.of_wealth:
            less = -expm1(self.rows * (plain[0].loss - own))
            words = f"the blend made {percent(less)} less than the {plain[0].name}"
            return f"{words}, over {self.where}" if less > WORSE else ""
        behind = [_more(own, x) for x in plain if own - x.loss > WORSE * abs(x.loss)]
        return f"the blend lost {' and '.join(behind)}, over {self.where}" if behind else ""

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return a header and rows of text; empty columns are left out."""
        columns = {
            f"{self.loss} loss": [_number(line.loss) for line in self.lines],
            "MAE": [_number(line.mae) for line in self.lines],
            "RMSE": [_number(line.rmse) for line in self.lines],
            "": [line.remark + self._doubt(line) for line in self.lines],
        }
        used = {head: cells for head, cells in columns.items() if any(cells)}
        names = [line.name for line in self.lines]
        body = [list(row) for row in zip(names, *used.values(), strict=True)]
        return ["", *used], body

    def _doubt(self, line: Line) -> str:
        """Return a remark on the possible error of the best convex combination, if it matters."""
        least = GAP * max(abs(line.loss), 1e-6 * abs(self.loss_of(PLAIN_MEAN)))
        unsure = line.name == BEST_CONVEX and self.gap > least
        return f"; the least loss may be {self.gap:.2g} smaller" if unsure else ""


def _more(own: float, line: Line) -> str:
    if line.loss == 0.0:
        return f"{own:.4g} where the {line.name} lost nothing"
    share = (own - line.loss) / abs(line.loss)
    words = f"{percent(share)} more than" if share < MANY else f"{1.0 + share:.3g} times as much as"
    return f"{words} the {line.name} ({own:.4g} against {line.loss:.4g})"


def percent(share: float) -> str:
    """Return a share in percent, as text."""
    points = 100.0 * share
    return f"{points:,.0f} %" if points >= 9.95 else f"{points:.1f} %"


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.6g}"
