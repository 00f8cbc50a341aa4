"""The regimes of a whole series, and how well they predicted it."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from normalhedge.boundary import charts, inputs, notebook, rooms_above
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.latent.regimes._encoding import Encoding
from normalhedge.latent.regimes._evidence import Evidence
from normalhedge.latent.regimes._forecasting import Forecast
from normalhedge.latent.regimes._hindsight import RegimesInHindsight
from normalhedge.latent.regimes._plotting import regime_panels
from normalhedge.latent.regimes._regime_labels import Parameters
from normalhedge.latent.regimes._regime_path import RegimePath
from normalhedge.latent.regimes._regimes import Regimes
from normalhedge.latent.regimes._segments import segments
from normalhedge.latent.regimes._sequence import Sequence, plain_list, read_covariates
from normalhedge.latent.regimes._state import History

BINS = 10


class Live(NamedTuple):
    """Regimes that can continue, and the encoding that turns observations into their numbers."""

    regimes: Regimes
    encoding: Encoding

    @property
    def code(self) -> Encoding:
        """The former name of ``encoding``."""
        _warn("code", "encoding")
        return self.encoding


@dataclass(frozen=True, eq=False)
class Inferred:
    """The regimes of a series; the results of each round use only the rounds up to it.

    Only the numbers of the regimes use later rounds: they are assigned at the end. The current
    regimes come first, ordered by mean, or by deviation if their means are similar.

    Attributes
    ----------
    sequence
        The observations as numbers, with their encoding.
    time
        The time of each round, as given; None by default.
    path
        Predictions, log scores and probabilities of regimes, round by round.
    symbol_probabilities
        The predicted probability of each symbol, T x m; NaN before the first fit. T x 0 if the
        observations are not symbols.
    pits
        P(y < y_t) and P(y <= y_t) under the predictive distribution, T x d x 2, in at most 500
        rounds; NaN in the others, and for symbols.
    live
        The regimes after the last round. `resume` continues with a copy of them.
    symbol_history
        The probabilities of symbols in each regime over time, as in ``history``.
    """

    sequence: Sequence
    time: tuple[Any, ...] | None
    path: RegimePath
    symbol_probabilities: Floats
    pits: Floats
    live: Live
    symbol_history: History[Floats]

    @property
    def course(self) -> RegimePath:
        """The former name of ``path``."""
        _warn("course", "path")
        return self.path

    @property
    def states(self) -> npt.NDArray[np.intp]:
        """The most probable regime in each round; -1 before the first fit."""
        return self.path.states

    @property
    def certainty(self) -> Floats:
        """The probability of the most probable regime in each round."""
        return self.path.certainty

    @property
    def probabilities(self) -> Floats:
        """The probability of each regime in each round, T x regimes."""
        most = max(self.parameters, default=0)
        used = np.flatnonzero(self.path.probabilities.any(axis=0))
        return self.path.probabilities[:, : max(most, int(used.max(initial=0))) + 1]

    @property
    def parameters(self) -> dict[int, Parameters]:
        """The parameters of each regime at the end, by its number."""
        return self.live.regimes.parameters()

    @property
    def history(self) -> list[tuple[int, dict[int, Parameters]]]:
        """The parameters over time, as pairs of a number of rounds and the parameters by then."""
        return list(self.live.regimes.history)

    @property
    def support(self) -> dict[int, float]:
        """The total weight of the models with each number of states at the end."""
        return self.live.regimes.support()

    @cached_property
    def hindsight(self) -> RegimesInHindsight:
        """The regimes in hindsight, given all rounds; computed when it is first asked for.

        After `resume` it rests on the earlier rounds, too, as far as they are remembered.
        """
        return self.live.regimes.look_back(self.path.probabilities, self.sequence.table)

    @property
    def smoothed(self) -> Floats:
        """The probability of each regime in each round, given all rounds, T x regimes."""
        return self.hindsight.probabilities

    def segments(self) -> Any:
        """Return the most probable path in hindsight as a table with a row for each stay.

        Returns
        -------
        dict or pandas.DataFrame
            The columns ``from``, ``to``, ``regime``, ``rounds``, and for each column of numbers
            ``mean`` and ``deviation``; for symbols, the share of each. ``from`` and ``to`` are the
            times of the first and the last round, or their places. A data frame if the values came
            from pandas, otherwise a dictionary of columns.
        """
        columns = self.stays()
        if not self.sequence.pandas:
            return columns
        import pandas as pd  # noqa: PLC0415 -- the values came from it

        return pd.DataFrame(columns)

    def stays(self) -> dict[str, list[Any]]:
        """Return `segments` as columns, whatever the values came from."""
        return segments(self.hindsight.path, self.sequence, self.time)

    @property
    def novelty(self) -> Floats:
        """The probability that something new has begun, after each round; NaN if unknown."""
        return self.path.novelty

    @property
    def alarms(self) -> npt.NDArray[np.intp]:
        """The rounds, counted from 0, that raised an alarm that something new has begun."""
        return np.flatnonzero(self.path.alarms)

    @property
    def evidence(self) -> Evidence:
        """How the series has changed: by regimes that return, by breaks, or not at all."""
        return self.live.regimes.evidence

    def forecast(self, rounds: int = 1, given: Any = None) -> Forecast:
        """Return a forecast of the next rounds.

        Parameters
        ----------
        rounds
            The number of rounds ahead.
        given
            The covariates of these rounds, if the series was given some.
        """
        names, table = self.live.encoding.given, given
        if names:
            columns = read_covariates(given, inputs.count("rounds", rounds), names)
            table = np.column_stack(list(columns.values()))
        return self.live.regimes.forecast(rounds, table)

    def coverage(self, level: float = 0.9) -> float:
        """Return the share of observations inside the central interval of this probability.

        A count on the edge of the interval is counted in part.
        """
        tail = 0.5 * (1.0 - inputs.number("level", level, 0.0, 1.0))
        pits = self.pits[~np.isnan(self.pits).any(axis=2)]
        if not len(pits):
            return float("nan")
        below, up_to = pits[:, 0], np.maximum(pits[:, 1], pits[:, 0] + 1e-12)
        inside = np.minimum(up_to, 1.0 - tail) - np.maximum(below, tail)
        return float((np.maximum(inside, 0.0) / (up_to - below)).mean())

    def pit_histogram(self, bins: int = BINS) -> Floats:
        """Return the share of rounds in each bin of the probability integral transform P(y <= y_t).

        Calibrated predictions give 1 / bins in each. A count is spread from P(y < y_t) to P(y <=
        y_t).
        """
        edges = np.linspace(0.0, 1.0, inputs.count("bins", bins) + 1)
        pits = self.pits[~np.isnan(self.pits).any(axis=2)]
        if not len(pits):
            return np.full(bins, np.nan)
        below, width = pits[:, :1], np.maximum(pits[:, 1:] - pits[:, :1], 1e-12)
        return np.diff(np.clip((edges - below) / width, 0.0, 1.0).mean(axis=0))

    def reliability(self) -> tuple[Floats, Floats, np.ndarray]:
        """Return mean predicted probability, observed share and number of cases, in bins of 0.1.

        It is for symbols only; of two symbols, only the second is counted.
        """
        labels = self.sequence.labels
        known = self.sequence.known & ~np.isnan(self.symbol_probabilities).any(axis=1)
        predicted = self.symbol_probabilities[known]
        observed = self.sequence.numbers[known][:, np.newaxis] == np.arange(len(labels))
        if len(labels) == 2:
            predicted, observed = predicted[:, 1:], observed[:, 1:]
        places = np.minimum((predicted * BINS).astype(int), BINS - 1).ravel()
        count = np.bincount(places, minlength=BINS)
        used = count > 0
        means = [
            np.bincount(places, values.ravel().astype(float), BINS)[used] / count[used]
            for values in (predicted, observed)
        ]
        return means[0], means[1], count[used]

    def columns(self, *, hindsight: bool = False) -> dict[str, Any]:
        """Return all results round by round, as columns of a table; None for unknown values.

        Parameters
        ----------
        hindsight
            Whether to add the results in hindsight, which use later rounds, too: the regime on the
            most probable path, and the smoothed probability of each regime.
        """
        path, encoding = self.path, self.sequence.encoding
        result: dict[str, Any] = {} if self.time is None else {"time": list(self.time)}
        result |= self.sequence.decode()
        result["state"] = [None if s < 0 else s for s in path.states.tolist()]
        there = path.probabilities.any(axis=1)
        result["probability"] = plain_list(np.where(there, path.certainty, np.nan))
        for k, column in enumerate(self.probabilities.T):
            result[f"state {k}"] = plain_list(np.where(there, column, np.nan))
        result["switch"] = plain_list(path.switching)
        for k, label in enumerate(encoding.labels):
            result[f"p({label})"] = plain_list(self.symbol_probabilities[:, k])
        for k, name in enumerate(encoding.number_columns):
            mean, variance = (part.reshape(len(path), -1)[:, k]
                              for part in (path.means, path.variances))  # fmt: skip
            result[f"mean {name}".strip()] = plain_list(mean)
            result[f"deviation {name}".strip()] = plain_list(np.sqrt(variance))
        result["novelty"] = plain_list(path.novelty)
        result["alarm"] = path.alarms.tolist()
        result["log score"] = plain_list(path.log_scores)
        if hindsight:
            states = self.hindsight.path.tolist()
            result["hindsight"] = [None if s < 0 else s for s in states]
            for k, column in enumerate(self.smoothed.T):
                result[f"smoothed {k}"] = plain_list(column)
        return result

    def plot(self, library: str | None = None, *, hindsight: bool = False) -> Any:
        """Return a figure of the observations by regime, and of the probabilities of regimes.

        A notebook shows the figure if it is the last value of a cell; elsewhere, save it.

        Parameters
        ----------
        library
            ``"matplotlib"`` or ``"plotly"``; by default the first of them that is installed.
        hindsight
            Whether to show the regimes given all rounds, in place of the rounds up to each.
        """
        names = list(self.sequence.encoding.number_columns) or [""]
        panels = regime_panels(
            self.sequence.numbers if self.sequence.raw is None else self.sequence.raw,
            names,
            () if self.sequence.raw is not None else self.sequence.labels,
            self.hindsight.path if hindsight else self.states,
            self.smoothed if hindsight else self.probabilities,
            self.time,
            known="all observations" if hindsight else "the observations so far",
        )
        return charts.draw(counted(len(self.path), "round"), panels, library)

    def report(self, path: str | Path, *, title: str = "", ahead: Forecast | None = None) -> None:
        """Write the regimes as one page of HTML with interactive plots, which opens offline.

        It is the page of ``normalhedge latent --report``.

        Parameters
        ----------
        path
            The file to write, ``"page.html"``.
        title
            The title of the page.
        ahead
            A `forecast` for the page; None to leave it out.
        """
        options = {"title": title, "ahead": ahead}
        rooms_above.call("normalhedge.reports", "report_inferred", self, Path(path), **options)

    def _repr_html_(self) -> str:
        """Return the score and the regimes as HTML, for a notebook."""
        known = self.path.log_scores[~np.isnan(self.path.log_scores)]
        facts = [("rounds of this series", f"{len(self.path):,}")]
        if len(known):
            facts.append(
                ("mean log score", f"{known.mean():.4f} over {counted(len(known), 'round')}")
            )
        return notebook.html_facts(facts) + self.live.regimes._repr_html_()

    def __repr__(self) -> str:
        regimes = self.live.regimes
        known = self.path.log_scores[~np.isnan(self.path.log_scores)]
        score = f"{known.mean():.4f}" if len(known) else "none"
        return (
            f"<Inferred: {counted(len(self.path), 'round')}, "
            f"{counted(len(self.parameters), 'regime')}, now "
            f"{regimes.state} ({regimes.probabilities.max():.2f}), mean log score {score}>"
        )


def _warn(former: str, name: str) -> None:
    warnings.warn(f"{former} is now called {name}", DeprecationWarning, stacklevel=3)
