"""The choice of candidates."""

import numpy as np

from normalhedge.latent import Regimes
from normalhedge.latent.regimes._candidates import CandidatePool, CandidateSearch, _Review
from normalhedge.latent.regimes._recipes import LearningRecipe, hidden_only
from tests.latent.regimes.examples import textbook


def test_windows_without_hope_are_fitted_less_often() -> None:
    slate, seen = CandidateSearch(["gaussian"], [1, 2], 10), textbook(800)[1][:, np.newaxis]
    none = CandidatePool((), np.empty(0), {})
    rng = np.random.default_rng(0)
    fitted = []
    for pending in slate.begin(none, (), seen, np.empty(0), novel=False):
        fits = pending.fits(rng, None)
        while not fits.done:
            fits = fits.advance()
        fitted += pending.candidates(fits.results())
    board, _, _ = slate.end(none, fitted, seen, np.empty(0))
    review = _Review(list(board.candidates), board.standing.copy())
    window = next(n for n, one in enumerate(board.candidates) if one.recipe.window == 250)
    whole = next(
        n for n, one in enumerate(board.candidates) if one.recipe == LearningRecipe("gaussian", 2)
    )
    assert review.due(window) == 900
    review.standing[window] = review.standing[whole] = -40.0
    assert review.due(window) == 1200
    (due,) = (one.due for one in hidden_only(board.candidates[whole : whole + 1]))
    assert review.due(whole) == due


def test_a_small_budget_has_room_for_the_first_models() -> None:
    regimes = Regimes("gaussian", states=2, budget=2)
    regimes.run(textbook(300)[1])
    assert 1 <= sum(recipe.states > 0 for recipe in regimes.candidates()) <= 2
