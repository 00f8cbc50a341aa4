"""Proofs made from certificates."""

import json
from pathlib import Path

import pytest

from normalhedge.guarantees import Certificate, NoCertificate, certify, certify_limit, prove
from normalhedge.guarantees.check_proof import check_proof


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
