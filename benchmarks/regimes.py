"""How well regimes are found and observations predicted, beside EM and the true parameters.

``python -m benchmarks.regimes``: simulated series of 4,000 rounds, each judged after round 1,000.
"""

import math
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.hedgers import NormalHedge
from normalhedge.latent.fitting import Fitted, fit
from normalhedge.latent.matching import Labels, agreement, assignment, likeness
from normalhedge.latent.regimes import Regimes
from normalhedge.latent.scores import brier, l1, log_score

ROUNDS, JUDGED, SEEDS = 4000, 1000, 3

CALM_WILD = np.array([[0.99, 0.01], [0.04, 0.96]])
THREE = np.array([[0.98, 0.01, 0.01], [0.01, 0.98, 0.01], [0.02, 0.02, 0.96]])
WITHOUT_THIRD = np.array([[0.99, 0.01, 0.0], [0.04, 0.96, 0.0], [0.0, 0.0, 1.0]])
RESTLESS = np.array([[0.85, 0.15], [0.3, 0.7]])


class Case(NamedTuple):
    """A simulated series, and all that is true of it.

    Attributes
    ----------
    truth, observations
        Hidden states, and what was seen.
    emission, states
        What a rival is told: the family, and how many states there are in all.
    logs
        The true log density of each observation in each state, T x k.
    moves
        The true transitions into each round, T x k x k.
    """

    truth: Labels
    observations: Floats
    emission: str
    states: int
    logs: Floats
    moves: Floats


def volatility(rng: np.random.Generator) -> Case:
    """Return two deviations, 0.7 and 2.2, with the same mean."""
    return _normal(_constant(CALM_WILD), np.zeros(2), np.array([0.7, 2.2]), rng)


def means(rng: np.random.Generator) -> Case:
    """Return two means, 0 and 3."""
    return _normal(_constant(CALM_WILD), np.array([0.0, 3.0]), np.ones(2), rng)


def both(rng: np.random.Generator) -> Case:
    """Return two means with deviations of their own."""
    return _normal(_constant(CALM_WILD), np.array([0.5, -1.0]), np.array([0.7, 2.0]), rng)


def three_states(rng: np.random.Generator) -> Case:
    """Return three states."""
    return _normal(_constant(THREE), np.array([0.0, 2.0, -1.0]), np.array([0.6, 1.2, 2.5]), rng)


def counts(rng: np.random.Generator) -> Case:
    """Return counts with two rates."""
    moves, rates = _constant(CALM_WILD), np.array([2.0, 6.0])
    truth = _path(moves, rng)
    seen = rng.poisson(rates[truth]).astype(np.float64)
    factorials = np.array([math.lgamma(y + 1.0) for y in seen])
    logs = seen[:, np.newaxis] * np.log(rates) - rates - factorials[:, np.newaxis]
    return Case(truth, seen, "poisson", 2, logs, moves)


def two_columns(rng: np.random.Generator) -> Case:
    """Return two columns that are correlated in one state."""
    moves = _constant(CALM_WILD)
    truth = _path(moves, rng)
    centres = np.array([[0.3, 0.3], [-0.8, -0.5]])
    covariances = np.array([[[0.49, 0.1], [0.1, 0.49]], [[3.2, 2.6], [2.6, 3.2]]])
    noise = rng.normal(size=(ROUNDS, 2))
    roots = np.linalg.cholesky(covariances)
    seen = centres[truth] + np.einsum("tij,tj->ti", roots[truth], noise)
    away = seen[:, np.newaxis] - centres
    far = np.einsum("tki,kij,tkj->tk", away, np.linalg.inv(covariances), away)
    logs = -0.5 * (far + np.log(np.linalg.det(covariances))) - math.log(2.0 * math.pi)
    return Case(truth, seen, "full", 2, logs, moves)


def drift(rng: np.random.Generator) -> Case:
    """Let both deviations drift between half and twice what they were, once."""
    factor = 2.0 ** np.sin(2.0 * np.pi * np.arange(ROUNDS) / ROUNDS)
    deviations = factor[:, np.newaxis] * np.array([0.7, 2.2])
    return _normal(_constant(CALM_WILD), np.zeros(2), deviations, rng)


def drifting_means(rng: np.random.Generator) -> Case:
    """Let both means drift up and down by twice the distance between them."""
    level = 6.0 * np.sin(3.0 * np.pi * np.arange(ROUNDS) / ROUNDS)
    centres = level[:, np.newaxis] + np.array([0.0, 3.0])
    return _normal(_constant(CALM_WILD), centres, np.ones(2), rng)


