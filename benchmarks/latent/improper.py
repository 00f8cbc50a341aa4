"""What hedging with the L1 loss, which is not proper, makes of a symbol with probability 0.7."""

from collections.abc import Iterator

import numpy as np

from benchmarks.latent.scores import brier, l1, log_score
from normalhedge.hedgers import NormalHedge

ROUNDS, JUDGED = 4000, 1000


def lines() -> Iterator[str]:
    """Yield a table: what is said in the mean, and the losses."""
    came = (np.random.default_rng(0).random(ROUNDS) < 0.7).astype(np.intp)
    said = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.99])
    given = np.where(came[:, np.newaxis] == 1, said, 1.0 - said)
    yield f"{'NormalHedge by':16s}{'it says':>9s}{'L1':>9s}{'Brier':>9s}{'log':>9s}"
    for name, gains in (("L1", 2.0 * given - 1.0), ("log score", 1.0 + np.log(given) / 2.4)):
        weights = NormalHedge(memory=300).run(gains, keep_weights=True).weights
        assert weights is not None
        p = weights @ said
        both = np.column_stack([1.0 - p, p])[JUDGED:]
        outcomes = came[JUDGED:]
        losses = [loss(both, outcomes).mean() for loss in (l1, brier)]
        score = log_score(both[np.arange(len(both)), outcomes]).mean()
        cells = "".join(f"{cell:9.3f}" for cell in (p[JUDGED:].mean(), *losses, score))
        yield f"{name:16s}{cells}"
