"""The smallest bound that is known for given settings."""

import json
import math
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from normalhedge.boundary import extras, inputs
from normalhedge.guarantees._bounds import (
    Bound,
    at_most,
    computed_potential,
    scaled_limit,
    share,
    theorem_1,
)
from normalhedge.guarantees._certificate import quick_potential
from normalhedge.guarantees._every_number import LARGEST_POTENTIAL
from normalhedge.guarantees.potentials import SMALLEST_C

PROOFS = Path(__file__).parent / "proofs"
"""The folder of the proofs that come with this package, with an index of their claims."""

INDEX = "index.json"


class Shipped(NamedTuple):
    """The claim of a proof that comes with this package, or that was registered.

    The fields are those of `check_proof.ProofClaim`, and the path of the file.
    """

    file: str
    alpha: str
    c: str
    potential: str
    alpha_from: str = "0"
    n_experts: int | None = None
    reach: str | None = None
    power: int = 1
    delay: int = 0
    bend: str | None = None

    def covers(self, alpha: float, n_experts: int, c: float, delay: int = 0) -> bool:
        """Tell whether the claim covers these settings.

        A float stands for the decimal that Python prints: a claim up to 1/20 covers 0.05, although
        the float is larger by 3e-18.

        Parameters
        ----------
        alpha, c
            The settings of NormalHedge.
        n_experts
            The number of experts that ever take part.
        delay
            The number of other outcomes between a prediction and its own, at most.
        """
        lowest = float(self.alpha if self.delay else self.alpha_from)
        if c != float(self.c) or not lowest <= alpha <= float(self.alpha) or delay > self.delay:
            return False
        if self.n_experts is not None:
            return n_experts <= self.n_experts
        # Rounded up: the error of a logarithm is far below a part in 10^12.
        reached = alpha * math.log(n_experts) ** self.power * (1.0 + 1e-12)
        return self.reach is not None and reached <= float(self.reach)

    def potential_of(self, n_experts: int) -> float:
        """Return the bound on the average potential of some experts.

        Where the multipliers know the leader, the claim is about exactly N experts. If fewer take
        part, the others count with a potential of at least one.

        Parameters
        ----------
        n_experts
            The number of experts that ever take part, at most the number of the claim.
        """
        potential = float(self.potential)
        if self.bend is None or self.n_experts is None or self.n_experts == n_experts:
            return potential
        return 1.0 + (potential - 1.0) * self.n_experts / n_experts

    def covers_potential(self, n_experts: int, potential: float) -> bool:
        """Tell whether the inequality is proved as far as a slightly larger potential lets x go.

        Parameters
        ----------
        n_experts
            The number of experts.
        potential
            The larger potential; see `computed_potential`.
        """
        if self.bend is not None:  # its proof is about another function than the potential
            return False
        if self.n_experts is None:  # x^2 <= 2 c ln N up to here
            return potential <= LARGEST_POTENTIAL
        largest = self.n_experts * (float(self.potential) - 1.0)
        return n_experts * (potential - 1.0) <= largest * (1.0 - 1e-12)


@lru_cache(maxsize=1)
def shipped() -> tuple[Shipped, ...]:
    """Return the claims of the proofs that come with this package."""
    rows = json.loads((PROOFS / INDEX).read_text(encoding="utf-8"))
    return tuple(Shipped(**row) for row in rows)


_REGISTERED: dict[str, Shipped] = {}
"""The claims of proofs that were registered, by the full path of the file."""


def register_proof(path: str | Path) -> Shipped:
    """Check a proof of your own; from now on, bounds in this process use its claim.

    `NormalHedge.bound`, `best_known` and ``Mixture.bound`` take the smallest bound of all claims
    that cover their settings. The proof is checked with exact arithmetic before it is registered,
    so the bounds are proved. A file that is registered again replaces its former claim.

    Parameters
    ----------
    path
        A file that `prove(...).write(path)` or ``normalhedge certify --prove`` wrote, or any other
        file in the format of ``docs/certificates.md``.

    Raises
    ------
    NotProved
        If the file does not prove its claim. Nothing is registered then.

    Examples
    --------
    >>> claim = register_proof(PROOFS / "c4-alpha0.01-n10.json")
    >>> claim.n_experts, claim.potential
    (10, '1.15504')
    """
    extras.require("flint")
    from normalhedge.guarantees.check_proof import check_proof  # noqa: PLC0415

    check_proof(path)
    file = Path(path).resolve()
    claim = Shipped(file=str(file), **json.loads(file.read_text(encoding="utf-8"))["claim"])
    _REGISTERED[claim.file] = claim
    return claim


