"""``normalhedge certify``: bound the regret of NormalHedge, prove the bound, and attack it."""

import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from normalhedge.boundary import inputs, number_tables
from normalhedge.cli._progress import ProgressBar
from normalhedge.cli._shared import PICTURE, PICTURES, check_ending, path_option
from normalhedge.cli._terminal import echo
from normalhedge.guarantees import (
    PAPER_C,
    PAPER_POTENTIAL,
    Certificate,
    LedCertificate,
    NoCertificate,
    at_most,
    best_c,
    certify,
    certify_every,
    certify_led,
    critical_reach,
    proof_of,
    prove,
    scaled_limit,
    theorem_1,
)
from normalhedge.reports.plots import frontier_figure
from normalhedge.research.games.attacks import Attack, Goal, attack
from normalhedge.research.paper import frontier


def _whole(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Read a number of experts, which may be written as 1e6."""
    if value is None or value.isdecimal():
        number = None if value is None else int(value)
    else:
        try:
            number = int(Decimal(value))
        except (ArithmeticError, ValueError):
            number = 0
        if number != Decimal(value if number else 0):
            number = 0
    if number is not None and number < 1:
        raise click.BadParameter(f"experts must be a whole number of at least 1, got {value}")
    return number


SMALLEST_ALPHA = 1e-4
"""Below this, attacks, which last for some 50/alpha rounds, take too long."""


@click.command(
    "certify",
    epilog="The table shows upper bounds on the average potential, the bounds on the regret that "
    "follow, and the values that attacks reach. Each is proved, numerical (computed to a stated "
    "accuracy) or observed.",
)
@click.option("--alpha", type=float, help="The discount rate, in (0, 1).")
@click.option(
    "--experts", callback=_whole, metavar="N", help="The number of experts, such as 1000 or 1e6."
)
@click.option("--reach", type=float, metavar="K",
              help="Instead of --experts: every N with alpha ln N <= K, and every rate up to "
              "alpha.")  # fmt: skip
@click.option("--power", type=click.IntRange(1, 2), help="With --reach: 2 for alpha (ln N)^2 <= K.")
@click.option("--c", type=float, help="[default: 1]")
@click.option("--best", is_flag=True, help="Find the c with the smallest bound on the regret.")
@click.option("--leader", is_flag=True,
              help="Use that one whole expert leads: a smaller bound if c < 1, in half a "
              "minute.")  # fmt: skip
@click.option("--prove", is_flag=True, help="Prove the bound, and write the proof.")
@path_option("--out", "FILE.json", "Write the proof to this file.")
@path_option("--plot", PICTURE, "Draw potential and regret against c.")
@path_option(
    "--table",
    "FILE.md|FILE.tex",
    "Instead, write a table of C over c and N, with proofs and attacks.",
)
@path_option("--check", "FILE.json", "Instead, check the proof in this file.")
def command(alpha: float | None, experts: int | None, **parameters: Any) -> None:
    """Bound the regret of NormalHedge, prove the bound, and attack it."""
    _check_options(alpha, experts, parameters)
    if parameters["check"] is not None:
        _check(parameters["check"])
        return
    if alpha is None:
        raise click.UsageError("--alpha is needed")
    alpha = inputs.number("alpha", alpha, 0.0, 1.0)
    with ProgressBar("certifying") as bar:
        if parameters["table"] is not None:
            number_tables.write_text_table(parameters["table"], *frontier.table(alpha, bar))
            echo(f"wrote {parameters['table']}")
            return
        if parameters["reach"] is not None:
            _every(bar, alpha, parameters)
            return
        if experts is None:
            raise click.UsageError("--experts or --reach is needed")
        _one(bar, alpha, experts, parameters)


def _one(bar: ProgressBar, alpha: float, experts: int, parameters: dict[str, Any]) -> None:
    """Certify, prove and attack one setting, and print the results."""
    attacked = alpha >= SMALLEST_ALPHA and experts > 1
    bar.total(1 + parameters["prove"] + 2 * attacked)
    if parameters["best"] or parameters["leader"]:  # others take a second
        bar.begin("certifying")
    c = 1.0 if parameters["c"] is None else parameters["c"]
    certificate: Certificate | LedCertificate
    if parameters["best"]:
        certificate = best_c(alpha, experts)
    elif parameters["leader"]:
        certificate = certify_led(alpha, experts, c)
    else:
        certificate = certify(alpha, experts, c)
    bar.done(1, "certified")
    proof = None
    if parameters["prove"]:
        bar.begin("proving")
        proof = prove(certificate, slack=3e-2) if parameters["leader"] else prove(certificate)
        path = parameters["out"] or Path(f"proof-{proof.file_name}")
        proof.write(path)
        bar.done(1, "proved")
    attacks: list[Attack] = []
    goals: tuple[Goal, ...] = ("potential", "regret") if attacked else ()
    for k, goal in enumerate(goals, start=1):
        bar.begin(f"attacking the {goal} ({k} of 2)")
        attacks.append(attack(alpha, experts, certificate.c, goal=goal))
        bar.done(1, "attacked")
    bar.stop()
    level, whence = (proof.potential, "checked") if proof else _shipped(certificate)
    Console().print(_table(certificate, level, whence, attacks))
    if attacks:
        highest = max(a.potential for a in attacks)
        limit = certificate.potential + certificate.error if level is None else level
        echo(
            f"The highest average potential lies between {highest:.5g} and {at_most(limit, 5)}"
            + (", numerically." if level is None else ".")
        )
    elif experts > 1:
        echo(f"Below alpha = {SMALLEST_ALPHA:g} attacks take too many rounds to be tried.")
    if proof is not None:
        _check(path)
        echo(f"wrote {path}")
    if parameters["plot"] is not None:
        _plot(alpha, experts, certificate.c, parameters["plot"])


def _shipped(certificate: Certificate | LedCertificate) -> tuple[float | None, str]:
    """Return the potential that a proof of this package promises, if there is one, and its file."""
    claim = proof_of(certificate.alpha, certificate.n_experts, certificate.c)
    if claim is None:
        return None, ""
    return claim.potential_of(certificate.n_experts), f"shipped: {claim.file}"


def _every(bar: ProgressBar, alpha: float, parameters: dict[str, Any]) -> None:
    """Certify, and prove, one setting for every number of experts."""
    bar.total(1 + parameters["prove"])
    c, reach = 4.0 if parameters["c"] is None else parameters["c"], parameters["reach"]
    try:
        certificate = certify_every(alpha, reach, c, power=parameters["power"] or 1)
    except NoCertificate as error:
        raise click.ClickException(str(error)) from None
    bar.done(1, "certified")
    proof = None
    if parameters["prove"]:
        bar.begin("proving")
        proof = prove(certificate, slack=2e-3)
    bar.stop()
    logarithm = "ln N" if certificate.power == 1 else "(ln N)^2"
    limit = at_most(certificate.potential + certificate.error)
    echo(
        f"With c = {c:g}, every alpha up to {alpha:g} and every N with alpha {logarithm} <= "
        f"{reach:g} the average potential never exceeds {limit}, numerically."
    )
    if certificate.power == 1:
        echo(f"Beyond alpha ln N = {critical_reach(c):.5g} one round has no such limit.")
    if proof is not None:
        path = parameters["out"] or Path(f"proof-{proof.file_name}")
        proof.write(path)
        _check(path)
        echo(f"wrote {path}")


def _table(
    certificate: Certificate | LedCertificate,
    proved: float | None,
    whence: str,
    attacks: list[Attack],
) -> Table:
    alpha, n, c = certificate.alpha, certificate.n_experts, certificate.c
    table = Table("", "average potential", "regret × √α", "regret", "")
    table.columns[-1].overflow = "fold"  # names of files are long
    table.title = f"NormalHedge, α = {alpha:g}, c = {c:g}, {n:,} experts"
    paper = theorem_1(alpha, n, PAPER_C)
    covered = "" if paper else "does not cover this α: " + paper.source.partition("(")[2][:-1]
    root, bound = math.sqrt(alpha), frontier.paper_bound(n)
    table.add_row(
        f"Theorem 1, c = {PAPER_C:g}",
        f"{PAPER_POTENTIAL:g}",
        *_both(bound, root),
        covered or paper.mark,
    )
    about = f"numerical, grids leave {certificate.error:.1g}"
    ours = at_most(certificate.potential + certificate.error)
    table.add_row("certificate", ours, *_both(certificate.scaled_regret, root), about)
    if proved is not None:
        level = scaled_limit(proved, 1.0 / n, c)
        table.add_row("proof", at_most(proved, 7), *_both(level, root), f"proved, {whence}")
    hedge = frontier.hedges_bound(alpha, n)
    table.add_row("Hedge, corrected", "", *_both(hedge, root), "proved, must know N")
    for result, field in zip(attacks, ("potential", "regret"), strict=False):
        row = f"attack on the {field}"
        reached = f"{result.regret:.4g}", f"{result.regret / root:.5g}"
        table.add_row(row, f"{result.potential:.6g}", *reached, f"observed, {result.name}")
    return table


def _both(scaled: float, root: float) -> tuple[str, str]:
    """Return a limit in units of 1/sqrt(alpha) and as it is; no regret reaches 2/alpha anyway."""
    limit = min(scaled, 2.0 / root)
    return at_most(limit, 4), at_most(limit / root, 5)


def _check(path: Path) -> None:
    """Check a proof, or exit with a sentence."""
    from normalhedge.guarantees import check_proof  # noqa: PLC0415 -- needs python-flint

    try:
        claim = check_proof.check_proof(path)
    except check_proof.NotProved as error:
        raise click.ClickException(f"not proved: {error}") from None
    echo(check_proof.sentence(claim))


def _plot(alpha: float, experts: int, c: float, path: Path) -> None:
    cs = sorted({*frontier.CS, c})
    with ProgressBar("drawing the frontier") as bar:
        points = frontier.frontier(alpha, experts, cs, bar)
    bounds = frontier.paper_bound(experts), frontier.hedges_bound(alpha, experts)
    lines = dict(zip(("Theorem 1", "Hedge, tuned to N"), bounds, strict=True))
    frontier_figure(points, lines, f"α = {alpha:g}, {experts:,} experts", path)
    echo(f"wrote {path}")


def _check_options(alpha: float | None, experts: int | None, parameters: dict[str, Any]) -> None:
    """Refuse what does not go together, before the work."""
    named = {"alpha": alpha, "experts": experts, **parameters}
    for alone, allowed in (("check", ()), ("table", ("alpha",))):
        others = [
            name
            for name, value in named.items()
            if value not in {None, False} and name not in {alone, *allowed}
        ]
        if parameters[alone] is not None and others:
            raise click.UsageError(f"--{alone} does not go with --{others[0]}")
    endings = {"out": (".json",), "plot": PICTURES, "table": (".md", ".tex")}
    for name, accepted in endings.items():
        check_ending(parameters[name], accepted)
    if parameters["out"] is not None and not parameters["prove"]:
        raise click.UsageError("--out is for the proof: say --prove, too")
    if parameters["power"] is not None and parameters["reach"] is None:
        raise click.UsageError("--power goes with --reach")
    apart = [("reach", name) for name in ("experts", "best", "leader", "plot")]
    for option, other in [*apart, ("leader", "best")]:
        if not {named[option], named[other]} & {None, False}:
            raise click.UsageError(f"--{option} does not go with --{other}")
    if parameters["best"] and parameters["c"] is not None:
        raise click.UsageError("--best finds c: do not give it")
