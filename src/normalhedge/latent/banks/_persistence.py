"""Persistence: the forecast that nothing changes."""

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.banks._hmm_bank import check_finite, check_symbols
from normalhedge.latent.banks._predictor import BatchPredictions, BatchPredictor, entry_of_each


class Persistence(BatchPredictor):
    """Predict that the last symbol, or the last number, comes again.

    Before the first observation, all symbols have the same probability, and the predicted number is
    NaN with a score of zero.

    Parameters
    ----------
    symbols
        The number of symbols, m; None for real numbers.
    width
        The width of the interval in which a real number is scored: the score is 1 within half the
        width of the prediction, and 0 outside. None for symbols.
    """

    def __init__(self, symbols: int | None = None, width: float | None = None) -> None:
        if (symbols is None) == (width is None):
            raise TypeError("give either symbols or width")
        self._width = None if width is None else inputs.number("width", width, 0.0)
        self._prediction = np.full(1, np.nan)
        if symbols is not None:
            self._prediction = np.full(inputs.count("symbols", symbols), 1.0 / symbols)

    def predict(self) -> Floats:
        return self._prediction.copy()

    def score(self, symbol: float) -> float:
        if np.isnan(symbol):
            return float("nan")
        self.check(np.array([symbol], dtype=np.float64))
        return float(self._scores(self._prediction[np.newaxis], np.array([symbol]))[0])

    def observe(self, symbol: float | None) -> None:
        numbers = np.array([symbol], dtype=np.float64)
        self.check(numbers)
        if not np.isnan(numbers[0]):
            self._prediction = self._after(numbers)[0]

    def check(self, symbols: Floats) -> None:
        known = symbols[~np.isnan(symbols)]
        if self._width is None:
            check_symbols(known, len(self._prediction))
        else:
            check_finite(known)

    def run(self, symbols: Floats) -> BatchPredictions:
        known = ~np.isnan(symbols)
        after = np.concatenate([self._prediction[np.newaxis], self._after(symbols[known])])
        predictions = after[np.cumsum(known) - known]  # by the last symbol before each round
        self._prediction = after[-1].copy()
        scores = self._scores(predictions, symbols)
        return BatchPredictions(predictions, scores, np.empty((len(symbols), 0, 0)))

    def _after(self, symbols: Floats) -> Floats:
        """Return the prediction after each symbol."""
        if self._width is not None:
            return symbols[:, np.newaxis].copy()
        equal = symbols[:, np.newaxis] == np.arange(len(self._prediction))
        return np.asarray(equal.astype(float))

    def _scores(self, predictions: Floats, symbols: Floats) -> Floats:
        if self._width is None:
            return entry_of_each(predictions, symbols)
        near = (np.abs(symbols - predictions[:, 0]) <= 0.5 * self._width).astype(float)
        return np.where(np.isnan(symbols), np.nan, near)
