"""The algorithms of the family as their papers write them, in plain NumPy on losses in [0, 1].

Each says what it plays, and is then told the losses of the round and its own, ``h = p @ losses``.
"""

import math
from collections import deque
from typing import Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import erf

from normalhedge.boundary.inputs import Floats


class Oracle(Protocol):
    """An algorithm in losses."""

    def weights(self) -> Floats: ...

    def update(self, losses: Floats, own: float) -> None: ...


def normal(raw: Floats) -> Floats:
    """Return a distribution; uniform where there is nothing to share."""
    total = raw.sum()
    return raw / total if total > 0 else np.full(len(raw), 1 / len(raw))


class _Regrets:
    """Keeps R = sum_t (h - l), and how many experts there are."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.R = np.zeros(n)

    def update(self, losses: Floats, own: float) -> None:
        self.R = self.R + (own - losses)


class Uniform(_Regrets):
    def weights(self) -> Floats:
        return np.full(self.n, 1 / self.n)


class FollowTheLeader(_Regrets):
    def weights(self) -> Floats:
        return normal(1.0 * (self.R.max() - 1e-12 <= self.R))

    def among(self, k: Floats) -> Floats:
        leader = self.R[k > 0].max()
        return normal(k * (leader - 1e-12 <= self.R))


class RegretMatching(_Regrets):
    def weights(self) -> Floats:
        return normal(np.maximum(self.R, 0))


class RegretMatchingPlus(_Regrets):
    def weights(self) -> Floats:
        return normal(self.R)

    def update(self, losses: Floats, own: float) -> None:
        self.R = np.maximum(self.R + (own - losses), 0)


class DORM(_Regrets):
    """Without delay; the hint is the last round once more."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.h = np.zeros(n)

    def weights(self) -> Floats:
        return normal(np.maximum(self.R + self.h, 0))

    def update(self, losses: Floats, own: float) -> None:
        super().update(losses, own)
        self.h = own - losses


class DORMPlus(DORM):
    """R is what weights are made of, with the hint."""

    def weights(self) -> Floats:
        return normal(self.R)

    def update(self, losses: Floats, own: float) -> None:
        r = own - losses
        self.R, self.h = np.maximum(self.R + r + r - self.h, 0), r


class LateNormalHedge:
    """NormalHedge whose outcomes come late, in gains. It forgets, so it is no `Oracle`."""

    def __init__(self, alpha: float, c: float, n: int, delay: int) -> None:
        self.alpha, self.c, self.delay = alpha, c, delay
        self.regrets = np.zeros(n)
        self.waiting: deque[tuple[Floats, Floats, Floats]] = deque()

    def play(self) -> Floats:
        ahead = np.maximum(self.regrets, 0.0)
        square = self.alpha * ahead**2 / (2 * self.c)
        return normal(ahead * np.exp(square - square.max()))

    def potential(self) -> float:
        squares = np.maximum(self.regrets, 0.0) ** 2
        return float(np.exp(self.alpha * squares / (2 * self.c)).mean())

    def step(self, gains: Floats, confidence: Floats | None = None) -> Floats:
        """Play a round, settle the one whose outcome comes now, and return the weights."""
        k = np.ones_like(gains) if confidence is None else confidence
        p = self.play()
        q = normal(p * k) if (p * k).sum() > 0 else k / max(k.sum(), 1e-300)
        self.waiting.append((q, gains, k))
        if len(self.waiting) > self.delay:
            self.settle()
        return q

    def settle(self) -> None:
        """Learn the outcome of the oldest round that waits."""
        q, gains, k = self.waiting.popleft()
        self.regrets = (1 - self.alpha) * self.regrets + k * (gains - q @ gains)


