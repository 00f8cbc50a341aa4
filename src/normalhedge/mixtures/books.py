"""The books of a mixture: its experts, its items, its pending rounds, and the arrays of the core.

This module is long because it is the only place that changes a mixture: every attribute that can
change has its owner here, next to the methods that change it.
"""

import os
import weakref
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from math import nan
from typing import Any

import numpy as np

from normalhedge import _inputs
from normalhedge._core import Turn
from normalhedge._inputs import Floats
from normalhedge._terminal import clipped
from normalhedge.hedgers import State
from normalhedge.mixtures._sums import LAST, REGRET, STEPS
from normalhedge.mixtures.automatic import Automatic
from normalhedge.mixtures.forecasts import Keys
from normalhedge.mixtures.growth import (
    ARRAYS,
    Growth,
    first_arrays,
    game_count,
    make_games,
    owned,
    whole,
    with_experts,
    with_games,
    with_inheritance,
    without_experts,
)
from normalhedge.mixtures.history import Checkpoint, Departure, Entry
from normalhedge.mixtures.interval_memory import IntervalMemory
from normalhedge.mixtures.operations import id_text
from normalhedge.mixtures.recipe import PLAIN, Recipe
from normalhedge.mixtures.tickets import DeferredOutcome, LastTable, PendingRound

MAX_PENDING, MAX_NAMES, HISTORY = 10_000, 1_000_000, 200
"""The default limits on the memory of a mixture: see `Mixture`."""

_NEVER = 1 << 62

_AFRESH: dict[str, Any] = {"checkpoints": (), "next_checkpoint": 0, "last_table": None}
"""The changes after which earlier rounds, and the last table, cannot be played again."""

_alive: "weakref.WeakSet[Books]" = weakref.WeakSet()


def _free_locks() -> None:
    """Give the mixtures of a forked process locks that no thread of its parent holds.

    The mixtures are consistent: one call of the core makes each change, and no fork interrupts it.
    """
    for books in _alive:
        books._lock = Turn()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_locks)


