"""Certificates and proofs for outcomes that come late."""

import copy
import json
import math
from collections import deque
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.certificates import best_known, certify, prove, shipped
from normalhedge.certificates import check_proof as check
from normalhedge.certificates.check_proof import NotProved, check_proof, sentence
from normalhedge.certificates.known import PROOFS

FILES = [claim.file for claim in shipped() if claim.delay]
ONE = "c8-alpha0.01-n1000000-delay1.json"


def content(file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PROOFS / file).read_text())
    return found


@pytest.mark.parametrize("file", FILES)
def test_proofs_hold(file: str) -> None:
    assert check_proof(PROOFS / file).delay


def test_a_certificate_grows_with_the_delay() -> None:
    found = [certify(0.01, 100, 12.0, delay=d, tolerance=1e-3).potential for d in (0, 1, 2)]
    assert found == sorted(found)
    assert found[0] == pytest.approx(certify(0.01, 100, 12.0, tolerance=1e-3).potential)
    assert found[2] > 1.1 * found[0]
    proof = prove(certify(0.02, 20, 9.0, delay=1, tolerance=1e-3), slack=0.01)
    claim = check_proof(proof.to_dict())
    assert (claim.delay, proof.file_name) == (1, "c9-alpha0.02-n20-delay1.json")
    assert "at most 1 outcomes between a prediction and its own" in sentence(claim)
    with pytest.raises(ValueError, match="leave alpha_from out"):
        certify(0.01, 100, 12.0, delay=1, alpha_from=0.001)
    with pytest.raises(ValueError, match="no bound"):
        certify(0.01, 100, 1.0, delay=5)


@pytest.mark.parametrize(
    "changes",
    [
        {"delay": 2},
        {"delay": 0},
        {"delay": "1"},
        {"delay": True},
        {"delay": 10**6},
        {"potential": "1.28"},
        {"alpha": "0.03"},
        {"c": "7.9"},
        {"n_experts": 10**12},
        {"alpha_from": "0"},
    ],
)
def test_forged_claims_are_refused(changes: dict[str, Any]) -> None:
    proof = content(ONE)
    proof["claim"].update(changes)
    with pytest.raises(NotProved, match=r"\w+ \w+"):
        check_proof(proof)


@pytest.mark.parametrize(
    ("column", "value"), [(2, "0"), (2, "-1"), (3, "-20"), (3, "20"), (3, "-9")]
)
def test_forged_rows_are_refused(column: int, value: str) -> None:
    for place in (0, 30, -1):
        proof = copy.deepcopy(content(ONE))
        proof["intervals"][place][column] = value
        with pytest.raises(NotProved):
            check_proof(proof)


@pytest.mark.parametrize("file", FILES)
def test_the_inequality_in_sixty_digits(file: str) -> None:
    """For any regrets x' from which x can be reached in so many rounds, or in fewer."""
    proof, rng = content(file), np.random.default_rng(0)
    claim = proof["claim"]
    with localcontext() as context:
        context.prec = 60
        c, level, alpha = (Decimal(claim[name]) for name in ("c", "potential", "alpha"))
        h = alpha.sqrt()
        x_max = (2 * c * (claim["n_experts"] * (level - 1) + 1).ln()).sqrt()
        for _ in range(200):
            x = x_max * Decimal(float(rng.choice([0.0, 1.0, rng.uniform() ** 3, rng.uniform()])))
            rounds = int(rng.integers(claim["delay"] + 1))
            start, end, a, beta = map(
                Decimal, proof["intervals"][rng.integers(len(proof["intervals"]))]
            )
            m = start + (end - start) * Decimal(rng.uniform())
            r = Decimal(int(rng.choice([-1, 1]))) - m
            before = x
            for _ in range(rounds):  # back in time, by moves of at most 2
                move = Decimal(float(rng.choice([-2.0, 2.0, rng.uniform(-2, 2)])))
                before = (before - h * move) / (1 - alpha)
            before = max(before, Decimal(0))
            y = max((1 - alpha) * x + h * r, Decimal(0))
            left = (y * y / (2 * c)).exp() - (x * x / (2 * c)).exp()
            right = alpha * a * (level - (x * x / (2 * c)).exp())
            right += h * (1 + h * beta) * before / c * (before * before / (2 * c)).exp() * r
            assert left <= right


