"""Bounds on the discounted regret for given settings.

There are three kinds: Theorem 1 of the paper; the bound of discounted Hedge; and certificates, the
smallest average potential that one round cannot exceed, for any c. Certificates are found in
floating point (`certify`) and proved with exact enclosures (`prove`). `guarantees.check_proof`
checks a proof; it is a stand-alone program.
"""

from normalhedge.guarantees._bounds import (
    PAPER_C,
    PAPER_POTENTIAL,
    Bound,
    LinearBound,
    at_most as at_most,
    computed_potential,
    hedge_bound,
    scaled_limit as scaled_limit,
    theorem_1,
)
from normalhedge.guarantees._certificate import (
    Certificate,
    Mass,
    Multipliers,
    NoCertificate,
    best_c,
    certify,
    certify_limit,
)
from normalhedge.guarantees._every_number import EveryCertificate, certify_every, critical_reach
from normalhedge.guarantees._known import (
    Shipped,
    best_known,
    proof_of,
    register_proof,
    shipped,
)
from normalhedge.guarantees._led import LedCertificate, certify_led
from normalhedge.guarantees._limits import (
    LADDER as LADDER,
    PotentialGrowth,
    blocks_potential,
    blocks_variance,
    default_c,
    growth_exponent,
    held_potential,
)
from normalhedge.guarantees._proving import Proof, prove

__all__ = [
    "PAPER_C",
    "PAPER_POTENTIAL",
    "Bound",
    "Certificate",
    "EveryCertificate",
    "LedCertificate",
    "LinearBound",
    "Mass",
    "Multipliers",
    "NoCertificate",
    "PotentialGrowth",
    "Proof",
    "Shipped",
    "best_c",
    "best_known",
    "blocks_potential",
    "blocks_variance",
    "certify",
    "certify_every",
    "certify_led",
    "certify_limit",
    "computed_potential",
    "critical_reach",
    "default_c",
    "growth_exponent",
    "hedge_bound",
    "held_potential",
    "proof_of",
    "prove",
    "register_proof",
    "shipped",
    "theorem_1",
]
