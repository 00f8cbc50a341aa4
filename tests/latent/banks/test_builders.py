"""Builders of banks: grids and bad parameters."""

import math
from typing import Any

import numpy as np
import pytest

from normalhedge.latent import (
    categorical_bank,
    categorical_grid,
    gaussian_grid,
)
from tests.latent.banks.examples import GOOD


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"initial": [0.5, 0.5]}, "initial must have shape"),
        ({"initial": [[0.5, 0.6]]}, "initial must be probabilities"),
        ({"initial": [[1.5, -0.5]]}, "initial must be probabilities"),
        ({"initial": [[math.nan, 1.0]]}, "initial must be probabilities"),
        ({"transition": [[[0.0, 0.0], [0.1, 0.9]]]}, "transition must be probabilities"),
        ({"transition": [[[1.0]]]}, "transition must have shape 1 x 2 x 2"),
        ({"emission": [[[1.0], [1.0]]]}, "at least two symbols"),
        ({"emission": [[[0.5, 0.5]]]}, "emission must have shape 1 x 2 x any"),
        ({"emission": "abc"}, "emission must be real numbers"),
    ],
)
def test_bad_banks_are_a_sentence(change: dict[str, Any], word: str) -> None:
    with pytest.raises((ValueError, TypeError), match=word):
        categorical_bank(**{**GOOD, **change})


def test_a_grid_has_every_combination() -> None:
    bank = categorical_grid(2, stay=[0.9, 0.99], emissions=[0.1, 0.5, 0.9])
    found = {
        (round(bank.transition[0, 0, n], 9), *bank.emission[1, :, n].round(9).tolist())
        for n in range(bank.candidates)
    }
    pairs = [(0.1, 0.5), (0.1, 0.9), (0.5, 0.9)]
    assert found == {(stay, *pair) for stay in (0.9, 0.99) for pair in pairs}
    three = categorical_grid(3, [0.7], np.eye(4))
    assert (three.candidates, three.symbol_count) == (4, 4)
    np.testing.assert_allclose(three.transition.sum(axis=1), 1.0)
    assert three.transition[0, 1, 0] == pytest.approx(0.15)
    real = gaussian_grid(2, [0.9], [0.0, 5.0], [1.0, 2.0])
    assert real.candidates == 6
    assert real.width == 1.0
    assert categorical_grid(1, [0.5, 0.9], [0.3]).candidates == 1  # one state stays where it is
    for arguments, word in (
        ((2, [1.5], [0.1, 0.9]), "stay must be probabilities"),
        ((2, [], [0.1, 0.9]), "stay must be probabilities"),
        ((3, [0.5], [0.1, 0.9]), "at least as many emissions as states"),
        ((2, [0.5], [0.1, 1.9]), "emissions must be probabilities"),
        ((20, [0.5], np.linspace(0, 1, 60)), "at most 10,000,000 candidates"),
    ):
        with pytest.raises(ValueError, match=word):
            categorical_grid(*arguments)
