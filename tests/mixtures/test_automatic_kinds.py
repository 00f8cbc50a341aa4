"""The automatic mixture with every kind of forecast: saved, in parts, and in tables."""

import copy
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from normalhedge import Mixture, blend
from normalhedge._core import STATE_FIELDS as ARRAYS
from normalhedge.mixtures import Loss, pinball
from normalhedge.mixtures.rules import Automatic
from tests.mixtures.automatic_examples import NAMES
from tests.tables.examples import loop, values, wide


def own_loss(x: np.ndarray, y: float) -> np.ndarray:
    return np.asarray(np.abs(x - y) ** 1.5)


def steep(x: float, y: float) -> float:
    return 1.5 * math.copysign(abs(x - y) ** 0.5, x - y)


STEEP = Loss("steep", function=own_loss, slope=steep)


KINDS: dict[str, tuple[Any, str]] = {
    "numbers": ("absolute", "number"),
    "items": ("square", "items"),
    "vectors": ("square", "vector"),
    "levels": (pinball([0.1, 0.5, 0.9]), "vector"),
    "labels": ("zero-one", "label"),
    "probabilities": ("log", "classes"),
    "probabilities of items": ("l1", "classes of items"),
    "own loss": (STEEP, "items"),
    "own loss without a slope": (own_loss, "number"),
}


each_kind = pytest.mark.parametrize(("loss", "form"), KINDS.values(), ids=KINDS.keys())


def rounds_of(form: str, count: int = 60) -> list[tuple[dict[str, Any], Any]]:
    """Return rounds of forecasts, with sleepers and newcomers, and their outcomes."""
    rng, found = np.random.default_rng(13), []
    for t in range(count):
        names = [name for k, name in enumerate(NAMES) if t >= 10 * k - 20 and rng.random() < 0.85]
        names = names or NAMES[:1]
        y: Any = rng.normal(size=3)
        said: dict[str, Any] = {name: y + rng.normal(size=3) * (1 + len(name)) for name in names}
        if form == "number":
            y, said = float(y[0]), {name: float(x[0]) for name, x in said.items()}
        elif form == "label":
            y, said = int(y[0] > 0), {name: int(x[0] > 0) for name, x in said.items()}
        elif form == "items":
            keys = ["DE", "FR", "IT"][: 1 + t // 12]
            y = dict(zip(keys, y.tolist(), strict=False))
            said = {name: dict(zip(keys, x.tolist(), strict=False)) for name, x in said.items()}
        elif form.startswith("classes"):
            y = int(y[0] > 0)
            said = {name: np.exp(x) / np.exp(x).sum() for name, x in said.items()}
            if form == "classes of items":
                y = {"DE": y, "FR": 2}
                said = {name: {"DE": x, "FR": x[::-1]} for name, x in said.items()}
        found.append((said, y))
    return found


def flat(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [x for part in value.values() for x in flat(part)]
    return [float(x) for x in np.ravel(math.nan if value is None else value)]


@each_kind
@pytest.mark.parametrize("way", ["file", "pickle", "deepcopy"])
def test_it_goes_on_to_the_bit(tmp_path: Path, loss: Any, form: str, way: str) -> None:
    rounds = rounds_of(form)
    one = Mixture(loss=loss)
    assert isinstance(one.settings.hedger, Automatic)
    tickets = {}
    for said, y in rounds[:40]:
        tickets[one.predict(said).ticket] = y
        if len(tickets) > 4:
            ticket = next(iter(tickets))
            one.update(ticket, tickets.pop(ticket))
    if way == "file":
        one.save(tmp_path / "state.json")
        two = Mixture.load(
            tmp_path / "state.json", loss if callable(loss) or loss is STEEP else None
        )
        two.save(tmp_path / "again.json")
        assert (tmp_path / "state.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    elif way == "pickle":
        two = pickle.loads(pickle.dumps(one))
    else:
        two = copy.deepcopy(one)
    assert list(one.pending) == list(two.pending) == list(tickets)
    for mixture in (one, two):
        for ticket, y in tickets.items():
            mixture.update(ticket, y)
    for said, y in rounds[40:]:
        made = [mixture.predict(said) for mixture in (one, two)]
        np.testing.assert_array_equal(flat(made[0].value), flat(made[1].value))
        np.testing.assert_array_equal(made[0].distribution, made[1].distribution)
        for mixture, prediction in zip((one, two), made, strict=True):
            mixture.update(prediction.ticket, y)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one.live, name), getattr(two.live, name))


@each_kind
def test_weights_are_those_of_a_distribution(loss: Any, form: str) -> None:
    mixture = Mixture(loss=loss)
    for said, y in rounds_of(form):
        made = mixture.predict(said)
        sums = np.atleast_2d(made.distribution).sum(axis=1)
        np.testing.assert_allclose(sums[sums > 0.0], 1.0, rtol=1e-12)
        if form.startswith("classes"):
            parts = made.value.values() if isinstance(made.value, dict) else [made.value]
            for part in parts:
                assert min(part) >= 0.0
                assert sum(part) == pytest.approx(1.0, rel=1e-9)
        mixture.update(made.ticket, y)
    assert np.isfinite(mixture.live.total_sums).all()


@pytest.mark.parametrize("lag", [0, 3])
@pytest.mark.parametrize("series", [1, 4])
def test_a_table_is_a_loop_over_a_mixture(lag: int, series: int) -> None:
    """Series in step share a mixture, which is nothing that has to be said."""
    table = wide(80, series)
    by = () if series == 1 else "unique_id"
    found = blend(pa.table(table), "y", ["gam", "ar", "naive"], by, "ds", lag)
    assert found.mixture.settings.shared
    slow = loop(table, lag, pooled=series > 1)
    np.testing.assert_allclose(values(found), slow, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("lag", [0, 3])
@pytest.mark.parametrize("series", [1, 4])
@pytest.mark.parametrize("loss", ["absolute", STEEP], ids=["absolute", "own"])
def test_a_table_in_two_parts_is_the_whole(
    tmp_path: Path, lag: int, series: int, loss: Any
) -> None:
    table = pa.table(wide(80, series))
    options: dict[str, Any] = {"experts": ["gam", "ar", "naive"], "time": "ds", "lag": lag}
    options |= {} if series == 1 else {"by": "unique_id"}
    whole = blend(table, "y", **options, loss=loss)
    for cut in (1, 37 * series):
        if series > 1 and cut == 1:
            continue
        first = blend(table.slice(0, cut), "y", **options, loss=loss).mixture
        first.save(tmp_path / "state.json")
        mixture = Mixture.load(tmp_path / "state.json", loss if loss is STEEP else None)
        rest = blend(table.slice(cut), "y", **options, mixture=mixture)
        np.testing.assert_array_equal(values(rest), values(whole)[cut:])
        sums = rest.mixture.live.expert_sums
        np.testing.assert_allclose(sums, whole.mixture.live.expert_sums, rtol=1e-12)
