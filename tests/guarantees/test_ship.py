"""The proofs that come with the package."""

import json
from pathlib import Path

import pytest

from normalhedge.guarantees import shipped
from normalhedge.guarantees._known import INDEX, PROOFS
from normalhedge.guarantees._ship import EVERY_NUMBER, LED, SHIPPED, bounded, ship
from normalhedge.guarantees.check_proof import check_proof
from tests.guarantees.examples import assert_by_sampling


def test_the_index_says_what_the_files_claim() -> None:
    files = {path.name: json.loads(path.read_text()) for path in PROOFS.glob("c*.json")}
    assert files.keys() == {claim.file for claim in shipped()}
    for claim in shipped():
        said = files[claim.file]["claim"]
        assert {"file": claim.file, **said}.items() <= claim._asdict().items()
        assert ("reach" in said) == (claim.n_experts is None)
    wanted = {tuple(s.arguments.values()) for s in SHIPPED}
    led = [s for s in shipped() if s.bend is not None]
    rates = [(float(s.alpha_from), float(s.alpha), s.n_experts, float(s.c)) for s in led]
    assert rates == [tuple(s.arguments.values()) for s in LED]
    some = [s for s in shipped() if s.n_experts is not None and s.bend is None]
    there = {
        (
            float(s.alpha if s.delay else s.alpha_from),
            float(s.alpha),
            s.n_experts,
            float(s.c),
            s.delay,
        )
        for s in some
    }
    assert there == wanted
    every = [s for s in shipped() if s.reach is not None]
    found = {(float(s.alpha), float(s.reach or 0), float(s.c), s.power) for s in every}
    assert found == {tuple(s.arguments.values()) for s in EVERY_NUMBER}
    assert len(some) + len(every) + len(led) == len(shipped())
    assert max(path.stat().st_size for path in PROOFS.iterdir()) < 100_000


def test_shipping_again_gives_the_same_file(tmp_path: Path) -> None:
    written = list(ship(tmp_path, [bounded(1e-3, 1e-3, 1000, 4)]))
    assert [path.name for path in written] == ["c4-alpha1e-3-n1000.json", INDEX]
    check_proof(written[0])
    claim = json.loads(written[0].read_text())["claim"]
    assert claim == json.loads((PROOFS / written[0].name).read_text())["claim"]


@pytest.mark.parametrize(
    "file", [s.file for s in shipped() if s.n_experts and not s.delay and s.bend is None]
)
def test_the_inequality_by_plain_sampling(file: str) -> None:
    assert_by_sampling(json.loads((PROOFS / file).read_text()))