class NormalHedge2009(_Regrets):
    def weights(self) -> Floats:
        positive = np.maximum(self.R, 0)
        lead = positive.max()
        if lead <= 0:
            return np.full(self.n, 1 / self.n)
        squares = positive**2 / 2
        least, most = lead**2 / (2 * (1 + math.log(self.n))), lead**2 / 2

        def above(c: float) -> float:
            return float(np.exp(squares / c).mean() - math.e)

        c = most if above(most) >= 0 else brentq(above, least, most, xtol=1e-300, rtol=1e-15)
        return normal(positive / c * np.exp((squares - squares.max()) / c))


class NormalHedgeBH(_Regrets):
    """The time by bisection, from the equation of the potentials as it is printed."""

    def weights(self) -> Floats:
        positive = np.maximum(self.R, 0)
        lead = positive.max()
        if lead <= 0:
            return np.full(self.n, 1 / self.n)

        def above(t: float) -> float:
            return float(np.mean(t**-0.5 * np.exp((positive**2 - lead**2) / (2 * t)))) - math.exp(
                -(lead**2) / (2 * t)
            )

        most = 1 + lead**2  # there no potential is above the potential at the start
        t = 1.0 if above(1.0) <= 0 else brentq(above, 1.0, most, xtol=1e-300, rtol=1e-15)
        return normal(positive * np.exp((positive**2 - lead**2) / (2 * t)))


class NormalHedgeDT(_Regrets):
    t = 1

    def weights(self) -> Floats:
        up, down = np.maximum(self.R + 1, 0), np.maximum(self.R - 1, 0)
        return normal(np.exp(up**2 / (3 * self.t)) - np.exp(down**2 / (3 * self.t)))

    def update(self, losses: Floats, own: float) -> None:
        super().update(losses, own)
        self.t += 1


class AdaNormalHedge(_Regrets):
    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.C = np.zeros(n)

    def weights(self) -> Floats:
        def phi(R: Floats, C: Floats) -> Floats:
            return np.exp(np.maximum(R, 0) ** 2 / (3 * C))

        return normal((phi(self.R + 1, self.C + 1) - phi(self.R - 1, self.C + 1)) / 2)

    def update(self, losses: Floats, own: float) -> None:
        super().update(losses, own)
        self.C = self.C + np.abs(own - losses)


class BatesGranger:
    """Inverse powers of the losses, and of one round more in which everybody lost as it did."""

    def __init__(self, n: int, power: float = 1.0) -> None:
        self.S, self.H, self.T, self.power = np.zeros(n), 0.0, 0.0, power

    def weights(self) -> Floats:
        if self.T == 0:
            return np.full(len(self.S), 1 / len(self.S))
        return normal((self.S + self.H / self.T) ** -self.power)

    def update(self, losses: Floats, own: float) -> None:
        self.S, self.H, self.T = self.S + losses, self.H + own, self.T + 1


class _Squares(_Regrets):
    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.V = np.zeros(n)

    def update(self, losses: Floats, own: float) -> None:
        super().update(losses, own)
        self.V = self.V + (own - losses) ** 2


class Squint(_Squares):
    """The integral by many nodes."""

    NODES, SHARES = np.polynomial.legendre.leggauss(400)

    def weights(self) -> Floats:
        eta = (self.NODES + 1)[:, None] / 4
        exponent = eta * self.R - eta**2 * self.V
        return normal(self.SHARES @ np.exp(exponent - exponent.max()))


class SquintClosed(_Squares):
    """The closed form as printed."""

    def weights(self) -> Floats:
        if not self.V.all():
            return np.full(self.n, 1 / self.n)
        root = 2 * np.sqrt(self.V)
        a, b = self.R / root, (self.R - self.V) / root
        return normal(np.exp(a * a) * (erf(a) - erf(b)) / root)


