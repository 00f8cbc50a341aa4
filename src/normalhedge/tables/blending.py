"""A table of forecasts and outcomes, played through in time: what a loop over `Mixture` gives."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from normalhedge import _extras, _inputs, _threads
from normalhedge._inputs import LARGEST, Floats
from normalhedge.mixtures._sums import EXPERT_SUMS, REGRET, TOTAL_SUMS, WILD
from normalhedge.mixtures.automatic import Automatic
from normalhedge.mixtures.books import Books
from normalhedge.mixtures.comparing import Settled
from normalhedge.mixtures.mixture import Mixture
from normalhedge.mixtures.recipe import hedger_of, is_automatic
from normalhedge.mixtures.summarising import TablePart, summarise
from normalhedge.mixtures.summary import Summary
from normalhedge.tables.frames import Columns, Panel, count_experts, guess, panel, to_arrow
from normalhedge.tables.rounds import NEVER, TableRounds, arrange, store_pending

BINS = 500
"""Into how many stretches of time the sums are split, at most."""

CHUNK = 1 << 22
"""About how many forecasts are played between two words of progress."""

SMALL, SHARES = 1 << 17, 8
"""From how many forecasts on, and into how many shares, games are spread over the cores."""


@dataclass
class Blend:
    """What `blend` returns.

    Attributes
    ----------
    frame
        The rows in the order they were given (of a long table: one for each time and series), in
        the kind of table that was given: what they are, the target, ``blend`` (null where nobody
        is awake; one column for each class) and, if asked for, a column of weights for each expert.
    mixture
        Where the game stands; pass it on to continue with a later table.
    said
        What was guessed, and what else should be known, in sentences.
    starts, when
        The first round of each stretch of time that ``sums`` and ``totals`` are split into: its
        number, and its time where there is one.
    sums, totals
        Of each stretch; see `normalhedge.mixtures._sums`.
    rounds
        The forecasts as they were played.
    """

    frame: Any
    mixture: Mixture
    said: list[str]
    starts: np.ndarray
    when: list[Any]
    sums: Floats
    totals: Floats
    rounds: TableRounds

    def summary(self) -> Summary:
        """Return what a person wants to know of this table; it prints as a table."""
        rounds, new = self.rounds, self.rounds.row_of >= 0
        parts: tuple[Any, ...] = (rounds.forecasts, rounds.outcomes, rounds.items, rounds.values)
        rows = Settled(*(parts if new.all() else (part[new] for part in parts)))
        return summarise(self.mixture.books, TablePart(self.sums, self.totals, rows))


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
    weights: bool = False,
    mixture: Mixture | None = None,
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> Blend:
    """Blend the forecasts of a table, causally: nothing is learned before it is known.

    Parameters
    ----------
    frame
        pandas, polars or pyarrow. Wide: a column for each expert. Long: a column ``model``, and
        ``forecast`` or ``classes``. The output of Nixtla's ``cross_validation`` is understood as it
        is.
    target
        The column of outcomes; empty where they are not known yet. Classes 0, 1, ... for
        probabilities.
    experts
        The columns of the experts; all other columns of numbers by default.
    by
        The columns that name a series.
    time
        The column of times, one round for each. None: the rows come in the order of time.
    lag
        For how many further rounds an outcome stays unknown: 0 if it is known when the next round
        is predicted.
    pooled
        Whether all series of one time make one round, with common weights; else each series is a
        game of its own. A round counts once, with the outcomes that are known by then. None: with
        ``"auto"`` both, where the series have most of their times in common and, with a cutoff, one
        step each (the times of the whole table decide that: to be sure of it, say so); with a
        single rule, each series is a game of its own.
    cutoff
        The column of times at which forecasts were made, where ``time`` is what they are for: an
        outcome is known to those made at its time or later. Each step ahead has its own weights,
        unless pooled; then a round counts when the last of its steps is known.
    weights
        Whether to return what was played, too.
    mixture
        One to continue; else a new one is made from the options.
    progress
        Called with the share that is done.
    options
        What `Mixture` takes: ``hedger``, ``loss``, ``combine``, ``even``, ``include`` ... Hedgers
        that are tuned by the number of experts, such as ``"hedge"``, are tuned by the table's.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"y": [1.0, 2.0, 3.0], "a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 2.0]})
    >>> [round(x, 2) for x in blend(table, target="y").frame["blend"].to_pylist()]
    [0.5, 1.52, 2.57]
    >>> blend(table, target="y", hedger="normal-hedge").frame["blend"].to_pylist()
    [0.5, 2.0, 3.0]
    """
    arrow = _extras.require("pyarrow")
    try:
        return _blend(
            frame,
            Columns(
                target, None if experts is None else _tuple(experts), _tuple(by), time, cutoff,
                model, forecast, _tuple(classes),
            ),
            lag, pooled=pooled, weights=weights, mixture=mixture, progress=progress,
            options=options,
        )  # fmt: skip
    except arrow.ArrowException as error:
        raise ValueError(f"the table cannot be read: {str(error).splitlines()[0]}") from None


def _blend(
    frame: Any,
    given: Columns,
    lag: int,
    *,
    pooled: bool | None,
    weights: bool,
    mixture: Mixture | None,
    progress: Callable[[float], object] | None,
    options: dict[str, Any],
) -> Blend:
    """Do what `blend` says."""
    table, back = to_arrow(frame)
    columns = guess(table, given)
    lag = _lag(lag, columns)
    given_already = mixture is not None
    if mixture is None:
        plain = _tuple(options.get("include", ()))  # which may be an iterator, and is read again
        options = options | {"include": plain}
        if isinstance(options.get("hedger"), str) and not is_automatic(options["hedger"]):
            tuned = hedger_of(options["hedger"], count_experts(table, columns) + len(plain))
            options = options | {"hedger": tuned}
        mixture = Mixture(**options)
    elif options:
        raise TypeError(f"{next(iter(options))} belongs to the mixture, which is given already")
    if bool(columns.classes) != mixture.recipe.loss.of_classes:
        raise ValueError(
            f"loss {mixture.recipe.loss} needs {'class' if not columns.classes else 'numbers, not'}"
            " probabilities: see classes"
        )
    rows = panel(table, columns)
    mixture = _pooled(mixture, columns, rows, pooled, given_already, options)
    classes = rows.forecasts.shape[1]
    if any(waiting.forecasts.shape[1] != classes for waiting in mixture.pending.values()):
        raise ValueError("classes must be as many as in the earlier table")
    if len(columns.by) and len(rows.outcomes) == len(rows.items) > 1:
        columns.said.append("every series has one row only, so that nothing can be learned")
    _refuse_infinite(rows.outcomes, str(columns.target))
    if mixture.recipe.loss.of_wealth:
        _refuse_ruin(rows.outcomes, str(columns.target))
    with mixture.transaction() as work:
        rounds = arrange(work, rows, lag)
        index = rows.table
        del rows
        sums = _play_all(work, rounds, weights=weights, progress=progress)
        store_pending(work, rounds)
    return Blend(
        back(_result(index, rounds, sums.played, mixture, columns)),
        mixture,
        [*columns.said, *rounds.said, *_wild(sums.totals)],
        sums.starts,
        _when(index, rounds, sums.starts, columns.cutoff or columns.time),
        sums.experts,
        sums.totals,
        rounds,
    )


def _pooled(
    mixture: Mixture,
    columns: Columns,
    rows: Panel,
    pooled: bool | None,  # noqa: FBT001
    given: bool,  # noqa: FBT001
    options: Mapping[str, Any],
) -> Mixture:
    """Return the mixture with all series of one time in one round, or with a game for each.

    An automatic one has both, where the series are in step: else a lag would mean another time for
    each of them. Of several steps ahead each has its own game: their outcomes come at other times.
    """
    shared = not columns.by and columns.cutoff is None
    if not shared and pooled is None and given:
        shared = mixture.recipe.shared
    elif not shared and pooled is None:
        one_step = columns.cutoff is None or all(name.endswith("step 1") for name in rows.items)
        in_step = one_step and _in_step(rows.series, rows.times)
        shared = in_step and isinstance(mixture.recipe.hedger, Automatic)
    elif not shared:
        shared = bool(pooled)
    if mixture.recipe.shared == shared:
        return mixture
    if given:
        raise ValueError(f"the mixture is {'' if mixture.recipe.shared else 'not '}pooled")
    return Mixture(shared=shared, **options)


def _in_step(series: np.ndarray, times: np.ndarray) -> bool:
    """Tell whether series have most of the times between their first and their last."""
    count = np.bincount(series)
    first, last = np.full(len(count), times.max()), np.zeros(len(count), dtype=times.dtype)
    np.minimum.at(first, series, times)
    np.maximum.at(last, series, times)
    return bool(2 * count.sum() >= (last - first + 1)[count > 0].sum())


class _Sums(NamedTuple):
    starts: np.ndarray
    experts: Floats
    totals: Floats
    played: Floats


def _play_all(
    books: Books,
    rounds: TableRounds,
    *,
    weights: bool,
    progress: Callable[[float], object] | None,
) -> _Sums:
    """Play the rounds, game by game on all cores or a long game chunk by chunk; add up the sums."""
    n = len(books.names)
    count = int(rounds.offsets.max(initial=0)) + 1
    size = min(count, max(min(BINS, CHUNK // (EXPERT_SUMS * n)), 1))
    # Of a million rounds in 500 bins the product exceeds 32 bits.
    bins = (np.maximum(rounds.offsets, 0) * np.int64(size) // count).astype(np.int32)
    played = np.full((len(rounds.outcomes), n) if weights else (0, n), np.nan)
    experts, totals = np.zeros((size, EXPERT_SUMS, n)), np.zeros((size, TOTAL_SUMS))
    pieces = _pieces(rounds, n)
    # Functions of the caller's own are called by the thread of the caller.
    own = books.recipe.loss.kind is None or books.games.states is not None
    spread = _in_turn if own else _threads.spread
    for done, piece in enumerate(pieces):
        parts = spread(
            lambda games, stop: _play_part(books, rounds, games, stop, bins, played, size), piece
        )
        for part_experts, part_totals in parts:
            experts += part_experts
            totals[:, :REGRET] += part_totals[:, :REGRET]
            np.maximum(totals[:, REGRET:], part_totals[:, REGRET:], out=totals[:, REGRET:])
        if progress is not None:
            progress((done + 1) / len(pieces))
    new = (rounds.row_of >= 0).any()
    books.add_sums(experts, totals, rounds.base + count if new else books.rounds)
    starts = rounds.base + -(-np.arange(size) * count // size)
    return _Sums(starts, experts, totals, played)


def _in_turn(function: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> list[Any]:
    return [function(*item) for item in items]


def _pieces(rounds: TableRounds, n: int) -> list[list[tuple[slice, np.ndarray]]]:
    """Return what is played between two words of progress: shares for the cores of games.

    They depend on the data alone, so that sums come out the same on any number of cores.
    """
    games = len(rounds.games)
    cells = len(rounds.outcomes) * n
    if games == 1:
        start, stop = int(rounds.start[0]), int(rounds.stop[0])
        chunks = max(cells // CHUNK, 1)
        edges = [start + (stop - start) * (k + 1) // chunks for k in range(chunks)]
        return [[(slice(0, 1), np.array([edge]))] for edge in edges]
    shares = 1 if cells < SMALL else SHARES
    groups = max(min(cells // CHUNK, games // shares), 1)
    edges = [games * k // (groups * shares) for k in range(groups * shares + 1)]
    parts = [(slice(a, b), rounds.stop[a:b]) for a, b in pairwise(edges)]
    return [parts[k : k + shares] for k in range(0, len(parts), shares)]


def _play_part(
    books: Books,
    rounds: TableRounds,
    games: slice,
    stop: np.ndarray,
    bins: np.ndarray,
    played: Floats,
    size: int,
) -> tuple[Floats, Floats]:
    """Play some games up to a round of each; return the sums."""
    experts = np.zeros((size, EXPERT_SUMS, len(books.names)))
    totals = np.zeros((size, TOTAL_SUMS))
    books.games.play(
        rounds.games[games], rounds.start[games], stop, rounds.settled[games], rounds.edges,
        rounds.offsets, rounds.ready, bins, rounds.forecasts, rounds.values, rounds.outcomes,
        rounds.items, played, experts, totals, rounds.base,
    )  # fmt: skip
    rounds.start[games] = stop
    return experts, totals


def _result(
    result: Any, rounds: TableRounds, played: Floats, mixture: Mixture, columns: Columns
) -> Any:
    """Return the Arrow table of what was predicted, in the order of the caller's rows."""
    pa = _extras.require("pyarrow")
    place = np.argsort(rounds.row_of, kind="stable")[np.count_nonzero(rounds.row_of < 0) :]
    if len(place) < result.num_rows:
        result = result.take(pa.array(rounds.row_of[place]))
    values = rounds.values[place]
    names = [f"blend_{name}" for name in columns.classes] if columns.classes else ["blend"]
    for c, name in enumerate(names):
        result = result.append_column(_free(name, result), pa.array(values[:, c], from_pandas=True))
    if len(played):
        shares = played[place]
        for i, name in enumerate(mixture.names):
            column = pa.array(shares[:, i], from_pandas=True)
            result = result.append_column(_free(f"weight_{name}", result), column)
    return result


