"""The summary of a mixture, for people: as text and as HTML."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from normalhedge.boundary import number_tables
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import shown
from normalhedge.guarantees import Bound, at_most
from normalhedge.mixtures.alerts import Alert
from normalhedge.mixtures.summaries._comparison import BEST_CONVEX, Comparison

SHOWN = 20
"""The number of experts that are printed."""

SMALL = 0.03
"""Components with less weight than this share one line."""

NAMED = 5
"""The sentence about the guard names this many experts."""

Table = tuple[list[str], list[list[str]]]
"""A header, and rows."""


class ComponentRow(NamedTuple):
    """A component of an automatic mixture, with its present weight and its mean loss."""

    name: str
    weight: float
    loss: float


@dataclass(frozen=True)
class ExpertRow:
    """An expert at the end of the last round."""

    name: str
    # its present weight, as if all experts were awake that did not retire; the mean over the series
    # if each has its own weights
    weight: float
    # loss, blend_loss: its mean loss, and the blend's over the same rows; NaN if it has no
    # settled row
    loss: float
    blend_loss: float
    # The present regret to it in units of the loss, discounted as the hedger forgets; the largest
    # over the series. NaN for an automatic mixture, whose regrets are to ways of combining.
    regret: float
    awake: float  # the share of rows in which it was awake
    last_seen: int | None  # the round in which it was last awake; None if it never was
    # the round since which its weight has been at least the uniform weight; None if it is
    # smaller now
    since: int | None
    retired: bool = False  # whether its forecasts are not used any more


@dataclass(frozen=True)
class Summary:
    """A mixture, its experts and its yardsticks; ``print`` and notebooks show it as tables.

    Attributes
    ----------
    settings
        The settings of the mixture, in one line.
    rounds, rows
        The numbers of rounds and of rows that were predicted.
    settled, silent
        The numbers of rows with an outcome, and of rows in which no expert was awake.
    pending, expired
        The numbers of rounds that wait for their outcomes, and of rounds that were given up.
    blend, uniform
        The mean losses over all settled rows of the blend, and of uniform weights over the experts
        awake.
    best
        The expert, among those often awake, with the smallest loss relative to the blend over the
        same rows; None if there is none.
    comparison
        The blend compared with plain combinations, the best expert and the best convex combination,
        over the rows of the table or of the ``history`` of the mixture.
    automatic
        Whether the mixture is automatic: a hedger over ways of combining.
    components
        The ways of combining of an automatic mixture, sorted by weight; a single rule has none.
    moved
        Experts with the number of their forecasts that the guard moved, largest first.
    crossed
        Experts with the number of their quantile forecasts that crossed and were sorted, largest
        first.
    covered
        For each level of the intervals: the level, the share of outcomes covered, and how many
        outcomes were counted, over all rounds of the mixture. Empty without intervals.
    regret, bound
        The largest present regret to an expert and its bound, both in the unit that the bound
        names: the loss. For an automatic mixture, to a component.
    ranges
        The range of losses of each item: the difference of losses between the gains -1 and 1.
    experts
        The experts, sorted by weight.
    alerts
        Experts that got worse, that stopped, or that repeat another one.
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
    crossed: list[tuple[str, int]]
    covered: list[tuple[float, float, int]]
    regret: float
    bound: Bound
    ranges: Floats
    experts: list[ExpertRow]
    alerts: tuple[Alert, ...]

    @property
    def convex(self) -> float:
        """The mean loss of the best convex combination in hindsight, over the rows compared."""
        return self.comparison.loss_of(BEST_CONVEX)

    @property
    def convex_gap(self) -> float:
        """An upper bound on the error of `convex`; see `best_convex`."""
        return self.comparison.gap

    @property
    def convex_blend(self) -> float:
        """The mean loss of the blend over the rows compared."""
        return self.comparison.loss_of("blend")

    @property
    def convex_rows(self) -> int:
        """The number of rows compared."""
        return self.comparison.rows

    @property
    def warning(self) -> str:
        """A sentence if the blend was clearly worse than a plain combination; empty otherwise."""
        sentence = self.comparison.warning
        if sentence and not self.automatic:
            sentence += "; auto, the default, hedges over plain combinations, too"
        return sentence

    @property
    def guarded(self) -> str:
        """A sentence about the forecasts that the guard moved; empty if there are none."""
        if not self.moved:
            return ""
        total, parts = _describe_counts(self.moved)
        return (
            f"the guard moved {total:,} absurd forecast{'s' * (total != 1)}: {parts}; "
            "auto:guard=false switches it off"
        )

    @property
    def rearranged(self) -> str:
        """A sentence about the quantiles that crossed; empty if there are none."""
        if not self.crossed:
            return ""
        total, parts = _describe_counts(self.crossed)
        some = f"{total:,} forecast{'s' * (total != 1)}"
        return f"the quantiles of {some} crossed and were sorted: {parts}"

    @property
    def corrected(self) -> str:
        """A sentence about the corrections of the blend; empty without them."""
        shift = self.comparison.shift
        if np.isnan(shift):
            return ""
        return (
            f"corrections moved the last forecasts by {shift:+.3g} in the mean; "
            "auto:inside=true keeps the blend within the forecasts"
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return the numbers about the whole mixture, each with its label."""
        silent = f", {self.silent:,} without any expert awake" if self.silent else ""
        waiting = f"{self.pending:,}" + (f", {self.expired:,} expired" if self.expired else "")
        facts = [
            ("rounds", f"{self.rounds:,} ({self.rows:,} rows{silent})"),
            ("waiting for outcomes", waiting),
        ]
        if self.settled > self.comparison.rows:
            losses = f"blend {self.blend:.6g}, uniform weights {self.uniform:.6g}"
            facts.append(("mean loss, all rows", f"{losses} ({self.settled:,} rows)"))
        for level, share, count in self.covered:
            share_text = f"{share:.1%} of {count:,} outcomes" if count else "no outcome counted yet"
            facts.append((f"{100.0 * level:.10g} % interval covers", share_text))
        limit = f", at most {at_most(self.bound.regret, 4)}" if self.bound else ""
        unit = f" {self.bound.unit}" if self.bound.unit else ""
        name = "regret to a component" if self.automatic else "largest regret"
        facts.append((name, f"{self.regret:.4g}{limit}{unit}"))
        facts.append(("bound", self.bound.source))
        if self.automatic:
            return facts
        if len(self.ranges) == 1 and self.ranges[0] > 0:
            facts.append(("range of losses", f"{self.ranges[0]:.4g}"))
        return facts

    def component_table(self) -> Table:
        """Return the components as a header and rows of text; small ones share the last row."""
        large = [row for row in self.components if row.weight >= SMALL]
        small = self.components[len(large) :]
        body = [[row.name, f"{row.weight:.3f}", _number(row.loss)] for row in large]
        if small:
            body.append([f"{len(small)} others", f"{sum(row.weight for row in small):.3f}", ""])
        return ["component", "weight", "mean loss"], body

    def table(self) -> Table:
        """Return the experts as a header and rows of text."""
        columns: dict[str, Callable[[ExpertRow], str]] = {
            "expert": lambda row: row.name + " (retired)" * row.retired,
            "weight": lambda row: f"{row.weight:.3f}",
            "loss": lambda row: _number(row.loss),
            "blend, same rows": lambda row: _number(row.blend_loss),
            "regret": lambda row: f"{row.regret:.3g}",
            "awake": lambda row: f"{row.awake:.0%}",
            "last seen": lambda row: "never" if row.last_seen is None else f"{row.last_seen:,}",
            "above uniform since": lambda row: "" if row.since is None else f"{row.since:,}",
        }
        if self.automatic:
            del columns["regret"]
        body = [[cell(row) for cell in columns.values()] for row in self.experts[:SHOWN]]
        return list(columns), body

    def tables(self) -> list[tuple[str, Table]]:
        """Return all tables with their titles: the yardsticks, the components, the experts."""
        tables = []
        if self.comparison.rows:
            tables.append((f"means over {self.comparison.where}", self.comparison.table()))
        if self.components:
            rows = self.comparison.component_rows
            where = f"; mean losses over {rows:,} row{'s' * (rows != 1)}" if rows else ""
            tables.append((f"weights of the components now{where}", self.component_table()))
        return [*tables, ("", self.table())]

    def __str__(self) -> str:
        """Return the summary as text."""
        lines = [self.settings]
        lines += [f"  Warning: {self.warning}."] if self.warning else []
        lines += [f"  Alert: {alert.text}." for alert in self.alerts]
        lines += [f"  {name:<24}{text}" for name, text in self.facts()]
        sentences = (self.corrected, self.guarded, self.rearranged)
        lines += [f"  {sentence}" for sentence in sentences if sentence]
        for title, (head, body) in self.tables():
            lines += ["", *([f"  {title}"] if title else [])]
            lines += [f"  {line}".rstrip() for line in number_tables.as_text(head, body)]
        if len(self.experts) > SHOWN:
            lines.append(f"  ... and {len(self.experts) - SHOWN} more")
        return "\n".join(shown(line) for line in lines)

    def _repr_html_(self) -> str:
        """Return the summary as HTML, for a notebook."""
        facts = "".join(f"<tr><th>{a}</th><td>{html.escape(b)}</td></tr>" for a, b in self.facts())
        parts = [f"<p><b>{html.escape(self.settings)}</b></p>"]
        parts += [f"<p><b>Warning: {html.escape(self.warning)}.</b></p>"] if self.warning else []
        parts += [f"<p><b>Alert: {html.escape(alert.text)}.</b></p>" for alert in self.alerts]
        parts.append(f"<table>{facts}</table>")
        sentences = (self.corrected, self.guarded, self.rearranged)
        parts += [f"<p>{html.escape(sentence)}</p>" for sentence in sentences if sentence]
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


def _describe_counts(counts: Sequence[tuple[str, int]]) -> tuple[int, str]:
    """Return the sum of counts, and the counts of the first names in words."""
    parts = [f"{count:,} of {name}" for name, count in counts[:NAMED]]
    others = counts[NAMED:]
    if others:
        parts.append(f"{sum(count for _, count in others):,} of {len(others)} others")
    return sum(count for _, count in counts), ", ".join(parts)
