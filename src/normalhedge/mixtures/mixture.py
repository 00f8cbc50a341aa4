"""Experts by name, live: forecasts and outcomes in, blended predictions out."""

import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, Self

import numpy as np

from normalhedge import _inputs
from normalhedge._core import Games
from normalhedge._inputs import Floats
from normalhedge.certificates import Bound
from normalhedge.hedgers import Hedger
from normalhedge.mixtures import saved
from normalhedge.mixtures.automatic import Automatic
from normalhedge.mixtures.books import HISTORY, MAX_NAMES, MAX_PENDING, Books
from normalhedge.mixtures.forecasts import Keys, read, read_outcome
from normalhedge.mixtures.losses import Loss, LossFunction
from normalhedge.mixtures.operations import Operation, id_text
from normalhedge.mixtures.recipe import Recipe
from normalhedge.mixtures.summarising import summarise
from normalhedge.mixtures.summary import Summary
from normalhedge.mixtures.tickets import PendingRound, Prediction, shaped

# Bound to names of this module: with five experts each further look-up shows.
_empty, _new = np.empty, tuple.__new__

FIRST_ITEM = np.zeros(1, dtype=np.int32)

USED_FROM_WITHIN = (
    "a mixture must not be used while it predicts or learns: not from within its own loss, hedger, "
    "forecasts or signal handlers"
)


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
        max_pending: int = MAX_PENDING,
        max_age: int | None = None,
        history: int = HISTORY,
        forget_after: int | None = None,
        max_names: int = MAX_NAMES,
    ) -> None:
        self._books = Books(
            Recipe.of(
                hedger, loss, combine, gradient=gradient, shared=shared, even=even, include=include
            ),
            max_pending=max_pending,
            max_age=max_age,
            forget_after=forget_after,
            max_names=max_names,
            history=history,
        )

    @classmethod
    def of(cls, books: Books) -> Self:
        """Return a mixture that goes on with these books."""
        mixture = object.__new__(cls)
        mixture._books = books
        return mixture

    @property
    def books(self) -> Books:
        """All that the mixture remembers: for other modules of this package."""
        return self._books

    @property
    def recipe(self) -> Recipe:
        """The settings."""
        return self._books.recipe

    @property
    def names(self) -> list[str]:
        """The experts, in the order in which they joined."""
        return self._books.names

    @property
    def items(self) -> list[str]:
        """The things forecast, in the order in which they were first seen."""
        return self._books.items

    @property
    def rounds(self) -> int:
        """The number of rounds that were predicted."""
        return self._books.rounds

    @property
    def pending(self) -> dict[int, PendingRound]:
        """The rounds that wait for their outcomes, by ticket."""
        return self._books.pending

    @property
    def next_ticket(self) -> int:
        """The ticket of the next round."""
        return self._books.next_ticket

    @property
    def expired(self) -> int:
        """The number of rounds that were given up: see ``max_pending`` and ``max_age``."""
        return self._books.expired

    @property
    def history(self) -> deque[tuple[PendingRound, Floats]]:
        """The last rounds that were settled, with their outcomes."""
        return self._books.history

    @property
    def max_pending(self) -> int:
        """How many rounds may wait for their outcomes."""
        return self._books.max_pending

    @property
    def ids(self) -> dict[str, int]:
        """Tickets by the ids that a stream gave its rounds."""
        return self._books.ids

    @property
    def games(self) -> Games:
        """The compiled part, which owns the arrays."""
        return self._books.games

    @property
    def weights(self) -> Floats:
        """The weights of each game; games x experts."""
        return self._books.weights

    @property
    def regrets(self) -> Floats:
        """The regrets of each game, in units of gain; games x experts.

        NaN for an automatic mixture: its regrets are to ways of combining, not to experts.
        """
        return self._books.regrets

    @property
    def ranges(self) -> Floats:
        """The range of losses of each item, and how far it was filled lately; NaN with auto."""
        return self._books.ranges

    @property
    def levels(self) -> Floats:
        """The levels of the pinball loss; one that does not matter for other losses."""
        return self._books.levels

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
        books = self._books
        if confidence is None and books.simple:
            found = books.games.predict_numbers(forecasts, FIRST_ITEM, PendingRound, books.__dict__)
            if found is not None:
                value, ticket, distribution = found
                return _new(Prediction, (value, ticket, books.names, distribution, None))
        with self._books._lock, self._untouched():
            return self._predict(forecasts, confidence)

    def _predict(
        self, forecasts: Mapping[str, Any], confidence: Mapping[str, float] | None
    ) -> Prediction:
        """Do what `predict` does, in whatever form the forecasts are."""
        books = self._books
        _check_mapping(forecasts)
        if confidence is not None:
            self._check_confidence(confidence, forecasts)
        if books.forget_after is not None:
            books.retire(forecasts)
        version = books.games.version
        table, keys, new = self._read(forecasts)
        growth, items = books.grow(new, [""] if keys is None else [str(key) for key in keys])
        names = growth.changes.get("names", books.names)
        rated = None
        if confidence is not None:
            rated = np.array([float(confidence.get(name, 1.0)) for name in names])
        if books.recipe.include:
            books.games.fill_plain(table, rated)
        rows, classes, n = table.shape
        values = _empty((rows, classes * books.games.shape[3]))
        distribution = _empty((rows, n))
        number, ticket, expiring = books.rounds, books.next_ticket, books.expiring()
        pending = PendingRound(table, rated, values, items, number, keys)
        changes = {**growth.changes, **books.counted(expiring)}
        if not books.warned and (np.abs(table) >= _inputs.LARGEST).any():
            warnings.warn("infinite forecasts count as missing", RuntimeWarning, stacklevel=3)
            changes["warned"] = True
        books.games.predict(
            version, growth.arrays, growth.states, number, table, rated, values, distribution,
            items, pending, books.pending, ticket, expiring, vars(books), changes, growth.merges,
        )  # fmt: skip
        return Prediction(shaped(values[:, :classes], keys), ticket, names, distribution, keys)

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
        single = self.items in ([], [""], levels)
        if not self.recipe.shared or (isinstance(self.recipe.hedger, Automatic) and not single):
            raise ValueError("each item has weights of its own: see state")
        awake = self.names[len(self.recipe.include) :] if names is None else names
        forecast: Any = 1.0
        if self.recipe.loss.of_classes:
            forecast = [1.0, 0.0]
        elif len(self.recipe.loss.levels) > 1:
            forecast = [1.0] * len(self.recipe.loss.levels)
        with self._books._lock:
            aside = Mixture.of(self._books.copy())
        made = aside.predict(dict.fromkeys(awake, forecast))
        return dict(zip(made.names, made.distribution[0].tolist(), strict=True))

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
        books = self._books
        if books.simple and books.games.update_number(ticket, outcome, books.__dict__):
            return
        with self._books._lock, self._untouched():
            version, pending = books.games.version, books.pending_round(ticket)
            positive = books.recipe.loss.of_wealth
            rows, classes, _ = pending.forecasts.shape
            outcomes = read_outcome(outcome, pending.keys, rows, classes, positive=positive)
            table, rated = books.widen(pending.forecasts, pending.confidence)
            books.games.update(
                version, table, rated, pending.values, outcomes, pending.items, pending, ticket,
                vars(books),
            )  # fmt: skip

    def state(self, item: str | None = None) -> Any:
        """Return the state of the game, as the hedger knows it.

        What a hedger's `bounds` says of it is a promise where `bound` is one.

        Parameters
        ----------
        item
            Whose game, where each item has its own.
        """
        return self._books.hedger_state(item)

    def bound(self) -> Bound:
        """Return what is proved of the regret.

        Of a single rule: what the hedger promises of its regret to each expert, in units of gain.
        Where its promise depends on the number of rounds, it is that of so many as were played. It
        may be one of games whose gains are what they are from the start, and whose experts are
        there from the start: it is then no promise where the range of losses is learned, or where
        experts joined later. Of an automatic mixture: its regret to each of its components, see
        `Automatic`.
        """
        return self._books.bound()

    def summary(self) -> Summary:
        """Return what a person wants to know; it prints as a table, also in a notebook."""
        with self._books._lock:
            return summarise(self._books)

    def save(self, path: str | Path) -> None:
        """Write everything but `history` to a JSON file, all or nothing."""
        with self._books._lock:
            saved.save(self._books, Path(path))

    @classmethod
    def load(cls, path: str | Path, loss: Loss | LossFunction | None = None) -> Self:
        """Return the mixture that was saved, to the bit.

        Parameters
        ----------
        path
            What `save` wrote.
        loss
            The loss, where it was one of your own: functions are not saved.
        """
        return saved.load(Path(path), loss, cls.of, cls.redo)

    def join(self, names: Sequence[str]) -> None:
        """Let experts join, as if they had slept; those that are known already stay as they are."""
        with self._books._lock, self._untouched():
            self._books.join(names)

    def leave(self, name: str) -> None:
        """Let an expert leave for good; its weight goes to the others, and its name is free again.

        Rounds that wait for their outcomes go on without it, and its sums are gone.

        Parameters
        ----------
        name
            One of `names`. The last expert cannot leave, nor a plain combination of ``include``.
        """
        with self._books._lock, self._untouched():
            self._books.leave(name)

    def do(self, operation: Operation) -> Prediction | None:
        """Do what an operation of a stream says; return the prediction, where there is one.

        Parameters
        ----------
        operation
            The ticket of a prediction is not looked at. If the operation is refused, the mixture
            is as it was.
        """
        if "leave" in operation:
            self.leave(operation["leave"])
            return None
        text = id_text(operation["id"]) if "id" in operation else None
        if "update" in operation:
            ticket = operation["update"]
            self.update(ticket, operation["outcome"])
            if text is not None:
                self._books.forget_id(text, ticket)
            return None
        prediction = self.predict(operation["predict"], operation.get("confidence"))
        if text is not None:
            self._books.remember_id(text, prediction.ticket)
        return prediction

    def redo(self, operation: Operation) -> None:
        """Do an operation of a journal again; refuse it if its round gets another ticket."""
        prediction = self.do(operation)
        if prediction is not None and prediction.ticket != operation["ticket"]:
            raise ValueError(f"its ticket was {operation['ticket']}, not {prediction.ticket}")

    @contextmanager
    def transaction(self) -> Iterator[Books]:
        """Keep other threads out and yield a copy of the books; take it over if all goes well."""
        with self._books._lock, self._untouched():
            version, other = self._books.games.version, self._books.copy()
            yield other
            self._books.take_the_place_of(other, version)

    @contextmanager
    def _untouched(self) -> Iterator[None]:
        """Say so where something failed because the mixture was used from within."""
        version = self._books.games.version
        try:
            yield
        except Exception as error:
            if self._books.games.version != version:  # a change is the last thing that is done
                raise RuntimeError(USED_FROM_WITHIN) from error
            raise

    def __copy__(self) -> Self:
        """Return a mixture of its own: two that share some of their arrays would not do."""
        return deepcopy(self)

    def _read(self, forecasts: Mapping[str, Any]) -> tuple[Floats, Keys, list[str]]:
        """Return the table, the keys of its rows, and the names that are new."""
        if not forecasts and not self._books.names:
            raise ValueError("forecasts must name at least one expert")
        new = self._books.unknown_names(forecasts)
        index = {name: k for k, name in enumerate((*self._books.names, *new))}
        loss = self._books.recipe.loss
        table, keys = read(forecasts, index, len(index), of_classes=loss.of_classes)
        levels = len(loss.levels)
        if levels > 1 and (keys is None or len(keys) != levels):
            raise ValueError(f"forecasts must have {levels} numbers each, one for each level")
        return table, keys, new

    def _check_confidence(self, given: Any, forecasts: Mapping[str, Any]) -> None:
        if not isinstance(given, Mapping):
            raise TypeError(f"confidence must be a mapping of names, got {type(given).__name__}")
        for name, value in given.items():
            if not self._books.knows(name) and name not in forecasts:
                raise ValueError(f"confidence names {name!r}, who never forecast")
            _inputs.number(f"confidence of {name!r}", value, 0.0, 1.0, closed=True)


def _check_mapping(forecasts: Any) -> None:
    if not isinstance(forecasts, Mapping):
        raise TypeError(
            f"forecasts must be a mapping of names to forecasts, got {type(forecasts).__name__}"
        )
