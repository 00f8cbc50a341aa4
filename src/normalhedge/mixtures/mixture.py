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
from normalhedge._core import Games
from normalhedge._inputs import Floats
from normalhedge.certificates import Bound
from normalhedge.hedgers import CompiledHedger, Hedger, State
from normalhedge.mixtures._sums import EXPERT_SUMS, MARKS, STEPS, TOTAL_SUMS
from normalhedge.mixtures.forecasts import Keys, read, read_outcome
from normalhedge.mixtures.losses import Loss, LossFunction
from normalhedge.mixtures.recipe import PLAIN, Recipe
from normalhedge.mixtures.tickets import Open, Prediction, Waiting, shaped

if TYPE_CHECKING:
    from normalhedge.mixtures.summary import Summary

# Bound to names of this module: with five experts each further look-up shows.
_empty, _new = np.empty, tuple.__new__

FIRST_ITEM = np.zeros(1, dtype=np.int32)

ARRAYS = (
    "weights", "ledgers", "totals", "marks", "pool_ranges", "ranges", "expert_sums", "total_sums"
)  # fmt: skip
"""What the core keeps of a mixture; see ``src/core/games_object.cpp``."""

_GROWING = (np.ndarray, dict, list, deque)
"""What is changed in place."""


class Mixture:
    """Forecasters by name, blended by weights that follow whoever is good now.

    `predict` takes what the experts say and returns the blend and a ticket; `update` takes the
    ticket and the outcome: at once, late, in any order, or never. A name joins when it is first
    seen and sleeps when it is missing, NaN or infinite. No scale is to be set: see
    ``src/core/mixture.hpp`` for how losses become gains, and ``src/core/range.hpp`` for how their
    range is learned.

    Parameters
    ----------
    hedger
        A hedger, or its name as on the command line: any of `normalhedge.hedgers.HEDGERS`, such as
        ``"normal-hedge:memory=50,c=1"`` or ``"squint"``, with a memory of 20 rounds where the name
        says nothing of it. One of your own that satisfies `Hedger` will do, at the speed of Python;
        it is not told when the range of losses doubles, and where it has no ``join`` a newcomer
        makes it begin anew. None: ``NormalHedge(memory=20)``.
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
    squares that are taken off there. Nothing is promised of what ``even`` adds, nor of losses that
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
        hedger: Hedger[Any] | str | None = None,
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
        self.joined_late = False
        self.games = self._make_games()
        hedger_rows, hedger_totals = self._shape()
        self._replace(
            weights=np.empty((0, 0)),
            ledgers=np.empty((0, hedger_rows, 0)),
            totals=np.empty((0, hedger_totals)),
            marks=np.empty((0, MARKS, 0), dtype=np.int64),
            pool_ranges=np.zeros((0, 2)),
            ranges=np.zeros((0, 2)),
            expert_sums=np.zeros((EXPERT_SUMS, 0)),
            total_sums=np.zeros(TOTAL_SUMS),
        )
        self._has_plain = bool(self.recipe.include)
        self._told = self._simple = False
        self._index: dict[str, int] = {}
        self._item_index: dict[str, int] = {}
        self._lock = RLock()
        self.join([PLAIN[way] for way in self.recipe.include])
        if self.recipe.shared:
            self._add_games(1)

    def _make_games(self) -> Games:
        """Return the compiled part, still empty."""
        recipe, hedger = self.recipe, self.recipe.hedger
        return Games(
            hedger._engine if isinstance(hedger, CompiledHedger) else hedger,
            recipe.loss.kind,
            None if recipe.loss.kind else self._own_losses,
            recipe.combine,
            recipe.gradient,
            recipe.loss.width,
            recipe.even,
            recipe.loss.levels or (0.5,),
            recipe.include,
            recipe.shared,
        )

    def _shape(self) -> tuple[int, int]:
        """Return how many rows and totals the hedger has in the compiled part."""
        hedger = self.recipe.hedger
        if isinstance(hedger, CompiledHedger):
            return hedger._engine.rows, hedger._engine.totals
        return 1, 0

    def _replace(self, **arrays: np.ndarray) -> None:
        """Replace some arrays of the compiled part, all at once."""
        self.games.replace(
            *(
                np.require(arrays[name], requirements=["C", "A", "W"])
                if name in arrays
                else getattr(self.games, name)
                for name in ARRAYS
            )
        )

    def predict(
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
            # The common case, a dict of a number for each name in their order, in one call.
            if confidence is None and self._simple:
                number = self.rounds
                found = self.games.predict_numbers(self.names, forecasts, number, FIRST_ITEM, Open)
                if found is not None:
                    made, value, played, wild = found
                    self.rounds = number + 1
                    ticket = self.file(made)
                    if wild and not self._told:
                        self._warn_of_infinite()
                    return _new(Prediction, (value, ticket, self.names, played, None))
            return self._predict(forecasts, confidence)
        finally:
            self._lock.release()

    def _predict(
        self, forecasts: Mapping[str, Any], confidence: Mapping[str, float] | None
    ) -> Prediction:
        """Do what `predict` does, in whatever form the forecasts are."""
        if confidence is not None:
            self._check_confidence(confidence, forecasts)
        table, keys = self._read(forecasts)
        rated = None if confidence is None else self._confidence(confidence)
        items = self.item_indices(keys)
        if self._has_plain:
            self.games.fill_plain(table, rated)
        values, played, wild = self.games.predict(self.rounds, table, rated, items)
        number, self.rounds = self.rounds, self.rounds + 1
        ticket = self.file(Open(table, rated, values, items, number, keys))
        if wild > 0.0 and not self._told:
            self._warn_of_infinite()
        return Prediction(shaped(values, keys), ticket, self.names, played, keys)

    def _warn_of_infinite(self) -> None:
        self._told = True
        warnings.warn("infinite forecasts count as missing", RuntimeWarning, stacklevel=3)

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
            outcomes = self.games.update_number(waiting, outcome)
            if outcomes is None:
                table, rated, values, items, _, keys = waiting
                outcomes = read_outcome(outcome, keys, *table.shape[:2])
                table, rated = self.widen(table, rated)
                self.games.update(table, rated, values, outcomes, items)
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
        self.games.note(table, rated, values, outcomes, items)

    @property
    def weights(self) -> Floats:
        """The weights of each game; games x experts."""
        return self.games.weights

    @property
    def regrets(self) -> Floats:
        """The regrets of each game, in units of gain; games x experts."""
        return self.games.ledgers[:, 0]

    @property
    def ranges(self) -> Floats:
        """The range of losses of each item, and how far it was filled lately."""
        return self.games.ranges

    @property
    def levels(self) -> Floats:
        """The levels of the pinball loss; one that does not matter for other losses."""
        return np.array(self.recipe.loss.levels or (0.5,))

    def state(self, item: str | None = None) -> Any:
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
        games = self.games
        if games.states is not None:
            return games.states[game]
        weights, ledger = games.weights[game].copy(), games.ledgers[game].copy()
        return State(weights, ledger, games.totals[game].copy(), self.rounds, len(self.names), None)

    def bound(self) -> Bound:
        """Return what the hedger promises of its regret to each expert, in units of gain.

        Where its promise depends on the number of rounds, it is that of so many as were played. It
        may be one of games whose gains are what they are from the start, and whose experts are
        there from the start: it is then no promise where the range of losses is learned, or where
        experts joined later.
        """
        hedger, n = self.recipe.hedger, max(len(self.names), 1)
        if not isinstance(hedger, CompiledHedger):
            return Bound(inf, f"nothing is known of {type(hedger).__name__}")
        played = int(self.games.total_sums[STEPS]) if self.recipe.shared else self.rounds
        bound, name = hedger.bound(n, max(played, 1)), type(hedger).__name__
        learned = not self.recipe.loss.width or (self.recipe.shared and len(self.items) > 1)
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
            if new:
                self._grow(len(self.names))
            self._note_simple()

    def _note_simple(self) -> None:
        """Note whether forecasts may be a number for each name, and nothing else."""
        plain = not self._has_plain and not self.recipe.loss.of_classes
        named = bool(self.names) and bool(self.items) and self.items[0] == ""
        self._simple = plain and named and len(self.recipe.loss.levels) <= 1

    def _grow(self, n: int) -> None:
        """Add columns to all arrays, and write the weights."""
        games, hedger = self.games, self.recipe.hedger
        count, before = games.weights.shape
        played = bool(games.total_sums[STEPS])
        grown = ((0, 0), (0, n - before))
        arrays = {
            "marks": np.pad(games.marks, ((0, 0), *grown), constant_values=-1),
            "expert_sums": np.pad(games.expert_sums, grown),
        }
        if not played:  # all of them are there from the start
            ledger, _ = self._begin(n)
            arrays["weights"] = np.full((count, n), 1.0 / n)
            arrays["ledgers"] = np.tile(ledger, (count, 1, 1))
        else:
            # Where weights are what is remembered: an even share beside those that are there.
            even = np.full((count, n - before), 1.0 / before)
            arrays["weights"] = np.concatenate([games.weights, even], axis=1)
            more = self._newcomers(n - before, before)
            arrays["ledgers"] = np.concatenate(
                [games.ledgers, np.tile(more, (count, 1, 1))], axis=2
            )
        if games.states is not None:
            games.states[:] = [self._grown(state, n, played) for state in games.states]
        self._replace(**arrays)
        self.joined_late = self.joined_late or played
        if played or not isinstance(hedger, CompiledHedger):
            for game in range(count):
                games.weigh(game)

    def _begin(self, n: int) -> tuple[Floats, Floats]:
        """Return the ledger and the totals before the first round."""
        hedger = self.recipe.hedger
        if isinstance(hedger, CompiledHedger):
            state = hedger.init(n)
            return state.ledger, state.totals
        return np.zeros((1, n)), np.zeros(0)

    def _newcomers(self, count: int, n: int) -> Floats:
        """Return the columns of so many that join n others."""
        hedger = self.recipe.hedger
        if isinstance(hedger, CompiledHedger):
            return hedger.newcomers(count, n)
        return np.zeros((1, count))

    def _grown(self, state: Any, n: int, played: bool) -> Any:  # noqa: FBT001
        """Return the state of a hedger of your own with n experts."""
        hedger = self.recipe.hedger
        join = getattr(hedger, "join", None)
        if played and join is not None:
            return join(state, n - len(state.weights))
        if played:
            warnings.warn(
                f"{type(hedger).__name__} has no join: it begins anew with {n} experts",
                RuntimeWarning,
                stacklevel=5,
            )
        return hedger.init(n)

    def item_indices(self, keys: Keys) -> np.ndarray:
        """Return the index of each item; those not seen before are added."""
        wanted = [""] if keys is None else [str(key) for key in keys]
        new = [key for key in wanted if key not in self._item_index]
        if new:
            for key in new:
                self._item_index[key] = len(self.items)
                self.items.append(key)
            self._replace(ranges=np.pad(self.games.ranges, ((0, len(new)), (0, 0))))
            if not self.recipe.shared:
                self._add_games(len(new))
            self._note_simple()
        return np.array([self._item_index[key] for key in wanted], dtype=np.int32)

    def _add_games(self, count: int) -> None:
        games, n = self.games, len(self.names)
        ledger, totals = self._begin(max(n, 1))
        self._replace(
            weights=np.concatenate([games.weights, np.full((count, n), 1.0 / max(n, 1))]),
            ledgers=np.concatenate([games.ledgers, np.tile(ledger[:, :n], (count, 1, 1))]),
            totals=np.concatenate([games.totals, np.tile(totals, (count, 1))]),
            marks=np.pad(games.marks, ((0, count), (0, 0), (0, 0)), constant_values=-1),
            pool_ranges=np.pad(games.pool_ranges, ((0, count), (0, 0))),
        )
        if games.states is not None:
            games.states.extend(self.recipe.hedger.init(max(n, 1)) for _ in range(count))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads out, and put everything back as it was if what is done fails."""
        with self._lock:
            kept = {k: copy(v) if isinstance(v, _GROWING) else v for k, v in vars(self).items()}
            kept["waiting"] = {
                k: one._replace(outcomes=one.outcomes.copy()) for k, one in self.waiting.items()
            }
            arrays = self._copies()
            states = None if self.games.states is None else list(self.games.states)
            try:
                yield
            except BaseException:
                vars(self).update(kept)
                self._restore(arrays, states)
                raise

    def _copies(self) -> dict[str, np.ndarray]:
        return {name: getattr(self.games, name).copy() for name in ARRAYS}

    def _restore(self, arrays: Mapping[str, np.ndarray], states: list[Any] | None) -> None:
        self._replace(**arrays)
        if self.games.states is not None and states is not None:
            self.games.states[:] = states

    def __copy__(self) -> "Mixture":
        """Return a mixture of its own: two that share some of their arrays would not do."""
        return deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the lock, with the arrays of the compiled part."""
        kept = {k: v for k, v in vars(self).items() if k not in {"games", "_lock"}}
        return {**kept, "arrays": self._copies(), "states": self.games.states}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Take what was kept."""
        arrays, states = kept.pop("arrays"), kept.pop("states")
        vars(self).update(kept)
        self._lock = RLock()
        self.games = self._make_games()
        self._restore(arrays, None)
        if states is not None and self.games.states is not None:
            self.games.states.extend(states)

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
        levels = len(self.recipe.loss.levels)
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
            oldest = next(iter(pending))
            if pending[oldest].number < self.rounds - self.max_age:
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

    def widen(self, table: Floats, rated: Floats | None) -> tuple[Floats, Floats | None]:
        """Let those who joined after a round sleep in it."""
        more = len(self.names) - table.shape[2]
        if not more:
            return table, rated
        table = np.pad(table, ((0, 0), (0, 0), (0, more)), constant_values=np.nan)
        return table, None if rated is None else np.pad(rated, (0, more))

    def _own_losses(self, table: Floats, values: Floats, outcomes: Floats) -> tuple[Floats, Floats]:
        """Return the losses of a function of your own (experts, blend, uniform), and its slopes."""
        found = self.recipe.own_losses(table, values, outcomes)
        if table.shape[2] != len(self.names):  # the core would read beyond the table
            raise RuntimeError(f"loss {self.recipe.loss.name} must not let experts join")
        return found
