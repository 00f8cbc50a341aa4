"""Learning the parameters of hidden Markov models online, under the L1 loss.

Section 5 of the paper ends with fixed candidates; here the bank evolves. A candidate that has been
behind the hedger for a whole memory is dropped, and a perturbed copy of a candidate that is ahead
takes its place: experts leave and join, and the regret of a new expert starts at zero.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs
from normalhedge.hedgers import Hedger
from normalhedge.latent._draws import Draws
from normalhedge.latent.banks._hedging import ModelExperts
from normalhedge.latent.banks._hmm_bank import BankState, HMMBank
from normalhedge.latent.banks._predictor import PredictorState

# the smallest and largest perturbation of a copy: large ones explore, small ones settle
NEAREST, FARTHEST = 0.02, 0.6


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
        alpha = getattr(self.hedger, "alpha", 0.0)
        if patience is None and not alpha:
            raise ValueError("patience must be given where the hedger never forgets")
        self.patience = (
            round(1.0 / alpha) if patience is None else inputs.count("patience", patience)
        )
        self.share = inputs.number("share", share, 0.0, 1.0)
        self._draws = Draws(rng)
        behind = np.zeros(bank.candidates, dtype=np.int64)
        self._state = self._state._replace(behind=behind, draws=self._draws.first)

    @property
    def dropped(self) -> int:
        """The number of candidates that were dropped so far."""
        return self._state.dropped

    def _after(self, now: PredictorState, symbol: float | None) -> PredictorState:
        """Return the state after a symbol; now and then, copies replace bad candidates."""
        now = super()._after(now, symbol)
        if symbol is None or symbol != symbol:  # noqa: PLR0124 -- NaN: no candidate was tested
            return now
        assert now.behind is not None
        ahead = now.game.regrets > 0.0
        behind = np.where(ahead, 0, now.behind + 1)
        due = now.filters.rounds % max(self.patience // 4, 1) == 0 and ahead.any()
        return self._renew(now, behind) if due else now._replace(behind=behind)

    def _renew(self, now: PredictorState, behind: npt.NDArray[np.int64]) -> PredictorState:
        """Return the state with the candidates replaced that have been behind for too long."""
        bank, filters, game = now[:3]
        late = np.flatnonzero(behind >= self.patience)
        worst = late[np.argsort(game.regrets[late], kind="stable")]
        worst = worst[: int(self.share * bank.candidates)]
        if not len(worst):
            return now._replace(behind=behind)
        rng, weights = self._draws.at(now.draws), game.weights
        parents = rng.choice(len(weights), size=len(worst), p=weights / weights.sum())
        spread = np.exp(rng.uniform(np.log(NEAREST), np.log(FARTHEST), size=len(worst)))
        children = bank.perturbed(parents, spread, rng)
        stay = np.setdiff1d(np.arange(bank.candidates), worst)
        beliefs = np.concatenate([filters.beliefs[:, stay], filters.beliefs[:, parents]], axis=1)
        logs = np.concatenate([filters.log_likelihood[stay], filters.log_likelihood[parents]])
        hedger: Any = self.hedger
        return PredictorState(
            bank.take(stay).joined(children),
            BankState(np.ascontiguousarray(beliefs), logs, filters.rounds, filters.impossible),
            hedger.join(hedger.leave(game, worst), len(worst)),
            np.concatenate([behind[stay], np.zeros(len(worst), dtype=np.int64)]),
            now.dropped + len(worst),
            self._draws.place(rng),
        )
