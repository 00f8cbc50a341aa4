"""Results as one page that opens offline. Nothing is computed here."""

from normalhedge.reports.blend import write_blend
from normalhedge.reports.figures import frontier_plot, loss_plot, regret_plot
from normalhedge.reports.latent import write_inferred
from normalhedge.reports.page import Section, sentence, write_page

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
