"""Laws of routers, for every rule and every kind of feedback.

A law plays a game on a router without rounds, and raises an AssertionError where it breaks.
"""

import math
import random
from collections.abc import Callable, Mapping
from itertools import pairwise

from normalhedge.routing import Choice, Router, RouterSettings

RouterLaw = Callable[[RouterSettings], None]
"""A law of the routers with some settings, which have at least two actions and no budget."""

ROUNDS = 120
ROUNDING = 1e-9


def _game(router: Router, seed: int, lag: int = 0) -> list[Choice]:
    """Play a game of gains that differ by action, with sleepers, some of them late or never."""
    rng, choices, waiting = random.Random(seed), list[Choice](), list[Choice]()
    low, high = router.settings.gains
    for t in range(ROUNDS):
        awake = [a for a in router.actions if rng.random() < 0.8] if t % 3 == 0 else None
        choice = router.choose(awake=awake or None)
        choices.append(choice)
        waiting.append(choice)
        while len(waiting) > lag:
            known = waiting.pop(rng.randrange(len(waiting)))
            place = router.actions.index(known.action)
            gain = low + (high - low) * rng.random() ** (1 + place)
            if rng.random() < 0.9:
                router.reward(known.ticket, _gains(router, known, gain))
    return choices


def _gains(router: Router, choice: Choice, gain: float) -> float | Mapping[str, float]:
    """Return the gain of a choice, with the gains of the actions that are shown with it."""
    others = (router.settings.shows or {}).get(choice.action, ())
    record = router._core.round(choice.ticket)
    awake = (
        None if record is None or record[5] is None else {router._core.every[k] for k in record[5]}
    )
    shown = [name for name in others if awake is None or name in awake]
    return dict.fromkeys([choice.action, *shown], gain) if shown else gain


def _probabilities_sum_to_one(settings: RouterSettings) -> None:
    """Probabilities are on the simplex, the chosen one is positive, and sleepers have none."""
    router = _router(settings)
    for choice in _game(router, 1):
        p = choice.probabilities
        assert (p >= 0.0).all(), choice
        assert abs(math.fsum(p) - 1.0) < ROUNDING, choice
        assert choice.probability == p[router.actions.index(choice.action)] > 0.0, choice
    one = router.choose(awake=router.actions[:1])
    assert one.probability == 1.0, one


def _a_replay_chooses_the_same(settings: RouterSettings) -> None:
    """Choose the same by the same operations, also after a copy in the middle."""
    one, other = _router(settings), _router(settings)
    assert _actions(_game(one, 2)) == _actions(_game(other, 2))
    copy = one.copy()
    assert _actions(_game(one, 3, lag=5)) == _actions(_game(copy, 3, lag=5))


def _names_do_not_matter(settings: RouterSettings) -> None:
    """Actions of other names are chosen at the same places."""
    names = {name: f"{name}'" for name in settings.actions}
    shows = settings.shows and {
        names[name]: [names[other] for other in others] for name, others in settings.shows.items()
    }
    other = _router(settings, actions=list(names.values()), shows=shows)
    ours, theirs = _game(_router(settings), 4), _game(other, 4)
    assert [names[choice.action] for choice in ours] == _actions(theirs)
    for mine, its in zip(ours, theirs, strict=True):
        assert mine.probabilities.tobytes() == its.probabilities.tobytes()


def _order_does_not_matter(settings: RouterSettings) -> None:
    """If the actions are listed in another order, each has the same probabilities."""
    names = list(settings.actions)
    one, other = _router(settings), _router(settings, actions=names[::-1])
    rng = random.Random(5)
    low, high = settings.gains
    for _ in range(ROUNDS):
        gains = {name: rng.uniform(low, high) for name in names}
        for router in (one, other):
            choice = router.choose(seen="all")
            router.reward(choice.ticket, gains)
        ours, theirs = one.probabilities(), other.probabilities()
        assert all(abs(ours[name] - theirs[name]) < 1e-6 for name in names), (ours, theirs)


def _a_sleeper_changes_nothing(settings: RouterSettings) -> None:
    """Keep the order of the others in a round in which only one action is awake."""
    router = _router(settings)
    _game(router, 6)
    others = list(router.actions[1:])
    before = router.probabilities(awake=others)
    choice = router.choose(awake=router.actions[:1])
    router.reward(choice.ticket, _gains(router, choice, settings.gains[0]))
    after = router.probabilities(awake=others)
    for one, other in pairwise(others):
        assert (before[one] - before[other]) * (after[one] - after[other]) >= -ROUNDING


def _a_correction_is_exact(settings: RouterSettings) -> None:
    """Correct a gain to itself, or to another and back: nothing changes."""
    router = _router(settings)
    _game(router, 7)
    record = router.history[-20]
    before = router.probabilities()
    low, high = settings.gains
    gains = record.gains if len(record.gains) > 1 else record.gain
    router.correct(record.ticket, gains)
    assert router.probabilities() == before
    changed = high if record.gain < 0.5 * (low + high) else low
    wrong = {**record.gains, record.action: changed} if len(record.gains) > 1 else changed
    router.correct(record.ticket, wrong)
    router.correct(record.ticket, gains)
    assert router.probabilities() == before


def _router(settings: RouterSettings, **changes: object) -> Router:
    options = {name: getattr(settings, name) for name in settings.__dataclass_fields__}
    return Router(**{**options, **changes})


def _actions(choices: list[Choice]) -> list[str]:
    return [choice.action for choice in choices]


ROUTER_LAWS: Mapping[str, RouterLaw] = {
    "probabilities_sum_to_one": _probabilities_sum_to_one,
    "a_replay_chooses_the_same": _a_replay_chooses_the_same,
    "names_do_not_matter": _names_do_not_matter,
    "order_does_not_matter": _order_does_not_matter,
    "a_sleeper_changes_nothing": _a_sleeper_changes_nothing,
    "a_correction_is_exact": _a_correction_is_exact,
}
"""Every law of routers, by name."""


def check_router(router: Router) -> None:
    """Raise an AssertionError if routers with the settings of this one break a law.

    Parameters
    ----------
    router
        A router with at least two actions and without a budget, which is not changed.

    Examples
    --------
    >>> check_router(Router(["a", "b", "c"], rule="exp3-ix"))
    """
    if len(router.actions) < 2 or router.settings.budget is not None:
        raise ValueError("router must have at least two actions, and no budget")
    for name, law in ROUTER_LAWS.items():
        try:
            law(router.settings)
        except AssertionError as error:
            raise AssertionError(f"{router!r} breaks the law {name}: {error}") from error
