"""The checker of proofs, beside the inequality in many digits, and against forgers."""

import copy
import functools
import json
import math
import operator
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest

from normalhedge.guarantees import check_proof as check, shipped
from normalhedge.guarantees._known import PROOFS
from normalhedge.guarantees.check_proof import NotProved, check_proof
from tests.guarantees.examples import assert_by_sampling, phi

QUICK = [
    *(
        s.file
        for s in shipped()
        if s.n_experts
        and not s.delay
        and s.c in {"2", "4"}
        and (s.alpha_from == s.alpha or s.c == "4")
    ),
    "c1-alpha1e-3-n1000.json",
]
QUICK.remove("c4-alpha0-to-0.2-n1000000.json")


@pytest.mark.parametrize("file", QUICK)
def test_quick_proofs_hold(file: str) -> None:
    check_proof(PROOFS / file)


@pytest.mark.slow
@pytest.mark.parametrize(
    "file", [s.file for s in shipped() if s.n_experts and not s.delay and s.file not in QUICK]
)
def test_the_other_proofs_hold(file: str) -> None:
    check_proof(PROOFS / file)


PROOF = json.loads((PROOFS / "c4-alpha0.01-n1000.json").read_text())


CLAIMS: dict[str, list[Any]] = {
    "potential": ["1.15", "1", "0.5", "NaN", "inf", "1e999999999", "1/0", 1.16, "１.16"],
    "alpha": ["0.02", "0", "1", "-0.01"],
    "alpha_from": ["0.02", "-1"],
    "c": ["3.9", "0", "1e-99"],
    "n_experts": [0, True, 1e3, "1000", 10**30],
    "note": ["and for any c"],
}
"""Other claims than the proved one."""

INTERVALS: dict[tuple[int, ...], list[Any]] = {
    (): [[], None],
    (3,): [None, ["-1", "1"]],
    (3, 0): ["-0.5"],
    (3, 1): ["-2"],
    (0, 0): ["-0.999999"],
    (-1, 1): ["0.999999", "1.000001"],
}
"""Other intervals than those that are proved, by place."""

LEFT_OUT = "left out"

FORGED: list[tuple[tuple[Any, ...], Any]] = [
    *((("claim", field), value) for field, values in CLAIMS.items() for value in values),
    *((("intervals", *place), value) for place, values in INTERVALS.items() for value in values),
    (("claim",), []),
    (("format",), "normalhedge proof 2"),
    *((("intervals", place), LEFT_OUT) for place in (0, 4, -1)),
    (("claim", "alpha_from"), LEFT_OUT),
    (("format",), LEFT_OUT),
]


@pytest.mark.parametrize(("path", "value"), FORGED)
def test_forged_proofs_are_refused(path: tuple[Any, ...], value: Any) -> None:
    proof = copy.deepcopy(PROOF)
    *folders, last = path
    where: Any = functools.reduce(operator.getitem, folders, proof)
    if value == LEFT_OUT:
        del where[last]
    else:
        where[last] = value
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
    command = [sys.executable, "-m", "normalhedge.guarantees.check_proof", str(good)]
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


def test_a_kappa_below_minus_one_is_refused() -> None:
    proof = json.loads((PROOFS / "c4-alpha0.01-n10.json").read_text(encoding="utf-8"))
    proof["intervals"][0][2] = "100.5"
    with pytest.raises(check.NotProved, match="kappa is less than -1"):
        check.check_proof(proof)


def test_boxes_cover_all_of_x_and_all_rates() -> None:
    for row in shipped():
        if row.n_experts is None or row.delay:
            continue
        low, high, c, level = map(Fraction, (row.alpha_from, row.alpha, row.c, row.potential))
        claim = check.ProofClaim(low, high, row.n_experts, c, level)
        boxes = check._near_boxes(claim)
        assert boxes[0].left == 0
        assert all(one.right == other.left for one, other in pairwise(boxes))
        x_max = math.sqrt(2 * claim.c * math.log1p(row.n_experts * (claim.potential - 1)))
        assert 0 <= boxes[-1].right / 2**40 - x_max * (1 - 1e-12) < 1e-10
        for box in boxes:
            assert box.low / 2**40 <= math.sqrt(claim.alpha_from)
            assert box.high / 2**40 >= math.sqrt(claim.alpha) * (1 - 1e-15)
