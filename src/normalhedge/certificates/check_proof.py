r"""Check a proof that the average potential of NormalHedge never exceeds B.

This file is a stand-alone program and must stay one: it uses the standard library and python-flint,
but no code of the program that found the proof. Run ``python check_proof.py FILE``.
docs/certificates.md explains why the checks prove the claim. In short:

A proof is a claim (alpha_from, alpha, N, c, B) and a list of rows (from, to, A, beta). All numbers
are decimals and are read exactly. With ``Phi(x) = exp([x]+^2 / 2c)`` the claim holds at a rate
alpha if the intervals [from, to] cover [-1, 1] and on each of them, with ``lambda0 = alpha A B``,
``kappa = -alpha A >= -1`` and ``lambda1 = h (1 + h beta)``, ``h = sqrt(alpha)``,

    Phi((1-alpha) x + h r) - Phi(x)  <=  lambda0 + kappa Phi(x) + lambda1 Phi'(x) r           (1)

for ``0 <= x <= x_max``, ``Phi(x_max) = N B - N + 1``, and every r from ``-1 - to`` to ``1 - from``.
It is enough to show (1) with ``exp(y^2/2c) >= Phi(y)`` for the first term. That is convex in r and
the right side is linear, so the two ends of r are enough. There (1), divided by ``alpha Phi(x)``,
is ``G >= 0`` with

    G = A (B u - 1) + beta x r / c - s - t^2 phi(h t),      u = exp(-x^2 / 2c),
    s = (r^2 - 2 h r x - (2 - h^2) x^2) / 2c,      t = x r / c + h s,

where ``phi(z) = (exp(z) - 1 - z) / z^2 = sum_k z^k / (k+2)!``, because
``exp((y^2 - x^2) / 2c) = exp(h t)``. G is smooth in x and in h, down to h = 0. The rectangle of all
x and h is cut into closed boxes. On a box with middle (z, k) and half-widths (w, d), G is enclosed
in balls by the mean value theorem,

    G  in  G(z, k) + G_x(box) [-w, w] + G_h(box) [-d, d],

and a box on which that is not clear of the negative numbers is cut in two.
"""

import json
import re
import sys
from collections.abc import Iterable
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import factorial
from pathlib import Path
from typing import Any, NamedTuple

try:
    from flint import arb, ctx, fmpq
except ImportError as error:
    raise ImportError("this needs python-flint: pip install 'normalhedge[certify]'") from error

FORMAT = "normalhedge proof 1"
BITS = 128
"""The precision of the balls; an enclosure is correct at any precision."""
UNIT = 40
"""The sides of boxes are multiples of 2^-UNIT, so they are exact."""
PIECES = 16
"""The number of boxes that [0, x_max] is first cut into."""
MOST_BOXES = 10_000
"""The most boxes for one inequality; the check then gives up."""
MOST_ROWS = 5_000
LARGEST_FILE = 10_000_000
FEW, MANY = 12, 40
"""The number of terms of the series of phi, for |z| < 1/2 and for larger |z|."""
DECIMAL = re.compile(r"-?[0-9]{1,25}(\.[0-9]{1,50})?(e-?[0-9]{1,2})?")


class NotProved(ValueError):  # noqa: N818 -- an answer, not a fault
    """The file does not prove its claim; the message says where it fails."""


class ProofClaim(NamedTuple):
    """The claim that the average potential of at most N experts never exceeds B, at these rates."""

    alpha_from: Fraction
    alpha: Fraction
    n_experts: int
    c: Fraction
    potential: Fraction


class Row(NamedTuple):
    """The multipliers for the gains of the hedger in a closed interval."""

    start: Fraction
    end: Fraction
    a: Fraction
    beta: Fraction


class Box(NamedTuple):
    """The box left <= x <= right and low <= h <= high, in units of 2^-UNIT."""

    left: int
    right: int
    low: int
    high: int

    def halves(self, *, across_x: bool) -> list["Box"]:
        """Return two boxes that cover this one."""
        if across_x:
            middle = (self.left + self.right) // 2
            return [self._replace(right=middle), self._replace(left=middle)]
        middle = (self.low + self.high) // 2
        return [self._replace(high=middle), self._replace(low=middle)]


def check_proof(source: str | Path | dict[str, Any]) -> ProofClaim:
    """Return the claim that a proof (a file or its content) proves, or raise `NotProved`."""
    claim, rows = _parse(_load(source) if isinstance(source, str | Path) else source)
    _check_cover(rows)
    with ctx.workprec(BITS):
        boxes = _first_boxes(claim)
        for row in rows:
            if row.a * claim.alpha > 1:
                raise NotProved(f"kappa is less than -1 in {_shown(row)}")
            for r in (1 - row.start, -1 - row.end):
                _check_inequality(_Gap(claim, row, r), boxes, f"r = {float(r):.4g}, {_shown(row)}")
    return claim


