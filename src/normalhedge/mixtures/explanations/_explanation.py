"""The explanation of a blend, for people: as text and as HTML."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

from normalhedge.boundary import number_tables
from normalhedge.boundary.terminal import shown
from normalhedge.mixtures.alerts import Alert

SHOWN = 8
"""The number of experts and of moves that are printed."""

MANY_TIMES = 10.0
"""From this share on, a larger loss is told as a multiple, not in percent."""

AGAIN = "blended again without it"
ESTIMATE = "an estimate: its weight is shared out among the others, who keep theirs otherwise"
"""How the cost of an absence is found."""


class WeightChange(NamedTuple):
    """An expert whose weight changed."""

    name: str
    # before, after: its weight at the beginning and at the end
    before: float
    after: float
    since: Any  # the round, or the time, from which on the weight is nearer to the end


class Move(NamedTuple):
    """A round whose outcome moved the weights, or a stretch of rounds."""

    label: Any  # the number of the round, or its time
    moved: float  # the weight that changed hands
    # gained, lost: the experts whose weights rose and fell most
    gained: str
    lost: str
    # their mean losses in the round; NaN if they have none
    gained_loss: float
    lost_loss: float


class Absence(NamedTuple):
    """The cost of leaving an expert out."""

    name: str
    cost: float  # by how much the mean loss of the blend would have been larger
    share: float  # the same, as a share of the mean loss of the blend


@dataclass(frozen=True)
class Explanation:
    """Who has changed, and why; ``print`` and notebooks show it as tables.

    Attributes
    ----------
    where
        The rounds that are explained, in words.
    changes
        The experts whose weights changed, largest change first.
    moves
        The rounds that moved the weights most, largest first.
    absences
        The cost of leaving each expert out, largest first; negative if the blend would have been
        better without it.
    method
        How the costs were found: by blending again, or by an estimate.
    alerts
        The alerts of the summary.
    """

    where: str
    changes: tuple[WeightChange, ...]
    moves: tuple[Move, ...]
    absences: tuple[Absence, ...]
    method: str
    alerts: tuple[Alert, ...] = ()

    def tables(self) -> list[tuple[str, tuple[list[str], list[list[str]]]]]:
        """Return the tables with their titles."""
        changes = [
            [row.name, f"{row.before:.3f}", f"{row.after:.3f}", _label(row.since)]
            for row in self.changes[:SHOWN]
        ]
        moves = [
            [
                _label(row.label), f"{row.moved:.3f}", row.gained, _number(row.gained_loss),
                row.lost, _number(row.lost_loss),
            ]
            for row in self.moves[:SHOWN]
        ]  # fmt: skip
        absences = [
            [row.name, f"{row.cost:+.4g}", _percent(row.share)] for row in self.absences[:SHOWN]
        ]
        tables = [
            (
                f"weights, {self.where}",
                (["expert", "before", "after", "changed since"], changes),
            ),
            (
                "the rounds that moved the weights most",
                (["round", "weight moved", "gained", "its loss", "lost", "its loss"], moves),
            ),
            (
                f"the mean loss without an expert ({self.method})",
                (["without", "change of loss", "in percent"], absences),
            ),
        ]
        return [table for table in tables if table[1][1]]

    def __str__(self) -> str:
        """Return the explanation as text."""
        lines = [f"Alert: {alert.text}." for alert in self.alerts]
        tables = self.tables()
        if not tables:
            lines.append(f"There is nothing to explain: {self.where}.")
        for title, (head, body) in tables:
            lines += [""] * bool(lines) + [title]
            lines += [line.rstrip() for line in number_tables.as_text(head, body)]
        return "\n".join(shown(line) for line in lines)

    def _repr_html_(self) -> str:
        """Return the explanation as HTML, for a notebook."""
        parts = [f"<p><b>Alert: {html.escape(alert.text)}.</b></p>" for alert in self.alerts]
        for title, (head, body) in self.tables():
            rows = "".join(_row("td", cells) for cells in body)
            parts.append(f"<p>{html.escape(title)}</p><table>{_row('th', head)}{rows}</table>")
        return "".join(parts)


def _row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _label(label: Any) -> str:
    return f"{label:,}" if isinstance(label, int) else str(label)


def _percent(share: float) -> str:
    return f"{share:+.1%}" if share < MANY_TIMES else f"{1.0 + share:,.0f} times"


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.4g}"
