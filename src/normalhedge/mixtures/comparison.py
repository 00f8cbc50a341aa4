"""The blend and its yardsticks, in numbers and in words."""

from dataclasses import dataclass
from math import expm1, isnan, nan
from typing import NamedTuple

WORSE, ENOUGH = 0.02, 100
"""By how much of its loss a plain combination must be better, and in how many rows at least, for a
warning."""

MANY = 2.0
"""From which ratio on losses are said to be so many times as large."""

GAP = 1e-4
"""How near the best convex combination is to the least, relative to it, is shown from here on."""

PLAIN_MEAN, PLAIN_MEDIAN, PLAIN_VOTE = "plain mean", "plain median", "plain vote"
BEST_EXPERT, BEST_CONVEX = "best expert", "best convex combination"


class Line(NamedTuple):
    """The mean loss of something in the rows that are compared; NaN where it has none."""

    name: str
    loss: float
    mae: float = nan
    rmse: float = nan
    remark: str = ""


@dataclass(frozen=True)
class Comparison:
    """The blend and its yardsticks, all in the same rows.

    Attributes
    ----------
    loss
        What the mixture's loss is called.
    rows
        How many rows they are.
    since, rounds
        See `Settled`.
    lines
        The blend, the plain combinations, the best expert and the best convex combination.
    gap
        How much too large the loss of the last may be; see `best_convex`.
    component_losses, component_rows
        The mean losses of the components of an automatic mixture, and in how many rows: those in
        which all of them spoke.
    """

    loss: str
    rows: int
    since: int | None
    rounds: int
    lines: tuple[Line, ...]
    gap: float = nan
    component_losses: tuple[float, ...] = ()
    component_rows: int = 0

    def loss_of(self, name: str) -> float:
        """Return the mean loss of a line; NaN where there is none of that name."""
        return next((line.loss for line in self.lines if line.name == name), nan)

    @property
    def where(self) -> str:
        """Which rows they are, in words."""
        rows = f"{self.rows:,} row{'s' * (self.rows != 1)}"
        if self.since is None:
            return f"{rows} of the table"
        return f"{rows} of the last {self.rounds:,} settled rounds, since round {self.since:,}"

    @property
    def warning(self) -> str:
        """A sentence where the blend was clearly worse than a plain combination; else empty."""
        if self.rows < ENOUGH:
            return ""
        plain = [x for x in self.lines if x.name in {PLAIN_MEAN, PLAIN_MEDIAN, PLAIN_VOTE}]
        own = self.lines[0].loss
        if self.loss == "log-wealth":
            less = -expm1(self.rows * (plain[0].loss - own))
            words = f"the blend made {percent(less)} less than the {plain[0].name}"
            return f"{words}, over {self.where}" if less > WORSE else ""
        behind = [_more(own, x) for x in plain if own - x.loss > WORSE * abs(x.loss)]
        return f"the blend lost {' and '.join(behind)}, over {self.where}" if behind else ""

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return a head and rows of text; columns in which there is nothing are left out."""
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
        """Return how much less than the best combination found there may be, if that matters."""
        least = GAP * max(abs(line.loss), 1e-6 * abs(self.loss_of(PLAIN_MEAN)))
        unsure = line.name == BEST_CONVEX and self.gap > least
        return f"; the least may be {self.gap:.2g} less" if unsure else ""


def _more(own: float, line: Line) -> str:
    if line.loss == 0.0:
        return f"{own:.4g} where the {line.name} lost nothing"
    share = (own - line.loss) / abs(line.loss)
    words = f"{percent(share)} more than" if share < MANY else f"{1.0 + share:.3g} times as much as"
    return f"{words} the {line.name} ({own:.4g} against {line.loss:.4g})"


def percent(share: float) -> str:
    """Return a share in words."""
    points = 100.0 * share
    return f"{points:,.0f} %" if points >= 9.95 else f"{points:.1f} %"


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.6g}"
