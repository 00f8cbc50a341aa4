"""The common part of the regressor and the classifier for scikit-learn."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin, clone
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils import Bunch, _safe_indexing, column_or_1d, get_tags, indexable
from sklearn.utils.metaestimators import _BaseComposition, available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from normalhedge.integrations import _rounds
from normalhedge.mixtures import Mixture


def some_learn_on(self: Any) -> bool:
    """Tell whether some estimator has ``partial_fit``."""
    return any(hasattr(estimator, "partial_fit") for _, estimator in self._pairs())


class HedgedEstimators(TransformerMixin, _BaseComposition):  # type: ignore[misc]
    """Named estimators, judged on rows that they were not fitted to, and blended by a mixture."""

    def __init__(
        self,
        estimators: Any,
        *,
        hedger: Any = None,
        loss: Any = "square",
        cv: Any = 5,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.estimators = estimators
        self.hedger = hedger
        self.loss = loss
        self.cv = cv
        self.options = options

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002
        """Return the settings and, if ``deep``, the settings of the estimators."""
        settings: dict[str, Any] = self._get_params("estimators", deep=deep)
        return settings

    def set_params(self, **params: Any) -> Self:
        """Change settings; the name of an estimator replaces it, and ``"drop"`` leaves it out."""
        self._set_params("estimators", **params)
        return self

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Judge the estimators on rows that they have not seen, then fit them to all rows.

        Parameters
        ----------
        X, y
            The features and the outcomes, in the order of time.
        """
        X, outcomes = self._start(X, y)  # noqa: N806
        forecasts = self._prequential(X, outcomes)
        judged = [t for t, row in enumerate(forecasts) if row is not None]
        values = _rounds.learn(
            self.mixture_, [forecasts[t] for t in judged], [outcomes[t] for t in judged]
        )
        self.prequential_prediction_ = np.full((len(outcomes), *self._width()), np.nan)
        if judged:
            self.prequential_prediction_[judged] = self._array(values)
        self._keep(self._fit_all(X, self._labels(outcomes)))
        return self

    @available_if(some_learn_on)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Predict rows, learn from their outcomes, then let the estimators learn on.

        Estimators without ``partial_fit`` stay as they are. At the first call there is nothing to
        judge them by, and all estimators are fitted to the rows.

        Parameters
        ----------
        X, y
            The features and the outcomes of the next rows, in the order of time.
        """
        return self._learn_on(X, y)

    def _learn_on(self, X: Any, y: Any, **options: Any) -> Self:  # noqa: N803
        """Learn on as `partial_fit` does; ``options`` are further arguments of the first call."""
        first = not hasattr(self, "estimators_")
        X, outcomes = self._start(X, y, **options) if first else self._continue(X, y)  # noqa: N806
        labels = self._labels(outcomes)
        if first:
            self.prequential_prediction_ = np.full((len(outcomes), *self._width()), np.nan)
            fitted = [self._advance(clone(one), X, labels, new=True) for _, one in self._active()]
        else:
            values = _rounds.learn(self.mixture_, self._rows(X, self.estimators_), outcomes)
            self.prequential_prediction_ = self._array(values)
            fitted = [self._advance(one, X, labels, new=False) for one in self.estimators_]
        self._keep(fitted)
        return self

    def _advance(self, estimator: Any, X: Any, labels: Any, *, new: bool) -> Any:  # noqa: N803
        """Let an estimator learn rows; without ``partial_fit`` only if it is new."""
        if hasattr(estimator, "partial_fit"):
            return estimator.partial_fit(X, labels, **self._known_classes())
        return estimator.fit(X, labels) if new else estimator

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Return the forecasts of the estimators, a column for each (and for each class)."""
        return np.hstack(self._forecasts_of(X))

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Return the names of the columns of `transform`."""
        check_is_fitted(self, "n_features_in_")
        prefix = type(self).__name__.lower()
        suffixes = [f"_{k}" for count in self._width() for k in range(count)] or [""]
        names = [f"{prefix}_{name}{end}" for name, _ in self._active() for end in suffixes]
        return np.array(names, dtype=object)

    @property
    def weights_(self) -> dict[str, float]:
        """The weights of the estimators in the next round."""
        check_is_fitted(self)
        if not self.mixture_.names:
            return dict.fromkeys(self.named_estimators_, 1.0 / len(self.named_estimators_))
        return self.mixture_.next_weights()

    def _blend(self, X: Any) -> Any:  # noqa: N803
        """Return the blend of rows with the weights after the last outcome."""
        self._check_rows(X)
        return self._array(_rounds.peek(self.mixture_, self._rows(X, self.estimators_)))

    def _forecasts_of(self, X: Any) -> list[Any]:  # noqa: N803
        """Return the forecasts of each fitted estimator, two-dimensional."""
        self._check_rows(X)
        tables = [np.asarray(self._forecast(one, X)) for one in self.estimators_]
        (width,) = self._width() or (1,)
        return [table.reshape(len(table), -1)[:, :width] for table in tables]

    def _check_rows(self, X: Any) -> None:  # noqa: N803
        """Refuse rows that do not fit the rows of `fit`."""
        check_is_fitted(self)
        if getattr(X, "ndim", 2) == 1:
            raise ValueError("Expected 2D array, got 1D array instead: Reshape your data to rows")
        validate_data(self, X, reset=False, skip_check_array=True)

    def _start(self, X: Any, y: Any, **options: Any) -> Any:  # noqa: N803
        """Check data and settings, start a new mixture; return features and outcomes."""
        validate_data(self, X, y, skip_check_array=True)
        self._check_names()
        X, y = indexable(X, y)  # noqa: N806
        outcomes = self._outcomes(column_or_1d(y, warn=True), **options)
        self.mixture_ = Mixture(self.hedger, self.loss, **(self.options or {}))
        loss = self.mixture_.settings.loss
        if loss.of_classes != bool(self._width()) or loss.of_levels:
            kind = "class probabilities" if self._width() else "numbers"
            raise ValueError(f"loss must be a loss of {kind}, got {loss}")
        return X, outcomes

    def _continue(self, X: Any, y: Any) -> Any:  # noqa: N803
        """Check further data; return features and outcomes."""
        validate_data(self, X, y, reset=False, skip_check_array=True)
        X, y = indexable(X, y)  # noqa: N806
        return X, self._encode(column_or_1d(y, warn=True))

    def _check_names(self) -> None:
        """Refuse estimators that are not pairs of a name and an estimator."""
        if not isinstance(self.estimators, Sequence) or len(self._pairs()) < len(self.estimators):
            raise ValueError("estimators must be a list of pairs: a name and an estimator")
        if not self._active():
            raise ValueError("estimators must hold at least one estimator that is not dropped")
        self._validate_names([name for name, _ in self._pairs()])

    def _pairs(self) -> list[tuple[str, Any]]:
        """Return the entries that are pairs of a name and an estimator."""
        entries = self.estimators if isinstance(self.estimators, Sequence) else ()
        return [
            tuple(pair) for pair in entries if isinstance(pair, tuple | list) and len(pair) == 2
        ]

    def _active(self) -> list[tuple[str, Any]]:
        """Return the estimators that are not dropped."""
        return [(name, one) for name, one in self._pairs() if not isinstance(one, str)]

    def _keep(self, fitted: list[Any]) -> None:
        """Remember the fitted estimators."""
        self.estimators_ = fitted
        names = [name for name, _ in self._active()]
        self.named_estimators_ = Bunch(**dict(zip(names, fitted, strict=True)))

    def _fit_all(self, X: Any, labels: Any) -> list[Any]:  # noqa: N803
        return [clone(estimator).fit(X, labels) for _, estimator in self._active()]

    def _folds(self, X: Any, outcomes: Any) -> list[tuple[Any, Any]]:  # noqa: N803
        """Return rows to fit to and later rows to forecast, in the order of time."""
        splitter = self.cv
        if isinstance(splitter, int | np.integer):
            if splitter < 2:
                raise ValueError(f"cv must be at least 2 folds, got {splitter}")
            parts = min(int(splitter), len(outcomes) - 1)
            if parts < 2:
                return []
            splitter = TimeSeriesSplit(n_splits=parts)
        if hasattr(splitter, "split"):
            splitter = splitter.split(X, outcomes)
        elif not isinstance(splitter, Iterable):
            raise ValueError("cv must be a number of folds, a splitter, or pairs of rows")
        folds = [(np.asarray(past), np.asarray(next_)) for past, next_ in splitter]
        folds.sort(key=lambda fold: int(fold[1].min()))
        seen = -1
        for past, next_ in folds:
            if past.max() >= next_.min() or next_.min() <= seen:
                raise ValueError(
                    "cv must forecast each row once, from earlier rows only: use TimeSeriesSplit"
                )
            seen = int(next_.max())
        return folds

    def _prequential(self, X: Any, outcomes: Any) -> list[Any]:  # noqa: N803
        """Return the forecasts of each row by estimators that were fitted to earlier rows only.

        None stands for rows that no fold forecasts, as the first rows.
        """
        rows: list[Any] = [None] * len(outcomes)
        for past, next_ in self._folds(X, outcomes):
            if self._too_few(outcomes[past]):
                continue
            fitted = self._fit_all(_safe_indexing(X, past), self._labels(outcomes[past]))
            ahead = np.sort(next_)
            for t, row in zip(ahead, self._rows(_safe_indexing(X, ahead), fitted), strict=True):
                rows[t] = row
        return rows

    def _rows(self, X: Any, fitted: list[Any]) -> list[dict[str, Any]]:  # noqa: N803
        """Return the forecasts of fitted estimators, by name, for each row."""
        names = [name for name, _ in self._active()]
        columns = [np.asarray(self._forecast(one, X), dtype=np.float64).tolist() for one in fitted]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = [get_tags(one).input_tags for _, one in self._pairs() if hasattr(one, "fit")]
        tags.input_tags.sparse = bool(inputs) and all(one.sparse for one in inputs)
        tags.input_tags.allow_nan = bool(inputs) and all(one.allow_nan for one in inputs)
        return tags

    # A classifier replaces the methods below.

    def _outcomes(self, y: Any) -> Any:
        """Return the outcomes of `fit`, checked, as the mixture learns them."""
        return self._encode(y)

    def _encode(self, y: Any) -> Any:
        """Return the outcomes of `partial_fit` as the mixture learns them."""
        outcomes = np.asarray(y, dtype=np.float64)
        if not np.isfinite(outcomes).all():
            raise ValueError("Input y contains NaN or infinity: leave these rows out")
        return outcomes

    def _labels(self, outcomes: Any) -> Any:
        """Return outcomes as the estimators learn them."""
        return outcomes

    def _forecast(self, estimator: Any, X: Any) -> Any:  # noqa: N803
        """Return the forecasts of a fitted estimator."""
        return estimator.predict(X)

    def _array(self, values: list[Any]) -> Any:
        return np.array(values, dtype=np.float64)

    def _width(self) -> tuple[int, ...]:
        return ()

    def _too_few(self, outcomes: Any) -> bool:  # noqa: ARG002
        return False

    def _known_classes(self) -> dict[str, Any]:
        return {}
