"""Learning the parameters of hidden Markov models online, under the L1 loss.

Section 5 of the paper ends with fixed candidates; here the bank evolves. A candidate that has been
behind the hedger for a whole memory is dropped, and a perturbed copy of a candidate that is ahead
takes its place: experts leave and join, and the regret of a new expert starts at zero.
"""

from typing import Any

import numpy as np

from normalhedge import _inputs
from normalhedge.hedgers import Hedger
from normalhedge.latent.banks.bank_state import BankState
from normalhedge.latent.banks.hedging import ModelExperts
from normalhedge.latent.banks.hmm_bank import HMMBank

NEAREST, FARTHEST = 0.02, 0.6
"""The smallest and largest perturbation of a copy: large ones explore, small ones settle."""


def can_learn(hedger: Hedger[Any]) -> bool:
    """Return whether experts can join and leave the games of a hedger and have regrets."""
    there = hasattr(hedger, "join") and hasattr(hedger, "leave")
    return there and hasattr(hedger.init(1), "regrets")


class LearningBank(ModelExperts):
    """Hedge over whole candidates, and let the bank evolve towards the best of them.

    Parameters
    ----------
    bank
        The first candidates, for instance from `random_categorical_bank`.
    rng
        The generator of random numbers.
    hedger, rounded
        As for `ModelExperts`; experts must be able to join and leave the hedger's games, as with
        all hedgers of this package.
    patience
        The number of rounds that a candidate may be behind before it is dropped; one memory of the
        hedger, ``1/alpha``, by default.
    share
        The largest share of the candidates that is dropped at a time, every ``patience / 4``
        rounds.

    Notes
    -----
    The bounds on the regret hold with N the number of all candidates that ever joined, and for each
    of them from the round in which it joined. No theorem says that the bank improves; experiments
    do. It moves towards a small L1 loss and not towards the truth: probabilities become more
    extreme, and deviations smaller, than the true ones.
    """

    steady = False

    def __init__(
        self,
        bank: HMMBank,
        rng: np.random.Generator,
        hedger: Hedger[Any] | None = None,
        *,
        rounded: bool = False,
        patience: int | None = None,
        share: float = 0.5,
    ) -> None:
        super().__init__(bank, hedger, rounded=rounded)
        if not can_learn(self.hedger):
            raise TypeError(
                "LearningBank needs a hedger whose experts can join and leave, and whose states "
                f"have regrets, such as the hedgers of this package, got {self.hedger!r}"
            )
        self.rng = rng
        alpha = getattr(self.hedger, "alpha", 0.0)
        if patience is None and not alpha:
            raise ValueError("patience must be given where the hedger never forgets")
        self.patience = (
            round(1.0 / alpha) if patience is None else _inputs.count("patience", patience)
        )
        self.share = _inputs.number("share", share, 0.0, 1.0)
        self.dropped = 0
        self._behind = np.zeros(bank.candidates, dtype=np.int64)

    def observe(self, symbol: float | None) -> None:
        """Learn the next symbol; now and then, replace bad candidates by copies of good ones."""
        super().observe(symbol)
        if symbol is None or symbol != symbol:  # noqa: PLR0124 -- NaN: no candidate was tested
            return
        ahead = self.game.regrets > 0.0
        self._behind = np.where(ahead, 0, self._behind + 1)
        if self.state.rounds % max(self.patience // 4, 1) == 0 and ahead.any():
            self._renew()

    def _renew(self) -> None:
        late = np.flatnonzero(self._behind >= self.patience)
        worst = late[np.argsort(self.game.regrets[late], kind="stable")]
        worst = worst[: int(self.share * self.bank.candidates)]
        if not len(worst):
            return
        weights = self.game.weights
        parents = self.rng.choice(len(weights), size=len(worst), p=weights / weights.sum())
        spread = np.exp(self.rng.uniform(np.log(NEAREST), np.log(FARTHEST), size=len(worst)))
        children = self.bank.perturbed(parents, spread, self.rng)
        stay = np.setdiff1d(np.arange(self.bank.candidates), worst)
        self.bank = self.bank.take(stay).joined(children)
        self.state = BankState(
            np.ascontiguousarray(
                np.concatenate(
                    [self.state.beliefs[:, stay], self.state.beliefs[:, parents]], axis=1
                )
            ),
            np.concatenate([self.state.log_likelihood[stay], self.state.log_likelihood[parents]]),
            self.state.rounds,
            self.state.impossible,
        )
        hedger: Any = self.hedger
        self.game = hedger.join(hedger.leave(self.game, worst), len(worst))
        self._behind = np.concatenate([self._behind[stay], np.zeros(len(worst), dtype=np.int64)])
        self.dropped += len(worst)
