"""The summary of a mixture, for people: as text and as HTML."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from normalhedge.boundary import notebook, number_tables
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted, shown
from normalhedge.guarantees import Bound, at_most
from normalhedge.mixtures.alerts import Alert
from normalhedge.mixtures.state import PLAIN
from normalhedge.mixtures.summaries._comparison import BEST_CONVEX, Comparison
from normalhedge.mixtures.summaries._contexts import ContextRow

SHOWN = 20
"""The number of experts that are printed."""

SMALL = 0.03
"""Components with less weight than this share one line."""

NAMED = 5
"""The sentence about the guard names this many experts."""

THEORY = "theory"
"""The heading of the regret and its bound, which stand below the results."""
ALONE, ENOUGH = 1.1, 10
"""With so few experts awake in the mean, over at least so many rows, weights cannot be learned."""

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
    # the round since which its weight has been at least the average weight of the experts; None if
    # it is smaller now
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
    contexts
        The contexts on which the weights depend: the name of each, the number of its values, its
        weight among the corrections, and by how much it moved the last forecasts.
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
    contexts: list[ContextRow]
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
    def partial(self) -> str:
        """A sentence if nearly every row had one expert awake only; empty otherwise."""
        shares = [row.awake for row in self.experts if row.name not in PLAIN.values()]
        predicted = 1.0 - self.silent / max(self.rows, 1)
        alone = sum(shares) <= ALONE * predicted
        if not alone or sum(share > 0.0 for share in shares) < 2 or self.rows < ENOUGH:
            return ""
        return (
            "nearly every row has a forecast of one expert only, so that the weights cannot learn "
            "which one is better: if it is the action that was chosen, feedback is partial, and "
            "choosing one action needs a method for that, such as EXP3"
        )

    @property
    def guarded(self) -> str:
        """A sentence about the forecasts that the guard moved; empty if there are none."""
        if not self.moved:
            return ""
        total, parts = _describe_counts(self.moved)
        return (
            f"the guard moved {counted(total, 'absurd forecast')}: {parts}; "
            "auto:guard=false switches it off"
        )

    @property
    def rearranged(self) -> str:
        """A sentence about the quantiles that crossed; empty if there are none."""
        if not self.crossed:
            return ""
        total, parts = _describe_counts(self.crossed)
        return f"the quantiles of {counted(total, 'forecast')} crossed and were sorted: {parts}"

    @property
    def headline(self) -> str:
        """A sentence if a few rows decide how good the blend looks; empty otherwise."""
        return self.comparison.headline

    def _remarks(self) -> tuple[str, ...]:
        return self.headline, self.corrected, self.by_context, self.guarded, self.rearranged

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

    @property
    def by_context(self) -> str:
        """A sentence about the contexts of the blend; empty without them."""
        if not self.contexts:
            return ""
        used = [row for row in self.contexts if row.weight >= SMALL]
        rest = ", ".join(row.name for row in self.contexts if row.weight < SMALL)
        if not used:
            return f"weights do not depend much on contexts that were tried: {rest}"
        parts = [f"the {row.name} ({row.values} value{'s' * (row.values != 1)})" for row in used]
        moves = [f"{row.moved:.3g}" for row in used if not np.isnan(row.moved)]
        return (
            f"weights depend on {' and '.join(parts)}"
            + (f", which moved the last forecasts by {' and '.join(moves)}" if moves else "")
            + (f"; less on {rest}" if rest else "")
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return the numbers about the whole mixture, each with its label."""
        silent = f", {self.silent:,} without any expert awake" if self.silent else ""
        rounds = f", in {counted(self.rounds, 'round')}" if self.rounds != self.rows else ""
        name = "rows" if rounds else "rounds"
        waiting = f"{self.pending:,}" + (f", {self.expired:,} expired" if self.expired else "")
        facts = [
            (name, f"{self.rows:,}{rounds}{silent}"),
            ("waiting for outcomes", waiting),
        ]
        if self.settled > self.comparison.rows:
            losses = f"blend {self.blend:.6g}, uniform weights {self.uniform:.6g}"
            facts.append(("mean loss, all rows", f"{losses} ({counted(self.settled, 'row')})"))
        for level, share, count in self.covered:
            of = counted(count, "outcome")
            share_text = f"{share:.1%} of {of}" if count else "no outcome counted yet"
            facts.append((f"{100.0 * level:.10g} % interval covers", share_text))
        return facts

    def theory(self) -> list[tuple[str, str]]:
        """Return the regret, its bound and the theorem behind it, each with its label."""
        limit = f", at most {at_most(self.bound.regret, 4)}" if self.bound else ""
        unit = f" {self.bound.unit}" if self.bound.unit else ""
        name = "regret to a component" if self.automatic else "largest regret"
        facts = [(name, f"{self.regret:.4g}{limit}{unit}"), ("bound", self.bound.source)]
        if not self.automatic and len(self.ranges) == 1 and self.ranges[0] > 0:
            facts.append(("range of losses", f"{self.ranges[0]:.4g}"))
        return facts

    def component_table(self) -> Table:
        """Return the components as a header and rows of text; small ones share the last row."""
        large = [row for row in self.components if row.weight >= SMALL]
        small = self.components[len(large) :]
        body = [[row.name, f"{row.weight:.3f}", _number(row.loss)] for row in large]
        if small:
            body.append(
                [counted(len(small), "other"), f"{sum(row.weight for row in small):.3f}", ""]
            )
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
            "above average since": lambda row: "" if row.since is None else f"{row.since:,}",
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
            where = f"; mean losses over {counted(rows, 'row')}" if rows else ""
            tables.append((f"weights of the components now{where}", self.component_table()))
        return [*tables, ("", self.table())]

    def __str__(self) -> str:
        """Return the summary as text."""
        lines = [self.settings]
        lines += [
            f"  Warning: {sentence}." for sentence in (self.warning, self.partial) if sentence
        ]
        lines += [f"  Alert: {alert.text}." for alert in self.alerts]
        lines += [f"  {name:<24}{text}" for name, text in self.facts()]
        sentences = self._remarks()
        lines += [f"  {sentence}" for sentence in sentences if sentence]
        for title, (head, body) in self.tables():
            lines += ["", *([f"  {title}"] if title else [])]
            lines += [f"  {line}".rstrip() for line in number_tables.as_text(head, body)]
        if len(self.experts) > SHOWN:
            lines.append(f"  ... and {len(self.experts) - SHOWN} more")
        lines += ["", f"  {THEORY}", *(f"  {name:<24}{text}" for name, text in self.theory())]
        return "\n".join(shown(line) for line in lines)

    def _repr_html_(self) -> str:
        """Return the summary as HTML, for a notebook."""
        parts = [f"<p><b>{html.escape(self.settings)}</b></p>"]
        warnings = filter(None, (self.warning, self.partial))
        parts += [f"<p><b>Warning: {html.escape(sentence)}.</b></p>" for sentence in warnings]
        parts += [f"<p><b>Alert: {html.escape(alert.text)}.</b></p>" for alert in self.alerts]
        parts.append(notebook.html_facts(self.facts()))
        sentences = self._remarks()
        parts += [f"<p>{html.escape(sentence)}</p>" for sentence in sentences if sentence]
        for title, table in self.tables():
            parts += [f"<p>{html.escape(title)}</p>"] if title else []
            parts.append(notebook.html_table(*table))
        parts += [f"<p>{THEORY}</p>", notebook.html_facts(self.theory())]
        return "".join(parts)


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"


def _describe_counts(counts: Sequence[tuple[str, int]]) -> tuple[int, str]:
    """Return the sum of counts, and the counts of the first names in words."""
    parts = [f"{count:,} of {name}" for name, count in counts[:NAMED]]
    others = counts[NAMED:]
    if others:
        parts.append(f"{sum(count for _, count in others):,} of {counted(len(others), 'other')}")
    return sum(count for _, count in counts), ", ".join(parts)
