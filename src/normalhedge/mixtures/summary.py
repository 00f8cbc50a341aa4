"""What a person wants to see of a mixture."""

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from normalhedge import _tables
from normalhedge._inputs import Floats
from normalhedge._terminal import shown
from normalhedge.certificates import Bound
from normalhedge.certificates.bounds import at_most
from normalhedge.mixtures import _sums
from normalhedge.mixtures.hindsight import best_convex, mean_loss
from normalhedge.mixtures.mixture import Mixture
from normalhedge.mixtures.tickets import Open

if TYPE_CHECKING:
    from normalhedge.mixtures.blending import Blend

SHOWN = 20
"""How many experts are printed."""

OFTEN = 0.5
"""The best expert is looked for among those that were awake in this share of the settled rows."""

GAP = 1e-4
"""How near the best convex combination is to the least, relative to it, is shown from here on."""


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
        The discounted regret to it, in units of gain; the largest over the series.
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
        The mean losses of the blend and of uniform weights over those awake.
    best
        The expert with the best loss relative to the blend in the same rows, of those often awake.
    convex, convex_gap, convex_blend, convex_rows
        The mean loss of the best convex combination in hindsight (see `best_convex`), how much too
        large it may be, the mean loss of the blend in the same rows, and how many they are.
    regret, bound
        The largest regret so far, in units of gain, and what is promised of it.
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
    convex: float
    convex_gap: float
    convex_blend: float
    convex_rows: int
    regret: float
    bound: Bound
    ranges: Floats
    experts: list[ExpertRow]

    def yardsticks(self) -> list[tuple[str, float, str]]:
        """Return the blend and what it is compared with: a name, a mean loss, a remark."""
        rows = [("blend", self.blend, ""), ("uniform weights", self.uniform, "")]
        if self.best is not None:
            remark = f"{self.best.name}; the blend in the same rows {self.best.blend_loss:.6g}"
            rows.append(("best expert", self.best.loss, remark))
        if np.isfinite(self.convex):
            remark = (
                f"in hindsight, {self.convex_rows:,} rows; the blend there {self.convex_blend:.6g}"
            )
            if self.convex_gap > GAP * max(abs(self.convex), 1e-6 * abs(self.uniform)):
                remark += f"; the least may be {self.convex_gap:.2g} less"
            rows.append(("best convex combination", self.convex, remark))
        return rows

    def facts(self) -> list[tuple[str, str]]:
        """Return the numbers about the whole."""
        silent = f", {self.silent:,} with nobody awake" if self.silent else ""
        waiting = f"{self.pending:,}" + (f", {self.expired:,} expired" if self.expired else "")
        limit = f", never above {at_most(self.bound.regret, 4)}" if self.bound else ""
        facts = [
            ("rounds", f"{self.rounds:,} ({self.rows:,} rows{silent})"),
            ("waiting for outcomes", waiting),
            ("largest regret", f"{self.regret:.4g} units of gain{limit}"),
            ("bound", self.bound.source),
        ]
        if len(self.ranges) == 1 and self.ranges[0] > 0:
            facts.append(("range of losses", f"{self.ranges[0]:.4g}"))
        return facts

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the experts as a header and rows of text."""
        head = [
            "expert",
            "weight",
            "loss",
            "blend there",
            "regret",
            "awake",
            "last seen",
            "carries since",
        ]
        body = [
            [
                row.name,
                f"{row.weight:.3f}",
                _number(row.loss),
                _number(row.blend_loss),
                f"{row.regret:.3g}",
                f"{row.awake:.0%}",
                "never" if row.last_seen is None else f"{row.last_seen:,}",
                "" if row.since is None else f"{row.since:,}",
            ]
            for row in self.experts[:SHOWN]
        ]
        return head, body

    def __str__(self) -> str:
        """Return it for a terminal."""
        lines = [self.settings]
        lines += [f"  {name:<24}{text}" for name, text in self.facts()]
        lines += ["", f"  {'mean loss':<24}"]
        lines += [
            f"  {name:<24}{loss:<12.6g}{note}".rstrip() for name, loss, note in self.yardsticks()
        ]
        lines += ["", *(f"  {line}" for line in _tables.as_text(*self.table()))]
        if len(self.experts) > SHOWN:
            lines.append(f"  ... and {len(self.experts) - SHOWN} more")
        return "\n".join(shown(line) for line in lines)

    def _repr_html_(self) -> str:
        """Return it for a notebook."""
        facts = "".join(f"<tr><th>{a}</th><td>{html.escape(b)}</td></tr>" for a, b in self.facts())
        sticks = "".join(
            f"<tr><th>{a}</th><td>{b:.6g}</td><td>{html.escape(c)}</td></tr>"
            for a, b, c in self.yardsticks()
        )
        head, body = self.table()
        top = "".join(f"<th>{cell}</th>" for cell in head)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in body
        )
        return (
            f"<p><b>{html.escape(self.settings)}</b></p><table>{facts}</table>"
            f"<table><tr><th></th><th>mean loss</th><th></th></tr>{sticks}</table>"
            f"<table><tr>{top}</tr>{rows}</table>"
        )


def summarise(mixture: Mixture, blend: "Blend | None" = None) -> Summary:
    """Return the summary of a mixture, over all its rounds; of a blend, over those of its table."""
    sums = mixture.games.expert_sums if blend is None else blend.sums.sum(axis=0)
    totals = mixture.games.total_sums if blend is None else _added(blend.totals)
    recipe = mixture.recipe
    experts = _experts(mixture, sums, totals)
    often = [row for row in experts if _settled_share(mixture, row, sums, totals) >= OFTEN]
    best = min(often, key=lambda row: row.loss - row.blend_loss, default=None)
    convex = _convex(mixture, blend)
    settings = (
        f"{recipe.hedger!r}, loss {recipe.loss}, {recipe.combine}"
        + (", gradient" if recipe.gradient else "")
        + (f", even {recipe.even:g}" if recipe.even else "")
        + (f", with the plain {' and '.join(recipe.include)}" if recipe.include else "")
    )
    settled = totals[_sums.SETTLED]
    return Summary(
        settings=settings,
        rounds=mixture.rounds,
        rows=int(totals[_sums.ROWS]),
        settled=int(settled),
        silent=int(totals[_sums.SILENT]),
        pending=len(mixture.pending),
        expired=mixture.expired,
        blend=_ratio(totals[_sums.BLEND], settled),
        uniform=_ratio(totals[_sums.UNIFORM], settled),
        best=best,
        convex=convex[0],
        convex_gap=convex[1],
        convex_blend=convex[2],
        convex_rows=convex[3],
        regret=float(totals[_sums.REGRET]),
        bound=mixture.bound(),
        ranges=mixture.ranges[:, 0].copy(),
        experts=experts,
    )


def _added(totals: Floats) -> Floats:
    result: Floats = totals.sum(axis=0)
    result[_sums.REGRET :] = totals[:, _sums.REGRET :].max(axis=0)
    return result


def _experts(mixture: Mixture, sums: Floats, totals: Floats) -> list[ExpertRow]:
    if not len(mixture.weights):
        return []
    weights, regrets = mixture.weights.mean(axis=0), mixture.regrets.max(axis=0)
    marks = mixture.games.marks
    last, since = marks[:, _sums.LAST].max(axis=0), marks[:, _sums.SINCE]
    since = np.where(since < 0, np.iinfo(np.int64).max, since).min(axis=0)
    rows = [
        ExpertRow(
            name,
            float(weights[i]),
            _ratio(sums[_sums.LOSS, i], sums[_sums.SCORED, i]),
            _ratio(sums[_sums.BLEND_LOSS, i], sums[_sums.SCORED, i]),
            float(regrets[i]),
            float(sums[_sums.AWAKE, i] / max(totals[_sums.ROWS], 1.0)),
            int(last[i]) if last[i] >= 0 else None,
            int(since[i]) if since[i] < np.iinfo(np.int64).max else None,
        )
        for i, name in enumerate(mixture.names)
    ]
    return sorted(rows, key=lambda row: (-row.weight, -row.regret, row.name))


def _settled_share(mixture: Mixture, row: ExpertRow, sums: Floats, totals: Floats) -> float:
    scored = sums[_sums.SCORED, mixture.names.index(row.name)]
    return float(scored / max(totals[_sums.SETTLED], 1.0))


def _convex(mixture: Mixture, blend: "Blend | None") -> tuple[float, float, float, int]:
    """Return the best convex combination's loss and gap, the blend's loss there, how many rows."""
    kind = mixture.recipe.loss.kind
    nothing = (float("nan"), float("nan"), float("nan"), 0)
    if kind is None or kind == "zero-one" or len(mixture.names) < 2:
        return nothing
    if blend is not None:
        rounds = blend.rounds
        new = rounds.row_of >= 0
        data: tuple[Any, ...] = (rounds.forecasts, rounds.outcomes, rounds.items, rounds.values)
        if not new.all():
            data = tuple(a[new] for a in data)
    elif kept := _of_as_many_classes(mixture):
        opened = [waiting for waiting, _ in kept]
        data = (
            np.concatenate([mixture.widen(o.forecasts, o.confidence)[0] for o in opened]),
            np.concatenate([outcomes for _, outcomes in kept]),
            np.concatenate([o.items for o in opened]),
            np.concatenate([o.values for o in opened]),
        )
    else:
        return nothing
    forecasts, outcomes, items, values = data
    plain = len(mixture.recipe.include)
    known = ~np.isnan(outcomes) & ~np.isnan(values[:, 0])
    if not known.any():
        return nothing
    if plain or not known.all():
        forecasts = np.ascontiguousarray(forecasts[known][:, :, plain:])
        outcomes, items, values = outcomes[known], items[known], values[known]
    values = np.ascontiguousarray(values[:, : forecasts.shape[1]])
    told = outcomes, items, mixture.levels, kind
    best = best_convex(forecasts, *told, mixture.recipe.combine)
    return best.loss, best.gap, mean_loss(values, *told), len(outcomes)


def _of_as_many_classes(mixture: Mixture) -> list[tuple[Open, Floats]]:
    """Return the rounds that are kept and had somebody awake, of as many classes as the last."""
    awake = [pair for pair in mixture.history if not np.isnan(pair[0].values).all()]
    return [pair for pair in awake if pair[0].values.shape[1] == awake[-1][0].values.shape[1]]


def _ratio(total: float, count: float) -> float:
    return float(total / count) if count else float("nan")


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"
