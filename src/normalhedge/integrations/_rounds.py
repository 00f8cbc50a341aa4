"""Rows of forecasts as rounds of a mixture: the part that adapters share."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from normalhedge.mixtures import Mixture

Rows = Iterable[Mapping[str, Any]]
"""The forecasts of each round, by name."""


def make_mixture(hedger: Any, loss: Any, options: Mapping[str, Any] | None) -> Mixture:
    """Return a new mixture, whose loss must be one of numbers."""
    mixture = Mixture(hedger, loss, **(options or {}))
    if not mixture.settings.loss.of_single_numbers:
        raise ValueError(
            f"loss must be a loss of numbers, such as 'square', got {mixture.settings.loss}"
        )
    return mixture


def learn(mixture: Mixture, rows: Rows, outcomes: Sequence[Any]) -> list[Any]:
    """Predict each row and then learn its outcome; return the predictions."""
    values = []
    predict, update = mixture.predict, mixture.update
    numbers = np.asarray(outcomes).tolist()  # Python's own numbers are read faster
    for row, outcome in zip(rows, numbers, strict=True):
        prediction = predict(row)
        update(prediction.ticket, outcome)
        values.append(prediction.value)
    return values


def copy_aside(mixture: Mixture) -> Mixture:
    """Return a copy that may predict many rows: rounds without an outcome change no weight."""
    return mixture.copy(history=False)


def peek(mixture: Mixture, rows: Rows) -> list[Any]:
    """Return the blend of each row; the mixture does not change."""
    predict = copy_aside(mixture).predict
    return [predict(row).value for row in rows]


def number_names(names: Iterable[str]) -> list[str]:
    """Return names that are all different: the second of a name gets the number 2."""
    different, count = [], Counter[str]()
    for name in names:
        count[name] += 1
        different.append(name if count[name] == 1 else f"{name} {count[name]}")
    return different
