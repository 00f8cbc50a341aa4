"""The verdict: regimes that return, breaks, a level that wanders, or nothing."""

from pathlib import Path

import numpy as np
import pytest

from normalhedge.boundary.inputs import Floats
from normalhedge.latent import Evidence, Regimes, infer
from normalhedge.latent.regimes import facts
from normalhedge.latent.regimes._regime_labels import KINDS


def found(series: Floats, kind: str = "numbers") -> Evidence:
    return infer(series.tolist(), kind=kind).evidence


def test_a_break_is_no_regime() -> None:
    rng = np.random.default_rng(0)
    series = np.concatenate([rng.normal(size=300), 2.0 + rng.normal(size=300)])
    evidence = found(series)
    assert evidence.kind == "breaks"
    assert len(evidence.breaks) == 1
    assert abs(evidence.breaks[0].round - 300) <= 3
    assert evidence.breaks[0].probability > 0.8
    assert evidence.sentence().startswith(f"a break at round {evidence.breaks[0].round} (within 3")
    days = [f"day {t}" for t in range(600)]
    assert f"a break at day {evidence.breaks[0].round} " in evidence.sentence(days)
    assert set(evidence.nats) == set(KINDS)
    assert evidence.nats["breaks"] > evidence.nats["regimes"] > evidence.nats["nothing"] == 0.0
    assert sum(evidence.weights.values()) == pytest.approx(1.0)


def test_regimes_that_return_are_regimes() -> None:
    rng = np.random.default_rng(1)
    truth = np.arange(1200) // 100 % 2
    evidence = found(rng.normal(0.0, np.where(truth, 2.5, 0.6)))
    assert evidence.kind == "regimes"
    assert evidence.sentence().startswith("regimes that return predict ")


def test_a_random_walk_wanders() -> None:
    rng = np.random.default_rng(2)
    evidence = found(np.cumsum(rng.normal(size=400)))
    assert evidence.kind == "wandering"
    assert evidence.sentence().startswith("a level that wanders predicts ")


@pytest.mark.parametrize("draw", ["normal", "standard_cauchy", "exponential", "uniform"])
def test_nothing_changes_whatever_the_distribution(draw: str) -> None:
    rng = np.random.default_rng(3)
    evidence = found(getattr(rng, draw)(size=800))
    assert evidence.kind == "nothing"
    assert evidence.sentence().startswith("nothing changes")


def test_counts_and_symbols_break_as_well() -> None:
    rng = np.random.default_rng(4)
    late = np.arange(600) >= 350
    for kind, series in (
        ("counts", rng.poisson(np.where(late, 7.0, 3.0)).astype(float)),
        ("symbols", (rng.random(600) < np.where(late, 0.8, 0.2)).astype(float)),
    ):
        evidence = found(series, kind)
        assert evidence.kind == "breaks"
        assert abs(evidence.breaks[-1].round - 350) <= 5


def test_the_verdict_is_among_the_facts_and_survives_a_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    series = np.concatenate([rng.normal(size=130), 5.0 + rng.normal(size=100)])
    regimes = Regimes()
    regimes.run(series[:171])
    regimes.save(tmp_path / "s.json")
    other = Regimes.load(tmp_path / "s.json")
    assert repr(other.evidence) == repr(regimes.evidence)
    for y in series[171:]:
        regimes.observe(y)
        other.observe(y)
    assert repr(other.evidence) == repr(regimes.evidence)
    assert regimes.evidence.breaks[-1].round == pytest.approx(130, abs=2)
    shown = dict(facts(infer(series.tolist())))
    assert shown["how the series changes"].startswith("a break at round 130 ")
    assert "breaks: +" in shown["nats over one unchanging state"]


def test_before_the_first_fit_there_is_no_evidence() -> None:
    evidence = Regimes().evidence
    assert evidence.kind == "nothing"
    assert not evidence.breaks
    assert not any(evidence.nats.values())
