"""Banks of hidden Markov models of symbols."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.banks._hmm_bank import BankState, HMMBank, check_symbols, perturb_rows


@dataclass(frozen=True, eq=False)
class CategoricalBank(HMMBank):
    """N hidden Markov models with k states each, over the symbols 0, 1, ..., m - 1.

    `categorical_bank` makes one of checked arrays.

    Attributes
    ----------
    initial, transition
        See `HMMBank`.
    emission
        The probability of each symbol, m x k x N.

    Examples
    --------
    >>> from normalhedge.latent import categorical_bank
    >>> transition, emission = [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.3, 0.7]]
    >>> bank = categorical_bank([[0.5, 0.5]], [transition], [emission])
    >>> state = bank.observe(bank.init(), 0)
    >>> state.beliefs[:, 0].round(4)
    array([0.6818, 0.3182])
    >>> bank.symbols(state)[:, 0].round(4)
    array([0.6409, 0.3591])
    """

    emission: Floats

    _tables: ClassVar[tuple[str, ...]] = ("initial", "transition", "emission")

    @property
    def symbol_count(self) -> int:
        return int(self.emission.shape[0])

    @property
    def state_predictions(self) -> Floats:
        return self.emission

    def predictions(self, beliefs: Floats) -> Floats:
        return np.asarray(np.einsum("xsn,...sn->...xn", self.emission, beliefs))

    def symbols(self, state: BankState) -> Floats:
        """Return the one-step predictive distribution of each candidate over symbols, m x N."""
        return np.asarray(np.einsum("xsn,sn->xn", self.emission, state.beliefs))

    def scores(self, observation: float | None) -> Floats | None:
        if type(observation) is int and 0 <= observation < len(self.emission):
            scores: Floats = self.emission[observation]
            return scores
        return super().scores(observation)

    def bound(self, scores: Floats) -> Floats:
        return scores

    def _check(self, known: Floats) -> None:
        check_symbols(known, self.symbol_count)

    def _scores(self, numbers: Floats) -> Floats:
        return self.emission[numbers.astype(np.intp)]

    def _perturb_emission(self, spread: Floats, rng: np.random.Generator) -> dict[str, Floats]:
        return {"emission": perturb_rows(self.emission, 0, spread, rng)}

    def _draw(self, states: npt.NDArray[np.intp], rng: np.random.Generator) -> Floats:
        below = np.cumsum(self.emission[..., 0], axis=0)[:-1, states]
        return np.asarray((rng.random(len(states)) >= below).sum(axis=0), dtype=np.float64)
