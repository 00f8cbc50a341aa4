"""Certificates and proofs: against a plain linear program, plain sampling, games and forgers."""

import copy
import json
import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest
from scipy.optimize import linprog

from normalhedge import NormalHedge
from normalhedge.certificates import (
    Certificate,
    NoCertificate,
    best_c,
    best_known,
    certify,
    certify_limit,
    prove,
    shipped,
    theorem_1,
)
from normalhedge.certificates import check_proof as check
from normalhedge.certificates.check_proof import NotProved, check_proof
from normalhedge.certificates.known import INDEX, PROOFS
from normalhedge.certificates.ship import SHIPPED, ProofSetting, ship
from normalhedge.games import BreakAway, Greedy
from normalhedge.games.attacks import hold
from tests import adversaries

QUICK = [
    *(s.file for s in shipped() if s.c in {"2", "4"} and (s.alpha_from == s.alpha or s.c == "4")),
    "c1-alpha1e-3-n1000.json",
]
QUICK.remove("c4-alpha0-to-0.2-n1000000.json")


def phi(x: np.ndarray, c: float) -> np.ndarray:
    values: np.ndarray = np.exp(np.maximum(x, 0.0) ** 2 / (2 * c))
    return values


def raised(alpha: float, n: int, c: float, potential: float, m: float) -> float:
    """By how much one round can raise the average potential: the primal, as it stands."""
    x_max = math.sqrt(2 * c * math.log(n * potential - n + 1))
    x = np.tile(np.linspace(0.0, x_max, 300), 2)
    r = np.repeat([1 - m, -1 - m], 300)
    now = phi(x, c)
    then = phi((1 - alpha) * x + math.sqrt(alpha) * r, c)
    conditions = np.stack([np.ones_like(x), now, x * now * r])
    solved = linprog(now - then, A_eq=conditions, b_eq=[1.0, potential, 0.0])
    assert solved.status == 0
    return -float(solved.fun)


@pytest.mark.parametrize(("alpha", "n", "c"), [(0.05, 10, 1.0), (0.01, 5, 2.0), (0.2, 4, 0.9)])
def test_a_plain_linear_program_agrees(alpha: float, n: int, c: float) -> None:
    found = certify(alpha, n, c)
    gains = [*np.linspace(-0.99, 0.99, 12), found.worst_gain]
    above = 1 + (found.potential - 1) * 1.005
    assert max(raised(alpha, n, c, above, m) for m in gains) < 1e-9
    below = 1 + (found.potential - 1) * 0.99
    assert max(raised(alpha, n, c, below, m) for m in gains) > 0


@pytest.mark.parametrize(
    ("n", "c", "potential"),
    [(10, 1.0, 1.6487), (10**12, 1.0, 1.6487), (1000, 2.0, 1.269), (1000, 4.0, 1.153)],
)
def test_the_limit_of_small_alpha(n: int, c: float, potential: float) -> None:
    found = certify_limit(n, c, tolerance=1e-4)
    assert found.potential == pytest.approx(potential, abs=5e-4)
    assert found.potential > math.exp(1 / (4 * c - 2)) * (1 - 1e-4)
    assert found.regret == math.inf
    if c == 4.0:
        assert certify(1e-7, n, c).potential == pytest.approx(potential, abs=1e-3)


@pytest.mark.parametrize(("alpha", "potential"), [(1e-3, 1.651), (1e-2, 2.078), (5e-2, 4.797)])
def test_finite_alpha(alpha: float, potential: float) -> None:
    found = certify(alpha, 10**6, 1.0, tolerance=1e-4)
    assert found.potential == pytest.approx(potential, abs=1.5e-3)
    assert found.error < 1e-4 * found.potential
    level = found.potential
    assert found.regret == pytest.approx(math.sqrt(2 * math.log(10**6 * (level - 1) + 1) / alpha))
    assert found.quantile(0.1) == pytest.approx(math.sqrt(2 * math.log(10 * level - 9) / alpha))
    assert found.quantile(1e-9) == pytest.approx(found.regret)


def test_what_is_worst() -> None:
    found = certify(1e-3, 1000, 1.0)
    assert sum(mass.share for mass in found.worst_measure) == pytest.approx(1.0)
    x, gain, share = (np.array(column) for column in zip(*found.worst_measure, strict=True))
    now = phi(x, 1.0)
    assert share @ now == pytest.approx(found.potential, rel=1e-4)
    r = gain - found.worst_gain
    assert share @ (x * now * r) == pytest.approx(0.0, abs=1e-3)
    then = phi(0.999 * x + math.sqrt(1e-3) * r, 1.0)
    assert share @ (then - now) == pytest.approx(0.0, abs=1e-6)


