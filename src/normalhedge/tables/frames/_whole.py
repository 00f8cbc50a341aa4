"""What a part of a table must know of the whole, so that its rows are blended as in the whole."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class WholeTable:
    """Facts about a table that is blended in parts, each with some of its series.

    If each series has its own weights, rows of other series decide no more than what is here.
    """

    # The distinct times of the forecasts, as `_frames.times` returns them. The phase of a season
    # counts them.
    times: np.ndarray | None = None
    # cutoffs, targets: The distinct pairs of a cutoff and a time, as sortable numbers or words; the
    # steps ahead count the times of a cutoff. None without a cutoff.
    cutoffs: np.ndarray | None = None
    targets: np.ndarray | None = None
    # the names of the models of a long table, in the order in which they first appear; their number
    # tunes some hedgers
    models: tuple[str, ...] | None = None
    levels: tuple[float, ...] | None = None  # the levels of a long table of quantiles, in order

    def steps(self, cutoffs: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the step ahead of some rows, from 0: its place among the times of its cutoff."""
        assert self.cutoffs is not None
        assert self.targets is not None
        made, made_code = np.unique(self.cutoffs, return_inverse=True)
        due, due_code = np.unique(self.targets, return_inverse=True)
        pairs = np.unique(made_code * np.int64(len(due)) + due_code)
        first = np.searchsorted(pairs, pairs // len(due) * len(due), side="left")
        own = np.searchsorted(made, cutoffs) * np.int64(len(due)) + np.searchsorted(due, targets)
        places = np.searchsorted(pairs, own)
        return np.asarray(places - first[places])
