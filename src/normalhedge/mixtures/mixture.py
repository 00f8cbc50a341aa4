"""People's experts by name: forecasts and outcomes in, blended predictions out."""

import os
import warnings
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from normalhedge import _inputs
from normalhedge._core import Games, Turn
from normalhedge._inputs import Floats
from normalhedge.certificates import Bound
from normalhedge.hedgers import CompiledHedger, Hedger, State
from normalhedge.mixtures._sums import EXPERT_SUMS, LAST, MARKS, STEPS, TOTAL_SUMS
from normalhedge.mixtures.automatic import Automatic
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


USED_FROM_WITHIN = (
    "a mixture must not be used while it predicts or learns: not from within its own loss, hedger, "
    "forecasts or signal handlers"
)

SPACIOUS = 16
"""From so many experts on, arrays have room for more."""


class _Growth(NamedTuple):
    """What newcomers and new items change, built aside: arrays, attributes, states and places."""

    arrays: tuple[Any, ...] | None
    changes: dict[str, Any]
    states: list[Any] | None
    merges: tuple[dict[str, int], ...]


_alive: "weakref.WeakSet[Mixture]" = weakref.WeakSet()


def _free_locks() -> None:
    """Give the mixtures of a forked process locks that no thread of its parent holds.

    They are sound: a mixture is changed by one call of the core, during which nobody forks.
    """
    for mixture in _alive:
        mixture._lock = Turn()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_locks)


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
        None or ``"auto"``: `Automatic`, which hedges over ways of combining. Else a single rule: a
        hedger, or its name as on the command line, any of `normalhedge.hedgers.HEDGERS`, such as
        ``"normal-hedge:memory=50,c=1"`` or ``"squint"``, with a memory of 20 rounds where the name
        says nothing of it. One of your own that satisfies `Hedger` will do, at the speed of Python;
        it is not told when the range of losses doubles, and where it has no ``join`` a newcomer
        makes it begin anew. Where ``combine``, ``gradient``, ``even`` or ``include`` is given,
        which belong to a single rule, None means ``NormalHedge(memory=20)``.
    loss
        ``"square"``, ``"absolute"``, ``"pinball:level=0.9"``, ``"log"``, ``"l1"``, ``"zero-one"``,
        ``"log-wealth"`` (see `normalhedge.mixtures.losses`), a `Loss`, or a function of your own.
    combine
        ``"mean"``, ``"median"`` or ``"vote"``. None: the median for absolute and pinball loss, the
        vote for the zero-one loss of labels, else the mean.
    gradient
        Whether experts are judged by the loss linearised at the blend, which makes the hedger
        compete with the best convex combination of the experts and not only with the best of them.
        None: where forecasts are combined by their mean and the loss is not linear already, but
        not with hedgers that go by the losses themselves.
    shared
        Whether the things forecast in one round (components of a vector, items of a mapping) share
        their weights. If not, each has its own. ``"auto"`` hedges over both where they may share.
    even
        The share of the weight that is spread evenly over the experts awake, in [0, 1]: for panels
        in which even the best forecaster is sometimes far off.
    include
        ``"mean"`` and ``"median"``: those of the experts awake, as experts themselves.
    max_pending, max_age
        How many rounds may wait for their outcomes, and for how many rounds; older ones expire.
    history
        How many settled rounds are kept, in which `summary` compares the blend with others.
    forget_after
        For how many rounds an expert may be silent before it leaves, when a new name comes.
        None: nobody is forgotten. Set it where names come and go for months.
    max_names
        How many experts there may be; more are refused.

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
    >>> round(mixture.predict({"gam": 52.0, "naive": 44.0}).value, 1)
    52.0
    """

    def __init__(
        self,
        hedger: Hedger[Any] | Automatic | str | None = None,
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
        forget_after: int | None = None,
        max_names: int = 1_000_000,
    ) -> None:
        self.recipe = Recipe.of(hedger, loss, combine, gradient, shared, even, include)
        self.max_pending = _inputs.count("max_pending", max_pending)
        self.max_age = None if max_age is None else _inputs.count("max_age", max_age)
        self.forget_after = (
            None if forget_after is None else _inputs.count("forget_after", forget_after)
        )
        self.max_names = _inputs.count("max_names", max_names)
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
        rows, totals, item_size, _ = self.games.shape
        count = 1 if self.recipe.shared else 0
        arrays = (
            np.empty((count, 0)),
            np.empty((count, rows, 0)),
            np.zeros((count, totals)),
            np.empty((count, MARKS, 0), dtype=np.int64),
            np.zeros((count, 2)),
            np.zeros((0, item_size)),
            np.zeros((EXPERT_SUMS, 0)),
            np.zeros(TOTAL_SUMS),
            0,
        )
        states = [None] * count  # made when the first expert joins
        self.games.replace(self.games.version, arrays, states, vars(self), {}, ())
        self._has_plain = bool(self.recipe.include)
        self._told = self._simple = False  # whether forecasts may be a number for each name only
        self._index: dict[str, int] = {}
        self._item_index: dict[str, int] = {}
        self._lock = Turn()
        _alive.add(self)
        self.join([PLAIN[way] for way in self.recipe.include])

    def _make_games(self) -> Games:
        """Return the compiled part, still empty."""
        recipe, hedger = self.recipe, self.recipe.hedger
        return Games(
            _engine(hedger, recipe.loss),
            recipe.loss.kind,
            None if recipe.loss.kind else recipe.own_losses,
            recipe.combine,
            recipe.gradient,
            recipe.loss.width,
            recipe.even,
            recipe.loss.levels or (0.5,),
            recipe.include,
            recipe.shared,
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
        # The common case, a dict of a number for each name in their order, in one call: no other
        # thread comes in between, and it is not done while one has its turn.
        if confidence is None and self._simple:
            found = self.games.predict_numbers(forecasts, FIRST_ITEM, Open, self.__dict__)
            if found is not None:
                value, ticket, played = found
                return _new(Prediction, (value, ticket, self.names, played, None))
        with self._lock, self._untouched():
            return self._predict(forecasts, confidence)

    def _predict(
        self, forecasts: Mapping[str, Any], confidence: Mapping[str, float] | None
    ) -> Prediction:
        """Do what `predict` does, in whatever form the forecasts are."""
        _check_mapping(forecasts)
        if confidence is not None:
            self._check_confidence(confidence, forecasts)
        if self.forget_after is not None:
            self._retire(self._unknown_names(forecasts), forecasts)
        version = self.games.version
        table, keys, new = self._read(forecasts)
        growth, items = self._grow(new, [""] if keys is None else [str(key) for key in keys])
        names = growth.changes.get("names", self.names)
        rated = None if confidence is None else self._confidence(confidence, names)
        if self._has_plain:
            self.games.fill_plain(table, rated)
        rows, classes, n = table.shape
        values, played = _empty((rows, classes * self.games.shape[3])), _empty((rows, n))
        number, ticket, due = self.rounds, self.next_ticket, self._due()
        made = Open(table, rated, values, items, number, keys)
        if not self._told and (np.abs(table) >= _inputs.LARGEST).any():
            warnings.warn("infinite forecasts count as missing", RuntimeWarning, stacklevel=3)
            growth.changes["_told"] = True
        self.games.predict(
            version, growth.arrays, growth.states, number, table, rated, values, played, items,
            made, self.pending, ticket, due, self.__dict__,
            {**growth.changes, **self._counted(due)}, growth.merges,
        )  # fmt: skip
        return Prediction(shaped(values[:, :classes], keys), ticket, names, played, keys)

    def _counted(self, due: int | None) -> dict[str, Any]:
        """Return the attributes that change when a round is predicted."""
        changes: dict[str, Any] = {"rounds": self.rounds + 1, "next_ticket": self.next_ticket + 1}
        if due is not None:
            changes["expired"] = self.expired + 1
            if due in self.waiting:
                changes["waiting"] = {k: v for k, v in self.waiting.items() if k != due}
        return changes

    def next_weights(self, names: Iterable[str] | None = None) -> dict[str, float]:
        """Return the weights with which `predict` would now combine these experts.

        Weights do not depend on what is forecast in the round, so they are known before it: a
        portfolio is bought with them. Nothing is changed, and no ticket is given out.

        Parameters
        ----------
        names
            Who will be awake, newcomers among them. None: all experts.

        Raises
        ------
        ValueError
            If there are no experts, or if each item has weights of its own.

        Examples
        --------
        >>> mixture = Mixture(loss="log-wealth")
        >>> for day in range(50):
        ...     bought = mixture.next_weights(["gold", "oil"])    # in the morning
        ...     relatives = {"gold": 1.01, "oil": 1.2 if day % 2 else 0.8}
        ...     made = mixture.predict(relatives)                 # in the evening
        ...     mixture.update(made.ticket, outcome=1.0)
        >>> made.weights == bought
        True
        """
        levels = [str(k) for k in range(len(self.recipe.loss.levels))]
        alone = self.items in ([], [""], levels)
        if not self.recipe.shared or (isinstance(self.recipe.hedger, Automatic) and not alone):
            raise ValueError("each item has weights of its own: see state")
        given = self.names[len(self.recipe.include) :] if names is None else names
        said: Any = 1.0
        if self.recipe.loss.of_classes:
            said = [1.0, 0.0]
        elif len(self.recipe.loss.levels) > 1:
            said = [1.0] * len(self.recipe.loss.levels)
        with self._lock:
            aside = self._copy()
        made = aside.predict(dict.fromkeys(given, said))
        return dict(zip(made.names, made.played[0].tolist(), strict=True))

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
        if self._simple and self.games.update_number(ticket, outcome, self.__dict__):
            return
        with self._lock, self._untouched():
            version, pending = self.games.version, self.pending
            made = _found(pending, ticket)
            if made is None:
                raise KeyError(self._unknown(ticket))
            table, rated, values, items, _, keys = made
            positive = self.recipe.loss.of_wealth
            outcomes = read_outcome(outcome, keys, *table.shape[:2], positive=positive)
            table, rated = self.widen(table, rated)
            self.games.update(
                version, table, rated, values, outcomes, items, made, ticket, self.__dict__,
            )  # fmt: skip

    def note(self, ticket: int, outcomes: Floats) -> None:
        """Add the losses of a round that waits to the sums, before it is settled."""
        table, rated, values, items, _, _ = self.pending[ticket]
        table, rated = self.widen(table, rated)
        self.games.note(self.games.version, table, rated, values, outcomes, items)

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
        """The range of losses of each item, and how far it was filled lately; NaN with auto."""
        if isinstance(self.recipe.hedger, Automatic):
            return np.full((len(self.items), 2), np.nan)
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
        if isinstance(hedger, Automatic):
            return hedger.bound(self.recipe.loss, self.games)
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
        from normalhedge.mixtures.summarising import summarise  # noqa: PLC0415 -- it imports this

        with self._lock:
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
        with self._lock, self._untouched():
            version, new = self.games.version, self._unknown_names(names)
            if new and self._join_quickly(version, new):
                return
            growth, _ = self._grow(new, [])
            self._take_over(version, growth)

    def _take_over(self, version: int, growth: _Growth) -> None:
        """Make changes that were built aside when the mixture had this version."""
        if growth.changes:
            arrays, changes, states, merges = growth
            self.games.replace(version, arrays, states, self.__dict__, changes, merges)

    def _join_quickly(self, version: int, new: list[str]) -> bool:
        """Let experts join in columns that are free; return false where there are none."""
        hedger, before = self.recipe.hedger, len(self.names)
        if self.games.states is not None or getattr(hedger, "begins_with_something", False):
            return False
        places = {name: before + k for k, name in enumerate(new)}
        late = {"joined_late": self.joined_late or bool(self.games.total_sums[STEPS])}
        return self.games.join(version, self.names, new, self.__dict__, late, (self._index, places))

    def _unknown_names(self, names: Iterable[str]) -> list[str]:
        """Return those that are not experts yet, each once."""
        new = [name for name in dict.fromkeys(names) if not self._knows(name)]
        for name in new:
            if not isinstance(name, str):
                raise TypeError(f"names of experts must be strings, got {name!r}")
        if len(self.names) + len(new) > self.max_names:
            raise ValueError(
                f"there are {len(self.names)} experts, and {len(new)} more exceed max_names = "
                f"{self.max_names}: let some leave, or set forget_after"
            )
        return new

    def _knows(self, name: str) -> bool:
        return name in self._index

    def _grow(self, names: Sequence[str], items: Sequence[str]) -> tuple[_Growth, np.ndarray]:
        """Return what these new names and items change, and the index of each item."""
        games = self.games
        arrays: dict[str, np.ndarray] = {}
        changes: dict[str, Any] = {}
        places: dict[str, int] = {}
        item_places: dict[str, int] = {}
        states = None if games.states is None else list(games.states)
        before = games.weights.shape[1]
        n, played = before + len(names), bool(games.total_sums[STEPS])
        if names:
            places |= {name: before + k for k, name in enumerate(names)}
            changes = {"names": [*self.names, *names], "joined_late": self.joined_late or played}
            arrays = self._with_experts(n, states, played=played)
        known = len(self.items)
        new = [key for key in dict.fromkeys(items) if key not in self._item_index]
        if new:
            item_places |= {key: known + k for k, key in enumerate(new)}
            changes["items"] = [*self.items, *new]
            arrays["ranges"] = np.pad(games.ranges, ((0, len(new)), (0, 0)))
            more = self._game_count(known + len(new)) - len(games.weights)
            if more:
                now = {name: arrays.get(name, getattr(games, name)) for name in ARRAYS}
                arrays |= self._with_games(now, more, n, states)
        if not changes:
            return _Growth(None, {}, None, ()), self._item_indices(items, {})
        changes["_simple"] = self._is_simple(
            changes.get("names", self.names), changes.get("items", self.items)
        )
        merges = (self._index, places, self._item_index, item_places)
        growth = _Growth(self._whole(arrays), changes, states, merges)
        return growth, self._item_indices(items, item_places)

    def _whole(self, arrays: Mapping[str, np.ndarray]) -> tuple[Any, ...]:
        """Return all arrays, these and those that stay, and how many experts they are of.

        Where there are many, there is room for more: so each newcomer is moved a few times only.
        """
        whole = {name: arrays.get(name, getattr(self.games, name)) for name in ARRAYS}
        n = whole["weights"].shape[1]
        spare = n // 2 if n >= SPACIOUS else 0
        for name in ("weights", "ledgers", "marks", "expert_sums") if spare else ():
            room = np.zeros((*whole[name].shape[:-1], n + spare), dtype=whole[name].dtype)
            room[..., :n] = whole[name]
            whole[name] = room
        own = (np.require(whole[name], requirements=["C", "A", "W"]) for name in ARRAYS)
        return (*own, n)

    def _item_indices(self, keys: Sequence[str], new: Mapping[str, int]) -> np.ndarray:
        index = self._item_index
        return np.array([new[key] if key in new else index[key] for key in keys], dtype=np.int32)

    def _is_simple(self, names: Sequence[str], items: Sequence[str]) -> bool:
        """Tell whether forecasts may be a number for each name, and nothing else."""
        plain = not self._has_plain and not self.recipe.loss.of_classes
        plain = plain and self.recipe.loss.kind is not None and self.games.states is None
        named = bool(names) and bool(items) and items[0] == ""
        return plain and named and len(self.recipe.loss.levels) <= 1

    def _with_experts(
        self, n: int, states: list[Any] | None, *, played: bool
    ) -> dict[str, np.ndarray]:
        """Return the arrays with n columns, weighed; `states` are brought up to date."""
        games, hedger = self.games, self.recipe.hedger
        count, before = games.weights.shape
        grown = ((0, 0), (0, n - before))
        arrays = {
            "marks": np.pad(games.marks, ((0, 0), *grown), constant_values=-1),
            "expert_sums": np.pad(games.expert_sums, grown),
        }
        if states is not None:
            states[:] = [self._grown(state, n, played=played) for state in states]
            arrays["weights"] = np.array([state.weights for state in states]).reshape(count, n)
            arrays["ledgers"] = np.pad(games.ledgers, ((0, 0), *grown))
            return arrays
        if isinstance(hedger, Automatic):
            arrays["weights"] = np.pad(games.weights, grown)
            arrays["ledgers"] = np.pad(games.ledgers, ((0, 0), *grown))
            return arrays | self._weighed(arrays["weights"], arrays["ledgers"])
        assert isinstance(hedger, CompiledHedger)
        if not played:  # all of them are there from the start
            arrays["weights"] = np.full((count, n), 1.0 / n)
            arrays["ledgers"] = np.tile(hedger.init(n).ledger, (count, 1, 1))
            return arrays
        # Where weights are what is remembered: an even share beside those that are there.
        even = np.full((count, n - before), 1.0 / before)
        more = np.tile(hedger.newcomers(n - before, before), (count, 1, 1))
        arrays["weights"] = np.concatenate([games.weights, even], axis=1)
        arrays["ledgers"] = np.concatenate([games.ledgers, more], axis=2)
        return arrays | self._weighed(arrays["weights"], arrays["ledgers"])

    def _weighed(self, weights: Floats, ledgers: Floats) -> dict[str, np.ndarray]:
        """Return weights and totals that belong to the ledgers, of all games."""
        totals = self.games.totals.copy()
        self.games.weigh_arrays(weights, ledgers, totals)
        return {"weights": weights, "totals": totals}

    def _with_games(
        self, now: Mapping[str, np.ndarray], more: int, n: int, states: list[Any] | None
    ) -> dict[str, np.ndarray]:
        """Return the arrays with so many games more, for n experts."""
        hedger: Any = self.recipe.hedger
        rows, totals, _, _ = self.games.shape
        ledger, own = np.zeros((rows, n)), np.zeros(totals)
        if isinstance(hedger, CompiledHedger) and n:
            state = hedger.init(n)
            ledger, own = state.ledger, state.totals
        weights = np.full((more, n), 1.0 / max(n, 1))
        if states is not None:
            states.extend(hedger.init(n) if n else None for _ in range(more))
            if n:
                weights = np.array([state.weights for state in states[-more:]])
        arrays = {
            "weights": np.concatenate([now["weights"], weights]),
            "ledgers": np.concatenate([now["ledgers"], np.tile(ledger, (more, 1, 1))]),
            "totals": np.concatenate([now["totals"], np.tile(own, (more, 1))]),
        }
        if isinstance(hedger, Automatic):
            self.games.weigh_arrays(*arrays.values())
        return {
            **arrays,
            "marks": np.pad(now["marks"], ((0, more), (0, 0), (0, 0)), constant_values=-1),
            "pool_ranges": np.pad(now["pool_ranges"], ((0, more), (0, 0))),
        }

    def _game_count(self, items: int) -> int:
        """Return how many games so many items make.

        One that they share, or one for each; automatically both, as soon as there are two.
        """
        if not self.recipe.shared:
            return items
        return 1 + items if items > 1 and isinstance(self.recipe.hedger, Automatic) else 1

    def _grown(self, state: Any, n: int, *, played: bool) -> Any:
        """Return the state of a hedger of your own with n experts."""
        hedger: Any = self.recipe.hedger
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

    def leave(self, name: str) -> None:
        """Let an expert leave for good; its weight goes to the others, and its name is free again.

        Rounds that wait for their outcomes go on without it, and its sums are gone.

        Parameters
        ----------
        name
            One of `names`. The last expert cannot leave, nor a plain combination of ``include``.
        """
        with self._lock, self._untouched():
            if not self._knows(name):
                raise ValueError(f"there is no expert {name!r}")
            place, plain = self._index[name], len(self.recipe.include)
            if place < plain or len(self.names) == plain + 1:
                raise ValueError(f"{name!r} cannot leave: plain combinations and one expert stay")
            self._leave([place])

    def _leave(self, places: Sequence[int]) -> None:
        """Let the experts at these places leave."""
        version, games, gone = self.games.version, self.games, set(places)
        arrays = {
            part: np.ascontiguousarray(np.delete(getattr(games, part), places, axis=-1))
            for part in ("weights", "ledgers", "marks", "expert_sums")
        }
        states = None
        if games.states is None:
            arrays |= self._weighed(arrays["weights"], arrays["ledgers"])
        else:
            states = [self._without(state, places) for state in games.states]
            arrays["weights"] = np.array([state.weights for state in states])
        names = [name for k, name in enumerate(self.names) if k not in gone]
        kept = [(_lessened(made, places), outcomes) for made, outcomes in self.history]
        changes = {
            "names": names,
            "_index": {name: k for k, name in enumerate(names)},
            "pending": {t: _lessened(made, places) for t, made in self.pending.items()},
            "history": deque(kept, maxlen=self.history.maxlen),
        }
        games.replace(version, self._whole(arrays), states, self.__dict__, changes, ())

    def _retire(self, new: Sequence[str], heard: Mapping[str, Any]) -> None:
        """Let experts leave that were silent for too long, when others come; see `forget_after`."""
        if self.forget_after is None or not new or not self.names:
            return
        last = self.games.marks[:, LAST].max(axis=0, initial=-1)
        last[: len(self.recipe.include)] = self.rounds
        places = [
            k
            for k in np.flatnonzero(last < self.rounds - self.forget_after).tolist()
            if self.names[k] not in heard
        ]
        if places:
            stays = len(self.names) - len(places) > len(self.recipe.include)
            self._leave(places if stays else places[1:])

    def _without(self, state: Any, places: Sequence[int]) -> Any:
        """Return the state of a hedger of your own without some experts."""
        leave = getattr(self.recipe.hedger, "leave", None)
        if leave is not None:
            return leave(state, list(places))
        hedger: Any = self.recipe.hedger
        return hedger.init(len(state.weights) - len(places))

    def item_indices(self, keys: Keys) -> np.ndarray:
        """Return the index of each item; those not seen before are added."""
        version = self.games.version
        growth, found = self._grow([], [""] if keys is None else [str(key) for key in keys])
        self._take_over(version, growth)
        return found

    @contextmanager
    def aside(self) -> Iterator["Mixture"]:
        """Keep other threads out and yield a copy to work on; take its place if all goes well."""
        with self._lock, self._untouched():
            version, other = self.games.version, self._copy()
            yield other
            changes = {k: v for k, v in vars(other).items() if k != "_lock"}
            self.games.replace(version, None, None, self.__dict__, changes, ())

    @contextmanager
    def _untouched(self) -> Iterator[None]:
        """Say so where something failed because the mixture was used from within."""
        version = self.games.version
        try:
            yield
        except Exception as error:
            if self.games.version != version:  # a change that is made is the last thing done
                raise RuntimeError(USED_FROM_WITHIN) from error
            raise

    def _copy(self) -> "Mixture":
        """Return a copy that shares nothing which is changed in place."""
        other = object.__new__(Mixture)
        for name, value in vars(self).items():
            vars(other)[name] = copy(value) if isinstance(value, dict | list | deque) else value
        other.waiting = {
            k: one._replace(outcomes=one.outcomes.copy()) for k, one in self.waiting.items()
        }
        states = None if self.games.states is None else list(self.games.states)
        other._take(self._arrays(), states)
        return other

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return tuple(getattr(self.games, name).copy() for name in ARRAYS)

    def _take(self, arrays: tuple[np.ndarray, ...], states: list[Any] | None) -> None:
        """Make the compiled part anew, of these arrays."""
        self._lock = Turn()
        self.games = self._make_games()
        own = [np.require(array, requirements=["C", "A", "W"]) for array in arrays]
        whole = (*own, own[0].shape[1])
        self.games.replace(self.games.version, whole, states, vars(self), {}, ())
        _alive.add(self)

    def __copy__(self) -> "Mixture":
        """Return a mixture of its own: two that share some of their arrays would not do."""
        return deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the lock, with the arrays of the compiled part."""
        with self._lock:
            kept = {k: v for k, v in vars(self).items() if k not in {"games", "_lock"}}
            kept |= {k: copy(v) for k, v in kept.items() if isinstance(v, dict | list | deque)}
            states = None if self.games.states is None else list(self.games.states)
            return {**kept, "arrays": self._arrays(), "states": states}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Take what was kept."""
        arrays, states = kept.pop("arrays"), kept.pop("states")
        vars(self).update(kept)
        self._take(arrays, states)

    def _read(self, forecasts: Mapping[str, Any]) -> tuple[Floats, Keys, list[str]]:
        """Return the table, the keys of its rows, and the names that are new."""
        if not forecasts and not self.names:
            raise ValueError("forecasts must name at least one expert")
        new = self._unknown_names(forecasts)
        index = {name: k for k, name in enumerate((*self.names, *new))}
        table, keys = read(forecasts, index, len(index), of_classes=self.recipe.loss.of_classes)
        levels = len(self.recipe.loss.levels)
        if levels > 1 and (keys is None or len(keys) != levels):
            raise ValueError(f"forecasts must have {levels} numbers each, one for each level")
        return table, keys, new

    def _check_confidence(self, given: Any, forecasts: Mapping[str, Any]) -> None:
        if not isinstance(given, Mapping):
            raise TypeError(f"confidence must be a mapping of names, got {type(given).__name__}")
        for name, value in given.items():
            if not self._knows(name) and name not in forecasts:
                raise ValueError(f"confidence names {name!r}, who never forecast")
            _inputs.number(f"confidence of {name!r}", value, 0.0, 1.0, closed=True)

    @staticmethod
    def _confidence(given: Mapping[str, float], names: Sequence[str]) -> Floats:
        return np.array([float(given.get(name, 1.0)) for name in names])

    def _due(self) -> int | None:
        """Return the ticket of a round that is given up when another one is predicted."""
        pending = self.pending
        oldest = next(iter(pending), None)
        if oldest is None:
            return None
        late = self.max_age is not None and pending[oldest].number < self.rounds + 1 - self.max_age
        return oldest if late or len(pending) >= self.max_pending else None

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


def _engine(hedger: Any, loss: Loss) -> Any:
    """Return what the compiled part is made with."""
    if isinstance(hedger, Automatic):
        return hedger.engine(loss)
    return hedger._engine if isinstance(hedger, CompiledHedger) else hedger


def _found(pending: Mapping[int, Open], ticket: Any) -> Open | None:
    return pending.get(int(ticket)) if isinstance(ticket, int | np.integer) else None


def _check_mapping(forecasts: Any) -> None:
    if not isinstance(forecasts, Mapping):
        raise TypeError(
            f"forecasts must be a mapping of names to forecasts, got {type(forecasts).__name__}"
        )


def _lessened(made: Open, places: Sequence[int]) -> Open:
    """Return a round without the forecasts of some experts."""
    own = [place for place in places if place < made.forecasts.shape[2]]
    rated = None if made.confidence is None else np.delete(made.confidence, own)
    table = np.ascontiguousarray(np.delete(made.forecasts, own, axis=2))
    return made._replace(forecasts=table, confidence=rated)
