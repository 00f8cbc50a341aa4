"""The numbers of the note: compute them, and write numbers.tex beside this file.

``python docs/note/compute.py`` computes all of them, in some ten minutes. With ``--quick`` it
computes the numbers that take seconds, and keeps the others; with names of functions below, the
numbers of these functions. `nox -s note` runs ``--quick``; tests compare all.
"""

import math
import re
import sys
from collections.abc import Callable
from decimal import ROUND_FLOOR, Context
from pathlib import Path

import numpy as np

from normalhedge import NormalHedge
from normalhedge.guarantees import (
    PAPER_C,
    PAPER_POTENTIAL,
    LedCertificate,
    Shipped,
    best_c,
    best_known,
    certify,
    certify_limit,
    computed_potential,
    critical_reach,
    growth_exponent,
    hedge_bound,
    held_potential,
    shipped,
)
from normalhedge.guarantees._bounds import at_most, scaled_limit
from normalhedge.guarantees._known import PROOFS
from normalhedge.hedgers import Hedge
from normalhedge.research.games import BreakAway, play
from normalhedge.research.games.attacks import break_away, hold
from normalhedge.research.leaderboard import (
    ContestSettings,
    NatureContest,
    compare,
    default_natures,
)
from normalhedge.research.paper import frontier

FILE = Path(__file__).parent / "numbers.tex"
PAPER_PAGE = Path(__file__).parents[1] / "paper.md"
LINE = re.compile(r"^\\newcommand\{\\(n[A-Z]\w*)\}\{(.*)\}$", flags=re.MULTILINE)
ALPHA, EXPERTS = 0.001, 1000
"""The setting of the paper's simulations."""

Numbers = dict[str, str]


def rows(table: list[list[str]]) -> str:
    """Return the rows of a table."""
    return " ".join(" & ".join(row) + r" \\" for row in table)


def at_least(limit: float, digits: int) -> str:
    """Return a lower limit as text, rounded down; `at_most` is for upper limits."""
    return f"{Context(prec=digits, rounding=ROUND_FLOOR).create_decimal_from_float(limit):g}"


def power(limit: str) -> str:
    """Return a limit as two digits times a power of ten."""
    mantissa, _, exponent = f"{float(limit):.1e}".partition("e")
    return rf"{mantissa}\cdot10^{{{int(exponent)}}}"


def count(n: int) -> str:
    """Return a power of ten, or a number below ten thousand as it is."""
    return str(n) if n < 10_000 else f"10^{{{round(math.log10(n))}}}"


def rate(value: str) -> str:
    """Return a rate of a claim as a plain decimal or a power of ten."""
    number = float(value)
    return f"{number:g}" if number >= 1e-3 else f"10^{{{round(math.log10(number))}}}"


def the_paper() -> Numbers:
    """Find what the paper promises in its own simulations, its step (B), and the verdicts."""
    largest_rate = 1.0 / (800.0 * math.log(PAPER_POTENTIAL * EXPERTS))
    # Step (B) with (2 + 1/10)^2 and with 2/5 + 4 alpha in the place of 9/2 and 1/2, for two experts
    square, more = 2.1**2, 0.4 + 4.0 / (800.0 * math.log(2 * PAPER_POTENTIAL))
    factor = square / 2.0 * math.exp(more / 8.0)
    verdicts = re.findall(
        r"^\| (?!\(ours\))[^|]+\| ((?:holds|does not)[^|]*)\|", PAPER_PAGE.read_text(), re.M
    )
    failed = sum(verdict.startswith("does not") for verdict in verdicts)
    part = sum(verdict.startswith("holds only") for verdict in verdicts)
    return {
        "nPaperRate": f"{largest_rate:.2g}".replace("0.00016", r"1.6\cdot10^{-4}"),
        "nPaperRegret": at_most(frontier.paper_bound(EXPERTS) / math.sqrt(ALPHA), 3),
        "nStepB": f"{9 / 4 * 9 / 32 * math.exp(1 / 16):.4f}",
        "nStepBConstant": at_most(factor * (1 / 4 + more / 16), 3),
        "nStepBSlope": at_least(1 / 4 - factor / 16, 3),
        "nClaims": str(len(verdicts)),
        "nClaimsHold": str(len(verdicts) - part - failed),
        "nClaimsPart": str(part),
        "nClaimsFail": str(failed),
    }


