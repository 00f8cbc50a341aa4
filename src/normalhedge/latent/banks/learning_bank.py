"""Learning the parameters of hidden Markov models online, under the L1 loss.

Section 5 of the paper ends with candidates that are given; here the bank moves. A candidate that
has been behind the hedger for a whole memory is dropped, and a perturbed copy of one of those ahead
takes its place: experts leave and join, and a newcomer's regret starts at zero.
"""

from typing import Any

import numpy as np

from normalhedge import _inputs
from normalhedge.hedgers import Hedger
from normalhedge.latent.banks.hmm_bank import BankState, HMMBank
from normalhedge.latent.banks.predictors import ModelExperts

NEAREST, FARTHEST = 0.02, 0.6
"""Between these, copies are moved: some far, to explore, and some near, to settle."""


def can_learn(hedger: Hedger[Any]) -> bool:
    """Return whether experts can join and leave the games of a hedger, and have regrets."""
    there = hasattr(hedger, "join") and hasattr(hedger, "leave")
    return there and hasattr(hedger.init(1), "regrets")


class LearningBank(ModelExperts):
    """Hedge over whole candidates, and let the bank evolve towards those that are ahead.

    Parameters
    ----------
    bank
        The candidates to start from, `HMMBank.random` for instance.
    rng
        Where the draws come from.
    hedger, rounded
        As for `ModelExperts`; experts must be able to join and leave its games, as they are with
        all hedgers of this package.
    patience
        For how many rounds a candidate may be behind before it is dropped; one memory of the
        hedger, ``1/alpha``, by default.
    share
        At most this share of the candidates is dropped at a time, every ``patience / 4`` rounds.

    Notes
    -----
    What is promised of the regret holds with N the number of all that ever joined, and for each of
    them from when it joined; that the bank gets better is not promised, only observed. It moves
    towards what has a small L1 loss, not towards the truth: emissions become surer, and deviations
    smaller, than they are.
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
                f"have regrets, such as those of this package, got {self.hedger!r}"
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
        """Learn the next symbol; now and then, drop who is behind and copy who is ahead."""
        super().observe(symbol)
        if symbol is None or symbol != symbol:  # noqa: PLR0124 -- NaN: nobody was put to the test
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
