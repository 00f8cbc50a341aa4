"""Make the proofs that come with this package: ``python -m normalhedge.guarantees._ship``.

Each setting below is certified, proved and checked. The result is one file for each setting and an
index of the claims. An optional argument names another folder.
"""

import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from normalhedge.guarantees._certificate import Certificate, certify
from normalhedge.guarantees._every_number import EveryCertificate, certify_every
from normalhedge.guarantees._known import INDEX, PROOFS
from normalhedge.guarantees._led import LedCertificate, certify_led
from normalhedge.guarantees._limits import LADDER, default_c
from normalhedge.guarantees._proving import SLACK, prove


class ProofSetting(NamedTuple):
    """A function that certifies, its arguments without the tolerance, and the slack of `prove`."""

    certify: Callable[..., Certificate | EveryCertificate | LedCertificate]
    arguments: dict[str, Any]
    slack: float


def bounded(
    alpha_from: float, alpha: float, n_experts: int, c: float, slack: float = SLACK, delay: int = 0
) -> ProofSetting:
    """Return the setting of a proof for at most N experts."""
    rates = {"alpha_from": alpha_from, "alpha": alpha}
    return ProofSetting(certify, {**rates, "n_experts": n_experts, "c": c, "delay": delay}, slack)


def every_number(alpha: float, reach: float, c: float, power: int = 1) -> ProofSetting:
    """Return the setting of a proof for every number of experts."""
    arguments = {"alpha": alpha, "reach": reach, "c": c, "power": power}
    return ProofSetting(certify_every, arguments, 2e-3)


def led(
    alpha_from: float, alpha: float, n_experts: int, c: float, slack: float = 3e-2
) -> ProofSetting:
    """Return the setting of a proof whose multipliers know the leader."""
    rates = {"alpha_from": alpha_from, "alpha": alpha}
    return ProofSetting(certify_led, {**rates, "n_experts": n_experts, "c": c}, slack)


SINGLE_RATES = [
    bounded(alpha, alpha, n_experts, c)
    for c, alpha, n_experts in itertools.product((1, 2, 4), (1e-2, 1e-3, 1e-4), (10, 1000, 10**6))
]
"""The settings of the paper's simulations, and others close to them."""

SMALL_C = [
    bounded(1e-3, 1e-3, 1000, 0.75),
    bounded(1e-3, 1e-3, 1000, 0.7),
    bounded(1e-3, 1e-3, 1000, 0.6, 5e-3),
    bounded(1e-3, 1e-3, 1000, 0.53, 1e-2),
    bounded(1e-3, 1e-3, 1000, 0.52, 1e-2),
    *(
        bounded(1e-3, 1e-3, n_experts, c, 5e-3)
        for n_experts, c in itertools.product((10, 10**6), (0.7, 0.6))
    ),
]
"""Small c, down to the smallest multiple of 0.01 whose potential is below 10^10."""

RANGES = [
    bounded(0.0, 0.01, 10**12, 4),
    bounded(0.0, 0.1, 10**6, 4),
    bounded(0.0, 0.2, 10**6, 4, 5e-3),
    bounded(0.1, 0.5, 1000, 4, 5e-3),
    bounded(0.0, 0.01, 10**12, 2),
    bounded(0.0, 0.05, 10**6, 2, 5e-3),
    bounded(0.0, 0.1, 1000, 2, 5e-3),
    bounded(0.05, 0.1, 10**6, 2, 5e-3),
    bounded(0.1, 0.2, 1000, 2, 5e-3),
    bounded(0.0, 1e-4, 10**9, 1, 5e-3),
    *(
        bounded(low, high, n_experts, 1, 5e-3)
        for (low, high), n_experts in itertools.product(
            itertools.pairwise((1e-4, 3e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2)), (1000, 10**6)
        )
    ),
    bounded(0.05, 0.1, 1000, 1, 5e-3),
    bounded(0.1, 0.2, 1000, 1, 5e-3),
]
"""Ranges of rates, from 0 if possible."""

LATE = [
    *(
        bounded(alpha, alpha, n_experts, default_c(delay), 5e-3, delay)
        for delay, alpha, (n_experts, low, high) in itertools.product(
            LADDER, (0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3), ((1000, 0.01, 0.25), (10**6, 0.0, 0.2))
        )
        if low <= round(alpha * delay, 9) <= high
    ),
    bounded(1e-2, 1e-2, 10**6, 24, 5e-3, 3),
    bounded(1e-3, 1e-3, 10**6, 48, 5e-3, 10),
]
"""Outcomes that come late, which needs a larger c: the default one, and others. Below the range of
``alpha delay`` for 1000 experts a proof for a million promises as much; above both there is none.
"""

SHIPPED = (*SINGLE_RATES, *SMALL_C, *RANGES, *LATE)

EVERY_NUMBER = [
    *(every_number(alpha, 0.23, 4) for alpha in (1e-1, 1e-2, 1e-3)),
    every_number(0.1, 0.08, 3),
    every_number(0.1, 0.85, 8),
    *(every_number(alpha, 1.0, 2, 2) for alpha in (1e-1, 1e-2, 1e-3)),
]
"""Proofs for every number of experts. The paper's Theorem 1 has c = 4 and less than 1/800."""

LED = [
    *(led(1e-3, 1e-3, n_experts, 0.6) for n_experts in (10, 1000, 10**6)),
    *(led(1e-3, 1e-3, n_experts, 0.7, 1e-2) for n_experts in (10, 1000, 10**6)),
    *(led(0.0, 1e-5, n_experts, 0.6, 2e-2) for n_experts in (1000, 10**6)),
]
"""Small c, where one round alone allows much more than any attack reaches."""


def ship(
    folder: Path, settings: Iterable[ProofSetting] = (*SHIPPED, *EVERY_NUMBER, *LED)
) -> Iterator[Path]:
    """Write the proofs and then their index; yield the path of each file."""
    folder.mkdir(parents=True, exist_ok=True)
    claims = []
    for setting in settings:
        certificate = setting.certify(**setting.arguments, tolerance=setting.slack / 10.0)
        proof = prove(certificate, slack=setting.slack)
        path = folder / proof.file_name
        proof.write(path)
        claims.append({"file": path.name, **proof.claim})
        yield path
    rows = ",\n".join(json.dumps(claim) for claim in claims)
    (folder / INDEX).write_text(f"[\n{rows}\n]\n", encoding="utf-8")
    yield folder / INDEX


if __name__ == "__main__":
    for written in ship(Path(sys.argv[1]) if len(sys.argv) > 1 else PROOFS):
        sys.stdout.write(f"{written.name}\n")
        sys.stdout.flush()
