"""Meta-estimators of scikit-learn whose estimators are blended by a mixture."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from normalhedge.integrations._estimators import HedgedEstimators, some_learn_on


class HedgeRegressor(RegressorMixin, HedgedEstimators):  # type: ignore[misc]
    """Regressors, blended by weights that follow the ones with the best recent forecasts.

    The rows are in the order of time. `fit` judges the estimators as time would: it fits them to
    growing folds of the first rows, lets them forecast the next fold, and a `Mixture` learns from
    these forecasts row by row. Then it fits them to all rows. `predict` blends their forecasts with
    the weights after the last outcome, and changes nothing.

    Parameters
    ----------
    estimators
        Pairs of a name and a regressor; ``"drop"`` in place of a regressor leaves it out.
    hedger, loss
        As for `Mixture`.
    cv
        The number of folds that are forecast, each from all rows before it (fewer if there are too
        few rows); a splitter such as ``TimeSeriesSplit(gap=7)``; or pairs of rows to fit to and
        later rows to forecast.
    options
        Further arguments of `Mixture`, such as ``{"even": 0.5}``.

    Attributes
    ----------
    estimators_, named_estimators_
        The fitted estimators, as a list and by name.
    mixture_
        The `Mixture`: see its ``summary()``.
    weights_
        The weights in the next round.
    prequential_prediction_
        The blend of each row, made before its outcome was known; NaN for rows that no fold
        forecasts. Scores of it are honest, scores of ``predict`` on the rows of `fit` are not.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> model = HedgeRegressor([("line", LinearRegression()), ("mean", DummyRegressor())])
    >>> model.fit(X, 3.0 * X[:, 0]).predict([[100.0]]).round()
    array([300.])
    """

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the blended forecast of each row; nothing changes."""
        return self._blend(X)


class HedgeClassifier(ClassifierMixin, HedgedEstimators):  # type: ignore[misc]
    """Classifiers, whose probabilities are blended; see `HedgeRegressor`.

    A classifier without ``predict_proba`` is sure of the class that it predicts. A fold whose past
    has one class only is not judged.

    Parameters
    ----------
    estimators
        Pairs of a name and a classifier; ``"drop"`` in place of a classifier leaves it out.
    loss
        A loss of class probabilities: ``"log"``, ``"l1"`` or ``"zero-one-classes"``.
    hedger, cv, options
        As for `HedgeRegressor`.

    Attributes
    ----------
    classes_
        The classes, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(60.0).reshape(-1, 1) % 7
    >>> y = np.where(X[:, 0] > 3, "high", "low")
    >>> model = HedgeClassifier([("tree", DecisionTreeClassifier()), ("most", DummyClassifier())])
    >>> model.fit(X, y).predict([[5.0], [1.0]])
    array(['high', 'low'], dtype='<U4')
    """

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        *,
        hedger: Any = None,
        loss: Any = "log",
        cv: Any = 5,
        options: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(estimators, hedger=hedger, loss=loss, cv=cv, options=options)

    @available_if(some_learn_on)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # noqa: N803
        """Predict rows, learn from their outcomes, then let the estimators learn on.

        Parameters
        ----------
        X, y
            As for `HedgeRegressor.partial_fit`.
        classes
            All classes, at the first call. None: the classes of its rows.
        """
        return self._learn_on(X, y, classes=classes)

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        """Return the blended probability of each class, for each row; nothing changes."""
        blends = self._blend(X)
        return blends / blends.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the most probable class of each row; nothing changes."""
        places = self.predict_proba(X).argmax(axis=1)
        return self.classes_.take(places)

    def _outcomes(self, y: Any, classes: Any = None) -> Any:
        check_classification_targets(y)
        self.classes_ = unique_labels(y) if classes is None else np.unique(classes)
        return self._encode(y)

    def _encode(self, y: Any) -> Any:
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y has the class {np.asarray(y)[unknown].tolist()[0]!r}, which is new: name "
                "all classes at the first call"
            )
        return np.searchsorted(self.classes_, y)

    def _labels(self, outcomes: Any) -> Any:
        return self.classes_[outcomes]

    def _forecast(self, estimator: Any, X: Any) -> Any:  # noqa: N803
        width = max(2, len(self.classes_))  # a mixture wants two classes, where y may have one
        if not hasattr(estimator, "predict_proba"):
            return np.eye(width)[np.searchsorted(self.classes_, estimator.predict(X))]
        known = np.asarray(estimator.predict_proba(X))
        probabilities = np.zeros((len(known), width))
        probabilities[:, np.searchsorted(self.classes_, estimator.classes_)] = known
        return probabilities

    def _width(self) -> tuple[int, ...]:
        return (len(self.classes_),)

    def _array(self, values: list[Any]) -> Any:
        return np.array(values, dtype=np.float64)[:, : len(self.classes_)]

    def _too_few(self, outcomes: Any) -> bool:
        return len(np.unique(outcomes)) < 2

    def _known_classes(self) -> dict[str, Any]:
        return {"classes": self.classes_}
