"""Forecasts of Darts, blended by a mixture: past forecasts, and an ensemble for the future."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from darts import TimeSeries
from darts.models.forecasting.ensemble_model import EnsembleModel
from darts.utils.utils import n_steps_between

from normalhedge.integrations import _rounds
from normalhedge.integrations._darts_tables import (
    ForecastTable,
    as_series,
    coverage_of,
    from_bounds,
    outcomes_of,
    parts_of,
    past_quantiles,
    read_levels,
)
from normalhedge.integrations._steps_ahead import StepsAhead, play, step_item
from normalhedge.mixtures import Mixture, crps


def blend_forecasts(
    series: TimeSeries,
    forecasts: Mapping[str, Any],
    *,
    ahead: int = 1,
    quantiles: Sequence[float] | None = None,
    season: int | None = None,
    **options: Any,
) -> Any:
    """Blend the ``historical_forecasts`` of several models, using past outcomes only.

    A forecast k steps ahead is learned from when its outcome is known, k steps later. So no blend
    uses an outcome that was not known when its forecasts were made.

    Parameters
    ----------
    series
        The outcomes. Forecasts that go beyond their end are blended, too.
    forecasts
        The forecasts of each model, by name: a series, or with ``last_points_only=False`` a list of
        series, one for each time at which forecasts were made. A model without a forecast sleeps.
    ahead
        How many steps ahead the first point of a series is: the ``forecast_horizon`` of a series of
        last points; 1 for lists, or more if the models have an ``output_chunk_shift``.
    quantiles
        The quantiles to return, as in ``[0.05, 0.5, 0.95]``, each as a component with the name that
        Darts gives it. Samples of probabilistic models become quantiles, which are blended; around
        forecasts without samples `Conformal` puts intervals, infinite before the first outcome.
        None: the blend of the points, or of the means of the samples.
    season
        After how many forecasts the spread repeats itself, for intervals.
    **options
        Arguments of `Mixture`, such as ``hedger`` or ``loss``.

    Returns
    -------
    TimeSeries or list of TimeSeries
        The blends, in the form of the forecasts.

    Examples
    --------
    >>> from darts.models import NaiveDrift, NaiveMean
    >>> series = TimeSeries.from_values(np.arange(40.0))
    >>> models = {"drift": NaiveDrift(), "mean": NaiveMean()}
    >>> past = {name: one.historical_forecasts(series, start=20) for name, one in models.items()}
    >>> blended = blend_forecasts(series, past)
    >>> blended.start_time(), bool(abs(blended.last_value() - 39.0) < 1.0)
    (20, True)
    """
    if not forecasts:
        raise ValueError("forecasts must name at least one model")
    if ahead < 1:
        raise ValueError(f"ahead must be at least 1, got {ahead}")
    whole = {isinstance(one, TimeSeries) for one in forecasts.values()}
    if len(whole) > 1:
        raise ValueError("forecasts must all be series, or all lists of series")
    levels = read_levels(quantiles)
    last_points = whole.pop()
    given = {name: [one] if last_points else one for name, one in forecasts.items()}
    samples = bool(levels) and all(one.n_samples > 1 for many in given.values() for one in many)
    if samples:
        options = {"loss": crps(levels), **options}
    table = ForecastTable(series, given, levels if samples else (), ahead, last_points=last_points)
    rounds = list(table.rounds())
    ahead_of = StepsAhead(Mixture(**options), single=len({one.item for one in rounds}) < 2)
    values = play(ahead_of, rounds, outcomes_of(series, 0, 0))
    blended = np.array(values, dtype=np.float64).reshape(len(table.rows), series.n_components, -1)
    if levels and not samples:
        blended = past_quantiles(ahead_of, table, blended[:, :, 0], levels, season)
    return table.shape_series(blended, levels)


class HedgeEnsembleModel(EnsembleModel):  # type: ignore[misc]
    """An ensemble of Darts whose weights follow the models with the best recent forecasts.

    `fit` lets the models forecast the last points of the series as `historical_forecasts` does,
    and a `Mixture` learns from these forecasts, each when its outcome is known. Then it fits the
    models to the whole series. `predict` blends with the weights after the last outcome.

    Several series share their weights, as global models share their parameters: they should be of
    similar scale. Samples of probabilistic models are sorted and blended one by one.

    Parameters
    ----------
    forecasting_models
        The models.
    train_n_points
        How many points at the end of the series the models are judged at.
    horizon
        How many steps ahead they are judged. Steps further ahead have the weights of the last one.
    retrain
        As for ``historical_forecasts``: whether the models are fitted anew at each of the points,
        or at how many of them. False, for global models: they are fitted before the first point.
    train_forecasting_models, show_warnings
        As for Darts's own ensembles.
    season
        As for `blend_forecasts`.
    hedger, loss
        As for `Mixture`; a loss of numbers.
    options
        Further arguments of `Mixture`, such as ``{"even": 0.5}``.

    Examples
    --------
    >>> from darts.models import NaiveDrift, NaiveMean
    >>> series = TimeSeries.from_values(np.arange(40.0))
    >>> model = HedgeEnsembleModel([NaiveDrift(), NaiveMean()], train_n_points=10, horizon=2)
    >>> model.fit(series).predict(2).values().round().ravel()
    array([40., 41.])
    >>> model.predict_quantiles(2, [0.1, 0.5, 0.9]).shape
    (2, 3, 1)
    """

    forecasting_models: list[Any]

    def __init__(
        self,
        forecasting_models: list[Any],
        train_n_points: int = 20,
        horizon: int = 1,
        retrain: bool | int = True,  # noqa: FBT001, FBT002
        train_forecasting_models: bool = True,  # noqa: FBT001, FBT002
        show_warnings: bool = True,  # noqa: FBT001, FBT002
        season: int | None = None,
        hedger: Any = None,
        loss: Any = "square",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if train_n_points < 1 or horizon < 1:
            raise ValueError(
                f"train_n_points and horizon must be at least 1, got {train_n_points} and {horizon}"
            )
        super().__init__(
            forecasting_models=forecasting_models,
            ensemble_model=None,
            train_num_samples=1,
            train_samples_reduction=None,
            train_forecasting_models=train_forecasting_models,
            train_n_points=train_n_points,
            show_warnings=show_warnings,
        )
        self.horizon = horizon
        self.retrain = retrain
        self.season = season
        self.hedger = hedger
        self.loss = loss
        self.options = options
        self.names = _rounds.number_names(type(one).__name__ for one in forecasting_models)
        self.steps_ahead = StepsAhead(self._new_mixture())

    @property
    def mixture(self) -> Mixture:
        """The `Mixture`: see its ``summary()``."""
        return self.steps_ahead.mixture

    @property
    def supports_likelihood_parameter_prediction(self) -> bool:
        """False: parameters are not blended, samples are."""
        return False

    def fit(
        self,
        series: Any,
        past_covariates: Any = None,
        future_covariates: Any = None,
        sample_weight: Any = None,
        verbose: bool | None = None,  # noqa: FBT001
    ) -> Self:
        """Judge the models at the last points of the series, then fit them to all of it.

        Parameters
        ----------
        series, past_covariates, future_covariates, sample_weight, verbose
            As for the models themselves; they get those that they support.
        """
        super().fit(series, past_covariates, future_covariates, verbose=verbose)
        many = [series] if isinstance(series, TimeSeries) else list(series)
        covariates = {"past_covariates": past_covariates, "future_covariates": future_covariates}
        made = [self._backtest(one, series, covariates) for one in self.forecasting_models]
        single = self.horizon * many[0].n_components == 1
        self.steps_ahead = StepsAhead(self._new_mixture(), single=single)
        first = min(one.start_time() for one in many)
        rounds, outcomes = [], []
        for k, one in enumerate(many):
            forecasts = {
                name: windows[k]
                for name, windows in zip(self.names, made, strict=True)
                if windows[k]
            }
            begin = 1 + self.output_chunk_shift
            before = n_steps_between(end=one.start_time(), start=first, freq=one.freq)
            table = ForecastTable(
                one, forecasts, (), begin, last_points=False, number=k, before=before
            )
            rounds += list(table.rounds())
            outcomes += list(outcomes_of(one, k, before))
        play(self.steps_ahead, rounds, outcomes)
        if self.train_forecasting_models:
            self.forecasting_models = [one.untrained_model() for one in self.forecasting_models]
            for one in self.forecasting_models:
                weight = sample_weight if one.supports_sample_weight else None
                one._fit_wrapper(
                    series=series,
                    **_select_supported(one, covariates),
                    sample_weight=weight,
                    verbose=verbose,
                )
        return self

    def ensemble(
        self,
        predictions: Any,
        series: Any,
        n: int,  # noqa: ARG002
        num_samples: int = 1,  # noqa: ARG002
        predict_likelihood_parameters: bool = False,  # noqa: ARG002, FBT001, FBT002
        random_state: int | None = None,  # noqa: ARG002
        verbose: bool | None = None,  # noqa: ARG002, FBT001
    ) -> Any:
        """Blend the predictions of the models; `predict` calls this.

        Parameters
        ----------
        predictions
            The predictions of all models, as components of one series.
        series
            The series that is predicted.
        n, num_samples, predict_likelihood_parameters, random_state, verbose
            Not used.
        """
        if isinstance(predictions, TimeSeries):
            return self._blend_one(predictions, series)
        return [self._blend_one(*pair) for pair in zip(predictions, series, strict=True)]

    def predict_quantiles(
        self, n: int, quantiles: Sequence[float] = (0.05, 0.5, 0.95), **arguments: Any
    ) -> TimeSeries:
        """Return quantiles of the next n points, each as a component.

        `Conformal` learned them from the blends at the last points. They are infinite more than
        ``horizon`` steps ahead, where no forecast was judged.

        Parameters
        ----------
        n
            The number of points.
        quantiles
            The quantiles.
        **arguments
            Further arguments of `predict`, for a single series.
        """
        levels = read_levels(quantiles)
        made = self.predict(n, **arguments)
        shift = 1 + self.output_chunk_shift
        items = [
            (step_item(step, [step], part), center)
            for step, row in enumerate(made.values(copy=False).tolist(), shift)
            for part, center in zip(parts_of(made), row, strict=True)
        ]
        bounds = self.steps_ahead.bounds(coverage_of(levels), items, self.season)
        centers = np.array([center for _, center in items])
        values = from_bounds(centers, bounds, levels).reshape(len(made), made.n_components, -1)
        return as_series(made.time_index, values, made, levels)

    def _new_mixture(self) -> Mixture:
        return _rounds.make_mixture(self.hedger, self.loss, self.options)

    def _backtest(
        self, model: Any, series: Any, covariates: Mapping[str, Any]
    ) -> list[list[TimeSeries]]:
        """Return the forecasts of a model for the last points of each series."""
        supported, retrain = _select_supported(model, covariates), self.retrain
        if not self.train_forecasting_models:
            retrain = False
        else:
            model = model.untrained_model()
        single = isinstance(series, TimeSeries)
        if self.train_forecasting_models and retrain is False:
            head = [each[: -self.train_n_points] for each in ([series] if single else series)]
            model._fit_wrapper(series=head[0] if single else head, **supported)
        forecasts = model.historical_forecasts(
            series,
            forecast_horizon=self.horizon,
            start=-self.train_n_points,
            start_format="position",
            retrain=retrain,
            overlap_end=True,
            last_points_only=False,
            show_warnings=False,
            **supported,
        )
        return [forecasts] if single else forecasts

    def _blend_one(self, prediction: TimeSeries, series: TimeSeries) -> TimeSeries:
        """Return the blend of the predictions of one series."""
        # The components of a prediction are the components of the first model, of the second, ...
        values = np.sort(prediction.all_values(copy=False), axis=2)
        values = values.reshape(len(prediction), len(self.names), series.n_components, -1)
        steps, shift = range(1, self.horizon + 1), self.output_chunk_shift
        judged = [step + shift for step in steps]
        rows = [
            (step_item(t + 1 + shift, judged, part), dict(zip(self.names, sample, strict=True)))
            for t in range(len(prediction))
            for c, part in enumerate(parts_of(series))
            for sample in values[t, :, c].T.tolist()
        ]
        blends = np.array(self.steps_ahead.peek(rows), dtype=np.float64)
        shape = (len(prediction), series.n_components, prediction.n_samples)
        return as_series(prediction.time_index, blends.reshape(shape), series, ())


def _select_supported(model: Any, covariates: Mapping[str, Any]) -> dict[str, Any]:
    """Return the covariates that a model supports."""
    return {
        name: covariate if getattr(model, f"supports_{name}") else None
        for name, covariate in covariates.items()
    }