def _wild(totals: Floats) -> list[str]:
    count = int(totals[:, WILD].sum())
    return [f"{count:,} infinite forecast{'s' * (count > 1)} counted as missing"] if count else []


def _when(table: Any, rounds: TableRounds, starts: np.ndarray, time: str | None) -> list[Any]:
    """Return the time of each of some rounds, or its number where there are no times."""
    new = rounds.row_of[rounds.edges[:-1]] >= 0
    if time is None or not new.any():
        return [int(start) for start in starts]
    row = np.zeros(int(rounds.offsets.max()) + 1, dtype=np.int64)
    row[rounds.offsets[new]] = rounds.row_of[rounds.edges[:-1][new]]
    return [table[time][int(row[start - rounds.base])].as_py() for start in starts]


def _free(name: str, table: Any) -> str:
    while name in table.column_names:
        name += "_"
    return name


def _lag(lag: int, columns: Columns) -> int:
    if lag != 0 and columns.cutoff is not None:
        raise ValueError("lag and cutoff both say when outcomes are known: give one of them")
    try:
        return 0 if lag == 0 else min(_inputs.count("lag", lag), NEVER)
    except ValueError:
        raise ValueError(f"lag must not be negative, got {lag}") from None


def _tuple(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _refuse_infinite(outcomes: Floats, target: str) -> None:
    wrong = np.abs(outcomes) >= LARGEST
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"column {target} must be finite, it is {outcomes[row]} in row {row + 1}")


def _refuse_ruin(outcomes: Floats, target: str) -> None:
    wrong = outcomes <= 0.0
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"column {target} must have price relatives, more than 0, it is {outcomes[row]} in row "
            f"{row + 1}"
        )
