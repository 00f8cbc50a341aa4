"""Keep the rounds of a table that wait for their outcomes."""

import numpy as np

from normalhedge.mixtures.state import DeferredOutcome, PendingRound
from normalhedge.tables._rounds import TableRounds, key_of
from normalhedge.tables._session import TableSession


def store_pending(session: TableSession, rounds: TableRounds) -> None:
    """Store the rounds that are not settled, or have no outcome, in the session."""
    before = list(session.take_deferred().items())
    if not len(rounds.games):
        return
    unknown = np.logical_and.reduceat(np.isnan(rounds.outcomes), rounds.edges[:-1])
    late = unknown.copy()
    for settled, stop in zip(rounds.settled, rounds.stop, strict=True):
        open_rounds = rounds.order[settled:stop]
        late[open_rounds] = False
        unknown[open_rounds] = True
    keys = rounds.time_keys
    if keys is not None:
        for game, last in zip(rounds.games.tolist(), rounds.codes[rounds.stop - 1], strict=True):
            if last >= 0:
                session.last_times[game] = key_of(keys, last)
    # Rounds whose outcomes are overdue are not kept for ever.
    given_up = np.flatnonzero(late)[: -session.books.settings.max_pending]
    unknown[given_up] = False
    of = np.repeat(np.arange(len(rounds.games)), rounds.stop - rounds.first)
    kept = []
    for r in np.flatnonzero(unknown).tolist():
        a, b = rounds.edges[r], rounds.edges[r + 1]
        forecasts, values, outcomes = (part.copy() for part in rounds.rows(a, b))
        names = [session.books.items[i] for i in rounds.items[a:b]]
        keys_of_rows = None if names == [""] else names
        items, old = rounds.items[a:b].copy(), int(rounds.old[r])
        if old >= 0:
            ticket, (earlier, deferred) = before[old]
            number, time, known = earlier.number, deferred.time, deferred.known
        else:
            ticket, number = None, rounds.base + int(rounds.offsets[r])
            time, rows = key_of(keys, rounds.codes[r]), rounds.row_of[a:b]
            known = (
                [] if rounds.known_rows is None else [key_of(rounds.known_rows, k) for k in rows]
            )
        due = max(int(rounds.ready[r]) - int(rounds.stop[of[r]]), 0)
        last = max(int(rounds.places[rounds.stop[of[r]] - 1]), -1)  # -1 if no round is new
        since = last - int(rounds.places[r])
        kept.append(
            (
                ticket,
                PendingRound(forecasts, None, values, items, number, keys_of_rows),
                DeferredOutcome(int(rounds.games[of[r]]), due, known, time, outcomes, since),
            )
        )
    session.store_deferred(kept, len(given_up))
