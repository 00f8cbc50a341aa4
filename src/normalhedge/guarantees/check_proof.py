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

**For every number of experts.** A claim (alpha, reach, power, c, B) without N speaks of all rates
up to alpha and all N with ``alpha (ln N)^power <= reach``, where the power is 1 or 2. Let
``B <= 3/2`` and ``N >= 2``; then ``N B - N + 1 <= N`` and ``x_max^2 <= 2 c ln N``. So x has no
bound as h -> 0, but

    h x <= Z,  Z^2 = 2 c reach  (power 1),      h x^2 <= Y,  Y = 2 c sqrt(reach)  (power 2).

Where ``x <= X_0`` the boxes are as before, without those where that is wrong. Beyond X_0, with
``v = 1/x`` and ``z = h x``, (1) follows from ``E >= 0``, where E is ``G / x^2`` without the term
``A B u / x^2 >= 0``:

    E = -A v^2 + beta r v / c - sigma - tau^2 phi(z tau),
    sigma = s / x^2 = ((r - z)^2 v^2 - 2) / 2c,      tau = t / x = r / c + z sigma.

E is smooth on the rectangle ``0 <= z <= Z``, ``0 <= v <= 1 / X_0``, which is cut into boxes, too.
For power 2, c must be at least 2, and ``y = h x^2 = z / v`` takes the place of z. With
``rho = r / c`` and ``phi_3(z) = sum_k z^k / (k+3)!``, by which
``tau^2 phi(z tau) = tau^2 / 2 + z tau^3 phi_3(z tau)``,

    E / v = (1 - r rho / 2) / (c v) + beta rho - A v - (r - z)^2 v / 2c
            - y (rho sigma + z sigma^2 / 2 + tau^3 phi_3(z tau)).

The first term is not negative, as ``r^2 <= 4 <= 2c``; on a box it is at least its value at the
largest v. The others are smooth.

**With a delay.** A claim (alpha, N, c, B, delay d) is about one rate. Between a prediction and its
own outcome at most d other outcomes are learned. So the weights of a round come from regrets x'
that have changed since: ``|x - k x'| <= h Xi``, with ``k = (1-alpha)^d``, ``Xi = 2 (1-k) / alpha``,
and less if they are fewer than d. Phi'(x') replaces Phi'(x) in (1), which must hold for all such
x'. If lambda1 >= 0 the worst are ``[x - h Xi]+ / k`` where r > 0, ``(x + h Xi) / k`` where r < 0.
The left side less the right side stays convex in r. Then

    G = A (B u - 1) + (1 + h beta) psi r / h - (exp((y^2 - x^2) / 2c) - 1) / alpha,

``psi = Phi'(x') / Phi(x)``, is shown to be >= 0 on intervals of x, in the same way.

**With multipliers that know the leader.** A claim (alpha_from, alpha, N, c, B, bend k) is about the
average of ``W(x) = Phi(x) P([x]+)``, ``P(x) = 1 + alpha k x^2``, k >= 0, over N experts; those who
have not joined count with x = 0. As ``P >= 1``, the average potential is not larger, and
``exp(y^2/2c) P(y)`` is convex in y and rises with |y|. A row has three more numbers: an interval
that contains the largest scaled regret X (0 if none is positive), and a level L. Then (1) is needed
in two places,

    exp(y^2/2c) P(y) - W(x)  <=  alpha (L - A W(x)) + lambda1 Phi'(x) r     for 0 <= x <= X,
    exp(y^2/2c) P(y) - W(X)  <=  alpha (N A B - (N-1) L - A W(X)) + lambda1 Phi'(X) r.

Add the second for the leader and the first for all others: if the sum of W is at most N B, it stays
there. Divided by ``alpha Phi(x)``, both are ``G >= 0`` with

    G = level u - A P(x) + beta x r / c - (s + t^2 phi(h t)) P(y) - k (h y^2 x r / c + y^2 - x^2),

where the level is L, or N A B - (N-1) L.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from fractions import Fraction
from itertools import groupby, pairwise
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
FAR_PIECES = 8
"""The number of pieces that each side of the rectangle of z and v is first cut into."""
DECIMAL = re.compile(r"-?[0-9]{1,25}(\.[0-9]{1,50})?(e-?[0-9]{1,2})?")

