"""Results as one page that opens offline. Nothing is computed here."""

from normalhedge.reports.page import Claim, regret_plot, write_page

__all__ = ["Claim", "regret_plot", "write_page"]
