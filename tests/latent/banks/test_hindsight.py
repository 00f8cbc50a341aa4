"""The best candidate in hindsight, on real numbers."""

import numpy as np

from normalhedge import NormalHedge
from normalhedge.latent import (
    BayesAverage,
    ModelExperts,
    StateExperts,
    best_candidate,
    follow,
    gaussian_bank,
)


def test_real_numbers() -> None:
    stay = [[0.98, 0.02], [0.02, 0.98]]
    bank = gaussian_bank(
        [[0.5, 0.5]] * 2, [stay, stay], [[-2.0, 2.0], [-5.0, 0.0]], [[1.0, 1.0], [1.0, 3.0]]
    )
    rng = np.random.default_rng(14)
    hidden = np.repeat([0, 1, 0, 1], 250)
    numbers: list[float | None] = (np.array([-2.0, 2.0])[hidden] + rng.normal(size=1000)).tolist()
    numbers[7], numbers[500] = None, 1e6  # missing, and impossible under all
    went = {
        "states": follow(StateExperts(bank, NormalHedge(alpha=0.02)), numbers),
        "models": follow(ModelExperts(bank, NormalHedge(alpha=0.02)), numbers),
        "bayes": follow(BayesAverage(bank), numbers),
    }
    best, alone = best_candidate(bank, numbers)
    assert best == 0
    for followed in went.values():
        assert (followed.states[300:] == hidden[300:]).mean() > 0.85
        assert np.isfinite(np.delete(followed.losses, 7)).all()
        assert ((followed.losses >= 0.0) | np.isnan(followed.losses)).all()
        assert followed.candidates[900:, 0].mean() > 0.8
        error = followed.predictions[600:, 0] - np.array([-2.0, 2.0])[hidden[600:]]
        assert np.abs(error).mean() < 0.8
        assert followed.errors == 0
    assert went["models"].loss < 1.02 * alone.min()
