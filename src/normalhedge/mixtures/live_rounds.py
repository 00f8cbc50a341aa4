"""One round of a mixture: predict it, settle it, and play rounds again with a corrected outcome."""

import warnings
from collections.abc import Sequence

import numpy as np

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.mixtures.books import Books
from normalhedge.mixtures.forecasts import Keys
from normalhedge.mixtures.history import Checkpoint, SettledRound, entries_since
from normalhedge.mixtures.tickets import PendingRound, Prediction, shaped

# Bound to a name of this module: with five experts each further look-up is measurable.
_empty = np.empty


def predict_round(
    books: Books,
    version: int,
    table: Floats,
    confidences: Floats | None,
    keys: Keys,
    new: Sequence[str],
    text: str | None = None,
) -> Prediction:
    """Predict a round; return the prediction.

    Parameters
    ----------
    books
        The memory of the mixture.
    version
        The version of its games before the forecasts were read. The round is refused if there is
        another one by now: a signal handler may have used the mixture in between.
    table
        The forecasts; rows x classes x experts, NaN where an expert sleeps.
    confidences
        The confidence of each expert; None if all have confidence 1.
    keys
        The keys of the rows.
    new
        The names of the experts that are new in this round; they have the last columns.
    text
        The id of the round, as JSON; None if it has none.
    """
    growth, items = books.grow(new, [""] if keys is None else [str(key) for key in keys])
    names = growth.changes.get("names", books.names)
    if books.recipe.include:
        books.games.fill_plain(table, confidences)
    rows, classes, n = table.shape
    values = _empty((rows, classes * books.games.shape[3]))
    distribution = _empty((rows, n))
    number, ticket, expiring = books.rounds, books.next_ticket, books.expiring()
    changes = {**growth.changes, **books.counted(expiring)}
    memory, tokens, told = changes.get("intervals", books.intervals), None, None
    if memory is not None:
        changes["intervals"], tokens, told = memory.begun(items)
    pending = PendingRound(table, confidences, values, items, number, keys, tokens)
    if not books.warned and (np.abs(table) >= _inputs.LARGEST).any():
        warnings.warn("infinite forecasts count as missing", RuntimeWarning, stacklevel=4)
        changes["warned"] = True
    merges = growth.merges if text is None else (*growth.merges, books.ids, {text: ticket})
    books.games.predict(
        version, growth.arrays, growth.states, number, table, confidences, values,
        distribution, items, pending, books.pending, ticket, expiring, vars(books), changes,
        merges, told,
    )  # fmt: skip
    if text is not None:
        books.remember_id(text, ticket)
    intervals = None if memory is None else memory.shaped_bounds(told, keys)
    value = shaped(values[:, :classes], keys)
    return Prediction(value, ticket, names, distribution, keys, intervals)


def settle_round(books: Books, version: int, ticket: int, outcomes: Floats) -> None:
    """Learn from the outcomes of a pending round.

    Parameters
    ----------
    books
        The memory of the mixture.
    version
        The version of its games before the pending round was read, as for `predict_round`.
    ticket
        The ticket of the round.
    outcomes
        The outcome of each row; NaN where it is unknown.
    """
    books.checkpoint_if_due(version)
    pending = books.pending[ticket]
    table, confidences = books.widen(pending.forecasts, pending.confidence)
    changes = {}
    if books.intervals is not None:
        changes["intervals"] = books.intervals.learned(pending, outcomes)
    books.games.update(
        version, table, confidences, pending.values, outcomes, pending.items, pending, ticket,
        vars(books), changes,
    )  # fmt: skip


def find_settled(books: Books, ticket: int) -> tuple[Checkpoint, list[SettledRound], int]:
    """Return a checkpoint before a settled round, the rounds settled since, and its place in them.

    Parameters
    ----------
    books
        The memory of the mixture.
    ticket
        The ticket of the round.

    Raises
    ------
    KeyError
        If the round was never settled, or too long ago.
    """
    if ticket in books.pending:
        raise KeyError(f"ticket {ticket} waits for its outcome: use update")
    for checkpoint in reversed(books.checkpoints):
        entries = entries_since(books.history, checkpoint)
        places = [k for k, one in enumerate(entries or ()) if one.ticket == ticket]
        if entries and places and books.expired == checkpoint.expired:
            return checkpoint, entries, places[0]
    if not 0 <= ticket < books.next_ticket:
        raise KeyError(f"ticket {ticket!r} was never given out")
    raise KeyError(
        f"the outcome of ticket {ticket} cannot be corrected any more: it is too many rounds ago "
        f"(history = {books.history_size}), or experts or a table arrived since, or the mixture "
        "was loaded from a file since"
    )


def play_again(books: Books, checkpoint: Checkpoint, entries: Sequence[SettledRound]) -> Books:
    """Return books in which the rounds since a checkpoint have been predicted and settled again.

    Parameters
    ----------
    books
        The memory of the mixture, which does not change.
    checkpoint
        The checkpoint from which to start.
    entries
        The rounds settled since, with the outcomes to learn from.
    """
    again = books.at_checkpoint(checkpoint)
    made = {one.ticket: one.round for one in entries} | books.pending
    coming = sorted(
        ((ticket, one) for ticket, one in made.items() if one.number >= checkpoint.rounds),
        key=lambda pair: pair[1].number,
        reverse=True,
    )

    def predict_until(rounds: int) -> None:
        while coming and coming[-1][1].number < rounds:
            ticket, one = coming.pop()
            again.rounds, again.next_ticket = one.number, ticket
            known, n = len(again.names), one.forecasts.shape[2]
            table = one.forecasts.copy()
            version, new = again.games.version, books.names[known:n]
            predict_round(again, version, table, one.confidence, one.keys, new)

    for one in entries:
        predict_until(one.rounds)
        settle_round(again, again.games.version, one.ticket, one.outcomes)
    predict_until(books.rounds)
    again.rounds, again.next_ticket = books.rounds, books.next_ticket
    return again