def fast_drift(rng: np.random.Generator) -> Case:
    """Let both deviations drift between a quarter and four times what they were.

    Within some 400 rounds they change more than from one state to the other.
    """
    factor = 4.0 ** np.sin(3.0 * np.pi * np.arange(ROUNDS) / ROUNDS)
    deviations = factor[:, np.newaxis] * np.array([0.7, 2.2])
    return _normal(_constant(CALM_WILD), np.zeros(2), deviations, rng)


def student(rng: np.random.Generator) -> Case:
    """Draw from Student's t with 3 degrees of freedom."""
    moves, scales = _constant(CALM_WILD), np.array([0.5, 1.6])
    truth = _path(moves, rng)
    seen = rng.standard_t(3, ROUNDS) * scales[truth]
    constant = math.lgamma(2.0) - math.lgamma(1.5) - 0.5 * math.log(3.0 * math.pi)
    logs = constant - np.log(scales) - 2.0 * np.log1p((seen[:, np.newaxis] / scales) ** 2 / 3.0)
    return Case(truth, seen, "gaussian", 2, logs, moves)


def outliers(rng: np.random.Generator) -> Case:
    """Give one observation in a hundred the deviation 15, whatever the state."""
    case = volatility(rng)
    wrong = rng.random(ROUNDS) < 0.01
    seen = np.where(wrong, rng.normal(0.0, 15.0, ROUNDS), case.observations)
    parts = [_logs(seen, np.zeros(2), np.array([0.7, 2.2])), _logs(seen, np.zeros(2), 15.0)]
    logs = np.logaddexp(math.log(0.99) + parts[0], math.log(0.01) + parts[1])
    return case._replace(observations=seen, logs=logs)


