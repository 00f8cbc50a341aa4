"""Turn a certificate into a proof: numbers that `check_proof` checks with exact enclosures."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.boundary import extras, inputs, whole_files
from normalhedge.guarantees._certificate import EDGE, Certificate, NoCertificate, grid_of_gains
from normalhedge.guarantees._every_number import EveryCertificate
from normalhedge.guarantees._led import POINTS, LedCertificate, LedMultipliers, LedProgram
from normalhedge.guarantees._program import Lines, Program

FORMAT = "normalhedge proof 1"
SLACK = 1e-3
STEP = Decimal("0.000001")
"""The ends of the intervals of m, and the potential, are multiples of this."""

WHOLE = ("n_experts", "power", "delay")
"""The fields of a claim that are whole numbers; all others are decimals in quotes."""

DIGITS, LONGER = Context(prec=7), Context(prec=12)
"""The precision of the multipliers, and of those that know the leader."""

KEPT_BY_LEADERS, KEPT = 0.5, 0.25
"""The parts of the smallest margin that intervals of leaders leave, and then intervals of m."""

Interval = tuple[str, ...]


@dataclass(frozen=True)
class Proof:
    """A claim, and the multipliers that prove it for each interval of the hedger's gain.

    All numbers are exact decimals. `normalhedge.guarantees.check_proof` reads the file that
    `write` writes, and checks that the claim follows from the numbers alone.

    Attributes
    ----------
    claim
        The names and values that `check_proof.ProofClaim` explains.
    intervals
        Rows of from, to, A, beta; if the multipliers know the leader, also the interval of leaders
        and the level.
    """

    claim: dict[str, Any]
    intervals: tuple[Interval, ...]

    @property
    def potential(self) -> float:
        """B, which the average potential never exceeds."""
        return float(self.claim["potential"])

    @property
    def file_name(self) -> str:
        """A name for the file, which states the claim."""
        claim = self.claim
        if "reach" in claim:
            logarithm = "log" if claim["power"] == 1 else "log-squared"
            return f"c{claim['c']}-alpha0-to-{claim['alpha']}-{logarithm}{claim['reach']}.json"
        late = f"-delay{claim['delay']}" if "delay" in claim else "-led" if "bend" in claim else ""
        rates = dict.fromkeys((claim.get("alpha_from", claim["alpha"]), claim["alpha"]))
        return f"c{claim['c']}-alpha{'-to-'.join(rates)}-n{claim['n_experts']}{late}.json"

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file that `write` writes."""
        rows = [list(row) for row in self.intervals]
        return {"format": FORMAT, "claim": self.claim, "intervals": rows}

    def write(self, path: str | Path) -> None:
        """Write the proof as JSON, one row on each line."""
        rows = ",\n".join("  " + json.dumps(row) for row in self.intervals)
        head = f'{{"format": {json.dumps(FORMAT)},\n "claim": {json.dumps(self.claim)},\n'
        text = f'{head} "intervals": [\n{rows}\n]}}\n'
        whole_files.write_whole(Path(path), lambda part: part.write_text(text, encoding="utf-8"))


def prove(
    certificate: Certificate | EveryCertificate | LedCertificate, *, slack: float = SLACK
) -> Proof:
    """Prove a certificate for a slightly larger potential.

    The claim is made for ``B = 1 + (C - 1)(1 + slack)``, rounded up in the sixth decimal. That
    leaves room in the inequality. One part of it lets a whole interval of m share its multipliers;
    the other part is a margin for the enclosures of the check. Starting from m = -1, each interval
    is made as long as the margin allows. The proof is found in floating point, and it is returned
    only if `check_proof` accepts it.

    Parameters
    ----------
    certificate
        A result of `certify`, `certify_every` or `certify_led`. Its numbers mean the decimals that
        Python prints.
    slack
        The relative difference of ``B - 1`` and ``C - 1``. Half the slack takes about 1.4 to 2
        times as many intervals.

    Raises
    ------
    NoCertificate
        If no margin is left: the slack is too small for the error of the certificate.
    """
    extras.require("flint")
    from normalhedge.guarantees.check_proof import NotProved, check_proof  # noqa: PLC0415

    if not certificate.alpha:
        raise ValueError("a limit cannot be proved; certify a positive alpha")
    if not isinstance(certificate, EveryCertificate) and certificate.n_experts > 10**18:
        raise ValueError("a proof can be about at most 10^18 experts")
    slack = inputs.number("slack", slack, 0.0, 10.0)
    potential = Decimal(1.0 + (certificate.potential - 1.0) * (1.0 + slack))
    potential = potential.quantize(STEP, rounding=ROUND_CEILING)
    for finer in (1, 4, 16):
        if isinstance(certificate, LedCertificate):
            proof = _led_draft(certificate, potential, finer)
        else:
            proof = _draft(certificate, potential, finer)
        try:
            check_proof(proof.to_dict())
        except NotProved as error:
            last_error = error
        else:
            return proof
    raise NoCertificate(f"the certificate could not be proved: {last_error}")


def _draft(certificate: Certificate | EveryCertificate, potential: Decimal, finer: int) -> Proof:
    """Return a proof that is not checked yet, from a grid so many times as fine as the first."""
    bound = float(potential)
    program = certificate.grid(bound, finer)
    margin = 0.3 * _largest_margin(program, bound, certificate)
    while margin > 1e-9:
        try:
            rows = tuple(_intervals(program, potential, margin))
        except NoCertificate:
            margin /= 2.0
        else:
            return Proof(_claim(certificate.claim, potential), rows)
    raise NoCertificate("no margin is left: use a larger slack or a smaller tolerance")


