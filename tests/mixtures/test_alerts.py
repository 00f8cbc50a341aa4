"""Alerts: models that get worse, that stop, and copies; and how often an alarm is false."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures.alerts import Alert, _degradation as degradation
from normalhedge.mixtures.alerts._degradation import first_alarms, scores_of

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


def slow_alarm(scores: np.ndarray, n: int) -> int | None:
    """The equations of `_degradation`, written out for the scores of one model of n."""
    value = [0.0, 0.0, 0.0]
    for t in range(len(scores)):
        past = scores[: max(t - degradation.DELAY, 0)]
        if len(past) < degradation.BEGIN:
            continue
        mean, spread = past.mean(), ((past - past.mean()) ** 2).sum()
        running = [past[:k].mean() for k in range(1, len(past) + 1)]
        # The products of neighbours, each with the means at the time.
        product = sum(
            (past[k] - running[k - 1]) * (past[k - 1] - running[k]) for k in range(1, len(past))
        )
        same = product / spread
        same = min(max(same + (1 + 3 * same) / len(past), 0.0), degradation.LARGEST)
        error = np.sqrt(spread / len(past) / len(past) * (1 + same) / (1 - same))
        gap = mean + same * (scores[t - 1] - mean) + degradation.MARGIN * error
        gap = min(max(gap, -0.9), 1.0)
        for k, share in enumerate((0.2, 0.5, 0.9)):
            value[k] = (value[k] + 1.0) * (1.0 + share * (scores[t] - gap) / (1.0 + gap))
        if np.mean(value) >= degradation.ROUNDS * n / degradation.RATE:
            return t
    return None


def test_alarms_follow_the_equations() -> None:
    rng = np.random.default_rng(2)
    raised = 0
    for seed in range(4):
        errors = autoregression(np.random.default_rng(seed), 260, 5, 0.3)
        errors[120:, 0] *= 9.0
        scores = scores_of(errors**2)
        alarms = first_alarms(scores)
        for k in range(5):
            wanted = slow_alarm(scores[:, k], 5)
            assert (alarms[k] or (None, None))[1] == wanted
            raised += wanted is not None
        holes = rng.random(len(scores)) < 0.3  # a model that sleeps has its own count
        scores[holes, 0] = np.nan
        awake = np.flatnonzero(~holes)
        wanted = slow_alarm(scores[awake, 0], 5)
        assert (first_alarms(scores)[0] or (None, None))[1] == (
            None if wanted is None else awake[wanted]
        )
    assert raised >= 3


@pytest.mark.parametrize(
    ("same", "drift", "limit"), [(0.0, 0.0, 0.01), (0.5, 1.0, 0.02), (0.8, 0.0, 0.04)]
)
def test_false_alarms_are_as_rare_as_stated(
    same: float, drift: float, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 panels of five models, 1,000 rounds each, looked at as a live mixture is."""
    rng, panels, n = np.random.default_rng(0), 200, 5
    errors = autoregression(rng, 1150, panels * n, same)
    errors *= np.exp(drift * autoregression(rng, 1150, panels * n, same))
    losses = errors.reshape(1150, panels, n) ** 2
    scores = np.concatenate([scores_of(losses[:, k]) for k in range(panels)], axis=1)
    monkeypatch.setattr(degradation, "ROUNDS", degradation.ROUNDS / panels)  # n models each
    alarmed = np.zeros(panels, dtype=bool)
    for start in range(0, 1000, 50):
        alarms = first_alarms(scores[start : start + 200])
        alarmed |= np.array([a is not None for a in alarms]).reshape(panels, n).any(axis=1)
    assert alarmed.mean() <= limit


def test_values_of_bets_have_the_mean_of_the_equation() -> None:
    """Without a margin, and with a mean that is known, M_t - t has the mean 0."""
    rng = np.random.default_rng(1)
    scores, share, mean = rng.uniform(-1, 1, size=(30, 200_000)), 0.5, 0.0
    value = np.zeros(200_000)
    for score in scores:
        value = (value + 1.0) * (1.0 + share * (score - mean) / (1.0 + mean))
    assert value.mean() == pytest.approx(30.0, rel=0.02)


@pytest.mark.parametrize("hedger", [None, "squint"])
def test_a_model_whose_error_grows_from_5_to_40(hedger: str | None) -> None:
    def spread(name: str, t: int) -> float:
        return 40.0 if name == "naive" and t >= 220 else 5.0

    mixture = played(300, spread, hedger=hedger)
    (alert,) = mixture.alerts()
    assert kinds((alert,)) == [("degraded", "naive")]
    assert abs(alert.since - 220) <= 6
    assert "false alarms: at most 1% in 1,000 rounds" in alert.text
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
