"""Games of hedgers, what could have been in them, and attacks.

It is long because it is frozen: the cases were written once, and none is changed or moved.
"""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge.hedgers import OptimisticHedge, named
from normalhedge.research.games import best_expert, best_quantile, best_sequence, leads
from normalhedge.research.games.attacks import Attack, attack, attempts, break_away, explore, hold
from tests.frozen.case import Arrays, Case, Nudge, of_ledger, of_state, under

Table = npt.NDArray[np.float64]

ON_POTENTIALS = ("normal-hedge", "hedge", "hedge-derived", "hedge-simulated", "hedge-fixed")
"""Those that had no ledger; none of them can do without forgetting."""

ON_LEDGERS = (
    "hedge-decreasing",
    "normal-hedge-2009",
    "normal-hedge-dt",
    "ada-normal-hedge",
    "squint",
    "ada-hedge",
    "flip-flop",
    "optimistic-hedge",
    "fixed-share",
    "variable-share",
    "ml-prod",
    "ml-poly",
    "boa",
    "regret-matching",
    "rm-plus",
    "coin-betting",
    "follow-the-leader",
    "uniform",
)

EVERY = ON_POTENTIALS + ON_LEDGERS
"""Every name in `HEDGERS`, as it was."""

SETTINGS = (
    "normal-hedge:c=4",
    "normal-hedge:c=0.6",
    "normal-hedge:memory=7",
    "normal-hedge:half_life=10",
    "hedge-fixed:eta=20",
    "flip-flop:phi=3,balance=1.5",
    "coin-betting:shift=0.5",
    "fixed-share:share=0.2,eta=1.5",
    "variable-share:share=0.2,eta=1.5",
)
"""Some with settings of their own."""

ALPHA = 0.02

JUMPY = ("flip-flop", "follow-the-leader")
"""Where experts tie these jump, and rounding decides whether whole numbers tie: they get none."""

KINDS = ("coins", "uniform", "better", "change")


def hedger_of(text: str, n: int, alpha: float) -> Any:
    """Return a hedger; what some need to be told is told here."""
    name = text.partition(":")[0]
    if text == "hedge-fixed":
        text = "hedge-fixed:eta=0.5"
    if alpha == 0.0 and name == "optimistic-hedge":
        return OptimisticHedge(eta=0.3)
    if alpha == 0.0 and name in {"fixed-share", "variable-share"}:
        text = f"{name}:share=0.05,eta=0.5"
    return named(text, n, alpha=alpha)


