"""Routers beside bandits: regret on ten natures, speed, and the coverage of estimated values.

``python -m benchmarks.routing`` runs the default, other rules of ours, and bandits of river and
MABWiser where they are installed, each with the settings of a grid. The best of all in hindsight,
for each nature, is the yardstick of the default. ``--speed`` and ``--coverage`` run other parts.
"""

import argparse
import importlib.util
import itertools
import math
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.timing import HEADER, measure
from normalhedge import Router
from normalhedge.boundary.inputs import Floats
from normalhedge.routing import Record, evaluate


class Nature(NamedTuple):
    """Mean gains of the actions, T x K, whether a gain is 0 or 1, and the delay of the gains."""

    means: Floats
    moves: bool = False  # regret to the best action of each round, not of all rounds
    noise: float | None = None  # the deviation of normal gains, clipped; None: gains are 0 or 1
    delay: int = 0


def natures(rounds: int) -> dict[str, Callable[[], Nature]]:
    """Return the ten natures, by name."""

    def one_best(k: int, gap: float, **options: Any) -> Nature:
        means = np.full((1, k), 0.5 - gap)
        means[0, k // 2] = 0.5
        return Nature(np.broadcast_to(means, (rounds, k)), **options)

    def switching(k: int, every: int, gap: float, delay: int = 0) -> Nature:
        means = np.full((rounds, k), 0.6 - gap)
        best = (np.arange(rounds) // every * 7919 + 13) % k
        means[np.arange(rounds), best] = 0.6
        return Nature(means, moves=True, delay=delay)

    def spread() -> Nature:
        return Nature(np.broadcast_to(np.linspace(0.05, 0.86, 10), (rounds, 10)))

    def waves() -> Nature:
        phases = np.arange(rounds)[:, np.newaxis] / 5000 + 0.1 * np.arange(10)
        return Nature(0.5 + 0.3 * np.sin(2 * np.pi * phases), moves=True)

    def corrupted() -> Nature:
        """Return phases that lift or lower all actions: one is always better."""
        phase = np.log1p(np.arange(rounds) / 50) / np.log(1.6)
        means = np.repeat(np.where(phase.astype(int) % 2, 0.9, 0.1)[:, np.newaxis], 10, axis=1)
        means[:, 3] = np.minimum(means[:, 3] + 0.1, 1.0)
        return Nature(means)

    return {
        "stationary, 10": lambda: one_best(10, 0.1),
        "spread, 10": spread,
        "stationary, 100": lambda: one_best(100, 0.2),
        "small noise, 10": lambda: one_best(10, 0.1, noise=0.1),
        "delayed 20, 10": lambda: one_best(10, 0.2, delay=20),
        "switching 500, 10": lambda: switching(10, 500, 0.3),
        "switching 2000, 100": lambda: switching(100, 2000, 0.4),
        "delayed 20, switching 1000, 10": lambda: switching(10, 1000, 0.3, delay=20),
        "waves, 10": waves,
        "adversarial phases, 10": corrupted,
    }


class Player(NamedTuple):
    """A bandit: `choose` returns an action and what `learn` needs beside its gain."""

    choose: Callable[[], tuple[int, Any]]
    learn: Callable[[int, Any, float], None]


def ours(rule: str) -> Callable[[int, int], Player]:
    """Return a maker of routers with a rule, given a number of actions and a seed."""

    def make(k: int, seed: int) -> Player:
        names = [str(i) for i in range(k)]
        router = Router(names, rule=rule.replace("K", str(k)), seed=seed)
        places = {name: i for i, name in enumerate(names)}

        def choose() -> tuple[int, int]:
            choice = router.choose()
            return places[choice.action], choice.ticket

        return Player(choose, lambda _, ticket, gain: router.reward(ticket, gain))

    return make


def river(
    kind: str, settings: dict[str, Any], fading: float | None
) -> Callable[[int, int], Player]:
    """Return a maker of bandits of river, which forget with `fading`."""

    def make(k: int, seed: int) -> Player:
        from river import bandit, proba, stats  # noqa: PLC0415

        options = dict(settings)
        if fading is not None:
            options["reward_obj"] = stats.EWMean(fading_factor=fading)
        if kind == "ThompsonSampling":
            options["reward_obj"] = proba.Beta()
        policy = getattr(bandit, kind)(**options, seed=seed)
        arms = list(range(k))
        return Player(
            lambda: (policy.pull(arms), None), lambda arm, _, gain: policy.update(arm, gain)
        )

    return make


def mabwiser(policy: str, settings: dict[str, Any], batch: int) -> Callable[[int, int], Player]:
    """Return a maker of bandits of MABWiser, which learn in batches as its users do."""

    def make(k: int, seed: int) -> Player:
        module = importlib.import_module("mabwiser.mab")

        learning = getattr(module.LearningPolicy, policy)(**settings)
        mab = module.MAB(list(range(k)), learning, seed=seed)
        mab.fit(list(range(k)), [0.5] * k)
        arms: list[int] = []
        gains: list[float] = []

        def learn(arm: int, _: Any, gain: float) -> None:
            arms.append(arm)
            gains.append(gain)
            if len(arms) == batch:
                mab.partial_fit(arms, gains)
                arms.clear()
                gains.clear()

        return Player(lambda: (mab.predict(), None), learn)

    return make


OURS = [
    "auto", "exp3-ix", "tsallis-inf", "normal-hedge:memory=500", "normal-hedge:memory=5000",
    "ada-normal-hedge:alpha=0.001", "restarts", "restarts:fade=0.3",
    "maillard", "maillard:keenness=3", "maillard:keenness=10",
    *(f"maillard:keenness={k},memory={m}" for m in (150, 300, 1000, 3000) for k in (3, 10)),
]  # fmt: skip


def peers(which: Sequence[str]) -> dict[str, Callable[[int, int], Player]]:
    """Return the bandits of other libraries, by name."""
    made: dict[str, Callable[[int, int], Player]] = {}
    if "river" in which and importlib.util.find_spec("river") is not None:
        for fading in (None, 0.05, 0.01):
            tag = "" if fading is None else f", fading {fading}"
            for delta in (0.1, 0.5, 1.0):
                made[f"river UCB {delta}{tag}"] = river("UCB", {"delta": delta}, fading)
            for epsilon in (0.01, 0.05, 0.1):
                name = f"river epsilon-greedy {epsilon}{tag}"
                made[name] = river("EpsilonGreedy", {"epsilon": epsilon}, fading)
        made["river Thompson"] = river("ThompsonSampling", {}, None)
        for gamma in (0.02, 0.1):
            made[f"river Exp3 {gamma}"] = river("Exp3", {"gamma": gamma}, None)
    if "mabwiser" in which and importlib.util.find_spec("mabwiser") is not None:
        for alpha in (0.25, 1.0):
            made[f"MABWiser UCB1 {alpha}"] = mabwiser("UCB1", {"alpha": alpha}, 50)
        for epsilon in (0.01, 0.05):
            name = f"MABWiser epsilon-greedy {epsilon}"
            made[name] = mabwiser("EpsilonGreedy", {"epsilon": epsilon}, 50)
        made["MABWiser softmax 0.05"] = mabwiser("Softmax", {"tau": 0.05}, 50)
    return made


def regret(nature: Nature, make: Callable[[int, int], Player], seed: int) -> float:
    """Play a nature; return the regret in mean gains."""
    rounds, k = nature.means.shape
    rng, player = np.random.default_rng(seed), make(k, seed)
    normal = nature.noise is not None
    draws = np.asarray(
        rng.normal(0.0, nature.noise or 0.0, rounds) if normal else rng.random(rounds)
    )
    means, waiting, chosen = nature.means, deque[tuple[int, Any, float]](), np.empty(rounds, int)
    for t, draw in enumerate(draws.tolist()):
        arm, what = player.choose()
        chosen[t] = arm
        mean = float(means[t, arm])
        gain = min(max(mean + draw, 0.0), 1.0) if normal else float(draw < mean)
        waiting.append((arm, what, gain))
        if len(waiting) > nature.delay:
            player.learn(*waiting.popleft())
    earned = means[np.arange(rounds), chosen].sum()
    best = means.max(axis=1).sum() if nature.moves else means.sum(axis=0).max()
    return float(best - earned)


def compare(rounds: int, seeds: int, which: Sequence[str], only: str) -> Iterator[str]:
    """Yield a line for each nature: the default beside the best of all in hindsight."""
    yield f"{'nature':<32} {'auto':>9} {'best of ours':>34} {'best peer':>42} {'ratio':>7}"
    near = count = 0
    for name, nature in natures(rounds).items():
        if only not in name:
            continue
        world = nature()
        own = {rule: mean_regret(world, ours(rule), seeds) for rule in OURS}
        others = {peer: _peer(world, make) for peer, make in peers(which).items()}
        auto = own.pop("auto")
        best = min(own, key=own.__getitem__)
        rival = min(others, key=others.__getitem__, default="")
        least = min([own[best], *others.values()])
        near, count = near + (auto <= 1.1 * least), count + 1
        theirs = f"{rival} {others[rival]:,.0f}" if rival else "-"
        mine = f"{best} {own[best]:,.0f}"
        yield f"{name:<32} {auto:>9,.0f} {mine:>34} {theirs:>42} {auto / least:>7.2f}"
    yield f"at most 1.1 times the best in hindsight: {near} of {count}"


def _peer(world: Nature, make: Callable[[int, int], Player]) -> float:
    """Return the regret of a bandit of another library; infinite if it fails."""
    try:
        return mean_regret(world, make, 1)
    except ValueError:  # weights of river's Exp3 overflow
        return math.inf


def mean_regret(world: Nature, make: Callable[[int, int], Player], seeds: int) -> float:
    """Return the mean regret over some seeds."""
    return statistics.fmean(regret(world, make, seed) for seed in range(seeds))


def speed() -> Iterator[str]:
    """Yield the time of `choose` and `reward`, beside the same rule in plain NumPy."""
    yield HEADER
    for k, goal in ((10, "3 us"), (1000, "15 us")):
        for rule in ("auto", "exp3-ix"):
            row = measure(
                f"choose + reward, {rule}, {k:,} actions",
                _round_of(ours(rule)(k, 0)),
                ("NumPy EXP3", _round_of(_numpy_exp3(k))),
                f"<= {goal}",
                calls=1000 // k + 20,  # batches are shorter than a turn of the processor
                reference_calls=10,
                repeats=101,
            )
            yield str(row)


def _round_of(player: Player) -> Callable[[], None]:
    return lambda: player.learn(*player.choose(), 0.5)


def _numpy_exp3(k: int) -> Player:
    rng, losses = np.random.default_rng(0), np.zeros(k)

    def choose() -> tuple[int, float]:
        p = np.exp(-0.01 * (losses - losses.min()))
        p /= p.sum()
        arm = int(np.searchsorted(p.cumsum(), rng.random()))
        return min(arm, k - 1), float(p[min(arm, k - 1)])

    def learn(arm: int, p: float, gain: float) -> None:
        losses[arm] += (1.0 - gain) / (p + 0.005)

    return Player(choose, learn)


def coverage(runs: int, rounds: int) -> Iterator[str]:
    """Yield how many intervals of 95 % cover, for logs of a fixed policy and of routers."""
    means = np.array([0.3, 0.5, 0.7])
    policies: dict[str, Any] = {"always b": "b", "always c": "c", "b or c": {"b": 0.5, "c": 0.5}}
    truths = {"always b": 0.5, "always c": 0.7, "b or c": 0.6}
    kinds = [
        ("ips", "normal"),
        ("snips", "normal"),
        ("dr", "normal"),
        ("dr", "likelihood"),
        ("ips", "certain"),
    ]
    for source in ("fixed", "exp3-ix", "auto"):
        covered = dict.fromkeys(itertools.product(policies, kinds), 0)
        for seed in range(runs):
            log = _log(source, means, rounds, seed)
            for policy, (method, interval) in covered:
                value = evaluate(log, policies[policy], method=method, interval=interval)
                covered[policy, (method, interval)] += value.low <= truths[policy] <= value.high
        for policy in policies:
            shares = [f"{m}/{i} {covered[policy, (m, i)] / runs:6.1%}" for m, i in kinds]
            yield f"{source:<8} {policy:<9} " + "  ".join(shares)


def _log(source: str, means: Floats, rounds: int, seed: int) -> list[Record]:
    rng = np.random.default_rng(seed)
    if source == "fixed":
        p = np.array([0.2, 0.3, 0.5])
        arms = rng.choice(3, size=rounds, p=p)
        gains = rng.random(rounds) < means[arms]
        rows = zip(arms.tolist(), gains.tolist(), strict=True)
        return [Record("abc"[i], float(p[i]), float(g)) for i, g in rows]
    router = Router(list("abc"), rule=source, seed=seed, history=rounds)
    for draw in rng.random(rounds).tolist():
        choice = router.choose()
        router.reward(choice.ticket, float(draw < means["abc".index(choice.action)]))
    return router.history


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--peers", default="river,mabwiser")
    parser.add_argument("--only", default="")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--coverage", type=int, default=0, metavar="RUNS")
    options = parser.parse_args()
    start = time.time()
    if options.speed:
        lines = speed()
    elif options.coverage:
        lines = coverage(options.coverage, min(options.rounds, 1000))
    else:
        lines = compare(options.rounds, options.seeds, options.peers.split(","), options.only)
    for line in lines:
        print(line, flush=True)
    print(f"{time.time() - start:,.0f} s")


if __name__ == "__main__":
    main()
