"""Alerts: models that get worse, that stop, and copies; and how often an alarm is false."""

import json
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures.alerts import Alert, _degradation as degradation
from normalhedge.mixtures.alerts._degradation import first_alarms, innovations, scores_of

MODELS = ("gam", "ar", "naive", "tbats")


def autoregression(rng: np.random.Generator, rounds: int, n: int, same: float) -> np.ndarray:
    """Return errors with variance 1 whose neighbours have this correlation."""
    errors = rng.normal(size=(rounds, n))
    for t in range(1, rounds):
        errors[t] = same * errors[t - 1] + np.sqrt(1.0 - same**2) * errors[t]
    return errors


def played(rounds: int, spread: Any, *, hedger: str | None = "squint", seed: int = 0) -> Mixture:
    """Return a mixture; ``spread`` tells the error of a model in a round, None if it sleeps."""
    mixture, rng = Mixture(hedger), np.random.default_rng(seed)
    for t in range(rounds):
        y = rng.normal()
        noise = rng.normal(size=len(MODELS))
        said = {}
        for name, error in zip(MODELS, noise, strict=True):
            size = spread(name, t)
            said[name] = None if size is None else y + size * error
        mixture.update(mixture.predict(said).ticket, float(y))
    return mixture


def kinds(alerts: tuple[Alert, ...]) -> list[tuple[str, str]]:
    return [(alert.kind, alert.expert) for alert in alerts]


def test_scores_compare_a_loss_with_the_middle_of_the_others() -> None:
    rng = np.random.default_rng(0)
    for n in (2, 3, 4, 7):
        losses = rng.exponential(size=(50, n))
        losses[rng.random(losses.shape) < 0.2] = np.nan
        losses[rng.random(losses.shape) < 0.1] = 0.0
        scores = scores_of(losses)
        for t, k in np.ndindex(losses.shape):
            others = np.delete(losses[t], k)
            own, others = losses[t, k], others[~np.isnan(others)]
            if np.isnan(own) or not len(others):
                assert np.isnan(scores[t, k])
                continue
            middle = np.median(others)
            size = own + middle
            expected = (own - middle) / size if size else 0.0
            assert scores[t, k] == pytest.approx(expected)


def normal_score(score: Any, past: np.ndarray) -> float:
    share = ((past < score).sum() + 0.5 * (past == score).sum() + 0.5) / (len(past) + 1)
    steps = degradation.STEPS
    return NormalDist().inv_cdf((min(int(share * steps), steps - 1) + 0.5) / steps)


