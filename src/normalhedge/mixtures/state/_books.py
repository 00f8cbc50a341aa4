"""The memory of a mixture: its settings, and the object of the core that owns the rest."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from normalhedge._core import STATE_FIELDS, Live
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import clipped
from normalhedge.hedgers import State
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.state._core_settings import RoundRecord, core_settings
from normalhedge.mixtures.state._interval_settings import IntervalSettings
from normalhedge.mixtures.state._operations import id_text
from normalhedge.mixtures.state._settings import PLAIN, MixtureSettings
from normalhedge.mixtures.state._table_facts import TableFacts
from normalhedge.mixtures.state._tickets import PendingRound, SettledRound
from normalhedge.mixtures.state.sum_rows import LAST

COUNTERS = ("rounds", "next_ticket", "expired", "left", "joined_late", "seeded", "warned")
"""The counters and marks of the core."""


class PendingRounds(Mapping[int, PendingRound]):
    """The rounds that wait for their outcomes, by ticket: a view that copies a round when asked."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def __getitem__(self, ticket: int) -> PendingRound:
        record = self._live.pending_round(ticket)
        if record is None:
            raise KeyError(ticket)
        return PendingRound.of(RoundRecord(*record))

    def __iter__(self) -> Iterator[int]:
        return iter(self._live.tickets())

    def __len__(self) -> int:
        return self._live.waiting

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True, eq=False)
class Books:
    """The settings of a mixture, and the object of the core that owns its state and its ledger."""

    settings: MixtureSettings
    live: Live  # the object of the core

    @classmethod
    def new(cls, settings: MixtureSettings) -> "Books":
        """Return the memory of a mixture that has seen nothing."""
        live = Live(core_settings(settings))
        live.join(live.version, [PLAIN[way] for way in settings.include], [])
        return cls(settings, live)

    def emptied(self) -> "Books":
        """Return the memory of a new mixture with the same settings."""
        return Books.new(self.settings)

    def copy(self, *, history: bool = True) -> "Books":
        """Return a copy that shares nothing that changes."""
        return Books(self.settings, self.live.copy(history))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a pickle holds."""
        return Books.restored, (self.dumped(),)

    def dumped(self) -> tuple[Any, ...]:
        """Return the settings and the content of the core, for a pickle."""
        with self.live.turn:
            return self.settings, _content_of(self.live)

    @classmethod
    def restored(cls, dumped: tuple[Any, ...]) -> "Books":
        """Return the memory that `dumped` described."""
        settings, content = dumped
        books = cls.new(settings)
        _fill(books, content)
        return books

    @property
    def intervals(self) -> IntervalSettings | None:
        """The settings of the intervals; None without intervals."""
        return self.settings.intervals

    @property
    def names(self) -> list[str]:
        """The experts, in the order in which they joined."""
        return self.live.names

    @property
    def items(self) -> list[str]:
        """The items, in the order in which they were first seen."""
        return self.live.items

    @property
    def rounds(self) -> int:
        """The number of rounds that were predicted."""
        return self.live.rounds

    @property
    def next_ticket(self) -> int:
        """The ticket of the next round."""
        return self.live.next_ticket

    @property
    def expired(self) -> int:
        """The number of rounds that were given up."""
        return self.live.expired

    @property
    def left(self) -> int:
        """The number of experts that have left."""
        return self.live.left

    @property
    def retired(self) -> frozenset[str]:
        """The experts whose forecasts are not used any more."""
        return self.live.retired

    @property
    def pending(self) -> PendingRounds:
        """The rounds that wait for their outcomes, by ticket."""
        return PendingRounds(self.live)

    @property
    def history(self) -> list[SettledRound]:
        """The last settled rounds, with the columns of the present experts."""
        return [
            SettledRound.of(RoundRecord(*record), outcomes, rounds)
            for record, outcomes, rounds in self.live.history
        ]

    @property
    def weights(self) -> Floats:
        """The weights of each game; games x experts."""
        return self.live.weights

    @property
    def regrets(self) -> Floats:
        """The regrets of each game, in units of gain; games x experts.

        NaN for an automatic mixture: its regrets are to ways of combining, not to experts.
        """
        if isinstance(self.settings.hedger, Automatic):
            return np.full_like(self.live.weights, nan)
        return self.live.ledgers[:, 0]

    @property
    def ranges(self) -> Floats:
        """The range of losses of each item, and the part of it used lately; NaN with auto."""
        if isinstance(self.settings.hedger, Automatic):
            return np.full((len(self.items), 2), np.nan)
        return self.live.ranges

    @property
    def levels(self) -> Floats:
        """The settings of the loss that the core needs: `Loss.settings`."""
        return np.array(self.settings.loss.settings)

    def hedger_state(self, item: str | None) -> Any:
        """Return the state of the hedger in the game of an item, or in the game of all items."""
        live, weights = self.live, self.weights
        if not self.names or not len(weights):
            raise ValueError("nothing was predicted yet")
        game = 0 if self.settings.shared or item is None else live.find_item(item)
        if game < 0 or (item is None and not self.settings.shared):
            raise ValueError(f"item must be one of {', '.join(self.items)}, got {item!r}")
        states = live.states
        if states is not None:
            return states[game]
        ledger, totals = live.ledgers[game], live.totals[game]
        return State(weights[game], ledger, totals, self.rounds, len(self.names), None)

    def covered(self) -> list[tuple[float, float, int]]:
        """Return the coverage of the intervals: see `IntervalSettings.covered`."""
        return [] if self.intervals is None else self.intervals.covered(self.live.intervals)

    def knows(self, name: Any) -> bool:
        """Tell whether an expert has this name."""
        return self.live.find(name) >= 0

    def widen(self, forecasts: Floats, confidence: Floats | None) -> tuple[Floats, Floats | None]:
        """Add columns of NaN, and confidence 0, for experts that joined after a round."""
        n = len(self.names)
        more = n - forecasts.shape[2]
        if not more:
            return forecasts, confidence
        wider = np.full((*forecasts.shape[:2], n), nan)
        wider[:, :, : forecasts.shape[2]] = forecasts
        return wider, None if confidence is None else np.pad(confidence, (0, more))

    def unknown_names(self, names: Iterable[str]) -> list[str]:
        """Return the names that do not belong to an expert yet, each once."""
        new = [name for name in dict.fromkeys(names) if not self.knows(name)]
        for name in new:
            if not isinstance(name, str):
                raise TypeError(f"names of experts must be strings, got {name!r}")
        if new and len(self.names) + len(new) > self.settings.max_names:
            raise ValueError(
                f"there are {len(self.names)} experts, and {len(new)} more exceed max_names = "
                f"{self.settings.max_names}: let some leave, or set forget_after"
            )
        return new

    def join(self, names: Sequence[str]) -> None:
        """Let experts join; names of present experts change nothing."""
        version = self.live.version
        self.live.join(version, self.unknown_names(names), [])

    def item_indices(self, items: Sequence[str]) -> np.ndarray:
        """Return the index of each item; add items not seen before."""
        live = self.live
        new = [name for name in dict.fromkeys(items) if live.find_item(name) < 0]
        live.join(live.version, [], new)
        return np.array([live.find_item(name) for name in items], dtype=np.int32)

    def leave(self, name: str) -> None:
        """Let an expert leave for good."""
        version, place, plain = self.live.version, self.live.find(name), len(self.settings.include)
        if place < 0:
            raise ValueError(f"there is no expert {name!r}")
        if place < plain or len(self.names) == plain + 1:
            raise ValueError(f"{name!r} cannot leave: plain combinations and one expert stay")
        self._forget_last_table()
        self.live.leave(version, np.array([place]))

    def rename(self, old: str, new: str) -> None:
        """Give an expert another name."""
        version, place = self.live.version, self._place(old)
        if not isinstance(new, str):
            raise TypeError(f"names of experts must be strings, got {new!r}")
        if self.knows(new):
            raise ValueError(f"there is an expert {new!r} already")
        self._forget_last_table()
        self.live.rename(version, place, new)

    def inherit(self, new: str, old: str) -> None:
        """Give an expert the record of another, so that it starts where the other stands."""
        source = self._place(old)
        if self.live.states is not None:
            raise ValueError(f"{type(self.settings.hedger).__name__} does not know how to inherit")
        if new == old or new in self.retired:
            raise ValueError(f"{new!r} cannot inherit from {old!r}")
        self._forget_last_table()
        version, live = self.live.version, self.live
        if not self.knows(new):
            live = live.copy(True)  # noqa: FBT003
            live.join(live.version, self.unknown_names([new]), [])
        live.inherit(live.version, Books(self.settings, live)._place(new), source)
        if live is not self.live:
            self.live.take_over(version, live)

    def retire(self, name: str) -> None:
        """Do not use the forecasts of an expert any more."""
        version, place = self.live.version, self._place(name)
        if len(self.names) - len(self.settings.include) == len(self.retired | {name}):
            raise ValueError(f"{name!r} cannot retire: one expert stays")
        self._forget_last_table()
        self.live.retire(version, place)

    def _forget_last_table(self) -> None:
        """Let no later table go back to the time before a change of the experts."""
        facts = TableFacts.of(self.live)
        if facts.last_table is not None:
            self.live.attached = facts._replace(last_table=None)

    def _place(self, name: str) -> int:
        """Return the column of an expert that is not a plain combination."""
        place = self.live.find(name)
        if place < 0:
            raise ValueError(f"there is no expert {name!r}")
        if place < len(self.settings.include):
            raise ValueError(f"{name!r} is a plain combination, not an expert")
        return place

    def let_sleep(self, forecasts: Floats) -> None:
        """Replace the forecasts of retired experts by NaN; the last axis is the experts'."""
        for name in self.retired:
            forecasts[..., self.live.find(name)] = nan

    def forget_sleepers(self, forecasts: Mapping[str, Any]) -> None:
        """Let experts leave that slept for more than `forget_after` rounds, if new names arrive."""
        limit = self.settings.forget_after
        if limit is None or not self.names or not self.unknown_names(forecasts):
            return
        version, names, plain = self.live.version, self.names, len(self.settings.include)
        last = self.live.marks[:, LAST].max(axis=0, initial=-1)
        last[:plain] = self.rounds
        places = [
            k
            for k in np.flatnonzero(last < self.rounds - limit).tolist()
            if names[k] not in forecasts
        ]
        if places:
            stays = len(names) - len(places) > plain
            self.live.leave(version, np.array(places if stays else places[1:], dtype=np.int64))

    def ticket_of(self, given: Any, *, settled: bool = False) -> int:
        """Return the ticket of an id of the caller."""
        text = id_text(given)
        ticket = self.live.find_id(text)
        if ticket < 0 and settled:
            ticket = next((r.ticket for r in reversed(self.history) if r.round.id == text), -1)
        if ticket < 0:
            kept = "was predicted lately" if settled else "waits for its outcome"
            raise KeyError(f"no round with id {clipped(repr(given), 80)} {kept}")
        return ticket

    def pending_round(self, ticket: Any) -> PendingRound:
        """Return the round of a ticket; refuse one that is unknown, used or expired."""
        whole_number = isinstance(ticket, int | np.integer)
        record = self.live.pending_round(int(ticket)) if whole_number else None
        if record is not None:
            return PendingRound.of(RoundRecord(*record))
        if isinstance(ticket, int) and 0 <= ticket < self.next_ticket:
            raise KeyError(f"ticket {ticket} was used already, or has expired")
        raise KeyError(f"ticket {ticket!r} was never given out")

    def correct(self, version: int, ticket: int, outcomes: Floats) -> None:
        """Play the rounds since a checkpoint again, with other outcomes of a settled round."""
        if not self.live.correct(version, ticket, outcomes):
            raise self._too_late(ticket)

    def settled_round(self, ticket: Any) -> PendingRound:
        """Return a round that was settled lately; refuse one that waits, or was never there."""
        if ticket in self.pending:
            raise KeyError(f"ticket {ticket} waits for its outcome: use update")
        for settled in reversed(self.history):
            if settled.ticket == ticket:
                round_: PendingRound = settled.round
                return round_
        if not 0 <= ticket < self.next_ticket:
            raise KeyError(f"ticket {ticket!r} was never given out")
        raise self._too_late(ticket)

    def _too_late(self, ticket: int) -> KeyError:
        return KeyError(
            f"the outcome of ticket {ticket} cannot be corrected any more: it is too many rounds "
            f"ago (history = {self.settings.history}), or experts or a table arrived since, or the "
            "mixture was loaded from a file since"
        )


