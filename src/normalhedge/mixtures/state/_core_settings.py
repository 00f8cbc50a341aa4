"""The arguments of the core: a mixture, a round and a table as tuples with named fields."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.hedgers import CompiledHedger
from normalhedge.mixtures.losses import OwnLoss
from normalhedge.mixtures.rules import Automatic, OwnStates
from normalhedge.mixtures.state._combining import combine
from normalhedge.mixtures.state._forecasts import Keys
from normalhedge.mixtures.state._settings import MixtureSettings
from normalhedge.mixtures.state._tickets import Prediction


class CoreSettings(NamedTuple):
    """The settings of a mixture, for `normalhedge._core.Live`."""

    hedger: Any  # an engine, the components of an automatic mixture, or a hedger of the user's own
    # loss, own_loss: the name of a loss of the core; or a function of forecasts, values and
    # outcomes that returns losses and slopes
    loss: str | None
    own_loss: Callable[..., tuple[Floats, Floats]] | None
    combine: str
    gradient: bool
    width: float
    even: float
    levels: Sequence[float]
    include: Sequence[str]
    shared: bool
    patience: tuple[float, int, Sequence[tuple[int, float]]]
    # Makes the ledger columns of new experts, if they do not start at zero: a function of their
    # number and of the number of experts. For a hedger of the user's own, an `OwnStates`.
    newcomers: Callable[[int, int], Floats] | OwnStates | None
    numbers: bool  # whether a forecast is a single number
    # conformal, interval_columns: the settings of the intervals, and the columns of a prediction
    # that they are put around
    conformal: Floats | None
    interval_columns: np.ndarray | None
    max_pending: int
    max_age: int | None
    history: int
    prediction: type[Prediction]  # the type of a prediction


class RoundInput(NamedTuple):
    """A round to predict, for `normalhedge._core.Live.predict_rows`."""

    version: int  # the version of the mixture before the forecasts were read
    forecasts: Floats  # rows x classes x experts, new ones last; NaN where an expert sleeps
    confidence: Floats | None  # the confidence of each expert; None if all have confidence 1
    # keys, items: the keys of the rows, and the names of their items
    keys: Keys
    items: Sequence[str]
    new: Sequence[str]  # the names of the experts that join
    id: str | None  # the id of the round as JSON; None if it has none
    # cells, new_cells: the cells of the contexts of each row, -1 without one; and the names of new
    # cells, as `read_context` returns them
    cells: np.ndarray | None
    new_cells: Sequence[str]
    new_classes: Sequence[str]  # the names of new classes


class RoundRecord(NamedTuple):
    """A round as the core holds it; see `PendingRound` for the fields."""

    ticket: int
    number: int
    forecasts: Floats
    confidence: Floats | None
    values: Floats
    items: np.ndarray
    keys: Keys
    id: str | None
    tokens: Floats | None
    cells: np.ndarray | None


class Schedule(NamedTuple):
    """A table of rounds, sorted by game and time, for `normalhedge._core.Live.play`."""

    # games, start, stop: the games; the first round of each that is to be predicted, and the end of
    # its rounds
    games: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    settled: np.ndarray  # how far in ``order`` each game is settled; brought up to date
    edges: np.ndarray  # the first row of each round, and one more at the end
    offsets: np.ndarray  # the number of each round, counted from ``base``
    ready: np.ndarray  # the round from which on the outcomes of a round may be used
    order: np.ndarray  # the rounds of each game in the order in which they are settled
    # the number of each round in its game; negative for rounds of earlier tables
    places: np.ndarray
    bins: np.ndarray  # the sums to which each round is added
    # forecasts, values, outcomes, items: the rows; the values are written, from ``first_row`` on
    forecasts: Floats
    values: Floats
    outcomes: Floats
    items: np.ndarray
    # the distribution of each row, which is written; without rows if it is not wanted
    played: Floats
    # expert_sums, total_sums: the sums, a layer for each bin; written
    expert_sums: Floats
    total_sums: Floats
    base: int
    cells: np.ndarray  # the cells of the contexts of each row; without rows if there are none
    first_row: int


def core_settings(settings: MixtureSettings) -> CoreSettings:
    """Return the settings of a mixture in the form that the core reads."""
    loss, hedger, intervals = settings.loss, settings.hedger, settings.intervals
    engine: Any = hedger
    newcomers: Any = None
    if isinstance(hedger, Automatic):
        engine = hedger.engine(loss)
    elif isinstance(hedger, CompiledHedger):
        engine = settings.rule._engine
        newcomers = settings.rule.newcomers if settings.rule.has_initial_ledger else None
    else:
        newcomers = OwnStates(hedger)
    return CoreSettings(
        engine,
        loss.kind,
        partial(own_losses, settings) if loss.own else None,
        settings.combine,
        settings.gradient,
        loss.width,
        settings.even,
        loss.settings,
        settings.include,
        settings.shared,
        settings.patience,
        newcomers,
        not (loss.of_classes or loss.of_levels or len(loss.levels) > 1),
        None if intervals is None else intervals.conformal.settings,
        None if intervals is None else intervals.columns,
        settings.max_pending,
        settings.max_age,
        settings.history,
        Prediction,
    )


def own_losses(
    settings: MixtureSettings, table: Floats, values: Floats, outcomes: Floats
) -> tuple[Floats, Floats]:
    """Return the losses and the slopes of a loss function of the user's own.

    ``table`` has the forecasts of the experts, ``values`` a row with the blend and the components.
    For each row there are the losses of the experts, of its values and of uniform weights; and the
    slopes at its values, one row after the other.
    """
    loss = settings.loss
    assert isinstance(loss, OwnLoss)
    rows, _, n = table.shape
    predicted = values.shape[1]
    losses, slopes = np.full((rows, n + predicted + 1), np.nan), np.zeros((rows, predicted))
    for row in np.flatnonzero(~np.isnan(outcomes) & ~np.isnan(values[:, 0])):
        usable = np.abs(table[row, 0]) < LARGEST
        plain = combine(table[row, 0], usable / max(usable.sum(), 1), settings.combine)
        forecasts = np.array([*table[row, 0], *values[row], plain])
        awake = np.abs(forecasts) < LARGEST
        outcome = float(outcomes[row])
        losses[row, awake] = loss.row(forecasts[awake], outcome)
        if settings.gradient or predicted > 1:
            slopes[row] = [loss.slope_at(x, outcome) for x in values[row]]
    return losses, slopes.ravel()