def correlation(z: np.ndarray, first: int, t: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the past of a score less its mean, and each value with the one before."""
    past = np.arange(max(first, t - degradation.KEPT), t - degradation.DELAY)
    mean = z[past].mean()
    return z[past] - mean, np.array([z[s - 1] - mean if s else -mean for s in past])


def slow_innovations(scores: np.ndarray) -> np.ndarray:
    """The equations of `_degradation`, written out for models that are always awake."""
    first, delay, batch = degradation.FIRST, degradation.DELAY, degradation.BATCH
    rounds, n = scores.shape
    z, result = np.zeros((rounds, n)), np.full((rounds, n), np.nan)
    for t, k in np.ndindex(rounds, n):
        if t >= first:
            past = np.arange(max(t - degradation.KEPT, 0), max(t - delay, 0))
            past = past if t >= delay + first else np.arange(first)
            z[t, k] = normal_score(scores[t, k], scores[past, k])
    for t in range(delay + degradation.BEGIN, rounds):
        pairs = [correlation(z[:, k], first, t) for k in range(n)]
        m = len(pairs[0][0])
        same = np.array([(now * before).mean() / (now**2).mean() for now, before in pairs])
        same += (1 + 3 * same) / m
        common = same.mean()
        same += degradation.ERRORS * np.sqrt(np.maximum(1 - same**2, 0.05) / m)
        same = np.maximum(same, common + np.sqrt(max(1 - common**2, 0.05) / m / n)).clip(0, 0.97)
        for k, (now, before) in enumerate(pairs):
            parts = now - same[k] * before
            mean = z[max(first, t - degradation.KEPT) : t - delay, k].mean()
            start = max(first, t - degradation.KEPT) + batch
            sums = [
                z[s - batch + 1 : s + 1, k].sum()
                - batch * mean
                - same[k] * (z[max(s - batch, first) : s, k].sum() - batch * mean)
                for s in range(start, t - delay)
            ]
            spread = np.mean(parts**2)
            long = max(
                1.0,
                np.mean(np.square(sums))
                / batch
                / spread
                * (1 + 3 * same[k] * np.sqrt(2 * batch / m)),
            )
            longer = (1 + same[k]) / (1 - same[k])
            if m >= degradation.ENOUGH * longer * long:
                size = np.sqrt(max(1 - same[k] ** 2, spread) * long)
                margin = (longer - 0.5) / np.sqrt(m)
                result[t, k] = (z[t, k] - same[k] * z[t - 1, k]) / size - margin
    return result


def slow_alarm(innovations: np.ndarray, n: int) -> int | None:
    value = [0.0, 0.0, 0.0]
    for t, gain in enumerate(innovations):
        if np.isnan(gain):
            continue
        for k, size in enumerate((0.5, 1.0, 2.0)):
            value[k] = (value[k] + 1.0) * np.exp(size * gain - size**2 / 2)
        if np.mean(value) >= degradation.ROUNDS * n / degradation.RATE:
            return t
    return None


def test_alarms_follow_the_equations() -> None:
    raised = 0
    for seed in range(2):
        errors = autoregression(np.random.default_rng(seed), 320, 5, 0.3)
        errors[180:, 0] *= 9.0
        scores = scores_of(errors**2)
        wanted = slow_innovations(scores)
        np.testing.assert_allclose(innovations(scores), wanted, atol=1e-9)
        for k, alarm in enumerate(first_alarms(scores)):
            expected = slow_alarm(wanted[:, k], 5)
            assert (alarm or (None, None))[1] == expected
            raised += expected is not None
    assert raised >= 2


def test_a_model_that_sleeps_has_its_own_count() -> None:
    errors = autoregression(np.random.default_rng(1), 400, 2, 0.0)
    scores = scores_of(errors**2)
    holes = np.random.default_rng(2).random(400) < 0.3
    asleep = np.where(holes[:, np.newaxis], np.nan, scores)
    np.testing.assert_array_equal(innovations(asleep)[~holes], innovations(scores[~holes]))
    assert np.isnan(innovations(asleep)[holes]).all()


def false_alarms(losses: np.ndarray) -> float:
    """Return the share of panels with an alarm, looked at as live mixtures are.

    ``losses`` are 1,150 rounds x panels x models.
    """
    panels = losses.shape[1]
    scores = np.stack([scores_of(losses[:, k]) for k in range(panels)])
    alarmed = np.zeros(panels, dtype=bool)
    for start in range(0, 1000, 50):
        for k in np.flatnonzero(~alarmed):
            alarmed[k] = any(first_alarms(scores[k, start : start + 200]))
    return float(alarmed.mean())


PANELS = 400


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize(
    ("same", "drift"), [(0.0, 0.0), (0.5, 1.0), (0.8, 0.0), (0.8, 1.0), (0.9, 0.5)]
)
def test_false_alarms_are_as_rare_as_stated(same: float, drift: float, n: int) -> None:
    """Errors with this autocorrelation, whose logarithmic size drifts as slowly."""
    rng = np.random.default_rng(0)
    errors = autoregression(rng, 1150, PANELS * n, same)
    errors *= np.exp(drift * autoregression(rng, 1150, PANELS * n, same))
    rate = false_alarms(errors.reshape(1150, PANELS, n) ** 2)
    assert rate <= degradation.RATE + 2.0 * np.sqrt(degradation.RATE / PANELS)


def test_autocorrelation_of_08_is_no_alarm() -> None:
    """The short form of the slow test; 30 panels of five models."""
    rng, n = np.random.default_rng(3), 5
    errors = autoregression(rng, 1150, 30 * n, 0.8) * np.exp(autoregression(rng, 1150, 30 * n, 0.8))
    assert false_alarms(errors.reshape(1150, 30, n) ** 2) <= 1 / 30


@pytest.mark.parametrize(("fold", "least", "delay"), [(8.0, 0.95, 22), (3.0, 0.75, 55)])
def test_worse_models_are_found(fold: float, least: float, delay: int) -> None:
    """The first of five models gets worse after 150 rounds; 40 panels."""
    rng, rounds = np.random.default_rng(5), []
    for _ in range(40):
        errors = rng.normal(size=(250, 5))
        errors[150:, 0] *= fold
        alarm = first_alarms(scores_of(errors**2))[0]
        if alarm is not None:
            assert alarm[1] >= 150
            rounds.append(alarm[1] - 150)
    assert len(rounds) >= least * 40
    assert np.median(rounds) <= delay


@pytest.mark.parametrize("hedger", [None, "squint"])
def test_a_model_whose_error_grows_from_5_to_40(hedger: str | None) -> None:
    def spread(name: str, t: int) -> float:
        return 40.0 if name == "naive" and t >= 220 else 5.0

    mixture = played(300, spread, hedger=hedger)
    (alert,) = mixture.alerts()
    assert kinds((alert,)) == [("degraded", "naive")]
    assert abs(alert.since - 220) <= 6
    assert "false alarms: at most 1% in 1,000 independent rounds" in alert.text
    assert f"Alert: {alert.text}." in str(mixture.summary())
    assert alert.text in mixture.summary()._repr_html_()
    assert json.loads(json.dumps(alert.to_plain()))["since"] == alert.since


def test_hard_times_for_all_and_steady_models_are_no_alarm() -> None:
    assert played(300, lambda _, t: 40.0 if t >= 200 else 5.0).alerts() == ()
    assert played(300, lambda name, _: 1.0 + MODELS.index(name)).alerts() == ()


def test_a_model_that_recovers_is_no_alarm() -> None:
    def spread(name: str, t: int) -> float:
        return 40.0 if name == "naive" and 200 <= t < 240 else 5.0

    assert kinds(played(240, spread).alerts()) == [("degraded", "naive")]
    assert played(285, spread).alerts() == ()


def test_a_model_that_stops() -> None:
    def stops(name: str, t: int) -> float | None:
        return None if name == "gam" and t >= 90 else 1.0

    mixture = played(100, stops)
    (alert,) = mixture.alerts()
    assert (alert.kind, alert.expert, alert.since) == ("stopped", "gam", 90)
    assert "no forecast in 10 rounds; it never missed one" in alert.text
    assert played(94, stops).alerts() == ()
    assert kinds(played(400, stops).alerts()) == [("stopped", "gam")]  # longer than the history
    mixture.retire("gam")
    assert mixture.alerts() == ()


def test_a_model_that_often_sleeps_has_another_habit() -> None:
    def weekly(name: str, t: int) -> float | None:
        return None if name == "gam" and (t % 7 or t > 100) else 1.0

    assert played(120, weekly).alerts() == ()
    assert kinds(played(140, weekly).alerts()) == [("stopped", "gam")]


def test_a_copy() -> None:
    mixture, rng = Mixture("squint"), np.random.default_rng(0)
    for t in range(60):
        a, b = rng.normal(size=2).tolist()
        said = {"a": a, "b": b, "twin": a if t != 7 else a + 1e-13, "zero": 0.0, "nought": 0.0}
        mixture.update(mixture.predict(said).ticket, 0.0)
    (alert,) = mixture.alerts()  # constants are equal, and no copies
    assert (alert.kind, alert.expert, alert.other) == ("copy", "twin", "a")
    assert alert.text == "twin repeats a: equal in 100% of 60 rows"


def test_alerts_of_a_table_and_of_a_mixture_without_history() -> None:
    rng, rounds = np.random.default_rng(0), 500
    y = rng.normal(size=rounds)
    table = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=rounds), "y": y})
    for name in MODELS:
        table[name] = y + rng.normal(size=rounds)
    table.loc[300:, "ar"] += 8.0 * rng.normal(size=200)
    result = blend(table, "y", time="day")
    (alert,) = result.alerts()
    assert (alert.kind, alert.expert) == ("degraded", "ar")
    assert "2024-10-24" <= alert.since <= "2024-11-01"
    assert result.summary().alerts == (alert,)
    assert Mixture().alerts() == ()
    assert result.mixture.alerts() == ()  # it has no history
    series = pd.concat([table.assign(s="a"), table.assign(s="b")])
    assert kinds(blend(series, "y", by="s", time="day").alerts()) == [("degraded", "ar")]
    numbered = blend(table.drop(columns="day"), "y").alerts()
    assert abs(numbered[0].since - 300) < 6


@pytest.mark.parametrize("loss", ["log", "zero-one", "log-wealth", "crps:levels=0.1/0.5/0.9"])
def test_losses_of_all_kinds_can_be_watched(loss: str) -> None:
    mixture, rng = Mixture(loss=loss), np.random.default_rng(0)
    for _ in range(120):
        said: dict[str, Any] = {name: float(rng.integers(1, 3)) for name in MODELS}
        if loss == "log":
            said = {name: rng.dirichlet([1, 1]).tolist() for name in MODELS}
        if loss.startswith("crps"):
            said = {name: np.sort(rng.normal(size=3)).tolist() for name in MODELS}
        mixture.update(mixture.predict(said).ticket, 1)
    assert mixture.alerts() == ()
    assert str(mixture.explain())
