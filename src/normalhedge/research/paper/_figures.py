"""Figures 1 to 3 of the paper: the games of their panels, the drawings and the data."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.boundary import number_tables
from normalhedge.boundary.progress import Progress
from normalhedge.hedgers import CompiledHedger, Hedge, NormalHedge
from normalhedge.reports import Section, regret_plot
from normalhedge.reports.plots import Style, regret_figure
from normalhedge.research._cells import Arrays
from normalhedge.research.games import Curves, GoodAndBad, Trace, play
from normalhedge.research.paper._part import (
    ALPHA,
    GAMMAS,
    PRINTED_C,
    Measured,
    Measurement,
    PaperSettings,
    Part,
)

PARTS_OF_A_GAME = 10
"""The mean regret of each run is recorded in so many parts of a game: one for each good set."""

EVERY = 20
"""The number of rounds from one point of a curve to the next."""

FURTHER_C = (0.5, 0.75)
"""The parameters c of NormalHedge that the paper does not show."""

HEDGE = "Hedge, paper's η"
HEDGE_DERIVED = "Hedge, derived η"
HEDGE_CORRECTED = "Hedge, corrected η"
HEDGES = (HEDGE, HEDGE_DERIVED, HEDGE_CORRECTED)


def normal(c: float) -> str:
    """Return the name of a curve of NormalHedge."""
    return f"NormalHedge, c = { {0.5: '1/2', 0.75: '3/4'}.get(c, f'{c:g}') }"


STYLES = {
    HEDGE: Style("#000000", "solid"),
    normal(1.0): Style("#0072b2", "solid", 2.0),
    normal(2.0): Style("#e69f00", "dash"),
    normal(4.0): Style("#009e73", "dot", 2.0),
    HEDGE_DERIVED: Style("#555555", "dashdot", second=True),
    HEDGE_CORRECTED: Style("#999999", "longdash", second=True),
    normal(0.5): Style("#d55e00", "dot", second=True),
    normal(0.75): Style("#56b4e9", "dashdot", second=True),
}


@dataclass(frozen=True)
class FigurePanel:
    """One of the small plots of a figure: a game of good and bad experts."""

    gamma: float  # the edge of the good experts over chance
    f: float  # the share of good experts
    experts: int = 1000  # the number of experts
    alpha: float = ALPHA  # the discount rate

    @property
    def id(self) -> str:
        """The name of the panel in files."""
        other = "" if self.alpha == ALPHA else f"-alpha{self.alpha:g}"
        return f"panel-gamma{self.gamma:g}-f{self.f:g}-n{self.experts}{other}"

    @property
    def nature(self) -> GoodAndBad:
        """The nature of the game."""
        return GoodAndBad(self.experts, self.gamma, self.f, self.alpha)

    def hedgers(self) -> dict[str, CompiledHedger]:
        """Return the hedger of each curve: the set of the paper, then the second set."""
        alpha, n = self.alpha, self.experts
        return {
            HEDGE: Hedge.simulated(alpha, n),
            **{normal(c): NormalHedge(alpha, c) for c in PRINTED_C},
            HEDGE_DERIVED: Hedge.derived(alpha, n),
            HEDGE_CORRECTED: Hedge.corrected(alpha, n),
            **{normal(c): NormalHedge(alpha, c) for c in FURTHER_C},
        }


@dataclass(frozen=True)
class Figure:
    """A figure of the paper."""

    # id, title, text: the name in files, the heading, and the explanation on the page
    id: str
    title: str
    text: str
    panels: tuple[FigurePanel, ...]  # the panels, row by row
    vary: str  # the setting that differs between the rows: ``f``, ``N`` or ``none``

    def caption(self, panel: FigurePanel) -> str:
        """Return the caption of a panel."""
        if self.vary == "none":
            return f"γ = {panel.gamma:g}, f = {panel.f:g}"
        second = f"f = {panel.f:g}" if self.vary == "f" else f"N = {panel.experts}"
        return f"γ = {panel.gamma:g}, {second}"

    def with_settings(self, experts: int | None, alpha: float | None) -> "Figure":
        """Return the figure with another number of experts or rate; equal panels become one."""
        changed = (
            replace(p, experts=experts or p.experts, alpha=alpha or p.alpha) for p in self.panels
        )
        panels = tuple(dict.fromkeys(changed))
        numbers = sorted({panel.experts for panel in panels})
        text = (
            f"As the figure of the paper, with N = {', '.join(map(str, numbers))} and "
            f"α = {panels[0].alpha:g}: the good set moves on every {panels[0].nature.shift} rounds."
        )
        vary = self.vary if len(numbers) > 1 or self.vary == "f" else "none"
        return replace(self, text=text, panels=panels, vary=vary)


_SIMULATION = (
    "Discounted regret to the best expert, N = 1000, α = 0.001; the good set moves on every 1000 "
    "rounds. The second set of curves, which the paper does not show, is switched on in the legend."
)

FIGURES = (
    Figure(
        "figure-1",
        "Figure 1: few good experts",
        _SIMULATION,
        tuple(FigurePanel(gamma, f) for f in (0.001, 0.01) for gamma in GAMMAS),
        "f",
    ),
    Figure(
        "figure-2",
        "Figure 2: many good experts",
        _SIMULATION,
        tuple(FigurePanel(gamma, f) for f in (0.1, 0.5) for gamma in GAMMAS),
        "f",
    ),
    Figure(
        "figure-3",
        "Figure 3: fewer experts",
        "As before with f = 0.1, for three numbers of experts; Hedge is tuned to each of them.",
        tuple(FigurePanel(gamma, 0.1, n) for n in (1000, 100, 10) for gamma in (0.2, 0.8)),
        "N",
    ),
)

PANELS = tuple(dict.fromkeys(panel for figure in FIGURES for panel in figure.panels))
"""The panels of all figures, each once."""


def units(panel: FigurePanel, settings: PaperSettings) -> float:
    """Return the cost of a panel, in rounds x experts x hedgers."""
    # A round has a cost even if there are few experts.
    return float(settings.runs * settings.rounds * len(STYLES) * (panel.experts + 50))


def measure(
    panel: FigurePanel, settings: PaperSettings, jobs: int | None, progress: Progress
) -> Arrays:
    """Play the games of a panel, and return their trace as arrays."""
    seed = [settings.seed, zlib.crc32(panel.id.encode())]  # each panel has other gains
    game = panel.hedgers(), panel.nature, settings.rounds, settings.runs, seed
    trace = play(*game, every=EVERY, parts=PARTS_OF_A_GAME, jobs=jobs, progress=progress)
    return trace_to_arrays(trace)


_CURVES = ("regret", "potential", "gain")
_FIELDS = (
    "hedgers", "runs", "rounds", "discount", "highest_regret", "highest_potential", "part_regret",
    "run_gain", "final_regret",
)  # fmt: skip


def trace_to_arrays(trace: Trace) -> Arrays:
    """Return a trace, without quantiles and weights, as arrays."""
    arrays = {name: np.array(getattr(trace, name)) for name in _FIELDS}
    for name in _CURVES:
        arrays[f"{name}_mean"], arrays[f"{name}_spread"] = getattr(trace, name)
    return arrays


def trace_from_arrays(arrays: Arrays) -> Trace:
    """Return the trace that `trace_to_arrays` turned into arrays."""
    fields: dict[str, Any] = {name: arrays[name] for name in _FIELDS}
    fields |= {"hedgers": tuple(arrays["hedgers"].tolist()), "runs": int(arrays["runs"])}
    fields["discount"] = tuple(arrays["discount"].tolist())
    for name in _CURVES:
        fields[name] = Curves(arrays[f"{name}_mean"], arrays[f"{name}_spread"])
    return Trace(quantile=None, quantile_regret=None, weights=None, **fields)


def panel_measurement(panel: FigurePanel) -> Measurement:
    """Return the measurement of a panel."""
    return Measurement(panel.id, partial(measure, panel), partial(units, panel), parallel=True)


def traces_of(measured: Measured, figures: Sequence[Figure] = FIGURES) -> dict[FigurePanel, Trace]:
    """Return the trace of each panel that was measured."""
    panels = dict.fromkeys(panel for figure in figures for panel in figure.panels)
    return {p: trace_from_arrays(measured[p.id]) for p in panels if p.id in measured}


def sections(measured: Measured, figures: Sequence[Figure] = FIGURES) -> list[Section]:
    """Return a section with the plot of each figure that was measured."""
    traces = traces_of(measured, figures)
    plots = (
        (figure, regret_plot(figure.id, _add_captions(figure, traces), STYLES))
        for figure in _complete(traces, figures)
    )
    return [Section(figure.id, figure.title, figure.text, plot) for figure, plot in plots]


def files(measured: Measured, folder: Path, figures: Sequence[Figure] = FIGURES) -> list[Path]:
    """Write each figure that was measured as PNG, PDF and SVG and as a table; return the paths."""
    traces = traces_of(measured, figures)
    paths: list[Path] = []
    for figure in _complete(traces, figures):
        paths += regret_figure(_add_captions(figure, traces), STYLES, folder / figure.id)
        paths.append(folder / f"{figure.id}.parquet")
        number_tables.write_table(paths[-1], _table(figure, traces))
    return paths


def _complete(traces: Mapping[FigurePanel, Trace], figures: Sequence[Figure]) -> list[Figure]:
    return [figure for figure in figures if all(panel in traces for panel in figure.panels)]


def _add_captions(figure: Figure, traces: Mapping[FigurePanel, Trace]) -> list[tuple[str, Trace]]:
    return [(figure.caption(panel), traces[panel]) for panel in figure.panels]


def _table(figure: Figure, traces: Mapping[FigurePanel, Trace]) -> dict[str, Any]:
    """Return the data of a figure, with a row for each panel, hedger and recorded round."""
    columns: dict[str, list[Any]] = {}
    for panel in figure.panels:
        curves = traces[panel].columns()
        rows = len(curves["round"])
        setting = {name: np.full(rows, value) for name, value in asdict(panel).items()}
        for name, values in (setting | curves).items():
            columns.setdefault(name, []).append(values)
    return {name: np.concatenate(pieces) for name, pieces in columns.items()}


_MEASUREMENTS = {panel: panel_measurement(panel) for panel in PANELS}

PART = Part(
    "figures",
    (__name__,),
    {figure.id: [_MEASUREMENTS[panel] for panel in figure.panels] for figure in FIGURES},
    sections=sections,
    files=files,
)
