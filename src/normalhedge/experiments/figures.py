"""Figures 1 to 3 of the paper, as data."""

from dataclasses import dataclass

from normalhedge.games import GoodAndBad
from normalhedge.hedgers import CompiledHedger, Hedge, NormalHedge
from normalhedge.plots import Style

ALPHA = 0.001
ROUNDS = 10_000
"""The paper does not say how many; ten shifts of the good set."""
RUNS = 50
PARTS = 10
"""Parts of a game in which the mean regret of each run is kept: one for each good set."""
EVERY = 20
"""Every which round is drawn."""


@dataclass(frozen=True)
class Panel:
    """One of the small plots."""

    gamma: float
    f: float
    experts: int = 1000

    @property
    def id(self) -> str:
        """What the panel is called in files."""
        return f"panel-gamma{self.gamma:g}-f{self.f:g}-n{self.experts}"

    @property
    def nature(self) -> GoodAndBad:
        """The game that is played."""
        return GoodAndBad(self.experts, self.gamma, self.f, ALPHA)

    def hedgers(self) -> dict[str, CompiledHedger]:
        """Return the curves: those of the paper, then the second set."""
        n = self.experts
        return {
            HEDGE: Hedge.simulated(ALPHA, n),
            **{normal(c): NormalHedge(ALPHA, c) for c in PRINTED_C},
            HEDGE_DERIVED: Hedge.derived(ALPHA, n),
            HEDGE_CORRECTED: Hedge.corrected(ALPHA, n),
            **{normal(c): NormalHedge(ALPHA, c) for c in FURTHER_C},
        }


PRINTED_C = (1.0, 2.0, 4.0)
FURTHER_C = (0.5, 0.75)

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

GAMMAS = (0.2, 0.4, 0.6, 0.8)


@dataclass(frozen=True)
class Figure:
    """A figure of the paper."""

    id: str
    title: str
    text: str
    panels: tuple[Panel, ...]
    vary: str

    def caption(self, panel: Panel) -> str:
        """Return what stands over a panel."""
        second = f"f = {panel.f:g}" if self.vary == "f" else f"N = {panel.experts}"
        return f"γ = {panel.gamma:g}, {second}"


_SIMULATION = (
    "Discounted regret to the best expert, N = 1000, α = 0.001; the good set moves on every 1000 "
    "rounds. The second set of curves, which the paper does not show, is switched on in the legend."
)

FIGURES = (
    Figure(
        "figure-1",
        "Figure 1: few good experts",
        _SIMULATION,
        tuple(Panel(gamma, f) for f in (0.001, 0.01) for gamma in GAMMAS),
        "f",
    ),
    Figure(
        "figure-2",
        "Figure 2: many good experts",
        _SIMULATION,
        tuple(Panel(gamma, f) for f in (0.1, 0.5) for gamma in GAMMAS),
        "f",
    ),
    Figure(
        "figure-3",
        "Figure 3: fewer experts",
        "As before with f = 0.1, for three numbers of experts; Hedge is tuned to each of them.",
        tuple(Panel(gamma, 0.1, n) for n in (1000, 100, 10) for gamma in (0.2, 0.8)),
        "N",
    ),
)
