"""Blend a table of forecasts and outcomes in the order of time, as a loop over `Mixture` would."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Unpack

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.progress import Listener, shares
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.state import MixtureOptions
from normalhedge.tables._classes import check_classes, find_classes, with_loss
from normalhedge.tables._cleaning import Labels, labels_of, with_numbers
from normalhedge.tables._contexts import settle_contexts, usual_contexts
from normalhedge.tables._future import known_until, rows_ahead
from normalhedge.tables._intervals import play_intervals
from normalhedge.tables._playing import infinite_forecasts, play_table, result_table
from normalhedge.tables._reruns import describe, remember, revised, same_table
from normalhedge.tables._result import Blend
from normalhedge.tables._rounds import TableRounds, arrange, store_pending
from normalhedge.tables._session import TableSession
from normalhedge.tables._settings import (
    check_lag,
    check_loss,
    describe_pooling,
    in_step,
    pool_mixture,
    tune_options,
)
from normalhedge.tables._traps import doubts, refuse_falling, renamed
from normalhedge.tables.frames import (
    Columns,
    Panel,
    WholeTable,
    WrittenDates,
    check_contexts,
    check_name,
    check_names,
    guess,
    read_dates,
    read_panel,
    refuse_outcomes,
    to_arrow,
)
from normalhedge.tables.quantiles import (
    Quantiles,
    QuantileTable,
    recognise,
)


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn errors of Arrow into a sentence about the table."""
    arrow = extras.require("pyarrow")
    try:
        yield
    except arrow.ArrowException as error:
        raise ValueError(f"the table cannot be read: {str(error).splitlines()[0]}") from None


