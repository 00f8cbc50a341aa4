"""The state of a mixture: its settings, and the object of the core that owns the rest."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from math import nan
from typing import Any, Self

import numpy as np

from normalhedge._core import STATE_FIELDS, Live
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import clipped, counted
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.state._core_settings import RoundRecord, core_settings
from normalhedge.mixtures.state._interval_settings import IntervalSettings
from normalhedge.mixtures.state._operations import id_text
from normalhedge.mixtures.state._settings import PLAIN, MixtureSettings
from normalhedge.mixtures.state._table_facts import TableFacts
from normalhedge.mixtures.state._tickets import PendingRound, Prediction, SettledRound
from normalhedge.mixtures.state.sum_rows import LAST

COUNTERS = ("rounds", "next_ticket", "expired", "left", "joined_late", "seeded", "warned")
"""The counters and marks of the core."""

INSIDE = nullcontext()
"""An interrupt on the way out of the last manager of a ``with`` may skip its exit: let that be this
one, and not the lock."""


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


class MixtureState:
    """The settings of a mixture, and the object of the core that owns its numbers and its ledger.

    `Mixture` adds forecasts and outcomes. Tables and files work on the state alone.
    """

    def __init__(self, settings: MixtureSettings, live: Live) -> None:
        self._settings, self._live = settings, live

    @classmethod
    def new(cls, settings: MixtureSettings) -> "MixtureState":
        """Return the state of a mixture that has seen nothing."""
        live = Live(core_settings(settings))
        live.join(live.version, [PLAIN[way] for way in settings.include], [], [], [])
        return MixtureState(settings, live)

    @classmethod
    def of(cls, state: "MixtureState") -> Self:
        """Return an object of this class that shares a state."""
        made = object.__new__(cls)
        MixtureState.__init__(made, state.settings, state.live)
        return made

    def copy(self, *, history: bool = True) -> Self:
        """Return a copy that shares nothing that changes."""
        return self.of(MixtureState(self._settings, self._live.copy(history)))

    def __reduce__(self) -> tuple[Any, ...]:
        with self._live.turn:
            return type(self)._restored, ((self._settings, _content_of(self._live)),)

    @classmethod
    def _restored(cls, pickled: tuple[Any, ...]) -> Self:
        settings, content = pickled
        state = cls.new(settings)
        _fill(state, content)
        return cls.of(state)

    @property
    def settings(self) -> MixtureSettings:
        """The settings, with all defaults filled in."""
        return self._settings

    @property
    def live(self) -> Live:
        """The object of the core, which owns the state and the ledger."""
        return self._live

    @property
    def intervals(self) -> IntervalSettings | None:
        """The settings of the intervals; None without intervals."""
        return self._settings.intervals

    @property
    def names(self) -> list[str]:
        """The experts, in the order in which they joined."""
        return self._live.names

    @property
    def items(self) -> list[str]:
        """The names of the items, in the order in which they were first seen."""
        return self._live.items

    @property
    def rounds(self) -> int:
        """The number of rounds that were predicted."""
        return self._live.rounds

    @property
    def next_ticket(self) -> int:
        """The ticket of the next round."""
        return self._live.next_ticket

    @property
    def expired(self) -> int:
        """The number of rounds that were given up: see ``max_pending`` and ``max_age``."""
        return self._live.expired

    @property
    def retired(self) -> frozenset[str]:
        """The experts whose forecasts are not used any more: see `retire`."""
        return self._live.retired

    @property
    def pending(self) -> PendingRounds:
        """The rounds that wait for their outcomes, by ticket."""
        return PendingRounds(self._live)

    @property
    def history(self) -> list[SettledRound]:
        """The last settled rounds, with their outcomes and the columns of the present experts."""
        return [
            SettledRound.of(RoundRecord(*record), outcomes, rounds)
            for record, outcomes, rounds in filter(None, self._live.history)
        ]

    @property
    def weights(self) -> Floats:
        """The weights of each game; games x experts."""
        return self._live.weights

    @property
    def regrets(self) -> Floats:
        """The regrets of each game, in units of gain; games x experts.

        NaN for an automatic mixture: its regrets are to ways of combining, not to experts.
        """
        if isinstance(self._settings.hedger, Automatic):
            return np.full_like(self._live.weights, nan)
        return self._live.ledgers[:, 0]

    @property
    def ranges(self) -> Floats:
        """The range of losses of each item, and the part of it used lately; NaN with auto."""
        if isinstance(self._settings.hedger, Automatic):
            return np.full((len(self.items), 2), nan)
        return self._live.ranges

    def covered(self) -> list[tuple[float, float, int]]:
        """Return each level of the intervals, the share of outcomes covered, and their number."""
        return [] if self.intervals is None else self.intervals.covered(self._live.intervals)

    def join(self, names: Sequence[str]) -> None:
        """Let experts join as if they had slept so far; names of present experts change nothing."""
        with self._live.turn, INSIDE:
            self._live.join(self._live.version, self._unknown_names(names), [], [], [])

    def leave(self, name: str) -> None:
        """Remove an expert; its weight goes to the others, and its name is free again.

        Its forecasts are removed from pending rounds, and its sums are lost.

        Parameters
        ----------
        name
            One of `names`. The last expert cannot leave, nor a plain combination of ``include``.
        """
        with self._live.turn, INSIDE:
            version, column, plain = self._live.version, self._live.find(name), self._plain
            if column < 0:
                raise ValueError(f"there is no expert {name!r}")
            if column < plain or len(self.names) == plain + 1:
                raise ValueError(f"{name!r} cannot leave: plain combinations and one expert stay")
            self._forget_last_table()
            self._live.leave(version, np.array([column]))

    def rename(self, old: str, new: str) -> None:
        """Give an expert another name; its weight, its record and its pending forecasts stay.

        Parameters
        ----------
        old, new
            The present name, and a name that no expert has.
        """
        with self._live.turn, INSIDE:
            version, column = self._live.version, self._column(old)
            if not isinstance(new, str):
                raise TypeError(f"names of experts must be strings, got {new!r}")
            if self._live.find(new) >= 0:
                raise ValueError(f"there is an expert {new!r} already")
            self._forget_last_table()
            self._live.rename(version, column, new)

    def inherit(self, new: str, old: str) -> None:
        """Let an expert start where another stands, as a new version of a model does.

        The new expert gets a copy of what the hedger remembers of the old one, so that both have
        the same weight; the record of its own forecasts starts empty. If the old one will not
        forecast any more, let it `retire` or `leave`.

        Parameters
        ----------
        new
            The name of the new expert; it joins if it is not present.
        old
            The name of a present expert.

        Examples
        --------
        >>> from normalhedge import Mixture
        >>> mixture = Mixture()
        >>> for outcome in range(30):
        ...     made = mixture.predict({"gbm": outcome + 0.1, "ar": outcome - 5.0})
        ...     mixture.update(made.ticket, float(outcome))
        >>> mixture.inherit("gbm_v2", "gbm")
        >>> mixture.retire("gbm")
        >>> mixture.next_weights(["gbm_v2", "ar"])["gbm_v2"] > 0.9
        True
        """
        with self._live.turn, INSIDE:
            source = self._column(old)
            if self._live.states is not None:
                hedger = type(self._settings.hedger).__name__
                raise ValueError(f"{hedger} has no method inherit")
            if new == old or new in self.retired:
                raise ValueError(f"{new!r} cannot inherit from {old!r}")
            self._forget_last_table()
            version, other = self._live.version, self
            if self._live.find(new) < 0:
                other = self.copy()
                other.join([new])
            other._live.inherit(other._live.version, other._column(new), source)
            if other is not self:
                self._live.take_over(version, other._live)

    def retire(self, name: str) -> None:
        """Let an expert sleep for good, whatever is forecast in its name.

        Its record stays in the summary and its name stays taken; `leave` removes both.

        Parameters
        ----------
        name
            One of `names`. The last expert cannot retire.
        """
        with self._live.turn, INSIDE:
            version, column = self._live.version, self._column(name)
            if len(self.names) - self._plain == len(self.retired | {name}):
                raise ValueError(f"{name!r} cannot retire: one expert stays")
            self._forget_last_table()
            self._live.retire(version, column)

    def ticket_of(self, id: Any, *, settled: bool = False) -> int:  # noqa: A002
        """Return the ticket of a round from the caller's id.

        Parameters
        ----------
        id
            The id that `predict` got.
        settled
            Whether the round may be one of the `history`; otherwise it must be pending.
        """
        text = id_text(id)
        ticket = self._live.find_id(text)
        if ticket < 0 and settled:
            ticket = next((r.ticket for r in reversed(self.history) if r.round.id == text), -1)
        if ticket < 0:
            kept = "was predicted lately" if settled else "waits for its outcome"
            raise KeyError(f"no round with id {clipped(repr(id), 80)} {kept}")
        return ticket

    @property
    def _plain(self) -> int:
        """The number of plain combinations among the experts, which come first."""
        return len(self._settings.include)

    def _column(self, name: str) -> int:
        """Return the column of an expert that is not a plain combination."""
        column = self._live.find(name)
        if column < 0:
            raise ValueError(f"there is no expert {name!r}")
        if column < self._plain:
            raise ValueError(f"{name!r} is a plain combination, not an expert")
        return column

    def _unknown_names(self, names: Iterable[str]) -> list[str]:
        """Return the names that do not belong to an expert yet, each once."""
        new = [name for name in dict.fromkeys(names) if self._live.find(name) < 0]
        for name in new:
            if not isinstance(name, str):
                raise TypeError(f"names of experts must be strings, got {name!r}")
        if new and len(self.names) + len(new) > self._settings.max_names:
            raise ValueError(
                f"the mixture has {counted(len(self.names), 'expert')}, and {len(new)} more exceed "
                f"max_names = {self._settings.max_names}: let some leave, or set forget_after"
            )
        return new

    def _forget_last_table(self) -> None:
        """Let no later table go back to the time before a change of the experts."""
        facts = TableFacts.of(self._live)
        if facts.last_table is not None:
            self._live.attached = facts._replace(last_table=None)

    def _forget_sleepers(self, forecasts: Mapping[str, Any]) -> None:
        """Let experts leave that slept for more than `forget_after` rounds, if new names arrive."""
        limit = self._settings.forget_after
        if limit is None or not self.names or not self._unknown_names(forecasts):
            return
        version, names = self._live.version, self.names
        last = self._live.marks[:, LAST].max(axis=0, initial=-1)
        last[: self._plain] = self.rounds
        asleep = np.flatnonzero(last < self.rounds - limit).tolist()
        columns = [k for k in asleep if names[k] not in forecasts]
        if columns:
            stays = len(names) - len(columns) > self._plain
            self._live.leave(version, np.array(columns if stays else columns[1:], dtype=np.int64))

    def _pending_round(self, ticket: Any) -> PendingRound:
        """Return the round of a ticket; refuse one that is unknown, used or expired."""
        whole_number = isinstance(ticket, int | np.integer)
        if isinstance(ticket, Prediction):
            raise TypeError(f"ticket must be the ticket of a prediction: {ticket.ticket}")
        record = self._live.pending_round(int(ticket)) if whole_number else None
        if record is not None:
            return PendingRound.of(RoundRecord(*record))
        if isinstance(ticket, int) and 0 <= ticket < self.next_ticket:
            raise KeyError(f"ticket {ticket} was used already, or has expired")
        raise KeyError(f"ticket {ticket!r} was never given out")

    def _settled_round(self, ticket: Any) -> PendingRound:
        """Return a round that was settled lately; refuse one that waits, or was never there."""
        if ticket in self.pending:
            raise KeyError(f"ticket {ticket} waits for its outcome: use update")
        for settled in reversed(self.history):
            if settled.ticket == ticket:
                waited: PendingRound = settled.round
                return waited
        if not 0 <= ticket < self.next_ticket:
            raise KeyError(f"ticket {ticket!r} was never given out")
        raise self._too_late(ticket)

    def _too_late(self, ticket: int) -> KeyError:
        return KeyError(
            f"the outcome of ticket {ticket} cannot be corrected any more: it is too many rounds "
            f"ago (history = {self._settings.history}), or experts or a table arrived since, or "
            "the mixture was loaded from a file without its history"
        )


def widen(live: Live, forecasts: Floats, confidence: Floats | None) -> tuple[Floats, Floats | None]:
    """Add columns of NaN, and confidence 0, for experts that joined after a round."""
    more = len(live.names) - forecasts.shape[2]
    if not more:
        return forecasts, confidence
    columns = np.full((*forecasts.shape[:2], more), nan)
    wider = np.concatenate([forecasts, columns], axis=2)
    return wider, None if confidence is None else np.pad(confidence, (0, more))


def item_indices(live: Live, items: Sequence[str]) -> np.ndarray:
    """Return the index of each item; add items not seen before."""
    new = [name for name in dict.fromkeys(items) if live.find_item(name) < 0]
    live.join(live.version, [], new, [], [])
    return np.array([live.find_item(name) for name in items], dtype=np.int32)


def let_sleep(live: Live, forecasts: Floats) -> None:
    """Replace the forecasts of retired experts by NaN; the last axis is the experts'."""
    for name in live.retired:
        forecasts[..., live.find(name)] = nan