class SquintCommon(_Regrets):
    """The integrals by many nodes, and the step of the clock by bisection."""

    NODES, SHARES = np.polynomial.legendre.leggauss(400)
    V = 0.0

    def integrals(self, V: float, power: int) -> Floats:
        eta = (self.NODES + 1)[:, None] / 4
        exponent = eta * self.R - eta**2 * V
        return np.asarray(self.SHARES @ (eta**power * np.exp(exponent - exponent.max())))

    def weights(self) -> Floats:
        return normal(self.integrals(self.V, 0))

    def update(self, losses: Floats, own: float) -> None:
        super().update(losses, own)
        squares = (own - losses) ** 2

        def missing(v: float) -> float:
            return float(normal(self.integrals(self.V + v, 1)) @ squares) - v

        if squares.any():
            most = squares.max() * (1 + 1e-9)  # if all are the same, rounding must not matter
            self.V += brentq(missing, 0.0, most, xtol=1e-300, rtol=1e-15)


class MLPoly(_Squares):
    def weights(self) -> Floats:
        return normal(np.maximum(self.R, 0) / (1 + self.V))


class MLPolyOpera(_Squares):
    B = 0.0

    def weights(self) -> Floats:
        return normal(np.maximum(self.R, 0) / np.maximum(self.B + self.V, 1e-300))

    def update(self, losses: Floats, own: float) -> None:
        super().update(losses, own)
        self.B = max(self.B, float(np.max((own - losses) ** 2)))


class MLProd(_Squares):
    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.w = np.full(n, 1 / n)

    def rate(self) -> Floats:
        return np.minimum(0.5, np.sqrt(math.log(self.n) / (1 + self.V)))

    def weights(self) -> Floats:
        self.eta = self.rate()
        return normal(self.eta * self.w)

    def update(self, losses: Floats, own: float) -> None:
        super().update(losses, own)
        self.w = (self.w * (1 + self.eta * (own - losses))) ** (self.rate() / self.eta)


class BOA(MLProd):
    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.S = np.zeros(n)

    def weights(self) -> Floats:
        self.eta = self.rate()
        exponent = self.eta * self.S
        return normal(self.eta * np.exp(exponent - exponent.max()))

    def update(self, losses: Floats, own: float) -> None:
        r = own - losses
        self.S = self.S + r - self.eta * r**2
        _Squares.update(self, losses, own)


class AdaHedge:
    """After the program printed in the paper, with its mix loss from cumulative losses."""

    def __init__(self, n: int) -> None:
        self.L = np.zeros(n)
        self.Delta = 0.0

    def mix(self, eta: float, L: Floats) -> tuple[Floats, float]:
        least = L.min()
        w = (least == L).astype(float) if eta == math.inf else np.exp(-eta * (L - least))
        return w / w.sum(), float(least - math.log(w.sum() / len(L)) / eta)

    def rate(self) -> float:
        return math.log(len(self.L)) / self.Delta if self.Delta > 0 else math.inf

    def weights(self) -> Floats:
        w, self.before = self.mix(self.rate(), self.L)
        return w

    def gap(self, losses: Floats, own: float) -> float:
        self.L = self.L + losses
        return max(0.0, own - (self.mix(self.rate(), self.L)[1] - self.before))

    def update(self, losses: Floats, own: float) -> None:
        self.Delta += self.gap(losses, own)


