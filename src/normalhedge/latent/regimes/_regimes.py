"""Regimes of a series, and predictions of it, by models that are learned online."""

from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import inputs, notebook
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.latent.regimes._evidence import Evidence
from normalhedge.latent.regimes._forecasting import FURTHEST, Forecast
from normalhedge.latent.regimes._hindsight import RegimesInHindsight
from normalhedge.latent.regimes._predictive import Predictive
from normalhedge.latent.regimes._recipes import LearningRecipe
from normalhedge.latent.regimes._regime_labels import Parameters
from normalhedge.latent.regimes._regime_path import RegimePath
from normalhedge.latent.regimes._rule import RegimesRule
from normalhedge.latent.regimes._saved import load, write
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.latent.regimes._state import RegimesState
from normalhedge.latent.regimes._surprise import Surprise
from normalhedge.live.journal import refuse_beside
from normalhedge.live.live_object import LiveObject
from normalhedge.live.options import documented, from_options


@documented(RegimesSettings)
class Regimes(LiveObject[RegimesState]):
    """Follow the regimes of a series, live.

    Hidden Markov models of several families and numbers of states are learned from the observations
    so far: by EM from all rounds, by EM from the last rounds, and by online EM. Each way to learn
    is an expert. A hedger weighs the experts by the log density of each observation, and forgets.
    The prediction is the mixture

        p(y) = sum_n w_n sum_s P_n(S_{t+1} = s | y_1..y_t) b_ns(y)

    and the probability of a regime is the total probability of its states, with the same weights.

    Parameters
    ----------
    {options}

    Notes
    -----
    All results are causal: a round never uses later ones. Regimes are numbered by mean (by
    deviation if the means are similar) when they first appear, and keep their number.

    Whatever interrupts a method, such as Ctrl-C or a lack of memory, the regimes are as they were
    before it, or as they are after it.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> calm, wild = rng.normal(0.0, 0.5, 300), rng.normal(0.0, 3.0, 300)
    >>> regimes = Regimes()
    >>> path = regimes.run(np.concatenate([calm, wild, calm]))
    >>> path.states[[250, 550, 850]]
    array([0, 1, 0])
    >>> low, high = regimes.predict().interval(0.9)
    >>> bool(-1.5 < low < -0.5 < 0.5 < high < 1.5)
    True
    """

    @from_options(RegimesSettings)
    def __init__(self, settings: RegimesSettings) -> None:
        self._rule = RegimesRule(settings)
        self._state = self._rule.init()

    @property
    def settings(self) -> RegimesSettings:
        """The settings, with all defaults filled in."""
        return self._rule.settings

    @property
    def emission(self) -> str | None:
        """The family of emissions; None if the first observation will decide."""
        return self._state.emission or self.settings.emission

    @property
    def numbers(self) -> list[int]:
        """The numbers of states that are tried."""
        return list(self.settings.numbers)

    @property
    def rounds(self) -> int:
        """The number of rounds so far."""
        return self._state.rounds

    @property
    def history(self) -> list[tuple[int, dict[int, Parameters]]]:
        """The parameters over time, as pairs of a number of rounds and the parameters by then."""
        return list(self._state.history)

    @property
    def weights(self) -> Floats:
        """The current weights of the candidates."""
        return self._state.weights

    def candidates(self) -> dict[LearningRecipe, float]:
        """Return the weight of each candidate, by its recipe."""
        state = self._state
        recipes = [candidate.recipe for candidate in state.pool.candidates]
        return dict(zip(recipes, state.weights.tolist(), strict=True))

    @property
    def probabilities(self) -> Floats:
        """The current probability of each regime, by its number; zeros before the first fit."""
        return self._state.now.copy()

    @property
    def state(self) -> int:
        """The most probable regime; -1 before the first fit."""
        now = self._state.now
        return int(now.argmax()) if now.any() else -1

    @property
    def switching(self) -> float:
        """The probability that the regime changes after this round; NaN before the first fit."""
        return self._state.switch

    @property
    def evidence(self) -> Evidence:
        """How the series has changed so far: by regimes that return, by breaks, or not at all."""
        return self._rule.evidence(self._state)

    @property
    def novelty(self) -> float:
        """The probability that something new has begun in the last 100 rounds; NaN if unknown.

        It needs no model of the new: observations take places in their predictions that they did
        not take before. See `alarm`.
        """
        return self._surprise().novelty

    @property
    def alarm(self) -> bool:
        """Whether the last round raised an alarm that something new has begun.

        If nothing new begins, the mean number of rounds between alarms is at least ``patience``,
        as long as surprises are exchangeable.
        """
        return self.rounds - 1 in self._surprise().alarms[-1:]

    @property
    def alarms(self) -> list[int]:
        """The rounds of the last hundred alarms, counted from 0."""
        return list(self._surprise().alarms)

    def _surprise(self) -> Surprise:
        """Return what says that something new has begun, after all rounds."""
        before = self._state
        after = self._rule.settle(before)
        if after is not before:
            self._change(before, after)
        return after.surprise

    def support(self) -> dict[int, float]:
        """Return the total weight of the models with each number of states.

        Models with breaks or a drifting mean have the rest.
        """
        result = dict.fromkeys(self.numbers, 0.0)
        for recipe, weight in self.candidates().items():
            if recipe.states:
                result[recipe.states] += weight
        return result

    @property
    def remembered(self) -> int:
        """The number of last rounds that are remembered, to which `smoothed` reaches back."""
        return sum(len(block) for block in self._state.seen)

    def smoothed(self, lag: int) -> Floats:
        """Return the probability of each regime some rounds ago, given all rounds so far.

        Call it after each round with the same lag: a fixed-lag smoother. With the lag 0 it is
        ``probabilities``. Models and weights are the current ones:

            sum_n w_n P_n(S_{t-lag} = s | y_1..y_t)

        Parameters
        ----------
        lag
            The number of rounds to look back, less than ``remembered``: at least 20,000 rounds are
            remembered, or all if there are fewer.
        """
        return self._rule.smoothed(self._state, inputs.count("lag", lag, 0))

    def look_back(self, causal: Floats, numbers: Floats | None = None) -> RegimesInHindsight:
        """Return the regimes in hindsight of the last rounds; see `Inferred.hindsight`.

        Parameters
        ----------
        causal
            The probabilities of regimes in these rounds, whose numbers are used again.
        numbers
            The observations in these rounds, which need not be remembered then.
        """
        return self._rule.look_back(self._state, causal, numbers)

    def predict(self, given: npt.ArrayLike | None = None) -> Predictive:
        """Return the distribution of the next observation, given its covariates if there are any.

        Where a covariate is missing (NaN), nothing is known.
        """
        return self._rule.predict(self._state, given)

    def forecast(self, rounds: int, given: npt.ArrayLike | None = None) -> Forecast:
        """Return a forecast of the next rounds: distributions, regimes and switches.

        Parameters
        ----------
        rounds
            The number of rounds.
        given
            The covariates of these rounds, rounds x p, if there are any.
        """
        rounds = inputs.count("rounds", rounds)
        if rounds > FURTHEST:
            raise ValueError(f"rounds must be at most {FURTHEST:,}, got {rounds:,}")
        return self._rule.forecast(self._state, rounds, given)

    def save(self, path: str | Path) -> None:
        """Write everything to a JSON file, from which `load` continues to the bit.

        The file is written whole or not at all, and has a checksum. A hedger of your own cannot be
        written to a file, but it can be pickled.
        """
        refuse_beside(Path(path), "latent")
        write(self.settings, self._state, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the regimes that `save` wrote; refuse a damaged file."""
        return cls.at(*load(Path(path)))

    @classmethod
    def at(cls, rule: RegimesRule, state: RegimesState) -> Self:
        """Return regimes that have learned a state.

        Parameters
        ----------
        rule, state
            The rule of learning, and one of its states.
        """
        made = cls.__new__(cls)
        made._rule, made._state = rule, state
        return made

    def observe(self, y: npt.ArrayLike | None, given: npt.ArrayLike | None = None) -> None:
        """Learn the next observation, a number or one for each column; NaN or None if missing.

        Parameters
        ----------
        y
            The observation.
        given
            Its covariates. If the first observation has some, the states are regressions on them,
            and each observation needs them.
        """
        before = self._state
        self._change(before, self._rule.observe(before, y, given))

    def run(self, observations: npt.ArrayLike, given: npt.ArrayLike | None = None) -> RegimePath:
        """Learn many observations, T or T x d, with the same result as calling `observe` in a loop.

        Parameters
        ----------
        observations
            The observations.
        given
            The covariates of each, T or T x p, if there are any.

        Returns
        -------
        RegimePath
            The predictions and regimes of each round.
        """
        table = inputs.numbers_array("observations", observations)
        if table.ndim not in {1, 2} or table.size == 0:
            raise ValueError(f"observations must be T or T x d numbers, got shape {table.shape}")
        before = self._state
        after, path = self._rule.run(*self._rule.accept(before, table, given))
        self._change(before, after)
        return path

    def renumber(self) -> npt.NDArray[np.intp]:
        """Renumber the regimes: current ones first, ordered by mean or deviation, then the others.

        Regimes are numbered when they first appear, often on little evidence. Later there may be a
        better order, which is kept from then on.

        Returns
        -------
        ndarray
            The new number of each old one.
        """
        before = self._state
        after, new = self._rule.renumber(before)
        self._change(before, after)
        return new

    def parameters(self) -> dict[int, Parameters]:
        """Return the current parameters of each regime, by its number; see also `history`."""
        return self._state.labels.parameters()

    def _repr_html_(self) -> str:
        """Return the regimes, their parameters and probabilities as HTML, for a notebook."""
        now = self.probabilities
        head = ["regime", "mean", "deviation", "mean duration", "probability now"]
        rows = [
            (
                f"regime {number}",
                _brief(regime.mean),
                _brief(regime.deviation),
                f"{1.0 / max(1.0 - regime.stay, 1e-9):,.1f} rounds",
                f"{now[number]:.3f}" if number < len(now) else "",
            )
            for number, regime in self.parameters().items()
        ]
        family = self.emission or "not known yet"
        facts = [("rounds", f"{self.rounds:,}"), ("family of emissions", family)]
        table = notebook.html_table(head, rows) if rows else "<p>no fit yet</p>"
        return notebook.html_facts(facts) + table

    def __repr__(self) -> str:
        state = self._state
        if state.bank is None:
            return f"<Regimes: {counted(self.rounds, 'round')}, no fit yet>"
        return (
            f"<Regimes: {self.emission}, {counted(self.rounds, 'round')}, "
            f"{counted(len(self.parameters()), 'regime')}, "
            f"now {self.state} ({state.now.max():.2f}), "
            f"{counted(len(state.pool.candidates), 'candidate')}>"
        )


def _brief(numbers: object) -> str:
    """Return a number, or one for each column, as text."""
    return ", ".join(f"{number:.4g}" for number in np.ravel(np.asarray(numbers)).tolist())
