"""Section 5 of the paper: hidden states as experts, beside Bayes, in several cases."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.experiments.figures import ALPHA
from normalhedge.experiments.measures import Arrays
from normalhedge.hedgers import NormalHedge
from normalhedge.latent import (
    BayesAverage,
    Followed,
    HMMBank,
    ModelExperts,
    Persistence,
    Predictor,
    StateExperts,
    best_candidate,
    follow,
)

HEDGER = NormalHedge.paper(ALPHA)
SEEDS, QUICK_SEEDS = 20, 3
POINTS = 100
"""How many points a curve has."""

STATES, MODELS, BAYES = "state experts", "model experts", "Bayes average"
FORGETTING, BEST = "Bayes, discounted", "best candidate in hindsight"
WEIGHING = (STATES, MODELS, BAYES)
"""Whose weights are looked at."""


class Draw(NamedTuple):
    """One sequence, the candidates that are to predict it, and which of them made its end."""

    bank: HMMBank
    symbols: Floats
    truth: int | None


@dataclass(frozen=True)
class Case:
    """A question: the sequence and the candidates, and where they come from."""

    id: str
    title: str
    text: str
    draw: Callable[[np.random.Generator], Draw]


def two_states(*candidates: tuple[float, float, float]) -> HMMBank:
    """Return binary candidates: their probability to stay, and of a 1 in each of two states."""
    stay, first, second = np.array(candidates).T
    moves = np.stack([np.stack([stay, 1 - stay], -1), np.stack([1 - stay, stay], -1)], 1)
    says = np.stack([np.stack([1 - b, b], -1) for b in (first, second)], 1)
    return HMMBank.discrete(np.full((len(stay), 2), 0.5), moves, says)


def draw_two_states(
    rounds: int, stay: float, first: float, second: float, rng: np.random.Generator
) -> Floats:
    """Return a binary sequence that starts in the first state.

    In each round one uniform for the switch, and then one for the symbol.
    """
    switch, symbol = rng.random((rounds, 2)).T
    state = np.cumsum(switch > stay) % 2
    return np.asarray((symbol < np.where(state, second, first)).astype(np.float64))


def known(rng: np.random.Generator) -> Draw:
    """Draw three states over three symbols, of which all parameters are known."""
    bank = HMMBank.discrete(
        np.full((1, 3), 1.0 / 3.0),
        [0.97 * np.eye(3) + 0.01],
        [[[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]]],
    )
    return Draw(bank, bank.sample(10_000, rng)[1], 0)


def among(rng: np.random.Generator) -> Draw:
    """Draw fifty candidates at random, and the sequence from the first of them."""
    bank = HMMBank.random(50, 2, 2, rng, stay=0.97)
    return Draw(bank, bank.sample(10_000, rng)[1], 0)


def without(rng: np.random.Generator) -> Draw:
    """Draw as `among` does, and take the truth away from the candidates."""
    bank, symbols, _ = among(rng)
    return Draw(bank.take(np.arange(1, bank.candidates)), symbols, None)


def _none(tiny: float, noise: float, rng: np.random.Generator) -> Draw:
    bank = two_states(
        (1 - tiny, 1 - tiny, tiny), (0.99, 0.49, 0.49), (0.9, 0.52, 0.46), (0.5, 0.9, 0.1)
    )
    return Draw(bank, draw_two_states(20_000, 0.999, 1 - noise, noise, rng), None)


def none_correct(rng: np.random.Generator) -> Draw:
    """Draw from a truth that is not among four candidates; one of them is too sure of itself."""
    return _none(1e-10, 0.04, rng)


def fragile(rng: np.random.Generator) -> Draw:
    """Draw as `none_correct` does, with a little less noise and a sharp candidate less sharp."""
    return _none(1e-9, 0.02, rng)


def _change(bank: HMMBank, first: int, second: int, rng: np.random.Generator) -> Draw:
    halves = [bank.sample(10_000, rng, candidate)[1] for candidate in (first, second)]
    return Draw(bank, np.concatenate(halves), second)


def change(rng: np.random.Generator) -> Draw:
    """Draw half of the sequence from states that stay, half from states that alternate."""
    bank = HMMBank.grid(2, [0.02, 0.1, 0.5, 0.9, 0.98], [0.05, 0.35, 0.65, 0.95])
    assert bank.emission is not None
    sharp = np.flatnonzero((bank.emission[1, 0] == 0.05) & (bank.emission[1, 1] == 0.95))
    return _change(bank, int(sharp[-1]), int(sharp[0]), rng)


def mild(rng: np.random.Generator) -> Draw:
    """Draw fifty candidates at random; half of the sequence from one, half from another."""
    return _change(HMMBank.random(50, 2, 2, rng, stay=0.97), 1, 0, rng)


CASES = (
    Case(
        "known",
        "Known parameters",
        "One HMM of three states (stay .98, each says its own of three symbols with .7), known: an "
        "expert for each state, with the posterior of the state as its confidence.",
        known,
    ),
    Case(
        "among",
        "The truth among the candidates",
        "Fifty HMMs of two states over two symbols, drawn at random; one of them makes the data.",
        among,
    ),
    Case(
        "none",
        "None of the candidates is correct",
        "The truth stays with .999 and says 1 with .96 or .04. Four candidates (stay; P(1)): "
        "(1-d; 1-d, d), (.99; .49, .49), (.9; .52, .46), (.5; .9, .1), d = 1e-10.",
        none_correct,
    ),
    Case(
        "fragile",
        "Its fragile neighbour",
        "The same with .98 or .02, and d = 1e-9.",
        fragile,
    ),
    Case(
        "without",
        "None of many is correct",
        "Fifty HMMs drawn at random; one of them makes the data and is then taken away.",
        without,
    ),
    Case(
        "change",
        "The truth changes",
        "Thirty HMMs of a grid (stay .02, .1, .5, .9, .98; two of P(1) = .05, .35, .65, .95). The "
        "data come from (.98; .05, .95) for half of the rounds and then from (.02; .05, .95): what "
        "stayed now alternates.",
        change,
    ),
    Case(
        "mild",
        "The truth changes, mildly",
        "Fifty HMMs drawn at random; one of them makes the first half of the data, another the "
        "second. These are often much alike.",
        mild,
    ),
)


CHANGES = ("change", "mild")
"""Where the truth changes in the middle."""


def predictors(bank: HMMBank) -> dict[str, Predictor]:
    """Return all that are compared."""
    keep = 1.0 - ALPHA
    return {
        STATES: StateExperts(bank, HEDGER),
        f"{STATES}, rounded": StateExperts(bank, HEDGER, rounded=True),
        MODELS: ModelExperts(bank, HEDGER),
        f"{MODELS}, rounded": ModelExperts(bank, HEDGER, rounded=True),
        BAYES: BayesAverage(bank),
        "Bayes rounded": BayesAverage(bank, rounded=True),
        FORGETTING: BayesAverage(bank, keep),
        "Bayes rounded, discounted": BayesAverage(bank, keep, rounded=True),
        "persistence": Persistence(bank.symbol_count),
    }


def play_case(case: Case, seed: int, *, quick: bool) -> Arrays:
    """Return, for each sequence and predictor, loss and wrong decisions a round, and more.

    ``loss`` and ``errors`` are seeds x predictors, of all rounds; ``late`` and ``late_errors``
    those of the second half; ``curve`` the mean loss in each hundredth of the rounds, seeds x
    predictors x 100. Of state experts, model experts and Bayes: ``truth`` and ``best``, the mean
    weight in the last tenth of the candidate that made the data, and of the one with the least L1
    loss; ``converged``, after how many rounds the former (where none did: the latter) first had
    half of the weight, counted from the change where there is one. ``is_best`` tells whether the
    candidate that made the data had the least L1 loss, ``sharper`` whether the emissions of the one
    that had it are surer than those of the former.
    """
    seeds = np.random.SeedSequence([seed, *case.id.encode()]).spawn(QUICK_SEEDS if quick else SEEDS)
    rows = [_play(case, np.random.default_rng(child)) for child in seeds]
    found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return found | {"names": found["names"][0]}


def _play(case: Case, rng: np.random.Generator) -> Arrays:
    bank, symbols, truth = case.draw(rng)
    went = {name: follow(one, symbols) for name, one in predictors(bank).items()}
    best, _ = best_candidate(bank, symbols)
    went[BEST] = follow(BayesAverage(bank.take(best)), symbols)
    followed = list(went.values())
    weighing = [went[name] for name in WEIGHING]
    half, tenth = len(symbols) // 2, len(symbols) // 10
    made = best if truth is None else truth
    start = half if case.id in CHANGES else 0
    found = {
        "names": list(went),
        "loss": [f.losses.mean() for f in followed],
        "errors": [f.wrong.mean() for f in followed],
        "late": [f.losses[half:].mean() for f in followed],
        "late_errors": [f.wrong[half:].mean() for f in followed],
        "curve": [f.losses.reshape(POINTS, -1).mean(axis=1) for f in followed],
        "truth": [f.candidates[-tenth:, made].mean() for f in weighing],
        "best": [f.candidates[-tenth:, best].mean() for f in weighing],
        "converged": [_switched(f, start, made) for f in weighing],
        "is_best": best == made,
        "sharper": bank.emission is not None and _sureness(bank, best) > _sureness(bank, made),
        "rounds": len(symbols),
    }
    return {name: np.array(values) for name, values in found.items()}


def _sureness(bank: HMMBank, candidate: int) -> float:
    """Return how probable a candidate's likeliest symbol is, on average over its states."""
    assert bank.emission is not None
    return float(bank.emission[..., candidate].max(axis=0).mean())


def _switched(went: Followed, start: int, candidate: int) -> float:
    found = went.time_to_switch(start, candidate)
    return np.inf if found is None else float(found)
