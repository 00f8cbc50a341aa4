"""Meta-estimators of scikit-learn: its own checks, and what the mixture must get to see."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

from normalhedge import Mixture
from normalhedge.integrations import HedgeClassifier, HedgeRegressor

TREE = {"max_depth": 4, "random_state": 0}


def regressors(**options: Any) -> HedgeRegressor:
    return HedgeRegressor([("ridge", Ridge()), ("tree", DecisionTreeRegressor(**TREE))], **options)


def classifiers(**options: Any) -> HedgeClassifier:
    return HedgeClassifier(
        [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(**TREE))], **options
    )


def rows(count: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(count, 3))
    return X, X @ [1.0, 2.0, -1.0] + 0.1 * rng.normal(size=count)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        HedgeRegressor([("ridge", Ridge()), ("sgd", SGDRegressor(random_state=0))]),
        HedgeClassifier([("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(**TREE))], cv=2),
        pytest.param(regressors(), marks=pytest.mark.slow),
        pytest.param(classifiers(), marks=pytest.mark.slow),
    ],
    ids=["regressor", "classifier", "regressor without partial_fit", "classifier without"],
)
def test_all_checks_of_the_library(model: Any) -> None:
    found = check_estimator(model, on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
    assert not failed
    skipped = [one["check_name"] for one in found if one["status"] == "skipped"]
    assert skipped in ([], ["check_array_api_input"])  # of arrays that are not NumPy's
    assert len(found) >= 50


def test_the_mixture_sees_forecasts_of_rows_that_were_not_fitted() -> None:
    """An obvious loop: fit to the rows before a fold, forecast it, learn row by row."""
    X, y = rows()
    model = regressors(cv=4, hedger="normal-hedge").fit(X, y)
    mixture, blended = Mixture("normal-hedge"), np.full(len(y), np.nan)
    for past, ahead in TimeSeriesSplit(4).split(X):
        ridge = Ridge().fit(X[past], y[past])
        tree = DecisionTreeRegressor(**TREE).fit(X[past], y[past])
        for t in ahead:
            said = {"ridge": ridge.predict(X[t : t + 1])[0], "tree": tree.predict(X[t : t + 1])[0]}
            made = mixture.predict(said)
            mixture.update(made.ticket, y[t])
            blended[t] = made.value
    np.testing.assert_allclose(model.prequential_prediction_, blended, rtol=1e-9)
    ridge, tree = Ridge().fit(X, y), DecisionTreeRegressor(**TREE).fit(X, y)
    new = np.ones((2, 3))
    expected = [
        mixture.peek({"ridge": one, "tree": other}).value
        for one, other in zip(ridge.predict(new), tree.predict(new), strict=True)
    ]
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-9)
    assert model.weights_ == pytest.approx(mixture.next_weights())


def test_nothing_uses_later_outcomes() -> None:
    X, y = rows()
    changed = y.copy()
    changed[40:] += 100.0
    one, other = regressors().fit(X, y), regressors().fit(X, changed)
    same = slice(0, 41)  # the blend of row 40 is made before its outcome
    np.testing.assert_array_equal(
        one.prequential_prediction_[same], other.prequential_prediction_[same]
    )
    assert one.prequential_prediction_[45] != other.prequential_prediction_[45]


def test_predicting_changes_nothing() -> None:
    X, y = rows()
    model = regressors().fit(X, y)
    before = pickle.dumps(model)
    first = model.predict(X)
    np.testing.assert_allclose(model.predict(X[::-1])[::-1], first, rtol=1e-12)
    assert pickle.dumps(model) == before
    np.testing.assert_array_equal(pickle.loads(before).predict(X), first)


def test_rows_are_learned_after_they_are_predicted() -> None:
    X, y = rows()
    pairs = [("sgd", SGDRegressor(random_state=0)), ("mean", DummyRegressor())]
    model = HedgeRegressor(pairs).partial_fit(X[:20], y[:20])
    assert model.mixture_.rounds == 0
    assert model.weights_ == {"sgd": 0.5, "mean": 0.5}
    sgd = SGDRegressor(random_state=0).partial_fit(X[:20], y[:20])
    mixture = Mixture()
    for start in (20, 40):
        part = slice(start, start + 20)
        model.partial_fit(X[part], y[part])
        values = []
        for said, outcome in zip(sgd.predict(X[part]), y[part], strict=True):
            made = mixture.predict({"sgd": said, "mean": y[:20].mean()})
            mixture.update(made.ticket, outcome)
            values.append(made.value)
        sgd.partial_fit(X[part], y[part])
        np.testing.assert_allclose(model.prequential_prediction_, values)
    assert model.weights_ == pytest.approx(mixture.next_weights())


def test_learning_on_after_fit() -> None:
    X, y = rows()
    labels = np.where(y > 0.0, "up", "down")
    model = HedgeClassifier([("bayes", GaussianNB()), ("svm", LinearSVC())]).fit(
        X[:40], labels[:40]
    )
    rounds, weights = model.mixture_.rounds, model.weights_
    model.partial_fit(X[40:], labels[40:])
    assert model.mixture_.rounds == rounds + 20
    assert model.weights_ != weights
    with pytest.raises(ValueError, match="y has the class 'flat', which is new: name all classes"):
        model.partial_fit(X[:1], ["flat"])
    assert not hasattr(classifiers(), "partial_fit")


def test_classes_that_come_late() -> None:
    """A classifier that has not seen a class gives it none, and the blend a pool's 1e-6 at most."""
    X = np.arange(40.0).reshape(-1, 1)
    y = np.repeat(["a", "b", "c", "d"], 10)
    model = HedgeClassifier([("most", DummyClassifier()), ("tree", DecisionTreeClassifier())], cv=5)
    chances = model.fit(X, y).predict_proba(X)
    assert chances.shape == (40, 4)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    judged = ~np.isnan(model.prequential_prediction_[:, 0])
    assert judged.tolist() == [False] * 16 + [True] * 24  # before that, the past has one class
    assert (model.prequential_prediction_[16:20, 2:] <= 1e-6).all()
    first = HedgeClassifier([("sgd", SGDClassifier(random_state=0)), ("most", DummyClassifier())])
    first.partial_fit(X[:20], y[:20], classes=["d", "c", "b", "a"])
    assert first.classes_.tolist() == ["a", "b", "c", "d"]
    assert first.partial_fit(X[20:], y[20:]).predict(X[-1:]).shape == (1,)