def one_expert() -> Numbers:
    """Find how much one potential rises in a round of break-away, just inside Theorem 1."""
    alpha = 0.99 / (800.0 * math.log(PAPER_POTENTIAL * EXPERTS))
    hedger, nature = NormalHedge.paper(alpha), BreakAway(EXPERTS, alpha)
    state, rng = hedger.init(EXPERTS), np.random.default_rng(0)
    for block in nature.gains(nature.rounds // 2 + 209, rng):
        state = hedger.run(block, state=state).state
    after = hedger.step(state, np.where(np.arange(EXPERTS) == 0, 1.0, -1.0))
    before, then = (math.exp(alpha * float(s.regrets[0]) ** 2 / 8.0) for s in (state, after))
    return {
        "nStepBRise": at_least(then - before, 2),
        "nStepBLimit": power(at_most(2.0 * alpha / 3.0, 2)),
    }


def the_bound_of_hedge() -> Numbers:
    """Find what the printed bound says, and what alternate-then-break-away reaches."""
    hedgers = {"Hedge": Hedge.derived(ALPHA, EXPERTS), "NormalHedge": NormalHedge(ALPHA)}
    trace = play(hedgers, BreakAway(EXPERTS, ALPHA), 16_000, every=16_000)
    reached = math.sqrt(ALPHA) * np.asarray(trace.highest_regret)
    derived = hedge_bound(ALPHA, EXPERTS, Hedge.derived(ALPHA, EXPERTS).eta).regret
    best = frontier.hedges_bound(ALPHA, EXPERTS)
    return {
        "nHedgeClaimed": at_most(math.sqrt(math.log(EXPERTS) / (1 - ALPHA / 2)), 4),
        "nHedgeReached": at_least(float(reached[0]), 4),
        "nHedgeDerived": at_most(math.sqrt(ALPHA) * derived, 4),
        "nHedgeBest": at_most(best, 4),
        "nHedgeBestRegret": at_most(best / math.sqrt(ALPHA), 3),
        "nBreakAway": at_least(float(reached[1]), 4),
    }


def larger_rate(claim: Shipped, n: int) -> float:
    """Return the ratio of the largest rate of a proof to the rate of the paper's theorem."""
    largest = min(float(claim.alpha), float(claim.reach or 0) / math.log(n))
    return 800.0 * math.log(PAPER_POTENTIAL * n) * largest


def the_proofs() -> Numbers:
    """Read the claims of the proofs in the package; tests check the files themselves."""
    claims = shipped()
    every = sorted(
        (claim for claim in claims if claim.reach is not None),
        key=lambda claim: (-float(claim.c), -float(claim.alpha)),
    )
    table = []
    for claim in every:
        single = claim.power == 1
        logarithm = r"\ln N" if single else r"(\ln N)^2"
        condition = rf"$\alpha {logarithm} \le {claim.reach}$"
        critical = f"${critical_reach(float(claim.c)):.4f}$" if single else "--"
        table.append(
            [
                f"${claim.c}$",
                f"${rate(claim.alpha)}$",
                condition,
                f"${float(claim.potential):.6f}$",
                critical,
            ]
        )
    chosen = [
        claim
        for claim in claims
        if (claim.c, claim.alpha_from, claim.alpha, claim.n_experts)
        in {
            ("4", "0", "0.1", 10**6),
            ("4", "0", "0.01", 10**12),
            ("2", "0", "0.01", 10**12),
            ("1", "0", "1e-4", 10**9),
            ("1", "1e-3", "1e-3", 10**6),
            ("0.6", "1e-3", "1e-3", 10**6),
        }
    ]
    chosen.sort(key=lambda claim: (-float(claim.c), -float(claim.alpha)))
    bounded = [
        [
            f"${claim.c}$",
            rf"$\alpha = {rate(claim.alpha)}$"
            if claim.alpha_from != "0"
            else rf"$0 < \alpha \le {rate(claim.alpha)}$",
            rf"$N \le {count(claim.n_experts or 0)}$",
            f"${float(claim.potential):.6f}$",
        ]
        for claim in chosen
    ]
    four = next(claim for claim in every if claim.c == "4" and claim.alpha == "0.1")
    small = next(claim for claim in every if claim.c == "4" and claim.alpha == "1e-3")
    ours = best_known(ALPHA, EXPERTS, 1.0)
    led = {
        (float(claim.alpha_from), claim.n_experts): claim
        for claim in claims
        if claim.bend is not None and claim.c == "0.6"
    }
    return {
        "nBend": str(led[ALPHA, 10**6].bend),
        "nLedThousand": at_most(float(led[0.0, 10**3].potential), 5),
        "nLedMillion": at_most(float(led[0.0, 10**6].potential), 5),
        "nHeldThousand": at_least(held_potential(10**3, 0.6), 5),
        "nHeldMillion": at_least(held_potential(10**6, 0.6), 5),
        "nProofs": str(len(claims)),
        "nCheckerLines": str(len((PROOFS.parent / "check_proof.py").read_text().splitlines())),
        "nRowsEvery": rows(table),
        "nRowsBounded": rows(bounded),
        "nReachFour": str(four.reach),
        "nFour": at_most(float(four.potential), 5),
        "nFourSmall": at_most(float(small.potential), 5),
        "nRateFactor": f"{math.floor(800 * float(four.reach or 0))}",
        "nRateFew": "$, $".join(f"{larger_rate(four, n):.0f}" for n in (2, 3, 4)),
        "nExcessFactor": f"{(PAPER_POTENTIAL - 1) / (float(four.potential) - 1):.1f}",
        "nExpertsFour": f"10^{{{math.floor(float(small.reach or 0) / ALPHA / math.log(10))}}}",
        "nOne": at_most(ours.potential, 5),
        "nOneRegret": at_most(ours.regret, 3),
        "nOneScaled": at_most(math.sqrt(ALPHA) * ours.regret, 4),
        "nOneScaledPlain": at_most(math.sqrt(2 * math.log(EXPERTS * ours.potential)), 4),
    }


def the_critical_rate() -> Numbers:
    """Find the rate beyond which a certificate of one round ends."""
    cs = (2.1, 2.5, 3.0, 4.0, 5.0, 8.0, 16.0)
    near = critical_reach(2.0 + 1e-4) / 1e-8
    return {
        "nRowsReach": rows(
            [
                ["$c$", *(f"${c:g}$" for c in cs)],
                [r"$k^*(c)$", *(f"${critical_reach(c):.4f}$" for c in cs)],
            ]
        ),
        "nCriticalFour": f"{critical_reach(4.0):.4f}",
        "nCriticalNear": f"{near:.2f}",
        "nPlainFour": f"{math.exp(1 / (PAPER_C - 2)):.3f}",
    }


def the_exponent() -> Numbers:
    """Find how the potential grows with N below c = 2."""
    cs = (0.52, 0.55, 0.6, 0.7, 0.8, 1.0, 1.5)
    found = [growth_exponent(c) for c in cs]
    grid = np.linspace(0.55, 0.7, 1501)
    constants = [c / (1 - growth_exponent(float(c)).kappa ** 2) for c in grid]
    best = int(np.argmin(constants))
    level = math.sqrt(math.e)
    enough = next(k for k in range(400) if growth_exponent(1.0).lower_bound(10**k) > level)
    return {
        "nRowsExponent": rows(
            [
                ["$c$", *(f"${c:g}$" for c in cs)],
                ["$e(c)$", *(f"${one.exponent:.3g}$" for one in found)],
                [
                    r"$c/(1-\kappa^2)$",
                    *(f"${c / (1 - one.kappa**2):.4g}$" for c, one in zip(cs, found, strict=True)),
                ],
            ]
        ),
        "nExponentSmall": f"{growth_exponent(0.6).exponent:.3f}",
        "nExponentOne": f"{growth_exponent(1.0).exponent:.5f}",
        "nBestC": f"{grid[best]:.3f}",
        "nBestConstant": f"{2 * constants[best]:.3f}",
        "nExpertsOne": f"10^{{{enough}}}",
    }


def rounding_and_delay() -> Numbers:
    """Find the potential of computed regrets, and the proofs for late outcomes."""
    table = []
    for c, alpha, n in (
        (4.0, 1e-3, 10**3),
        (4.0, 1e-3, 10**6),
        (1.0, 1e-3, 10**3),
        (4.0, 1e-6, 10**6),
    ):
        levels = [float(claim.potential) for claim in shipped() if claim.covers(alpha, n, c)]
        least = best_known(alpha, n, c).computed_potential  # by a proof that reaches far enough
        more = min(
            least - level for level in levels if computed_potential(alpha, n, c, level) == least
        )
        table.append(
            [f"${c:g}$", f"${rate(str(alpha))}$", f"${count(n)}$", f"${power(at_most(more, 2))}$"]
        )
    late = [
        claim
        for claim in shipped()
        if claim.delay in (1, 3, 10)
        and claim.alpha in ("0.01", "1e-3")
        and claim.n_experts == 10**6
        and float(claim.potential) < 3.0  # else it hardly says anything of regrets
    ]
    late.sort(key=lambda claim: (-float(claim.alpha), claim.delay))
    return {
        "nRowsRounding": rows(table),
        "nRowsDelay": rows(
            [
                [
                    f"${rate(claim.alpha)}$",
                    f"${claim.delay}$",
                    f"${claim.c}$",
                    f"${float(claim.potential):.6f}$",
                    f"${at_most(scaled_limit(float(claim.potential), 1 / EXPERTS, c), 3)}$",
                ]
                for claim in late
                for c in [float(claim.c)]
            ]
        ),
    }


def alternation() -> Numbers:
    """Find what two halves that take turns reach at c = 1/2."""
    found = [break_away(alpha, 2, 0.5, alternate=60.0).potential for alpha in (1e-2, 1e-3, 1e-4)]
    return {
        f"nHalf{name}": power(at_least(value, 2)) for name, value in zip("ABC", found, strict=True)
    }


def the_frontier() -> Numbers:
    """Find certificates, proofs and attacks at the rate of the paper's simulations."""
    table, corner = [], {}
    for c in frontier.TABLE_CS:
        sizes = frontier.TABLE_EXPERTS if c < 1.0 else (EXPERTS,)  # from 1 on they are all alike
        for n in sizes:
            p = frontier.point(ALPHA, n, c, thorough=True)
            shown = [at_most(level, 5) for level in (p.potential, p.led)]
            shown += [at_most(p.proved, 6), at_least(p.attack_potential, 5)]
            shown += [at_most(p.led_bound, 4), at_least(p.attack_regret, 4)]
            first = f"${c:g}$" if n == sizes[0] else ""
            table.append([first, f"${count(n)}$", *(f"${value}$" for value in shown)])
            corner[c, n] = p
    worst, one = corner[0.6, 10**6], corner[1.0, 10**3]
    return {
        "nRowsFrontier": rows(table),
        "nGapCertificate": at_most(worst.potential, 4),
        "nGapProved": at_most(worst.proved, 4),
        "nGapAttack": at_least(worst.attack_potential, 3),
        "nGapRegret": at_most(worst.led_bound, 3),
        "nGapAttackRegret": at_least(worst.attack_regret, 3),
        "nOneAttack": at_least(one.attack_potential, 5),
        "nOneAttackRegret": at_least(one.attack_regret / math.sqrt(ALPHA), 4),
    }


def the_leader() -> Numbers:
    """Compare the certificate that knows the leader with one expert that is held, as rates fall."""
    table = [["$c$", "$N$", "attack", "certificate"]]
    for c, k in ((0.55, 3), (0.6, 3), (0.6, 6), (0.6, 9), (0.65, 6), (0.7, 6)):
        held = held_potential(10**k, c)
        low, high = 0.98 * held, 1.02 * held
        for _ in range(10):
            middle = 0.5 * (low + high)
            fits = LedCertificate(0.0, 1e-10, 10**k, c, middle, 0.0).program(middle).worst()[0] > 0
            low, high = (low, middle) if fits else (middle, high)
        table.append([f"${c:g}$", f"$10^{{{k}}}$", f"${held:.4g}$", f"${high:.4g}$"])
    return {"nColumnsLed": rows([list(column) for column in zip(*table, strict=True)])}


def a_move_apart() -> Numbers:
    """Check a move that the limit of the program has to allow, above what a held expert reaches."""
    n, c, top, x, m, resting = 10**10, 0.8, 5.8057, 1.224881, -0.5186, 0.175
    moved = np.array([(top, 1 - m, 1 / n), (0.0, 1 - m, resting), (x, -1 - m, 1 - resting)])
    place, r, share = moved.T
    weight = share * np.exp(place**2 / (2 * c))
    change = r**2 / (2 * c) - place**2 / c + (place * r / c) ** 2 / 2
    if abs(np.sum(weight * place * r)) > 1e-5 or np.sum(weight * change) < 0:
        raise ValueError("the move is not allowed, or the potential falls")
    return {
        "nApartC": f"{c:g}",
        "nApartN": count(n),
        "nApartHeld": f"{held_potential(n, c):.3f}",
        "nApartMove": at_least(float(weight.sum()), 4),
    }


def the_smallest_c() -> Numbers:
    """Find the c with the smallest bound on the regret, and how certificates grow towards 1/2."""
    best, near = best_c(ALPHA, EXPERTS), certify(ALPHA, EXPERTS, 0.53, tolerance=1e-3)
    held = hold(ALPHA, EXPERTS, 2.0)
    named = re.fullmatch(r"hold (\d+) of \d+ at weight ([\d.]+)", held.name)
    limits = {c: certify_limit(EXPERTS, c, tolerance=1e-4).potential for c in (1.0, 2.0, 4.0)}
    return {
        "nFiniteC": f"{best.c:.2f}",
        "nFiniteRegret": at_most(best.scaled_regret, 3),
        "nNearHalf": power(at_most(near.potential, 2)),
        "nLimitOne": f"{limits[1.0]:.4f}",
        "nLimitTwo": f"{limits[2.0]:.4f}",
        "nLimitFour": f"{limits[4.0]:.4f}",
        "nAttackTwo": at_least(held.potential, 5),
        "nHeldTwo": named[1] if named else "",
        "nShareTwo": named[2] if named else "",
    }


def held_experts() -> Numbers:
    """Hold one expert against the rest, beside the lower bound of the theorem."""
    table = []
    for c, k in ((0.6, 9), (0.6, 20), (0.7, 40), (1.0, 60), (1.0, 90)):
        cells = [at_least(hold(alpha, 10**k, c).potential, 4) for alpha in (1e-3, 1e-4)]
        bound = at_least(growth_exponent(c).lower_bound(10**k), 4)
        table.append([f"${c:g}$", f"$10^{{{k}}}$", *(f"${value}$" for value in (bound, *cells))])
    return {"nRowsHeld": rows(table)}


def the_games() -> Numbers:
    """Measure the regrets of some hedgers in seven games, and at the paper's own scale."""
    names = (
        "normal-hedge",
        "normal-hedge:c=4",
        "hedge",
        "ada-normal-hedge",
        "fixed-share",
        "uniform",
    )
    settings = ContestSettings()
    board = compare(names, [NatureContest(name, settings) for name in default_natures(settings)])
    table = [
        [rf"\texttt{{{name}}}", *(f"${standing.mean('mean')[k]:.1f}$" for standing in board.games)]
        for k, name in enumerate(names)
    ]
    worst = max(float(standing.worst("worst")[0]) for standing in board.games)
    long = ContestSettings(alpha=ALPHA, experts=EXPERTS, rounds=20_000, runs=5)
    short = "normal-hedge:alpha=0.01"
    again = compare(
        ("normal-hedge", "hedge", "fixed-share", short),
        [NatureContest(name, long) for name in default_natures(long)[:2]],
    )
    first, second = (standing.mean("mean") for standing in again.games)
    return {
        "nRowsGames": rows(table),
        "nWorst": f"{worst:.1f}",
        "nWorstProved": at_most(best_known(settings.alpha, settings.experts, 1.0).regret, 3),
        **{
            f"nLong{name}": f"{first[k]:.0f}$ and ${second[k]:.0f}"
            for k, name in enumerate(("Normal", "Hedge", "Share", "Short"))
        },
    }


QUICK: tuple[Callable[[], Numbers], ...] = (
    the_paper,
    one_expert,
    the_bound_of_hedge,
    the_proofs,
    the_critical_rate,
    the_exponent,
    rounding_and_delay,
    alternation,
    a_move_apart,
)
SLOW: tuple[Callable[[], Numbers], ...] = (
    the_frontier,
    the_leader,
    the_smallest_c,
    held_experts,
    the_games,
)


def read() -> Numbers:
    """Return the numbers that are written."""
    return dict(LINE.findall(FILE.read_text(encoding="utf-8"))) if FILE.exists() else {}


def main(arguments: list[str]) -> None:
    """Compute the numbers, and write them."""
    parts = {part.__name__: part for part in QUICK + SLOW}
    if arguments == ["--quick"]:
        arguments = [part.__name__ for part in QUICK]
    found = read() if arguments else {}
    for name in arguments or parts:
        print(name, flush=True)
        found |= parts[name]()
    lines = ["% Written by docs/note/compute.py; do not edit."]
    lines += [f"\\newcommand{{\\{name}}}{{{text}}}" for name, text in sorted(found.items())]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
