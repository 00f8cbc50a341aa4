"""Corrections of the default blend: an oracle, and what they promise."""

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normalhedge import Mixture
from tests.corrections_oracle import MEMBERS, Corrections
from tests.mixtures.automatic_examples import experts

SLOPES = {"square": lambda x, y: 2.0 * (x - y), "absolute": lambda x, y: float(np.sign(x - y))}
TARGETS = {"square": 4.0, "absolute": 1.5}
BASE, FIRST, MEDIAN, MEAN = 4, 5, 8 + MEMBERS, 10 + MEMBERS
"""The places of the base, of the first correction and of plain ones in a row of values."""


@pytest.mark.parametrize("loss", SLOPES)
@pytest.mark.parametrize(
    ("items", "lag", "late", "begins", "count"),
    [
        (1, 0, 0, (0,), 5),
        (1, 4, 2, (0,), 5),
        (3, 0, 0, (0, 0, 0), 5),
        (3, 3, 1, (0, 20, 60), 5),
        (1, 2, 0, (0,), 70),
        (2, 0, 0, (0, 0), 70),
    ],
)
def test_corrections_are_those_of_the_oracle(
    loss: str, items: int, lag: int, late: int, begins: tuple[int, ...], count: int
) -> None:
    forecasts, y = experts(120, 7, items=items, n=count, wild=0.02)
    forecasts += 2.0  # all of them share a bias
    names = [f"e{i}" for i in range(count)]
    mixture = Mixture("auto", loss=loss)
    oracle = Corrections(count - late, TARGETS[loss], SLOPES[loss])
    waiting = deque[Any]()
    for t in range(120):
        if t == 40 and late:
            oracle.join(late)
        n = count if t >= 40 else count - late
        present = [k for k in range(items) if t >= begins[k]]
        rows = {k: forecasts[t, k, :n] for k in present}
        said = {
            names[i]: {f"item {k}": rows[k][i] for k in present if not np.isnan(rows[k][i])}
            for i in range(n)
        }
        made = mixture.predict(said) if items > 1 else mixture.predict(
            {names[i]: rows[0][i] for i in range(n)}
        )  # fmt: skip
        pending = mixture.pending[made.ticket]
        if items > 1:  # in the order of the rows, and without items that nobody forecast
            present = [int(str(key).split()[1]) for key in pending.keys or ()]
        oracle.begin(present)
        values = []
        for k, value in zip(present, pending.values, strict=True):
            if np.isnan(value[0]):
                values.append((np.zeros(0), *(np.nan,) * 5, (0.0, 0.0)))
                continue
            errors = oracle.tracks[k].mean_error, oracle.tracks[k].last_error
            plain = value[MEDIAN], value[MEAN]
            corrected, chosen, best = oracle.predict(k, rows[k], value[BASE], *plain)
            own = [
                *value[FIRST : FIRST + MEMBERS],
                *(value[-3 - MEMBERS : -3] if len(oracle.games) else ()),
            ]
            np.testing.assert_allclose(own, corrected, rtol=1e-7, atol=1e-7)
            np.testing.assert_allclose(value[[BASE - 1, -1]], [chosen, best], rtol=1e-7, atol=1e-7)
            chosen = float(value[BASE - 1])
            values.append((np.array(own), chosen, value[BASE], *plain, value[-1], errors))
        waiting.append((made.ticket, t, present, np.array([rows[k] for k in present]), values))
        if len(waiting) > lag:
            ticket, s, then, told, old = waiting.popleft()
            outcomes = np.array([y[s, k] for k in then])
            told = np.pad(told, ((0, 0), (0, n - told.shape[1])), constant_values=np.nan)
            oracle.update(then, told, old, outcomes, t - s)
            mixture.update(
                ticket, {f"item {k}": y[s, k] for k in then} if items > 1 else y[s, 0]
            )  # fmt: skip


def play(mixture: Mixture, forecasts: np.ndarray, y: np.ndarray, lag: int = 0) -> np.ndarray:
    """Return the blend of each round; outcomes come so many rounds late."""
    values, tickets = [], []
    for t, row in enumerate(forecasts):
        made = mixture.predict({f"e{i}": x for i, x in enumerate(row.tolist())})
        values.append(made.value)
        tickets.append(made.ticket)
        if t >= lag:
            mixture.update(tickets[t - lag], float(y[t - lag]))
    return np.array(values)