def _load(path: str | Path) -> object:
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise NotProved(f"the file cannot be read: {error}") from None
    if len(data) > LARGEST_FILE:
        raise NotProved(f"the file is longer than {LARGEST_FILE} bytes")
    try:
        return json.loads(data, object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError):
        raise NotProved("the file is not JSON, repeats a field or is cut off") from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def _parse(data: object) -> tuple[ProofClaim, list[Row]]:
    fields = _fields("a proof", data, ("format", "claim", "intervals"))
    if fields["format"] != FORMAT:
        raise NotProved(f"the format must be {FORMAT!r}")
    stated = _fields("the claim", fields["claim"], ProofClaim._fields)
    n_experts = stated["n_experts"]
    if type(n_experts) is not int or not 1 <= n_experts <= 10**18:
        raise NotProved("n_experts must be a whole number from 1 to 10^18")
    names = ("alpha_from", "alpha", "c", "potential")
    alpha_from, alpha, c, potential = (_exact(name, stated[name]) for name in names)
    if not (0 <= alpha_from <= alpha and Fraction(1, 10**12) <= alpha < 1):
        raise NotProved("alpha must be from 1e-12 to less than 1, and alpha_from from 0 to alpha")
    if not Fraction(1, 1000) <= c <= 1000:
        raise NotProved("c must be from 0.001 to 1000")
    if not 1 <= potential <= 10**12:
        raise NotProved("the potential must be from 1 to 10^12")
    rows = fields["intervals"]
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_ROWS:
        raise NotProved(f"intervals must be a list of 1 to {MOST_ROWS} rows")
    claim = ProofClaim(alpha_from, alpha, n_experts, c, potential)
    return claim, [_row(i, row) for i, row in enumerate(rows)]


def _fields(what: str, data: object, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, dict) or set(data) != set(names):
        raise NotProved(f"{what} must have exactly the fields {', '.join(names)}")
    return data


def _row(index: int, row: object) -> Row:
    if not isinstance(row, list) or len(row) != len(Row._fields):
        raise NotProved(f"interval {index} must be a list of {len(Row._fields)} decimals")
    return Row(*(_exact(f"interval {index}", value) for value in row))


def _exact(name: str, value: object) -> Fraction:
    if not isinstance(value, str) or not DECIMAL.fullmatch(value):
        raise NotProved(f"{name} must be a plain decimal in quotes, such as '0.001' or '1e-3'")
    return Fraction(value)


def _check_cover(rows: Iterable[Row]) -> None:
    reached = Fraction(-1)
    for index, row in enumerate(rows):
        if row.start != reached or row.end <= row.start:
            raise NotProved(f"interval {index} does not begin where the one before it ends")
        reached = row.end
    if reached != 1:
        raise NotProved("the intervals do not cover [-1, 1]")


