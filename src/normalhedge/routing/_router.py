"""The router: an action out, its gain in."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from normalhedge.boundary.terminal import clipped, counted
from normalhedge.live.journal import Operation
from normalhedge.live.options import documented, from_options
from normalhedge.routing import _files
from normalhedge.routing._explaining import RouterExplanation, RouterSummary, explain, summarise
from normalhedge.routing._settings import RouterSettings, check_name
from normalhedge.routing._state import RouterState
from normalhedge.routing._values import Choice

ALL = "all"
"""The value of ``seen`` that stands for all actions."""


@documented(RouterSettings)
class Router(RouterState):
    """Choose one action at a time, and learn from the gains that become known.

    `choose` draws an action and returns it with a ticket; `reward` takes the ticket and the gain:
    at once, late, in any order, or never. The gain of the chosen action is enough. Where the gains
    of others are known, too, the router uses all of them; with all gains it is a hedger.

    Parameters
    ----------
    {options}

    Notes
    -----
    The draw of a ticket depends on the seed and on the number of the ticket alone, so that the same
    operations choose the same actions again, also after `load`.

    Estimates are right if the gains that become known, beside the one of the chosen action, do not
    depend on the choice, but for ``shows``.

    An operation that fails changes nothing. Each is one call of the core, so that threads may share
    a router, and an interrupt leaves it as it was before, or as it is after.

    Examples
    --------
    >>> router = Router(["small", "large"])
    >>> for question in range(300):
    ...     choice = router.choose()
    ...     router.reward(choice.ticket, 1.0 if choice.action == "large" else 0.2)
    >>> router.choose().action
    'large'
    >>> router.probabilities()["large"] > 0.9
    True
    """

    @from_options(RouterSettings)
    def __init__(self, settings: RouterSettings) -> None:
        super().__init__(settings)
        for name in settings.actions:
            self.join(name)

    def choose(
        self,
        context: Any = None,
        awake: Iterable[str] | None = None,
        seen: Iterable[str] | str | None = None,
    ) -> Choice:
        """Draw an action.

        Parameters
        ----------
        context
            The circumstances on which the best action may depend: a category, that is text, a whole
            number, true or false, or a mapping of names to categories. The first 64 contexts have
            weights of their own, which are mixed with the common ones; others have the common ones.
        awake
            The actions that are offered. None: all.
        seen
            The actions whose gains will be known whichever is chosen, such as a cheap one that
            always runs; ``"all"`` for all.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; the router does not change then.
        """
        if context is None and awake is None and seen is None:
            if self._core.names:
                quick: Choice = self._core.choose(0, None, None)
                return quick
            raise ValueError("there are no actions to choose from: see join")
        cell, label = self._cell(context)
        places = None if awake is None else self._places("awake", awake)
        sights = None
        if seen is not None:
            sights = list(range(len(self.actions))) if seen == ALL else self._places("seen", seen)
        if not self.actions or (places is not None and not places):
            raise ValueError("there are no actions to choose from: awake must name at least one")
        if label is not None:
            cell = self._core.open(label)
        choice: Choice = self._core.choose(cell, places, sights)
        return choice

    def reward(
        self, ticket: int, gain: float | Mapping[str, float], cost: float | None = None
    ) -> None:
        """Learn the gain of a choice.

        Parameters
        ----------
        ticket
            The ticket of the choice.
        gain
            The gain of the chosen action; or a mapping of actions to gains, of the chosen one, the
            ones that `choose` was told of by ``seen``, and the ones that it shows; or of all that
            were offered.
        cost
            What the choice has cost, where that is known only afterwards: at most the cost of the
            action in ``costs``, which was paid in advance. The difference is paid back.

        Raises
        ------
        LookupError
            If no round with this ticket waits for its gain.
        ValueError, TypeError
            If a gain is outside of the range, or an action was not offered. Nothing has changed.
        """
        if cost is not None or not self._core.reward(ticket, gain):
            ticket = self._ticket(ticket)
            waiting = self._core.round(ticket)
            if waiting is None:
                raise LookupError(self._why_not_waiting(ticket))
            paid = -1.0 if cost is None else self._cost(self._name(waiting[1]), cost)
            self._core.settle(ticket, *self._gains(waiting, gain), paid)

    def correct(self, ticket: int, gain: float | Mapping[str, float]) -> None:
        """Replace the gain of a settled round.

        The router is then as if it had learned this gain in the first place, with the choices that
        were made.

        Parameters
        ----------
        ticket
            The ticket of a round in the `history`.
        gain
            The right gain, or gains, as for `reward`.

        Raises
        ------
        LookupError
            If the round is not in the history.
        ValueError, TypeError
            As for `reward`.
        """
        ticket = self._ticket(ticket)
        settled = self._core.settled(ticket)
        if settled is None:
            waits = self._core.round(ticket) is not None
            why = "still waits for its gain" if waits else "is not in the history"
            raise LookupError(f"the round with ticket {ticket} {why}, so it cannot be corrected")
        self._core.correct(ticket, *self._gains(settled, gain))

    def join(self, action: str) -> None:
        """Let an action join, at first as good as the others.

        Parameters
        ----------
        action
            Its name.
        """
        check_name("action", action)
        if action in self.actions:
            raise ValueError(f"there is an action {clipped(action, 80)!r} already")
        cost = self.settings.cost(action)
        shows, numbers = self.settings.shows or {}, self._core.numbers
        others = [numbers[name] for name in shows.get(action, ()) if name in self.actions]
        by = [numbers[name] for name in self.actions if action in shows.get(name, ())]
        self._core.join(action, cost, others, by)

    def leave(self, action: str) -> None:
        """Let an action leave. Gains of it that are still to come count in the summary only.

        Parameters
        ----------
        action
            Its name.
        """
        place = self._places("action", [action])[0]
        if len(self.actions) == 1:
            raise ValueError(f"{clipped(action, 80)!r} is the only action: one must stay")
        self._core.leave(place)

    def summary(self) -> RouterSummary:
        """Return the actions, their estimated values and the state of the router, as tables."""
        return summarise(self)

    def explain(self) -> RouterExplanation:
        """Return how choices and gains of each action have changed over the history."""
        return explain(self)

    def do(self, operation: Operation) -> Choice | None:
        """Do an operation that is a JSON object; of a journal, or of a stream.

        Parameters
        ----------
        operation
            ``{"choose": {"context": ..., "awake": ..., "seen": ...}}``, ``{"reward": ticket,
            "gain": ...}``, perhaps with a ``cost``, ``{"correct": ticket, "gain": ...}``,
            ``{"join": name}`` or ``{"leave": name}``.
        """
        if "choose" in operation:
            return self.choose(**operation["choose"])
        if "reward" in operation:
            self.reward(operation["reward"], operation["gain"], operation.get("cost"))
        elif "correct" in operation:
            self.correct(operation["correct"], operation["gain"])
        elif "join" in operation:
            self.join(operation["join"])
        else:
            self.leave(operation["leave"])
        return None

    def redo(self, operation: Operation) -> None:
        """Do an operation of a journal again; refuse it if another action is drawn.

        Parameters
        ----------
        operation
            As for `do`; a choice with its ``ticket`` and ``action``.
        """
        choice = self.do(operation)
        if choice is None:
            return
        drawn = {"ticket": choice.ticket, "action": choice.action}
        noted = {name: operation.get(name, value) for name, value in drawn.items()}
        if noted != drawn:
            raise ValueError(f"the journal has the choice {noted}, and this router draws {drawn}")

    def save(self, path: str | Path) -> None:
        """Write everything to a JSON file, from which `load` continues to the bit.

        The file is written whole or not at all, and has a checksum.

        Parameters
        ----------
        path
            The file.
        """
        _files.save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the router that `save` wrote; refuse a damaged file.

        Parameters
        ----------
        path
            The file.
        """
        return _files.load(Path(path), cls.of, cls.redo)

    def _why_not_waiting(self, ticket: int) -> str:
        if ticket < 0 or ticket >= self._core.next:
            return f"there was no choice with ticket {ticket}"
        if self._core.settled(ticket) is not None:
            return f"the round with ticket {ticket} has its gain already: correct changes it"
        return f"the round with ticket {ticket} no longer waits: it was settled, or it expired"

    def __repr__(self) -> str:
        shown = ", ".join(self.actions[:4]) + ", ..." * (len(self.actions) > 4)
        actions = counted(len(self.actions), "action") + f" ({shown})" * bool(shown)
        parts = f"{counted(self.rounds, 'round')}, {len(self.pending):,} pending"
        return f"<Router: {actions}, {parts}>"