def _content_of(live: Live) -> dict[str, Any]:
    """Return all that the core holds of a mixture, as plain data and arrays."""
    return {
        "names": live.names,
        "items": live.items,
        "cells": live.cells,
        "classes": live.classes,
        "counters": {name: getattr(live, name) for name in COUNTERS},
        "fields": {name: getattr(live, name) for name in STATE_FIELDS},
        "pending": [live.pending_round(ticket) for ticket in live.tickets()],
        "states": live.states,
        "attached": live.attached,
        "retired": sorted(live.retired),
        "history": live.history,
        "checkpoints": [(_content_of(then), since) for then, since in live.checkpoints],
    }


def _fill(state: MixtureState, content: Mapping[str, Any]) -> None:
    """Fill the state of a new mixture with a content."""
    live, plain = state.live, len(state.settings.include)
    names, items, cells, classes = (content[key] for key in ("names", "items", "cells", "classes"))
    live.join(live.version, names[plain:], items, cells, classes)
    live.assign(live.version, {k: np.array(array) for k, array in content["fields"].items()})
    counters = content["counters"]
    pending = _copy_arrays(content["pending"])
    live.replace_pending(live.version, [], pending, counters["next_ticket"], counters["expired"])
    checkpoints = []
    for then, since in content["checkpoints"]:
        other = MixtureState.new(state.settings)
        _fill(other, then)
        checkpoints.append((other.live, since))
    for name, value in counters.items():
        setattr(live, name, value)
    live.attached = content["attached"]
    history = _copy_arrays(content["history"])
    live.restore(content["states"], content["retired"], history, checkpoints)


def _copy_arrays(value: Any) -> Any:
    """Return nested tuples with copies of their arrays: joblib may have mapped them to memory."""
    if isinstance(value, list | tuple):
        return type(value)(_copy_arrays(part) for part in value)
    return np.array(value) if isinstance(value, np.ndarray) else value
