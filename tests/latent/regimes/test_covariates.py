"""Regimes that are regressions on covariates."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.latent.scores import agreement
from normalhedge.latent import Inferred, Live, Regimes, infer, resume
from normalhedge.latent.regimes import verdict
from normalhedge.latent.regimes._baselines import baselines
from normalhedge.latent.regimes._encoding import Encoding
from normalhedge.latent.regimes._tables import regime_table
from tests.latent.regimes.examples import answers, bits, switching

ROUNDS = 700


def drawn(rounds: int = ROUNDS, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return states, covariates of different sizes, and observations whose slopes switch."""
    state, rng = switching(rounds, seed, 0.012)
    x = np.column_stack([rng.normal(size=rounds), rng.normal(5000.0, 1000.0, rounds)])
    mean = np.where(state, 2.0, -1.0) * x[:, 0] + 1e-3 * x[:, 1]
    return state, x, mean + rng.normal(0.0, 0.5, rounds)


@pytest.fixture(scope="module")
def found() -> Inferred:
    _, x, y = drawn()
    return infer(y, given={"heat": x[:, 0], "load": x[:, 1]})


def test_slopes_that_switch_are_regimes(found: Inferred) -> None:
    state, _, _ = drawn()
    assert agreement(found.states[300:], state[300:]) > 0.95
    assert agreement(found.hindsight.path, state) > 0.98
    slopes = sorted(p.slopes.tolist() for p in found.hindsight.parameters.values())
    np.testing.assert_allclose(slopes, [[-1.0, 1e-3], [2.0, 1e-3]], rtol=0.15)
    deviations = [p.deviation for p in found.hindsight.parameters.values()]
    np.testing.assert_allclose(deviations, 0.5, rtol=0.15)
    assert found.evidence.kind == "regimes"
    assert found.coverage(0.9) == pytest.approx(0.9, abs=0.06)
    assert "slope of heat" in verdict(found).sentence
    assert regime_table(found)[0][3:5] == ["slope of heat", "slope of load"]
    columns = found.columns(hindsight=True)
    assert len(columns["heat"]) == len(columns["mean"]) == len(columns["smoothed 1"]) == ROUNDS


def test_plain_models_predict_worse(found: Inferred) -> None:
    rivals = baselines(found.sequence)
    known = ~np.isnan(np.array(list(rivals.values()))).any(axis=0)
    best = rivals["EM, 2 states, refitted"][known].mean()
    assert found.path.log_scores[known].mean() > best - 0.05
    _, _, y = drawn()
    assert infer(y).path.log_scores[known].mean() < best - 0.5


def test_the_score_of_a_round_is_its_predicted_density() -> None:
    _, x, y = drawn(300)
    path, regimes = Regimes().run(y, given=x), Regimes()
    for t in range(300):
        ahead = regimes.predict(x[t]) if t else None
        if ahead is not None and ahead.parts:
            assert ahead.log_density(y[t]) == pytest.approx(path.log_scores[t], rel=1e-9)
            assert ahead.mean == pytest.approx(path.means[t], rel=1e-9)
            assert ahead.variance == pytest.approx(path.variances[t], rel=1e-9)
        regimes.observe(y[t], given=x[t])
    assert path.log_scores[4:].size == np.isfinite(path.log_scores[4:]).sum()
    first = regimes.forecast(2, given=x[:2])
    assert first[0].mean == pytest.approx(regimes.predict(x[0]).mean, rel=1e-12)


def test_units_of_covariates_do_not_matter() -> None:
    _, x, y = drawn(400)
    one, other = infer(y, given=x), infer(y, given=x * [100.0, 1e-3] - [3.0, 7.0])
    scores = one.path.log_scores[100:] - other.path.log_scores[100:]
    assert abs(scores.mean()) < 1e-3
    np.testing.assert_allclose(one.probabilities[-50:], other.probabilities[-50:], atol=0.02)


def test_one_by_one_in_a_file_and_together_are_the_same(tmp_path: Path) -> None:
    _, x, y = drawn(330)
    y[40:44], x[90, 1] = np.nan, np.nan
    together, single = Regimes(), Regimes()
    together.run(y, given=x)
    for t in range(330):
        if t == 307:  # between a review and the end of its fits
            single.save(tmp_path / "s.json")
            single = Regimes.load(tmp_path / "s.json")
        single.observe(None if np.isnan(y[t]) else y[t], given=x[t])
    ahead = {"given": np.ones((3, 2))}
    assert bits(single, **ahead) == bits(together, **ahead)


