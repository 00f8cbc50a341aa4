"""What a person wants to see of a mixture."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from normalhedge import _tables
from normalhedge._inputs import Floats
from normalhedge._terminal import shown
from normalhedge.certificates import Bound
from normalhedge.certificates.bounds import at_most
from normalhedge.mixtures.comparison import BEST_CONVEX, Comparison

SHOWN = 20
"""How many experts are printed."""

SMALL = 0.03
"""Components with less weight than this are summed up."""

NAMED = 5
"""Of how many experts it is told how many of their forecasts the guard moved."""

Table = tuple[list[str], list[list[str]]]
"""A head, and rows."""


class ComponentRow(NamedTuple):
    """A way of combining of an automatic mixture: its weight now, and its mean loss."""

    name: str
    weight: float
    loss: float


@dataclass(frozen=True)
class ExpertRow:
    """An expert, as it stands.

    Attributes
    ----------
    weight
        What it would be given now, were everybody awake; the mean over the series if each has its
        own weights.
    loss, blend_loss
        Its mean loss, and that of the blend in the same rows; NaN if it was never settled.
    regret
        The discounted regret to it, in units of gain; the largest over the series. NaN for an
        automatic mixture, whose regrets are to ways of combining.
    awake
        The share of rows in which it was awake.
    last_seen, since
        The round in which it was last awake, and since which it carries at least a uniform share
        of the weight; none if it does not.
    """

    name: str
    weight: float
    loss: float
    blend_loss: float
    regret: float
    awake: float
    last_seen: int | None
    since: int | None


@dataclass(frozen=True)
class Summary:
    """A mixture, its experts and its yardsticks; ``print`` and notebooks show it as tables.

    Attributes
    ----------
    settings
        What was configured, in one line.
    rounds, rows, settled, silent, pending, expired
        How many rounds and rows were predicted, rows settled, rows in which nobody was awake,
        rounds that wait for their outcome, and rounds that were given up.
    blend, uniform
        The mean losses of the blend and of uniform weights over those awake, over all settled rows.
    best
        The expert with the best loss relative to the blend in the same rows, of those often awake.
    comparison
        The blend beside plain combinations, the best expert and the best convex combination, in
        the rows of the table or in those that the mixture keeps in its ``history``.
    automatic
        Whether it hedges over ways of combining.
    components
        These ways, sorted by weight; none of a single rule.
    moved
        How many forecasts of which expert the guard moved, the most first.
    regret, bound
        The largest regret so far, in units of gain, and what is promised of it; of an automatic
        mixture, how far the blend is behind one of its components, in units of the bound's own.
    ranges
        How much a gain from -1 to 1 is in losses, where there is one item.
    experts
        Sorted by weight.
    """

    settings: str
    rounds: int
    rows: int
    settled: int
    silent: int
    pending: int
    expired: int
    blend: float
    uniform: float
    best: ExpertRow | None
    comparison: Comparison
    automatic: bool
    components: list[ComponentRow]
    moved: list[tuple[str, int]]
    regret: float
    bound: Bound
    ranges: Floats
    experts: list[ExpertRow]

    @property
    def convex(self) -> float:
        """The mean loss of the best convex combination in hindsight, in the rows compared."""
        return self.comparison.loss_of(BEST_CONVEX)

    @property
    def convex_gap(self) -> float:
        """How much too large that may be; see `best_convex`."""
        return self.comparison.gap

    @property
    def convex_blend(self) -> float:
        """The mean loss of the blend in the rows compared."""
        return self.comparison.loss_of("blend")

    @property
    def convex_rows(self) -> int:
        """How many rows are compared."""
        return self.comparison.rows

    @property
    def warning(self) -> str:
        """A sentence where the blend is clearly worse than a plain combination; else empty."""
        found = self.comparison.warning
        if found and not self.automatic:
            found += "; auto, the default, hedges over plain combinations, too"
        return found

    @property
    def guarded(self) -> str:
        """A sentence about the forecasts that the guard moved; empty where there are none."""
        if not self.moved:
            return ""
        total = sum(count for _, count in self.moved)
        parts = [f"{count:,} of {name}" for name, count in self.moved[:NAMED]]
        others = self.moved[NAMED:]
        if others:
            parts.append(f"{sum(count for _, count in others):,} of {len(others)} others")
        return (
            f"the guard moved {total:,} absurd forecast{'s' * (total != 1)}: {', '.join(parts)}; "
            "auto:guard=false switches it off"
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return the numbers about the whole."""
        silent = f", {self.silent:,} with nobody awake" if self.silent else ""
        waiting = f"{self.pending:,}" + (f", {self.expired:,} expired" if self.expired else "")
        facts = [
            ("rounds", f"{self.rounds:,} ({self.rows:,} rows{silent})"),
            ("waiting for outcomes", waiting),
        ]
        if self.settled > self.comparison.rows:
            losses = f"blend {self.blend:.6g}, uniform weights {self.uniform:.6g}"
            facts.append(("mean loss, all rows", f"{losses} ({self.settled:,} rows)"))
        limit = f", never above {at_most(self.bound.regret, 4)}" if self.bound else ""
        if self.automatic:
            behind = f"{max(self.regret, 0.0):.4g} at most{limit} ({self.bound.source})"
            return [*facts, ("behind a component", behind)]
        facts += [
            ("largest regret", f"{self.regret:.4g} units of gain{limit}"),
            ("bound", self.bound.source),
        ]
        if len(self.ranges) == 1 and self.ranges[0] > 0:
            facts.append(("range of losses", f"{self.ranges[0]:.4g}"))
        return facts

    def component_table(self) -> Table:
        """Return the components that carry weight as a header and rows, the others summed up."""
        large = [row for row in self.components if row.weight >= SMALL]
        small = self.components[len(large) :]
        body = [[row.name, f"{row.weight:.3f}", _number(row.loss)] for row in large]
        if small:
            body.append([f"{len(small)} others", f"{sum(row.weight for row in small):.3f}", ""])
        return ["component", "weight", "mean loss"], body

    def table(self) -> Table:
        """Return the experts as a header and rows of text."""
        columns: dict[str, Callable[[ExpertRow], str]] = {
            "expert": lambda row: row.name,
            "weight": lambda row: f"{row.weight:.3f}",
            "loss": lambda row: _number(row.loss),
            "blend there": lambda row: _number(row.blend_loss),
            "regret": lambda row: f"{row.regret:.3g}",
            "awake": lambda row: f"{row.awake:.0%}",
            "last seen": lambda row: "never" if row.last_seen is None else f"{row.last_seen:,}",
            "carries since": lambda row: "" if row.since is None else f"{row.since:,}",
        }
        if self.automatic:
            del columns["regret"]
        body = [[cell(row) for cell in columns.values()] for row in self.experts[:SHOWN]]
        return list(columns), body

    def tables(self) -> list[tuple[str, Table]]:
        """Return all tables with their titles: the yardsticks, the components, the experts."""
        found = []
        if self.comparison.rows:
            found.append((f"means over {self.comparison.where}", self.comparison.table()))
        if self.components:
            rows = self.comparison.component_rows
            where = f"; mean losses over {rows:,} row{'s' * (rows != 1)}" if rows else ""
            found.append((f"weights of the components now{where}", self.component_table()))
        return [*found, ("", self.table())]

    def __str__(self) -> str:
        """Return it for a terminal."""
        lines = [self.settings]
        lines += [f"  Warning: {self.warning}."] if self.warning else []
        lines += [f"  {name:<24}{text}" for name, text in self.facts()]
        lines += [f"  {self.guarded}"] if self.guarded else []
        for title, (head, body) in self.tables():
            lines += ["", *([f"  {title}"] if title else [])]
            lines += [f"  {line}".rstrip() for line in _tables.as_text(head, body)]
        if len(self.experts) > SHOWN:
            lines.append(f"  ... and {len(self.experts) - SHOWN} more")
        return "\n".join(shown(line) for line in lines)

    def _repr_html_(self) -> str:
        """Return it for a notebook."""
        facts = "".join(f"<tr><th>{a}</th><td>{html.escape(b)}</td></tr>" for a, b in self.facts())
        parts = [f"<p><b>{html.escape(self.settings)}</b></p>"]
        parts += [f"<p><b>Warning: {html.escape(self.warning)}.</b></p>"] if self.warning else []
        parts.append(f"<table>{facts}</table>")
        parts += [f"<p>{html.escape(self.guarded)}</p>"] if self.guarded else []
        for title, table in self.tables():
            parts += [f"<p>{html.escape(title)}</p>"] if title else []
            parts.append(_as_html(*table))
        return "".join(parts)


def _as_html(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in body
    )
    return f"<table><tr>{top}</tr>{rows}</table>"


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"