@_sentences()
def blend(
    frame: Any,
    target: str | None = None,
    experts: Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    time: str | None = None,
    lag: int = 0,
    *,
    pooled: bool | None = None,
    cutoff: str | None = None,
    model: str | None = None,
    forecast: str | None = None,
    classes: Sequence[str] = (),
    level: str | None = None,
    quantiles: Quantiles = None,
    context: str | Sequence[str] | None = None,
    dayfirst: bool | None = None,
    weights: bool = False,
    mixture: Mixture | None = None,
    progress: Listener = None,
    whole: WholeTable | None = None,
    **options: Unpack[MixtureOptions],
) -> Blend:
    """Blend the forecasts of a table, causally: no prediction uses an outcome of a later time.

    Parameters
    ----------
    frame
        A pandas, polars or pyarrow table. A wide table has a column for each expert; a long one has
        a column ``model``, and ``forecast`` or ``classes``. The output of Nixtla's
        ``cross_validation`` needs no changes.
    target
        The column of outcomes, empty where they are unknown. For class probabilities, classes 0,
        1, ... or their names; for probabilities of one event, 0 and 1, booleans or two texts.
    experts
        The columns of the experts; by default all columns of numbers without another role.
    by
        The columns that name a series.
    time
        The column of times, one round for each. Without it, rows must be in the order of time.
    lag
        The number of further rounds for which an outcome stays unknown: 0 if it is known when the
        next round is predicted.
    pooled
        Whether all series of one time make one round, with common weights; otherwise each series
        has its own weights. A round is learned from once, with the outcomes that are known then.
        By default, a single rule has weights for each series. ``"auto"`` hedges over both; series
        need not have their times in common, and a time with few of them counts for less. With a
        lag, series with few times in common have weights of their own alone: set ``pooled`` to
        decide it yourself. The notes of the result say what was done.
    cutoff
        The column of times at which forecasts were made, if ``time`` is the time they are for. An
        outcome is known to forecasts made at its time or later. Each step ahead of a time is a
        round of its own, which is learned from when its outcome is known. Steps share their weights
        if series do.
    model, forecast, classes
        The columns of a long table: the names of the experts, and their forecasts or, for class
        probabilities, a column for each class; by default all columns of numbers without another
        role, if outcomes are names of these. With a loss of class probabilities, or booleans as
        outcomes, the forecasts of other tables are probabilities of one event; if outcomes are two
        texts, ``classes`` names both, the one that the probabilities are of last. Class
        probabilities have the loss ``"brier"`` by default.
    level
        The column of levels of a long table of quantile forecasts. By default a column with a usual
        name, such as ``level``, ``quantile`` or ``output_type_id``.
    quantiles
        The columns of quantiles of a wide table, whose names say their levels: ``q0.1``, ``P10``;
        or a mapping of columns to levels. By default all columns with such names, if there is a
        column ``model``; and ``gam-lo-90``, ``gam_q0.1`` in tables with a column for each model.
        The result has the layout of the table, and its quantiles never cross.
    context
        Up to three categories that the weights and corrections of ``"auto"`` may depend on: columns
        of text, whole numbers, or true and false; and ``"hour"``, ``"weekday"`` (0 is Monday) and
        ``"month"``, if ``time`` has dates and there are no columns of these names; with a cutoff,
        ``"step"``. Rows with an empty cell have the weights that are common to all. By default, the
        hour, the weekday and the month are tried, each once it has changed from one time to the
        next. An empty list switches that off.
    dayfirst
        Whether the day comes first in dates with the year at the end, such as 01.02.2024. By
        default, the dates of the table decide; if they do not, they are refused.
    weights
        Whether to return the weights of the experts in each row, too.
    mixture
        The mixture to continue with; by default a new one is made from the options.
    progress
        A function that is called with the finished share of the work, or a
        `normalhedge.boundary.progress.Progress`.
    whole
        The facts of a larger table of which this is a part, from
        `normalhedge.integrations.clusters`. The mixture does not remember a
        part, as it would a table that may come again.
    **options
        Arguments of `Mixture`: ``hedger``, ``loss``, ``combine``, ``even``, ``include``,
        ``interval``, ``season`` and others. With an interval of 0.9, the result has the columns
        ``blend-lo-90`` and ``blend-hi-90``. Hedgers that are tuned by the number of experts, such
        as ``"hedge"``, are tuned by the number of experts of the table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"y": [1.0, 2.0, 3.0], "a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 2.0]})
    >>> [round(x, 2) for x in blend(table, target="y").frame["blend"].to_pylist()]
    [0.5, 1.52, 2.61]
    >>> blend(table, target="y", hedger="normal-hedge").frame["blend"].to_pylist()
    [0.5, 2.0, 3.0]
    """
    again = partial(
        blend, frame, target, by=by, time=time, lag=lag, pooled=pooled, cutoff=cutoff,
        context=context, dayfirst=dayfirst, **options,
    )  # fmt: skip
    spec = _columns(
        target=target, time=time, cutoff=cutoff, model=model, forecast=forecast,
        experts=experts, by=by, classes=classes, context=context,
        whole=whole or WholeTable(), dayfirst=dayfirst,
    )  # fmt: skip
    if level is not None:
        check_name("level", level)
    table, back = to_arrow(frame)
    table, dates = _read_times(table, spec, mixture)
    table, columns, labels, quantile_table = _prepare(
        table, spec, (level, quantiles), mixture, options
    )
    columns.notes += dates.notes
    lag = check_lag(lag, columns)
    continued, settings = mixture is not None, {}
    if mixture is None:
        settings = tune_options(table, columns, with_loss(options, columns), quantile_table)
        mixture = Mixture(**settings)
    elif options:
        raise TypeError(f"{next(iter(options))} belongs to the mixture, which is given already")
    check_loss(mixture.settings.loss, columns, quantile_table)
    check_classes(mixture, columns)
    panel = read_panel(table, columns)
    refuse_falling(table, columns, panel.series)
    numbers = labels is None and quantile_table is None and not columns.of_classes
    columns.notes += doubts(
        panel, columns, numbers=numbers, guessed=experts is None, continued=continued
    )
    mixture = pool_mixture(mixture, columns, panel, lag, pooled, continued, settings)
    panel = panel if quantile_table is None else quantile_table.stack(panel)
    _check_pending(mixture, panel)
    refuse_outcomes(panel.outcomes, str(columns.target), mixture.settings.loss)
    ahead, series = rows_ahead(panel), len(set(panel.series_names))
    together = in_step(panel.series, panel.times)
    with mixture.transaction() as state:
        session = TableSession.of(state)
        columns.notes += [*renamed(state, panel.experts), *revised(session, panel, lag)]
        same = same_table(session, panel, lag)
        if same:
            session.go_back()
        record = describe(session, panel, lag) if whole is None else None
        settle_contexts(session, panel, columns)
        rounds = arrange(session, panel, lag)
        index, last = panel.table, known_until(panel, columns.time)
        del panel
        sums = play_table(session, rounds, weights=weights, progress=shares(progress, "blending"))
        intervals = play_intervals(session, rounds)
        store_pending(session, rounds, None if intervals is None else intervals.tokens)
        remember(session, record)
    pooling = describe_pooling(mixture, columns, series, lag, pooled=pooled, together=together)
    special = columns.model is not None or columns.of_classes
    layout = quantile_table or columns
    result = result_table(index, rounds, sums, mixture.names, layout, intervals)
    if labels is not None:
        decoded = [str(columns.target)] + ["blend"] * (not columns.of_classes)
        result = labels.decode(result, decoded)
    return Blend(
        back(dates.decode(result)),
        mixture,
        [
            *columns.notes,
            *pooling,
            *["the rows of the last table are here again: they were not learned twice"] * same,
            *rounds.notes,
            *ahead,
            *infinite_forecasts(sums.totals),
        ],
        sums.starts,
        _when(index, rounds, sums.starts, columns.forecast_time),
        sums.experts,
        sums.totals,
        sums.components,
        sums.last,
        rounds,
        columns,
        last,
        quantile_table,
        labels,
        None if continued or whole or quantile_table or labels or special else again,
    )


