"""What adapters cost beside `Mixture` on the same rounds, and how they do beside their peers.

Models that say what a column says cost next to nothing, so that what is left is the adapter and the
library around it.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from river import base, datasets, ensemble, evaluate, linear_model, metrics, optim, preprocessing
from sklearn.base import BaseEstimator, RegressorMixin

from benchmarks.timing import HEADER, Row, measure
from normalhedge import Mixture
from normalhedge.boundary.inputs import Floats
from normalhedge.integrations import HedgeRegressor, RiverHedgeRegressor

ROUNDS, EXPERTS = 2000, 5
NAMES = [f"model {k}" for k in range(EXPERTS)]


class River(base.Regressor):  # type: ignore[misc]
    """Predicts what a feature says."""

    def __init__(self, name: str) -> None:
        self.name = name

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn nothing.

        Parameters
        ----------
        x, y
            Ignored.
        """

    def predict_one(self, x: Any) -> Any:
        """Return the feature."""
        return x[self.name]


class Column(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts what a column says."""

    def __init__(self, place: int = 0) -> None:
        self.place = place

    def fit(self, X: Any, y: Any) -> "Column":  # noqa: ARG002, N803
        """Learn nothing.

        Parameters
        ----------
        X, y
            Ignored.
        """
        self.fitted_ = True
        return self

    def partial_fit(self, X: Any, y: Any) -> "Column":  # noqa: N803
        """Learn nothing.

        Parameters
        ----------
        X, y
            Ignored.
        """
        return self.fit(X, y)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the column."""
        return np.asarray(X)[:, self.place]


def rows() -> Iterator[Row]:
    """Yield a row for each adapter and each of its calls; the ratio is that of `Mixture` to it."""
    rng = np.random.default_rng(0)
    outcomes = rng.normal(size=ROUNDS).cumsum()
    said = outcomes[:, None] + rng.normal(size=(ROUNDS, EXPERTS))
    whole, goal = f"{ROUNDS:,} rounds of {EXPERTS}", ">= 0.83x"
    loop = ("Mixture", lambda: _loop(said, outcomes))
    yield measure(f"scikit-learn, partial_fit, {whole}", _scikit(said, outcomes), loop, goal)
    yield measure(f"river, learn_one, {whole}", _river(said, outcomes), loop, goal)
    mixture, model = _loop(said, outcomes), RiverHedgeRegressor([River(name) for name in NAMES])
    features = [dict(zip(NAMES, row, strict=True)) for row in said.tolist()]
    for x, y in zip(features[:50], outcomes[:50].tolist(), strict=True):
        model.learn_one(x, y)
    peek = ("Mixture.peek", lambda: mixture.peek(features[0]))
    yield measure(
        "river, predict_one", lambda: model.predict_one(features[0]), peek, goal, calls=200
    )
    yield measure(
        f"scikit-learn, predict, {whole}",
        _predicting(said, outcomes),
        ("Mixture.predict", lambda: _predict(said)),
        goal,
    )


def _loop(said: Floats, outcomes: Floats) -> Mixture:
    mixture = Mixture()
    for row, outcome in zip(said.tolist(), outcomes.tolist(), strict=True):
        mixture.update(mixture.predict(dict(zip(NAMES, row, strict=True))).ticket, outcome)
    return mixture


def _predict(said: Floats) -> None:
    mixture = Mixture()
    for row in said.tolist():
        mixture.predict(dict(zip(NAMES, row, strict=True)))


def _scikit(said: Floats, outcomes: Floats) -> Callable[[], object]:
    def run() -> None:
        model = HedgeRegressor([(name, Column(k)) for k, name in enumerate(NAMES)])
        model.partial_fit(said[:1], outcomes[:1])
        model.partial_fit(said, outcomes)

    return run


def _predicting(said: Floats, outcomes: Floats) -> Callable[[], object]:
    model = HedgeRegressor([(name, Column(k)) for k, name in enumerate(NAMES)])
    model.fit(said[:100], outcomes[:100])
    return lambda: model.predict(said)


def _river(said: Floats, outcomes: Floats) -> Callable[[], object]:
    features = [dict(zip(NAMES, row, strict=True)) for row in said.tolist()]
    numbers = outcomes.tolist()

    def run() -> None:
        model = RiverHedgeRegressor([River(name) for name in NAMES])
        for x, y in zip(features, numbers, strict=True):
            model.learn_one(x, y)

    return run


def trump() -> Iterator[str]:
    """Yield the mean absolute error of river's ensemble and of ours, of the same three models."""
    made: dict[str, Callable[[list[Any]], Any]] = {
        "river EWARegressor, its default rate .5": ensemble.EWARegressor,
        "river EWARegressor, rate .005": lambda models: ensemble.EWARegressor(
            models, learning_rate=0.005
        ),
        "RiverHedgeRegressor": RiverHedgeRegressor,
        'RiverHedgeRegressor, loss="absolute"': lambda models: RiverHedgeRegressor(
            models, loss="absolute"
        ),
    }
    yield "TrumpApproval, three linear models, mean absolute error:"
    for name, make in made.items():
        optimizers = optim.SGD(0.01), optim.RMSProp(), optim.AdaGrad()
        models = [linear_model.LinearRegression(one, intercept_lr=0.1) for one in optimizers]
        model = preprocessing.StandardScaler() | make(models)
        score = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
        yield f"  {name:<42} {score.get():8.3f}"


def main() -> None:
    """Print all tables; those of sktime and Darts where both are installed."""
    apart = all(find_spec(name) for name in ("sktime", "darts"))
    ahead = import_module("benchmarks.adapters_ahead") if apart else None
    print(HEADER)
    for line in (*rows(), *(ahead.rows() if ahead else ())):
        print(line, flush=True)
    for table in (trump, *((ahead.sktime_errors, ahead.darts_errors) if ahead else ())):
        print()
        for text in table():
            print(text, flush=True)
    if ahead is None:
        print("\nsktime and Darts are not installed here: nox -s adapters has them")


if __name__ == "__main__":
    main()
