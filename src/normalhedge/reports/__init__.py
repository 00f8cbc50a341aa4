"""Results as one page that opens offline. Nothing is computed here."""

from normalhedge.reports._blend import write_blend
from normalhedge.reports._game_figures import (
    curves_plot as curves_plot,
    frontier_plot,
    loss_plot,
    places_plot as places_plot,
    regret_plot,
)
from normalhedge.reports._latent import write_inferred
from normalhedge.reports._page import Section, sentence, write_page
from normalhedge.reports._results import (
    report_blend as report_blend,
    report_inferred as report_inferred,
)

__all__ = [
    "Section",
    "frontier_plot",
    "loss_plot",
    "regret_plot",
    "sentence",
    "write_blend",
    "write_inferred",
    "write_page",
]
