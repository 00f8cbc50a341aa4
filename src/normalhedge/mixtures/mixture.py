"""People's experts by name: forecasts and outcomes in, blended predictions out."""

import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from math import inf
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from normalhedge import _inputs
from normalhedge._inputs import LARGEST, Floats
from normalhedge.certificates import Bound
from normalhedge.hedgers import AnyHedger, LedgerState, PotentialHedger, RegretState
from normalhedge.hedgers._native import begin, newcomers, reweigh, shape, state_of
from normalhedge.mixtures import _play
from normalhedge.mixtures._play import SCRATCH, Settings
from normalhedge.mixtures._sums import EXPERT_SUMS, MARKS, STEPS, TOTAL_SUMS
from normalhedge.mixtures.combining import WAYS
from normalhedge.mixtures.forecasts import Keys, read, read_outcome
from normalhedge.mixtures.losses import OWN, Loss, LossFunction
from normalhedge.mixtures.recipe import PLAIN, Recipe
from normalhedge.mixtures.tickets import Open, Prediction, Waiting, shaped

if TYPE_CHECKING:
    from normalhedge.mixtures.summary import Summary

# Bound to names of this module: with five experts each further look-up shows.
_array, _empty, _float64, _new = np.array, np.empty, np.dtype(np.float64), tuple.__new__
_predict_round, _update_round = _play.predict_round, _play.update_round

NOTHING, NO_ROWS, NO_SLOPE = np.empty(0), np.empty((1, 0)), np.zeros(1)
"""What kernels get where there is nothing to give."""

FIRST_ITEM = np.zeros(1, dtype=np.int64)

_GROWING = (np.ndarray, dict, list, deque)
"""What is changed in place."""


class _Views(dict[int, tuple[np.ndarray, ...]]):
    """The games as entries of arrays, each made when it is first wanted: there may be many."""

    def __init__(self, arrays: tuple[np.ndarray, ...]) -> None:
        self.arrays = arrays

    def __missing__(self, game: int) -> tuple[np.ndarray, ...]:
        self[game] = tuple(array[game] for array in self.arrays)
        return self[game]