def _first_boxes(claim: ProofClaim) -> list[Box]:
    """Return boxes that cover 0 <= x <= x_max and the square roots of the rates."""
    highest = _ball(claim.n_experts * (claim.potential - 1) + 1).log()
    x_max = (2 * _ball(claim.c) * highest).nonnegative_part().sqrt()
    end, low, high = (
        _units(x_max)[1],
        _units(_root(claim.alpha_from))[0],
        _units(_root(claim.alpha))[1],
    )
    cuts = [end * k // PIECES for k in range(PIECES + 1)]
    return [Box(*piece, low, high) for piece in pairwise(cuts)]


def _check_inequality(gap: "_Gap", boxes: Iterable[Box], where: str) -> None:
    """Show that G >= 0 on all boxes."""
    todo = list(boxes)
    for _ in range(MOST_BOXES):
        if not todo:
            return
        box = todo.pop()
        middle, along_x, along_h = gap.enclose(box)
        if middle + along_x + along_h >= 0:
            continue
        if not (middle >= 0 and along_x.is_finite() and along_h.is_finite()):
            break
        todo += box.halves(across_x=bool(along_x.rad() >= along_h.rad()))
    raise NotProved(f"the inequality is not shown near x = {box.left / 2**UNIT:.4g}, {where}")


class _Gap:
    """The function G for one row and one r."""

    def __init__(self, claim: ProofClaim, row: Row, r: Fraction) -> None:
        self.c, self.rate, self.r = claim.c, _ball(1 / claim.c), _ball(r)
        self.a, self.lambda0 = _ball(row.a), _ball(row.a * claim.potential)
        self.slope, self.push = _ball(row.beta * r / claim.c), _ball(r / claim.c)

    def enclose(self, box: Box) -> tuple[arb, arb, arb]:
        """Return balls that contain G in the middle, and its change along x and along h."""
        (z, x, u, u1), (k, h) = _side_x(box.left, box.right, self.c), _side_h(box.low, box.high)
        s, t = self._exponent(z, k)
        value = self.lambda0 * u - self.a + self.slope * z - s - t * t * _phi(k * t)
        s, t = self._exponent(x, h)
        s_x = -self.rate * (h * self.r + (2 - h * h) * x)
        s_h = self.rate * x * (h * x - self.r)
        tilt = t * (1 + h * t * _phi(h * t))
        g_x = self.lambda0 * u1 + self.slope - s_x - tilt * (self.push + h * s_x)
        g_h = -s_h - tilt * (s + h * s_h) - t * t * t * _phi_prime(h * t)
        return value, g_x * (x - z), g_h * (h - k)

    def _exponent(self, x: arb, h: arb) -> tuple[arb, arb]:
        """Return s and t."""
        s = (self.r * (self.r - 2 * h * x) - (2 - h * h) * x * x) * self.rate / 2
        return s, x * self.push + h * s


@lru_cache(maxsize=20_000)
def _side_x(left: int, right: int, c: Fraction) -> tuple[arb, arb, arb, arb]:
    """Return balls for the middle and for all of a side, and u and u' on these."""
    z, x = _middle(left, right), _whole(left, right)
    rate = _ball(1 / c)
    return z, x, (-rate * z * z / 2).exp(), -rate * x * (-rate * x * x / 2).exp()


@lru_cache(maxsize=20_000)
def _side_h(low: int, high: int) -> tuple[arb, arb]:
    return _middle(low, high), _whole(low, high)


def _middle(low: int, high: int) -> arb:
    return arb(low + high) * arb(2) ** (-UNIT - 1)


def _whole(low: int, high: int) -> arb:
    """Return a ball that contains all numbers from low to high, in units."""
    return _middle(low, high) + arb(0, arb(high - low) * arb(2) ** (-UNIT - 1))


def _phi(z: arb) -> arb:
    """Enclose ``sum_k z^k / (k+2)!``; from the n-th term on it is at most ``|z|^n e^|z| / n!``."""
    terms = FEW if z.abs_upper() < 0.5 else MANY
    total = arb(0)
    for k in reversed(range(terms)):
        total = total * z + INVERSE[k + 2]
    return total + _tail(z, terms)


def _phi_prime(z: arb) -> arb:
    """Enclose ``sum_k k z^(k-1) / (k+2)!`` in the same way."""
    terms = FEW if z.abs_upper() < 0.5 else MANY
    total = arb(0)
    for k in reversed(range(1, terms)):
        total = total * z + k * INVERSE[k + 2]
    return total + _tail(z, terms - 1)


def _tail(z: arb, terms: int) -> arb:
    size = z.abs_upper()
    return arb(0, size**terms * INVERSE[terms] * size.exp())


def _root(value: Fraction) -> arb:
    return _ball(value).sqrt()


def _units(value: arb) -> tuple[int, int]:
    """Return whole numbers of units below and above all of a ball."""
    scaled = value * 2**UNIT
    low, high = scaled.lower().floor().unique_fmpz(), scaled.upper().ceil().unique_fmpz()
    if low is None or high is None:
        raise NotProved("a number could not be enclosed")
    return max(int(low), 0), int(high)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


with ctx.workprec(BITS):
    INVERSE = [_ball(Fraction(1, factorial(k))) for k in range(MANY + 2)]


def _shown(row: Row) -> str:
    return f"m from {float(row.start):.6g} to {float(row.end):.6g}"


def main(arguments: list[str]) -> int:
    """Check one file; return 0 if it proves its claim, else 2."""
    if len(arguments) != 1:
        sys.stderr.write("usage: check_proof.py FILE\n")
        return 2
    try:
        claim = check_proof(arguments[0])
    except NotProved as error:
        sys.stderr.write(f"not proved: {error}\n")
        return 2
    sys.stdout.write(f"{sentence(claim)}\n")
    return 0


def sentence(claim: ProofClaim) -> str:
    """Return a proved claim as a sentence."""
    low, high, c, potential = (_in_full(claim[i]) for i in (0, 1, 3, 4))
    rates = f"alpha = {high}" if low == high else f"every positive alpha from {low} to {high}"
    return (
        f"proved: with {rates} and c = {c} the average potential of at most {claim.n_experts} "
        f"experts never exceeds {potential}"
    )


def _in_full(value: Fraction | int) -> str:
    """Return a decimal with all its digits."""
    exact = Context(prec=400).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{exact.normalize(Context(prec=400)):f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