def test_no_certificate() -> None:
    for settings in [(1e-3, 1000, 0.5), (1e-3, 1000, 0.4), (1e-4, 10, 0.51)]:
        with pytest.raises(NoCertificate, match="no bound on the average potential up to"):
            certify(*settings)
    with pytest.raises(NoCertificate):
        certify_limit(10, 0.5)


def test_one_expert_is_covered_as_two_are() -> None:
    one, two = (certify(0.01, n, 4.0, tolerance=1e-2) for n in (1, 2))
    assert one.potential == two.potential


@pytest.mark.slow
def test_the_best_c() -> None:
    found = best_c(1e-3, 1000)
    assert found.c == pytest.approx(0.728, abs=0.02)
    assert found.scaled_regret < 3.33
    for c in (0.65, 0.85, 1.0):
        assert certify(1e-3, 1000, c).scaled_regret > found.scaled_regret


@pytest.mark.parametrize("file", QUICK)
def test_quick_proofs_hold(file: str) -> None:
    check_proof(PROOFS / file)


@pytest.mark.slow
@pytest.mark.parametrize("file", [claim.file for claim in shipped() if claim.file not in QUICK])
def test_the_other_proofs_hold(file: str) -> None:
    check_proof(PROOFS / file)


def test_the_index_says_what_the_files_claim() -> None:
    files = {path.name: json.loads(path.read_text()) for path in PROOFS.glob("c*.json")}
    assert files.keys() == {claim.file for claim in shipped()}
    for claim in shipped():
        said = claim._asdict()
        assert files[said.pop("file")]["claim"] == said
    wanted = {(s.alpha_from, s.alpha, s.n_experts, float(s.c)) for s in SHIPPED}
    there = {(float(s.alpha_from), float(s.alpha), s.n_experts, float(s.c)) for s in shipped()}
    assert wanted == there
    assert max(path.stat().st_size for path in PROOFS.iterdir()) < 100_000


def test_shipping_again_gives_the_same_file(tmp_path: Path) -> None:
    written = list(ship(tmp_path, [ProofSetting(1e-3, 1e-3, 1000, 4)]))
    assert [path.name for path in written] == ["c4-alpha1e-3-n1000.json", INDEX]
    check_proof(written[0])
    claim = json.loads(written[0].read_text())["claim"]
    assert claim == json.loads((PROOFS / written[0].name).read_text())["claim"]


@pytest.mark.parametrize("file", [claim.file for claim in shipped()])
def test_the_inequality_by_plain_sampling(file: str) -> None:
    assert_by_sampling(json.loads((PROOFS / file).read_text()))


def assert_by_sampling(proof: dict[str, Any]) -> None:
    """The inequality as it stands in the induction, for any x, any gain and any confidence."""
    claim = proof["claim"]
    rows = np.array(proof["intervals"], dtype=float)
    c, n, level = float(claim["c"]), claim["n_experts"], float(claim["potential"])
    rng = np.random.default_rng(0)
    draws = 40_000
    rate = rng.uniform(float(claim["alpha_from"]), float(claim["alpha"]), draws)
    m = rng.uniform(-1, 1, draws)
    start, end, a, beta = rows[np.searchsorted(rows[:, 1], m)].T
    assert ((start <= m) & (m <= end)).all()
    x_max = math.sqrt(2 * c * math.log(n * (level - 1) + 1))
    x = rng.uniform(-0.2 * x_max, x_max, draws)
    r = rng.uniform(0, 1, draws) ** rng.integers(0, 2, draws) * (rng.choice([-1, 1], draws) - m)
    left = phi((1 - rate) * x + np.sqrt(rate) * r, c) / phi(x, c) - 1
    slope = np.maximum(x, 0) / c
    lambda1 = np.sqrt(rate) * (1 + np.sqrt(rate) * beta)
    right = rate * a * (level / phi(x, c) - 1) + lambda1 * slope * r
    assert (left <= right + 1e-15 * (1 + rate * a * level)).all()
    assert (rate * a <= 1).all()


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


