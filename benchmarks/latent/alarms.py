"""How soon a change is noticed: ``python -m benchmarks.latent.alarms``.

Every detector is calibrated by simulation to raise a false alarm every 1,000 rounds on standard
normal numbers. Ours is there twice: calibrated, too, and with the rate that follows from theory.
After 500 rounds one of these changes comes: the mean by 1 or 2 deviations, at once or by 0.02 in a
round, the deviation to 2.5 or to 0.4, or autocorrelation 0.8 at the same variance. CUSUM is told
the mean and the deviation before the change, and is best for a change of the mean by 1. Detection
of changepoints is the exact posterior with the hazard 1/1000, and knows the prior. Detectors of
river have their default settings but for the threshold.

The other table counts false alarms where nothing changes, but something else is not as assumed:
normal numbers with autocorrelation 0.5, Student's t with 2 degrees of freedom, and calm and wild
regimes that return. There ours is `Regimes`, and predicts before it is surprised.
"""

import math
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.latent import Regimes
from normalhedge.latent.regimes._series_models import Conjugate
from normalhedge.latent.regimes._surprise import WIDTH

PATIENCE, BEFORE, AFTER = 1000, 500, 300
RUNS = 60

# the statistic of a detector after each round: it alarms where this passes a threshold
Detector = Callable[[Floats], Floats]


def cusum(y: Floats) -> Floats:
    """Return the larger of both sums of CUSUM, with the reference value 1/2."""
    up = down = 0.0
    result = np.empty(len(y))
    for t, value in enumerate(y.tolist()):
        up, down = max(0.0, up + value - 0.5), max(0.0, down - value - 0.5)
        result[t] = max(up, down)
    return result


def changepoints(y: Floats) -> Floats:
    """Return the probability of a break in the last 50 rounds."""
    model = Conjugate("breaks", "student", ((1.0 / PATIENCE,), (1.0,)))
    table = y[:, np.newaxis]
    numbers = model.learn(table[:30], None)
    result = np.zeros(len(y))
    for t in range(30, len(y)):
        numbers, _ = model.run(numbers, table[t : t + 1])
        runs = model.runs(numbers)
        result[t] = runs[runs[:, 2] <= 50.0, 1].sum()
    return result


def ours(y: Floats, patience: float = PATIENCE) -> Floats:
    """Return the alarms of the test alone, which looks at the ranks of the numbers."""
    novelty, alarms = np.empty(len(y)), np.empty(len(y))
    _core.novelty_run(y[:, np.newaxis], patience, np.zeros((1, WIDTH)), novelty, alarms)
    return alarms


def of_river(make: Callable[[], Any]) -> Callable[[Floats], Floats]:
    """Return the alarms of a detector of river."""

    def alarms(y: Floats) -> Floats:
        detector, result = make(), np.zeros(len(y))
        for t, value in enumerate(y.tolist()):
            detector.update(value)
            result[t] = detector.drift_detected
        return result

    return alarms


def first(alarms: Floats) -> float:
    """Return the round of the first alarm, infinite without one."""
    places = np.flatnonzero(alarms)
    return float(places[0]) if len(places) else math.inf


def mean_run(alarms: Callable[[Floats], Floats], runs: int, seed: int) -> float:
    """Return the rounds for each first alarm on normal numbers, of at most 3,000 rounds each."""
    rng, total, number = np.random.default_rng(seed), 0.0, 0
    for _ in range(runs):
        at = first(alarms(rng.normal(size=3 * PATIENCE)))
        total += min(at + 1.0, 3.0 * PATIENCE)
        number += at < math.inf
    return total / max(number, 1)


def calibrated(
    make: Callable[[float], Callable[[Floats], Floats]],
    low: float,
    high: float,
    runs: int,
    steps: int = 8,
) -> Callable[[Floats], Floats]:
    """Return the detector whose threshold gives one false alarm every 1,000 rounds."""
    rising = mean_run(make(high), runs, 0) > mean_run(make(low), runs, 0)
    for _ in range(steps):
        middle = math.sqrt(low * high)
        enough = mean_run(make(middle), runs, 0) > PATIENCE
        if enough == rising:
            high = middle
        else:
            low = middle
    return make(math.sqrt(low * high))


def passing(statistic: Detector) -> Callable[[float], Callable[[Floats], Floats]]:
    """Return the alarms of a statistic by its threshold."""
    return lambda level: lambda y: (statistic(y) >= level).astype(float)


