"""Certificates and proofs whose multipliers know the leader."""

import copy
import json
import math
import re
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.guarantees import (
    best_known,
    certify,
    certify_led,
    check_proof as check,
    held_potential,
    prove,
    shipped,
)
from normalhedge.guarantees._certificate import NoCertificate
from normalhedge.guarantees._known import PROOFS
from normalhedge.guarantees._led import LedCertificate
from normalhedge.guarantees.check_proof import NotProved, check_proof, sentence
from normalhedge.research.games.attacks import hold
from normalhedge.research.games.attacks._hold import _Holding, _play
from tests.guarantees.outward import Interval, remainder

CLAIMS = [claim for claim in shipped() if claim.bend is not None]
FILES = [claim.file for claim in CLAIMS]
TEN, MILLION = "c0.7-alpha1e-3-n10-led.json", "c0.6-alpha1e-3-n1000000-led.json"
SMALL_RATES = "c0.6-alpha0-to-1e-5-n1000000-led.json"


def content(file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PROOFS / file).read_text())
    return found


def lifted(x: np.ndarray, alpha: float, c: float, bend: float) -> np.ndarray:
    """W(x)."""
    square = np.maximum(x, 0.0) ** 2
    values: np.ndarray = np.exp(square / (2 * c)) * (1 + alpha * bend * square)
    return values


@pytest.mark.parametrize("file", FILES)
def test_proofs_hold(file: str) -> None:
    assert check_proof(PROOFS / file).bend is not None


@pytest.mark.parametrize(
    ("alpha", "n", "c"),
    [
        (0.05, 20, 0.8),
        pytest.param(0.01, 1000, 0.65, marks=pytest.mark.slow),
        pytest.param(0.003, 10**6, 0.7, marks=pytest.mark.slow),
    ],
)
def test_a_certificate_lies_between_attack_and_one_round(alpha: float, n: int, c: float) -> None:
    led = certify_led(alpha, n, c, tolerance=0.02)
    reached = hold(alpha, n, c).potential
    assert reached * 0.999 < led.potential < certify(alpha, n, c, tolerance=1e-3).potential * 0.999
    assert led.potential - 1 < 1.35 * (reached - 1)
    assert led.bend > 0
    assert led.scaled_regret > hold(alpha, n, c, "regret").regret


@pytest.mark.parametrize(
    ("c", "n", "limit"),
    [
        (0.55, 1000, 270.95),
        (0.6, 1000, 13.265),
        (0.6, 10**6, 35.006),
        (0.6, 10**9, 109.38),
        (0.65, 10**6, 7.956),
        (0.7, 10**6, 3.8046),
    ],
)
def test_as_the_rate_falls_the_certificate_meets_the_attack(c: float, n: int, limit: float) -> None:
    """One expert held against all others, in the limit: exact, by the equations of Theorem C."""
    assert held_potential(n, c) == pytest.approx(limit, rel=1e-4)
    program = LedCertificate(0.0, 1e-10, n, c, limit, 0.0).program
    assert program(1.01 * limit).worst()[0] > 0 > program(0.99 * limit).worst()[0]


def test_one_expert_that_is_held_comes_to_rest() -> None:
    """The play at small rates tends to the limit: the error falls with the rate."""
    limit = held_potential(10**6, 0.6)
    reached = [
        max(math.exp(_play(_Holding(1, q), alpha, 10**6, 0.6)[1]) for q in (0.34, 0.345, 0.35))
        for alpha in (1e-3, 1e-4, 2e-5)
    ]
    assert reached == sorted(reached)
    assert 0.995 < reached[-1] / limit < 1.0
    for arguments in ((1, 0.6), (10, 0.5), (10, 2.0)):
        with pytest.raises(ValueError, match="must be"):
            held_potential(*arguments)


