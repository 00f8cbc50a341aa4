"""The choice of candidates."""

import numpy as np

from normalhedge.latent.regimes.candidates import LearningRecipe
from normalhedge.latent.regimes.slate import Slate
from tests.latent.regimes.examples import textbook


def test_windows_without_hope_are_fitted_less_often() -> None:
    slate = Slate(["gaussian"], [1, 2], 10, np.random.default_rng(0))
    slate.review(textbook(800)[1][:, np.newaxis], np.empty(0))
    window = next(n for n, one in enumerate(slate.candidates) if one.recipe.window == 250)
    whole = next(
        n for n, one in enumerate(slate.candidates) if one.recipe == LearningRecipe("gaussian", 2)
    )
    assert slate._due(window) == 850
    slate.standing[window] = slate.standing[whole] = -40.0
    assert slate._due(window) == 900
    assert slate._due(whole) == slate.candidates[whole].due