class Mixture:
    """Forecasters by name, blended by weights that follow whoever is good now.

    `predict` takes what the experts say and returns the blend and a ticket; `update` takes the
    ticket and the outcome: at once, late, in any order, or never. A name joins when it is first
    seen and sleeps when it is missing, NaN or infinite. No scale is to be set: see
    `normalhedge.mixtures._play` for how losses become gains, and `_range` for how their range is
    learned.

    Parameters
    ----------
    hedger
        A hedger, or its name as on the command line: any of `normalhedge.hedgers.HEDGERS`, such as
        ``"normal-hedge:memory=50,c=1"`` or ``"squint"``, with a memory of 20 rounds where the name
        says nothing of it. None: ``NormalHedge(memory=20)``.
    loss
        ``"square"``, ``"absolute"``, ``"pinball:level=0.9"``, ``"log"``, ``"l1"``, ``"zero-one"``
        (see `normalhedge.mixtures.losses`), a `Loss`, or a function of your own.
    combine
        ``"mean"``, ``"median"`` or ``"vote"``. None: the median for absolute and pinball loss, the
        vote for the zero-one loss of labels, else the mean.
    gradient
        Whether experts are judged by the loss linearised at the blend, which makes the hedger
        compete with the best convex combination of the experts and not only with the best of them.
        None: where forecasts are combined by their mean and the loss is not linear already.
    shared
        Whether the things forecast in one round (components of a vector, items of a mapping) share
        their weights. If not, each has its own.
    even
        The share of the weight that is spread evenly over the experts awake, in [0, 1]: for panels
        in which even the best forecaster is sometimes far off.
    include
        ``"mean"`` and ``"median"``: those of the experts awake, as experts themselves.
    max_pending, max_age
        How many rounds may wait for their outcomes, and for how many rounds; older ones expire.
    history
        How many settled rounds are kept for `summary` to compare with the best convex combination.

    Attributes
    ----------
    recipe
        The settings.
    names, items
        The experts and the things forecast, as they were first seen.
    rounds
        How many rounds were predicted.
    pending
        The rounds that wait for their outcomes, by ticket; ``expired`` of them were given up.

    Notes
    -----
    With the mean and a convex loss the blend loses at most what its weights lose on average, so
    what the hedger promises of its regret (`bound`) holds of the blend, in units of gain; a median
    can lose up to twice as much. With the gradient trick the gains, and so the promise, include the
    squares that `_play` takes off. Nothing is promised of what ``even`` adds, nor of losses that
    were clipped; and rounds whose outcomes come late are played when these arrive.

    Threads may share a mixture: they take turns.

    Examples
    --------
    >>> mixture = Mixture(loss="absolute")
    >>> for day in range(30):
    ...     prediction = mixture.predict({"gam": 51.0, "ar": 49.0, "naive": 40.0})
    ...     mixture.update(prediction.ticket, outcome=50.8)
    >>> mixture.predict({"gam": 52.0, "naive": 44.0}).value
    52.0
    """

    def __init__(
        self,
        hedger: AnyHedger | str | None = None,
        loss: str | Loss | LossFunction = "square",
        *,
        combine: str | None = None,
        gradient: bool | None = None,
        shared: bool = True,
        even: float = 0.0,
        include: str | Iterable[str] = (),
        max_pending: int = 10_000,
        max_age: int | None = None,
        history: int = 200,
    ) -> None:
        self.recipe = Recipe.of(hedger, loss, combine, gradient, shared, even, include)
        self.max_pending = _inputs.count("max_pending", max_pending)
        self.max_age = None if max_age is None else _inputs.count("max_age", max_age)
        self.history: deque[tuple[Open, Floats]] = deque(
            maxlen=_inputs.count("history", history) if history else 0
        )
        self.names: list[str] = []
        self.items: list[str] = []
        self.rounds = self.expired = self.next_ticket = 0
        self.pending: dict[int, Open] = {}
        self.waiting: dict[int, Waiting] = {}
        self.last_times: dict[int, Any] = {}
        self.time_kind = ""
        self.ids: dict[str, int] = {}  # tickets by what a stream calls them
        rows, totals, self.rules = shape(self.recipe.hedger)
        self.weights, self.joined_late = np.empty((0, 0)), False
        self.ledgers, self.commons = np.empty((0, rows, 0)), np.empty((0, totals))
        self.marks = np.empty((0, MARKS, 0), dtype=np.int64)
        self.ranges, self.pool_ranges = np.zeros((0, 2)), np.zeros((0, 2))
        self.sums, self.totals = np.zeros((EXPERT_SUMS, 0)), np.zeros(TOTAL_SUMS)
        self._settings: Settings | None = None  # until they are needed: addresses, see `settings`
        self.levels = np.array(self.recipe.loss.levels or (0.5,))
        self.included = np.array([WAYS[way] for way in self.recipe.include], dtype=np.int64)
        self._has_plain = bool(self.recipe.include)
        self._told, self._shared = False, self.recipe.shared
        self._index: dict[str, int] = {}
        self._item_index: dict[str, int] = {}
        self._lock = RLock()
        self.join([PLAIN[way] for way in self.recipe.include])
        if self.recipe.shared:
            self._add_games(1)

    def predict(  # noqa: C901, PLR0912 -- unrolled, see below
        self, forecasts: Mapping[str, Any], confidence: Mapping[str, float] | None = None
    ) -> Prediction:
        """Return the blend of what the experts say, the weights behind it and a ticket.

        Parameters
        ----------
        forecasts
            By name: a number each; or a sequence or a mapping of numbers each, for vectors and for
            many things in one round; with a loss of class probabilities, sequences of those in
            place of the numbers. None and NaN: asleep, altogether or in that part.
        confidence
            By name, how far an expert wants to be heard, in [0, 1]; 1 for those not named.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; the mixture is then as it was.
        """
        self._lock.acquire()  # in half the time that `with` takes
        try:
            if confidence is not None:
                self._check_confidence(confidence, forecasts)
            # With five experts the arithmetic takes half a microsecond, and so does each call of a
            # Python function: the common case is handled here, and the rest where it is explained.
            table, keys = None, None
            if self._simple and list(forecasts) == self.names:
                try:
                    table = _array(list(forecasts.values()))
                except ValueError:  # not of one shape
                    table = None
                if table is not None and (table.dtype is not _float64 or table.ndim != 1):
                    table = None
            if table is None:
                table, keys = self._read(forecasts)
            else:
                table = table[None, None]
            rated = NOTHING if confidence is None else self._confidence(confidence)
            first = keys is None and self.items and self.items[0] == ""
            items = FIRST_ITEM if first else self.item_indices(keys)
            if self._has_plain:
                _play.fill_plain(table, self.included, rated)
            rows, classes, n = table.shape
            values, played = _empty((rows, classes)), _empty((rows, n))
            number, rules, scratch = self.rounds, self.rules, self._scratch
            settings = self._settings or self.settings()
            if self._shared:
                weights, ledger, common, marks, _ = self._games[0]
                wild = _predict_round(
                    number, weights, ledger, common, rules, marks, table, rated, settings, scratch,
                    played, values, self.sums, self.totals,
                )  # fmt: skip
            else:
                for row, item in enumerate(items):
                    weights, ledger, common, marks, _ = self._games[item]
                    part = slice(row, row + 1)
                    wild = _predict_round(
                        number, weights, ledger, common, rules, marks, table[part], rated, settings,
                        scratch, played[part], values[part], self.sums, self.totals,
                    )  # fmt: skip
            self.rounds = number + 1
            ticket = self.file(_new(Open, (table, rated, values, items, number, keys)))
            if wild > 0.0 and not self._told:
                self._told = True
                warnings.warn("infinite forecasts count as missing", RuntimeWarning, stacklevel=2)
            if keys is None and classes == 1:
                value: Any = values.item()
                value = value if value == value else None  # noqa: PLR0124 -- NaN: all asleep
            else:
                value = shaped(values, keys)
            return _new(Prediction, (value, ticket, self.names, played, keys))
        finally:
            self._lock.release()

    def update(self, ticket: int, outcome: Any) -> None:
        """Learn from an outcome.

        Parameters
        ----------
        ticket
            What `predict` returned with the prediction.
        outcome
            In the form of the forecasts; a class for class probabilities. Of several, some may be
            missing (NaN, None, or not in the mapping): they are given up.

        Raises
        ------
        KeyError, ValueError, TypeError
            If the ticket is unknown, used or expired, or the outcome is not as described; the
            mixture is then as it was.
        """
        self._lock.acquire()
        try:
            waiting = self.pending.get(ticket)
            if waiting is None:
                raise KeyError(self._unknown(ticket))
            table, rated, values, items, _, keys = waiting
            rows, classes, n = table.shape
            if keys is None and classes == 1 and type(outcome) is float and abs(outcome) < LARGEST:
                outcomes = _empty(1)
                outcomes[0] = outcome
            else:
                outcomes = read_outcome(outcome, keys, rows, classes)
            if n < len(self.names):
                table, rated = self.widen(table, rated)
            losses, slopes = NO_ROWS, NO_SLOPE
            settings, rules = self._settings or self.settings(), self.rules
            if settings[0] == OWN:
                losses, slopes = self.own_losses(table, values, outcomes)
            if self._shared:
                weights, ledger, common, _, pool_range = self._games[0]
                _update_round(
                    weights, ledger, common, rules, table, rated, values, outcomes, losses, slopes,
                    items, self.levels, self.ranges, pool_range, settings, self._scratch, self.sums,
                    self.totals,
                )  # fmt: skip
            else:
                for row, item in enumerate(items):
                    weights, ledger, common, _, pool_range = self._games[item]
                    part = slice(row, row + 1)
                    mine = (losses[part], slopes[part]) if losses.size else (losses, slopes)
                    _update_round(
                        weights, ledger, common, rules, table[part], rated, values[part],
                        outcomes[part], *mine, items[part], self.levels, self.ranges, pool_range,
                        settings, self._scratch, self.sums, self.totals,
                    )  # fmt: skip
            del self.pending[ticket]
            if self.waiting:
                self.waiting.pop(ticket, None)
            self.history.append((waiting, outcomes))
        finally:
            self._lock.release()

    def note(self, ticket: int, outcomes: Floats) -> None:
        """Add the losses of a round that waits to the sums, before it is settled."""
        table, rated, values, items, _, _ = self.pending[ticket]
        table, rated = self.widen(table, rated)
        own = NO_ROWS
        if self.recipe.loss.code == OWN:
            own, _ = self.own_losses(table, values, outcomes)
        _play.note_round(
            table, rated, values, outcomes, own, items, self.levels, self.settings(),
            self._scratch, self.sums, self.totals,
        )  # fmt: skip

    @property
    def regrets(self) -> Floats:
        """The regrets of each game, in units of gain; games x experts."""
        return self.ledgers[:, 0]

    def settings(self) -> Settings:
        """Return what the kernels need of the recipe, good in this process only."""
        if self._settings is None:
            self._settings = self.recipe.settings()
        return self._settings

    def state(self, item: str | None = None) -> RegretState | LedgerState:
        """Return where the game stands, as the hedger knows it.

        What a hedger's `bounds` says of it is a promise where `bound` is one.

        Parameters
        ----------
        item
            Whose game, where each item has its own.
        """
        if not self.names or not len(self.weights):
            raise ValueError("nothing was predicted yet")
        if not self.recipe.shared and item not in self._item_index:
            raise ValueError(f"item must be one of {', '.join(self.items)}, got {item!r}")
        game = 0 if self.recipe.shared else self._item_index[str(item)]
        weights, ledger, common, _, _ = self._games[game]
        return state_of(self.recipe.hedger, weights, ledger, common, self.rounds)

    def bound(self) -> Bound:
        """Return what the hedger promises of its regret to each expert, in units of gain.

        Where its promise depends on the number of rounds, it is that of so many as were played. It
        may be one of games whose gains are what they are from the start, and whose experts are
        there from the start: it is then no promise where the range of losses is learned, or where
        experts joined later.
        """
        hedger, n = self.recipe.hedger, max(len(self.names), 1)
        if isinstance(hedger, PotentialHedger):
            return hedger.bound(n)
        played = int(self.totals[STEPS]) if self._shared else self.rounds
        bound, name = hedger.bound(n, max(played, 1)), type(hedger).__name__
        learned = not self.recipe.loss.width or (self._shared and len(self.items) > 1)
        if bound and learned and not hedger.free_of_scale:
            return Bound(inf, f"no theorem covers {name} where the range of losses is learned")
        if bound and self.joined_late and "a_sleeper_changes_nothing" in hedger.breaks:
            return Bound(inf, f"no theorem covers {name} where experts join later")
        return bound

    def summary(self) -> "Summary":
        """Return what a person wants to know; it prints as a table, also in a notebook."""
        from normalhedge.mixtures.summary import summarise  # noqa: PLC0415 -- it imports this

        return summarise(self)

    def save(self, path: str | Path) -> None:
        """Write everything but `history` to a JSON file, all or nothing."""
        from normalhedge.mixtures.saved import save  # noqa: PLC0415 -- it imports this

        with self._lock:
            save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, loss: Loss | LossFunction | None = None) -> "Mixture":
        """Return the mixture that was saved, to the bit.

        Parameters
        ----------
        path
            What `save` wrote.
        loss
            The loss, where it was one of your own: functions are not saved.
        """
        from normalhedge.mixtures.saved import load  # noqa: PLC0415 -- it imports this

        return load(Path(path), loss)

    def join(self, names: Sequence[str]) -> None:
        """Let experts join, as if they had slept; those that are known already are left alone."""
        with self._lock:
            new = [name for name in dict.fromkeys(names) if name not in self._index]
            for name in new:
                if not isinstance(name, str):
                    raise TypeError(f"names of experts must be strings, got {name!r}")
            self.names = [*self.names, *new]  # a new list: predictions keep the old one
            self._index = {name: k for k, name in enumerate(self.names)}
            before, n = self.weights.shape[1], len(self.names)
            grown = ((0, 0), (0, n - before))
            self.marks = np.pad(self.marks, ((0, 0), *grown), constant_values=-1)
            self.sums = np.pad(self.sums, grown)
            self._grow(before, n)
            self._scratch = np.empty((SCRATCH, n))
            plain = not self._has_plain and not self.recipe.loss.of_classes
            self._simple = bool(self.names) and plain and len(self.levels) == 1
            self._view_games()

    def _grow(self, before: int, n: int) -> None:
        """Add columns to the ledgers, and write the weights."""
        games, hedger = len(self.weights), self.recipe.hedger
        if n == before:
            return
        if not self.totals[STEPS]:  # nothing was played: all of them are there from the start
            self.weights = np.full((games, n), 1.0 / n)
            self.ledgers = np.tile(begin(hedger, n)[0], (games, 1, 1))
            return
        self.joined_late = True
        # Where weights are what is remembered: an even share beside those that are there.
        even = np.full((games, n - before), 1.0 / before)
        self.weights = np.concatenate([self.weights, even], axis=1)
        more = np.tile(newcomers(hedger, n - before, before), (games, 1, 1))
        self.ledgers = np.concatenate([self.ledgers, more], axis=2)
        _, score, _, write = self.settings()[-4:]
        for game in range(games):
            mine = (self.weights[game], self.ledgers[game], self.commons[game])
            reweigh(*mine, self.rules, score, write)

    def item_indices(self, keys: Keys) -> np.ndarray:
        """Return the index of each item; those not seen before are added."""
        wanted = [""] if keys is None else [str(key) for key in keys]
        new = [key for key in wanted if key not in self._item_index]
        if new:
            for key in new:
                self._item_index[key] = len(self.items)
                self.items.append(key)
            self.ranges = np.pad(self.ranges, ((0, len(new)), (0, 0)))
            if not self.recipe.shared:
                self._add_games(len(new))
        return np.array([self._item_index[key] for key in wanted], dtype=np.int64)

    def _add_games(self, count: int) -> None:
        n = len(self.names)
        self.weights = np.concatenate([self.weights, np.full((count, n), 1.0 / max(n, 1))])
        ledger, common = begin(self.recipe.hedger, max(n, 1))
        self.ledgers = np.concatenate([self.ledgers, np.tile(ledger[:, :n], (count, 1, 1))])
        self.commons = np.concatenate([self.commons, np.tile(common, (count, 1))])
        self.marks = np.pad(self.marks, ((0, count), (0, 0), (0, 0)), constant_values=-1)
        self.pool_ranges = np.pad(self.pool_ranges, ((0, count), (0, 0)))
        self._view_games()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads out, and put everything back as it was if what is done fails."""
        with self._lock:
            kept = {k: copy(v) if isinstance(v, _GROWING) else v for k, v in vars(self).items()}
            kept["waiting"] = {
                k: one._replace(outcomes=one.outcomes.copy()) for k, one in self.waiting.items()
            }
            try:
                yield
            except BaseException:
                vars(self).update(kept)
                self._view_games()
                raise

    def game(self, index: int) -> tuple[np.ndarray, ...]:
        """Return a game, to be changed in place: weights, ledger, common, marks, pooled range."""
        return self._games[index]

    def _view_games(self) -> None:
        arrays = (self.weights, self.ledgers, self.commons, self.marks, self.pool_ranges)
        self._games = _Views(arrays)

    def __copy__(self) -> "Mixture":
        """Return a mixture of its own: two that share some of their arrays would not do."""
        return deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return all but addresses, which are those of this process, and views."""
        return {k: v for k, v in vars(self).items() if k not in {"_settings", "_games", "_lock"}}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Take what was kept."""
        # What comes out of shared memory cannot be written, and kernels write.
        own = {k: np.require(v, None, "W") for k, v in kept.items() if isinstance(v, np.ndarray)}
        vars(self).update(kept | own)
        self._lock = RLock()
        self._settings = None
        self._view_games()

    def _read(self, forecasts: Mapping[str, Any]) -> tuple[Floats, Keys]:
        if not isinstance(forecasts, Mapping):
            raise TypeError(
                f"forecasts must be a mapping of names to forecasts, got {type(forecasts).__name__}"
            )
        if not forecasts and not self.names:
            raise ValueError("forecasts must name at least one expert")
        index = dict(self._index)
        for name in forecasts:
            index.setdefault(name, len(index))
        table, keys = read(forecasts, index, len(index), of_classes=self.recipe.loss.of_classes)
        levels = len(self.levels)
        if levels > 1 and (keys is None or len(keys) != levels):
            raise ValueError(f"forecasts must have {levels} numbers each, one for each level")
        self.join(list(forecasts))
        return table, keys

    def _check_confidence(self, given: Any, forecasts: Mapping[str, Any]) -> None:
        if not isinstance(given, Mapping):
            raise TypeError(f"confidence must be a mapping of names, got {type(given).__name__}")
        for name, value in given.items():
            if name not in self._index and name not in forecasts:
                raise ValueError(f"confidence names {name!r}, who never forecast")
            _inputs.number(f"confidence of {name!r}", value, 0.0, 1.0, closed=True)

    def _confidence(self, given: Mapping[str, float]) -> Floats:
        rated = np.ones(len(self.names))
        for name, value in given.items():
            rated[self._index[name]] = value
        return rated

    def file(self, waiting: Open) -> int:
        """Give a ticket to a round that was predicted; old ones may expire by it."""
        ticket = self.next_ticket
        self.next_ticket = ticket + 1
        pending = self.pending
        pending[ticket] = waiting
        if len(pending) > self.max_pending:
            self._expire(next(iter(pending)))
        if self.max_age is not None:
            oldest = next(iter(self.pending))
            if self.pending[oldest].number < self.rounds - self.max_age:
                self._expire(oldest)
        return ticket

    def _expire(self, ticket: int) -> None:
        del self.pending[ticket]
        self.waiting.pop(ticket, None)
        self.expired += 1

    def _unknown(self, ticket: Any) -> str:
        if isinstance(ticket, int) and 0 <= ticket < self.next_ticket:
            return f"ticket {ticket} was used already, or has expired"
        return f"ticket {ticket!r} was never given out"

    def widen(self, table: Floats, rated: Floats) -> tuple[Floats, Floats]:
        """Let those who joined after a round sleep in it."""
        more = len(self.names) - table.shape[2]
        table = np.pad(table, ((0, 0), (0, 0), (0, more)), constant_values=np.nan)
        return table, np.pad(rated, (0, more)) if rated.size else rated

    def own_losses(self, table: Floats, values: Floats, outcomes: Floats) -> tuple[Floats, Floats]:
        """Return the losses of a function of your own (experts, blend, uniform), and its slopes."""
        found = self.recipe.own_losses(table, values, outcomes)
        if table.shape[2] != len(self.names):  # kernels would read beyond the table
            raise RuntimeError(f"loss {self.recipe.loss.name} must not let experts join")
        return found