def test_tables_pipelines_and_settings() -> None:
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    only_a = make_pipeline(ColumnTransformer([("a", StandardScaler(), ["a"])]), Ridge())
    model = HedgeRegressor([("all", Ridge()), ("a", only_a)]).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    columns = model.set_output(transform="pandas").transform(frame)
    assert list(columns) == ["hedgeregressor_all", "hedgeregressor_a"]
    np.testing.assert_allclose(columns["hedgeregressor_all"], Ridge().fit(frame, y).predict(frame))
    inside = make_pipeline(StandardScaler(), regressors(options={"even": 0.5}))
    assert cross_val_score(inside, X, y, cv=TimeSeriesSplit(3)).min() > 0.5
    assert inside.get_params()["hedgeregressor__ridge__alpha"] == 1.0
    other = clone(model).set_params(all__alpha=3.0, a="drop", cv=TimeSeriesSplit(3, gap=2))
    assert other.fit(frame, y).weights_ == {"all": 1.0}
    assert other.named_estimators_.all.alpha == 3.0
    assert np.isnan(other.prequential_prediction_).sum() == 15
    chances = classifiers().fit(X, y > 0).set_output(transform="pandas").transform(X)
    assert list(chances)[:2] == ["hedgeclassifier_line_0", "hedgeclassifier_line_1"]


def test_one_class() -> None:
    X, _ = rows(30)
    model = HedgeClassifier([("bayes", GaussianNB()), ("most", DummyClassifier())])
    model.fit(X, ["a"] * 30).partial_fit(X, ["a"] * 30)
    assert model.predict(X[:2]).tolist() == ["a", "a"]
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    assert model.transform(X[:2]).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_few_rows() -> None:
    X, y = rows(2)
    model = regressors().fit(X, y)
    assert np.isnan(model.prequential_prediction_).all()
    expected = (Ridge().fit(X, y).predict(X) + DecisionTreeRegressor().fit(X, y).predict(X)) / 2
    np.testing.assert_allclose(model.predict(X), expected)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (HedgeRegressor([]), "estimators must hold at least one estimator"),
        (HedgeRegressor([("a", "drop")]), "estimators must hold at least one estimator"),
        (HedgeRegressor(Ridge()), "estimators must be a list of pairs"),
        (HedgeRegressor([Ridge()]), "estimators must be a list of pairs"),
        (regressors(cv=1), "cv must be at least 2 folds, got 1"),
        (regressors(cv=KFold(3)), "cv must forecast each row once, from earlier rows only"),
        (regressors(cv=2.5), "cv must be a number of folds, a splitter, or pairs of rows"),
        (regressors(loss="log"), "loss must be a loss of numbers, got log"),
        (regressors(loss="crps:levels=0.1/0.9"), "loss must be a loss of numbers, got crps"),
        (regressors(hedger="nobody"), "nobody"),
    ],
)
def test_wrong_settings_get_a_sentence(model: HedgeRegressor, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        model.fit(*rows())


def test_wrong_data_gets_a_sentence() -> None:
    X, y = rows()
    with pytest.raises(ValueError, match="loss must be a loss of class probabilities, got square"):
        classifiers(loss="square").fit(X, y > 0)
    y[3] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN or infinity: leave these rows out"):
        regressors().fit(X, y)
