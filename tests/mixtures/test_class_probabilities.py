"""The automatic mixture of class probabilities: logarithmic pools and recalibrations."""

import json
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge._core import STATE_FIELDS
from normalhedge.boundary.inputs import Floats
from normalhedge.live.sealed_file import sealed
from normalhedge.mixtures.losses import LOSSES
from normalhedge.mixtures.rules import Automatic, levels_of
from normalhedge.mixtures.rules._automatic import RECALIBRATIONS
from normalhedge.mixtures.rules._components import ledger_weights
from tests.automatic_oracle import Insurance, Portion
from tests.recalibration_oracle import Recalibrator, logarithmic_pool, softmax

OF_CLASSES = ("log", "l1", "brier", "zero-one-classes")

CONVEX = ("l1", "brier")

VALUES: dict[str, Callable[[Any, float], float]] = {
    "log": lambda p, y: -float(np.log(max(p[int(y)], 1e-6))),
    "l1": lambda p, y: 1.0 - float(p[int(y)]),
    "brier": lambda p, y: float(np.square(p - np.eye(len(p))[int(y)]).sum()),
    "zero-one-classes": lambda p, y: float(np.argmax(p) != y) + 0.0 * p[0],  # NaN stays NaN
}

FIRST, FOLLOWED, BASE = 7, 3, 4
"""The places of the first component, of the forecast that is followed and of its base."""


def forecasters(
    rounds: int, classes: int = 3, n: int = 4, items: int = 1, seed: int = 0, sharp: float = 2.0
) -> tuple[Floats, Floats]:
    """Return rounds x items x classes x experts, and outcomes; all but the first may sleep."""
    rng = np.random.default_rng(seed)
    logits = 1.2 * rng.normal(size=(rounds, items, classes, 1))
    truth = np.exp(logits[..., 0])
    truth /= truth.sum(axis=2, keepdims=True)
    y = (truth.cumsum(axis=2) < rng.random((rounds, items, 1))).sum(axis=2).astype(float)
    told = np.exp(sharp * (logits + 0.5 * rng.normal(size=(rounds, items, classes, n))))
    told /= told.sum(axis=2, keepdims=True)
    asleep = rng.random((*told.shape[:2], 1, n)) < 0.1
    asleep[..., 0] = False
    told[asleep.repeat(classes, axis=2)] = np.nan
    return told, y


def said_by(rows: Floats) -> dict[str, Any]:
    """Return the forecasts of a round, items x classes x experts, as users give them."""
    awake = {f"e{i}": rows[:, :, i] for i in range(rows.shape[2])}
    if len(rows) > 1:
        return {
            name: {f"i{k}": row.tolist() for k, row in enumerate(part) if not np.isnan(row).any()}
            for name, part in awake.items()
            if not np.isnan(part).all()
        }
    return {name: part[0] for name, part in awake.items() if not np.isnan(part).any()}


def outcome_of(outcomes: Floats) -> Any:
    if len(outcomes) > 1:
        return {f"i{k}": int(y) for k, y in enumerate(outcomes)}
    return int(outcomes[0])


def run(told: Floats, y: Floats, lag: int = 0, **options: Any) -> tuple[Floats, Mixture]:
    """Return the blend of each round, rounds x items x classes, and the mixture."""
    mixture, waiting, blends = Mixture(**options), deque[tuple[int, Any]](), []
    for rows, outcomes in zip(told, y, strict=True):
        made = mixture.predict(said_by(rows))
        kept = mixture.pending[made.ticket]
        blends.append(kept.values[np.argsort(kept.items), : rows.shape[1]])
        waiting.append((made.ticket, outcome_of(outcomes)))
        if len(waiting) > lag:
            mixture.update(*waiting.popleft())
    return np.array(blends), mixture


