"""An ensemble for the libraries of Nixtla: cross-validate, blend, and forecast in one call."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from normalhedge.boundary import extras
from normalhedge.tables import Blend, blend

CUTOFF = "cutoff"
"""The column of ``cross_validation`` that says when forecasts were made."""


class HedgeEnsemble:
    """The models of a `StatsForecast`, `MLForecast` or `NeuralForecast`, and their blend.

    `forecast` lets the engine cross-validate its models on the past, learns from these forecasts in
    the order in which their outcomes became known, lets the engine forecast the future, and blends
    these forecasts with the weights after the last outcome. Tables come and go in Nixtla's shape.

    Parameters
    ----------
    engine
        An object with ``cross_validation``, and with ``forecast`` or else ``fit`` and ``predict``.
    n_windows, step_size
        The number of times at which the models are judged, and the steps between them, as for
        ``cross_validation``.
    alias
        The name of the columns of the blend.
    id_col, time_col, target_col
        The names of the columns of series, times and outcomes.
    cv_options, fit_options
        Further arguments of ``cross_validation``, and of ``forecast`` or ``fit``.
    **options
        Arguments of `normalhedge.blend`, and so of `Mixture`, such as ``hedger`` or ``pooled``.

    Attributes
    ----------
    cross_validation_
        The table of the cross-validation, with the blend beside the models; each blend was made
        before its outcome was known.
    blend_
        The `normalhedge.tables.Blend` of it: see its ``summary()`` and ``notes``.
    """

    def __init__(
        self,
        engine: Any,
        *,
        n_windows: int = 10,
        step_size: int = 1,
        alias: str = "HedgeEnsemble",
        id_col: str = "unique_id",
        time_col: str = "ds",
        target_col: str = "y",
        cv_options: Mapping[str, Any] | None = None,
        fit_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        missing = [
            name
            for name in ("cross_validation", "forecast" if not _fits(engine) else "predict")
            if not callable(getattr(engine, name, None))
        ]
        if missing:
            raise TypeError(
                "engine must have cross_validation, and forecast or else fit and predict, as a "
                f"StatsForecast has: {type(engine).__name__} has no {missing[0]}"
            )
        self.engine = engine
        self.n_windows = n_windows
        self.step_size = step_size
        self.alias = alias
        self.columns = {"id_col": id_col, "time_col": time_col, "target_col": target_col}
        self.cv_options = dict(cv_options or {})
        self.fit_options = dict(fit_options or {})
        self.options = options

    def forecast(
        self,
        df: Any,
        h: int,
        level: Sequence[float] | None = None,
        X_df: Any = None,  # noqa: N803
    ) -> Any:
        """Return the forecasts of the next h steps by each model, and their blend.

        Parameters
        ----------
        df
            The past: a table with a row for each series and time.
        h
            The number of steps ahead.
        level
            The coverage of intervals, in percent, as in ``[80, 90]``; None for points alone.
        X_df
            The features of the future, if the models need them.
        """
        self.fit(df, h, level)
        future = self._future(df, h, level, X_df)
        return self._beside(future, self.blend_.predict(self._with_cutoff(future, df)))

    def fit(self, df: Any, h: int, level: Sequence[float] | None = None) -> "HedgeEnsemble":
        """Cross-validate the models and learn from their forecasts.

        Parameters
        ----------
        df, h, level
            As for `forecast`.
        """
        table = _call(
            self.engine.cross_validation,
            {"df": df, "h": h, "n_windows": self.n_windows, "step_size": self.step_size},
            {"level": level},
            {**self._rename_columns(), **self.cv_options},
        )
        self.blend_: Blend = blend(
            table,
            self.columns["target_col"],
            by=self.columns["id_col"],
            time=self.columns["time_col"],
            cutoff=CUTOFF,
            **self.options,
        )
        self.cross_validation_ = self._beside(table, self.blend_.frame)
        return self

    def _future(self, df: Any, h: int, level: Any, features: Any) -> Any:
        """Return the forecasts of the engine for the steps after a table."""
        wishes = {"level": level, "X_df": features}
        if not _fits(self.engine):
            return _call(
                self.engine.forecast,
                {"df": df, "h": h},
                wishes,
                {**self._rename_columns(), **self.fit_options},
            )
        _call(self.engine.fit, {"df": df}, {}, {**self._rename_columns(), **self.fit_options})
        names = inspect.signature(self.engine.predict).parameters
        if "futr_df" in names:
            wishes["futr_df"] = wishes.pop("X_df")
        return _call(self.engine.predict, {"h": h}, wishes, {})

    def _with_cutoff(self, future: Any, df: Any) -> Any:
        """Return forecasts with the times at which they were made: the end of each series.

        Series may end at different times. Without the end of its own, the step ahead of a row would
        be counted from the last end of all.
        """
        nw = extras.require("narwhals")
        name, time = self.columns["id_col"], self.columns["time_col"]
        ends = nw.from_native(df).group_by(name).agg(nw.col(time).max().alias(CUTOFF))
        rows = nw.from_native(future)
        last = dict(zip(ends[name].to_list(), ends[CUTOFF].to_list(), strict=True))
        made = [last[series] for series in rows[name].to_list()]
        column = nw.new_series(CUTOFF, made, rows[time].dtype, backend=rows.implementation)
        return rows.with_columns(column).to_native()

    def _rename_columns(self) -> dict[str, str]:
        """Return the names of columns that are not the usual ones."""
        usual = {"id_col": "unique_id", "time_col": "ds", "target_col": "y"}
        return {role: name for role, name in self.columns.items() if name != usual[role]}

    def _beside(self, table: Any, blended: Any) -> Any:
        """Return a table with the columns of the blend, under the name of the ensemble."""
        nw = extras.require("narwhals")
        whole, blend_table = nw.from_native(table), nw.from_native(blended)
        names = [
            name for name in blend_table.columns if name == "blend" or name.startswith("blend-")
        ]
        columns = [
            blend_table[name].alias(self.alias + name.removeprefix("blend")) for name in names
        ]
        return whole.with_columns(*columns).to_native()


def _fits(engine: Any) -> bool:
    """Tell whether an engine is fitted before it forecasts, and does not do both in one call."""
    return not hasattr(engine, "forecast") and hasattr(engine, "fit")


def _call(
    function: Callable[..., Any],
    given: Mapping[str, Any],
    asked: Mapping[str, Any],
    further: Mapping[str, Any],
) -> Any:
    """Call a function of an engine with the arguments it accepts; refuse others that are set."""
    names = inspect.signature(function).parameters
    every = any(parameter.kind is parameter.VAR_KEYWORD for parameter in names.values())
    wishes = {name: value for name, value in asked.items() if value is not None}
    for name in wishes:
        if name not in names and not every:
            raise ValueError(f"{name} is given, but {function.__name__} of the engine has none")
    accepted = {name: value for name, value in given.items() if name in names or every}
    return function(**{**accepted, **wishes, **further})