def proof_of(alpha: float, n_experts: int, c: float, *, delay: int = 0) -> Shipped | None:
    """Return the claim with the smallest potential that covers these settings, if there is one.

    Parameters
    ----------
    alpha, n_experts, c, delay
        As for `best_known`.

    Examples
    --------
    >>> proof_of(alpha=0.001, n_experts=1000, c=1.0).potential
    '1.651436'
    """
    claims = _covering(alpha, n_experts, c, delay)
    return min(claims, key=lambda claim: claim.potential_of(n_experts), default=None)


def _covering(alpha: float, n_experts: int, c: float, delay: int) -> list[Shipped]:
    claims = (*shipped(), *_REGISTERED.values())
    return [claim for claim in claims if claim.covers(alpha, n_experts, c, delay)]


def best_known(
    alpha: float,
    n_experts: int,
    c: float,
    quantile: float | None = None,
    *,
    numerical: bool = False,
    delay: int = 0,
) -> Bound:
    """Return the smallest known bound on the regret of NormalHedge, or the reason for none.

    The candidates are Theorem 1 of the paper, the proofs that come with this package, each for a
    range of rates, one c, and up to N experts or as many as the rate allows, and the proofs that
    were registered (`register_proof`). The claims of the former are read from an index;
    `check_proof` checks the proofs themselves.

    Parameters
    ----------
    alpha, n_experts, c, quantile
        As for `theorem_1`.
    numerical
        Whether to use a certificate in floating point if nothing is proved. It comes from the first
        grid of `certify`, with a safety margin, for N rounded up to a power of ten; its source says
        that it is numerical.
    delay
        The number of other outcomes that are learned between a prediction and its own, at most. The
        bound is on the regrets over the rounds that are settled.

    Examples
    --------
    >>> print(best_known(alpha=0.001, n_experts=1000, c=4.0))
    regret <= 200.796 (proof, average potential <= 1.153448)
    >>> print(best_known(alpha=0.001, n_experts=1000, c=3.3))
    no theorem covers alpha=0.001 with 1000 experts and c=3.3 (Theorem 1 needs c = 4)
    >>> print(best_known(alpha=0.001, n_experts=1000, c=3.3, numerical=True))
    regret <= 185.367 (certificate, numerical, average potential <= 1.1814)
    """
    alpha = inputs.number("alpha", alpha, 0.0, 1.0)
    n_experts = inputs.count("n_experts", n_experts)
    c = inputs.number("c", c, SMALLEST_C)
    part = share(n_experts, quantile)
    if n_experts == 1:
        return Bound(0.0, "one expert has no regret", 1.0)
    delay = inputs.count("delay", delay, least=0)
    paper = theorem_1(alpha, n_experts, c, quantile)
    if delay:
        paper = Bound(math.inf, f"no theorem covers these settings with a delay of {delay}")
    bounds, computed = [paper] if paper else [], math.inf
    for claim in _covering(alpha, n_experts, c, delay):
        potential = claim.potential_of(n_experts)
        shown = claim.potential if claim.bend is None else at_most(potential, 7)
        source = f"proof, average potential <= {shown}"
        bounds.append(_bound(alpha, c, potential, part, source))
        rounded = computed_potential(alpha, n_experts, c, potential)
        if not delay and claim.covers_potential(n_experts, rounded):
            computed = min(computed, rounded)
    if not bounds and numerical and not delay:
        # N is rounded up, so that experts that join or leave rarely cause a new computation.
        potential = quick_potential(alpha, max(10 ** len(str(n_experts - 1)), 10), c)
        if math.isfinite(potential):
            source = f"certificate, numerical, average potential <= {at_most(potential, 5)}"
            bounds = [replace(_bound(alpha, c, potential, part, source), numerical=True)]
    best = min(bounds, key=lambda bound: (bound.regret, bound.potential), default=paper)
    return replace(best, computed_potential=computed)


def _bound(alpha: float, c: float, potential: float, part: float, source: str) -> Bound:
    """Return the bound on the regrets of a share of the experts, given the average potential."""
    regret = scaled_limit(potential, part, c) / math.sqrt(alpha)
    if regret >= 2.0 / alpha:
        return Bound(2.0 / alpha, f"no regret reaches 2/alpha; {source}", potential)
    return Bound(regret, source, potential)