@pytest.mark.parametrize("loss", OF_CLASSES)
@pytest.mark.parametrize(("items", "lag"), [(1, 0), (1, 3), (3, 0), (3, 2)])
def test_all_that_is_said_is_what_the_oracle_says(loss: str, items: int, lag: int) -> None:
    told, y = forecasters(90, items=items, seed=3)
    y[40:60, -1] = np.nan if items > 1 else y[40:60, -1]
    hedger = Automatic()
    ways = hedger.components(LOSSES[loss]())
    plain = sum(way.hedger is None for way in ways)
    mixture, oracle = Mixture(loss=loss), Recalibrator(3, VALUES[loss])
    mixture.join([f"e{i}" for i in range(4)])
    waiting = deque[Any]()
    for t, (rows, outcomes) in enumerate(zip(told, y, strict=True)):
        made = mixture.predict(said_by(rows))
        kept = mixture.pending[made.ticket]
        values = (
            kept.values[:, 3:].reshape(items, 3, -1).transpose(0, 2, 1)
        )  # rows x places x classes
        insured = levels_of(mixture.live).insurance[0]
        pools = []
        for row, said in zip(kept.forecasts, values, strict=True):
            pool = next(k for k, way in enumerate(ways) if way.combine == "logarithmic")
            pools.append(logarithmic_pool(row, np.ones(4)))
            np.testing.assert_allclose(said[FIRST - 1 + pool], pools[-1], rtol=1e-9)
            expected = oracle.predict(said[BASE - 1], said[FIRST - 1 + pool])
            between = said[FOLLOWED - 1 : FIRST - 1]
            np.testing.assert_allclose(between, expected, rtol=1e-9, atol=1e-12)
        if items == 1:
            blocks = ledger_weights(ways, mixture.live.ledgers, 1)[0]
            for k, way in enumerate(ways[plain:]):
                if way.combine == "logarithmic" and not np.isnan(rows).any():
                    expected = logarithmic_pool(kept.forecasts[0], blocks[k])
                    np.testing.assert_allclose(
                        values[0, FIRST - 1 + plain + k], expected, rtol=1e-9
                    )
        count = values.shape[1] - (FOLLOWED - 1)
        if not np.isnan(values).any():
            weights = insured[:count] / insured[:count].sum()
            blend = np.einsum("k,jkc->jc", weights, values[:, FOLLOWED - 1 :])
            np.testing.assert_allclose(kept.values[:, :3], blend, rtol=1e-9, atol=1e-12)
        waiting.append((made.ticket, kept, values, np.array(pools), outcomes[kept.items], t))
        if len(waiting) > lag:
            ticket, kept, values, bases, known, made_at = waiting.popleft()
            names = [mixture.items[k] for k in kept.items]
            outcome = dict(zip(names, known.tolist(), strict=True)) if items > 1 else int(known[0])
            mixture.update(ticket, outcome)
            between = values[:, FOLLOWED - 1 : FIRST - 1]
            oracle.settle(kept.items.tolist(), between, bases, known, t - made_at)