Number = Any
"""A ball, or a `_Jet`."""

BOUNDED = ("alpha_from", "alpha", "n_experts", "c", "potential")
LATE = ("alpha", "n_experts", "c", "potential", "delay")
EVERY = ("alpha", "reach", "power", "c", "potential")
LED = (*BOUNDED, "bend")
"""The fields of a claim about at most N experts, with late outcomes, about every N, and with
multipliers that know the leader."""

WHOLE = {"n_experts": (1, 10**18), "power": (1, 2), "delay": (1, 10_000)}
"""The fields that are whole numbers, and their limits; all others are decimals in quotes."""


class NotProved(ValueError):  # noqa: N818 -- an answer, not a fault
    """The file does not prove its claim; the message says where it fails."""


class ProofClaim(NamedTuple):
    """The claim that the average potential of at most N experts never exceeds B, at these rates.

    Without ``n_experts`` it is about every N with ``alpha (ln N)^power <= reach``.
    """

    alpha_from: Fraction
    alpha: Fraction
    n_experts: int | None
    c: Fraction
    potential: Fraction
    reach: Fraction | None = None
    power: int = 1
    delay: int = 0
    bend: Fraction | None = None


class Row(NamedTuple):
    """The multipliers for the gains of the hedger in a closed interval.

    If they know the leader: for its scaled regrets in a closed interval, with a level.
    """

    start: Fraction
    end: Fraction
    a: Fraction
    beta: Fraction
    first: Fraction = Fraction(0)
    last: Fraction = Fraction(0)
    level: Fraction = Fraction(0)


class Box(NamedTuple):
    """The box left <= x <= right and low <= h <= high, in units of 2^-UNIT; or of z and v."""

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
    with ctx.workprec(BITS):
        _check_leaders(claim, rows)
        near, far = _near_boxes(claim), _far_boxes(claim)
        beyond = _FarGap if claim.power == 1 else _FartherGap
        for row in rows:
            if row.a * claim.alpha > 1:
                raise NotProved(f"kappa is less than -1 in {_show(row)}")
            if row.a < 0:
                raise NotProved(f"A is negative in {_show(row)}")
            if claim.delay and row.beta < 0 and row.beta**2 * claim.alpha >= 1:
                raise NotProved(f"lambda1 is not positive in {_show(row)}")
            for r in (1 - row.start, -1 - row.end):
                where = f"r = {float(r):.4g}, {_show(row)}"
                if claim.bend is not None:
                    _check_led(claim, row, r, near, where)
                    continue
                gap = _LateGap(claim, row, r) if claim.delay else _Gap(claim, row, r)
                _check_inequality(gap, near, f"x = {{:.4g}}, {where}")
                _check_inequality(beyond(claim, row, r), far, f"h x^p = {{:.4g}}, {where}")
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
    rows = fields["intervals"]
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_ROWS:
        raise NotProved(f"intervals must be a list of 1 to {MOST_ROWS} rows")
    claim = _claim(fields["claim"])
    width = len(Row._fields) - (0 if claim.bend is not None else 3)
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != width:
            raise NotProved(f"interval {i} must be a list of {width} decimals")
    return claim, [Row(*(_exact(f"interval {i}", v) for v in row)) for i, row in enumerate(rows)]