def _read_times(table: Any, spec: Columns, mixture: Mixture | None) -> tuple[Any, WrittenDates]:
    """Return a table with its dates read; write their order, and the contexts, into the roles."""
    table, dates = read_dates(table, spec)
    spec.dayfirst = dates.dayfirst if dates.columns else spec.dayfirst
    if spec.context is None:
        spec.context = usual_contexts(mixture, table, spec)
    return table, dates


def _check_pending(mixture: Mixture, panel: Panel) -> None:
    classes = panel.forecasts.shape[1]
    if any(waiting.forecasts.shape[1] != classes for waiting in mixture.pending.values()):
        raise ValueError("the number of classes must be the same as in the earlier table")


def _columns(*, whole: WholeTable, dayfirst: bool | None, **roles: Any) -> Columns:
    """Return the roles of columns that were given."""
    by, classes = (check_names(role, roles.pop(role)) for role in ("by", "classes"))
    experts, context = roles.pop("experts"), roles.pop("context")
    for role, name in roles.items():
        if name is not None:
            check_name(role, name)
    named = None if experts is None else check_names("experts", experts)
    contexts = None if context is None else tuple(dict.fromkeys(check_names("context", context)))
    return Columns(
        **roles, by=by, classes=classes, experts=named, context=contexts, whole=whole,
        dayfirst=dayfirst,
    )  # fmt: skip


def _prepare(
    table: Any,
    spec: Columns,
    levels: tuple[str | None, Quantiles],
    mixture: Mixture | None,
    options: Mapping[str, Any],
) -> tuple[Any, Columns, Labels | None, QuantileTable | None]:
    """Return a table with numbers where they are needed, its columns, labels and quantiles."""
    if not table.num_rows:  # its columns have no types by which roles could be guessed
        raise ValueError("the table has no rows")
    table, remarks = with_numbers(table, spec)
    quantiles = recognise(table, spec, *levels)
    if quantiles is not None:
        quantiles.columns.notes += remarks
        check_contexts(spec.context, table, quantiles.columns)
        return quantiles.table, quantiles.columns, None, quantiles
    table, spec, labels = find_classes(table, spec, mixture, options)
    of_labels = str(options.get("loss", "")).startswith("zero-one")
    if mixture is not None:
        of_labels = mixture.settings.loss.of_labels
    if not spec.binary:
        labels = labels_of(table, spec, of_labels=of_labels)
        table = table if labels is None else labels.encode(table)
    columns = guess(table, spec)
    check_contexts(columns.context, table, columns)
    columns.notes += [*spec.notes, *remarks]
    return table, columns, labels, None


def _when(table: Any, rounds: TableRounds, starts: np.ndarray, time: str | None) -> list[Any]:
    """Return the time of each round in ``starts``, or its number without a column of times."""
    new = rounds.row_of[rounds.edges[:-1]] >= 0
    if time is None or not new.any():
        return [int(start) for start in starts]
    row = np.zeros(int(rounds.offsets.max()) + 1, dtype=np.int64)
    row[rounds.offsets[new]] = rounds.row_of[rounds.edges[:-1][new]]
    return [table[time][int(row[start - rounds.base])].as_py() for start in starts]