def test_a_proof_is_made_and_written(tmp_path: Path) -> None:
    proof = prove(certify(0.02, 50, 3.0), slack=0.01)
    proof.write(tmp_path / "proof.json")
    assert json.loads((tmp_path / "proof.json").read_text()) == proof.to_dict()
    claim = check_proof(tmp_path / "proof.json")
    assert (float(claim.alpha), claim.n_experts, float(claim.c)) == (0.02, 50, 3.0)
    assert float(claim.potential) < 1.25
    with pytest.raises(ValueError, match="a limit cannot be proved"):
        prove(certify_limit(10, 4.0))
    with pytest.raises(ValueError, match="slack must be"):
        prove(certify(0.02, 50, 3.0), slack=-1.0)


def test_what_is_not_true_is_not_proved() -> None:
    """A certificate with too small a potential does not become a proof."""
    found = certify(0.01, 100, 4.0)
    fields = {name: getattr(found, name) for name in found.__dataclass_fields__}
    forged = Certificate(**{**fields, "potential": 1 + (found.potential - 1) * 0.98})
    with pytest.raises(NoCertificate):
        prove(forged)


PROOF = json.loads((PROOFS / "c4-alpha0.01-n1000.json").read_text())


def _set(*path: Any) -> Callable[[dict[str, Any]], None]:
    *keys, value = path

    def change(proof: dict[str, Any]) -> None:
        where: Any = proof
        for key in keys[:-1]:
            where = where[key]
        where[keys[-1]] = value

    return change


def _drop(*path: Any) -> Callable[[dict[str, Any]], None]:
    def change(proof: dict[str, Any]) -> None:
        where: Any = proof
        for key in path[:-1]:
            where = where[key]
        del where[path[-1]]

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("claim", "potential", "1.15"),
        _set("claim", "potential", "1"),
        _set("claim", "potential", "0.5"),
        _set("claim", "potential", "NaN"),
        _set("claim", "potential", "inf"),
        _set("claim", "potential", "1e999999999"),
        _set("claim", "potential", "1/0"),
        _set("claim", "potential", 1.16),
        _set("claim", "potential", "１.16"),
        _set("claim", "alpha", "0.02"),
        _set("claim", "alpha", "0"),
        _set("claim", "alpha", "1"),
        _set("claim", "alpha", "-0.01"),
        _set("claim", "alpha_from", "0.02"),
        _set("claim", "alpha_from", "-1"),
        _set("claim", "c", "3.9"),
        _set("claim", "c", "0"),
        _set("claim", "c", "1e-99"),
        _set("claim", "n_experts", 0),
        _set("claim", "n_experts", True),
        _set("claim", "n_experts", 1e3),
        _set("claim", "n_experts", "1000"),
        _set("claim", "n_experts", 10**30),
        _set("claim", "note", "and for any c"),
        _set("claim", []),
        _set("format", "normalhedge proof 2"),
        _set("intervals", []),
        _set("intervals", None),
        _set("intervals", 3, None),
        _set("intervals", 3, ["-1", "1"]),
        _set("intervals", 3, 0, "-0.5"),
        _set("intervals", 3, 1, "-2"),
        _set("intervals", 0, 0, "-0.999999"),
        _set("intervals", -1, 1, "0.999999"),
        _set("intervals", -1, 1, "1.000001"),
        _drop("intervals", 0),
        _drop("intervals", 4),
        _drop("intervals", -1),
        _drop("claim", "alpha_from"),
        _drop("format"),
    ],
)
def test_forged_proofs_are_refused(change: Callable[[dict[str, Any]], None]) -> None:
    proof = copy.deepcopy(PROOF)
    change(proof)
    with pytest.raises(NotProved, match=r"\w+ \w+"):
        check_proof(proof)


@pytest.mark.parametrize("column", [2, 3])
@pytest.mark.parametrize("factor", [0.0, 0.5, 0.98, 1.02, 2.0, -1.0, 1e9])
def test_other_multipliers_are_refused_or_do_as_well(column: int, factor: float) -> None:
    """A row that is changed fails, unless the inequality holds with it too."""
    refused = 0
    indices = range(0, len(PROOF["intervals"]), 3)
    for index in indices:
        proof = copy.deepcopy(PROOF)
        row = proof["intervals"][index]
        row[column] = f"{float(row[column]) * factor:.9f}"
        try:
            check_proof(proof)
        except NotProved:
            refused += 1
        else:
            assert holds_on_a_grid(proof, index)
    if abs(factor - 1) > 0.1:
        assert refused >= len(indices) // 2