def _content_of(live: Live) -> dict[str, Any]:
    """Return all that the core holds of a mixture, as plain data and arrays."""
    return {
        "names": live.names,
        "items": live.items,
        "counters": {name: getattr(live, name) for name in COUNTERS},
        "fields": {name: getattr(live, name) for name in STATE_FIELDS},
        "pending": [live.pending_round(ticket) for ticket in live.tickets()],
        "states": live.states,
        "attached": live.attached,
        "retired": sorted(live.retired),
        "history": live.history,
        "checkpoints": [(_content_of(then), since) for then, since in live.checkpoints],
    }


def _fill(books: Books, content: Mapping[str, Any]) -> None:
    """Fill the memory of a new mixture with a content."""
    live, plain = books.live, len(books.settings.include)
    live.join(live.version, content["names"][plain:], content["items"])
    live.assign(live.version, {k: np.array(array) for k, array in content["fields"].items()})
    counters = content["counters"]
    live.replace_pending(
        live.version, [], _own(content["pending"]), counters["next_ticket"], counters["expired"]
    )
    checkpoints = []
    for then, since in content["checkpoints"]:
        other = books.emptied()
        _fill(other, then)
        checkpoints.append((other.live, since))
    for name, value in counters.items():
        setattr(live, name, value)
    live.attached = content["attached"]
    live.restore(content["states"], content["retired"], _own(content["history"]), checkpoints)


def _own(value: Any) -> Any:
    """Return tuples with arrays of their own: those of a file of joblib may be maps of memory."""
    if isinstance(value, list | tuple):
        return type(value)(_own(part) for part in value)
    return np.array(value) if isinstance(value, np.ndarray) else value
