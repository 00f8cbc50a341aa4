"""Section 3.2: experts with confidences, and experts that abstain."""

import math

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees import PAPER_POTENTIAL
from normalhedge.guarantees.potentials import NormalPotential
from normalhedge.hedgers import NormalHedge
from normalhedge.reports import Section
from normalhedge.research._cells import Arrays
from normalhedge.research.paper._claim import FAILS, HOLDS, PaperClaim, holds_if, holds_only
from normalhedge.research.paper._part import ALPHA, PaperSettings, part_of_one

EXPERTS = 20
RIGHT = "c (g − g_A)"
READINGS = (RIGHT, "c g − Σ q g", "c g − Σ q c g")
"""The increments of a regret, where q is the distribution that is played. Read literally, the paper
replaces g by c g; the gain of the hedger then is a mean of the gains or of the replaced gains."""

NATURES = ("coins", "prophet", "alternate", "in turns")
AWAY = (0, 1, 2, 4, 8)
"""The times at which those that abstain are looked at, in units of 1/alpha."""


def moves(kind: str, rounds: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the gains and confidences of a nature, rounds x experts."""
    expert, turn = np.arange(EXPERTS), np.arange(rounds)[:, np.newaxis] % 2 == 0
    first = (expert < EXPERTS // 2) == turn
    shape = rounds, EXPERTS
    if kind == "coins":
        return rng.choice([-1.0, 1.0], shape), rng.random(shape)
    if kind == "prophet":
        prophet = np.broadcast_to(expert == 0, shape)
        return np.where(prophet, 1.0, -1.0), np.where(prophet, 1.0, 0.05)
    if kind == "alternate":
        sure = np.broadcast_to(expert % 2 == 0, shape)
        return np.where(first, 1.0, -1.0), np.where(sure, 1.0, 0.5)
    return np.full(shape, -1.0), first.astype(float)


def highest(alpha: float, gains: Floats, confidence: Floats, reading: str) -> float:
    """Return the decimal logarithm of the highest average potential, c = 4."""
    hedger = NormalHedge.paper(alpha)
    if reading == RIGHT:
        return float(hedger.run(gains, confidence).log_potential.max()) / math.log(10.0)
    potential, root, most = NormalPotential(hedger.c), math.sqrt(alpha), 0.0
    regrets = np.zeros(gains.shape[1])
    for gain, sure in zip(gains, confidence, strict=True):
        played = potential.weights(root * regrets) * sure
        played = played / played.sum() if played.any() else sure / sure.sum()
        earned = played @ (gain if reading == READINGS[1] else sure * gain)
        regrets = (1.0 - alpha) * regrets + sure * gain - earned
        most = max(most, potential.log_average(root * regrets))
    return most / math.log(10.0)


def measure(settings: PaperSettings) -> Arrays:
    """Play with confidences just inside Theorem 1, and let experts abstain.

    ``potential`` has the decimal logarithm of the highest average potential, natures x readings.
    In other games one expert of 20 wins nearly always for 4/alpha rounds, and another loses; then
    both abstain. ``gain`` and ``regret`` are their discounted gains and regrets at the times
    `AWAY`, runs x times x 2, ``weight`` the weight of the winner.
    """
    alpha = 0.99 / (800.0 * math.log(PAPER_POTENTIAL * EXPERTS))
    rng = np.random.default_rng([settings.seed, *b"confidences"])
    rounds = round((2 if settings.quick else 8) / alpha)
    potentials = []
    for kind in NATURES:
        gains, confidence = moves(kind, rounds, rng)
        potentials.append([highest(alpha, gains, confidence, reading) for reading in READINGS])
    runs = [_abstain(rng) for _ in range(3 if settings.quick else 20)]
    gain, regret, weight = (np.array(values) for values in zip(*runs, strict=True))
    return {"potential": np.array(potentials), "gain": gain, "regret": regret, "weight": weight}


def _abstain(rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Return the gains and regrets of two that abstain, and the weight of the first."""
    hedger = NormalHedge.paper(ALPHA)
    unit = round(1 / ALPHA)
    first, whole = 4 * unit, (4 + AWAY[-1]) * unit
    gains = rng.choice([-1.0, 1.0], (whole, EXPERTS))
    gains[:, 0] = np.where(rng.random(whole) < 0.9, 1.0, -1.0)
    gains[:, 1] = -gains[:, 0]
    confidence = np.ones_like(gains)
    confidence[first:, :2] = 0.0
    state, total, at = hedger.init(EXPERTS), np.zeros(2), 0
    seen = []
    for away in AWAY:
        end = first + away * unit
        state = hedger.run(gains[at:end], confidence[at:end], state=state).state
        for earned in (confidence * gains)[at:end, :2]:
            total = (1.0 - ALPHA) * total + earned
        seen.append((total, state.regrets[:2].copy(), state.weights[0]))
        at = end
    gain, regret, weight = (np.array(values) for values in zip(*seen, strict=True))
    return gain, regret, weight


def transfer_claim(arrays: Arrays) -> PaperClaim:
    """Judge whether the bound on the average potential holds with confidences."""
    most = arrays["potential"].max(axis=0)
    kept = most < math.log10(PAPER_POTENTIAL)
    verdict = HOLDS if kept.all() else holds_only(f"if a regret grows by {RIGHT}")
    return PaperClaim(
        "If experts have confidences c, the hedger plays p c/Z and c g replaces g, the bounds on "
        "the average potential transfer without change.",
        "Section 3.2",
        "highest average potential, c = 4, if a regret grows by "
        + "; ".join(f"{way}: {_power(value)}" for way, value in zip(READINGS, most, strict=True)),
        f"{len(NATURES)} natures ({', '.join(NATURES)}), {EXPERTS} experts, α = 0.99 of the limit",
        f"holds if it stays below {PAPER_POTENTIAL} for the two literal readings, too; else only "
        "for the reading for which it does",
        verdict if kept[0] else FAILS,
        f"with {RIGHT} the weighted sum of the increments is zero, and each lies in [−2, 2]: the "
        "proof of Theorem 1 carries over",
    )


def abstain_claim(arrays: Arrays) -> PaperClaim:
    """Judge what becomes of an expert that abstains."""
    left = np.abs(arrays["gain"][:, -1] / arrays["gain"][:, 0]).max()
    regret = np.abs(arrays["regret"][:, -1] / arrays["regret"][:, 0]).max()
    weight = arrays["weight"].mean(axis=0)
    return PaperClaim(
        "An expert cannot always abstain: the discount factor drives its discounted gain to zero.",
        "Section 3.2",
        f"after {AWAY[-1]}/α rounds of abstaining at most {left:.2g} of the gain is left "
        f"(e^-{AWAY[-1]} = {math.exp(-AWAY[-1]):.2g}), {regret:.2g} of the regret, and of a weight "
        f"of {weight[0]:.2f}, {weight[-1]:.2g}",
        f"{len(arrays['gain'])} runs, {EXPERTS} experts, α = {ALPHA:g}",
        "holds if less than a thousandth of the gain is left in every run",
        holds_if(left < 1e-3),
        "the same holds of a loss: an expert that is behind gets rid of it by abstaining",
    )


def _power(log: float) -> str:
    """Return a number, given its decimal logarithm."""
    if log < 3.0:
        return f"{10.0**log:.4f}"
    power = f"{math.floor(log)}".translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{10.0 ** (log % 1.0):.1f} × 10{power}"


def potentials_section(arrays: Arrays) -> Section:
    """Return the section with the table of potentials."""
    return Section(
        "confidences",
        "Section 3.2: experts with confidences",
        "The highest average potential of NormalHedge, c = 4, just inside Theorem 1, which "
        f"promises {PAPER_POTENTIAL}. The columns differ in the increment of a regret, where c "
        "is the confidence and q ∝ p c the distribution that is played. Last row: in turns, "
        "one half of the experts is sure and loses, and the other half abstains.",
        head=("nature", *READINGS),
        rows=[
            (name, *(_power(value) for value in row))
            for name, row in zip(NATURES, arrays["potential"], strict=True)
        ],
    )


def abstaining_section(arrays: Arrays) -> Section:
    """Return the section about experts that abstain."""
    means = (arrays["gain"][:, :, 0], arrays["regret"][:, :, 0], arrays["weight"])
    debts = (arrays["gain"][:, :, 1], arrays["regret"][:, :, 1])
    return Section(
        "abstaining",
        "Section 3.2: experts that abstain",
        "One expert wins nine rounds of ten and another loses them; then both abstain. Mean of "
        f"{len(arrays['gain'])} runs, α = {ALPHA:g}.",
        head=(
            "abstained for",
            *(f"winner: {name}" for name in ("gain", "regret", "weight")),
            *(f"loser: {name}" for name in ("gain", "regret")),
        ),
        rows=[
            (f"{away}/α", *(f"{values[:, k].mean():.4g}" for values in (*means, *debts)))
            for k, away in enumerate(AWAY)
        ],
    )


PART = part_of_one(
    "confidences",
    __name__,
    measure,
    claims=[transfer_claim, abstain_claim],
    sections=[potentials_section, abstaining_section],
)