def test_multipliers_fulfil_the_two_inequalities() -> None:
    """As they stand on the page, for any x, any gain and any confidence."""
    found = LedCertificate(0.01, 0.01, 50, 0.7, 3.5, 0.5)
    alpha, c, n, level = found.alpha, found.c, found.n_experts, found.potential * 1.05
    program, rng = found.program(level), np.random.default_rng(0)
    leaders, gains = rng.uniform(0.3, 1, 40) * program.x_max, rng.uniform(-0.99, 0.99, 40)
    pairs = (np.stack([values, values], axis=1) for values in (leaders, gains))
    solution = program.solve(*pairs)
    for top, m, a, beta, low, margin in zip(leaders, gains, *solution, strict=True):
        assert margin > 0
        x = np.concatenate([np.linspace(-1, top, 300), [top]])
        own = np.arange(301) == 300
        r = rng.uniform(0, 1, 301) ** rng.integers(0, 2, 301) * (rng.choice([-1, 1], 301) - m)
        left = lifted((1 - alpha) * x + math.sqrt(alpha) * r, alpha, c, found.bend)
        left -= lifted(x, alpha, c, found.bend)
        slope = np.maximum(x, 0) / c * np.exp(np.maximum(x, 0) ** 2 / (2 * c))
        share = np.where(own, n * a * level - (n - 1) * low, low)
        right = alpha * (share - a * lifted(x, alpha, c, found.bend))
        right += math.sqrt(alpha) * (1 + math.sqrt(alpha) * beta) * slope * r
        assert (left <= right + 1e-9 * (1 + np.abs(right))).all()


def test_the_induction_of_a_proof_in_games() -> None:
    """In each round the sum of W grows by no more than the row of its leader and gain allows."""
    proof = content(TEN)
    claim, rows = proof["claim"], np.array(proof["intervals"], dtype=float)
    alpha, c, bend, level = (float(claim[k]) for k in ("alpha", "c", "bend", "potential"))
    hedger, rng, n = NormalHedge(alpha=alpha, c=c), np.random.default_rng(0), 10
    checked = 0
    for nature in range(3):
        state = hedger.init(n)
        for t in range(3000):
            gains = np.where(np.arange(n) < (1, 5, n)[nature], 1.0, -1.0)
            held = state.weights[gains > 0].sum() > 0.4
            gains = rng.choice([-1.0, 1.0], n) if nature == 2 else -gains if held else gains
            x = math.sqrt(alpha) * state.regrets
            m, top = float(np.clip(state.weights @ gains, -1, 1)), max(float(x.max()), 0.0)
            fits = (rows[:, 4] <= top) & (top <= rows[:, 5]) & (rows[:, 0] <= m) & (m <= rows[:, 1])
            a = rows[fits][0, 2]
            before = lifted(x, alpha, c, bend).sum()
            state = hedger.step(state, gains)
            after = lifted(math.sqrt(alpha) * state.regrets, alpha, c, bend).sum()
            assert after - before <= alpha * a * (n * level - before) + 1e-9
            checked += t > 100
    assert checked > 8000


@pytest.mark.parametrize("file", FILES)
def test_the_inequality_in_sixty_digits(file: str) -> None:
    proof, rng = content(file), np.random.default_rng(0)
    claim = proof["claim"]
    n = claim["n_experts"]
    with localcontext() as context:
        context.prec = 60
        c, level, bend = (Decimal(claim[k]) for k in ("c", "potential", "bend"))
        slowest, fastest = Decimal(claim["alpha_from"]), Decimal(claim["alpha"])

        def weighed(x: Decimal, alpha: Decimal) -> Decimal:
            return (x * x / (2 * c)).exp() * (1 + alpha * bend * x * x)

        for _ in range(300):
            alpha = slowest + (fastest - slowest) * Decimal(rng.choice([1e-9, 1.0, rng.uniform()]))
            h = alpha.sqrt()
            row = proof["intervals"][rng.integers(len(proof["intervals"]))]
            start, end, a, beta, first, last, low = map(Decimal, row)
            m = start + (end - start) * Decimal(rng.uniform())
            r = Decimal(int(rng.choice([-1, 1]))) - m
            own = rng.uniform() < 0.5
            x = last * Decimal(float(rng.choice([0.0, 1.0, rng.uniform(), rng.uniform() ** 3])))
            if own:
                x, low = (
                    first + (last - first) * Decimal(rng.uniform()),
                    n * a * level - (n - 1) * low,
                )
            y = max((1 - alpha) * x + h * r, Decimal(0))
            right = alpha * (low - a * weighed(x, alpha))
            right += h * (1 + h * beta) * x / c * (x * x / (2 * c)).exp() * r
            assert weighed(y, alpha) - weighed(x, alpha) <= right