@pytest.mark.parametrize("loss", OF_CLASSES)
def test_the_insurance_covers_pools_and_recalibrations(loss: str) -> None:
    """Its weights are AdaNormalHedge's over all that stands behind the blend."""
    told, y = forecasters(120, seed=4)
    hedger, kind = Automatic(), LOSSES[loss]()
    shares = hedger._shares(kind)
    count = len(hedger.components(kind))
    assert len(shares) == 2 + RECALIBRATIONS + 2 * count - 4
    oracle = Insurance(np.zeros(0), VALUES[loss])
    oracle.prior = shares[: 2 + RECALIBRATIONS + count]
    oracle.R = oracle.C = np.zeros(len(oracle.prior))
    mixture, item = Mixture(loss=loss), type("Item", (), {"largest": kind.width})()
    for rows, outcomes in zip(told, y, strict=True):
        made = mixture.predict(said_by(rows))
        kept = mixture.pending[made.ticket]
        parts = kept.values[0, 3:].reshape(3, -1).T[: FOLLOWED - 1 + len(oracle.prior)]
        values = np.concatenate([kept.values[:, :3], parts])[np.newaxis]
        mixture.update(made.ticket, int(outcomes[0]))
        oracle.settle(values, outcomes, [item], 0, Portion(), alone=True)
        weights = levels_of(mixture.live).insurance[0, : len(oracle.prior)]
        expected = oracle.weights(len(oracle.prior) - 1)
        np.testing.assert_allclose(weights / weights.sum(), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", OF_CLASSES)
@pytest.mark.parametrize("lag", [0, 4])
def test_no_outcome_breaks_the_bound(loss: str, lag: int) -> None:
    """The worst class for the blend, beside one of what stands behind it, in each round."""
    told, y = forecasters(250, seed=5, sharp=3.0)
    mixture, waiting = Mixture(loss=loss), deque[tuple[int, int, Floats]]()
    regrets, worst = np.zeros(1), 0.0
    for t, rows in enumerate(told):
        made = mixture.predict(said_by(rows))
        kept = mixture.pending[made.ticket].values[0]
        parts = kept[3:].reshape(3, -1).T[FOLLOWED - 1 :]
        leads = np.array(
            [
                VALUES[loss](kept[:3], c) - np.array([VALUES[loss](part, c) for part in parts])
                for c in range(3)
            ]
        )
        leads = np.nan_to_num(leads)
        # An enemy that prefers recalibrations, and after a while all that is behind the blend.
        target = leads[:, 2:4] if t < 125 else leads
        outcome = int(y[t, 0]) if t % 3 == 0 else int(target.max(axis=1).argmax())
        waiting.append((made.ticket, outcome, leads[outcome]))
        if len(waiting) > lag:
            ticket, outcome, lead = waiting.popleft()
            mixture.update(ticket, outcome)
            regrets = regrets + lead
            assert np.max(regrets) <= mixture.bound().regret + 1e-9
            worst = max(worst, float(np.max(regrets)))
    assert worst > 0.5  # the promise is put to the test
    shares = Automatic()._shares(LOSSES[loss]())
    levels = levels_of(mixture.live)
    np.testing.assert_allclose(levels.losses[0, : len(parts)], regrets[: len(shares)], atol=1e-6)
    if loss in CONVEX and not lag:
        grown = levels.excess[0, 0]
        clocks = levels.clocks[0]
        assert grown <= (0.5 * shares * (1.0 + np.log1p(clocks))).sum() + 1e-9


GAMES = {
    "three classes": (3, 4, 1),
    "two classes": (2, 3, 1),
    "one expert": (3, 1, 1),
    "fifty classes": (50, 3, 1),
    "items": (3, 4, 2),
}

each_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
each_loss = pytest.mark.parametrize("loss", ["log", "l1", "brier"])


@each_game
@each_loss
def test_the_order_of_the_experts_does_not_matter(game: tuple[int, int, int], loss: str) -> None:
    told, y = forecasters(80, *game, seed=6)
    one, _ = run(told, y, loss=loss)
    other, _ = run(told[..., ::-1], y, loss=loss)
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


@each_game
@each_loss
def test_permuted_classes_permute_the_blend(game: tuple[int, int, int], loss: str) -> None:
    told, y = forecasters(80, *game, seed=7)
    order = np.random.default_rng(8).permutation(game[0])
    one, _ = run(told, y, loss=loss)
    other, _ = run(told[:, :, order], np.argsort(order)[y.astype(int)].astype(float), loss=loss)
    np.testing.assert_allclose(one[:, :, order], other, rtol=1e-8, atol=1e-10)


@each_game
@each_loss
def test_the_blend_is_of_probabilities(game: tuple[int, int, int], loss: str) -> None:
    blends, mixture = run(*forecasters(80, *game, seed=9), loss=loss, lag=2)
    blends = blends[~np.isnan(blends).any(axis=2)]
    assert blends.min() >= 0.0
    np.testing.assert_allclose(blends.sum(axis=1), 1.0, rtol=1e-12)
    for name in STATE_FIELDS:
        assert np.isfinite(getattr(mixture.live, name)).all()


@each_loss
def test_certain_experts_are_harmless(loss: str) -> None:
    """Ones and zeros, contradictions, and outcomes that everybody excluded."""
    rng, told = np.random.default_rng(10), np.zeros((300, 1, 4, 3))
    for row in told[:, 0]:
        row[rng.integers(4, size=3) if rng.random() < 0.7 else [1, 1, 1], np.arange(3)] = 1.0
    y = rng.integers(4, size=(300, 1)).astype(float)
    blends, mixture = run(told, y, loss=loss)
    assert np.isfinite(blends).all()
    np.testing.assert_allclose(blends.sum(axis=2), 1.0)
    for name in STATE_FIELDS:
        assert np.isfinite(getattr(mixture.live, name)).all()
    assert mixture.bound().regret < 1e4
    # No expert rules a class out alone: the pool of one certain expert and two vague ones.
    pool = logarithmic_pool(np.array([[1.0, 0.5, 0.5], [0.0, 0.5, 0.5]]), np.ones(3))
    assert pool[1] > 0.005


@each_loss
@pytest.mark.parametrize("classes", [2, 3, 50])
def test_uniform_experts_stay_uniform(loss: str, classes: int) -> None:
    """While each class happens as often as the others; else shifts learn the base rates."""
    mixture, told = Mixture(loss=loss), {name: np.full(classes, 1.0 / classes) for name in "abc"}
    for t in range(4 * classes):
        made = mixture.predict(told)
        if t % classes == 0:  # within a cycle the shifts follow the latest classes
            np.testing.assert_allclose(made.value, 1.0 / classes, rtol=0.02)
        if t == 0:
            np.testing.assert_allclose(made.value, 1.0 / classes, rtol=1e-12)
        mixture.update(made.ticket, t % classes)
    inside = Mixture("auto:inside=true", loss=loss)
    for _ in range(20):
        made = inside.predict(told)
        np.testing.assert_allclose(made.value, 1.0 / classes, rtol=1e-12)
        inside.update(made.ticket, 0)


def test_experts_without_an_outcome_say_what_they_said() -> None:
    made = Mixture(loss="log").predict({"a": [0.5, 0.5, 0.0], "b": [0.5, 0.5, 0.0]})
    np.testing.assert_allclose(made.value, [0.5, 0.5, 0.0], atol=1e-5)


def log_loss(blends: Floats, y: Floats) -> float:
    return float(-np.log(blends[np.arange(len(y)), 0, y[:, 0].astype(int)]).mean())


def evidence(rounds: int, n: int, seed: int) -> tuple[Floats, Floats]:
    """Return calibrated experts who see independent signals, and outcomes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=(rounds, 1)).astype(float)
    signals = rng.normal(size=(rounds, 1, 3, n)) + 0.8 * np.eye(3)[y.astype(int)][..., np.newaxis]
    return np.apply_along_axis(softmax, 2, 0.8 * signals), y


def test_what_it_is_for() -> None:
    """Overconfident and underconfident experts, and experts who know different things."""
    for forecasts, y, gain in (
        (*forecasters(500, seed=11, sharp=2.5), 0.95),
        (*forecasters(500, seed=11, sharp=0.4), 0.97),
        (*evidence(500, 5, 12), 0.85),
    ):
        told = np.nan_to_num(forecasts, nan=1.0 / 3.0)
        new, old = (run(told, y, loss="log", hedger=h)[0] for h in ("auto", "auto:inside=true"))
        assert log_loss(new, y) < gain * log_loss(old, y)
    told, y = forecasters(500, seed=13, sharp=1.0)  # of calibrated experts nothing is lost
    told = np.nan_to_num(told, nan=1.0 / 3.0)
    new, old = (run(told, y, loss="log", hedger=h)[0] for h in ("auto", "auto:inside=true"))
    assert log_loss(new, y) < 1.005 * log_loss(old, y)


def test_inside_has_the_components_of_before() -> None:
    for loss in OF_CLASSES:
        ways = Automatic(inside=True).components(LOSSES[loss]())
        assert all(way.combine in {"mean", "median", "trimmed"} for way in ways)
        assert sum(way.prior for way in ways) == pytest.approx(1.0)
        more = Automatic().components(LOSSES[loss]())
        assert {way.name for way in ways} < {way.name for way in more}
        assert sum(way.prior for way in more) == pytest.approx(1.0)
        assert "recalibrations" in Mixture(loss=loss).live.parts
    told, y = forecasters(60, seed=14)
    blends, mixture = run(told, y, loss="log", hedger="auto:inside=true")
    low, high = np.nanmin(told, axis=3), np.nanmax(told, axis=3)
    assert ((low - 1e-9 <= blends) & (blends <= high + 1e-9)).all()
    assert not mixture.live.recalibrations.size


def test_a_mixture_goes_on_from_its_file(tmp_path: Path) -> None:
    told, y = forecasters(60, seed=15, items=2)
    _, mixture = run(told[:40], y[:40], loss="log", lag=2)
    mixture.save(tmp_path / "state.json")
    again = Mixture.load(tmp_path / "state.json")
    for rows, outcomes in zip(told[40:], y[40:], strict=True):
        pair = [one.predict(said_by(rows)) for one in (mixture, again)]
        assert pair[0].value == pair[1].value
        for one, made in zip((mixture, again), pair, strict=True):
            one.update(made.ticket, outcome_of(outcomes))
    assert mixture.live.classes == again.live.classes == ["0", "1", "2"]


def test_a_file_of_before_goes_on_without(tmp_path: Path) -> None:
    """The file is of version 5, which had no recalibrations; so are the numbers of its blend."""
    mixture = Mixture.load(Path(__file__).parents[1] / "data" / "mixture-5-classes.json")
    assert mixture.settings.hedger == Automatic(inside=True)
    for t in range(5):
        said = {
            name: {"x": [0.2, 0.3, 0.5], "y": [0.1 * (1 + k), 0.4, 0.5 - 0.1 * k]}
            for k, name in enumerate("abc")
        }
        made = mixture.predict(said)
        mixture.update(made.ticket, {"x": t % 3, "y": 1})
    expected = [0.19961439338255593, 0.4, 0.4003856066174441]
    np.testing.assert_allclose(made.value["y"], expected, rtol=1e-9)
    mixture.save(tmp_path / "state.json")
    assert Mixture.load(tmp_path / "state.json").settings.hedger == Automatic(inside=True)


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        (lambda f: f.update(classes=["a", "a", "b"]), "classes must be different words"),
        (lambda f: f.update(classes=[1, 2, 3]), "classes must be"),
        (lambda f: f.update(recalibrations=f["equation_rows"]), "recalibrations must have shape"),
        (lambda f: f.pop("recalibrations"), "'recalibrations' is missing"),
    ],
)
def test_a_file_that_was_edited_is_refused(
    edit: Callable[[dict[str, Any]], object], word: str, tmp_path: Path
) -> None:
    _, mixture = run(*forecasters(20, seed=16), loss="log")
    path = tmp_path / "state.json"
    mixture.save(path)
    content = json.loads(path.read_text())
    del content["checksum"]
    edit(content)
    path.write_text(sealed(content))
    with pytest.raises(ValueError, match=word):
        Mixture.load(path)


def test_classes_may_become_more() -> None:
    mixture = Mixture(loss="brier")
    for classes in (2, 5, 3, 5):
        for t in range(20):
            made = mixture.predict(
                {"a": np.eye(classes)[t % classes], "b": np.ones(classes) / classes}
            )
            mixture.update(made.ticket, t % classes)
            assert sum(made.value) == pytest.approx(1.0)
    assert mixture.live.recalibrations.shape == (1, 2 * RECALIBRATIONS, 5)
