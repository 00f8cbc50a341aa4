"""The command that shows certificates, proofs and attacks."""

import json
from functools import partial
from pathlib import Path

import pytest

from normalhedge.cli import _certify as certify
from normalhedge.guarantees import certify_led
from normalhedge.guarantees.check_proof import check_proof
from normalhedge.research.paper import frontier
from tests.cli.command import call


def test_certify_in_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontier, "CS", (1.0, 2.0))
    proof, plot = tmp_path / "p.json", tmp_path / "f.png"
    code, out, error = call(
        capsys, "certify", "--alpha", "0.05", "--experts", "1e1", "--c", "2", "--prove",
        "--out", str(proof), "--plot", str(plot),
    )  # fmt: skip
    assert code == 0
    told = [line for line in error.splitlines() if line.endswith("...")]
    wanted = ["proving", "attacking the potential (1 of 2)", "attacking the regret (2 of 2)"]
    assert told[:3] == [f"{words} ..." for words in wanted]
    for word in ("Theorem 1", "certificate", "Hedge, corrected", "attack on the", "lies between"):
        assert word in " ".join(out.split())
    assert f"wrote {proof}" in out
    claim = check_proof(proof)
    assert (claim.n_experts, float(claim.c), float(claim.alpha)) == (10, 2.0, 0.05)
    assert plot.read_bytes().startswith(b"\x89PNG")
    code, out, _ = call(capsys, "certify", "--check", str(proof))
    assert code == 0
    assert out.startswith("proved: with alpha = 0.05 and c = 2")
    edited = json.loads(proof.read_text())
    edited["claim"]["potential"] = "1.2"
    proof.write_text(json.dumps(edited))
    code, _, error = call(capsys, "certify", "--check", str(proof))
    assert code == 2
    assert "not proved" in error
    proof.write_text(proof.read_text()[:-20])
    assert call(capsys, "certify", "--check", str(proof))[0] == 2


@pytest.mark.slow
def test_the_best_c(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "certify", "--alpha", "0.2", "--experts", "5", "--best")
    assert code == 0
    assert "c = " in out


def test_the_leader(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certify, "certify_led", partial(certify_led, tolerance=0.1))
    words = ("certify", "--alpha", "0.2", "--experts", "5", "--c", "0.8")
    levels = []
    for more in ((), ("--leader",)):
        code, out, _ = call(capsys, *words, *more)
        assert code == 0
        levels.append(
            float(next(line for line in out.splitlines() if "certificate" in line).split("│")[2])
        )
    assert levels[1] < levels[0]


def test_the_proof_that_is_shipped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(certify, "SMALLEST_ALPHA", 1.0)  # attacks take longer
    code, out, _ = call(capsys, "certify", "--alpha", "0.01", "--experts", "10")
    assert code == 0
    starts = ("certificate", "proof", "Hedge")
    rows = [next(r for r in out.splitlines() if r.startswith(f"│ {start}")) for start in starts]
    for row, mark in zip(rows, ("numerical", "proved", "proved"), strict=True):
        assert mark in row
    assert "1.670" in rows[1]
    assert "shipped: c1-alpha0.01-n" in rows[1]


def test_a_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontier, "TABLE_CS", (1.0,))
    monkeypatch.setattr(frontier, "TABLE_EXPERTS", (3, 10))
    path = tmp_path / "t.md"
    assert call(capsys, "certify", "--alpha", "0.1", "--table", str(path))[0] == 0
    rows = path.read_text().splitlines()
    assert rows[0] == "| c | N = 3 | N = 10 |"
    assert rows[2].count("proved") == rows[2].count("; R√α") == 2


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("--experts 3", "--alpha is needed"),
        ("--alpha 0.1 --reach 0.2 --leader", "--reach does not go with --leader"),
        ("--alpha 0.1 --experts 3 --best --leader", "--leader does not go with --best"),
        ("--alpha 0.1", "--experts or --reach is needed"),
        ("--alpha 2 --experts 3", "alpha must be strictly between 0 and 1, got 2.0"),
        ("--alpha nan --experts 3", "alpha must be strictly between 0 and 1"),
        ("--alpha 0.1 --experts 0", "at least 1, got 0"),
        ("--alpha 0.1 --experts 2.5", "whole number"),
        ("--alpha 0.1 --experts inf", "whole number"),
        ("--alpha 0.1 --experts many", "whole number"),
        ("--alpha 0.1 --table t.md --c 1", "--table does not go with --c"),
        ("--check p.json --alpha 0.1", "--check does not go with --alpha"),
        ("--alpha 0.1 --experts 3 --c 0", "c must be"),
        ("--alpha 0.1 --experts 3 --c nan", "c must be"),
        ("--alpha 0.1 --experts 3 --c 1 --best", "--best finds c"),
        ("--alpha 0.1 --experts 3 --out x.json", "say --prove, too"),
        ("--alpha 0.1 --experts 3 --plot x.gif", "must end in .png or .pdf or .svg"),
        ("--alpha 0.01 --experts 10 --c 0.4", "no bound on the average potential"),
        ("--check none.json", "not proved: the file cannot be read"),
    ],
)
def test_wrong_words(capsys: pytest.CaptureFixture[str], options: str, word: str) -> None:
    code, _, error = call(capsys, "certify", *options.split())
    assert code == 2
    assert word in error
    assert len(error.strip().splitlines()) == 1


def test_without_attacks_the_bounds_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "certify", "--alpha", "1e-6", "--experts", "10", "--c", "4")
    assert code == 0
    assert "attacks take too many rounds" in " ".join(out.split())
    code, out, _ = call(capsys, "certify", "--alpha", "0.1", "--experts", "1", "--c", "4")
    assert code == 0
    assert "attack" not in out


def test_a_game_shows_its_bound(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "play", "--rounds", "60", "--experts", "10")
    assert code == 0
    assert ", proved" in " ".join(out.split())


def test_every_number_of_experts(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    words = ("certify", "--alpha", "0.05", "--reach", "0.2", "--c", "5")
    code, out, _ = call(capsys, *words, "--prove", "--out", str(path))
    assert code == 0
    assert "every N with alpha ln N <= 0.2" in out
    assert "Beyond alpha ln N = 0.39517" in out
    assert "proved: with c = 5, every positive alpha up to 0.05" in out
    assert check_proof(path).power == 1
    for wrong, said in (
        (("--experts", "10"), "--reach does not go with --experts"),
        (("--best",), "--reach does not go with --best"),
        (("--reach", "3"), "reach must be less than 0.3952"),
        (("--c", "1"), "there is none for c < 2"),
        (("--power", "3"), "power"),
        (("--out", str(path)), "say --prove"),
    ):
        code, _, error = call(capsys, *words, *wrong)
        assert code == 2
        assert said in " ".join(error.split())
    code, _, error = call(capsys, "certify", "--alpha", "0.1", "--experts", "9", "--power", "2")
    assert (code, "--power goes with --reach" in error) == (2, True)
