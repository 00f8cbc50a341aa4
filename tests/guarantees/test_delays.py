"""Certificates and proofs for outcomes that come late."""

import copy
import itertools
import json
import math
from collections import deque
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.guarantees import (
    LADDER,
    best_known,
    blocks_potential,
    blocks_variance,
    certify,
    check_proof as check,
    default_c,
    prove,
    shipped,
)
from normalhedge.guarantees._known import PROOFS
from normalhedge.guarantees.check_proof import NotProved, check_proof, sentence
from normalhedge.research.games import Blocks, play
from tests import family_oracles
from tests.family_oracles import LateNormalHedge

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


def test_a_certificate_keeps_lambda1_positive() -> None:
    """Without that the worst x' are others, and `prove` fails."""
    certificate = certify(0.05, 1000, 8.0, delay=1, tolerance=1e-3)
    assert min(row.beta for row in certificate.multipliers) > -1 / math.sqrt(0.05)
    assert check_proof(prove(certificate, slack=0.01).to_dict()).delay == 1
    with pytest.raises(ValueError, match="no bound"):
        certify(0.05, 1000, 44.0, delay=10)


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
        {"alpha": "0.005"},
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


def potentials(late: LateNormalHedge, nature: Any, rounds: int) -> Iterator[float]:
    for t in range(rounds):
        late.step(nature(late, t))
        yield late.potential()


def swinging(late: LateNormalHedge, t: int) -> np.ndarray:
    """Those with little weight win for as long as nobody can notice, then the others."""
    n = len(late.regrets)
    first = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    return first if t // (late.delay + 1) % 2 else -first


def against_the_weights(late: LateNormalHedge, _: int) -> np.ndarray:
    gains = np.full(len(late.regrets), -1.0)
    gains[np.argsort(late.play(), kind="stable")[: len(gains) // 2]] = 1.0
    return gains


@pytest.mark.parametrize("nature", [swinging, against_the_weights])
def test_late_games_stay_below_what_is_proved(nature: Any) -> None:
    for alpha, c, delay in ((0.01, 8.0, 1), (0.01, 24.0, 3), (0.001, 48.0, 10)):
        late = LateNormalHedge(alpha, c, 10, delay)
        bound = best_known(alpha, 10, c, delay=delay)
        highest = max(potentials(late, nature, int(8 / alpha)))
        assert 1.001 < highest <= bound.potential
        assert late.regrets.max() <= bound.regret


@pytest.mark.parametrize(
    ("delay", "block", "c"),
    [
        (0, 1, 1.0),
        (0, 5, 1.0),
        (1, 3, 2.0),
        (1, 6, 2.0),
        (2, 9, 4.0),
        (3, 8, 4.0),
        (5, 6, 3.0),
        (7, 6, 3.0),
        (10, 12, 2.0),
        (24, 7, 4.0),
    ],
)
@pytest.mark.parametrize("experts", [2, 6])
def test_blocks_come_to_the_potential_of_theorem_j(
    delay: int, block: int, c: float, experts: int
) -> None:
    """The difference is of order alpha."""
    limit, away = blocks_potential(delay, block, c), []
    for alpha in (1e-3, 1e-4):
        hedger = NormalHedge(alpha, c=c, delay=delay)
        trace = play([hedger], Blocks(experts, block), round(12 / alpha), every=1000)
        away.append(abs(math.exp(trace.highest_potential.max()) - limit))
    assert away[0] < 0.05 * limit
    assert away[1] < 0.15 * away[0] + 2e-5


def test_the_variance_of_blocks() -> None:
    for delay, block in itertools.product(range(30), range(1, 9)):
        wave = np.repeat([1.0, -1.0], block)
        lags = [wave @ np.roll(wave, lag) / len(wave) for lag in range(1, delay + 1)]
        assert blocks_variance(delay, block) == pytest.approx(1 + 2 * sum(lags))
        if delay <= block:
            exact = 1 + 2 * delay - 2 * delay * (delay + 1) / block
            assert blocks_variance(delay, block) == pytest.approx(exact)
    assert blocks_potential(1, 6, 2.0) == pytest.approx(2.0138, abs=1e-4)
    assert blocks_potential(0, 3, 1.0) == pytest.approx(math.exp(0.5))
    assert math.isinf(blocks_potential(3, 10**6, 3.49998))
    assert blocks_potential(3, 10**6, 3.6) > blocks_potential(3, 1000, 3.6) > 1e6


@pytest.mark.parametrize(
    ("delay", "block", "digits"), [(1, 5, 2.5), (2, 6, 9), (3, 7, 13), (10, 20, 22)]
)
def test_without_a_larger_c_late_outcomes_do_harm(delay: int, block: int, digits: float) -> None:
    """With c = 1 the potential explodes, the more the smaller alpha is: there is no bound."""
    assert math.isinf(blocks_potential(delay, block, 1.0))
    highest = []
    for alpha in (0.01, 0.002):
        hedger = NormalHedge(alpha, c=1.0, delay=delay)
        trace = play([hedger], Blocks(2, block), round(100 / alpha), every=1000)
        highest.append(trace.highest_potential.max() / math.log(10.0))
        assert not hedger.bound(2)
    assert highest[0] > digits
    assert highest[1] > 3 * highest[0]
    assert 10.0**digits > 10 * best_known(0.01, 2, 1.0).potential


def test_the_start_of_the_proof_of_theorem_j() -> None:
    """Without a discount, gains against the play raise R_1 + R_2 and keep R_1 - R_2 small."""
    for delay in (0, 1, 4):
        regrets, plays = np.zeros(2), deque([0.5] * (delay + 1))
        for _ in range(2000):
            played, before = plays.popleft(), regrets
            gain = 1.0 if played <= 0.5 else -1.0
            gains = np.array([gain, -gain])
            regrets = regrets + gains - gain * (2 * played - 1)
            assert regrets.sum() >= before.sum() - 1e-9
            assert abs(regrets[0] - regrets[1]) <= 2 * (delay + 1) + 1e-9
            plays.append(float(family_oracles.normal(np.maximum(regrets, 0.0))[0]))
        assert regrets.min() > 15


def test_bounds_with_a_delay() -> None:
    bound = best_known(1e-3, 1000, 16.0, delay=3)
    assert bound
    assert best_known(1e-3, 1000, 16.0, delay=2).regret == bound.regret  # less is covered
    assert not best_known(1e-3, 1000, 16.0, delay=4)
    assert "with a delay of 4" in str(best_known(1e-3, 1000, 16.0, delay=4))
    assert math.isinf(bound.computed_potential)


def test_the_default_c_has_proofs() -> None:
    assert [default_c(delay) for delay in range(7)] == [1.0, 8.0, 12.0, 16.0, 24.0, 24.0, 44.0]
    assert default_c(100) == 404.0
    for delay in range(1, LADDER[-1] + 1):
        assert default_c(delay) > 2 + 4 * delay
        for alpha in (0.01, 0.005, 0.002, 0.001):
            bound = NormalHedge(alpha, delay=delay).bound(1000)
            assert bound == best_known(alpha, 1000, default_c(delay), delay=delay)
            assert bound
            assert not bound.numerical
    assert "delay of 25" in str(NormalHedge(0.001, delay=25).bound(10))
    for wrong in (-1, 1.5, True, "2", None):
        with pytest.raises((TypeError, ValueError), match="delay must be"):
            default_c(wrong)  # type: ignore[arg-type]


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