def detectors() -> Iterator[tuple[str, Callable[[Floats], Floats]]]:
    """Yield the detectors, calibrated."""
    drift: Any = import_module("river.drift")
    yield "CUSUM", calibrated(passing(cusum), 2.0, 12.0, 40)
    yield "changepoints", calibrated(passing(changepoints), 0.05, 0.95, 20)
    yield "ADWIN", calibrated(lambda d: of_river(lambda: drift.ADWIN(delta=d)), 1e-6, 0.9, 40)
    yield (
        "PageHinkley",
        calibrated(lambda x: of_river(lambda: drift.PageHinkley(threshold=x)), 2.0, 200.0, 40),
    )
    yield (
        "KSWIN",
        calibrated(lambda a: of_river(lambda: drift.KSWIN(alpha=a, seed=0)), 1e-6, 0.02, 2, 4),
    )
    yield "ours", calibrated(lambda patience: lambda y: ours(y, patience), 50.0, 2000.0, 100)
    yield "ours, by theory", ours


def autocorrelated(y: Floats, coefficient: float) -> Floats:
    """Return an autoregression with the variance of independent numbers."""
    result = y.copy()
    for t in range(1, len(y)):
        fresh = math.sqrt(1.0 - coefficient**2) * y[t]
        result[t] = coefficient * result[t - 1] + fresh
    return result


CHANGES: tuple[tuple[str, Callable[[Floats], Floats]], ...] = (
    ("mean + 1", lambda y: y + 1.0),
    ("mean + 2", lambda y: y + 2.0),
    ("mean + 0.02 t", lambda y: y + 0.02 * np.arange(len(y))),
    ("deviation 2.5", lambda y: 2.5 * y),
    ("deviation 0.4", lambda y: 0.4 * y),
    ("autocorr. 0.8", lambda y: autocorrelated(y, 0.8)),
)


def delays(
    alarms: Callable[[Floats], Floats], change: Callable[[Floats], Floats]
) -> tuple[float, float]:
    """Return the median delay in rounds, and the share of changes that is noticed in 300."""
    rng, found = np.random.default_rng(1), list[float]()
    while len(found) < RUNS:
        y = rng.normal(size=BEFORE + AFTER)
        y[BEFORE:] = change(y[BEFORE:])
        rung = alarms(y)
        if not rung[:BEFORE].any():  # the delay of a first alarm
            found.append(first(rung[BEFORE:]) + 1.0)
    return float(np.median(found)), float(np.mean(np.isfinite(found)))


def false_alarms(alarms: Callable[[Floats], Floats], draw: Callable[..., Floats]) -> float:
    """Return the rounds for each first alarm; an alarm begins the detector again."""
    rng, number, rounds = np.random.default_rng(2), 0, 0
    for _ in range(4):
        y = draw(rng)
        start = 0
        while start < len(y):
            at = first(alarms(y[start:]))
            number += at < math.inf
            start += int(min(at + 1, len(y)))
        rounds += len(y)
    return rounds / max(number, 1)


def wavy(rng: np.random.Generator) -> Floats:
    """Return an autoregression with the coefficient 0.5 and the variance 1."""
    return autocorrelated(rng.normal(size=2000), 0.5)


def heavy(rng: np.random.Generator) -> Floats:
    """Return Student's t with 2 degrees of freedom."""
    return rng.standard_t(2.0, size=2000)


def regimes(rng: np.random.Generator) -> Floats:
    """Return calm and wild numbers in turn, each for some 50 rounds."""
    wild = np.cumsum(rng.random(2000) < 0.02) % 2
    return rng.normal(size=2000) * np.where(wild, 2.2, 0.7)


NATURES: tuple[Callable[..., Floats], ...] = (wavy, heavy, regimes)


def _of_regimes(draw: Callable[..., Floats]) -> float:
    """Return the rounds for each alarm of `Regimes`, once it has learned for 500 rounds."""
    rng, number, rounds = np.random.default_rng(2), 0, 0
    for _ in range(4):
        rung = Regimes(patience=PATIENCE).run(draw(rng)).alarms[BEFORE:]
        number, rounds = number + int(rung.sum()), rounds + len(rung)
    return rounds / max(number, 1)


def lines() -> Iterator[str]:
    """Yield both tables."""
    chosen = list(detectors())
    yield f"{'median delay (share noticed)':30s}" + "".join(f"{name:>16s}" for name, _ in CHANGES)
    for name, alarms in chosen:
        cells = [delays(alarms, change) for _, change in CHANGES]
        yield f"{name:30s}" + "".join(f"{delay:9.0f} ({share:.2f})" for delay, share in cells)
    yield f"\n{'rounds for a false alarm':30s}" + "".join(f"{n.__name__:>16s}" for n in NATURES)
    for name, alarms in chosen[:-3]:
        rounds = [false_alarms(alarms, nature) for nature in NATURES]
        yield f"{name:30s}" + "".join(f"{number:16.0f}" for number in rounds)
    yield f"{'standard normal numbers: ours':30s}{mean_run(ours, 100, 5):16.0f}"
    rounds = [_of_regimes(nature) for nature in NATURES]
    yield f"{'Regimes':30s}" + "".join(f"{number:16.0f}" for number in rounds)


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