@pytest.mark.parametrize("file", [TEN, MILLION])
def test_the_inequality_by_a_second_method(file: str) -> None:
    """Intervals of doubles, rounded outwards, without derivatives; some rows of the whole."""
    claim, rows = check._parse(content(file))
    alpha, c, bend, n = claim.alpha, claim.c, claim.bend, claim.n_experts
    assert bend is not None
    assert n is not None
    h = Interval(*(math.sqrt(alpha) * (1 + sign * 1e-15) for sign in (-1, 1)))

    def gap(x: Interval, low: Fraction, row: check.Row, r: Fraction) -> Interval:
        """G, with what cancels in the first order taken out."""
        square = x.square()
        s = (r * r - 2 * r * h * x - (2 - alpha) * square) * (1 / (2 * c))
        t = x * (r / c) + h * s
        y = (1 - alpha) * x + h * r
        risen = (y - x) * (y + x)
        grown = (s + t.square() * remainder(h * t, 2)) * (1 + alpha * bend * y.square())
        grown = grown + h * x * (r / c) * bend * y.square() + bend * risen
        level = (-square * (1 / (2 * c))).exp() * low
        return level - row.a * (1 + alpha * bend * square) + x * (row.beta * r / c) - grown

    rng = np.random.default_rng(0)
    for row in [rows[k] for k in rng.choice(len(rows), 4, replace=False)]:
        top = n * row.a * claim.potential - (n - 1) * row.level
        for r in (1 - row.start, -1 - row.end):
            for low, first in ((row.level, Fraction(0)), (top, row.first)):
                ends = np.linspace(float(first) * (1 - 1e-15), float(row.last) * (1 + 1e-15), 4097)
                assert is_positive(partial(gap, low=low, row=row, r=r), ends)


def is_positive(gap: Callable[[Interval], Interval], ends: np.ndarray) -> bool:
    """Whether a gap is positive between the first and the last of some numbers."""
    left, right = ends[:-1], ends[1:]
    for _ in range(25):
        unclear = ~(gap(Interval(left, right)).low >= 0)
        left, right = left[unclear], right[unclear]
        if not left.size:
            return True
        middle = (left + right) / 2
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    return False


FORGED: dict[str, list[Any]] = {
    "potential": ["3.4", "3.49", "1", "0.5", "inf", 3.6],
    "alpha": ["0.002", "5e-4", "1", "0"],
    "bend": ["-0.1", "0", "5", "x", None, 1],
    "c": ["0.69", "0.68", "0.5", "0"],
    "n_experts": [1000, 10**6, "10", 0],
    "delay": [1],
    "reach": ["0.1"],
    "alpha_from": ["0", "1e-4", "0.002", None],
}
ROWS = [
    *(((k, column), value) for k in (3, 20, -5) for column in (2, 3, 6) for value in ("-9", "99")),
    ((5, 0), "-0.99"),
    ((5, 4), "0.123"),
    ((5, 5), "0.123"),
    ((-1, 5), "0.5"),
]


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in FORGED.items() for value in values]
)
def test_forged_claims_are_refused(name: str, value: Any) -> None:
    proof = content(TEN)
    proof["claim"][name] = value
    with pytest.raises(NotProved, match=r"\w+ \w+"):
        check_proof(proof)


@pytest.mark.parametrize(("place", "value"), ROWS)
def test_forged_rows_are_refused(place: tuple[int, int], value: str) -> None:
    proof = copy.deepcopy(content(TEN))
    proof["intervals"][place[0]][place[1]] = value
    with pytest.raises(NotProved, match=r"\w+ \w+"):
        check_proof(proof)


