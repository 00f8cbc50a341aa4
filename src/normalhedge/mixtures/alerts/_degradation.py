r"""Tell when a model gets worse beside its own past and beside the others, at a stated rate.

A score compares the loss of a model with the middle loss of the others in the same round, whatever
their scale, so that a hard time for all is no alarm:

.. math:: r_t = \frac{\ell_t - m_t}{|\ell_t| + |m_t|} \in [-1, 1]

The score to expect follows from the scores of at least ``DELAY`` rounds ago, before which a change
is not yet in them: their mean, the last score as far as neighbouring scores resemble each other
(:math:`\phi`), and a margin of ``MARGIN`` standard errors of the mean.
A bet against larger scores multiplies its stake by

.. math:: e_t = 1 + \lambda\,\frac{r_t - g_t}{1 + g_t}, \qquad
          g_t = \mu_t + \phi_t (r_{t-1} - \mu_t) + \text{margin}_t

and a new bet with the stake 1 begins in each round: the value of all bets is
:math:`M_t = (M_{t-1} + 1)\,e_t`. As long as no score is larger than expected in the mean, no
bet gains in the mean, so :math:`M_t - t` is a supermartingale, and by Doob's inequality

.. math:: P(\max_{t \le T} M_t \ge T / \delta) \le \delta.

An alarm is a value of ``ROUNDS * models / RATE``. M is the mean over the shares :math:`\lambda`.

This is the Shiryaev-Roberts form of an e-detector (Shin, Ramdas and Rinaldo, 2024). Mean and
resemblance are estimates, so the rate holds only as far as these are good; a test measures it. It
holds for errors with an autocorrelation of 0.5; at 0.8 it is 2 %, and 4 to 7 % if the size of the
errors drifts so, too.
"""

import numpy as np

from normalhedge.boundary.inputs import Floats

ROUNDS, RATE = 1000, 0.01
"""The probability of a false alarm for any of the models is at most this rate in so many rounds."""

BEGIN = 50
"""The number of scores from which on the next one is compared with them."""

DELAY = 30
"""A score counts as past after this many further scores of the same model."""

MARGIN = 3.0
"""The margin, in standard errors of the mean."""

LARGEST = 0.95
"""The largest resemblance of neighbouring scores."""

SHARES = np.array([0.2, 0.5, 0.9])[:, np.newaxis]
"""The shares of a stake that are bet, for small and for large changes."""


def scores_of(losses: Floats) -> Floats:
    """Return the scores of losses; both are rounds x models, NaN where a model sleeps."""
    count = (~np.isnan(losses)).sum(axis=1)
    ordered = np.sort(losses, axis=1)
    ranks = np.argsort(np.argsort(losses, axis=1), axis=1)
    # The middle of the others: the place of the middle moves by one where the own loss is before.
    left = np.maximum(count - 1, 0)[:, np.newaxis]
    middles = []
    for place in (np.maximum(left - 1, 0) // 2, left // 2):
        shifted = np.minimum(place + (ranks <= place), losses.shape[1] - 1)
        middles.append(np.take_along_axis(ordered, shifted, axis=1))
    middle = 0.5 * (middles[0] + middles[1])
    sizes = np.abs(losses) + np.abs(middle)
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = np.where(sizes > 0.0, (losses - middle) / sizes, losses * 0.0)
    return np.where(left > 0, scores, np.nan)


def first_alarms(scores: Floats) -> list[tuple[int, int] | None]:
    """Return for each model the round in which it got worse and the round of the alarm, if any.

    ``scores`` are rounds x models; where a model sleeps they are NaN, and nothing is bet.
    """
    rounds, n = scores.shape
    threshold = ROUNDS * n / RATE
    past, last = _Past(n), np.zeros(n)
    value, best = np.zeros((2, len(SHARES), n))
    began = np.zeros((len(SHARES), n), dtype=np.int64)
    alarms: list[tuple[int, int] | None] = [None] * n
    silent = np.ones(n, dtype=bool)
    for t in range(rounds):
        awake = ~np.isnan(scores[t]) & silent
        score = np.where(awake, scores[t], 0.0)
        gap = past.expect(last)
        bets = awake & (past.count >= BEGIN)
        factor = 1.0 + SHARES * (score - gap) / (1.0 + gap)
        value = np.where(bets, (value + 1.0) * factor, value)
        began = np.where(bets & (best < 1.0), t, began)  # the beginning of the largest bet
        best = np.where(bets, np.maximum(best, 1.0) * factor, best)
        for k in np.flatnonzero(bets & (value.mean(axis=0) >= threshold)):
            alarms[k], silent[k] = (int(began[best[:, k].argmax(), k]), t), False
        past.add(score, awake)
        last = np.where(awake, score, last)
    return alarms


class _Past:
    """The scores of each model that count as past: their mean, spread and resemblance."""

    def __init__(self, n: int) -> None:
        self.count, self._mean, self._square, self._product, self._last = np.zeros((5, n))
        self._coming, self._seen = np.zeros((DELAY, n)), np.zeros(n, dtype=np.int64)

    def expect(self, last: Floats) -> Floats:
        """Return the score to expect after the last one, with the margin."""
        square, known = self._square, np.maximum(self.count, 1.0)
        same = np.where(square > 0.0, self._product / np.where(square > 0.0, square, 1.0), 0.0)
        same = np.clip(same + (1.0 + 3.0 * same) / known, 0.0, LARGEST)  # small samples hide some
        error = np.sqrt(square / known / known * (1.0 + same) / (1.0 - same))
        expected = self._mean + same * (last - self._mean) + MARGIN * error
        return np.clip(expected, -0.9, 1.0)

    def add(self, score: Floats, awake: np.ndarray) -> None:
        """Add a score of each model awake; the one of ``DELAY`` scores before becomes past."""
        places, columns = self._seen % DELAY, np.arange(len(score))
        old = self._coming[places, columns]
        self._coming[places, columns] = np.where(awake, score, old)
        ripe = awake & (self._seen >= DELAY)
        self._seen = self._seen + awake
        # Welford's sums of squares, and of products of neighbours.
        count = self.count + ripe
        before = old - self._mean
        mean = self._mean + np.where(ripe, before, 0.0) / np.maximum(count, 1.0)
        self._square = self._square + np.where(ripe, before * (old - mean), 0.0)
        pairs = ripe & (count > 1)
        self._product = self._product + np.where(pairs, before * (self._last - mean), 0.0)
        self._last = np.where(ripe, old, self._last)
        self.count, self._mean = count, mean
