"""The simple baselines."""

import math
from itertools import pairwise

import numpy as np
import pytest

from normalhedge.latent import infer
from normalhedge.latent.regimes._baselines import baselines
from normalhedge.latent.regimes._sequence import encode
from tests.latent.regimes.examples import switching, weather


def test_rivals_are_causal_and_right() -> None:
    state, rng = switching(400)
    values = rng.normal(3.0 * state, 1.0)
    values[60] = np.nan
    found = baselines(encode(values))
    early = baselines(encode(values[:300]))
    assert len(found) == 5
    for name, scores in found.items():
        np.testing.assert_allclose(scores[:300], early[name], rtol=1e-6)
        assert np.isnan(scores[:50]).all()
        assert np.isnan(scores[60])
        assert np.isfinite(scores[61:]).sum() >= 338
    steps = np.diff(values[:60])
    variance = np.mean(steps[:-1] ** 2)
    expected = -0.5 * (np.log(2 * np.pi * variance) + steps[-1] ** 2 / variance)
    assert found["the last value again"][59] == pytest.approx(expected)
    own = infer(values, states=(1, 2, 3)).path.log_scores
    assert np.nansum(own[61:]) > np.nansum(found["one state, all rounds"][61:])
    assert baselines(encode(values[:40])) == {}


def test_a_markov_chain_is_counted() -> None:
    values = weather(120)
    scores = baselines(encode(values))["Markov chain"]
    pairs = list(pairwise(values[:100]))
    same = sum(pair == (values[99], values[100]) for pair in pairs) + 0.5
    all_from = sum(pair[0] == values[99] for pair in pairs) + 1.0
    assert scores[100] == pytest.approx(math.log(same / all_from))
    assert "the last value again" not in baselines(encode([k % 7 for k in range(99)]))