def holds_on_a_grid(proof: dict[str, Any], index: int) -> bool:
    start, end, a, beta = (float(value) for value in proof["intervals"][index])
    alpha, c, n, level = 0.01, 4.0, 1000, float(proof["claim"]["potential"])
    x = np.linspace(0, math.sqrt(2 * c * math.log(n * (level - 1) + 1)), 2000)
    root = math.sqrt(alpha)
    for r in (1 - start, -1 - end):
        left = phi((1 - alpha) * x + root * r, c) / phi(x, c) - 1
        right = alpha * a * (level / phi(x, c) - 1) + root * (1 + root * beta) * x / c * r
        if (left > right + 1e-14).any():
            return False
    return alpha * a <= 1


@pytest.mark.parametrize("n", [10**4, 10**9, 10**18])
def test_more_experts_are_refused_or_proved_anew(n: int) -> None:
    """Nothing is taken from the old claim: x goes up to what the new one needs."""
    proof = copy.deepcopy(PROOF)
    proof["claim"]["n_experts"] = n
    try:
        assert check_proof(proof).n_experts == n
    except NotProved:
        assert n > 10**4
    proof["claim"]["n_experts"] = 10
    assert check_proof(proof).n_experts == 10


def test_a_typo_anywhere_is_refused_or_harmless(tmp_path: Path) -> None:
    text = (PROOFS / "c4-alpha0.01-n1000.json").read_text()
    rng = np.random.default_rng(0)
    path = tmp_path / "proof.json"
    accepted = 0
    for position in rng.integers(0, len(text), 60):
        typo = str(rng.choice(list('0123456789-.e",[]{} ')))
        path.write_text(text[:position] + typo + text[position + 1 :])
        try:
            check_proof(path)
        except NotProved:
            continue
        accepted += 1
        assert_by_sampling(json.loads(path.read_text()))
    assert accepted < 45  # most of the last digits do not matter


@pytest.mark.parametrize("file", ["c1-alpha0.01-n1000.json", "c4-alpha0-to-0.1-n1000000.json"])
def test_the_checker_encloses_the_inequality_itself(file: str) -> None:
    """Its G, in many digits from the inequality as it stands, and its derivatives by quotients."""
    claim, rows = check._parse(json.loads((PROOFS / file).read_text()))
    rng = np.random.default_rng(0)
    with flint.ctx.workprec(500):
        for _ in range(40):
            row = rows[rng.integers(len(rows))]
            r = 1 - row.start if rng.random() < 0.5 else -1 - row.end
            left, low = (int(rng.uniform(0, scale) * 2**40) for scale in (4, 0.09))
            box = check.Box(left, left + 2**32, low + 2**20, low + 2**33)
            middle, along_x, along_h = check._Gap(claim, row, r).enclose(box)
            z, k = (box.left + box.right) / 2**41, (box.low + box.high) / 2**41
            assert middle.overlaps(plain_gap(claim, row, r, z, k))
            whole = middle + along_x + along_h
            for x, h in [(box.left, box.low), (box.right, box.low), (box.left, box.high)]:
                assert whole.overlaps(plain_gap(claim, row, r, x / 2**40, h / 2**40))


def plain_gap(claim: check.ProofClaim, row: check.Row, end: Fraction, *point: float) -> flint.arb:
    """The right side less the left side, divided by alpha Phi(x)."""
    numbers: list[Fraction | float] = [claim.c, claim.potential, row.a, row.beta, end, *point]
    c, level, a, beta, r, x, h = (
        flint.arb(flint.fmpq(*number.as_integer_ratio())) for number in numbers
    )
    alpha = h * h
    lambda0, kappa, lambda1 = alpha * a * level, -alpha * a, h * (1 + h * beta)
    now, then = (x * x / (2 * c)).exp(), (((1 - alpha) * x + h * r) ** 2 / (2 * c)).exp()
    gap = lambda0 + kappa * now + lambda1 * x / c * now * r - (then - now)
    return gap / (alpha * now)


def test_a_proof_at_one_alpha_says_nothing_about_another() -> None:
    proof = json.loads((PROOFS / "c1-alpha1e-3-n1000.json").read_text())
    for alpha in ("0.0005", "0.002"):
        proof["claim"].update(alpha=alpha, alpha_from=alpha)
        with pytest.raises(NotProved, match="is not shown"):
            check_proof(proof)


def test_files_that_are_no_proofs(tmp_path: Path) -> None:
    text = (PROOFS / "c4-alpha0.01-n1000.json").read_text()
    twice = text.replace('"claim"', '"claim": 0, "claim"')
    path = tmp_path / "proof.json"
    cut = [text[:length] for length in range(0, len(text) - 2, 97)]
    for content in [*cut, twice, "[" * 100_000, "null", '{"n": 1' + "0" * 10_000 + "}"]:
        path.write_text(content)
        with pytest.raises(NotProved):
            check_proof(path)
    path.write_bytes(b"\xff\xfe\x00")
    for wrong in (path, tmp_path, tmp_path / "none.json", "\0"):
        with pytest.raises(NotProved):
            check_proof(wrong)


