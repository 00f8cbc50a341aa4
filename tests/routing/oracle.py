"""The rules of a router in plain NumPy, one obvious step after the other."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MASK = 2**64 - 1


def scramble(z: int) -> int:
    """SplitMix64."""
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def uniform(seed: int, ticket: int) -> float:
    return (scramble(scramble(seed) ^ ticket) >> 11) * 2.0**-53


@dataclass
class Seen:
    """What a round has shown: losses and their probabilities, NaN where nothing is known."""

    losses: Floats
    o: Floats
    spread: float
    pending: int
    awake: npt.NDArray[np.bool_]
    full: bool

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        return ~np.isnan(self.losses)


class ExponentialOracle:
    """EXP3-IX with the clock sum of Q + 2 d; losses relative to the ones of the distribution."""

    def __init__(self, k: int) -> None:
        self.lead, self.clock, self.k = np.zeros(k), 0.0, k

    def play(self, awake: npt.NDArray[np.bool_]) -> Floats:
        rate = 2.0 * np.sqrt(np.log(max(self.k, 2)) / (self.clock + 1.0))
        w = np.where(awake, np.exp(rate * (self.lead - self.lead.max())), 0.0)
        return np.asarray(w / w.sum())

    def learn(self, seen: Seen) -> None:
        gamma = np.sqrt(np.log(max(self.k, 2)) / (self.clock + 1.0))
        estimates = np.zeros(self.k)
        for i in np.flatnonzero(seen.known):
            certain = seen.full or seen.o[i] >= 1.0
            estimates[i] = seen.losses[i] / (1.0 if certain else seen.o[i] + gamma)
        own = self.play(seen.awake) @ estimates
        self.lead += np.where(seen.awake, own - estimates, 0.0)
        self.clock += (1.0 if seen.full else 4.0 * seen.spread) + 8.0 * seen.pending


class NormalOracle:
    """NormalHedge on scaled optimistic estimates."""

    def __init__(self, k: int, alpha: float, c: float = 1.0) -> None:
        self.regrets, self.alpha, self.c, self.k, self.rounds = np.zeros(k), alpha, c, k, 0

    def play(self, awake: npt.NDArray[np.bool_]) -> Floats:
        ahead = np.maximum(self.regrets, 0.0)
        w = np.where(awake, ahead * np.exp(self.alpha * ahead**2 / (2.0 * self.c)), 0.0)
        return np.asarray(w / w.sum() if w.sum() > 0.0 else awake / awake.sum())

    def learn(self, seen: Seen) -> None:
        memory = min(self.rounds + 1, 1.0 / self.alpha)
        gamma = np.sqrt(np.log(self.k) / (2.0 * self.k * memory))
        scale = 1.0 if seen.full else 1.0 / np.sqrt(seen.spread)
        estimates = np.zeros(self.k)
        for i in np.flatnonzero(seen.known):
            certain = seen.full or seen.o[i] >= 1.0
            estimates[i] = seen.losses[i] / (1.0 if certain else seen.o[i] + gamma)
        gains = scale * (1.0 - 2.0 * estimates)
        own = self.play(seen.awake) @ np.where(seen.awake, gains, 0.0)
        self.regrets = (1.0 - self.alpha) * self.regrets
        self.regrets += np.where(seen.awake, gains - own, 0.0)
        self.rounds += 1


class TsallisOracle:
    """Tsallis-INF with reduced variance, its normalisation found by bisection."""

    def __init__(self, k: int) -> None:
        self.losses, self.clock, self.k = np.zeros(k), 0.0, k

    @property
    def rate(self) -> float:
        return float(4.0 / np.sqrt(self.clock + 1.0))

    def play(self, awake: npt.NDArray[np.bool_]) -> Floats:
        least = self.losses[awake].min()
        low, high = least - 2.0 * np.sqrt(self.k) / self.rate, least - 2.0 / self.rate
        for _ in range(200):
            x = 0.5 * (low + high)
            p = np.where(awake, 4.0 / (self.rate * (self.losses - x)) ** 2, 0.0)
            low, high = (low, x) if p.sum() > 1.0 else (x, high)
        return np.asarray(p / p.sum())

    def learn(self, seen: Seen) -> None:
        p = self.play(seen.awake)
        if seen.full:
            estimates = np.where(seen.known, np.nan_to_num(seen.losses), 0.0)
        else:
            base = 0.5 * (p >= self.rate**2)
            difference = np.where(seen.known, np.nan_to_num(seen.losses) - base, 0.0)
            estimates = base + difference / np.where(seen.known, seen.o, 1.0)
        own = 0.0 if seen.awake.all() else float(p @ estimates)
        self.losses = self.losses + np.where(seen.awake, estimates - own, 0.0)
        self.clock += 1.0 + 2.0 * seen.pending


class MaillardOracle:
    """Maillard sampling with the divergence of Bernoulli."""

    def __init__(self, k: int, keenness: float = 1.0, memory: float = np.inf) -> None:
        self.counts, self.means, self.k = np.zeros(k), np.full(k, 0.5), k
        self.keep, self.keenness = 1.0 - 1.0 / memory, max(keenness, 300.0 * k / memory)

    def play(self, awake: npt.NDArray[np.bool_]) -> Floats:
        best = self.means[awake].max()
        a = self.means
        divergence = a * np.log(a / best) + (1 - a) * np.log((1 - a) / (1 - best))
        w = np.where(awake, np.exp(-self.keenness * self.counts * divergence), 0.0)
        return np.asarray(w / w.sum())

    def learn(self, seen: Seen) -> None:
        self.counts = self.keep * self.counts
        for i in np.flatnonzero(seen.known):
            gain = 1.0 - seen.losses[i]
            self.means[i] += (gain - self.means[i]) / (self.counts[i] + 2.0)
            self.counts[i] += 1.0


@dataclass
class MasterOracle:
    """Exponential weights over distributions, with a share that falls."""

    prior: Floats
    time: float = 0.0
    variance: float = 0.0
    mixed: float = 0.0
    baseline: float = 0.5
    weights: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.weights = self.prior.copy()

    @property
    def rate(self) -> float:
        return 0.5 * float(np.sqrt(np.log(len(self.prior)) / (1.0 + self.variance)))

    def estimates(self, rows: Floats, seen: Seen) -> Floats:
        """Return the estimated losses of the distributions."""
        y = np.zeros(len(self.prior))
        for i in np.flatnonzero(seen.known):
            o = 1.0 if seen.full else seen.o[i]
            y += rows[:, i] * (seen.losses[i] - self.baseline) / o
        return y

    def watch(self, seen: Seen) -> None:
        self.baseline += 0.001 * (seen.losses[seen.known].mean() - self.baseline)

    def learn(self, rows: Floats, seen: Seen) -> None:
        y, rate = self.estimates(rows, seen), self.rate
        mean = self.weights @ y
        self.watch(seen)
        after = self.weights * np.exp(-rate * (y - mean))
        self.mixed += np.log(after.sum()) / rate
        self.variance += float(self.weights @ (y - mean) ** 2)
        self.time += 1.0
        share = 1.0 / (self.time + 10.0)
        self.weights = (1.0 - share) * after / after.sum() + share * self.prior

    def price(self, b: int) -> float:
        time = self.time + 10.0
        return float(self.mixed + (np.log(time / self.prior[b]) + np.log(time / 10.0)) / self.rate)


class RestartsOracle:
    """Minimum empirical divergence, with all starts as histories of (action, gain)."""

    def __init__(self, k: int, fade: float = 0.0) -> None:
        self.k, self.fade, self.time, self.restarts = k, fade, 0, 0
        self.scatter = self.scale = 0.0
        self.start, self.starts = 0, dict[int, float]()  # evidence by start
        self.tables = {0: (np.zeros(k), np.full(k, 0.5))}

    @property
    def dispersion(self) -> float:
        return min(1.0, max(0.01, (self.scatter + 5.0) / (self.scale + 5.0)))

    @property
    def threshold(self) -> float:
        return float(3.0 + np.log((self.time + 10.0) / (1.0 + self.restarts)))

    def segment(self, start: int, awake: npt.NDArray[np.bool_]) -> Floats:
        counts, m = self.tables[start]
        best = m[awake].max()
        kl = m * np.log(m / best) + (1 - m) * np.log((1 - m) / (1 - best))
        explored = np.log(max(self.time - start, 1) / self.k)
        exceed = counts * kl / self.dispersion - 0.2 * np.maximum(explored - np.log1p(counts), 0.0)
        keenness = max(3.0, 1.7 * np.sqrt(self.k))
        w = np.where(awake, np.exp(-keenness * np.maximum(exceed, 0.0)), 0.0)
        return np.asarray(w / w.sum())

    def play(self, awake: npt.NDArray[np.bool_]) -> Floats:
        p = self.segment(self.start, awake)
        if self.starts:
            lead = max(self.starts, key=self.starts.__getitem__)
            share = min(0.5, np.exp(self.starts[lead] - self.threshold))
            if share >= 1e-4:
                p = (1.0 - share) * p + share * self.segment(lead, awake)
        return p

    def learn(self, seen: Seen) -> None:
        self.time += 1
        keep = 1.0 - self.fade / (self.time + 50.0)
        self.tables = {s: (keep * n, means) for s, (n, means) in self.tables.items()}
        known = np.flatnonzero(seen.known)
        counts, m = self.tables[self.start]
        chief = known[m[known].argmax()]
        self.judge(chief, 1.0 - seen.losses[chief])
        for i in known:
            for counts, m in self.tables.values():
                m[i] += (1.0 - seen.losses[i] - m[i]) / (counts[i] + 2.0)
                counts[i] += 1.0
        lead = max(self.starts, key=self.starts.__getitem__, default=None)
        if lead is not None and self.starts[lead] > self.threshold:
            self.start, self.restarts = lead, self.restarts + 1
            self.starts = {s: 0.0 for s in self.starts if s > lead}
        if self.time % 16 == 0:
            self.starts = {s: e for s, e in self.starts.items() if self.stays(s)}
            self.starts[self.time] = 0.0
            self.tables[self.time] = (np.zeros(self.k), np.full(self.k, 0.5))
        self.tables = {s: t for s, t in self.tables.items() if s in {self.start, *self.starts}}

    def stays(self, start: int) -> bool:
        """Return whether a start is one of two that remain of an octave of ages."""
        age = self.time - start
        octave = int(np.floor(np.log2(age / 16)))
        return age < 64 or start % (8 * 2**octave) == 0

    def judge(self, i: int, g: float) -> None:
        counts, m = self.tables[self.start]
        if counts[i] > 0.0:
            self.scatter += (g - m[i]) ** 2 * counts[i] / (counts[i] + 1.0)
            self.scale += m[i] * (1.0 - m[i])
        if self.time > 2000:
            self.scatter, self.scale = 0.999 * self.scatter, 0.999 * self.scale
        for s in self.starts:
            other = self.tables[s][1][i]
            ratio = g * np.log(other / m[i]) + (1 - g) * np.log((1 - other) / (1 - m[i]))
            self.starts[s] += ratio / self.dispersion


class AutomaticOracle:
    """The default: a trusted rule and two others, and a master over them after an alarm."""

    def __init__(self, k: int) -> None:
        self.rules: list[Any] = [RestartsOracle(k), TsallisOracle(k), NormalOracle(k, 0.01)]
        self.prior = np.array([4.0, 4.0, 1.0]) / 9.0
        self.master = MasterOracle(self.prior)
        self.time, self.spent, self.alarm = 0, 0.0, False
        self.leads, self.widths = np.zeros(3), np.zeros(3)
        self.regrets = np.zeros(3)  # in estimated losses, to each rule

    @property
    def weights(self) -> Floats:
        if self.alarm:
            return self.master.weights
        share = min(0.25, 0.1 / np.sqrt(self.time + 10.0))
        return np.array([1.0 - share, 0.8 * share, 0.2 * share])

    def radius(self) -> Floats:
        w = self.widths + 25.0
        return np.asarray(np.sqrt(w * (np.log(w / 25.0) + 2.0 * np.log(300.0))))

    def prices(self) -> Floats:
        if self.alarm:
            return self.spent + self.leads + [self.master.price(b) for b in range(3)]
        return np.asarray(self.spent + np.array([0.0, 1.0, 1.0]) * self.radius())

    def rows(self, awake: npt.NDArray[np.bool_]) -> Floats:
        return np.array([rule.play(awake) for rule in self.rules])

    def play(self, awake: npt.NDArray[np.bool_]) -> Floats:
        p = self.weights @ self.rows(awake)
        return np.asarray(p / p.sum())

    def learn(self, seen: Seen) -> None:
        weights, rows = self.weights, self.rows(seen.awake)
        y = self.master.estimates(rows, seen)
        self.regrets = self.regrets + (weights @ y if self.alarm else y[0]) - y
        if self.alarm:
            self.master.learn(rows, seen)
        else:
            p, apart = weights @ rows, y[0] - y
            squares = (rows[0] - rows) ** 2
            moments = np.divide(squares, p, out=np.zeros_like(squares), where=p > 0.0).sum(axis=1)
            self.spent += 1.0 - weights[0]
            self.time += 1
            self.leads += apart
            self.widths += (apart**2 + 2.0 * (apart**2 if seen.full else moments)) / 3.0
            self.alarm = bool((self.leads > self.radius())[1:].any())
            self.master.watch(seen)
        for rule in self.rules:
            rule.learn(seen)


ORACLES = {
    "exp3-ix": ExponentialOracle,
    "normal-hedge:memory=50": lambda k: NormalOracle(k, 1.0 / 50.0),
    "tsallis-inf": TsallisOracle,
    "maillard": MaillardOracle,
    "maillard:keenness=3,memory=200": lambda k: MaillardOracle(k, 3.0, 200.0),
    "restarts": RestartsOracle,
    "restarts:fade=0.5": lambda k: RestartsOracle(k, 0.5),
    "auto": AutomaticOracle,
}
