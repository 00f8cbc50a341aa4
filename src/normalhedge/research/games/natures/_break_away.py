"""Two halves alternate, then one expert breaks away: it refutes the paper's bound for Hedge."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.research.games.natures._protocol import BLOCK


@dataclass(frozen=True)
class BreakAway:
    """Two halves swap +1 and -1 each round; then one expert gains +1 and all others -1.

    While the halves alternate no expert gets ahead for long, but the hedger loses a little in each
    round, so the regrets to all experts rise together. Then one expert runs away. The attack
    refutes the bound of Section 4.1 for Hedge, and drives the average potential of NormalHedge with
    c = 1 to 1.649.

    Parameters
    ----------
    experts
        N, at least 2.
    alpha
        The discount rate of the hedger. Each of the two parts takes ``8/alpha`` rounds; after the
        second the first begins again.
    """

    experts: int
    alpha: float

    def __post_init__(self) -> None:
        experts = inputs.count("experts", self.experts, 2)
        object.__setattr__(self, "experts", experts)
        object.__setattr__(self, "alpha", inputs.number("alpha", self.alpha, 0.0, 1.0))

    @property
    def rounds(self) -> int:
        """How many rounds the two parts take together."""
        return 2 * round(8.0 / self.alpha)

    def switches(self, rounds: int) -> np.ndarray:
        """Return the rounds in which a part begins, except round 0."""
        return np.arange(self.rounds // 2, rounds, self.rounds // 2)

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:  # noqa: ARG002
        """Yield the gains in blocks.

        Parameters
        ----------
        rounds
            How many rounds of gains to yield.
        rng
            Ignored: the gains are not random.
        """
        halves = np.where(np.arange(self.experts) < self.experts // 2, 1, -1).astype(np.int8)
        alone = np.where(np.arange(self.experts) == 0, 1, -1).astype(np.int8)
        length = max(BLOCK // self.experts, 1)
        for start in range(0, rounds, length):
            t = np.arange(start, min(start + length, rounds))[:, None]
            swapped = np.where(t % 2 == 0, halves, -halves)
            yield np.where(t % self.rounds < self.rounds // 2, swapped, alone)
