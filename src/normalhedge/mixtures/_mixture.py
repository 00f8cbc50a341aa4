"""The live mixture: forecasts and outcomes in, blended predictions out."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import clipped
from normalhedge.hedgers import Hedger
from normalhedge.mixtures import files
from normalhedge.mixtures._forking import free_in_children
from normalhedge.mixtures._mixture_views import MixtureViews
from normalhedge.mixtures._reading import read_round
from normalhedge.mixtures.losses import Loss, LossFunction
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.state import (
    HISTORY,
    INSIDE,
    MAX_NAMES,
    MAX_PENDING,
    OPTIONS,
    MixtureSettings,
    MixtureState,
    Operation,
    PendingRound,
    Prediction,
    as_mapping,
    check_confidence,
    id_text,
    named_classes,
    number_outcome,
    read_outcome,
    shape_classes,
)


class Mixture(MixtureViews):
    """Named experts, blended by weights that follow the experts with the best recent forecasts.

    `predict` takes the forecasts of the experts and returns the blend and a ticket; `update` takes
    the ticket and the outcome: at once, late, in any order, or never. An expert joins when its name
    first appears, and sleeps when its forecast is missing, NaN or infinite. There is no scale to
    set: a mixture learns the range of the losses.

    Parameters
    ----------
    hedger
        None or ``"auto"`` for `Automatic`, which hedges over ways of combining. Otherwise a single
        rule: a hedger, or its name as on the command line, any of `normalhedge.hedgers.HEDGERS`,
        such as ``"normal-hedge:memory=50,c=1"`` or ``"squint"``. The default memory of a named
        hedger is 20 rounds. A hedger of your own must satisfy `Hedger`, and runs at the speed of
        Python. It is not told when the range of losses grows, and if it has no ``join`` it starts
        again whenever an expert joins. With ``combine``, ``gradient``, ``even`` or ``include``,
        which are settings of a single rule, None means ``NormalHedge(memory=20)``.
    loss
        ``"square"``, ``"absolute"``, ``"pinball:level=0.9"``, ``"crps:levels=0.1/0.5/0.9"``,
        ``"log"``, ``"l1"``, ``"zero-one"``, ``"log-wealth"`` (see
        `normalhedge.mixtures.losses`), a `Loss`, or a function of your own.
        ``"mae"`` stands for the absolute loss, ``"mse"`` and ``"rmse"`` for the square loss.
    combine
        ``"mean"``, ``"median"`` or ``"vote"``. By default the median for the absolute and the
        pinball loss, the vote for the zero-one loss of labels, and the mean for all other losses.
    gradient
        Whether to judge experts by the loss linearised at the blend, so that the hedger competes
        with the best convex combination of the experts and not only with the best expert. By
        default this is on if forecasts are combined by their mean, the loss is not linear and the
        hedger does not need the losses themselves.
    shared
        Whether all items of a round (components of a vector, entries of a mapping) share their
        weights; otherwise each item has its own. If they may share them, ``"auto"`` hedges over
        both.
    even
        The share of the weight, in [0, 1], that is spread evenly over the experts awake. It helps
        on panels in which even the best forecaster is sometimes far off.
    include
        ``"mean"``, ``"median"`` or both: plain combinations of the experts awake, added as experts.
    max_pending, max_age
        The largest number of rounds that wait for their outcomes, and the largest number of rounds
        that one of them waits; older rounds expire.
    history
        The number of settled rounds to keep; `summary` compares the blend with others over these,
        and `correct` can change the outcomes of some of them.
    forget_after
        The number of rounds after which a sleeping expert leaves, once a new name arrives. None
        keeps all experts. Set it if names come and go for months.
    max_names
        The largest number of experts; more are refused.
    memory, half_life
        How fast a single rule forgets, if its name does not say so: in rounds, either of them. With
        neither a name nor ``"auto"``, the rule is NormalHedge.
    interval
        The share of outcomes to cover by an interval around the blend, such as 0.9; or several
        shares. Each `Prediction` has ``intervals``, which
        `normalhedge.mixtures.intervals.Conformal` learns from the
        outcomes, for each item on its own. With the crps loss they correct the quantiles
        of the blend at the ends of an interval, whose levels the loss must have.
    season
        With ``interval``: the number of rounds after which the spread of outcomes repeats itself.

    Notes
    -----
    A single rule learns from the loss itself, so its regret bound bounds the loss of the blend:
    see `bound`. The hedger learns from a late outcome when it arrives. From the first late outcome
    on, NormalHedge allows for the longest delay so far: regrets move by the loss of the blend as it
    was played, and c grows with the delay (`normalhedge.guarantees.default_c`). If you know the
    delay beforehand, say so: ``"normal-hedge:delay=7"``.

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
        memory: float | None = None,
        half_life: float | None = None,
        interval: float | Iterable[float] | None = None,
        season: int | None = None,
    ) -> None:
        options = {name: value for name, value in locals().items() if name in OPTIONS}
        state = MixtureState.new(MixtureSettings.of(**options))
        super().__init__(state.settings, state.live)
        free_in_children(self)

    @classmethod
    def of(cls, state: MixtureState) -> Self:
        """Return a mixture that continues from a state, and shares it."""
        mixture = super().of(state)
        free_in_children(mixture)
        return mixture

    def predict(
        self,
        forecasts: Mapping[str, Any],
        confidence: Mapping[str, float] | None = None,
        *,
        id: Any = None,  # noqa: A002
        context: Mapping[str, Any] | None = None,
    ) -> Prediction:
        """Return the blend of the forecasts, the weights of the experts and a ticket.

        Parameters
        ----------
        forecasts
            The forecast of each expert, by name: a number; or a sequence or a mapping of numbers,
            for vectors and for several items in one round. A row of a table will do: a series of
            pandas, whose index has the names, or a data frame with one row. With a loss of class
            probabilities, a sequence of probabilities, or a mapping of the names of classes to
            probabilities, replaces each number, and the prediction has the same form; with the crps
            loss, a sequence of quantiles, one for each level, or a mapping of levels to quantiles.
            An expert sleeps where its forecast is None or NaN. Missing quantiles between two others
            are interpolated; without the first or the last one the expert sleeps.
        confidence
            The confidence of experts in their forecasts, by name, in [0, 1]; by default 1.
        id
            Your own id of the round, which `update` accepts in place of the ticket: text, a number,
            or anything else that JSON can hold.
        context
            The circumstances on which the weights and corrections of ``"auto"`` may depend, such as
            ``{"hour": 7, "weather": "rain"}``: up to three names, each with a category, that is
            text, a whole number, true or false. With several items, a sequence or a mapping gives
            each its own. A context that is missing, or has more than 64 values, has the weights
            that are common to all.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described, or a round with this id waits for its outcome; the
            mixture does not change then.
        """
        # A dict of numbers takes one call of the core.
        if confidence is None and id is None:
            prediction: Prediction | None = self._live.predict(forecasts, context)
            if prediction is not None:
                return prediction
        with self._live.turn, INSIDE:
            text = None if id is None else id_text(id)
            return self._predict(forecasts, confidence, text, context)

    def _predict(
        self,
        forecasts: Mapping[str, Any],
        confidence: Mapping[str, float] | None,
        text: str | None,
        context: Mapping[str, Any] | None,
    ) -> Prediction:
        """Predict forecasts of any form, with an id as JSON text."""
        live = self._live
        forecasts = as_mapping("forecasts", forecasts)
        if confidence is not None:
            confidence = as_mapping("confidence", confidence)
            check_confidence(confidence, lambda name: live.find(name) >= 0 or name in forecasts)
        if text is not None and live.find_id(text) >= 0:
            raise ValueError(f"a round with id {clipped(text, 80)} waits for its outcome already")
        self._forget_sleepers(forecasts)
        round_, keys = read_round(self, forecasts, confidence, text, context)
        ticket, values, distribution, bounds = live.predict_rows(round_)
        intervals = None
        if self.intervals is not None and bounds is not None:
            intervals = self.intervals.shaped_bounds(bounds, keys)
        return Prediction(
            shape_classes(live.classes, values, keys),
            ticket,
            live.names,
            distribution,
            keys,
            intervals,
        )

    def peek(
        self,
        forecasts: Mapping[str, Any],
        confidence: Mapping[str, float] | None = None,
        *,
        context: Mapping[str, Any] | None = None,
    ) -> Prediction:
        """Return the prediction that `predict` would make, and change nothing.

        No round begins: the ticket of the prediction is -1, and no outcome is expected.

        Parameters
        ----------
        forecasts, confidence, context
            As for `predict`.

        Examples
        --------
        >>> mixture = Mixture()
        >>> mixture.update(mixture.predict({"a": 1.0, "b": 3.0}).ticket, 1.0)
        >>> tomorrow = mixture.peek({"a": 2.0, "b": 4.0})
        >>> tomorrow.ticket, tomorrow.value == mixture.predict({"a": 2.0, "b": 4.0}).value
        (-1, True)
        """
        other = self.copy(history=False)
        return other.predict(forecasts, confidence, context=context)._replace(ticket=-1)

    def next_weights(self, names: Iterable[str] | None = None) -> dict[str, float]:
        """Return the weights with which `predict` would combine these experts in the next round.

        Weights do not depend on the forecasts of the round, so they are known before it: buy a
        portfolio with them. The mixture does not change, and no ticket is given out.

        Parameters
        ----------
        names
            The experts that will be awake, present or new. None stands for all present experts.

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
        ...     prediction = mixture.predict(relatives)           # in the evening
        ...     mixture.update(prediction.ticket, outcome=1.0)
        >>> prediction.weights == bought
        True
        """
        levels = [str(k) for k in range(len(self.settings.loss.levels))]
        single = self.items in ([], [""], levels)
        if not self.settings.shared or (isinstance(self.settings.hedger, Automatic) and not single):
            raise ValueError("each item has weights of its own: see state")
        awake = self.names[len(self.settings.include) :] if names is None else names
        forecast: Any = 1.0
        if self.settings.loss.of_classes:
            classes = named_classes(self.live.classes)
            forecast = dict.fromkeys(classes, 1.0 / len(classes)) if classes else [1.0, 0.0]
        elif len(self.settings.loss.levels) > 1:
            forecast = [1.0] * len(self.settings.loss.levels)
        prediction = self.copy(history=False).predict(dict.fromkeys(awake, forecast))
        return dict(zip(prediction.names, prediction.distribution[0].tolist(), strict=True))

    def update(
        self,
        ticket: int | None = None,
        outcome: Any = None,
        *,
        id: Any = None,  # noqa: A002
    ) -> None:
        """Learn from an outcome.

        Parameters
        ----------
        ticket
            The ticket of the prediction; None if an id is given.
        outcome
            The outcome, in the form of the forecasts; a class, its number or its name, if these
            were class probabilities.
            If there are several items, some outcomes may be missing (NaN, None, or not in the
            mapping): the mixture does not wait for them any more.
        id
            The id that `predict` got for the round, in place of the ticket.

        Raises
        ------
        KeyError, ValueError, TypeError
            If the ticket is unknown, used or expired, or the outcome is not as described; the
            mixture does not change then.
        """
        if id is None and self._live.update(ticket, outcome):  # a number takes one call of the core
            return
        with self._live.turn, INSIDE:
            version = self._live.version
            ticket = self._ticket(ticket, id, settled=False)
            pending = self._pending_round(ticket)
            self._live.settle(version, int(ticket), self._outcomes(pending, outcome))

    def correct(
        self,
        ticket: int | None = None,
        outcome: Any = None,
        *,
        id: Any = None,  # noqa: A002
    ) -> None:
        """Replace the outcome of a settled round by the right one.

        The rounds since a checkpoint before it are played again with the same forecasts. Afterwards
        the mixture is the same, to the bit, as if the right outcome had been given at once; its
        sums count meanwhile predictions as if they had been made with the right outcome. This is
        possible for the last rounds, at least half of ``history`` of them, unless experts or a
        table arrived in another way than by `predict`, or experts left, since.

        Parameters
        ----------
        ticket
            The ticket of the prediction; None if an id is given.
        outcome
            The right outcome, as for `update`.
        id
            The id that `predict` got for the round, in place of the ticket.

        Raises
        ------
        KeyError, ValueError, TypeError
            If the round is unknown, pending or too long ago, or the outcome is not as described;
            the mixture does not change then.

        Examples
        --------
        >>> mixture = Mixture()
        >>> mixture.update(mixture.predict({"a": 1.0, "b": 3.0}).ticket, 30.0)
        >>> mixture.correct(0, 3.0)
        """
        with self._live.turn, INSIDE:
            version = self._live.version
            ticket = self._ticket(ticket, id, settled=True)
            outcomes = self._outcomes(self._settled_round(ticket), outcome)
            if not self._correct(version, ticket, outcomes):
                raise self._too_late(ticket)

    def _correct(self, version: int, ticket: Any, outcomes: Any) -> bool:
        """Correct a round in the core; return whether it was recent enough."""
        try:
            return bool(self._live.correct(version, ticket, outcomes))
        except KeyError as error:
            raise ValueError(
                "the settled rounds of this mixture do not belong together, so that none can be "
                "corrected: was its file changed?"
            ) from error

    def _ticket(self, ticket: Any, id_: Any, *, settled: bool) -> Any:
        """Return a ticket that is given itself or by an id."""
        if (ticket is None) == (id_ is None):
            raise TypeError("give the ticket or the id of the round")
        return ticket if id_ is None else self.ticket_of(id_, settled=settled)

    def _outcomes(self, waiting: PendingRound, outcome: Any) -> Floats:
        """Return the outcomes of the rows of a round."""
        rows, classes, _ = waiting.forecasts.shape
        loss = self.settings.loss
        classes = 1 if loss.of_levels else classes
        outcome = number_outcome(self._live.classes, outcome)
        return read_outcome(outcome, waiting.keys, rows, classes, loss)

    def save(self, path: str | Path, *, history: bool = True) -> int:
        """Write the mixture to a JSON file, all or nothing; return the number of bytes.

        Parameters
        ----------
        path
            The file; a former one is replaced.
        history
            Whether the file holds the `history`, too, so that the loaded mixture has the same
            summary and can `correct` the same rounds. It takes some 8 bytes for each forecast and
            each component of a settled round, and twice the size of the rest for two checkpoints.
        """
        with self._live.turn, INSIDE:
            return files.save(self, Path(path), history=history)

    @classmethod
    def load(cls, path: str | Path, loss: Loss | LossFunction | None = None) -> Self:
        """Return the mixture of a file: it answers everything as the saved one did, to the bit.

        A file of a version before 0.3 holds no `history`.

        Parameters
        ----------
        path
            A file that `save` wrote.
        loss
            The loss, if it is a function of your own: functions are not saved.
        """
        return files.load(Path(path), loss, cls.of, cls.redo)

    def do(self, operation: Operation) -> Prediction | None:
        """Do an operation of a stream; return the prediction, or None for other operations.

        Parameters
        ----------
        operation
            The operation; the ticket of a prediction is ignored. If the operation is refused, the
            mixture does not change.
        """
        for name in ("leave", "retire", "rename", "inherit"):
            if name in operation:
                names = operation[name]
                getattr(self, name)(*(names if isinstance(names, list) else [names]))
                return None
        if "correct" in operation:
            self.correct(operation["correct"], operation["outcome"])
            return None
        text = id_text(operation["id"]) if "id" in operation else None
        if "update" in operation:
            self.update(operation["update"], operation["outcome"])
            return None
        forecasts, confidence = operation["predict"], operation.get("confidence")
        context = operation.get("context")
        if text is None:
            return self.predict(forecasts, confidence, context=context)
        with self._live.turn, INSIDE:  # the id may be null
            return self._predict(forecasts, confidence, text, context)

    def redo(self, operation: Operation) -> None:
        """Repeat an operation of a journal; refuse it if its round gets another ticket."""
        prediction = self.do(operation)
        if prediction is not None and prediction.ticket != operation["ticket"]:
            raise ValueError(f"its ticket was {operation['ticket']}, not {prediction.ticket}")

    @contextmanager
    def transaction(self) -> Iterator[MixtureState]:
        """Keep other threads out and yield a copy of the state; take it over if nothing fails."""
        with self._live.turn, INSIDE:
            version = self._live.version
            other = MixtureState(self.settings, self._live.copy(True))  # noqa: FBT003
            yield other
            self._live.take_over(version, other.live)

    def __copy__(self) -> Self:
        return self.copy()  # a deep one: two mixtures cannot share arrays

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self.copy()
