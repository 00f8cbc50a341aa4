"""Intervals as their equations say, with lists and loops: slow and obvious."""

import math
from statistics import NormalDist
from typing import Any

from normalhedge.hedgers import AdaNormalHedge

PLAIN, SEASONAL = (10, 50, 250, 2500), (50, 250, 2500)
FAR, VISITS, DOUBT = 64.0, 64, 4


def clip(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


class Mean:
    """A mean of absolute residuals with a memory."""

    def __init__(self, memory: float) -> None:
        self.value, self.memory = 0.0, memory

    def learn(self, x: float, seen: int) -> None:
        if self.value > 0.0:
            x = min(x, FAR * self.value)
        if math.isfinite(x):
            self.value += (x - self.value) * max(1 / self.memory, 1 / (seen + 1))


class Level:
    def __init__(self, level: float, scales: int, *, quantiles: bool) -> None:
        self.alpha = 1 - level
        self.a = self.alpha / 2
        self.density = 1.6 * self.a * (1 - self.a)
        deviation = math.sqrt(math.pi / 2) * NormalDist().inv_cdf(0.5 + 0.5 * level)
        start = 0.0 if quantiles else deviation
        self.lower = [start] * (3 * scales)
        self.upper = [start] * (3 * scales)
        self.rounds, self.below, self.above = 0, 0, 0
        self.usual = 0.0
        self.hedger = AdaNormalHedge(alpha=1 / 5000)
        self.state = self.hedger.init(3 * scales)


class Oracle:
    """One game; `predict` returns pairs by level, and what `observe` wants."""

    def __init__(self, levels: tuple[float, ...], season: int = 0, *, quantiles: bool = False):
        self.season, self.quantiles = season, quantiles
        self.plain = [Mean(memory) for memory in PLAIN]
        self.seasonal = [Mean(memory) for memory in SEASONAL] if season else []
        self.phases = [[0.0, 0] for _ in range(season)]
        self.seen, self.late, self.longest = 0, 0.0, 0
        scales = len(self.plain) + len(self.seasonal) + quantiles
        self.levels = [Level(level, scales, quantiles=quantiles) for level in levels]

    def ratio(self, phase: int) -> float:
        mean, count = self.phases[phase]
        return clip((count * mean + DOUBT) / (count + DOUBT), 1 / FAR, FAR)

    def scales(self, bases: list[tuple[float, float]], moment: int) -> list[float]:
        scales = [mean.value for mean in self.plain]
        if self.season:
            ratio = self.ratio(moment % self.season)
            scales += [ratio * mean.value for mean in self.seasonal]
        if self.quantiles:
            scales.append(0.5 * (bases[-1][1] - bases[-1][0]))
        return scales

    def shift(self, level: Level, excess: float) -> float:
        c = (48 + 2 * self.longest) / 16
        calm = 0.0045 * math.sqrt(level.a)
        rate = calm / (1 + 10 * calm * self.late)
        return rate / level.density * c * math.sinh(clip(excess / c, -20, 20))

    def predict(self, bases: list[tuple[float, float]], moment: int) -> tuple[list[Any], Any]:
        scales = self.scales(bases, moment)
        wider = 1.0 if self.quantiles or not self.seen else 1 + 2 / self.seen
        limit = 48 + 2 * self.longest
        pairs: list[tuple[float, float]] = []
        told = []
        for level, (base_low, base_high) in zip(self.levels, bases, strict=True):
            members = range(len(level.lower))
            lower = [scales[i % len(scales)] * level.lower[i] * wider for i in members]
            upper = [scales[i % len(scales)] * level.upper[i] * wider for i in members]
            weights = level.state.weights
            mean_scale = sum(weights[i] * scales[i % len(scales)] for i in members)
            under = level.below - level.a * level.rounds
            over = level.above - level.a * level.rounds
            low = base_low - (sum(weights * lower) + mean_scale * self.shift(level, under))
            high = base_high + (sum(weights * upper) + mean_scale * self.shift(level, over))
            if low > high or under + over <= -limit:
                low = high = low + 0.5 * (high - low)
            if under + over > -limit and (
                under + over >= limit or (not self.seen and not self.quantiles)
            ):
                low, high = -math.inf, math.inf
            excused = bool(pairs) and (pairs[-1][0] < low or pairs[-1][1] > high)
            if pairs:
                low, high = min(low, pairs[-1][0]), max(high, pairs[-1][1])
            pairs.append((low, high))
            told.append((lower, upper, low, high, excused))
        return pairs, (self.seen > 0, bases, moment, scales, told)

    def observe(self, token: Any, y: float, late: int) -> None:
        known, bases, moment, scales, told = token
        middle = bases[0][0] + 0.5 * (bases[0][1] - bases[0][0])
        residual = abs(y - middle)
        if not known and self.seen:
            scales = self.scales(bases, moment)
        for level, (base_low, base_high), (lower, upper, low, high, excused) in zip(
            self.levels, bases, told, strict=True
        ):
            hit = low <= y <= high
            if (known or self.quantiles) and not (hit and (low == high or excused)):
                level.rounds += 1
                level.below += y < low
                level.above += y > high
            if max(scales) <= 0.0:
                continue
            below, above = base_low - y, y - base_high
            if known:
                self.judge(level, lower, upper, below, above)
            self.follow(level, scales, below, above)
        for mean in self.plain:
            mean.learn(residual, self.seen)
        if self.season:
            phase = moment % self.season
            ratio, common = self.ratio(phase), self.seasonal[1].value
            mean, count = self.phases[phase]
            if common > 0.0:
                mean += (min(residual / common, FAR) - mean) / (count + 1)
                self.phases[phase] = [mean, min(count + 1, VISITS)]
            for each in self.seasonal:
                each.learn(residual / ratio, self.seen)
        self.seen += 1
        self.late += (late - self.late) / min(self.seen, 64)
        self.longest = max(self.longest, late)

    def judge(
        self, level: Level, lower: list[float], upper: list[float], below: float, above: float
    ) -> None:
        def pinball(x: float) -> float:
            return max((1 - level.a) * x, -level.a * x)

        losses = [
            pinball(below - low) + pinball(above - high)
            for low, high in zip(lower, upper, strict=True)
        ]
        mean = sum(level.state.weights * losses)
        difference = sum(abs(loss - mean) for loss in losses) / len(losses)
        if difference <= 1e-9 * mean:
            return
        old = level.usual
        level.usual = old + (min(difference, FAR * old) - old) / 64 if old > 0.0 else difference
        gains = [clip((mean - loss) / (4 * level.usual), -1, 1) for loss in losses]
        level.state = level.hedger.step(level.state, gains)

    def follow(self, level: Level, scales: list[float], below: float, above: float) -> None:
        a, count = level.a, len(scales)
        first = 1 / (self.seen + 1 / a)
        calm = max(first, 1 / max(5000, 25 / a)) / level.density
        hasty = max(first, 1 / max(70, 3.5 / a)) / level.density
        for m, s in enumerate(scales):
            for values, score in ((level.lower, below), (level.upper, above)):
                values[m] += calm * ((score > s * values[m]) - a)
                i = 2 * count + m
                values[i] += hasty * ((score > s * values[i]) - a)
            q = level.lower[count + m]
            q += 0.5 * calm * ((below > s * q) - a + (above > s * q) - a)
            level.lower[count + m] = level.upper[count + m] = q
