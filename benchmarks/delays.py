"""Hedgers whose outcomes come late: ``python -m benchmarks.delays``.

Three games of 3,000 rounds, each at three lags, and one of 12,000 rounds at four.

- *Forecasts*: five experts with independent errors of the same size, square loss, gradient trick;
  hedgers that never forget, and hedgers with a memory of 20 rounds. The root mean square error
  relative to that of the plain mean, the mean of five seeds.
- *Contrary*: ten experts; the half of them with the larger weights loses. *Waves*: the gains of ten
  experts are waves of 200 rounds, one after the other. The regret of what was played to the best
  expert; nothing is forgotten.
- *Blocks*: two experts win in turn, 4 (lag + 1) rounds each. The highest discounted regret of
  NormalHedge with a memory of 1,000 rounds.
"""

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from normalhedge import Mixture
from normalhedge.boundary.inputs import Floats
from normalhedge.hedgers import CompiledHedger, named
from normalhedge.research.games import Blocks

LAGS = (0, 5, 24)
BLOCK_LAGS = (0, 1, 3, 10)
ROUNDS = 3000
SEEDS = 5

RULES = (
    "dorm:delay={lag}",
    "dorm:delay={lag},hint=1",
    "dorm-plus:delay={lag}",
    "dorm-plus:delay={lag},hint=1",
    "ada-hedge-d:delay={lag}",
    "ada-hedge-d:delay={lag},hint=1",
    "normal-hedge:delay={lag}",
    "regret-matching",
    "rm-plus",
    "ada-hedge",
    "normal-hedge",
    "squint",
    "bates-granger",
)

LONG, SHORT = 0.0, 0.05
"""The discount rates: without one, and with a memory of 20 rounds."""

LONGEST = 0.001
"""The rate of NormalHedge, which has to forget, in place of none."""


def hedger_of(rule: str, lag: int, alpha: float) -> CompiledHedger:
    """Return a hedger that knows the lag, if its rule says so.

    Parameters
    ----------
    rule
        One of `RULES`.
    lag
        The lag.
    alpha
        The discount rate.
    """
    least = LONGEST if rule.partition(":")[0] == "normal-hedge" else 0.0
    return named(rule.format(lag=lag), alpha=max(alpha, least))


def panel(seed: int) -> tuple[Floats, Floats]:
    """Return outcomes, and the forecasts of five experts."""
    rng = np.random.default_rng(seed)
    hours = np.arange(ROUNDS)
    truth = 10.0 * np.sin(hours * np.pi / 12.0) + 0.1 * rng.normal(size=ROUNDS).cumsum()
    return truth, truth[:, None] + rng.normal(size=(ROUNDS, 5))


def error(hedger: CompiledHedger | str, lag: int) -> float:
    """Return the root mean square error relative to that of the plain mean.

    Parameters
    ----------
    hedger
        The hedger of the mixture, or its name.
    lag
        How many later rounds are predicted before an outcome is known.
    """
    ratios = []
    for seed in range(SEEDS):
        truth, forecasts = panel(seed)
        mixture, waiting, said = Mixture(hedger), deque[tuple[int, float]](), []
        for y, row in zip(truth.tolist(), forecasts.tolist(), strict=True):
            made = mixture.predict(dict(zip("abcde", row, strict=True)))
            said.append(float(made.value))
            waiting.append((made.ticket, y))
            if len(waiting) > lag:
                mixture.update(*waiting.popleft())
        blended, plain = (np.square(x - truth).mean() for x in (said, forecasts.mean(axis=1)))
        ratios.append(np.sqrt(blended / plain))
    return float(np.mean(ratios))


Nature = Callable[[int, Floats], Floats]


def contrary(_round: int, weights: Floats) -> Floats:
    """Return gains of -1 for the half of the experts with the larger weights, and of 1 for others.

    Parameters
    ----------
    _round
        The number of the round.
    weights
        What is played.
    """
    order = np.argsort(np.argsort(-weights + 1e-12 * np.arange(len(weights))))
    return np.where(order < len(weights) / 2, -1.0, 1.0)


def waves(number: int, weights: Floats) -> Floats:
    """Return gains that are waves, one after the other.

    Parameters
    ----------
    number
        The number of the round.
    weights
        What is played, which does not matter.
    """
    gains: Floats = np.sin(2.0 * np.pi * (number / 200 + np.arange(len(weights)) / len(weights)))
    return gains


def regret(hedger: CompiledHedger, nature: Nature, lag: int, n: int = 10) -> float:
    """Return the regret of what is played, to the best expert.

    Parameters
    ----------
    hedger
        The hedger that plays.
    nature
        A function of the number of the round and of what is played, which returns gains.
    lag
        How many later rounds are played before an outcome is known.
    n
        How many experts there are.
    """
    state, waiting, regrets = hedger.init(n), deque[Floats](), np.zeros(n)
    for number in range(ROUNDS):
        gains = nature(number, state.weights)
        regrets += gains - state.weights @ gains
        waiting.append(gains)
        if len(waiting) > lag:
            state = hedger.step(state, waiting.popleft())
    return float(regrets.max())


def highest_in_blocks(rule: str, lag: int, rounds: int = 12_000) -> float:
    """Return the highest discounted regret of what is played to the better of two experts.

    Parameters
    ----------
    rule
        One of `RULES`.
    lag
        How many later rounds are played before an outcome is known.
    rounds
        The length of the game.
    """
    hedger = hedger_of(rule, lag, LONGEST)
    state, waiting, regrets, highest = hedger.init(2), deque[Floats](), np.zeros(2), 0.0
    for gains in np.vstack(list(Blocks(2, 4 * (lag + 1)).gains(rounds, np.random.default_rng()))):
        regrets = (1.0 - LONGEST) * regrets + gains - state.weights @ gains
        highest = max(highest, float(regrets.max()))
        waiting.append(gains)
        if len(waiting) > lag:
            state = hedger.step(state, waiting.popleft())
    return highest


def errors(rule: str) -> list[str]:
    """Return the cells of a rule in the table of forecasts."""
    return [
        f"{error(hedger_of(rule, lag, alpha), lag):.2f}" for alpha in (LONG, SHORT) for lag in LAGS
    ]


def regrets(rule: str) -> list[str]:
    """Return the cells of a rule in the table of regrets."""
    return [
        f"{regret(hedger_of(rule, lag, LONG), nature, lag):.0f}"
        for nature in (contrary, waves)
        for lag in LAGS
    ]


def lines() -> Iterator[str]:
    """Yield the lines of the three tables."""
    for names, cells in (
        (("never forgets", "memory 20"), errors),
        (("contrary", "waves"), regrets),
    ):
        yield (
            " | ".join(["| rule", *(f"{name}, lag {lag}" for name in names for lag in LAGS)]) + " |"
        )
        yield "|---" * (1 + len(names) * len(LAGS)) + "|"
        for rule in RULES:
            yield " | ".join([f"| `{rule.format(lag='d')}`", *cells(rule)]) + " |"
        yield ""
    yield " | ".join(["| rule", *(f"lag {lag}" for lag in BLOCK_LAGS)]) + " |"
    yield "|---" * (1 + len(BLOCK_LAGS)) + "|"
    for rule in ("normal-hedge:delay={lag}", "normal-hedge"):
        numbers = [f"{highest_in_blocks(rule, lag):.0f}" for lag in BLOCK_LAGS]
        yield " | ".join([f"| `{rule.format(lag='d')}`", *numbers]) + " |"
    yield ""
    yield "auto: " + ", ".join(f"lag {lag} {error('auto', lag):.2f}" for lag in LAGS)


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