def gains_of(kind: str, rounds: int, n: int, seed: int) -> Table:
    """Return gains, T x N."""
    rng = np.random.default_rng([seed, rounds, n, KINDS.index(kind)])
    if kind == "coins":
        return rng.choice(np.array([-1.0, 1.0]), (rounds, n))
    gains = rng.uniform(-1.0, 1.0, (rounds, n))
    half = rounds // 2
    if kind == "better":
        gains[:, n // 3] = 0.7 * gains[:, n // 3] + 0.3
    elif kind == "change":
        gains[:half, 0] = 0.6 * gains[:half, 0] + 0.4
        gains[half:, n - 1] = 0.6 * gains[half:, n - 1] + 0.4
    return gains


def confidences(rounds: int, n: int, seed: int) -> Table:
    """Return confidences: none, some and all; now and then everybody sleeps."""
    rng = np.random.default_rng([seed, rounds, n])
    rated = rng.uniform(0.0, 1.0, (rounds, n))
    kind = rng.choice(3, (rounds, n), p=[0.3, 0.4, 0.3])
    rated = np.where(kind == 0, 0.0, np.where(kind == 1, rated, 1.0))
    rated[5::11] = 0.0
    return rated


def with_sleepers(gains: Table, rated: Table) -> Table:
    """Return the gains, NaN where an expert sleeps: nobody looks at those."""
    return np.where(rated == 0.0, np.nan, gains)


def kept(text: str, state: Any, order: npt.NDArray[np.int64]) -> Arrays:
    """Return what is kept of a state."""
    on_ledger = text.partition(":")[0] in ON_LEDGERS
    return (of_ledger if on_ledger else of_state)(state, order)


def game(
    text: str, alpha: float, gains: Table, rated: Table | None, every: int, nudge: Nudge
) -> Arrays:
    """Return a game played by `run`: every so many rounds, and how it ends."""
    n = gains.shape[1]
    order = nudge.order(n)
    gains = nudge.scale * gains[:, order]
    rated = None if rated is None else rated[:, order]
    run = hedger_of(text, n, alpha).run(gains, rated, keep_weights=True)
    assert run.weights is not None
    found = {
        "gains": run.gains[every - 1 :: every],
        "best_regret": run.best_regret[every - 1 :: every],
        "log_potential": run.log_potential[every - 1 :: every],
    }
    played = run.weights[every - 1 :: every] if every > 20 else run.weights[-1:]
    return found | {"played": played[:, order]} | under("end", kept(text, run.state, order))


def games(text: str, alpha: float, n: int, nudge: Nudge) -> Arrays:
    """Return games on gains of all kinds, with confidences and without."""
    found: Arrays = {}
    for kind in _kinds(text, alpha, n):
        gains, rated = gains_of(kind, 60, n, 1), confidences(60, n, 2)
        found |= under(f"{kind}", game(text, alpha, gains, None, 20, nudge))
        if kind == "coins" and text.partition(":")[0] in JUMPY:
            continue
        gains = with_sleepers(gains, rated)
        found |= under(f"{kind} rated", game(text, alpha, gains, rated, 20, nudge))
    return found


def _kinds(text: str, alpha: float, n: int) -> tuple[str, ...]:
    kinds = {1: ("uniform",), 40: ("coins", "better"), 300: ("uniform",)}.get(n, KINDS)
    jumpy = text.partition(":")[0] in JUMPY
    if jumpy and not (n == 2 and alpha == 0.0):  # two that tie share in halves: no rounding
        return tuple(kind for kind in kinds if kind != "coins")
    return kinds


def long_game(text: str, alpha: float, nudge: Nudge) -> Arrays:
    """Return two games of 1000 rounds; the leader changes halfway.

    But not for coin betting: whoever was left behind comes back through zero there, by the
    logarithm of a rounding error.
    """
    kind, seed = ("better", 35) if text == "coin-betting" else ("change", 3)
    gains, rated = gains_of(kind, 1000, 7, seed), confidences(1000, 7, 4)
    found = under("all awake", game(text, alpha, gains, None, 50, nudge))
    gains = with_sleepers(gains, rated)
    return found | under("rated", game(text, alpha, gains, rated, 50, nudge))


def many(text: str, alpha: float, nudge: Nudge) -> Arrays:
    """Return a short game of 300 experts, and of them every 17th."""
    n, rounds = 300, 20
    gains, rated = gains_of("better", rounds, n, 5), confidences(rounds, n, 6)
    found: Arrays = {}
    for name, mine in (("all awake", None), ("rated", rated)):
        whole = game(text, alpha, gains, mine, 20, nudge)
        found |= under(name, {k: v[..., ::17] if v.shape[-1:] == (n,) else v
                              for k, v in whole.items()})  # fmt: skip
    return found


def very_many(text: str, nudge: Nudge) -> Arrays:
    """Return three rounds of two million experts, which are played in slices."""
    n = (1 << 21) + 5
    rng = np.random.default_rng(7)
    hedger = hedger_of(text, n, ALPHA)
    state, order = hedger.init(n), nudge.order(n)
    found: Arrays = {}
    for t in range(3):
        gains = nudge.scale * rng.uniform(-1.0, 1.0, n)[order]
        rated = None if t != 1 else rng.uniform(0.0, 1.0, n)[order]
        state = hedger.step(state, gains, rated)
        ends = of_state(state, order)
        ends["weights"] *= n  # so that they are not all next to nothing
        found |= under(f"{t}", {k: v[:: 1 << 17] if v.size == n else v for k, v in ends.items()})
    return found


def stepped(text: str, alpha: float, nudge: Nudge) -> Arrays:
    """Return a game played by `step`, in place or not, and what `play` says now and then."""
    rounds, n = 40, 5
    gains, rated = gains_of("change", rounds, n, 8), confidences(rounds, n, 9)
    hedger, order = hedger_of(text, n, alpha), nudge.order(n)
    state, found = hedger.init(n), {}
    for t in range(rounds):
        mine = rated[t, order] if t % 3 else None
        told = nudge.scale * (with_sleepers(gains, rated)[t] if t % 3 else gains[t])[order]
        if t % 8 == 7:
            found[f"played {t}"] = hedger.play(state)[order]
            found[f"played {t}, rated"] = hedger.play(state, rated[t, order])[order]
        state = hedger.step(state, told, mine, in_place=t % 2 == 1)
        if t % 13 == 12:
            found |= under(f"after {t}", kept(text, state, order))
    return found | under("end", kept(text, state, order))


def comings_and_goings(text: str, alpha: float, nudge: Nudge) -> Arrays:
    """Return a game that experts join, and that others leave; after them, nobody is reordered."""
    n = 6
    gains, rated = gains_of("change", 90, n + 3, 10), confidences(90, n + 3, 11)
    gains = nudge.scale * gains
    hedger = hedger_of(text, n, alpha)
    state = hedger.run(gains[:30, :n]).state
    state = hedger.join(state, 2)
    found = under("joined", kept(text, state, np.arange(n + 2)))
    asleep = with_sleepers(gains, rated)[30:50, : n + 2]
    state = hedger.run(asleep, rated[30:50, : n + 2], state=state).state
    state = hedger.leave(state, [0, 3])
    found |= under("left", kept(text, state, np.arange(n)))
    run = hedger.run(gains[50:70, :n], state=state)
    found |= {"gains": run.gains[::5], "best_regret": run.best_regret[::5]}
    state = hedger.join(run.state)
    for t in range(70, 90):
        state = hedger.step(state, gains[t, : n + 1], in_place=True)
    return found | under("end", kept(text, state, np.arange(n + 1)))


def leader_sleeps(text: str, alpha: float, nudge: Nudge) -> Arrays:
    """Return a game in which all the weight falls asleep: one expert is far ahead, and sleeps.

    Among the others some are ahead of others, some are sure and some are not; at last one is awake
    alone, then nobody, then all.
    """
    rounds, n = 150, 6
    gains = 0.1 * gains_of("uniform", rounds, n, 12) - np.linspace(0.4, 0.85, n)
    gains[:, 2] = 0.95 + 0.04 * gains_of("uniform", rounds, n, 13)[:, 2]
    rated = np.ones((rounds, n))
    rated[120:140, 2] = 0.0
    rated[125:140, :2] = [0.3, 0.001]
    rated[133:140, 3] = 0.0
    rated[140:142] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.25]
    rated[142:144] = 0.0
    gains = with_sleepers(gains, rated)
    order = nudge.order(n)
    hedger = hedger_of(text, n, alpha)
    before = hedger.run(nudge.scale * gains[:120, order]).state
    found = {"asked": np.array([hedger.play(before, row[order])[order] for row in rated[119:145]])}
    run = hedger.run(
        nudge.scale * gains[120:, order], rated[120:, order], state=before, keep_weights=True
    )
    assert run.weights is not None
    found |= {"gains": run.gains, "played": run.weights[::3, order]}
    return found | under("end", kept(text, run.state, order))