class Books:
    """The memory of a mixture, and the only class that changes it.

    A change of several attributes is prepared separately and then made by one call of the core, so
    that no signal and no exception can leave it half made.

    Parameters
    ----------
    recipe
        The settings of the mixture.
    max_pending, max_age, forget_after, max_names, history
        See `Mixture`.
    intervals
        The memory of the intervals, without items; None for no intervals.

    Attributes
    ----------
    names, items
        The names of the experts and of the items, in the order of their arrival.
    rounds
        The number of rounds that were predicted.
    next_ticket
        The ticket of the next round.
    pending
        The rounds that wait for their outcomes, by ticket.
    expired
        The number of rounds that were given up.
    deferred
        The outcomes of pending rounds of a table, and when they may be used, by ticket.
    last_times, time_kind
        The last time of each game of a table, and the kind of its times.
    last_table
        The last table, so that its rows are not learned twice.
    ids, old_ids
        The tickets of pending rounds, and of rounds settled lately, by the ids of the caller.
    retired
        The experts whose forecasts are not used any more.
    history, history_size
        The last settled rounds, see `normalhedge.mixtures.history`, and their largest number.
    checkpoints, next_checkpoint
        The last two checkpoints, and the number of rounds at which the next one is due. The core
        leaves an outcome to Python when one is due.
    intervals
        What was learned for the intervals of each item; None without intervals.
    joined_late, left, seeded
        Whether an expert joined after the first outcome; how many experts have left; whether an
        expert or an item started from the record of another.
    games
        The compiled part, which owns the arrays.
    simple
        Whether each forecast is a single number, so that the core can read forecasts itself.
    warned
        Whether the user was warned that infinite forecasts count as missing.
    """

    def __init__(
        self,
        recipe: Recipe,
        *,
        max_pending: int = MAX_PENDING,
        max_age: int | None = None,
        forget_after: int | None = None,
        max_names: int = MAX_NAMES,
        history: int = HISTORY,
        intervals: IntervalMemory | None = None,
    ) -> None:
        count = _inputs.count
        self.recipe = recipe
        self.max_pending = count("max_pending", max_pending)
        self.max_age = None if max_age is None else count("max_age", max_age)
        self.forget_after = None if forget_after is None else count("forget_after", forget_after)
        self.max_names = count("max_names", max_names)
        self.history_size = count("history", history) if history else 0
        self.history: deque[Entry] = deque(maxlen=self.history_size)
        self.checkpoints: tuple[Checkpoint, ...] = ()
        self.next_checkpoint = 0
        self.intervals = intervals
        self.names: list[str] = []
        self.items: list[str] = []
        self.rounds = self.expired = self.next_ticket = 0
        self.pending: dict[int, PendingRound] = {}
        self.deferred: dict[int, DeferredOutcome] = {}
        self.last_times: dict[int, Any] = {}
        self.time_kind = ""
        self.last_table: LastTable | None = None
        self.ids: dict[str, int] = {}
        self.old_ids: dict[str, int] = {}
        self.retired: frozenset[str] = frozenset()
        self.joined_late = self.seeded = self.warned = self.simple = False
        self.left = 0
        self._index: dict[str, int] = {}
        self._item_index: dict[str, int] = {}
        self.games = make_games(recipe)
        games = 1 if recipe.shared else 0
        states = [None] * games  # each gets its state when the first expert joins
        arrays = first_arrays(recipe, self.games, games)
        self.games.replace(self.games.version, arrays, states, vars(self), {}, ())
        self._lock = Turn()
        _alive.add(self)
        self.join([PLAIN[way] for way in recipe.include])

    @property
    def weights(self) -> Floats:
        """The weights of each game; games x experts."""
        return self.games.weights

    @property
    def regrets(self) -> Floats:
        """The regrets of each game, in units of gain; games x experts.

        NaN for an automatic mixture: its regrets are to ways of combining, not to experts.
        """
        if isinstance(self.recipe.hedger, Automatic):
            return np.full_like(self.games.weights, nan)
        return self.games.ledgers[:, 0]

    @property
    def ranges(self) -> Floats:
        """The range of losses of each item, and the part of it used lately; NaN with auto."""
        if isinstance(self.recipe.hedger, Automatic):
            return np.full((len(self.items), 2), np.nan)
        return self.games.ranges

    @property
    def levels(self) -> Floats:
        """The levels of the pinball loss; for other losses, one level that is not used."""
        return np.array(self.recipe.loss.levels or (0.5,))

    def hedger_state(self, item: str | None) -> Any:
        """Return the state of the hedger in the game of an item, or in the game of all items."""
        if not self.names or not len(self.weights):
            raise ValueError("nothing was predicted yet")
        if not self.recipe.shared and item not in self._item_index:
            raise ValueError(f"item must be one of {', '.join(self.items)}, got {item!r}")
        game = 0 if self.recipe.shared else self._item_index[str(item)]
        games = self.games
        if games.states is not None:
            return games.states[game]
        weights, ledger = games.weights[game].copy(), games.ledgers[game].copy()
        return State(weights, ledger, games.totals[game].copy(), self.rounds, len(self.names), None)

    def knows(self, name: str) -> bool:
        """Tell whether an expert has this name."""
        return name in self._index

    def widen(self, forecasts: Floats, confidence: Floats | None) -> tuple[Floats, Floats | None]:
        """Add columns of NaN, and confidence 0, for experts that joined after a round.

        Parameters
        ----------
        forecasts, confidence
            As in `PendingRound`.
        """
        more = len(self.names) - forecasts.shape[2]
        if not more:
            return forecasts, confidence
        wider = np.full((*forecasts.shape[:2], len(self.names)), nan)
        wider[:, :, : forecasts.shape[2]] = forecasts
        return wider, None if confidence is None else np.pad(confidence, (0, more))

    def unknown_names(self, names: Iterable[str]) -> list[str]:
        """Return the names that do not belong to an expert yet, each once."""
        new = [name for name in dict.fromkeys(names) if not self.knows(name)]
        for name in new:
            if not isinstance(name, str):
                raise TypeError(f"names of experts must be strings, got {name!r}")
        if len(self.names) + len(new) > self.max_names:
            raise ValueError(
                f"there are {len(self.names)} experts, and {len(new)} more exceed max_names = "
                f"{self.max_names}: let some leave, or set forget_after"
            )
        return new

    def join(self, names: Sequence[str]) -> None:
        """Let experts join; names of present experts change nothing."""
        version, new = self.games.version, self.unknown_names(names)
        if new and self._join_quickly(version, new):
            return
        growth, _ = self.grow(new, [])
        self._take_over(version, growth._replace(changes={**growth.changes, **_AFRESH}))

    def _join_quickly(self, version: int, new: list[str]) -> bool:
        """Let experts join in spare columns; return false if this is not possible."""
        hedger, before = self.recipe.hedger, len(self.names)
        if self.games.states is not None or getattr(hedger, "begins_with_something", False):
            return False
        places = {name: before + k for k, name in enumerate(new)}
        late = {"joined_late": self.joined_late or bool(self.games.total_sums[STEPS]), **_AFRESH}
        return self.games.join(version, self.names, new, vars(self), late, (self._index, places))

    def item_indices(self, keys: Keys) -> np.ndarray:
        """Return the index of each item; add items not seen before."""
        version = self.games.version
        growth, found = self.grow([], [""] if keys is None else [str(key) for key in keys])
        self._take_over(version, growth)
        return found

    def grow(self, names: Sequence[str], items: Sequence[str]) -> tuple[Growth, np.ndarray]:
        """Prepare the changes for new experts and new items; return them, and the item indices.

        Parameters
        ----------
        names
            The names of the new experts.
        items
            The names of the items of a round, known ones and new ones.
        """
        games = self.games
        arrays: dict[str, np.ndarray] = {}
        changes: dict[str, Any] = {}
        places: dict[str, int] = {}
        item_places: dict[str, int] = {}
        states = None if games.states is None else list(games.states)
        before, has_learned = games.weights.shape[1], bool(games.total_sums[STEPS])
        if names:
            n = before + len(names)
            places |= {name: before + k for k, name in enumerate(names)}
            changes = {
                "names": [*self.names, *names],
                "joined_late": self.joined_late or has_learned,
            }
            arrays = with_experts(self.recipe, games, n, states, has_learned=has_learned)
        known = len(self.items)
        new = [key for key in dict.fromkeys(items) if key not in self._item_index]
        if new:
            item_places |= {key: known + k for k, key in enumerate(new)}
            changes["items"] = [*self.items, *new]
            arrays["ranges"] = np.pad(games.ranges, ((0, len(new)), (0, 0)))
            if self.intervals is not None:
                changes["intervals"] = self.intervals.grown(len(new))
            more = game_count(self.recipe, known + len(new)) - len(games.weights)
            if more:
                arrays |= with_games(self.recipe, games, arrays, more, states)
        if not changes:
            return Growth(), self._item_indices(items, {})
        changes["simple"] = self._is_simple(
            changes.get("names", self.names), changes.get("items", self.items)
        )
        merges = (self._index, places, self._item_index, item_places)
        growth = Growth(whole(games, arrays), changes, states, merges)
        return growth, self._item_indices(items, item_places)

    def _item_indices(self, keys: Sequence[str], new: Mapping[str, int]) -> np.ndarray:
        index = self._item_index
        return np.array([new[key] if key in new else index[key] for key in keys], dtype=np.int32)

    def _is_simple(self, names: Sequence[str], items: Sequence[str]) -> bool:
        loss = self.recipe.loss
        plain = not self.recipe.include and not loss.of_classes and loss.kind is not None
        named = bool(names) and bool(items) and items[0] == ""
        several = len(loss.levels) > 1 or loss.of_levels or self.retired or self.intervals
        return plain and named and self.games.states is None and not several

    def _take_over(self, version: int, growth: Growth) -> None:
        """Make changes that were prepared for this version of the mixture."""
        if growth.changes:
            arrays, changes, states, merges = growth
            self.games.replace(version, arrays, states, vars(self), dict(changes), merges)

    def leave(self, name: str) -> None:
        """Let an expert leave for good."""
        if not self.knows(name):
            raise ValueError(f"there is no expert {name!r}")
        place, plain = self._index[name], len(self.recipe.include)
        if place < plain or len(self.names) == plain + 1:
            raise ValueError(f"{name!r} cannot leave: plain combinations and one expert stay")
        self._leave([place])

    def _leave(self, places: Sequence[int]) -> None:
        """Let the experts at these places leave."""
        version, games = self.games.version, self.games
        arrays, states = without_experts(self.recipe, games, places)
        stay = np.delete(np.arange(len(self.names)), places)
        names = [self.names[k] for k in stay.tolist()]
        history = self.history.copy()
        history.append(Departure(stay))
        changes = {
            "names": names,
            "_index": {name: k for k, name in enumerate(names)},
            "pending": {t: one.only(stay) for t, one in self.pending.items()},
            "retired": self.retired & set(names),
            "left": self.left + len(places),
            "history": history,
            **_AFRESH,
        }
        games.replace(version, whole(games, arrays), states, vars(self), changes, ())

    def rename(self, old: str, new: str) -> None:
        """Give an expert another name.

        Parameters
        ----------
        old, new
            The present name, and a name that no expert has.
        """
        place = self._place(old)
        if not isinstance(new, str):
            raise TypeError(f"names of experts must be strings, got {new!r}")
        if self.knows(new):
            raise ValueError(f"there is an expert {new!r} already")
        names = [*self.names[:place], new, *self.names[place + 1 :]]
        changes = {
            "names": names,
            "_index": {name: k for k, name in enumerate(names)},
            "retired": frozenset(new if name == old else name for name in self.retired),
            "last_table": None,
        }
        self.games.replace(self.games.version, None, None, vars(self), changes, ())

    def inherit(self, new: str, old: str) -> None:
        """Give an expert the ledger of another, so that it starts where the other stands.

        Parameters
        ----------
        new
            The expert that inherits; it joins if it is not present.
        old
            The expert whose ledger is copied.
        """
        source = self._place(old)
        if self.games.states is not None:
            raise ValueError(f"{type(self.recipe.hedger).__name__} does not know how to inherit")
        if new == old or new in self.retired:
            raise ValueError(f"{new!r} cannot inherit from {old!r}")
        version, games, n = self.games.version, self.games, len(self.names)
        arrays: dict[str, np.ndarray] = {}
        places: dict[str, int] = {}
        changes: dict[str, Any] = {**_AFRESH, "joined_late": True, "seeded": True}
        if self.knows(new):
            target = self._place(new)
        else:
            target = places[self.unknown_names([new])[0]] = n
            learned = bool(games.total_sums[STEPS])
            arrays = with_experts(self.recipe, games, n + 1, None, has_learned=learned)
            changes["names"] = [*self.names, new]
        arrays |= with_inheritance(games, arrays, target, source)
        merges = (self._index, places)
        games.replace(version, whole(games, arrays), None, vars(self), changes, merges)

    def retire(self, name: str) -> None:
        """Do not use the forecasts of an expert any more."""
        self._place(name)
        retired = self.retired | {name}
        if len(self.names) - len(self.recipe.include) == len(retired):
            raise ValueError(f"{name!r} cannot retire: one expert stays")
        changes: dict[str, Any] = {"retired": retired, "simple": False, **_AFRESH}
        self.games.replace(self.games.version, None, None, vars(self), changes, ())

    def _place(self, name: str) -> int:
        """Return the column of an expert that is not a plain combination."""
        if not self.knows(name):
            raise ValueError(f"there is no expert {name!r}")
        if self._index[name] < len(self.recipe.include):
            raise ValueError(f"{name!r} is a plain combination, not an expert")
        return self._index[name]

    def let_sleep(self, forecasts: Floats) -> None:
        """Replace the forecasts of retired experts by NaN.

        Parameters
        ----------
        forecasts
            An array whose last axis is that of the experts.
        """
        for name in self.retired:
            forecasts[..., self._index[name]] = nan

    def forget_sleepers(self, forecasts: Mapping[str, Any]) -> None:
        """Let experts leave that slept for more than `forget_after` rounds, if new names arrive.

        Parameters
        ----------
        forecasts
            The forecasts of the next round, by name.
        """
        if self.forget_after is None or not self.names or not self.unknown_names(forecasts):
            return
        last = self.games.marks[:, LAST].max(axis=0, initial=-1)
        last[: len(self.recipe.include)] = self.rounds
        places = [
            k
            for k in np.flatnonzero(last < self.rounds - self.forget_after).tolist()
            if self.names[k] not in forecasts
        ]
        if places:
            stays = len(self.names) - len(places) > len(self.recipe.include)
            self._leave(places if stays else places[1:])

    def expiring(self) -> int | None:
        """Return the ticket of the round that the next prediction gives up, if there is one."""
        pending = self.pending
        oldest = next(iter(pending), None)
        if oldest is None:
            return None
        late = self.max_age is not None and pending[oldest].number < self.rounds + 1 - self.max_age
        return oldest if late or len(pending) >= self.max_pending else None

    def counted(self, expiring: int | None) -> dict[str, Any]:
        """Return the attributes that change when a round is predicted."""
        changes: dict[str, Any] = {"rounds": self.rounds + 1, "next_ticket": self.next_ticket + 1}
        if expiring is not None:
            changes["expired"] = self.expired + 1
            if expiring in self.deferred:
                changes["deferred"] = {k: v for k, v in self.deferred.items() if k != expiring}
        return changes

    def ticket_of(self, given: Any, *, settled: bool = False) -> int:
        """Return the ticket of an id of the caller.

        Parameters
        ----------
        given
            The id.
        settled
            Whether the round may be settled already.

        Raises
        ------
        KeyError
            If there is no such round.
        """
        text = id_text(given)
        known = {**self.old_ids, **self.ids} if settled else self.ids
        if text not in known:
            kept = "was predicted lately" if settled else "waits for its outcome"
            raise KeyError(f"no round with id {clipped(repr(given), 80)} {kept}")
        return known[text]

    def pending_round(self, ticket: Any) -> PendingRound:
        """Return the round of a ticket.

        Raises
        ------
        KeyError
            If the ticket is unknown, used or expired.
        """
        whole_number = isinstance(ticket, int | np.integer)
        found = self.pending.get(int(ticket)) if whole_number else None
        if found is not None:
            return found
        if isinstance(ticket, int) and 0 <= ticket < self.next_ticket:
            raise KeyError(f"ticket {ticket} was used already, or has expired")
        raise KeyError(f"ticket {ticket!r} was never given out")

    def note(self, ticket: int, outcomes: Floats) -> None:
        """Add the losses of a pending round to the sums, before it is settled.

        Parameters
        ----------
        ticket
            The ticket of the round.
        outcomes
            The outcome of each row; NaN where it is unknown.
        """
        one = self.pending[ticket]
        forecasts, confidence = self.widen(one.forecasts, one.confidence)
        self.games.note(self.games.version, forecasts, confidence, one.values, outcomes, one.items)

    def remember_id(self, text: str, ticket: int) -> None:
        """Remember the id that a stream gave a round; forget the ids of expired rounds.

        Parameters
        ----------
        text
            The id as JSON.
        ticket
            The ticket of the round.
        """
        self.ids[text] = ticket
        self.old_ids.pop(text, None)
        if len(self.ids) > 2 * self.max_pending:
            self.ids = {k: v for k, v in self.ids.items() if v in self.pending}

    def forget_id(self, text: str, ticket: int) -> None:
        """Forget the id of a settled round.

        Parameters
        ----------
        text
            The id as JSON.
        ticket
            The ticket of the round.
        """
        if self.ids.get(text) != ticket:
            return
        del self.ids[text]
        self.old_ids[text] = ticket
        while len(self.old_ids) > self.history_size:
            del self.old_ids[next(iter(self.old_ids))]

    def begin_table(self, time_kind: str) -> None:
        """Set the kind of a table's times; refuse a kind other than that of earlier tables."""
        if self.time_kind not in {"", time_kind} and self.last_times:
            raise ValueError("the times of this table cannot be compared with the earlier ones")
        self.time_kind = time_kind
        self.checkpoints, self.next_checkpoint = (), 0

    def add_sums(self, expert_sums: Floats, totals: Floats, rounds: int) -> None:
        """Add the sums of a table to those of the mixture, and count its rounds.

        Parameters
        ----------
        expert_sums
            The sums of the experts; stretches x sums x experts.
        totals
            The sums of the blend; stretches x sums. From `REGRET` on they are maxima.
        rounds
            The number of rounds of the mixture, including those of the table.
        """
        sums = self.games.total_sums
        self.games.expert_sums[:] += expert_sums.sum(axis=0)
        sums[:REGRET] += totals[:, :REGRET].sum(axis=0)
        sums[REGRET:] = np.maximum(sums[REGRET:], totals[:, REGRET:].max(axis=0))
        self.rounds = rounds

    def take_deferred(self) -> dict[int, tuple[PendingRound, DeferredOutcome]]:
        """Remove the pending rounds of earlier tables, and return them by ticket."""
        found = {t: (self.pending.pop(t), one) for t, one in self.deferred.items()}
        self.deferred = {}
        return found

    def store_deferred(
        self, rounds: Iterable[tuple[int | None, PendingRound, DeferredOutcome]], expired: int
    ) -> None:
        """Store rounds of a table whose outcomes may not be used yet, sorted by ticket.

        Parameters
        ----------
        rounds
            Each round with its ticket; None for a round that gets a new ticket.
        expired
            The number of rounds of the table that were given up.
        """
        for given, one, deferred in rounds:
            ticket = self.next_ticket if given is None else given
            self.next_ticket = max(self.next_ticket, ticket + 1)
            self.pending[ticket] = one
            self.deferred[ticket] = deferred
        self.expired += expired
        self.pending = dict(sorted(self.pending.items()))
        self.deferred = dict(sorted(self.deferred.items()))

    def take_over(self, other: "Books", version: int) -> None:
        """Take over the content of a copy, if nothing has changed since this version.

        Parameters
        ----------
        other
            The copy, which was changed and is not used any more.
        version
            The version of these books when the copy was made.
        """
        changes = {k: v for k, v in vars(other).items() if k != "_lock"}
        self.games.replace(version, None, None, vars(self), changes, ())

    def emptied(self) -> "Books":
        """Return new books with the same settings."""
        return Books(
            self.recipe,
            max_pending=self.max_pending,
            max_age=self.max_age,
            forget_after=self.forget_after,
            max_names=self.max_names,
            history=self.history_size,
            intervals=None if self.intervals is None else self.intervals.emptied(),
        )

    def forget_history(self) -> None:
        """Drop the settled rounds, the checkpoints and the last table."""
        self.history.clear()
        self.checkpoints, self.next_checkpoint, self.last_table = (), 0, None

    def start_from_pool(self, items: Sequence[str]) -> None:
        """Let the games of new items start from the mean of the games of the others.

        With steps ahead, a game starts from the games of the same step, if there are any.

        Parameters
        ----------
        items
            The names of the new items, which are in the books already.
        """
        games = self.games
        if self.recipe.shared or games.states is not None or not items:
            return
        new = {self._item_index[name] for name in items}
        played = games.marks[:, LAST].max(axis=1, initial=-1) >= 0
        known = [k for k in range(len(self.items)) if played[k] and k not in new]
        for name in items:
            game, (_, step, count) = self._item_index[name], name.rpartition("step ")
            like = [k for k in known if step and self.items[k].endswith(step + count)] or known
            if like:
                games.ledgers[game] = games.ledgers[like].mean(axis=0)
                games.totals[game] = games.totals[like].mean(axis=0)
                games.weights[game] = games.weights[like].mean(axis=0)
                games.weigh(game)
                self.seeded = True

    def copy(self, *, history: bool = True) -> "Books":
        """Return a copy that shares no mutable part with these books.

        Parameters
        ----------
        history
            Whether the copy has the settled rounds, checkpoints and last table, too.
        """
        other = object.__new__(Books)
        for name, value in vars(self).items():
            vars(other)[name] = copy(value) if isinstance(value, dict | list | deque) else value
        other.deferred = {
            k: one._replace(outcomes=one.outcomes.copy()) for k, one in self.deferred.items()
        }
        states = None if self.games.states is None else list(self.games.states)
        other._take(self._arrays(), states)
        if not history:
            other.forget_history()
        return other

    def checkpoint_if_due(self, version: int) -> None:
        """Store a checkpoint, if the last one is half the length of the history ago.

        Not if the games have another version when it is complete: then its parts may be of
        different rounds, since a signal handler used the mixture meanwhile.
        """
        if self.rounds < self.next_checkpoint:
            return
        if not self.history_size:
            self.next_checkpoint = _NEVER
            return
        here = Checkpoint(
            self._arrays(),
            None if self.games.states is None else list(self.games.states),
            len(self.names),
            len(self.items),
            self.rounds,
            self.next_ticket,
            self.expired,
            self.pending.copy(),
            self.intervals,
            self.history[-1] if self.history else None,
        )
        if self.games.version != version:
            return
        self.checkpoints = (*self.checkpoints[-1:], here)
        self.next_checkpoint = self.rounds + max(1, self.history_size // 2)

    def at_checkpoint(self, checkpoint: Checkpoint) -> "Books":
        """Return a copy of these books as they were at a checkpoint.

        Ids and the times of tables stay as they are now: no checkpoint survives a table.

        Parameters
        ----------
        checkpoint
            One of the checkpoints.
        """
        other = self.copy()
        other.names, other.items = self.names[: checkpoint.experts], self.items[: checkpoint.items]
        other._index = {name: k for k, name in enumerate(other.names)}
        other._item_index = {name: k for k, name in enumerate(other.items)}
        other.pending, other.intervals = checkpoint.pending.copy(), checkpoint.intervals
        other.rounds, other.next_ticket = checkpoint.rounds, checkpoint.next_ticket
        while other.history and other.history[-1] is not checkpoint.last:
            other.history.pop()
        other.simple = other._is_simple(other.names, other.items)
        other.checkpoints = tuple(c for c in self.checkpoints if c.rounds <= checkpoint.rounds)
        other.next_checkpoint = checkpoint.rounds + max(1, self.history_size // 2)
        states = None if checkpoint.states is None else list(checkpoint.states)
        other._take(tuple(array.copy() for array in checkpoint.arrays), states)
        return other

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return tuple(getattr(self.games, name).copy() for name in ARRAYS)

    def _take(self, arrays: tuple[np.ndarray, ...], states: list[Any] | None) -> None:
        """Make a new compiled part of these arrays."""
        self._lock = Turn()
        self.games = make_games(self.recipe)
        all_arrays = (*(owned(array) for array in arrays), arrays[0].shape[1])
        self.games.replace(self.games.version, all_arrays, states, vars(self), {}, ())
        _alive.add(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the lock, with the arrays of the compiled part."""
        with self._lock:
            kept = {k: v for k, v in vars(self).items() if k not in {"games", "_lock"}}
            kept |= {k: copy(v) for k, v in kept.items() if isinstance(v, dict | list | deque)}
            states = None if self.games.states is None else list(self.games.states)
            return {**kept, "arrays": self._arrays(), "states": states}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Restore the attributes, with a new lock and a new compiled part."""
        arrays, states = kept.pop("arrays"), kept.pop("states")
        vars(self).update(kept)
        self._take(arrays, states)
