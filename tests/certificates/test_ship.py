"""The proofs that come with the package."""

import json
from pathlib import Path

import pytest

from normalhedge.certificates import shipped
from normalhedge.certificates.check_proof import check_proof
from normalhedge.certificates.known import INDEX, PROOFS
from normalhedge.certificates.ship import SHIPPED, ProofSetting, ship
from tests.certificates.examples import assert_by_sampling


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