def test_rows_that_are_missing_are_refused() -> None:
    for change in (slice(1, None), slice(None, -1), slice(0, None, 2)):
        proof = content(TEN)
        proof["intervals"] = proof["intervals"][change]
        with pytest.raises(NotProved):
            check_proof(proof)
    proof = content(TEN)
    last = max(float(row[5]) for row in proof["intervals"])
    proof["intervals"] = [row for row in proof["intervals"] if float(row[5]) < last]
    with pytest.raises(NotProved, match="below x_max"):
        check_proof(proof)
    proof["intervals"] = [row[:4] for row in proof["intervals"]]
    with pytest.raises(NotProved, match="a list of 7 decimals"):
        check_proof(proof)


@pytest.mark.parametrize("file", [MILLION, SMALL_RATES])
def test_the_checker_encloses_the_inequality_itself(file: str) -> None:
    """Its G from the inequality as it stands, in many digits, in the middle and at corners."""
    claim, rows = check._parse(content(file))
    assert claim.bend is not None
    rng = np.random.default_rng(0)
    with flint.ctx.workprec(500):
        c, bend = (check._ball(v) for v in (claim.c, claim.bend))
        for _ in range(60):
            row = rows[rng.integers(len(rows))]
            r = 1 - row.start if rng.random() < 0.5 else -1 - row.end
            left = int(rng.uniform(0, 4.5) * 2**40)
            low = int(rng.uniform(1e-6, 0.05) * 2**40)
            box = check.Box(left, left + 2**34, low, low + 2**30)
            middle, *along = check._LedGap(claim, row, r, row.level).enclose(box)
            for i, j in ((0, 0), (2, 0), (0, 2), (1, 1), (2, 2)):
                x = flint.arb(box.left * 2 + i * (box.right - box.left)) / 2**41
                h = flint.arb(box.low * 2 + j * (box.high - box.low)) / 2**41
                alpha = h * h
                y = (1 - alpha) * x + h * check._ball(r)
                weighed = [(v * v / (2 * c)).exp() * (1 + alpha * bend * v * v) for v in (x, y)]
                phi = (x * x / (2 * c)).exp()
                right = alpha * (check._ball(row.level) - check._ball(row.a) * weighed[0])
                right += h * (1 + h * check._ball(row.beta)) * x / c * phi * check._ball(r)
                exact = (right - (weighed[1] - weighed[0])) / (alpha * phi)
                assert (middle + along[0] + along[1]).overlaps(exact)
                assert (i, j) != (1, 1) or middle.overlaps(exact)


def test_a_proof_is_made() -> None:
    proof = prove(LedCertificate(0.05, 0.05, 3, 0.9, 2.0, 0.4), slack=0.2)
    claim = check_proof(proof.to_dict())
    assert proof.file_name == "c0.9-alpha0.05-n3-led.json"
    assert claim.alpha_from == claim.alpha == Fraction("0.05")
    assert "3 experts, those who have not joined counted with a regret of 0" in sentence(claim)


def test_what_has_no_certificate() -> None:
    with pytest.raises(NoCertificate, match="try a larger c"):
        certify_led(0.001, 10, 0.3)
    for arguments in ((0.0, 10, 0.7), (0.01, 0, 0.7), (0.01, 10, -1.0)):
        with pytest.raises(ValueError, match="must be"):
            certify_led(*arguments)


def test_bounds_use_them() -> None:
    """For fewer experts than the claim has, those who are missing have a potential of one."""
    claim = next(claim for claim in CLAIMS if claim.file == MILLION)
    assert best_known(1e-3, 10**6, 0.6).potential == float(claim.potential)
    assert claim.potential_of(10**5) == pytest.approx(1 + 10 * (float(claim.potential) - 1))
    bounds = [best_known(1e-3, n, 0.6).regret for n in (10, 500, 1000, 10**5, 10**6)]
    assert bounds == sorted(bounds)
    assert bounds[-1] == pytest.approx(
        math.sqrt(1.2 * math.log(1 + 10**6 * (float(claim.potential) - 1)) / 1e-3)
    )
    assert not best_known(0.9e-3, 10**6, 0.6)
    assert best_known(3e-7, 10**6, 0.6).potential < 1.06 * held_potential(10**6, 0.6)
    assert math.isfinite(best_known(1e-3, 10**5, 0.6).computed_potential)  # of another proof