def other_types(text: str, dtype: str, nudge: Nudge) -> Arrays:
    """Return games on gains that are no float64: by `run`, and by `step`."""
    n, order = 7, nudge.order(7)
    gains = gains_of("uniform", 50, n, 14)
    if dtype == "int8":
        gains = np.rint(1.5 * gains)
    table = (gains if dtype == "int8" else nudge.scale * gains).astype(dtype)[:, order]
    rated = confidences(50, n, 15)[:, order]
    hedger = hedger_of(text, n, ALPHA)
    found: Arrays = {}
    for name, mine in (("all awake", None), ("rated", rated)):
        run = hedger.run(table, mine)
        found |= under(name, kept(text, run.state, order) | {"gains": run.gains[::5]})
    state = hedger.init(n)
    for t in range(50):
        state = hedger.step(state, table[t], rated[t] if t % 2 else None)
    return found | under("stepped", kept(text, state, order))


def could_have_been(nudge: Nudge) -> Arrays:
    """Return the best that was there to follow."""
    found: Arrays = {}
    for n, rounds in ((1, 30), (3, 200), (11, 120)):
        order = nudge.order(n)
        gains = nudge.scale * gains_of("change", rounds, n, 16)[:, order]
        for alpha in (0.0, 0.03):
            name = f"{n} experts, alpha {alpha}"
            found[f"{name}/leads"] = leads(gains, alpha)[::10]
            best = best_expert(gains, alpha)
            found[f"{name}/expert"] = np.array([best.gain, order[best.experts[0]]])
            found[f"{name}/quantile"] = np.array([best_quantile(gains, 0.3, alpha)])
            for switches in (0, 1, 4):
                way = best_sequence(gains, switches, alpha)
                found[f"{name}/{switches} switches/gain"] = np.array([way.gain])
                found[f"{name}/{switches} switches/experts"] = order[way.experts].astype(float)
    return found


