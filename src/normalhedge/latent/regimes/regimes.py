"""Regimes of a series, and predictions of it, by models that are learned online.

This module is long because it holds one class, whose documentation is a third of it.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from normalhedge import _inputs
from normalhedge._inputs import Floats
from normalhedge.hedgers import Hedger
from normalhedge.latent.models.emissions import FAMILIES
from normalhedge.latent.models.emissions.protocol import checked
from normalhedge.latent.regimes import saved
from normalhedge.latent.regimes.candidates import FIRST, LearningRecipe
from normalhedge.latent.regimes.course import Course
from normalhedge.latent.regimes.forecasting import FURTHEST, Forecast, forecast, mixture
from normalhedge.latent.regimes.lineup import CandidateRounds, Lineup
from normalhedge.latent.regimes.naming import Naming, Parameters
from normalhedge.latent.regimes.predictive import Predictive
from normalhedge.latent.regimes.slate import Slate
from normalhedge.latent.regimes.weighing import Weighing

BESIDE = {
    "gaussian": ("gaussian", "student"),
    "poisson": ("poisson", "negative_binomial"),
    "full": ("full", "diagonal"),
}
"""The families that are tried, by the requested one."""

REVIEW = 50
"""The number of observations between reviews of the candidates."""

SYMBOLS = 1_000
"""The largest number of symbols: each state learns the probability of every symbol."""

LONGEST = 20_000
"""The number of last observations that are kept; models of all rounds are fitted to them."""


class Regimes:
    """Follow the regimes of a series, live.

    Hidden Markov models of several families and numbers of states are learned from the observations
    so far: by EM from all rounds, by EM from the last rounds, and by online EM. Each way to learn
    is an expert. A hedger weighs the experts by the log density of each observation, and forgets.
    The prediction is the mixture

        p(y) = sum_n w_n sum_s P_n(S_{t+1} = s | y_1..y_t) b_ns(y)

    and the probability of a regime is the total probability of its states, with the same weights.

    Parameters
    ----------
    emission
        A family of `fit`. With "gaussian", Student's t is tried too; with "poisson" the negative
        binomial, with "full" the diagonal family. By default the first observation decides:
        "poisson" for a number of an integer type, "full" for several numbers, else "gaussian".
    states
        The numbers of states to try, or a single one; more than three only if fewer have support.
    budget
        The largest number of candidates at a time.
    hedger
        The hedger that weighs the candidates, see `Weighing`; `FixedShare` by default, which with
        log scores is Bayes' rule for a best candidate that changes now and then.
    worth
        The nats per round that an additional state must add to the log score to be a regime.
    symbols
        The number of symbols, with emission="categorical".
    rng
        The generator of random numbers for the starts of fits; seeded with 0 by default.

    Notes
    -----
    All results are causal: those of a round never use later rounds. Regimes are numbered by mean
    (by deviation if the means are similar) when they first appear, and keep their number.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> calm, wild = rng.normal(0.0, 0.5, 300), rng.normal(0.0, 3.0, 300)
    >>> regimes = Regimes()
    >>> course = regimes.run(np.concatenate([calm, wild, calm]))
    >>> course.states[[250, 550, 850]]
    array([0, 1, 0])
    >>> low, high = regimes.predict().interval(0.9)
    >>> bool(-1.5 < low < -0.5 < 0.5 < high < 1.5)
    True
    """

    def __init__(
        self,
        emission: str | None = None,
        states: int | Sequence[int] = (1, 2, 3, 4, 5),
        *,
        budget: int = 30,
        hedger: Hedger[Any] | None = None,
        worth: float = 0.02,
        symbols: int | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        if emission is not None and emission not in FAMILIES:
            raise ValueError(f"emission must be one of {', '.join(FAMILIES)}, got {emission!r}")
        if emission == "categorical":
            symbols = _inputs.count("symbols", symbols)
            if symbols > SYMBOLS:
                raise ValueError(f"there may be at most {SYMBOLS:,} symbols, got {symbols:,}")
        self.emission = emission
        asked = (states,) if isinstance(states, int | np.integer) else states
        self.numbers = sorted({_inputs.count("states", k) for k in asked})
        if not self.numbers:
            raise ValueError("states must hold at least one number")
        self._budget = max(_inputs.count("budget", budget), 2)
        self._weighing = Weighing(hedger)
        self._worth = _inputs.number("worth", worth, 0.0, closed=True)
        self._symbols = symbols
        self._rng = np.random.default_rng(0) if rng is None else rng
        self.rounds = self._observed = 0
        self.history: list[tuple[int, dict[int, Parameters]]] = []
        self._most = max(self.numbers)
        self._naming = Naming(self._most, self._worth)
        self._now, self._switch = np.zeros(self._most), math.nan
        self._slate: Slate | None = None
        self._lineup: Lineup | None = None
        self._seen: list[Floats] = []
        self._previous = np.full(1, np.nan)

    @property
    def weights(self) -> Floats:
        """The current weights of the candidates."""
        return self._weighing.weights

    def candidates(self) -> dict[LearningRecipe, float]:
        """Return the weight of each candidate, by its recipe."""
        if self._slate is None:
            return {}
        recipes = [candidate.recipe for candidate in self._slate.candidates]
        return dict(zip(recipes, self.weights.tolist(), strict=True))

    @property
    def probabilities(self) -> Floats:
        """The current probability of each regime, by its number; zeros before the first fit."""
        return self._now.copy()

    @property
    def state(self) -> int:
        """The most probable regime; -1 before the first fit."""
        return int(self._now.argmax()) if self._now.any() else -1

    @property
    def switching(self) -> float:
        """The probability that the regime changes after this round; NaN before the first fit."""
        return self._switch

    def support(self) -> dict[int, float]:
        """Return the total weight of the models with each number of states."""
        result = dict.fromkeys(self.numbers, 0.0)
        for recipe, weight in self.candidates().items():
            result[recipe.states] += weight
        return result

    def predict(self) -> Predictive:
        """Return the distribution of the next observation."""
        if self._lineup is None:
            return Predictive([], self._previous)
        beliefs = self.weights[:, np.newaxis] * self._lineup.predicted()
        return mixture(beliefs, self._lineup.candidates, self._previous)

    def forecast(self, rounds: int) -> Forecast:
        """Return a forecast of the next rounds: distributions, regimes and switches."""
        rounds = _inputs.count("rounds", rounds)
        if rounds > FURTHEST:
            raise ValueError(f"rounds must be at most {FURTHEST:,}, got {rounds:,}")
        if self._lineup is None:
            none = np.zeros((rounds, self._most)), np.full(rounds, np.nan)
            return Forecast((self.predict(),) * rounds, *none)
        return forecast(
            rounds,
            self._lineup.candidates,
            self.weights,
            self._lineup.predicted(),
            self._naming,
            self._previous,
        )

    def save(self, path: str | Path) -> None:
        """Write everything to a JSON file, from which `load` continues to the bit.

        The file is written whole or not at all, and has a checksum. A hedger of your own cannot be
        written to a file, but it can be pickled.
        """
        saved.save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the regimes that `save` wrote; refuse a damaged file."""
        return saved.load(Path(path), cls)

    def observe(self, y: npt.ArrayLike | None) -> None:
        """Learn the next observation, a number or one for each column; NaN or None if missing."""
        given = np.full(len(self._previous), np.nan) if y is None else y
        row = self._accepted(np.reshape(_inputs.numbers_array("y", given), (1, -1)))
        self._learn(row)
        self._advance(row)

    def run(self, observations: npt.ArrayLike) -> Course:
        """Learn many observations, T or T x d, with the same result as calling `observe` in a loop.

        Returns
        -------
        Course
            The predictions and regimes of each round.
        """
        given = _inputs.numbers_array("observations", observations)
        if given.ndim not in {1, 2} or given.size == 0:
            raise ValueError(f"observations must be T or T x d numbers, got shape {given.shape}")
        table = self._accepted(given)
        parts, start = [], 0
        while start < len(table):
            stop = start + self._until_review(table[start:])
            parts.append(self._course(table[start:stop]))
            self._advance(table[start:stop])
            start = stop
        return Course.joined(parts)

    def _accepted(self, observations: np.ndarray) -> Floats:
        """Return observations as T x d, checked; the first ones fix the number of columns."""
        kind = self.emission or _kind(observations[0])
        several = 1 if self._slate is None and kind not in {"full", "diagonal"} else None
        columns = several if self._slate is None else len(self._previous)
        table = checked(FAMILIES[kind], observations, columns)
        if self._symbols is not None and (table >= self._symbols).any():
            raise ValueError(f"observations must be symbols below {self._symbols}")
        if self._slate is None:
            families = BESIDE.get(kind, (kind,))
            self.emission = kind
            self._slate = Slate(families, self.numbers, self._budget, self._rng, self._symbols)
            self._previous = np.full(table.shape[1], np.nan)
        return table

    def _advance(self, block: Floats) -> None:
        """Let time pass; review the candidates if a review is due."""
        self._seen.append(block)
        self._previous = block[-1]
        self.rounds += len(block)
        new = int((~np.isnan(block[:, 0])).sum())
        self._observed += new
        if new and self._observed == _next_review(self._observed - 1):
            self._review()

    def _until_review(self, table: Floats) -> int:
        """Return how many of these rounds pass until the next review, at most all of them."""
        wanted = _next_review(self._observed) - self._observed
        if not np.isnan(table[:wanted, 0]).any():
            return min(wanted, len(table))
        known = np.cumsum(~np.isnan(table[:, 0]))
        return min(int(np.searchsorted(known, wanted)) + 1, len(table))

    def _course(self, block: Floats) -> Course:
        """Learn observations and return their predictions and regimes."""
        rounds = len(block)
        if self._lineup is None:
            empty, none = np.full(block.shape, np.nan), np.full(rounds, np.nan)
            return Course(_flat(empty), _flat(empty), none, np.zeros((rounds, self._most)), none)
        known = self._known(block)
        learned = self._learn(block, moments=True)
        assert learned is not None
        before, after, mixed, results = learned
        mean = np.einsum("tn,tnd->td", before, results.means)
        away = np.square(results.means - mean[:, np.newaxis])
        variance = np.einsum("tn,tnd->td", before, results.variances + away)
        shares = self._naming.regimes(after, results.filtered)
        switch = self._naming.switching(after, results.filtered)
        scores = np.where(known, mixed, np.nan)
        return Course(_flat(mean), _flat(variance), scores, shares, switch)

    def _learn(
        self, block: Floats, *, moments: bool = False
    ) -> tuple[Floats, Floats, Floats, CandidateRounds] | None:
        """Let the candidates and the hedger observe.

        Returns
        -------
        tuple
            Weights before and after each round, log densities of the mixture, and the results of
            the candidates; None before the first fit.
        """
        if self._lineup is None or self._slate is None:
            return None
        results = self._lineup.run(block, self._previous, moments=moments)
        known = self._known(block)
        before, after, mixed = self._weighing.observe(results.logs, known)
        if known.any():
            ahead = results.logs[known] - mixed[known, np.newaxis]
            left, *gained = self._naming.remember(ahead, before[known])
            self._slate.standing = left * self._slate.standing + np.array(gained)
        self._now = self._naming.regimes(after[-1:], results.filtered[-1:])[0]
        self._switch = float(self._naming.switching(after[-1:], results.filtered[-1:])[0])
        return before, after, mixed, results

    def _known(self, block: Floats) -> npt.NDArray[np.bool_]:
        """Return which rounds teach something; to autoregressive models, none right after a gap."""
        known = ~np.isnan(block[:, 0])
        if self.emission == "autoregressive":
            known[1:] &= known[:-1]
            known[0] &= not np.isnan(self._previous[0])
        return known

    def _review(self) -> None:
        """Fit the candidates that are due, and match states with regimes again."""
        assert self._slate is not None
        seen = np.concatenate(self._seen)[-LONGEST:]
        self._seen = [seen]
        if int((~np.isnan(seen[:, 0])).sum()) < FIRST:
            return
        left, joined = self._slate.review(seen, self.weights)
        if not self._slate.candidates:  # too few observations for this many states
            return
        self._weighing.change(left, joined)
        self._lineup = Lineup(self._slate.candidates, self._most)
        self._naming.match(self._slate.candidates, self._slate.standing, seen)
        self.history.append((self.rounds, self.parameters()))

    def renumber(self) -> npt.NDArray[np.intp]:
        """Renumber the regimes: current ones first, ordered by mean or deviation, then the others.

        Regimes are numbered when they first appear, often on little evidence. Later there may be a
        better order, which is kept from then on.

        Returns
        -------
        ndarray
            The new number of each old one.
        """
        new = self._naming.renumber()
        now = np.empty_like(self._now)
        now[new] = self._now
        self._now = now
        self.history = [
            (rounds, dict(sorted((int(new[old]), one) for old, one in there.items())))
            for rounds, there in self.history
        ]
        return new

    def parameters(self) -> dict[int, Parameters]:
        """Return the current parameters of each regime, by its number; see also `history`."""
        return self._naming.parameters()

    def __repr__(self) -> str:
        if self._slate is None or self._lineup is None:
            return f"<Regimes: {self.rounds:,} rounds, no fit yet>"
        return (
            f"<Regimes: {self.emission}, {self.rounds:,} rounds, {len(self.parameters())} regimes, "
            f"now {self.state} ({self._now.max():.2f}), {len(self._slate.candidates)} candidates>"
        )


def _kind(first: Any) -> str:
    array = _inputs.numbers_array("observations", first)
    if array.size > 1:
        return "full"
    return "poisson" if array.dtype.kind in "iu" and array.min() >= 0 else "gaussian"


def _next_review(observed: int) -> int:
    """Return the number of observations at the next review: 4, 8, 16, 32, 50, 100, 150, ..."""
    early = [at for at in (FIRST, 8, 16, 32) if at > observed]
    return early[0] if early else (observed // REVIEW + 1) * REVIEW


def _flat(table: Floats) -> Floats:
    return table[:, 0] if table.shape[1] == 1 else table
