"""Certificates and proofs for every number of experts."""

import copy
import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest

from normalhedge import NormalHedge
from normalhedge.guarantees import (
    PAPER_POTENTIAL,
    best_known,
    certify,
    certify_every,
    certify_limit,
    check_proof as check,
    critical_reach,
    growth_exponent,
    prove,
    shipped,
    theorem_1,
)
from normalhedge.guarantees._known import PROOFS
from normalhedge.guarantees._program import growth
from normalhedge.guarantees.check_proof import NotProved, check_proof, sentence
from normalhedge.research.games.attacks import attack, break_away
from normalhedge.research.games.attacks._hold import _Holding, _play
from tests.guarantees.outward import Interval, remainder, shown
from tests.guarantees.test_check_proof import plain_gap

FILES = [claim.file for claim in shipped() if claim.reach is not None]
FOUR, TWO = "c4-alpha0-to-0.1-log0.23.json", "c2-alpha0-to-0.01-log-squared1.json"


PAGE = (Path(__file__).parents[2] / "docs" / "many-experts.md").read_text("utf-8")


def content(file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PROOFS / file).read_text())
    return found


def test_the_critical_reach() -> None:
    """At the root the worst r neither gains nor loses, and beyond it it gains."""
    for c in (2.1, 3.0, 4.0, 8.0, 50.0):
        z = math.sqrt(2 * c * critical_reach(c))
        for factor, sign in ((0.99, 1), (1.01, -1)):
            gap = [
                1 / c - (math.expm1(w) - w) / (z * factor) ** 2
                for r in np.linspace(-2, 2, 101)
                for w in [z * factor * (r - z * factor) / c]
            ]
            assert sign * min(gap) > 0
            assert gap[0] == min(gap)  # r = -2
    assert critical_reach(1.0) == critical_reach(2.0) == 0.0
    assert critical_reach(200.0) == pytest.approx(200.0 / 8.0, rel=1e-3)


def test_beyond_the_critical_reach_one_round_gains_more_than_any_potential() -> None:
    """Few experts at the edge of the strip lose, the others are near 1 and win: no B is enough."""
    c, gains = 4.0, []
    for h in (1e-4, 1e-5, 1e-6):
        x, eps = math.sqrt(2 * c * critical_reach(c)) * 1.05 / h, 0.02  # the hedger gets 1 - eps
        high, low = (
            growth(np.array([place]), np.array([h]), r, c)[0]
            for place, r in ((x, eps - 2.0), (1.0, eps))
        )
        # The sum of Phi' r is 0 if those at x have this much of the potential, the others 1.
        gains.append(low + high * eps / (x * (2 - eps)))
    assert gains[0] > 0
    assert gains[2] > 5 * gains[1] > 25 * gains[0]


@pytest.mark.parametrize("c", [2.5, 3.0, 4.0, 10.0])
def test_plain_multipliers_are_enough_at_small_rates(c: float) -> None:
    """Theorem I: beta = 0 and one A, any B above exp(1/(c-2)), up to nearly the critical reach."""
    a, level = 2 * (c - 2) / c, 1.01 * math.exp(1 / (c - 2))
    for h, share, holds in ((1e-4, 0.98, True), (1e-6, 0.98, True), (1e-6, 1.02, False)):
        edge = math.sqrt(2 * c * critical_reach(c)) * share / h
        x = np.concatenate([[0.0], np.geomspace(1e-3, edge, 5000)])
        pull = a * (level * np.exp(-x * x / (2 * c)) - 1)
        gap = [pull - growth(x, np.full(len(x), h), r, c) for r in np.linspace(-2, 2, 41)]
        assert (np.min(gap) > 0) == holds


def test_with_two_as_c_a_slope_is_enough_at_small_rates() -> None:
    """Theorem I (b): A = 1 and beta = -b for gains m >= 0, on the strip h x^2 <= Y."""
    limit, far = 4.0, 40.0
    slope = 1.01 * limit
    for h in (1e-4, 1e-6):
        x = np.geomspace(far, math.sqrt(limit / h), 5000)
        for m in np.linspace(0, 1, 41):
            for r in (1 - m, -1 - m):  # without A B u, which is positive
                gap = -1 - slope * x * r / 2 - growth(x, np.full(len(x), h), r, 2.0)
                assert (gap > 0).all()