def _claim(data: object) -> ProofClaim:
    kinds = {"reach": EVERY, "delay": LATE, "bend": LED}
    present = [kinds[name] for name in kinds if isinstance(data, dict) and name in data]
    stated = _fields("the claim", data, (*present, BOUNDED)[0])
    read: dict[str, Any] = {
        name: _count(name, value, *WHOLE[name]) if name in WHOLE else _exact(name, value)
        for name, value in stated.items()
    }
    if "delay" in read:
        read["alpha_from"] = read["alpha"]
    claim = ProofClaim(**{"alpha_from": Fraction(0), "n_experts": None, **read})
    alpha, c, potential, reach = claim.alpha, claim.c, claim.potential, claim.reach
    if not (0 <= claim.alpha_from <= alpha and Fraction(1, 10**12) <= alpha < 1):
        raise NotProved("alpha must be from 1e-12 to less than 1, and alpha_from from 0 to alpha")
    if not Fraction(1, 1000) <= c <= 1000:
        raise NotProved("c must be from 0.001 to 1000")
    if not 1 <= potential <= 10**12:
        raise NotProved("the potential must be from 1 to 10^12")
    if reach is not None and not (0 < reach <= 100 and potential <= Fraction(3, 2)):
        raise NotProved("for every N, reach must be from 0 to 100 and the potential at most 1.5")
    if claim.power == 2 and c < 2:
        raise NotProved("for every N and power 2, c must be at least 2")
    if claim.bend is not None and claim.bend < 0:
        raise NotProved("the bend must not be negative")
    return claim