def test_the_limits_on_the_page_come_out_again() -> None:
    """The last two columns of Section 10: the potential of attacks, and the certified potential."""
    text = (Path(__file__).parents[2] / "docs" / "certificates.md").read_text("utf-8")
    lines = [line for line in text.splitlines() if re.match(r"\| 0\.[67] \| 1[0,^6]* \|", line)]
    assert len(lines) == sum(claim.alpha_from == claim.alpha for claim in CLAIMS)
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        c, n = float(cells[0]), {"10": 10, "1,000": 1000, "10^6": 10**6}[cells[1]]
        assert float(cells[4]) == best_known(1e-3, n, c).potential
        attack, certified = map(float, cells[6:])
        reached = max(held_potential(n, c), math.exp(1 / (4 * c - 2)))
        assert attack == pytest.approx(reached, rel=1e-4)
        program = LedCertificate(0.0, 1e-10, n, c, certified, 0.0).program
        low, high = (1 + (certified - 1) * (1 + part) for part in (-3e-4, 3e-4))
        assert program(low).worst()[0] < 0 <= program(high).worst()[0]


def with_a_longer_interval_of_leaders() -> dict[str, Any]:
    proof = content(TEN)
    rows = [row for row in proof["intervals"] if row[4] == "0"]
    proof["intervals"] = [[*row[:5], "3", row[6]] for row in rows]
    return proof


def with_a_smaller_potential() -> dict[str, Any]:
    proof = content(TEN)
    proof["claim"]["potential"] = "3.48"
    return proof


def with_more_than_one_over_alpha() -> dict[str, Any]:
    proof = content(TEN)
    row = proof["intervals"][0]
    assert row[2] == "1000"
    row[2], row[6] = "1001", str(Decimal(row[6]) * Decimal("1.001"))
    return proof


@pytest.mark.parametrize(
    ("forged", "where"),
    [
        (with_a_longer_interval_of_leaders, r"near x = 2\.8\d* of the others under 3,"),
        (with_a_smaller_potential, r"near x = 0\.9\d* of the leader under 1\.069"),
        (with_more_than_one_over_alpha, r"kappa is less than -1"),
    ],
)
def test_a_forged_proof_fails_where_it_is_wrong(
    forged: Callable[[], dict[str, Any]], where: str
) -> None:
    """All of an interval of leaders, and all below it, are looked at; not the ends alone."""
    with pytest.raises(NotProved, match=where):
        check_proof(forged())


def test_the_limits_do_not_always_meet() -> None:
    """A move that the program has to allow as alpha -> 0, above what a held expert reaches.

    The leader and a sixth of the others, at 0, gain; the rest, at x, loses. To first order nothing
    changes, to second order the sum of the potentials does not fall.
    """
    n, c, top, x, m, resting = 10**10, 0.8, 5.8057, 1.224881, -0.5186, 0.175
    up, down = 1 - m, -1 - m

    def terms(x: float, r: float) -> np.ndarray:
        """Phi, Phi' r, and the growth of Phi divided by alpha."""
        change = r * r / (2 * c) - x * x / c + (x * r / c) ** 2 / 2
        return math.exp(x * x / (2 * c)) * np.array([1.0, x / c * r, change])

    found = terms(top, up) / n + resting * terms(0.0, up) + (1 - resting) * terms(x, down)
    assert found[0] > 2.423 > 1.008 * max(held_potential(n, c), math.exp(1 / (4 * c - 2)))
    assert abs(found[1]) < 1e-6
    assert found[2] > 0
