"""Ensembles of river whose models are blended by a mixture."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Self

from river import base, compose, linear_model, naive_bayes, preprocessing

from normalhedge.integrations import _rounds


class _RiverEnsemble(base.Ensemble):  # type: ignore[misc]
    """Models of river with names, and their mixture."""

    def __init__(
        self,
        models: Iterable[Any],
        hedger: Any = None,
        loss: Any = "square",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(list(models))
        self.hedger = hedger
        self.loss = loss
        self.options = options
        self.names = _names(self.models)
        self._items: dict[Hashable, str] = {}  # of the labels that a classifier has seen
        self.mixture = _rounds.make_mixture(hedger, loss, options)

    @property
    def _min_number_of_models(self) -> int:
        return 1

    def clone(
        self,
        new_params: dict[str, Any] | None = None,
        include_attributes: bool = False,  # noqa: FBT001, FBT002
    ) -> Self:
        """Return an ensemble with the same settings that has learned nothing, nor its models.

        Parameters
        ----------
        new_params
            Settings that replace the settings of this ensemble.
        include_attributes
            Whether to copy the weights and the state of the models, too.
        """
        fresh = {} if include_attributes else {"models": [model.clone() for model in self.models]}
        made: Self = super().clone({**fresh, **(new_params or {})}, include_attributes)
        return made


class RiverHedgeRegressor(_RiverEnsemble, base.Regressor):  # type: ignore[misc]
    """Regressors of river, blended by weights that follow the ones with the best recent forecasts.

    Parameters
    ----------
    models
        The regressors. They are named by their classes, and numbered where a class occurs twice.
    hedger, loss
        As for `Mixture`.
    options
        Further arguments of `Mixture`, such as ``{"even": 0.5}``.

    Attributes
    ----------
    mixture
        The `Mixture`: see its ``summary()``.
    names
        The names of the models in the mixture.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, optim
    >>> optimizers = optim.SGD(0.01), optim.RMSProp(), optim.AdaGrad()
    >>> models = [linear_model.LinearRegression(one, intercept_lr=0.1) for one in optimizers]
    >>> model = preprocessing.StandardScaler() | RiverHedgeRegressor(models)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.405926
    """

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        scaler, line = preprocessing.StandardScaler, linear_model.LinearRegression
        yield {"models": [scaler() | line(intercept_lr=0.1), scaler() | linear_model.PARegressor()]}

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the models in the next round."""
        return self.mixture.next_weights(self.names)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """Return the blend of the models; nothing changes. It is 0 if no model has a forecast."""
        value = self.mixture.peek(self._forecasts(x)).value
        return 0.0 if value is None else float(value)

    def learn_one(self, x: dict[Any, Any], y: float) -> None:
        """Judge the models by their forecasts of an outcome, then let them learn from it.

        Parameters
        ----------
        x, y
            The features and the outcome.
        """
        mixture = self.mixture
        mixture.update(mixture.predict(self._forecasts(x)).ticket, float(y))
        for model in self.models:
            model.learn_one(x, y)

    def _forecasts(self, x: dict[Any, Any]) -> dict[str, Any]:
        values = (model.predict_one(x) for model in self.models)
        return {
            name: None if value is None else float(value)
            for name, value in zip(self.names, values, strict=True)
        }


class RiverHedgeClassifier(_RiverEnsemble, base.Classifier):  # type: ignore[misc]
    r"""Classifiers of river, whose probabilities are blended; see `RiverHedgeRegressor`.

    Labels may appear at any time. So each label is an item of a round, with outcome 1 or 0. With
    the square loss, models are judged by their Brier score

    .. math::

        \sum_c (p_c - 1[c = y])^2.

    A model without ``predict_proba_one`` is sure of the label that it predicts.

    Parameters
    ----------
    models
        The classifiers.
    hedger, options
        As for `RiverHedgeRegressor`.
    loss
        The loss of a probability as a forecast of 1 or 0: ``"square"`` or ``"absolute"``.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> model = RiverHedgeClassifier([linear_model.Perceptron(), naive_bayes.GaussianNB()])
    >>> for x, y in datasets.Phishing().take(200):
    ...     model.learn_one(x, y)
    >>> model.predict_one(x) == y
    True
    """

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        line = preprocessing.StandardScaler() | linear_model.LogisticRegression()
        yield {"models": [line, naive_bayes.GaussianNB()]}

    @property
    def _multiclass(self) -> bool:
        return all(model._multiclass for model in self.models)

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """Return the blended probability of each label; nothing changes."""
        chances = self._chances(x)
        items = self._with_items(chances.values())
        blends = dict.fromkeys(items.values(), 0.0)
        if any(chances.values()):
            blends = self.mixture.peek(_forecasts_of_items(chances, items)).value
        blended = {label: max(0.0, blends[item]) for label, item in items.items()}
        total = sum(blended.values())
        if total == 0.0:
            return {label: 1.0 / len(items) for label in items}
        return {label: chance / total for label, chance in blended.items()}

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Judge the models by their probabilities of a label, then let them learn it.

        Parameters
        ----------
        x, y
            The features and the label.
        """
        chances = self._chances(x)
        items = self._with_items([*chances.values(), {y: 1.0}])
        if any(chances.values()):
            made = self.mixture.predict(_forecasts_of_items(chances, items))
            outcomes = {item: float(label == y) for label, item in items.items()}
            self.mixture.update(made.ticket, outcomes)
        self._items = items
        for model in self.models:
            model.learn_one(x, y)

    def _chances(self, x: dict[Any, Any]) -> dict[str, dict[Any, float]]:
        """Return the probabilities that each model gives to labels; empty if it has none."""
        return {
            name: _chances_of(model, x) for name, model in zip(self.names, self.models, strict=True)
        }

    def _with_items(self, chances: Iterable[Mapping[Any, float]]) -> dict[Hashable, str]:
        """Return the items of all labels, old and new."""
        labels = dict.fromkeys(
            [*self._items, *(label for probabilities in chances for label in probabilities)]
        )
        return {label: str(k) for k, label in enumerate(labels)}


def _chances_of(model: Any, x: dict[Any, Any]) -> dict[Any, float]:
    """Return the probabilities that a model gives to labels."""
    try:
        chances = model.predict_proba_one(x)  # before river 0.24, {None: 1} if it has none yet
        return {label: float(p) for label, p in chances.items() if label is not None}
    except NotImplementedError:
        label = model.predict_one(x)
        return {} if label is None else {label: 1.0}


def _forecasts_of_items(
    chances: Mapping[str, Mapping[Any, float]], items: Mapping[Hashable, str]
) -> dict[str, Any]:
    """Return a forecast for each item; a model without any probability sleeps."""
    return {
        name: {item: probabilities.get(label, 0.0) for label, item in items.items()}
        if probabilities
        else None
        for name, probabilities in chances.items()
    }


def _names(models: Iterable[Any]) -> list[str]:
    """Return a name for each model: its class, or the class of the last step of a pipeline."""
    return _rounds.number_names(type(_last(model)).__name__ for model in models)


def _last(model: Any) -> Any:
    """Return a model, or the last step of a pipeline."""
    while isinstance(model, compose.Pipeline):
        model = list(model.steps.values())[-1]
    return model
