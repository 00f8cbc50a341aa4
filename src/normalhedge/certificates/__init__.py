"""What can be promised for given settings: bounds on the discounted regret.

Theorem 1 of the paper, the bound of discounted Hedge, and certificates: the smallest average
potential that one round cannot exceed, for any c, found in floating point (`certify`) and proved in
exact enclosures (`prove`, and `certificates.check_proof`, a program that stands by itself).
"""

from normalhedge.certificates.bounds import (
    PAPER_C,
    PAPER_POTENTIAL,
    Bound,
    hedge_bound,
    theorem_1,
)
from normalhedge.certificates.certificate import (
    Certificate,
    Mass,
    Multipliers,
    NoCertificate,
    best_c,
    certify,
    certify_limit,
)
from normalhedge.certificates.known import Shipped, best_known, shipped
from normalhedge.certificates.proving import Proof, prove

__all__ = [
    "PAPER_C",
    "PAPER_POTENTIAL",
    "Bound",
    "Certificate",
    "Mass",
    "Multipliers",
    "NoCertificate",
    "Proof",
    "Shipped",
    "best_c",
    "best_known",
    "certify",
    "certify_limit",
    "hedge_bound",
    "prove",
    "shipped",
    "theorem_1",
]
