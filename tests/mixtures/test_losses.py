"""Losses in a mixture: of classes, labels, quantiles, and losses of the user."""

import math
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge.mixtures import Loss, pinball
from tests.mixtures.examples import NAMES, experts
from tests.rules import SINGLE, either


@either
@pytest.mark.parametrize("loss", ["l1", "log", "zero-one-classes"])
def test_class_probabilities(loss: str, hedger: str | None) -> None:
    mixture = Mixture(hedger, loss)
    for _ in range(40):
        made = mixture.predict({"good": [0.7, 0.2, 0.1], "bad": [0.1, 0.2, 0.7]})
        assert math.isclose(made.value.sum(), 1.0)
        mixture.update(made.ticket, 0)
    value = mixture.predict({"good": [0.7, 0.2, 0.1], "bad": [0.1, 0.2, 0.7]}).value
    # The plain mean already names the right class: by default, nothing more is learned then.
    assert value[0] > (0.65 if hedger == SINGLE or loss != "zero-one-classes" else 0.4)
    many = mixture.predict({"good": {"DE": [0.5, 0.5, 0.0]}, "bad": {"DE": [0.0, 0.5, 0.5]}})
    assert set(many.value) == {"DE"}


def test_the_log_loss_is_clipped() -> None:
    mixture = Mixture(loss="log", gradient=False)
    made = mixture.predict({"sure": [0.0, 1.0], "fair": [0.5, 0.5]})
    mixture.update(made.ticket, 0)
    losses = {row.name: row.loss for row in mixture.summary().experts}
    assert losses["sure"] == pytest.approx(math.log(1e6))


@either
def test_votes(hedger: str | None) -> None:
    mixture = Mixture(hedger, "zero-one")
    assert mixture.predict({"a": 3, "b": 3, "c": 7}).value == 3.0
    for _ in range(1 if hedger == SINGLE else 10):
        made = mixture.predict({"a": 1, "b": 2, "c": 2})
        mixture.update(made.ticket, 1)
    assert mixture.predict({"a": 9, "b": 4, "c": 4}).value == 9.0


@pytest.mark.parametrize(
    "options", [{"hedger": "auto:guard=false"}, {"gradient": False}, {"gradient": True}]
)
def test_a_loss_of_your_own(options: dict[str, Any]) -> None:
    own = Loss("mine", function=lambda x, y: (x - y) ** 2, slope=lambda x, y: 2 * (x - y))
    pair = Mixture(loss=own, **options), Mixture(loss="square", **options)
    forecasts, y = experts(60, np.random.default_rng(7))
    for row, outcome in zip(forecasts[:, 0], y[:, 0], strict=True):
        values = []
        for mixture in pair:
            made = mixture.predict(dict(zip(NAMES, row.tolist(), strict=True)))
            mixture.update(made.ticket, float(outcome))
            values.append(made.value)
        assert values[0] == values[1]
    assert (pair[0].live.expert_sums == pair[1].live.expert_sums).all()
    plain = Mixture(SINGLE, lambda x, y: np.abs(x - y))
    assert not plain.settings.gradient


@either
def test_pinball_of_several_levels(hedger: str | None) -> None:
    mixture = Mixture(hedger, pinball([0.1, 0.9]), shared=False)
    rng = np.random.default_rng(8)
    for y in rng.normal(size=400).tolist():
        made = mixture.predict({"wide": [-1.28, 1.28], "narrow": [-0.1, 0.1], "off": [0.5, 0.9]})
        mixture.update(made.ticket, [y, y])
    sums = dict(zip(mixture.names, mixture.live.expert_sums[2], strict=True))
    assert min(sums, key=lambda name: sums[name]) == "wide"