def _count(name: str, value: object, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise NotProved(f"{name} must be a whole number from {least} to {most}")
    return value


def _fields(what: str, data: object, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, dict) or set(data) != set(names):
        raise NotProved(f"{what} must have exactly the fields {', '.join(names)}")
    return data


def _exact(name: str, value: object) -> Fraction:
    if not isinstance(value, str) or not DECIMAL.fullmatch(value):
        raise NotProved(f"{name} must be a plain decimal in quotes, such as '0.001' or '1e-3'")
    return Fraction(value)


def _check_leaders(claim: ProofClaim, rows: list[Row]) -> None:
    """Show that the rows cover all scaled regrets of a leader, and all gains for each of them."""
    reached = Fraction(0)
    for (first, last), some in groupby(rows, lambda row: (row.first, row.last)):
        if claim.bend is not None and not first == reached < last:
            raise NotProved(f"the leaders from {float(first):.6g} on do not follow those before")
        reached = last
        _check_cover(some)
    if claim.bend is not None and _units(_ball(reached))[0] < _end_of_x(claim):
        raise NotProved(f"the leaders end at {float(reached):.6g}, below x_max")


def _check_led(claim: ProofClaim, row: Row, r: Fraction, near: list[Box], where: str) -> None:
    """Show the inequality for the leader, and for all who are not above it."""
    n, (first, last) = claim.n_experts or 0, (_units(_ball(x)) for x in (row.first, row.last))
    above = n * row.a * claim.potential - (n - 1) * row.level
    for level, pieces, who in (
        (row.level, _pieces(last[1], PIECES), "the others"),
        (above, [(first[0], last[1])], "the leader"),
    ):
        boxes = [near[0]._replace(left=left, right=right) for left, right in pieces]
        place = f"x = {{:.4g}} of {who} under {float(row.last):.6g}, {where}"
        _check_inequality(_LedGap(claim, row, r, level), boxes, place)


def _check_cover(rows: Iterable[Row]) -> None:
    reached = Fraction(-1)
    for index, row in enumerate(rows):
        if row.start != reached or row.end <= row.start:
            raise NotProved(f"interval {index} does not begin where the one before it ends")
        reached = row.end
    if reached != 1:
        raise NotProved("the intervals do not cover [-1, 1]")


def _near_boxes(claim: ProofClaim) -> list[Box]:
    """Return boxes that cover 0 <= x <= x_max, or X_0, and the square roots of the rates."""
    end = _end_of_x(claim)
    low, high = _units(_root(claim.alpha_from))[0], _units(_root(claim.alpha))[1]
    return [Box(*piece, low, high) for piece in _pieces(end, PIECES)]


def _end_of_x(claim: ProofClaim) -> int:
    """Return x_max, or X_0, in units and rounded up."""
    if claim.n_experts is None:
        return _start_of_far(claim)
    highest = _ball(claim.n_experts * (claim.potential - 1) + 1).log()
    return _units((2 * _ball(claim.c) * highest).nonnegative_part().sqrt())[1]


def _far_boxes(claim: ProofClaim) -> list[Box]:
    """Return boxes that cover 0 <= z <= Z, or y <= Y, and 0 <= v <= 1/X_0; none for bounded N."""
    if claim.reach is None:
        return []
    last = -((-1 << 2 * UNIT) // _start_of_far(claim))
    return [
        Box(*side, *other)
        for side in _pieces(_units(_largest(claim))[1], FAR_PIECES)
        for other in _pieces(last, FAR_PIECES)
    ]


def _pieces(end: int, count: int) -> list[tuple[int, int]]:
    """Return intervals from 0 to the end."""
    return list(pairwise(end * k // count for k in range(count + 1)))


def _start_of_far(claim: ProofClaim) -> int:
    """Return X_0 in units: any number will do, and at 6 sqrt(c) the factor u is e^-18."""
    return _units(6 * _root(claim.c))[1]


def _largest(claim: ProofClaim) -> arb:
    """Return Z, or Y: the largest h x^power."""
    reach = claim.reach or Fraction(0)
    if claim.power == 1:
        return _root(2 * claim.c * reach)
    return 2 * _ball(claim.c) * _root(reach)


def _check_inequality(gap: "_Gap", boxes: Iterable[Box], where: str) -> None:
    """Show that the gap is not negative on all boxes."""
    todo = list(boxes)
    for _ in range(MOST_BOXES):
        if not todo:
            return
        box = todo.pop()
        if gap.is_outside(box):
            continue
        middle, along_x, along_h = gap.enclose(box)
        if middle + along_x + along_h >= 0:
            continue
        hopeless = not middle >= 0 and gap.is_inside(box)
        if hopeless or not (along_x.is_finite() and along_h.is_finite()):
            break
        todo += box.halves(across_x=bool(along_x.rad() >= along_h.rad()))
    raise NotProved(f"the inequality is not shown near {where.format(box.left / 2**UNIT)}")


class _Jet:
    """A ball, and balls of its derivatives along the two sides of a box."""

    def __init__(self, value: arb, first: arb, second: arb) -> None:
        self.value, self.first, self.second = value, first, second

    def __add__(self, other: Number) -> "_Jet":
        if not isinstance(other, _Jet):
            return _Jet(self.value + other, self.first, self.second)
        first, second = self.first + other.first, self.second + other.second
        return _Jet(self.value + other.value, first, second)

    def __mul__(self, other: Number) -> "_Jet":
        if not isinstance(other, _Jet):
            return self.chain(self.value * other, other)
        first = self.first * other.value + self.value * other.first
        second = self.second * other.value + self.value * other.second
        return _Jet(self.value * other.value, first, second)

    def __sub__(self, other: Number) -> Number:
        return self + other * -1

    def __rsub__(self, other: Number) -> Number:
        return self * -1 + other

    __radd__, __rmul__ = __add__, __mul__

    def chain(self, value: arb, slope: Number) -> "_Jet":
        """Return a function of this number, given its value and its slope."""
        return _Jet(value, slope * self.first, slope * self.second)

    def exp(self) -> "_Jet":
        """Return the exponential."""
        value = self.value.exp()
        return self.chain(value, value)


class _Gap:
    """The function G for one row and one r."""

    def __init__(self, claim: ProofClaim, row: Row, r: Fraction) -> None:
        self.power = claim.power
        self.limit = None if claim.reach is None else _units(_largest(claim))[1]
        self.rate, self.half, self.r = _ball(1 / claim.c), _ball(1 / (2 * claim.c)), _ball(r)
        self.a, self.lambda0 = _ball(row.a), _ball(row.a * claim.potential)
        self.slope, self.push = _ball(row.beta * r / claim.c), _ball(r / claim.c)

    def is_outside(self, box: Box) -> bool:
        """Tell whether no point of a box has to be checked."""
        return self.limit is not None and self._product(box.left, box.low) > self.limit

    def is_inside(self, box: Box) -> bool:
        """Tell whether all points of a box have to be checked."""
        return self.limit is None or self._product(box.right, box.high) <= self.limit

    def _product(self, x: int, h: int) -> int:
        """Return h x^power, which has a limit, in units and rounded down."""
        product: int = x**self.power * h >> self.power * UNIT
        return product

    def enclose(self, box: Box) -> tuple[arb, arb, arb]:
        """Return balls that contain G in the middle, and its change along x and along h."""
        return _mean_value(self.gap, box)

    def gap(self, x: Number, h: Number) -> Number:
        """Return G."""
        s, t = self._exponent(x, h)
        u = (x * x * -self.half).exp()
        return self.lambda0 * u - self.a + self.slope * x - s - _series(t, h, 2)

    def _exponent(self, x: Number, h: Number) -> tuple[Number, Number]:
        """Return s and t."""
        s = (self.r * (self.r - 2 * h * x) - (2 - h * h) * x * x) * self.half
        return s, x * self.push + h * s


class _LedGap(_Gap):
    """The function G for a leader, or for all below it."""

    def __init__(self, claim: ProofClaim, row: Row, r: Fraction, level: Fraction) -> None:
        super().__init__(claim, row, r)
        self.lambda0, self.bend = _ball(level), _ball(claim.bend or Fraction(0))

    def gap(self, x: Number, h: Number) -> Number:
        """Return G, with y - x = h (r - h x)."""
        s, t = self._exponent(x, h)
        move = h * (self.r - h * x)
        y, hx = x + move, h * x
        hy = h * y
        value = self.lambda0 * (x * x * -self.half).exp() + self.slope * x
        value = value - self.a * (1 + self.bend * (hx * hx))
        value = value - (s + _series(t, h, 2)) * (1 + self.bend * (hy * hy))
        return value - self.bend * (hy * y * x * self.push + move * (2 * x + move))


class _LateGap(_Gap):
    """The function G for outcomes that are late, of x alone."""

    def __init__(self, claim: ProofClaim, row: Row, r: Fraction) -> None:
        super().__init__(claim, row, r)
        self.alpha, self.h = _ball(claim.alpha), _root(claim.alpha)
        kept = (1 - claim.alpha) ** claim.delay
        self.inverse = _ball(1 / kept)
        self.shift = self.h * _ball(2 * (1 - kept) / claim.alpha) * (-1 if r > 0 else 1)
        self.still = _units(abs(self.shift))[1] if r > 0 else 0
        self.force = (1 + self.h * _ball(row.beta)) * self.r / self.h

    def is_inside(self, box: Box) -> bool:
        """Tell whether psi is not a mere lower bound in a part of the box."""
        return not box.left < self.still < box.right

    def enclose(self, box: Box) -> tuple[arb, arb, arb]:
        """Return balls that contain G in the middle, and its change along x."""
        # Where psi may begin to rise it is replaced by 0, which is less.
        return _mean_value(lambda x, _: self._gap(x, still=box.left < self.still), box)

    def _gap(self, x: Number, *, still: bool) -> Number:
        move = self.h * self.r - self.alpha * x  # y - x
        grown = (move * (2 * x + move) * self.half).exp()
        value = self.lambda0 * (x * x * -self.half).exp() - self.a - (grown - 1) * (1 / self.alpha)
        if still:
            return value
        before = (x + self.shift) * self.inverse
        psi = before * ((before - x) * (before + x) * self.half).exp() * self.rate
        return value + self.force * psi


class _FarGap(_Gap):
    """The function E of z and v for one row and one r."""

    def __init__(self, claim: ProofClaim, row: Row, r: Fraction) -> None:
        super().__init__(claim, row, r)
        self.limit = _units(_root(claim.alpha))[1]

    def _product(self, x: int, h: int) -> int:
        """Return h = z v, or y v^2, which is at most sqrt(alpha), in units and rounded down."""
        product: int = x * h**self.power >> self.power * UNIT
        return product

    def gap(self, x: Number, h: Number) -> Number:
        """Return E, given z and v."""
        sigma, tau = self._sigma_and_tau(x, h)
        return h * (self.slope - self.a * h) - sigma - _series(tau, x, 2)

    def _sigma_and_tau(self, z: Number, v: Number) -> tuple[Number, Number]:
        """Return sigma and tau."""
        away = (self.r - z) * v
        sigma = (away * away - 2) * self.half
        return sigma, self.push + z * sigma


class _FartherGap(_FarGap):
    """The function E / v of y and v for one row and one r."""

    def __init__(self, claim: ProofClaim, row: Row, r: Fraction) -> None:
        super().__init__(claim, row, r)
        self.first = _ball((1 - r * r / (2 * claim.c)) / claim.c)

    def enclose(self, box: Box) -> tuple[arb, arb, arb]:
        """Return a ball whose lower end is below E / v, and balls of its change along y and v."""
        value, along_y, along_v = super().enclose(box)
        return value + self.first / (box.high * STEP), along_y, along_v

    def gap(self, x: Number, h: Number) -> Number:
        """Return E / v without its first term, given y and v."""
        z = x * h
        sigma, tau = self._sigma_and_tau(z, h)
        away = self.r - z
        bend = sigma * (self.push + z * sigma * HALF) + _series(tau, z, 3)
        return self.slope - h * (self.a + away * away * self.half) - x * bend


def _mean_value(gap: Callable[[Number, Number], Number], box: Box) -> tuple[arb, arb, arb]:
    """Enclose a function in the middle of a box, and its change along both sides."""
    (z, x), (k, h) = _side(box.left, box.right), _side(box.low, box.high)
    slopes = gap(_Jet(x, arb(1), arb(0)), _Jet(h, arb(0), arb(1)))
    return gap(z, k), slopes.first * (x - z), slopes.second * (h - k)


def _side(low: int, high: int) -> tuple[arb, arb]:
    """Return the middle of a side, and a ball that contains all of it, given in units."""
    middle = (low + high) * STEP * HALF
    return middle, middle + arb(0, (high - low) * STEP * HALF)


def _series(t: Number, h: Number, order: int) -> Number:
    """Enclose ``t^order phi(h t)``, where ``phi(z) = sum_k z^k / (k + order)!``.

    The derivatives are ``t^(order-1)`` times the phi of the order below, and ``t^(order+1) phi'``.
    """
    if not isinstance(t, _Jet):
        return t**order * _phi(h * t, order)
    z = h.value * t.value
    power = t.value ** (order - 1)
    along_t = t.chain(power * t.value * _phi(z, order), power * _phi(z, order - 1))
    along_h = h.chain(arb(0), power * t.value * t.value * _phi_prime(z, order))
    return along_t + along_h


def _phi(z: arb, order: int) -> arb:
    """Enclose ``sum_k z^k / (k + order)!``; from the n-th on all is below ``|z|^n e^|z| / n!``."""
    terms = FEW if z.abs_upper() < 0.5 else MANY
    total = arb(0)
    for k in reversed(range(terms)):
        total = total * z + INVERSE[k + order]
    return total + _tail(z, terms)


def _phi_prime(z: arb, order: int) -> arb:
    """Enclose ``sum_k k z^(k-1) / (k + order)!`` in the same way."""
    terms = FEW if z.abs_upper() < 0.5 else MANY
    total = arb(0)
    for k in reversed(range(1, terms)):
        total = total * z + k * INVERSE[k + order]
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
    STEP, HALF = arb(2) ** -UNIT, arb("0.5")
    INVERSE = [_ball(Fraction(1, factorial(k))) for k in range(MANY + 3)]


def _show(row: Row) -> str:
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
    exact = (claim.alpha_from, claim.alpha, claim.c, claim.potential)
    low, high, c, potential = map(_in_full, exact)
    rates = f"alpha = {high}" if low == high else f"every positive alpha from {low} to {high}"
    if claim.delay:
        rates += f", at most {claim.delay} outcomes between a prediction and its own,"
    settings, whose = f"{rates} and c = {c}", f" of at most {claim.n_experts} experts"
    if claim.bend is not None:
        whose = (
            f" of {claim.n_experts} experts, those who have not joined counted with a regret of 0,"
        )
    if claim.reach is not None:
        logarithm = "ln N" if claim.power == 1 else "(ln N)^2"
        settings, whose = f"c = {c}, every positive alpha up to {high} and every number N of ", ""
        settings += f"experts with alpha {logarithm} <= {_in_full(claim.reach)}"
    return f"proved: with {settings} the average potential{whose} never exceeds {potential}"


def _in_full(value: Fraction) -> str:
    """Return a decimal with all its digits."""
    exact = Context(prec=400).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{exact.normalize(Context(prec=400)):f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
