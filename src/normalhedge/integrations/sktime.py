"""A forecaster of sktime whose forecasters are blended by a mixture."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sktime.forecasting.base import ForecastingHorizon
from sktime.forecasting.base._meta import _HeterogenousEnsembleForecaster

from normalhedge.integrations import _rounds
from normalhedge.integrations._steps_ahead import StepsAhead, step_item
from normalhedge.mixtures import Mixture


class HedgeForecaster(_HeterogenousEnsembleForecaster):  # type: ignore[misc]
    """Forecasters, blended by weights that follow the ones with the best recent forecasts.

    `fit` judges the forecasters as time would: at several times of the past it fits them to the
    rows known then, and a `Mixture` learns from their forecasts. It learns from a forecast k steps
    ahead k steps later, when its outcome is known. Then it fits them to the whole series. `update`
    goes on with new rows in the same way. `predict` blends the forecasts with the weights after the
    last outcome, and changes nothing.

    Parameters
    ----------
    forecasters : list of (str, estimator) pairs, or of estimators
        The forecasters.
    hedger, loss
        As for `Mixture`; a loss of numbers.
    cv : int or splitter
        How many times of the past the forecasters are judged at, the last ones, in the second half
        of the series; or a splitter of sktime, whose training windows are the known rows.
    step_length : int
        How many rows lie between two of these times, in `fit` and in `update`.
    refit : bool
        Whether forecasters are fitted anew at each time of `fit`, or only at the first one and then
        updated.
    season : int, optional
        After how many rows the spread of outcomes repeats itself, for intervals.
    options : dict, optional
        Further arguments of `Mixture`, such as ``{"even": 0.5}``.
    n_jobs : int, optional
        How many forecasters are fitted at the same time.

    Attributes
    ----------
    mixture_
        The `Mixture`: see its ``summary()``.
    weights_
        The weights in the next round: a table of steps ahead and forecasters.
    forecasters_
        The fitted forecasters.

    Examples
    --------
    >>> from normalhedge.integrations import HedgeForecaster
    >>> from sktime.datasets import load_airline
    >>> from sktime.forecasting.naive import NaiveForecaster
    >>> from sktime.forecasting.trend import TrendForecaster
    >>> y = load_airline()
    >>> model = HedgeForecaster([
    ...     ("season", NaiveForecaster("last", sp=12)), ("line", TrendForecaster()),
    ... ], cv=24)
    >>> model.fit(y[:-12], fh=[1, 2, 3]).predict().shape
    (3,)
    >>> model.update(y[-12:]).predict_interval(coverage=0.9).shape
    (3, 2)
    """

    _tags: ClassVar[dict[str, Any]] = {
        "authors": ["normalhedge"],
        "capability:exogenous": True,
        "capability:insample": True,
        "capability:missing_values": False,
        "capability:multivariate": False,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "capability:update": True,
        "requires-fh-in-fit": True,
        "X-y-must-have-same-index": True,
        "y_inner_mtype": "pd.Series",
        "X_inner_mtype": "pd.DataFrame",
    }

    def __init__(
        self,
        forecasters: Any,
        hedger: Any = None,
        loss: Any = "square",
        cv: Any = 10,
        step_length: int = 1,
        refit: bool = True,  # noqa: FBT001, FBT002
        season: int | None = None,
        options: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hedger = hedger
        self.loss = loss
        self.cv = cv
        self.step_length = step_length
        self.refit = refit
        self.season = season
        self.options = options
        super().__init__(forecasters=forecasters, n_jobs=n_jobs)
        for tag, value in (("exogenous", True), ("insample", False), ("missing_values", False)):
            self._anytagis_then_set(
                f"capability:{tag}",
                value=value,
                value_if_not=not value,
                estimators=self._forecasters,
            )

    @property
    def mixture_(self) -> Mixture:
        """The mixture."""
        return self.ahead_.mixture

    @property
    def weights_(self) -> pd.DataFrame:
        """The weights of the forecasters in the next round, a row for each step ahead."""
        names = self._get_forecaster_names()
        items = [step_item(step, self._steps) for step in self._steps]
        rows = self.ahead_.weights(items, dict.fromkeys(names, 1.0))
        return pd.DataFrame(rows, index=pd.Index(self._steps, name="step"), columns=names)

    def _fit(self, y: pd.Series, X: Any, fh: Any) -> Self:  # noqa: N803
        """Judge the forecasters at times of the past, then fit them to the whole series."""
        mixture = _rounds.make_mixture(self.hedger, self.loss, self.options)
        if self.step_length < 1:
            raise ValueError(f"step_length must be at least 1, got {self.step_length}")
        self._steps = [step for step in self._relative(fh) if step > 0]
        self.ahead_ = StepsAhead(mixture, single=len(self._steps) < 2)
        settled = 0
        for past in self._windows(y) if self._steps else ():
            start = int(past[-1]) + 1
            if self.refit or settled == 0:
                features = None if X is None else X.iloc[past]
                self._fit_forecasters(None, y.iloc[past], features, self._ahead())
            else:
                super()._update(y.iloc[settled:start], _part(X, settled, start))
            self._settle(y, settled, start)
            self._begin(start, X, start)
            settled = start
        self._settle(y, settled, len(y))
        self._rows = len(y)
        self._name = y.name
        self._fit_forecasters(None, y, X, fh.to_relative(self._cutoff))
        return self

    def _update(self, y: pd.Series, X: Any = None, update_params: bool = True) -> Self:  # noqa: FBT001, FBT002, N803
        """Let the forecasters forecast new rows, learn from these, and update the forecasters.

        Without ``update_params`` the time moves on, and nothing is learned.
        """
        rows = len(y)
        for start in range(0, rows, self.step_length):
            stop = min(start + self.step_length, rows)
            if update_params and self._steps:
                self._begin(self._rows, X, start)
                self._settle(y, start, stop, self._rows - start)
            super()._update(y.iloc[start:stop], _part(X, start, stop), update_params)
            self._rows += stop - start
        return self

    def _predict(self, fh: Any, X: Any = None) -> pd.Series:  # noqa: N803
        """Return the blend of the forecasts."""
        index, rows = self._forecasts(fh.to_relative(self._cutoff), X)
        items = [step_item(step, self._steps) for step in self._relative(fh)]
        values = self.ahead_.peek(zip(items, rows, strict=True))
        return pd.Series(values, index=index, name=self._name, dtype=np.float64)

    def _predict_interval(self, fh: Any, X: Any = None, coverage: Any = (0.9,)) -> pd.DataFrame:  # noqa: N803
        """Return intervals around the blend, which `Conformal` learned from earlier blends."""
        centers = self._predict(fh, X)
        items = [f"step {step}" for step in self._relative(fh)]
        levels = [min(max(float(share), 1e-9), 1.0 - 1e-9) for share in coverage]
        bounds = self.ahead_.bounds(levels, zip(items, centers, strict=True), self.season)
        columns = pd.MultiIndex.from_product(
            [self._get_varnames(), list(coverage), ["lower", "upper"]]
        )
        return pd.DataFrame(bounds.reshape(len(items), -1), index=centers.index, columns=columns)

    def _relative(self, fh: Any) -> list[int]:
        """Return the steps ahead as numbers."""
        return [int(step) for step in fh.to_relative(self._cutoff).to_numpy()]

    def _ahead(self) -> Any:
        """Return the steps that forecasters are judged at."""
        return ForecastingHorizon(self._steps, is_relative=True)

    def _windows(self, y: pd.Series) -> Iterator[np.ndarray]:
        """Yield the rows that were known at each time, in the order of time."""
        if hasattr(self.cv, "split") and not isinstance(self.cv, str):
            windows = sorted((past for past, _ in self.cv.split(y)), key=lambda past: past[-1])
            yield from (past for past in windows if len(past))
            return
        if not isinstance(self.cv, int | np.integer) or self.cv < 1:
            raise ValueError(f"cv must be a number of times, at least 1, or a splitter: {self.cv}")
        last = len(y) - min(self._steps)
        first = max(last - (int(self.cv) - 1) * self.step_length, len(y) // 2, 1)
        stops = range(last, first - 1, -self.step_length)
        yield from (np.arange(stop) for stop in reversed(stops))

    def _begin(self, time: int, X: Any, place: int) -> None:  # noqa: N803
        """Begin a round for each step ahead of a time, the number of rows before it.

        ``place`` is the row of the features for the first step ahead.
        """
        if X is not None:
            X = X.iloc[place : place + max(self._steps)]  # noqa: N806
            if len(X) < max(self._steps):  # the features of later rows are not known yet
                return
        _, rows = self._forecasts(self._ahead(), X)
        for step, row in zip(self._steps, rows, strict=True):
            self.ahead_.predict(step_item(step, [step]), time + step - 1, row)

    def _settle(self, y: pd.Series, start: int, stop: int, before: int = 0) -> None:
        """Learn the outcomes of rows of ``y``, before which there were others."""
        for row, outcome in enumerate(y.iloc[start:stop].tolist(), start):
            self.ahead_.settle(before + row, float(outcome))

    def _forecasts(self, fh: Any, X: Any) -> tuple[pd.Index, list[dict[str, Any]]]:  # noqa: N803
        """Return the index of forecasts, and for each step the forecast of each forecaster."""
        names, made = self._get_forecaster_names(), self._predict_forecasters(fh, X)
        rows = zip(
            *(forecast.to_numpy(dtype=np.float64).tolist() for forecast in made), strict=True
        )
        return made[0].index, [dict(zip(names, row, strict=True)) for row in rows]

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:  # noqa: ARG003
        """Return settings for the tests of the library."""
        from sktime.forecasting.naive import NaiveForecaster  # noqa: PLC0415
        from sktime.forecasting.trend import PolynomialTrendForecaster  # noqa: PLC0415

        pair = [("last", NaiveForecaster()), ("line", PolynomialTrendForecaster())]
        return [
            {"forecasters": pair, "cv": 4},
            {"forecasters": pair, "cv": 3, "hedger": "squint", "loss": "absolute", "refit": False},
        ]


def _part(X: Any, start: int, stop: int) -> Any:  # noqa: N803
    return None if X is None else X.iloc[start:stop]