def late_state(rng: np.random.Generator) -> Case:
    """Let a third state appear in the middle."""
    moves = _constant(WITHOUT_THIRD)
    moves[ROUNDS // 2 :] = [[0.98, 0.01, 0.01], [0.03, 0.96, 0.01], [0.02, 0.02, 0.96]]
    return _normal(moves, np.array([0.0, 0.0, -4.0]), np.array([0.7, 2.2, 1.0]), rng)


def changing_stays(rng: np.random.Generator) -> Case:
    """Let the states become restless and calm down, every 1,000 rounds."""
    moves = _constant(CALM_WILD)
    moves[(np.arange(ROUNDS) // 1000) % 2 == 1] = RESTLESS
    return _normal(moves, np.array([0.0, 2.5]), np.array([0.7, 1.2]), rng)


CASES: tuple[Callable[[np.random.Generator], Case], ...] = (
    volatility, means, both, three_states, counts, two_columns,
    drift, student, outliers, late_state, changing_stays, drifting_means, fast_drift,
)  # fmt: skip


def _constant(transition: Floats) -> Floats:
    return np.repeat(transition[np.newaxis], ROUNDS, axis=0)


def _path(moves: Floats, rng: np.random.Generator) -> Labels:
    """Draw hidden states that start in the first."""
    path = np.zeros(ROUNDS, dtype=np.intp)
    steps, draws = np.cumsum(moves, axis=2), rng.random(ROUNDS)
    for t in range(1, ROUNDS):
        path[t] = int((draws[t] >= steps[t, path[t - 1], :-1]).sum())
    return path


def _logs(seen: Floats, centres: Floats, deviations: Floats | float) -> Floats:
    z = (seen[:, np.newaxis] - centres) / deviations
    return np.asarray(-0.5 * z**2 - np.log(deviations) - 0.5 * math.log(2.0 * math.pi))


def _normal(moves: Floats, centres: Floats, deviations: Floats, rng: np.random.Generator) -> Case:
    """Return normal observations; means and deviations are k, or T x k."""
    truth, rounds, k = _path(moves, rng), np.arange(ROUNDS), moves.shape[1]
    middle, width = (np.broadcast_to(part, (ROUNDS, k)) for part in (centres, deviations))
    seen = middle[rounds, truth] + width[rounds, truth] * rng.normal(size=ROUNDS)
    return Case(truth, seen, "gaussian", k, _logs(seen, middle, width), moves)


class Said(NamedTuple):
    """Which state was inferred in each round, and ln p(y_t | y_1..y_{t-1})."""

    states: Labels
    scores: Floats


def true_filter(case: Case) -> Said:
    """Filter with the true parameters, also where they change."""
    beliefs = np.zeros(case.logs.shape[1])
    beliefs[0] = 1.0
    states, scores = np.empty(ROUNDS, dtype=np.intp), np.empty(ROUNDS)
    for t in range(ROUNDS):
        beliefs = beliefs @ case.moves[t] if t else beliefs
        highest = case.logs[t].max()
        joint = beliefs * np.exp(case.logs[t] - highest)
        scores[t] = math.log(joint.sum()) + highest
        beliefs = joint / joint.sum()
        states[t] = beliefs.argmax()
    return Said(states, scores)


def fitted_once(case: Case) -> Said:
    """EM on the first 500 rounds, then a filter."""
    return _refitted(case, every=ROUNDS, first=500)


def refitted(case: Case) -> Said:
    """EM on all rounds so far, every 250 rounds, then a filter."""
    return _refitted(case, every=250, first=250)


def _refitted(case: Case, every: int, first: int) -> Said:
    rng = np.random.default_rng(0)
    states, scores = np.zeros(ROUNDS, dtype=np.intp), np.full(ROUNDS, np.nan)
    model: Fitted | None = None
    names: Labels = np.arange(case.states)
    for start in range(first, ROUNDS, every):
        before, seen = model, case.observations[:start]
        model = fit(seen, case.states, case.emission, rng=rng, starts=5)
        if before is not None:  # states keep the names of those they are most like
            names = names[assignment(likeness(model.emission, before.emission))]
        stop = min(start + every, ROUNDS)
        series = case.observations[:stop]
        beliefs, logs = model.filtered(series)
        joint = np.log(np.maximum(beliefs[:-1], 1e-300)) + model.emission.log_density(series)
        scores[start:stop] = logs[start:]
        states[start:stop] = names[joint[start:].argmax(axis=1)]
    return Said(states, scores)


def ours(case: Case) -> Said:
    """Regimes as it is, told nothing but the family."""
    return _followed(case, Regimes(case.emission))


def normal_hedge(case: Case) -> Said:
    """Regimes with NormalHedge over the candidates."""
    return _followed(case, Regimes(case.emission, hedger=NormalHedge(memory=100)))


def _followed(case: Case, regimes: Regimes) -> Said:
    course = regimes.run(case.observations)
    return Said(course.states, course.log_scores)


RIVALS: tuple[Callable[[Case], Said], ...] = (
    true_filter, fitted_once, refitted, normal_hedge, ours,
)  # fmt: skip


def main(wanted: list[str]) -> None:
    """Print a table: agreement in percent and mean log score of each rival."""
    names = [rival.__name__.replace("_", " ") for rival in RIVALS]
    print(f"{'':16s}" + "".join(f"{name:>18s}" for name in names))
    for case in CASES:
        if wanted and case.__name__ not in wanted:
            continue
        found = np.array([_judged(case, seed) for seed in range(SEEDS)]).mean(axis=0)
        cells = "".join(f"{100 * share:9.1f} {score:8.4f}" for share, score in found)
        print(f"{case.__name__:16s}{cells}", flush=True)


def _judged(case: Callable[[np.random.Generator], Case], seed: int) -> list[tuple[float, float]]:
    series = case(np.random.default_rng([seed, 1]))
    rows = []
    for rival in RIVALS:
        said = rival(series)
        share = agreement(said.states[JUDGED:], series.truth[JUDGED:])
        rows.append((share, float(np.mean(said.scores[JUDGED:]))))
    return rows


def improper() -> None:
    """Print what hedging with the L1 loss makes of a symbol that has probability 0.7."""
    came = (np.random.default_rng(0).random(ROUNDS) < 0.7).astype(np.intp)
    said = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.99])
    given = np.where(came[:, np.newaxis] == 1, said, 1.0 - said)
    print(f"\n{'NormalHedge by':16s}{'it says':>9s}{'L1':>9s}{'Brier':>9s}{'log':>9s}")
    for name, gains in (("L1", 2.0 * given - 1.0), ("log score", 1.0 + np.log(given) / 2.4)):
        weights = NormalHedge(memory=300).run(gains, keep_weights=True).weights
        assert weights is not None
        p = weights @ said
        both = np.column_stack([1.0 - p, p])[JUDGED:]
        outcomes = came[JUDGED:]
        losses = [loss(both, outcomes).mean() for loss in (l1, brier)]
        score = log_score(both[np.arange(len(both)), outcomes]).mean()
        cells = "".join(f"{cell:9.3f}" for cell in (p[JUDGED:].mean(), *losses, score))
        print(f"{name:16s}{cells}")


if __name__ == "__main__":
    begun = time.perf_counter()
    main(sys.argv[1:])
    improper()
    print(f"{time.perf_counter() - begun:.0f} s")
