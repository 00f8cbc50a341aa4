"""The estimates are right in expectation, by enumeration of all draws."""

import numpy as np
import pytest

from normalhedge import Router

NAMES = ("a", "b", "c")
LOSSES = np.array([0.2, 0.9, 0.5])
SHOWS = {"a": ("b",), "b": ("b",), "c": ("a",)}


def after(router: Router, action: str, seen: tuple[str, ...]) -> Router:
    """Return the router after a round in which it chose an action; earlier draws expire."""
    copy = router.copy()
    choice = copy.choose(seen=seen or None)
    while choice.action != action:
        choice = copy.choose(seen=seen or None)
    known = {action, *seen, *(copy.settings.shows or {}).get(action, ())}
    gains = {name: float(1.0 - 2.0 * LOSSES[NAMES.index(name)]) for name in known}
    copy.reward(choice.ticket, gains[action] if len(gains) == 1 else gains)
    return copy


@pytest.mark.parametrize("seen", [(), ("c",), ("a", "b", "c")])
@pytest.mark.parametrize("shows", [None, SHOWS])
def test_regrets_rise_by_optimistic_estimates(
    seen: tuple[str, ...], shows: dict[str, tuple[str, ...]] | None
) -> None:
    """With EXP3-IX, E (l'_i - l'_j) is the difference of losses, up to the price of exploration.

    The regrets of the ledger are R_i = sum of g'_i - g'_A, so differences of regrets tell those of
    the estimates.
    """
    router = Router(NAMES, rule="exp3-ix", gains=(-1.0, 1.0), shows=shows, max_pending=1, seed=3)
    for k in range(30):
        choice = router.choose(seen="all")
        losses = np.roll([0.3, 0.4, 0.5], k % 2)
        router.reward(choice.ticket, dict(zip(NAMES, 1.0 - 2.0 * losses, strict=True)))
    p = np.array(list(router.probabilities().values()))
    before = ledger(router)
    estimates = np.zeros(3)
    for i, name in enumerate(NAMES):
        rise = ledger(after(router, name, seen)) - before
        estimates += p[i] * -0.5 * rise
    o = p.copy()
    for j, name in enumerate(NAMES):
        for other in (shows or {}).get(name, ()):
            if other != name:
                o[NAMES.index(other)] += p[j]
    o[[NAMES.index(name) for name in seen]] = 1.0
    gamma = np.sqrt(np.log(3) / (clock(router) + 1.0))
    expected = np.where(o >= 1.0 - 1e-12, LOSSES, LOSSES * o / (o + gamma))
    assert (expected <= LOSSES + 1e-12).all()
    differences = (estimates[:, None] - estimates[None, :]) - (
        expected[:, None] - expected[None, :]
    )
    np.testing.assert_allclose(differences, 0.0, atol=1e-9)


def place(router: Router) -> int:
    """Return where the weights of the rule begin among the numbers of the router."""
    numbers = router._core.dump()
    for k in range(len(numbers) - 8):
        if np.allclose(
            numbers[k : k + 3], list(router.probabilities().values()), atol=0.0, rtol=0.0
        ):
            return k
    raise AssertionError


def ledger(router: Router) -> np.ndarray:
    k = place(router)
    return np.asarray(router._core.dump()[k + 3 : k + 6])


def clock(router: Router) -> float:
    return float(router._core.dump()[place(router) + 6])
