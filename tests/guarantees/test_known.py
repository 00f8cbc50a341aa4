"""The best bound that is known."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.guarantees import (
    _known,
    best_known,
    certify,
    proof_of,
    prove,
    register_proof,
    theorem_1,
)
from normalhedge.guarantees.check_proof import NotProved
from normalhedge.research.games import BreakAway, Greedy
from tests import adversaries


def test_best_known() -> None:
    assert best_known(1e-3, 1000, 4.0).regret < theorem_1(1e-4, 1000, 4.0).regret / 2
    assert best_known(1e-3, 1, 1.0).regret == 0.0
    for n in (7, 1000):
        bound = best_known(1e-3, n, 1.0)
        assert 1.65 < bound.potential < 1.6515
        expected = math.sqrt(2 * math.log(n * (bound.potential - 1) + 1) / 1e-3)
        assert bound.regret == pytest.approx(expected)
    assert best_known(1e-3, 1000, 1.0, 0.5).regret < best_known(1e-3, 1000, 1.0).regret
    assert best_known(1.7e-3, 10**6, 1.0)
    assert best_known(1e-9, 10**12, 4.0)
    assert not best_known(1e-3, 10**13, 1.0)
    assert best_known(1e-3, 10**6, 1.0)
    assert not best_known(1e-3, 10**6 + 1, 1.0)
    assert best_known(0.1, 10**6, 4.0).regret == 20.0  # no regret reaches 2/alpha
    assert best_known(0.3, 1000, 3.0).source == theorem_1(0.3, 1000, 3.0).source
    found = best_known(0.03, 20, 3.0, numerical=True)
    assert found.source.startswith("certificate, numerical")
    exact = certify(0.03, 20, 3.0).potential
    assert exact < found.potential < exact + 0.011 * (exact - 1.0)
    assert not best_known(1e-3, 20, 0.5, numerical=True)
    assert not best_known(0.9, 20, 1e-3, numerical=True)


def test_a_proof_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_known, "_REGISTERED", {})
    settings = (0.3, 5, 3.3)
    assert not best_known(*settings)
    assert proof_of(*settings) is None
    proof = prove(certify(*settings, tolerance=1e-3), slack=5e-2)
    path = tmp_path / "mine.json"
    proof.write(path)
    claim = register_proof(path)
    assert claim == proof_of(*settings)
    bound = NormalHedge(0.3, 3.3).bound(5)
    assert (bound.potential, bound.mark) == (proof.potential, "proved")
    assert best_known(0.3, 3, 3.3).potential == proof.potential
    assert not best_known(0.3, 6, 3.3)
    register_proof(path)
    assert len(_known._REGISTERED) == 1
    content = json.loads(path.read_text())
    content["claim"]["potential"] = "1.0001"
    false = tmp_path / "false.json"
    false.write_text(json.dumps(content))
    with pytest.raises(NotProved):
        register_proof(false)
    assert len(_known._REGISTERED) == 1


def test_marks() -> None:
    assert best_known(1e-3, 1000, 1.0).mark == "proved"
    assert best_known(0.03, 20, 3.0, numerical=True).mark == "numerical"
    assert best_known(0.03, 20, 3.0).mark == ""


@pytest.mark.parametrize(("alpha", "n", "c"), [(0.01, 10, 1.0), (0.01, 1000, 1.0), (0.05, 10, 4.0)])
def test_games_stay_below_what_is_proved(alpha: float, n: int, c: float) -> None:
    hedger = NormalHedge(alpha, c=c)
    bound = best_known(alpha, n, c)
    rng = np.random.default_rng(0)
    natures = [(BreakAway(n, alpha), 1600 if alpha == 0.01 else 320)]
    if n <= 10:
        natures.append((Greedy(n, hedger), 600))  # type: ignore[arg-type]
    for nature, rounds in natures:
        run = hedger.run(np.concatenate(list(nature.gains(rounds, rng))))
        assert math.exp(run.log_potential.max()) <= bound.potential
        assert run.best_regret.max() <= bound.regret
        assert run.state.quantile_regret(0.3) <= best_known(alpha, n, c, 0.3).regret


@pytest.mark.parametrize("kind", adversaries.KINDS)
def test_confidences_stay_below_what_is_proved(kind: str) -> None:
    hedger = NormalHedge(0.01, c=1.0)
    rng = np.random.default_rng(1)
    for state in adversaries.states(hedger, kind, 10, 1000, rng):
        assert hedger.average_potential(state) <= best_known(0.01, 10, 1.0).potential


@pytest.mark.parametrize(
    ("alpha", "n", "c"),
    [(0.9064179956332488, 10, 0.20359987035198246), (0.9479, 10, 0.3899), (0.3, 1000, 0.6)],
)
def test_what_a_quick_certificate_has_to_spare(alpha: float, n: int, c: float) -> None:
    bound = best_known(alpha, n, c, numerical=True)
    assert bound.numerical
    exact = certify(alpha, n, c, tolerance=1e-4)
    assert bound.potential >= exact.potential


def test_limits_are_rounded_up_and_numbers_of_experts_too() -> None:
    assert str(best_known(0.001, 100, 1e6, numerical=True)).endswith("<= 1.0001)")
    assert best_known(0.1, 1000, 4.0).source.startswith("no regret reaches 2/alpha; proof")
    assert best_known(1e-3, 10**15 + 1, 3.0, numerical=True)
    with pytest.raises(ValueError, match="n_experts must be at most 1e100"):
        best_known(1e-3, 10**400, 1.0)