class Late:
    """NormalHedge whose outcomes come late; in plain Python."""

    def __init__(self, alpha: float, c: float, n: int, delay: int) -> None:
        self.alpha, self.c, self.delay = alpha, c, delay
        self.regrets = np.zeros(n)
        self.waiting: deque[tuple[np.ndarray, np.ndarray]] = deque()

    def play(self) -> np.ndarray:
        ahead = np.maximum(self.regrets, 0.0)
        if not ahead.any():
            return np.full(len(ahead), 1 / len(ahead))
        square = self.alpha * ahead**2 / (2 * self.c)
        weights = ahead * np.exp(square - square.max())
        played: np.ndarray = weights / weights.sum()
        return played

    def step(self, gains: np.ndarray) -> float:
        self.waiting.append((self.play(), gains))
        if len(self.waiting) > self.delay:
            played, settled = self.waiting.popleft()
            self.regrets = (1 - self.alpha) * self.regrets + settled - played @ settled
        return float(np.exp(self.alpha * np.maximum(self.regrets, 0) ** 2 / (2 * self.c)).mean())


def test_the_model_of_late_outcomes_is_the_hedger_without_delay() -> None:
    hedger, late = NormalHedge(alpha=0.02, c=8.0), Late(0.02, 8.0, 5, 0)
    state, rng = hedger.init(5), np.random.default_rng(0)
    for gains in rng.uniform(-1, 1, (50, 5)):
        np.testing.assert_allclose(late.play(), state.weights, atol=1e-14)
        late.step(gains)
        state = hedger.step(state, gains)


def swinging(late: Late, t: int) -> np.ndarray:
    """Those with little weight win for as long as nobody can notice, then the others."""
    n = len(late.regrets)
    first = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    return first if t // (late.delay + 1) % 2 else -first


def against_the_weights(late: Late, _: int) -> np.ndarray:
    gains = np.full(len(late.regrets), -1.0)
    gains[np.argsort(late.play(), kind="stable")[: len(gains) // 2]] = 1.0
    return gains


@pytest.mark.parametrize("nature", [swinging, against_the_weights])
def test_late_games_stay_below_what_is_proved(nature: Any) -> None:
    for alpha, c, delay in ((0.01, 8.0, 1), (0.01, 24.0, 3), (0.001, 48.0, 10)):
        late = Late(alpha, c, 10, delay)
        bound = best_known(alpha, 10, c, delay=delay)
        highest = max(late.step(nature(late, t)) for t in range(int(8 / alpha)))
        assert 1.001 < highest <= bound.potential
        assert late.regrets.max() <= bound.regret


def test_without_a_larger_c_late_outcomes_do_harm() -> None:
    """The bound for outcomes at once is broken, so it cannot be used for late ones."""
    late = Late(0.01, 1.0, 10, 10)
    bound = best_known(0.01, 10, 1.0)
    highest = max(late.step(swinging(late, t)) for t in range(2000))
    assert highest > 1.3 * bound.potential
    assert not best_known(0.01, 10, 1.0, delay=10)


def test_bounds_with_a_delay() -> None:
    bound = best_known(1e-3, 1000, 16.0, delay=3)
    assert bound
    assert best_known(1e-3, 1000, 16.0, delay=2).regret == bound.regret  # less is covered
    assert not best_known(1e-3, 1000, 16.0, delay=4)
    assert "with a delay of 4" in str(best_known(1e-3, 1000, 16.0, delay=4))
    assert math.isinf(bound.computed_potential)


@pytest.mark.parametrize("file", [ONE, "c48-alpha1e-3-n1000000-delay10.json"])
def test_the_checker_encloses_the_inequality_itself(file: str) -> None:
    """Its G from the inequality as it stands, in many digits, at the middle and ends of boxes."""
    claim, rows = check._parse(content(file))
    rng = np.random.default_rng(0)
    with flint.ctx.workprec(500):
        alpha, c, level = (ball(value) for value in (claim.alpha, claim.c, claim.potential))
        h, kept = alpha.sqrt(), (1 - alpha) ** claim.delay
        for _ in range(40):
            row = rows[rng.integers(len(rows))]
            r = 1 - row.start if rng.random() < 0.5 else -1 - row.end
            left = int(rng.uniform(0.7, 9) * 2**40)  # beyond h Xi
            box = check.Box(left, left + 2**34, 0, 0)
            middle, along, _ = check._LateGap(claim, row, r).enclose(box)
            for place in (box.left, (box.left + box.right) // 2, box.right):
                x = ball(Fraction(place, 2**40))
                shift = h * 2 * (1 - kept) / alpha
                before = (x - shift if r > 0 else x + shift) / kept
                y = (1 - alpha) * x + h * ball(r)
                now, then = (x * x / (2 * c)).exp(), (y * y / (2 * c)).exp()
                slope = before / c * (before * before / (2 * c)).exp()
                gap = alpha * ball(row.a) * (level - now) - (then - now)
                gap += h * (1 + h * ball(row.beta)) * slope * ball(r)
                assert (middle + along).overlaps(gap / (alpha * now))
                assert place != (box.left + box.right) // 2 or middle.overlaps(gap / (alpha * now))


def ball(value: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))