def of_attack(found: Attack) -> Arrays:
    """Return how far an attack goes, and its moves."""
    return {
        "reached": np.array([found.log_potential, found.regret]),
        "size": np.array([found.alpha, found.c, found.rounds, *found.sizes], dtype=np.float64),
        "gains": np.array(found.gains, dtype=np.float64),
    }


def attacked(kind: str, nudge: Nudge) -> Arrays:
    """Return an attack; the nudge goes to alpha.

    Many settings have ties between plans, or weights of exactly a half, that rounding decides; not
    these.
    """
    a = {alpha: nudge.scale * alpha for alpha in (0.01, 0.05, 0.07, 0.1, 0.13, 0.2)}
    made = {
        "hold": lambda: hold(a[0.07], 9, 1.0),
        "hold five": lambda: hold(a[0.1], 5, 0.8),
        "hold many": lambda: hold(a[0.13], 40, 4.0),
        "hold for regret": lambda: hold(a[0.1], 101, 0.8, "regret"),
        "explore two": lambda: explore(a[0.1], (1, 1), 1.0, width=0.05),
        "explore three": lambda: explore(a[0.2], (1, 1, 1), 1.0, width=0.1),
        "explore for regret": lambda: explore(a[0.2], (2, 3), 4.0, "regret", width=0.05),
        "explore levels": lambda: explore(
            a[0.2], (1, 4), 1.0, width=0.1, rounds=12, levels=(-1.0, 0.25, 1.0)
        ),
        "break away": lambda: break_away(a[0.01], 100, 1.0),
        "break away, some": lambda: break_away(a[0.05], 30, 4.0, half=10, leaders=3, alternate=4.0),
        "attack": lambda: attack(a[0.1], 5, 4.0),
        "attack for regret": lambda: attack(a[0.13], 40, 4.0, goal="regret"),
        "attack few for regret": lambda: attack(a[0.1], 5, 0.8, goal="regret"),
        "attack one": lambda: attack(a[0.1], 1),
    }
    return of_attack(made[kind]())


ATTACKS = (
    "hold",
    "hold five",
    "hold many",
    "hold for regret",
    "explore two",
    "explore three",
    "explore for regret",
    "explore levels",
    "break away",
    "break away, some",
    "attack",
    "attack for regret",
    "attack few for regret",
    "attack one",
)


def replayed(nudge: Nudge) -> Arrays:
    """Return how far attacks of each kind go, and how far when they are played expert by expert."""
    found: Arrays = {}
    for name, one in attempts(nudge.scale * 0.13, 5, 4.0).items():
        found[name] = np.array([one.log_potential, one.regret, *one.replay()])
    return found


def cases() -> Iterator[Case]:
    """Yield them all."""
    part = functools.partial
    for text in EVERY:
        alphas = (ALPHA,) if text in ON_POTENTIALS else (ALPHA, 0.0)
        for alpha in alphas:
            for n in (1, 2, 7, 40):
                yield Case(f"game/{text}/alpha {alpha:g}/{n} experts", part(games, text, alpha, n))
            yield Case(f"long/{text}/alpha {alpha:g}", part(long_game, text, alpha))
            yield Case(f"comings/{text}/alpha {alpha:g}", part(comings_and_goings, text, alpha))
            yield Case(f"leader sleeps/{text}/alpha {alpha:g}", part(leader_sleeps, text, alpha))
        yield Case(f"steps/{text}", part(stepped, text, ALPHA))
        yield Case(f"many/{text}", part(many, text, ALPHA))
    for text in SETTINGS:
        yield Case(f"game/{text}", part(games, text, ALPHA, 7))
        yield Case(f"leader sleeps/{text}", part(leader_sleeps, text, ALPHA))
    for text in ("normal-hedge", "hedge", "squint", "fixed-share"):
        for dtype in ("float32", "int8"):
            yield Case(f"types/{text}/{dtype}", part(other_types, text, dtype))
    for text in ("normal-hedge", "hedge"):
        yield Case(f"very many/{text}", part(very_many, text))
    yield Case("hindsight of games", could_have_been)
    for kind in ATTACKS:
        yield Case(f"attack/{kind}", part(attacked, kind))
    yield Case("attack/replayed", replayed)
