"""The Bayesian average over the candidates of a bank."""

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.banks._hmm_bank import HMMBank
from normalhedge.latent.banks._predictor import (
    BankPredictor,
    BatchPredictions,
    entry_of_each,
    most_probable,
)


class BayesAverage(BankPredictor):
    """Average the candidates by their posterior, which cannot recover once it has collapsed.

    Parameters
    ----------
    bank
        The candidates, with equal priors.
    keep
        The share of the log-likelihoods that is kept in each observed round: 1 is Bayes' rule, less
        forgets.
    rounded
        Whether to predict the most probable symbol with probability one.

    Examples
    --------
    >>> from normalhedge.latent import categorical_bank
    >>> moves = [[[0.9, 0.1], [0.1, 0.9]]]
    >>> bank = categorical_bank([[0.5, 0.5]], moves, [[[0.9, 0.1], [0.2, 0.8]]])
    >>> predictor = BayesAverage(bank)
    >>> predictor.observe(0)
    >>> predictor.predict().round(2)
    array([0.73, 0.27])
    """

    def __init__(self, bank: HMMBank, keep: float = 1.0, *, rounded: bool = False) -> None:
        super().__init__(bank, rounded=rounded)
        self.keep = inputs.number("keep", keep, 0.0, 1.0, closed=True)

    def posterior(self) -> Floats:
        """Return the posterior probability of each candidate."""
        return _posterior(self.state.log_likelihood)

    def predict(self) -> Floats:
        prediction = np.asarray(self.bank.predictions(self.state.beliefs) @ self.posterior())
        return most_probable(prediction) if self.rounded else prediction

    def score(self, symbol: float) -> float:
        bounded = self.bank.bounded(symbol)
        if bounded is None:
            return float("nan")
        if self.rounded:
            return float(self.predict()[int(symbol)])
        return float((bounded * self.state.beliefs).sum(axis=0) @ self.posterior())

    def observe(self, symbol: float | None) -> None:
        before = self._state
        filters = before.bank.observe(before.filters, symbol, self.keep)
        self._change(before, before._replace(filters=filters))

    def run(self, symbols: Floats) -> BatchPredictions:
        before = self._state
        filtered = before.bank.run(symbols, before.filters, self.keep)
        weights = _posterior(filtered.log_likelihood)[:, np.newaxis] * filtered.beliefs
        by_candidate = self.bank.predictions(filtered.beliefs)
        predictions = np.einsum("txn,tn->tx", by_candidate, weights.sum(axis=1))
        scores = np.einsum("tsn,tsn->t", filtered.scores, weights)
        if self.rounded:
            predictions = most_probable(predictions, axis=1)
            scores = entry_of_each(predictions, symbols)
        self._change(before, before._replace(filters=filtered.state))
        return BatchPredictions(predictions, scores, weights)

    @property
    def weights(self) -> Floats:
        """The posterior probability of each candidate and its next state, k x N."""
        return np.asarray(self.posterior() * self.state.beliefs)


def _posterior(logs: Floats) -> Floats:
    raw = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(raw / raw.sum(axis=-1, keepdims=True))
