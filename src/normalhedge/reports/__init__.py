"""Results as one page that opens offline. Nothing is computed here."""

from normalhedge.reports.blend import write_blend
from normalhedge.reports.page import Claim, Section, regret_plot, write_page

__all__ = ["Claim", "Section", "regret_plot", "write_blend", "write_page"]