def biased(rounds: int, bias: float, scale: float, n: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Return forecasts that share a bias and a slope, and the outcomes."""
    rng = np.random.default_rng(3)
    y = 20.0 + 5.0 * np.sin(np.arange(rounds) / 9.0) + rng.normal(size=rounds)
    return scale * y[:, np.newaxis] + bias + rng.normal(size=(rounds, n)), y


@pytest.mark.parametrize("loss", ["square", "absolute", "huber:delta=1"])
@pytest.mark.parametrize("lag", [0, 7])
@pytest.mark.parametrize(("bias", "scale"), [(2.0, 1.0), (-10.0, 1.4)])
def test_a_shared_bias_and_a_shared_scale_are_corrected(
    loss: str, lag: int, bias: float, scale: float
) -> None:
    forecasts, y = biased(400, bias, scale)
    errors = {
        rule: np.abs(play(Mixture(rule, loss), forecasts, y, lag) - y)[200:].mean()
        for rule in ("auto", "auto:inside=true")
    }
    assert errors["auto"] < 0.5 * errors["auto:inside=true"]


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_corrections_have_no_unit(unit: float) -> None:
    forecasts, y = biased(120, 3.0, 1.1)
    plain = play(Mixture(), forecasts, y)
    np.testing.assert_allclose(play(Mixture(), unit * forecasts, unit * y) / unit, plain, rtol=1e-6)


def test_experts_without_a_shared_bias_lose_little() -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=600).cumsum()
    forecasts = y[:, np.newaxis] + rng.normal(size=(600, 5))
    losses = {
        rule: np.square(play(Mixture(rule), forecasts, y) - y).mean()
        for rule in ("auto", "auto:inside=true")
    }
    assert losses["auto"] < 1.03 * losses["auto:inside=true"]


@pytest.mark.parametrize("wild", [0, 1, 3])
def test_one_wild_outcome_in_the_beginning_does_little_harm(wild: int) -> None:
    forecasts, y = biased(60, 0.0, 1.0)
    y[wild] = 1e6
    values = {rule: play(Mixture(rule), forecasts, y) for rule in ("auto", "auto:inside=true")}
    errors = {rule: np.abs(found - y)[wild + 1 :] for rule, found in values.items()}
    assert errors["auto"].max() < 20.0
    assert errors["auto"].mean() < 1.2 * errors["auto:inside=true"].mean()


@pytest.mark.parametrize("hedger", ["auto", "auto:guard=false"])
@pytest.mark.parametrize("seed", [6, 7, 8])
def test_a_blend_of_amounts_is_never_negative(hedger: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.maximum(rng.normal(0.2, 1.0, 300), 0.0)  # rain: often none
    forecasts = y[:, np.newaxis] + np.abs(rng.normal(1.0, 0.5, (300, 4)))
    values = play(Mixture(hedger), forecasts, y)
    assert (values >= 0.0).all()
    assert values[100:].mean() < forecasts[100:].mean() - 0.5


@pytest.mark.parametrize("loss", ["square", "absolute", "huber:delta=1"])
@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-160, 1e-140])
def test_numbers_whose_squares_vanish(unit: float, loss: str, tmp_path: Path) -> None:
    """All that is learned stays finite, so that the file can be read, and the bias is corrected."""
    forecasts, y = biased(120, 3.0, 1.1)
    mixture = Mixture(loss=loss)
    values = play(mixture, unit * forecasts, unit * y)
    linear = mixture.bound().linear
    assert linear is None or np.isfinite([linear.regret, linear.ridge]).all()
    mixture.save(tmp_path / "state.json")
    assert str(Mixture.load(tmp_path / "state.json").summary()) == str(mixture.summary())
    if loss == "absolute" and unit > 1e-290:  # other losses are all zero
        assert np.abs(values[60:] / unit - y[60:]).mean() < 0.5 * 3.0


HOSTILE: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "identical": lambda rng: np.repeat(rng.normal(size=(150, 1)), 4, axis=1),
    "constant": lambda _: np.full((150, 4), 7.0),
    "enormous": lambda rng: rng.normal(size=(150, 4)) * 10.0 ** rng.integers(-90, 90, (150, 4)),
    "one is a copy": lambda rng: rng.normal(size=(150, 3))[:, [0, 1, 2, 2]],
    "zero": lambda _: np.zeros((150, 4)),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_hostile_forecasts_stay_finite_and_harmless(kind: str, loss: str) -> None:
    rng = np.random.default_rng(7)
    forecasts, y = HOSTILE[kind](rng), rng.normal(size=150)
    mixture = Mixture("auto", loss)
    values = play(mixture, forecasts, y)
    assert np.isfinite(values).all()
    assert np.isfinite(mixture.bound().regret)
    for name in ("equation_rows", "equation_squares", "totals", "ranges"):
        assert np.isfinite(getattr(mixture.live, name)).all()
    if kind != "enormous":
        inside = play(Mixture("auto:inside=true", loss), forecasts, y)
        power = 2.0 if loss == "square" else 1.0
        own, others = (np.mean(np.abs(v - y) ** power) for v in (values, inside))
        assert own < 1.05 * others


def test_three_forecasts_stand_for_many_experts() -> None:
    forecasts, y = biased(120, 2.0, 1.0, n=70)
    mixture = Mixture()
    errors = []
    for t, row in enumerate(forecasts):
        count = 60 if t < 40 else 70 if t < 80 else 50
        made = mixture.predict({f"e{i}": x for i, x in enumerate(row[:count].tolist())})
        errors.append(made.value - y[t])
        mixture.update(made.ticket, float(y[t]))
        if t == 79:
            assert mixture.live.equation_squares.shape[-1] == 7
            for i in range(50, 70):
                mixture.leave(f"e{i}")
    assert mixture.live.equation_squares.shape[-1] == 54
    assert abs(np.mean(errors[60:])) < 0.5


def test_a_correction_begins_anew_where_others_stand_for_its_experts() -> None:
    """What was learned of experts is not taken for knowledge of the mean, and the reverse."""
    forecasts, y = biased(90, 2.0, 1.0, n=70)
    mixture = Mixture()

    def learned() -> np.ndarray:
        return np.asarray(np.abs(mixture.live.equation_squares[:, 1:, 4:]).max(axis=(0, 1, 3)))

    play(mixture, forecasts[:60, :64], y[:60])
    assert (learned() > 0.0).all()
    mixture.join([f"e{i}" for i in range(64, 70)])
    assert learned().tolist() == [0.0] * 3
    play(mixture, forecasts[60:], y[60:])
    assert (learned() > 0.0).all()
    for i in range(64, 70):
        mixture.leave(f"e{i}")
    assert learned().tolist() == [0.0] * 64


def test_the_best_of_many_experts_is_found() -> None:
    rng = np.random.default_rng(8)
    y = rng.normal(size=300).cumsum()
    forecasts = y[:, np.newaxis] + rng.normal(size=(300, 100)) * 10.0
    forecasts[:, 41] = y + 0.1 * rng.normal(size=300)
    mixture = Mixture()
    values = play(mixture, forecasts, y)
    best = mixture.history[-1].round.values[0, -1]
    assert abs(best - forecasts[-1, 41]) < 0.1
    assert np.abs(values - y)[150:].mean() < 0.3


def test_the_bound_covers_corrections() -> None:
    forecasts, y = biased(200, 2.0, 1.0)
    mixture, places = Mixture(), range(BASE, FIRST + MEMBERS)
    regrets = np.zeros(len(places))
    for row, outcome in zip(forecasts, y.tolist(), strict=True):
        made = mixture.predict({f"e{i}": x for i, x in enumerate(row.tolist())})
        value = mixture.pending[made.ticket].values[0]
        regrets += (value[0] - outcome) ** 2 - (value[list(places)] - outcome) ** 2
        mixture.update(made.ticket, outcome)
    assert regrets.max() <= mixture.bound().regret


def test_inside_is_a_setting_of_the_rule() -> None:
    with pytest.raises(TypeError, match="inside must be true or false, got 1"):
        Mixture("auto:inside=1")
    assert "within the forecasts" in str(Mixture("auto:inside=true").summary())
    forecasts, y = biased(120, 2.0, 1.0)
    mixture = Mixture()
    play(mixture, forecasts, y)
    assert "corrections moved the last forecasts by -1" in str(mixture.summary())
