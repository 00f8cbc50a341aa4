"""Ensembles for river: its own checks, and the rounds that the mixture gets."""

import pickle
from importlib.metadata import version
from typing import Any

import pytest
from river import (
    base,
    checks,
    datasets,
    dummy,
    ensemble,
    evaluate,
    linear_model,
    metrics,
    naive_bayes,
    optim,
    preprocessing,
    stats,
    tree,
)

from normalhedge import Mixture
from normalhedge.integrations import RiverHedgeClassifier, RiverHedgeRegressor


def lines() -> list[Any]:
    optimizers = optim.SGD(0.01), optim.RMSProp(), optim.AdaGrad()
    return [linear_model.LinearRegression(one, intercept_lr=0.1) for one in optimizers]


def mae(model: Any) -> float:
    whole = preprocessing.StandardScaler() | model
    score = evaluate.progressive_val_score(datasets.TrumpApproval(), whole, metrics.MAE())
    return float(score.get())


CHECKS = [
    (model, check)
    for kind in (RiverHedgeRegressor, RiverHedgeClassifier)
    for model in (kind(**params) for params in kind._unit_test_params())
    for check in checks.yield_checks(model)
]


@pytest.mark.parametrize(
    ("model", "check"), CHECKS, ids=[f"{type(m).__name__} {c.__name__}" for m, c in CHECKS]
)
def test_checks_of_the_library(model: Any, check: Any) -> None:
    check(model.clone())


def test_no_check_is_left_out() -> None:
    assert not RiverHedgeRegressor(lines())._unit_test_skips()
    least = 25 if int(version("river").split(".")[1]) >= 25 else 15  # the library had fewer
    assert sum(isinstance(model, RiverHedgeRegressor) for model, _ in CHECKS) >= least


def test_better_than_their_own_on_their_own_data() -> None:
    assert mae(ensemble.EWARegressor(lines())) == pytest.approx(40.75, abs=0.01)
    assert mae(RiverHedgeRegressor(lines())) < 0.46
    assert mae(RiverHedgeRegressor(lines(), loss="absolute")) < 0.45


def test_the_rounds_are_those_of_a_mixture() -> None:
    model, models, mixture = RiverHedgeRegressor(lines(), "squint"), lines(), Mixture("squint")
    names = ["LinearRegression", "LinearRegression 2", "LinearRegression 3"]
    for x, y in datasets.TrumpApproval().take(50):
        said = dict(zip(names, (one.predict_one(x) for one in models), strict=True))
        made = mixture.predict(said)
        assert model.predict_one(x) == made.value
        mixture.update(made.ticket, y)
        model.learn_one(x, y)
        for one in models:
            one.learn_one(x, y)
    assert model.weights == mixture.next_weights(names)


def test_predicting_changes_nothing() -> None:
    x, y = next(iter(datasets.Phishing()))
    for model in (
        RiverHedgeRegressor(lines()),
        RiverHedgeClassifier([naive_bayes.GaussianNB(), linear_model.Perceptron()]),
    ):
        for _ in range(2):
            before = pickle.dumps(model)
            first = model.predict_one(x)
            assert model.predict_one(x) == first
            assert pickle.dumps(model) == before
            model.learn_one(x, y)


def test_labels_may_appear_at_any_time() -> None:
    model = RiverHedgeClassifier([naive_bayes.GaussianNB(), dummy.NoChangeClassifier()])
    assert model.predict_proba_one({"a": 1.0}) == {}
    assert model.predict_one({"a": 1.0}) is None
    assert model.mixture.rounds == 0
    for k in range(60):
        label: Any = ("one", 2, "2")[k // 20]
        model.learn_one({"a": float(k // 20), "b": k % 3 / 10}, label)
    chances = model.predict_proba_one({"a": 2.0, "b": 0.1})
    assert set(chances) == {"one", 2, "2"}
    assert sum(chances.values()) == pytest.approx(1.0)
    assert model.predict_one({"a": 2.0, "b": 0.1}) == "2"
    assert model.predict_one({"a": 0.0, "b": 0.1}) in {"one", "2"}


class _Label(base.Classifier):  # type: ignore[misc]
    """Predicts a label, and no probabilities."""

    def __init__(self, label: str) -> None:
        self.label = label

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn nothing."""

    def predict_one(self, x: Any, **options: Any) -> str:  # noqa: ARG002
        return self.label


def test_a_model_of_labels_is_sure_of_them() -> None:
    """With the Brier score, and models that are always or never right."""
    model = RiverHedgeClassifier([_Label("right"), _Label("wrong")])
    assert model.predict_proba_one({}) == {"right": 0.5, "wrong": 0.5}
    for _ in range(40):
        model.learn_one({}, "right")
    assert model.predict_proba_one({})["right"] > 0.95


def test_a_clone_has_learned_nothing() -> None:
    model = RiverHedgeRegressor([stats_model(1.0), *lines()], "squint", options={"even": 0.1})
    for x, y in datasets.TrumpApproval().take(20):
        model.learn_one(x, y)
    fresh = model.clone()
    assert fresh.mixture.rounds == 0
    assert fresh.predict_one(x) != model.predict_one(x)
    assert (fresh.hedger, fresh.options) == ("squint", {"even": 0.1})
    other = model.clone({"models": lines()[:2], "hedger": None})
    assert len(other.names) == 2
    copied = model.clone(include_attributes=True)
    assert copied.predict_one(x) == model.predict_one(x)


def stats_model(start: float) -> Any:
    model = dummy.StatisticRegressor(stats.Mean())
    model.learn_one({}, start)
    return model


def test_a_tree_of_pipelines_is_named_by_its_last_step() -> None:
    scaled = preprocessing.StandardScaler() | tree.HoeffdingTreeRegressor()
    model = RiverHedgeRegressor([scaled, linear_model.PARegressor(), *lines()[:1]])
    assert model.names == ["HoeffdingTreeRegressor", "PARegressor", "LinearRegression"]
    assert RiverHedgeRegressor(lines()[:1]).predict_one({"a": 1.0}) == 0.0


@pytest.mark.parametrize("loss", ["log", "zero-one", "crps:levels=0.1/0.9"])
def test_wrong_losses_get_a_sentence(loss: str) -> None:
    with pytest.raises(ValueError, match="loss must be a loss of numbers, such as 'square', got"):
        RiverHedgeRegressor(lines(), loss=loss)


def test_no_models() -> None:
    with pytest.raises(ValueError, match="At least 1 models"):
        RiverHedgeRegressor([])