class AdaHedgeD(AdaHedge):
    """Without delay; the hint is the last round once more."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.h = np.zeros(n)

    def weights(self) -> Floats:
        return self.mix(self.rate(), self.L + self.h)[0]

    def gap(self, losses: Floats, own: float) -> float:
        eta, theta = self.rate(), self.L + self.h
        self.L, self.h = self.L + losses, losses
        e, r = theta - self.L, own - losses

        def cost(y: Floats) -> float:
            w, before = self.mix(eta, y)
            return float(w @ (self.L - y)) - (self.mix(eta, self.L)[1] - before)

        share = min(1.0, np.ptp(r) / np.ptp(e)) if np.ptp(e) > 0 else 1.0
        y = self.L + share * e
        drift, both = (float(self.mix(eta, at)[0] @ r) for at in (self.L, y))
        return max(0.0, min(cost(theta), drift, both + cost(y)))


class FlipFlop(AdaHedge):
    def __init__(self, n: int, phi: float = 2.37, alpha: float = 1.243) -> None:
        super().__init__(n)
        self.regime = 0
        self.Deltas = [0.0, 0.0]
        self.scale = [phi / alpha, alpha]

    def among(self, k: Floats) -> Floats:
        return normal(k * (self.L[k > 0].min() == self.L))

    def rate(self) -> float:
        flop = self.Deltas[1]
        return math.log(len(self.L)) / flop if self.regime == 1 and flop > 0 else math.inf

    def update(self, losses: Floats, own: float) -> None:
        k = self.regime
        self.Deltas[k] += self.gap(losses, own)
        if self.Deltas[k] > self.scale[k] * self.Deltas[1 - k]:
            self.regime = 1 - k


class DecreasingHedge:
    """Rates for losses in [0, 1]: eta_t = 2 sqrt(ln N / t)."""

    def __init__(self, n: int) -> None:
        self.L = np.zeros(n)
        self.t = 1

    def weights(self) -> Floats:
        eta = 2 * math.sqrt(math.log(len(self.L)) / self.t)
        return normal(np.exp(-eta * (self.L - self.L.min())))

    def update(self, losses: Floats, own: float) -> None:  # noqa: ARG002
        self.L = self.L + losses
        self.t += 1


class OptimisticHedge:
    """``eta`` is for gains in [-1, 1]: losses in [0, 1] are half as wide."""

    def __init__(self, n: int, eta: float = 0.5) -> None:
        self.L, self.last, self.eta = np.zeros(n), np.zeros(n), 2 * eta

    def weights(self) -> Floats:
        guess = self.L + self.last
        return normal(np.exp(-self.eta * (guess - guess.min())))

    def update(self, losses: Floats, own: float) -> None:  # noqa: ARG002
        self.L, self.last = self.L + losses, losses


class FixedShare:
    def __init__(self, n: int, eta: float = 1.0, share: float = 0.1) -> None:
        self.w, self.eta, self.share = np.full(n, 1 / n), 2 * eta, share

    def weights(self) -> Floats:
        return self.w

    def update(self, losses: Floats, own: float) -> None:  # noqa: ARG002
        v = normal(self.w * np.exp(-self.eta * losses))
        self.w = (1 - self.share) * v + self.share / len(v)


class VariableShare(FixedShare):
    def update(self, losses: Floats, own: float) -> None:  # noqa: ARG002
        v = normal(self.w * np.exp(-self.eta * losses))
        taken = (1 - (1 - self.share) ** losses) * v
        self.w = v - taken + (taken.sum() - taken) / (len(v) - 1)


class CoinBetting:
    """Bets as they are defined: a share of one plus all winnings so far."""

    def __init__(self, n: int, shift: float = 0.0) -> None:
        self.coins, self.winnings, self.t, self.shift = np.zeros(n), np.zeros(n), 1, shift

    def weights(self) -> Floats:
        self.bets = self.coins / (self.t + self.shift) * (1 + self.winnings)
        return normal(np.maximum(self.bets, 0))

    def update(self, losses: Floats, own: float) -> None:
        r = own - losses
        coin = np.where(self.bets > 0, r, np.maximum(r, 0))
        self.winnings = self.winnings + coin * self.bets
        self.coins = self.coins + coin
        self.t += 1


def fold(oracle: Oracle, gains: Floats, confidence: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the weights of each round, and the weights after the last."""
    played = []
    for t, row in enumerate(gains):
        k = np.ones(len(row)) if confidence is None else confidence[t]
        p = oracle.weights()
        q = np.zeros(len(k))
        if (p * k).sum() > 0:
            q = normal(p * k)
        elif k.any():  # all the weight sleeps: follow the leader of the others, or hear all
            q = oracle.among(k) if hasattr(oracle, "among") else normal(k)
        losses = (1 - row) / 2
        own = float(q @ losses)
        played.append(q)
        if k.any():
            # Asleep, an expert says what the algorithm says.
            oracle.update(k * losses + (1 - k) * own, own)
        else:
            oracle.update(np.full(len(k), 0.5), 0.5)
    return np.array(played), oracle.weights()
