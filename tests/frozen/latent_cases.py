"""Banks of hidden Markov models, and those who predict with them."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from normalhedge.hedgers import named
from normalhedge.latent import (
    BayesAverage,
    CategoricalBank,
    HMMBank,
    LearningBank,
    ModelExperts,
    StateExperts,
    best_candidate,
    categorical_bank,
    follow,
    gaussian_bank,
    random_categorical_bank,
    random_gaussian_bank,
)
from tests.frozen.case import Arrays, Case, Nudge, under

CANDIDATES, STATES, SYMBOLS = 6, 3, 4

Numbers = npt.NDArray[np.float64]


def bank_of(kind: str, nudge: Nudge) -> HMMBank:
    """Return a bank: over symbols, over real numbers, drawn, or one in which much is impossible."""
    rng = np.random.default_rng(40)
    order = nudge.order(CANDIDATES)
    if kind == "drawn":
        return random_categorical_bank(CANDIDATES, STATES, SYMBOLS, rng, evenness=0.5).take(order)
    if kind == "drawn numbers":
        return random_gaussian_bank(CANDIDATES, STATES, 0.5, 2.0, rng).take(order)
    first = rng.dirichlet(np.ones(STATES), CANDIDATES)
    moves = rng.dirichlet(np.ones(STATES), (CANDIDATES, STATES)) + 4.0 * np.eye(STATES)
    moves /= moves.sum(axis=2, keepdims=True)
    if kind == "numbers":
        means = 3.0 * rng.normal(size=(CANDIDATES, STATES))
        deviations = rng.uniform(0.3, 1.5, (CANDIDATES, STATES))
        return gaussian_bank(first, moves, means, deviations).take(order)
    says = rng.dirichlet(np.ones(SYMBOLS), (CANDIDATES, STATES))
    if kind == "impossible":
        says[..., 3] = 0.0  # for everybody
        says[:2, :, 2] = 0.0  # for two of them
        says[4, 1, :2] = 0.0  # for one state
        says[4, 1, 2] = 1.0
        says /= says.sum(axis=2, keepdims=True)
    return categorical_bank(first, moves, says).take(order)


KINDS = ("symbols", "impossible", "drawn", "numbers", "drawn numbers")


def sequence_of(kind: str, rounds: int, nudge: Nudge) -> Numbers:
    """Return observations with gaps; of real numbers one that nobody thinks possible."""
    rng = np.random.default_rng([41, rounds])
    if "numbers" in kind:
        numbers = np.repeat(rng.choice([-2.0, 0.5, 3.0], rounds // 8 + 1), 8)[:rounds]
        numbers = nudge.scale * (numbers + rng.normal(size=rounds))
        numbers[rounds // 2] = 1e6
    else:
        top = SYMBOLS - (kind == "impossible")
        numbers = np.repeat(rng.integers(0, top, rounds // 4 + 1), 4)[:rounds].astype(float)
        other = rng.integers(0, top, rounds)
        numbers = np.where(rng.random(rounds) < 0.4, other, numbers)
        if kind == "impossible":
            numbers[rounds // 2 :: 17] = 3.0
    numbers[rng.random(rounds) < 0.08] = np.nan
    return numbers


def filtered(kind: str, keep: float, nudge: Nudge) -> Arrays:
    """Return the beliefs of a bank: along a sequence, and observation by observation."""
    bank, order = bank_of(kind, nudge), nudge.order(CANDIDATES)
    numbers = sequence_of(kind, 80, nudge)
    run = bank.run(numbers, keep=keep)
    found = {
        "beliefs": run.beliefs[::16][..., order],
        "log_likelihood": run.log_likelihood[::8][:, order],
        "scores": run.scores[::16][..., order],
    }
    state: Any = bank.init()
    for number in numbers[:50]:
        state = bank.observe(state, None if np.isnan(number) else float(number), keep)
    ends = {"end": run.state, "observed": state}
    if isinstance(bank, CategoricalBank):
        found["symbols"] = bank.symbols(state)[:, order]
    ends["went on"] = bank.run(numbers[50:60], state, keep).state
    for name, one in ends.items():
        found[f"{name}/beliefs"] = one.beliefs[:, order]
        found[f"{name}/log_likelihood"] = one.log_likelihood[order]
        found[f"{name}/counts"] = np.array([one.rounds, one.impossible], dtype=np.float64)
    return found


def predictor_of(who: str, hedger: str, rounded: bool, bank: HMMBank) -> Any:
    """Return a predictor on a bank."""
    if who == "Bayes":
        return BayesAverage(bank, rounded=rounded)
    if who == "Bayes, forgetting":
        return BayesAverage(bank, 0.95, rounded=rounded)
    own = named(hedger, bank.candidates, alpha=0.03) if hedger else None
    made = StateExperts if who == "states" else ModelExperts
    return made(bank, own, rounded=rounded)


def followed(who: str, kind: str, hedger: str, rounded: bool, nudge: Nudge) -> Arrays:
    """Return what a predictor says along a sequence, and asked one by one from then on."""
    bank, order = bank_of(kind, nudge), nudge.order(CANDIDATES)
    predictor = predictor_of(who, hedger, rounded, bank)
    numbers = sequence_of(kind, 140, nudge)
    went = follow(predictor, numbers[:110])
    found = {
        "said": went.predictions[::6],
        "losses": went.losses[::2],
        "wrong": went.wrong[::2].astype(np.float64),
        "states": went.states[::2].astype(np.float64),
        "state_weights": went.state_weights[::10],
        "candidates": went.candidates[::10][:, order],
    }
    scores = []
    for number in numbers[110:]:
        scores.append(predictor.score(float(number)))
        predictor.observe(float(number))
    found["scores"] = np.array(scores)
    found["weights"] = predictor.weights[:, order]
    return found | {"next": predictor.predict()}


def learned(kind: str, hedger: str, nudge: Nudge) -> Arrays:
    """Return what a bank that learns says; who is copied is drawn, so nobody is reordered."""
    bank = bank_of(kind, Nudge())
    own = named(hedger, CANDIDATES, alpha=0.05)
    predictor = LearningBank(bank, np.random.default_rng(42), own, patience=16)
    went = follow(predictor, sequence_of(kind, 160, nudge))
    last = predictor.bank
    says = last.state_predictions if last.symbol_count else last.state_predictions[0]
    return {
        "said": went.predictions[::8],
        "losses": went.losses[::2],
        "dropped": np.array([predictor.dropped], dtype=np.float64),
        "weights": predictor.weights,
        "says": np.array(says),
        "moves": last.transition,
        "next": predictor.predict(),
    }


def best_ones(nudge: Nudge) -> Arrays:
    """Return the losses of all candidates in hindsight, and the best of them."""
    found: Arrays = {}
    order = nudge.order(CANDIDATES)
    for kind in KINDS:
        bank = bank_of(kind, nudge)
        best, losses = best_candidate(bank, sequence_of(kind, 100, nudge), 10)
        found |= under(kind, {"best": np.array([order[best]]) * 1.0, "losses": losses[order]})
    return found


def cases() -> Iterator[Case]:
    """Yield them all."""
    part = functools.partial
    for kind in KINDS:
        for keep in (1.0, 0.9):
            yield Case(f"bank/{kind}, keep {keep:g}", part(filtered, kind, keep))
        for who in ("states", "models"):
            for hedger in ("", "normal-hedge", "squint", "ada-hedge"):
                label = f"{who}/{kind}{', ' * bool(hedger)}{hedger}"
                yield Case(f"latent/{label}", part(followed, who, kind, hedger, False))
        for who in ("Bayes", "Bayes, forgetting"):
            yield Case(f"latent/{who}/{kind}", part(followed, who, kind, "", False))
    for kind in ("symbols", "drawn"):
        for who in ("states", "models", "Bayes"):
            run = part(followed, who, kind, "normal-hedge", True)
            yield Case(f"latent/{who}/{kind}, rounded", run)
    for kind in ("symbols", "numbers"):
        for hedger in ("normal-hedge", "hedge"):
            yield Case(f"latent/learning/{kind}, {hedger}", part(learned, kind, hedger))
    yield Case("latent/best candidates", best_ones)