def test_the_checker_as_a_program(tmp_path: Path) -> None:
    program = PROOFS.parent / "check_proof.py"
    good = PROOFS / "c4-alpha0.01-n1000.json"
    command = [sys.executable, "-m", "normalhedge.certificates.check_proof", str(good)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("proved: with alpha = 0.01 and c = 4 the average potential")
    assert done.stdout.endswith("of at most 1000 experts never exceeds 1.15504\n")
    assert not done.stderr
    bad = tmp_path / "bad.json"
    bad.write_text(good.read_text()[:-10])
    done = subprocess.run(
        [sys.executable, program, bad], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("not proved: ")
    assert done.stderr.count("\n") == 1
    assert "normalhedge" not in {
        line.split()[1].split(".")[0]
        for line in program.read_text().splitlines()
        if line.startswith(("import ", "from "))
    }


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


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan, math.inf, "0.1", None, True])
def test_bad_alpha(alpha: Any) -> None:
    for function in (certify, best_known):
        with pytest.raises((TypeError, ValueError), match="alpha must be"):
            function(alpha, 10, 1.0)
    with pytest.raises((TypeError, ValueError), match="alpha must be"):
        best_c(alpha, 10)


@pytest.mark.parametrize("c", [0.0, -1.0, math.nan, math.inf, "1", None])
def test_bad_c(c: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="c must be"):
        certify(0.1, 10, c)
    with pytest.raises((TypeError, ValueError), match="c must be"):
        certify_limit(10, c)


@pytest.mark.parametrize("n", [0, -1, 1.5, math.nan, "10", None])
def test_bad_number_of_experts(n: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="n_experts must be"):
        certify(0.1, n, 1.0)
    with pytest.raises((TypeError, ValueError), match="n_experts must be"):
        certify_limit(n, 1.0)


def test_bad_ranges_and_tolerances() -> None:
    with pytest.raises(ValueError, match="alpha_from must be"):
        certify(0.1, 10, 4.0, alpha_from=0.2)
    with pytest.raises(ValueError, match="tolerance must be"):
        certify(0.1, 10, 4.0, tolerance=0.0)
    with pytest.raises(ValueError, match="quantile must be"):
        certify(0.1, 10, 4.0).quantile(0.0)


def test_a_certificate_for_a_range_covers_the_smallest_rate() -> None:
    found = certify(0.1, 1000, 4.0, alpha_from=0.01, tolerance=1e-3)
    assert found.regret == pytest.approx(10.0 * found.scaled_regret)
    assert hold(0.01, 1000, 4.0, "regret").regret * 10.0 < found.regret
    assert found.quantile(0.5) < found.regret
    assert certify(0.1, 10, 4.0, alpha_from=0.0, tolerance=1e-3).regret == math.inf


def test_attacks_do_not_pass_the_error_of_a_certificate() -> None:
    alpha, n, c = 0.992157699325324, 10**9, 2.6280671401743794
    found = certify(alpha, n, c)
    assert hold(alpha, n, c).potential <= found.potential + found.error


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


def test_a_kappa_below_minus_one_is_refused() -> None:
    proof = json.loads((PROOFS / "c4-alpha0.01-n10.json").read_text(encoding="utf-8"))
    proof["intervals"][0][2] = "100.5"
    with pytest.raises(check.NotProved, match="kappa is less than -1"):
        check.check_proof(proof)


def test_boxes_cover_all_of_x_and_all_rates() -> None:
    for row in shipped():
        low, high, c, level = map(Fraction, (row.alpha_from, row.alpha, row.c, row.potential))
        claim = check.ProofClaim(low, high, row.n_experts, c, level)
        boxes = check._first_boxes(claim)
        assert boxes[0].left == 0
        assert all(one.right == other.left for one, other in pairwise(boxes))
        x_max = math.sqrt(2 * claim.c * math.log1p(claim.n_experts * (claim.potential - 1)))
        assert 0 <= boxes[-1].right / 2**40 - x_max * (1 - 1e-12) < 1e-10
        for box in boxes:
            assert box.low / 2**40 <= math.sqrt(claim.alpha_from)
            assert box.high / 2**40 >= math.sqrt(claim.alpha) * (1 - 1e-15)