@pytest.mark.parametrize(("c", "n"), [(0.3, 2), (0.5, 2), (0.45, 3), (0.5, 5)])
def test_up_to_one_half_alternation_has_no_limit(c: float, n: int) -> None:
    """Nor have two groups of different sizes that are held at equal weight."""
    found = [_play(_Holding(n // 2, 0.5), alpha, n, c)[1] for alpha in (0.1, 0.01, 0.001)]
    assert found[2] > found[1] + 12 > found[0] + 15
    above = [break_away(alpha, 2, 0.6, alternate=20.0).potential for alpha in (1e-2, 1e-3)]
    assert above[0] < above[1] < math.exp(1 / 0.4) < above[1] * 1.01


@pytest.mark.parametrize(("n", "c"), [(2, 1.9), (3, 1.9), (3, 0.6), (7, 1.0)])
def test_the_beginning_of_the_lower_bound(n: int, c: float) -> None:
    """Groups held at the weight they have as equals stay equal, and rise to where S is at rest."""
    alpha, group = 1e-4, n // 2
    q, h = group / n, 0.01
    regrets, highest = [0.0, 0.0], 0.0
    for _ in range(round(6 / alpha)):
        ahead = [max(x, 0.0) for x in regrets]
        weights = [
            k * x * math.exp(x * x / (2 * c)) for k, x in zip((q, 1 - q), ahead, strict=True)
        ]
        weight = weights[0] / sum(weights) if sum(weights) else q
        sign = 1.0 if weight < q else -1.0
        rises = 2 * sign * (1 - weight), -2 * sign * weight
        regrets = [(1 - alpha) * x + h * r for x, r in zip(regrets, rises, strict=True)]
        assert abs(regrets[0] - regrets[1]) <= 3 * h
        highest = max(highest, q * regrets[0] + (1 - q) * regrets[1])
    twice = 2 * q * (1 - q)
    assert highest == pytest.approx(math.sqrt(twice * c / (c - twice)), rel=0.03)
    assert highest > 0.6


def test_along_the_curve_of_the_lower_bound_all_regrets_rise() -> None:
    """X, x and x/X, at the rates of the page; the weight of expert 1 stays what it is."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        c, q, top = rng.uniform(0.51, 1.99), rng.uniform(0.05, 0.5), rng.uniform(0.2, 5)
        low, step = top * rng.uniform(0.05, 0.95), 1e-6
        slope_top, slope_low = (x / c + 1 / x for x in (top, low))
        speed = (1 - q) * slope_top + q * slope_low
        after = top + step * slope_low / speed, low + step * slope_top / speed
        ahead = [(a * a - b * b) / (2 * c) + math.log(a / b) for a, b in ((top, low), after)]
        assert ahead[1] == pytest.approx(ahead[0], abs=1e-9)
        assert q * after[0] + (1 - q) * after[1] == pytest.approx(q * top + (1 - q) * low + step)
        rise = math.log(after[1] / after[0]) - math.log(low / top)
        assert rise == pytest.approx(step * (top**2 - low**2) / (c * top * low * speed), rel=1e-3)


def test_a_certificate_for_every_number_is_above_those_for_some() -> None:
    every = certify_every(0.01, 0.2, 4.0, tolerance=1e-4)
    for alpha, n in ((0.01, 10**8), (0.001, 10**18)):
        assert alpha * math.log(n) <= 0.2
        one = certify(alpha, n, 4.0, tolerance=1e-4)
        assert one.potential <= every.potential + 1e-4
    assert every.largest_log_n(0.001) == pytest.approx(200.0)
    assert every.worst_gain == pytest.approx(-1.0)
    assert certify_every(0.01, 1.0, 2.0, power=2, tolerance=1e-3).largest_log_n(
        0.01
    ) == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.1, 0.24, 4.0), "reach must be less than 0.2338"),
        ((0.1, 0.1, 2.0), "try power=2"),
        ((0.1, 0.1, 1.0), "none for c < 2"),
        ((0.1, 90.0, 2.0, 2), "try a smaller reach"),
        ((0.1, 0.1, 4.0, 3), "power must be 1 or 2"),
        ((0.1, -1.0, 4.0), "reach must be"),
    ],
)
def test_what_does_not_hold_for_every_number(arguments: tuple[Any, ...], message: str) -> None:
    alpha, reach, c, *power = arguments
    with pytest.raises(ValueError, match=message):
        certify_every(alpha, reach, c, power=power[0] if power else 1, tolerance=1e-2)


def test_a_proof_is_made() -> None:
    proof = prove(certify_every(0.05, 0.1, 5.0, tolerance=1e-3), slack=0.01)
    claim = check_proof(proof.to_dict())
    assert (claim.n_experts, claim.reach, claim.power) == (None, Fraction("0.1"), 1)
    assert proof.file_name == "c5-alpha0-to-0.05-log0.1.json"
    assert "every number N of experts with alpha ln N <= 0.1" in sentence(claim)


@pytest.mark.parametrize("file", FILES)
def test_proofs_hold(file: str) -> None:
    assert check_proof(PROOFS / file).reach


CLAIMS: dict[str, list[Any]] = {
    "potential": ["1.17", "1.1", "1.0", "1.500001", "2.5", "0.9", "inf", 1.2],
    "alpha": ["0.15", "0.11", "1", "0", "-0.1"],
    "reach": ["0.234", "0.24", "0.3", "1", "0", "-0.23", "1e9", None, 0.23],
    "power": [0, 3, "1", 1.0, True, None],
    "c": ["3.9", "2", "1", "0"],
    "n_experts": [1000],
    "alpha_from": ["0"],
    "note": ["and for any c"],
}
ROWS: list[tuple[tuple[int, int], str]] = [
    *(((k, 3), value) for k in (0, 10, 20) for value in ("9", "-9", "0")),
    *(((k, 2), value) for k in (0, 10, 20) for value in ("-1", "0", "11")),
    ((3, 0), "-0.5"),
    ((20, 1), "0.99"),
]


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in CLAIMS.items() for value in values]
)
def test_forged_claims_are_refused(field: str, value: Any) -> None:
    proof = content(FOUR)
    proof["claim"][field] = value
    with pytest.raises(NotProved, match=r"\w+ \w+"):
        check_proof(proof)


@pytest.mark.parametrize(("place", "value"), ROWS)
def test_forged_rows_are_refused(place: tuple[int, int], value: str) -> None:
    proof = content(FOUR)
    assert len(proof["intervals"]) == 21
    proof["intervals"][place[0]][place[1]] = value
    with pytest.raises(NotProved, match=r"\w+ \w+"):
        check_proof(proof)


def test_the_squared_logarithm_is_not_the_logarithm() -> None:
    """Nor is a c below 2 allowed, and the power cannot be left out."""
    proof = content(TWO)
    for changes in ({"power": 1}, {"c": "1.99"}, {"reach": "5"}):
        forged = copy.deepcopy(proof)
        forged["claim"].update(changes)
        with pytest.raises(NotProved):
            check_proof(forged)
    del proof["claim"]["power"]
    with pytest.raises(NotProved, match="exactly the fields"):
        check_proof(proof)


@pytest.mark.parametrize("file", [FOUR, TWO])
def test_the_checker_encloses_the_inequality_far_out(file: str) -> None:
    """Its E from the inequality as it stands, in many digits; at corners of boxes, too."""
    claim, rows = check._parse(content(file))
    gap_class = check._FarGap if claim.power == 1 else check._FartherGap
    rng = np.random.default_rng(0)
    with flint.ctx.workprec(500):
        for _ in range(40):
            row = rows[rng.integers(len(rows))]
            r = 1 - row.start if rng.random() < 0.5 else -1 - row.end
            left, low = (int(rng.uniform(0.01, scale) * 2**40) for scale in (1.3, 0.08))
            box = check.Box(left, left + 2**34, low, low + 2**32)
            gap = gap_class(claim, row, r)
            middle, along_z, along_v = gap.enclose(box)
            whole = middle + along_z + along_v
            for i, j in ((0, 0), (2, 0), (0, 2), (1, 1), (2, 2)):
                z = (box.left + i * (box.right - box.left) / 2) / 2**40
                v = (box.low + j * (box.high - box.low) / 2) / 2**40
                exact = far_gap(claim, row, r, z, v)
                if claim.power == 2:  # its first term is taken at the largest v of the box
                    assert whole.lower() <= exact
                    first = (1 - r * r / (2 * claim.c)) / claim.c
                    lower = first * (1 / Fraction(v) - Fraction(2**40, box.high))
                    exact -= flint.arb(flint.fmpq(lower.numerator, lower.denominator))
                assert whole.overlaps(exact)
                assert (i, j) != (1, 1) or middle.overlaps(exact)


def far_gap(claim: check.ProofClaim, row: check.Row, r: Fraction, z: float, v: float) -> flint.arb:
    """Return E, or E / v, without ``A B u`` of the plain gap; z is h x or h x^2."""
    x, h = 1 / Fraction(v), Fraction(z) * Fraction(v) ** claim.power

    def ball(value: Fraction) -> flint.arb:
        return flint.arb(flint.fmpq(value.numerator, value.denominator))

    u = (-(ball(x) ** 2) / (2 * ball(claim.c))).exp()
    gap = plain_gap(claim, row, r, x, h) - ball(row.a * claim.potential) * u  # type: ignore[arg-type]
    return gap / ball(x) ** (2 if claim.power == 1 else 1)


@pytest.mark.parametrize("file", FILES)
def test_the_inequality_in_sixty_digits(file: str) -> None:
    """Rates from the largest to 1e-9, up to the regret that N allows there."""
    proof, rng = content(file), np.random.default_rng(0)
    claim = proof["claim"]
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, 10**17, -(10**17)
        c, level, reach = (Decimal(claim[name]) for name in ("c", "potential", "reach"))
        for _ in range(150):
            alpha = Decimal(claim["alpha"]) * Decimal(10) ** Decimal(-8 * rng.uniform() ** 2)
            log_n = (reach / alpha) ** (1 / Decimal(claim["power"]))
            x_max = (2 * c * log_n).sqrt()
            x = x_max * Decimal(float(rng.choice([1.0, rng.uniform() ** 2, rng.uniform()])))
            start, end, a, beta = map(
                Decimal, proof["intervals"][rng.integers(len(proof["intervals"]))]
            )
            m = start + (end - start) * Decimal(rng.uniform())
            r = Decimal(int(rng.choice([-1, 1]))) - m
            h = alpha.sqrt()
            y = (1 - alpha) * x + h * r
            left = ((max(y, Decimal(0)) ** 2 - x * x) / (2 * c)).exp() - 1
            u = (-x * x / (2 * c)).exp()
            right = alpha * a * (level * u - 1) + h * (1 + h * beta) * x * r / c
            assert left <= right


@pytest.mark.parametrize(
    "file", [FOUR, pytest.param("c3-alpha0-to-0.1-log0.08.json", marks=pytest.mark.slow)]
)
def test_the_inequality_by_other_intervals(file: str) -> None:
    """All of it again, in doubles that are rounded outwards, and without derivatives."""
    proof = content(file)
    claim = proof["claim"]
    c, level, reach = (Fraction(claim[name]) for name in ("c", "potential", "reach"))
    edge = math.sqrt(2 * c * reach) * (1 + 1e-12)
    root = math.sqrt(Fraction(claim["alpha"])) * (1 + 1e-12)
    middle = 6.1 * math.sqrt(c)
    for line in proof["intervals"]:
        start, end, a, beta = map(Fraction, line)
        for r in (1 - start, -1 - end):
            push, half = r / c, 1 / (2 * c)

            def near(x: Interval, h: Interval, r: Fraction = r, a: Fraction = a,
                     slope: Fraction = beta * push, push: Fraction = push,
                     half: Fraction = half) -> Interval:  # fmt: skip
                square = x.square()
                u = (-(half * square)).exp()
                s = half * (r * r - 2 * r * (h * x) - (2 - h.square()) * square)
                t = push * x + h * s
                return a * level * u - a + slope * x - s - t.square() * remainder(h * t, 2)

            def far(z: Interval, v: Interval, r: Fraction = r, a: Fraction = a,
                    slope: Fraction = beta * push, push: Fraction = push,
                    half: Fraction = half) -> Interval:  # fmt: skip
                sigma = half * (((r - z) * v).square() - 2)
                tau = push + z * sigma
                return slope * v - a * v.square() - sigma - tau.square() * remainder(z * tau, 2)

            inside = lambda x, h: x * h <= edge  # noqa: E731
            assert shown(near, ((0.0, middle), (0.0, root)), inside), (line, r)
            inside = lambda z, v: z * v <= root  # noqa: E731
            assert shown(far, ((0.0, edge), (0.0, 1 / (6 * math.sqrt(c)))), inside), (line, r)


def test_bounds_use_it() -> None:
    n = 10**90
    bound = best_known(1e-3, n, 4.0)
    assert bound.potential < 1.1537
    assert bound.regret == pytest.approx(math.sqrt(8 * math.log(n * (bound.potential - 1)) / 1e-3))
    assert not theorem_1(1e-3, n, 4.0)
    assert not best_known(1e-3, 10**100, 4.0)  # alpha ln N = 0.2303
    assert best_known(1e-3, 10**13, 2.0)
    assert not best_known(1e-3, 10**14, 2.0)  # alpha (ln N)^2 = 1.04
    for power, limit in ((1, 1 / 800), (2, 1 / 800)):
        alpha = limit / math.log(2.32 * 10**50) ** power
        ours, paper = best_known(alpha, 10**50, 4.0), theorem_1(alpha, 10**50, 4.0)
        assert ours.regret < paper.regret if paper else ours
    assert NormalHedge(alpha=0.001, c=4.0).bound(10**90) == bound


def test_attacks_with_very_many_experts_stay_below_it() -> None:
    for alpha, n in ((0.02, 10**4), (0.005, 10**19)):
        assert alpha * math.log(n) <= 0.23
        bound = best_known(alpha, n, 4.0)
        reached = attack(alpha, n, 4.0, goal="potential")
        assert 1.05 < reached.potential <= bound.potential


def test_the_functional_of_the_lower_bound_gains_exactly_what_the_weight_misses() -> None:
    """S = q X + (1-q) x grows by 2 h |q - q_t|, whoever wins; D = X - x moves by 2 h."""
    for n, alpha, c, q in ((2, 0.01, 0.7, 0.3), (30, 0.1, 3.0, 0.5), (1000, 0.001, 1.0, 0.16)):
        hedger, h = NormalHedge(alpha=alpha, c=c), math.sqrt(alpha)
        state = hedger.init(n)
        for _ in range(300):
            weight = float(state.weights[0])
            gains = np.full(n, -1.0 if weight < q else 1.0)
            gains[0] = -gains[1]
            before = h * state.regrets
            state = hedger.step(state, gains)
            after = h * state.regrets
            s, s_after = (q * x[0] + (1 - q) * x[1] for x in (before, after))
            assert s_after == pytest.approx((1 - alpha) * s + 2 * h * abs(q - weight), abs=1e-13)
            moved = after[0] - after[1] - (1 - alpha) * (before[0] - before[1])
            assert moved == pytest.approx(2 * h * gains[0], abs=1e-13)


@pytest.mark.parametrize(("c", "n", "alpha"), [(0.6, 10**9, 1e-4), (1.0, 10**60, 1e-4)])
def test_the_growth_with_the_number_of_experts_is_reached(c: float, n: int, alpha: float) -> None:
    growth_ = growth_exponent(c)
    _, log_potential, _ = _play(_Holding(1, growth_.share), alpha, n, c)
    assert math.exp(log_potential) > growth_.lower_bound(n) > 1.5
    assert math.exp(log_potential) > math.exp(1 / (4 * c - 2))  # more than alternation has


def test_the_page_has_the_exponents_of_growth() -> None:
    head, _, exponents, constants = PAGE[PAGE.index("| c | 0.52 |") :].splitlines()[:4]
    cs, found, scaled = (
        list(map(float, line.split("|")[2:-1])) for line in (head, exponents, constants)
    )
    for c, exponent, constant in zip(cs, found, scaled, strict=True):
        growth_ = growth_exponent(c)
        assert exponent == float(f"{growth_.exponent:.3g}")
        assert constant == pytest.approx(c / (1 - growth_.kappa**2), abs=6e-4)


def test_rates_beside_those_of_the_paper() -> None:
    """From five experts on they are at least 184 times as large."""
    every = [claim for claim in shipped() if claim.c == "4" and claim.power == 1 and claim.reach]

    def times(n: int) -> float:
        largest = max(min(float(x.alpha), float(x.reach or 0) / math.log(n)) for x in every)
        assert best_known(0.999 * largest, n, 4.0).potential < 1.18
        paper = 1 / (800 * math.log(PAPER_POTENTIAL * n))
        assert theorem_1(0.999 * paper, n, 4.0)
        assert not theorem_1(1.001 * paper, n, 4.0)
        return largest / paper

    assert [round(times(n)) for n in (2, 3, 4)] == [123, 155, 178]
    assert min(times(n) for n in (*range(5, 200), 10**3, 10**9, 10**50, 10**100)) >= 184
    assert "123, 155 and 178 times" in PAGE


def test_the_exponent_of_growth() -> None:
    assert [round(growth_exponent(c).exponent, 4) for c in (0.7, 1.5)] == [0.0646, 0.0001]
    for c in (0.55, 1.0, 1.9):
        exponent, kappa, q = growth_exponent(c)
        assert exponent == pytest.approx(kappa**2 / (1 - kappa**2))
        for other in (q * 0.99, q * 1.01):
            assert kappa >= other * (2 * (1 - other) ** 2 / c - 1) / (
                (1 - other) * (1 - 2 * other**2 / c)
            )
    for c in (0.5, 2.0):
        with pytest.raises(ValueError, match="c must be"):
            growth_exponent(c)
    found = [certify_limit(10**k, 0.55, tolerance=1e-3).potential for k in (9, 12)]
    slope = math.log(found[1] / found[0]) / math.log(1000)
    assert slope == pytest.approx(growth_exponent(0.55).exponent, abs=0.06)
