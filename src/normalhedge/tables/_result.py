"""The result of blending a table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.boundary import rooms_above
from normalhedge.boundary.charts import Drawable, Drawing
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.notebook import html_table
from normalhedge.boundary.terminal import counted
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.alerts import Alert
from normalhedge.mixtures.explanations import Explanation
from normalhedge.mixtures.summaries import ComponentLosses, Settled, Summary, TablePart, summarise
from normalhedge.tables._cleaning import Labels
from normalhedge.tables._explaining import explain_table, watch_table
from normalhedge.tables._future import LastKnown, Past, predict_future
from normalhedge.tables._plotting import blend_panels
from normalhedge.tables._rounds import TableRounds
from normalhedge.tables.frames import Columns, to_arrow
from normalhedge.tables.quantiles import QuantileTable, summarise_quantiles

LAST_ROWS = 5
"""The number of rows of a result that a notebook shows."""


@dataclass(repr=False)
class Blend(Drawable):
    """The result of `blend`.

    Attributes
    ----------
    frame
        A table of the kind that was given, with its rows in their order (for a long table, one row
        for each time and series). Its columns identify a row; then come the target, ``blend``
        (empty if no expert is awake; one column for each class) and, if asked for, its intervals,
        ``blend-lo-90`` and ``blend-hi-90``, and a column of weights for each expert. Quantiles
        have the layout of the given table, and the blend is one of its models.
    mixture
        The mixture after the last round; pass it on to continue with a later table.
    notes
        Sentences about the guesses, and other remarks on the table.
    starts, when
        The first round of each stretch of time into which ``sums`` and ``totals`` are split: its
        number, and its time or, without a column of times, its number.
    sums, totals
        The sums of each stretch; see `normalhedge.mixtures.state.sum_rows`.
    components, last
        The losses of the components of ``"auto"``, and the values of the last rows.
    rounds
        The rounds of the table, with their predictions.
    columns
        The roles of the columns.
    known_until
        The last time of each series whose outcome is known; empty without a column of times.
    quantiles
        The levels and the layout of a table of quantile forecasts; None for other tables.
    labels
        The labels of classes, if they are text.
    again
        What blends a wide table again with other ``experts``, for `explain`; None for others.
    """

    frame: Any
    mixture: Mixture
    notes: list[str]
    starts: np.ndarray
    when: list[Any]
    sums: Floats
    totals: Floats
    components: ComponentLosses
    last: Floats
    rounds: TableRounds
    columns: Columns
    known_until: Mapping[str, LastKnown]
    quantiles: QuantileTable | None = None
    labels: Labels | None = None
    again: Callable[..., "Blend"] | None = None

    def __repr__(self) -> str:
        """Return the rows, the target and the mixture in a line."""
        rows, mixture = len(self.rounds.outcomes), self.mixture
        return f"Blend({counted(rows, 'row')} of {self.columns.target}, {mixture!r})"

    def predict(self, future: Any, *, weights: bool = False) -> Any:
        """Blend a table of forecasts whose outcomes are not known yet; change nothing.

        Each row is blended with the weights after the last outcome. A series that is new starts
        from the pooled weights.

        Parameters
        ----------
        future
            A table with the columns of the table that was blended, of any kind. It needs no target,
            and no cutoff: without one, its forecasts count as made after the last known outcome. An
            expert without a column sleeps.
        weights
            Whether to return the weights of the experts in each row, too.

        Returns
        -------
        frame
            A table of the kind that was given, with a column ``blend``.

        Raises
        ------
        ValueError
            If columns are missing, or a time is not after the last known outcome of its series.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from normalhedge import blend
        >>> past = pa.table({"t": [1, 2, 3], "y": [1.0, 2.0, 3.0], "a": [1.0, 2.0, 3.0],
        ...                  "b": [0.0, 1.0, 2.0]})
        >>> result = blend(past, target="y", time="t", hedger="normal-hedge")
        >>> result.predict(pa.table({"t": [4, 5], "a": [4.0, 5.0], "b": [3.0, 4.0]}))["blend"][1]
        <pyarrow.DoubleScalar: 5.0>
        """
        table, back = to_arrow(future)
        past = Past(self.mixture, self.columns, self.known_until, self.quantiles, self.labels)
        return back(predict_future(past, table, weights=weights))

    def summary(self) -> Summary:
        """Return a summary of this table, which prints as tables, also in a notebook."""
        rounds, new = self.rounds, self.rounds.row_of >= 0
        parts: tuple[Any, ...] = (rounds.forecasts, rounds.outcomes, rounds.items, rounds.values)
        forecasts, outcomes, items, values = parts if new.all() else (part[new] for part in parts)
        rows = Settled(forecasts, outcomes, items, values, self.last, self.components)
        part = TablePart(self.sums, self.totals, rows, self.alerts())
        summary = summarise(self.mixture, part)
        if self.quantiles is None:
            return summary
        return summarise_quantiles(summary, self.quantiles, rounds, self.mixture.names)

    def _drawing(self) -> Drawing:
        return f"{self.columns.target}, blended", blend_panels(self)

    def report(self, path: str | Path, *, title: str = "") -> None:
        """Write the result as one page of HTML with interactive plots, which opens offline.

        It is the page of ``normalhedge blend --report``.

        Parameters
        ----------
        path
            The file to write, ``"page.html"``.
        title
            The title of the page.
        """
        rooms_above.call("normalhedge.reports", "report_blend", self, Path(path), title=title)

    def _repr_html_(self) -> str:
        """Return the summary and the last rows as HTML, for a notebook."""
        table = to_arrow(self.frame)[0]
        last = table.slice(max(table.num_rows - LAST_ROWS, 0))
        rows = zip(*(map(_cell, column.to_pylist()) for column in last.columns), strict=True)
        count = f"<p>the last {last.num_rows} of {counted(table.num_rows, 'row')}</p>"
        return self.summary()._repr_html_() + count + html_table(table.column_names, list(rows))

    def alerts(self) -> tuple[Alert, ...]:
        """Return the experts that got worse, that stopped, or that repeat another one.

        The last 5,000 rounds of the table are watched. The probability of a false alarm, that any
        expert got worse, is at most 1 % in 1,000 rounds.
        """
        return watch_table(self.mixture, self.rounds)

    def explain(self) -> Explanation:
        """Return who has changed, and why: weights, the rounds that moved them, and absences.

        A table with a column for each expert is blended again without each of them, if that takes
        seconds; for others the cost of an absence is an estimate. The result says which.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from normalhedge import blend
        >>> days = list(range(40))
        >>> table = pa.table({"y": [0.1 * t for t in days], "a": [0.1 * t + 0.2 for t in days],
        ...                   "b": [0.1 * t - 3.0 for t in days]})
        >>> explained = blend(table, target="y", hedger="squint").explain()
        >>> [(row.name, row.after > row.before) for row in explained.changes]
        [('a', True), ('b', False)]
        >>> explained.method
        'blended again without it'
        """
        return explain_table(self)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime) and str(value.time()) == "00:00:00":
        return str(value.date())
    return f"{value:.6g}" if isinstance(value, float) else str(value)
