"""Make the proofs that come with this package: ``python -m normalhedge.certificates.ship``.

Each setting is certified, proved and checked; a file for each, and an index of the claims. The
settings are data, below. Another folder may be named as an argument.
"""

import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from normalhedge.certificates.certificate import certify
from normalhedge.certificates.known import INDEX, PROOFS
from normalhedge.certificates.proving import SLACK, Proof, prove


class ProofSetting(NamedTuple):
    """Rates from the first to the second, N, c, and the slack of the proof."""

    alpha_from: float
    alpha: float
    n_experts: int
    c: float
    slack: float = SLACK


POINTS = [
    ProofSetting(alpha, alpha, n_experts, c)
    for c, alpha, n_experts in itertools.product((1, 2, 4), (1e-2, 1e-3, 1e-4), (10, 1000, 10**6))
]
"""The settings of the paper's simulations, and some around them."""

SMALL_C = [
    ProofSetting(1e-3, 1e-3, 1000, 0.75),
    ProofSetting(1e-3, 1e-3, 1000, 0.7),
    ProofSetting(1e-3, 1e-3, 1000, 0.6, 5e-3),
    ProofSetting(1e-3, 1e-3, 1000, 0.53, 1e-2),
    ProofSetting(1e-3, 1e-3, 1000, 0.52, 1e-2),
    *(
        ProofSetting(1e-3, 1e-3, n_experts, c, 5e-3)
        for n_experts, c in itertools.product((10, 10**6), (0.7, 0.6))
    ),
]
"""Down to the smallest multiple of 0.01 with a potential below 10^10; at 0.51 there is none."""

RANGES = [
    ProofSetting(0.0, 0.01, 10**12, 4),
    ProofSetting(0.0, 0.1, 10**6, 4),
    ProofSetting(0.0, 0.2, 10**6, 4, 5e-3),
    ProofSetting(0.1, 0.5, 1000, 4, 5e-3),
    ProofSetting(0.0, 0.01, 10**12, 2),
    ProofSetting(0.0, 0.05, 10**6, 2, 5e-3),
    ProofSetting(0.0, 0.1, 1000, 2, 5e-3),
    ProofSetting(0.05, 0.1, 10**6, 2, 5e-3),
    ProofSetting(0.1, 0.2, 1000, 2, 5e-3),
    ProofSetting(0.0, 1e-4, 10**9, 1, 5e-3),
    *(
        ProofSetting(low, high, n_experts, 1, 5e-3)
        for (low, high), n_experts in itertools.product(
            itertools.pairwise((1e-4, 3e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2)), (1000, 10**6)
        )
    ),
    ProofSetting(0.05, 0.1, 1000, 1, 5e-3),
    ProofSetting(0.1, 0.2, 1000, 1, 5e-3),
]
"""Whole ranges of rates, from 0 where that is possible."""

SHIPPED = (*POINTS, *SMALL_C, *RANGES)


def ship(folder: Path, settings: Iterable[ProofSetting] = SHIPPED) -> Iterator[Path]:
    """Write the proofs and then their index; yield each file that is written."""
    folder.mkdir(parents=True, exist_ok=True)
    claims = []
    for setting in settings:
        certificate = certify(
            setting.alpha,
            setting.n_experts,
            setting.c,
            alpha_from=setting.alpha_from,
            tolerance=setting.slack / 10.0,
        )
        proof = prove(certificate, slack=setting.slack)
        path = folder / _name(proof)
        proof.write(path)
        claims.append({"file": path.name, **proof.claim})
        yield path
    rows = ",\n".join(json.dumps(claim) for claim in claims)
    (folder / INDEX).write_text(f"[\n{rows}\n]\n", encoding="utf-8")
    yield folder / INDEX


def _name(proof: Proof) -> str:
    rates = dict.fromkeys((proof.alpha_from, proof.alpha))
    return f"c{proof.c}-alpha{'-to-'.join(rates)}-n{proof.n_experts}.json"


if __name__ == "__main__":
    for written in ship(Path(sys.argv[1]) if len(sys.argv) > 1 else PROOFS):
        sys.stdout.write(f"{written.name}\n")
        sys.stdout.flush()
