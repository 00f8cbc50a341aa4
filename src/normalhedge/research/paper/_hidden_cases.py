"""The cases of Section 5: sequences with hidden states, and the candidates that predict them."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent import (
    CategoricalBank,
    categorical_bank,
    categorical_grid,
    random_categorical_bank,
)


class DrawnSequence(NamedTuple):
    """A sequence, and the candidates that predict it."""

    bank: CategoricalBank  # the candidates
    symbols: Floats  # the sequence
    # the number of the candidate that made the end of the sequence; none if none of them did
    truth: int | None


class HiddenCase(NamedTuple):
    """A case of Section 5."""

    id: str  # the name in files
    title: str
    text: str  # the explanation on the page
    draw: Callable[[np.random.Generator], DrawnSequence]

    @property
    def cell(self) -> str:
        """The name of its measurement."""
        return f"hidden-{self.id}"


def two_states(*candidates: tuple[float, float, float]) -> CategoricalBank:
    """Return binary candidates of two states.

    Each candidate is its probability to stay in a state, and the probabilities of a 1 in the first
    and in the second state.
    """
    stay, first, second = np.array(candidates).T
    moves = np.stack([np.stack([stay, 1 - stay], -1), np.stack([1 - stay, stay], -1)], 1)
    says = np.stack([np.stack([1 - b, b], -1) for b in (first, second)], 1)
    return categorical_bank(np.full((len(stay), 2), 0.5), moves, says)


def draw_two_states(
    rounds: int, stay: float, first: float, second: float, rng: np.random.Generator
) -> Floats:
    """Return a binary sequence that starts in the first of two states.

    Each round draws one uniform number for the switch, and then one for the symbol.
    """
    switch, symbol = rng.random((rounds, 2)).T
    state = np.cumsum(switch > stay) % 2
    return np.asarray((symbol < np.where(state, second, first)).astype(np.float64))


def _known(rng: np.random.Generator) -> DrawnSequence:
    bank = categorical_bank(
        np.full((1, 3), 1.0 / 3.0),
        [0.97 * np.eye(3) + 0.01],
        [[[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]]],
    )
    return DrawnSequence(bank, bank.sample(10_000, rng)[1], 0)


def _among(rng: np.random.Generator) -> DrawnSequence:
    bank = random_categorical_bank(50, 2, 2, rng, stay=0.97)
    return DrawnSequence(bank, bank.sample(10_000, rng)[1], 0)


def _without(rng: np.random.Generator) -> DrawnSequence:
    bank, symbols, _ = _among(rng)
    return DrawnSequence(bank.take(np.arange(1, bank.candidates)), symbols, None)


def none_correct(rng: np.random.Generator, tiny: float, noise: float) -> DrawnSequence:
    """Draw from an HMM that is not among four candidates; one candidate is too sure of itself."""
    bank = two_states(
        (1 - tiny, 1 - tiny, tiny), (0.99, 0.49, 0.49), (0.9, 0.52, 0.46), (0.5, 0.9, 0.1)
    )
    return DrawnSequence(bank, draw_two_states(20_000, 0.999, 1 - noise, noise, rng), None)


def _halves(
    bank: CategoricalBank, first: int, second: int, rng: np.random.Generator
) -> DrawnSequence:
    """Draw each half of a sequence from another candidate."""
    symbols = [bank.sample(10_000, rng, candidate)[1] for candidate in (first, second)]
    return DrawnSequence(bank, np.concatenate(symbols), second)


def _change(rng: np.random.Generator) -> DrawnSequence:
    bank = categorical_grid(2, [0.02, 0.1, 0.5, 0.9, 0.98], [0.05, 0.35, 0.65, 0.95])
    sharp = np.flatnonzero((bank.emission[1, 0] == 0.05) & (bank.emission[1, 1] == 0.95))
    return _halves(bank, int(sharp[-1]), int(sharp[0]), rng)


def _mild(rng: np.random.Generator) -> DrawnSequence:
    return _halves(random_categorical_bank(50, 2, 2, rng, stay=0.97), 1, 0, rng)


CASES = (
    HiddenCase(
        "known",
        "Known parameters",
        "One HMM of three states (stay .98, each says its own of three symbols with .7), known: an "
        "expert for each state, with the posterior of the state as its confidence.",
        _known,
    ),
    HiddenCase(
        "among",
        "The truth among the candidates",
        "Fifty HMMs of two states over two symbols, drawn at random; one of them makes the data.",
        _among,
    ),
    HiddenCase(
        "none",
        "None of the candidates is correct",
        "The truth stays with .999 and says 1 with .96 or .04. Four candidates (stay; P(1)): "
        "(1-d; 1-d, d), (.99; .49, .49), (.9; .52, .46), (.5; .9, .1), d = 1e-10.",
        partial(none_correct, tiny=1e-10, noise=0.04),
    ),
    HiddenCase(
        "fragile",
        "Its fragile neighbour",
        "The same with .98 or .02, and d = 1e-9.",
        partial(none_correct, tiny=1e-9, noise=0.02),
    ),
    HiddenCase(
        "without",
        "None of many is correct",
        "Fifty HMMs drawn at random; one of them makes the data and is then taken away.",
        _without,
    ),
    HiddenCase(
        "change",
        "The truth changes",
        "Thirty HMMs of a grid (stay .02, .1, .5, .9, .98; two of P(1) = .05, .35, .65, .95). The "
        "data come from (.98; .05, .95) for half of the rounds and then from (.02; .05, .95): "
        "states that stayed now alternate.",
        _change,
    ),
    HiddenCase(
        "mild",
        "The truth changes, mildly",
        "Fifty HMMs drawn at random; one of them makes the first half of the data, another the "
        "second. These are often much alike.",
        _mild,
    ),
)

CHANGES = ("change", "mild")
"""The cases in which the truth changes in the middle."""