def _claim(claim: Mapping[str, Any], potential: Decimal) -> dict[str, Any]:
    """Return a claim with its numbers as decimals in quotes."""
    shown = {
        name: value if isinstance(value, int) and name in WHOLE else _plain(value)
        for name, value in claim.items()
    }
    return {**shown, "potential": _plain(potential)}


def _led_draft(certificate: LedCertificate, potential: Decimal, finer: int) -> Proof:
    """Return a proof with multipliers that know the leader; it is not checked yet."""
    worst, _, gain = certificate.program(float(potential)).worst()
    program = certificate.program(float(potential), POINTS * finer)
    rows: list[Interval] = []
    start, width = Decimal(0), (Decimal(program.x_max) / 2).quantize(STEP)
    while float(start) <= program.x_max * (1.0 + 1e-9):
        leaders = start, start + width
        try:
            if not _leaders_fit(program, leaders, gain, KEPT_BY_LEADERS * worst):
                raise NoCertificate(f"no multipliers were found for a leader near {start}")
            rows += list(_led_intervals(program, leaders, KEPT * worst))
        except NoCertificate:
            width = (width / 2).quantize(STEP)
            if not width:
                raise
        else:
            start, width = start + width, (width * Decimal("1.5")).quantize(STEP)
    return Proof(_claim(certificate.claim, potential), tuple(rows))


def _leaders_fit(
    program: LedProgram, leaders: tuple[Decimal, Decimal], gain: float, margin: float
) -> bool:
    """Tell whether an interval of leaders leaves a margin at all gains of a grid."""
    gains = grid_of_gains(40, gain)
    ends = np.tile(np.array(leaders, dtype=np.float64), (gains.size, 1))
    return bool(program.solve(ends, np.stack([gains, gains], axis=1)).margin.min() >= margin)


def _led_intervals(
    program: LedProgram, leaders: tuple[Decimal, Decimal], margin: float
) -> Iterator[Interval]:
    """Yield intervals of m from -1 to 1 for an interval of leaders."""
    ends = np.array([leaders], dtype=np.float64)

    def solve(start: Decimal, end: Decimal) -> LedMultipliers:
        return program.solve(ends, np.array([(start, end)], dtype=np.float64))

    for start, end in _cover(lambda start, end: bool(solve(start, end).margin[0] >= margin)):
        numbers = (LONGER.create_decimal_from_float(float(v[0])) for v in solve(start, end)[:3])
        a, beta, level = numbers
        yield tuple(map(_plain, (start, end, a, beta, *leaders, level)))


def _largest_margin(
    program: Program, potential: float, certificate: Certificate | EveryCertificate
) -> float:
    """Return the largest margin with which the inequality holds on a grid of m."""
    low, high = 0.0, 1.0
    gains = [row.m for row in certificate.multipliers]

    def fits(margin: float) -> bool:
        guess = 1.0
        for m in gains:
            point = program.lines(1.0 - m, -1.0 - m, margin).solve(potential, guess)
            if point.room < 0.0:
                return False
            guess = point.a
        return True

    while high - low > 0.1 * high and high > 1e-8:
        middle = high / 4.0 if not low else 0.5 * (low + high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _intervals(program: Program, potential: Decimal, margin: float) -> Iterator[Interval]:
    """Yield intervals from -1 to 1, each as long as one pair of multipliers allows."""
    guess, bound = 1.0, float(potential)

    def fits(start: Decimal, end: Decimal) -> bool:
        return _lines(program, start, end, margin).solve(bound, guess).room >= 0.0

    for start, end in _cover(fits, Decimal("0.01")):
        point = _lines(program, start, end, margin).solve(bound)
        numbers = (DIGITS.create_decimal_from_float(value) for value in (point.a, point.beta))
        yield tuple(map(_plain, (start, end, *numbers)))
        guess = point.a


def _cover(
    fits: Callable[[Decimal, Decimal], bool], width: Decimal = Decimal("0.1")
) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield intervals that cover [-1, 1], each about as long as the proof allows."""
    start = Decimal(-1)
    while start < 1:
        end = min(start + width, Decimal(1)).quantize(STEP)
        while not fits(start, end):
            width = (end - start) / 2
            if width < STEP:
                raise NoCertificate(f"no multipliers were found near m = {start}")
            end = (start + width).quantize(STEP)
        for _ in range(5):
            longer = min((end + width).quantize(STEP), Decimal(1))
            if fits(start, longer):
                end = longer
            else:
                width /= 2
        yield start, end
        width, start = max(end - start, STEP), end


def _lines(program: Program, start: Decimal, end: Decimal, margin: float) -> Lines:
    return program.lines(max(1.0 - float(start), EDGE), min(-1.0 - float(end), -EDGE), margin)


def _plain(value: Decimal | float) -> str:
    """Return a decimal in the fewest characters."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(value))
    exact = exact.normalize(Context(prec=60))
    fixed, scientific = f"{exact:f}", f"{exact:e}"
    return fixed if len(fixed) <= len(scientific) else scientific.replace("e+", "e")