def test_gaps_in_observations_and_covariates() -> None:
    _, x, y = drawn(400)
    gone = y.copy()
    gone[100:110], x[200, 0] = np.nan, np.nan
    found = infer(gone, given=x)
    assert np.isnan(found.path.log_scores[[*range(100, 110), 200]]).all()
    known = np.isfinite(found.path.means)
    assert known[100:110].all()  # covariates alone predict
    assert np.abs(found.path.means[100:110] - y[100:110]).mean() < 2.0
    assert not known[200]
    assert not found.sequence.known[200]


def test_covariates_by_name_and_later() -> None:
    _, x, y = drawn(300)
    frame = pd.DataFrame(x, columns=["a", "b"])
    first = infer(pd.Series(y[:250]), given=frame[:250])
    swapped = {"b": x[250:, 1], "a": x[250:, 0]}
    whole = resume(first, y[250:], given=swapped)
    plain = resume(first, y[250:], given=x[250:])
    np.testing.assert_array_equal(whole.path.means, plain.path.means)
    assert whole.hindsight.probabilities.shape[0] == 50
    ahead = first.forecast(2, given={"b": x[:2, 1], "a": x[:2, 0]})
    np.testing.assert_array_equal(ahead.means, first.forecast(2, given=x[:2]).means)
    single = infer(y, given=pd.Series(x[:, 0], name="heat"))
    assert single.sequence.encoding.given == ("heat",)


def bad_inputs(found: Inferred) -> list[tuple[Callable[[], Any], str]]:
    """Return calls that must be refused, and words of the reason."""
    _, x, y = drawn(60)
    live = found.live.regimes
    return [
        (lambda: infer(y, given=x[:5]), "given must have a row for each of 60 rounds, got 5"),
        (lambda: infer(y, given=np.ones((60, 21))), "1 to 20 columns, got 21"),
        (lambda: infer(y, given=["a"] * 60), "in column given, values must be numbers"),
        (lambda: infer(y, given=x * np.inf), "within ±1e100"),
        (lambda: infer(y, given=x, kind="counts"), "given needs a column of real numbers"),
        (lambda: infer(np.column_stack([y, y]), given=x), "given needs a single column"),
        (lambda: resume(found, y), "the covariates heat, load came before"),
        (lambda: resume(found, y, given=x[:, 0]), "the covariates heat, load, got given"),
        (lambda: resume(infer(y), y, given=x), "these have none"),
        (lambda: found.forecast(2), "given is needed"),
        (lambda: found.forecast(2, given=x[:3]), "for each of 2 rounds, got 3"),
        (lambda: found.forecast(2, given=x[:2] * np.nan), "no NaN"),
        (lambda: live.observe(1.0), "given is needed: these regimes are regressions"),
        (lambda: live.observe(1.0, given=[1.0]), "given must have 2 covariates"),
        (live.predict, "given is needed"),
        (lambda: live.predict([1.0, np.inf]), "given must be finite numbers"),
        (lambda: infer(y).live.regimes.observe(1.0, given=[1.0]), "these have none"),
        (lambda: infer(y).forecast(1, given=[1.0]), "these have none"),
    ]


@pytest.mark.parametrize("case", range(18))
def test_bad_covariates_are_refused_in_a_sentence(case: int, found: Inferred) -> None:
    before = found.live.regimes._state
    call, words = bad_inputs(found)[case]
    with pytest.raises(ValueError, match=words):
        call()
    assert found.live.regimes._state is before


def test_a_stream_answers_covariates() -> None:
    _, x, y = drawn(120)
    live = Live(Regimes("regression"), Encoding("numbers", given=("a", "b")))
    lines: list[str] = []
    for t in range(119):
        given = f'{{"a": {x[t, 0]}, "b": {x[t, 1]}}}' if t % 2 else f"[{x[t, 0]}, {x[t, 1]}]"
        lines.append(f'{{"y": {y[t]}, "given": {given}, "next": {x[t + 1].tolist()}}}')
    plain = Regimes()
    plain.run(y[:119], given=x[:119])
    said = answers(live, *lines, "1.0", '{"y": 1, "given": [1]}', '{"y": null, "given": [1, null]}')
    assert said[118]["next"]["mean"] == plain.predict(x[119]).mean
    assert said[119]["error"] == said[120]["error"] == "given must hold the covariates a, b"
    assert said[121]["next"] is None
    assert said[121]["round"] == 120
    refused = answers(Live(Regimes(), Encoding("numbers")), '{"y": 1, "given": [1]}')[0]
    assert "a line is an observation" in refused["error"]
