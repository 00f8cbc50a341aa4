"""Theorem L: the regret of the default blend to linear combinations of the forecasts."""

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge._core import STEADY_CORRECTION, STEADY_RIDGE
from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees import LinearBound
from normalhedge.mixtures.rules import part_of
from normalhedge.mixtures.rules._insurance import _excess
from tests.corrections_oracle import add_error

ROUNDS, EXPERTS, BASE = 300, 4, 4


def forecasts_of(kind: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return forecasts, and outcomes that a linear combination explains better than any expert."""
    y = np.cumsum(rng.normal(size=ROUNDS)) + 10.0
    noise = rng.normal(size=(ROUNDS, EXPERTS))
    x = y[:, np.newaxis] + noise @ rng.normal(size=(EXPERTS, EXPERTS))
    if kind == "the unit jumps":
        x[ROUNDS // 2 :] *= 1e3
        y[ROUNDS // 2 :] *= 1e3
    if kind == "wild outcomes":
        y[::17] += 40.0 * rng.normal(size=len(y[::17]))
    if kind == "outcomes against the blend":
        y[:] = np.nan
    return x, y


def play(kind: str, lag: int) -> tuple[Mixture, Floats, Floats, Floats, Floats]:
    """Return the mixture, its forecasts, their bases, the steady corrections, and the rows."""
    rng = np.random.default_rng(len(kind))
    x, y = forecasts_of(kind, rng)
    mixture, tickets, values = Mixture("auto:guard=false"), list[int](), list[Floats]()
    for t, row in enumerate(x):
        made = mixture.predict({f"e{i}": value for i, value in enumerate(row.tolist())})
        tickets.append(made.ticket)
        values.append(mixture.pending[made.ticket].values[0])
        if np.isnan(y[t]):  # far from the blend, on the side of the first expert
            y[t] = values[-1][0] + (2.0 if row[0] > values[-1][0] else -2.0)
        if t >= lag:
            mixture.update(tickets[t - lag], float(y[t - lag]))
    known = slice(0, ROUNDS - lag)
    said = np.array(values)[known]
    steady = said[:, BASE + 1 + STEADY_CORRECTION]
    return mixture, said[:, 0], said[:, BASE], steady, np.column_stack([y, x])[known]


def combinations(bases: Floats, rows: Floats) -> Floats:
    """Return weights that sum to one: the best by the penalised sum of squares, and others."""
    rng = np.random.default_rng(1)
    y, x = rows[:, 0], rows[:, 1:]
    away = x - bases[:, np.newaxis]
    best = np.linalg.solve(away.T @ away + 5.0 * np.eye(EXPERTS), away.T @ (y - bases))
    others = rng.normal(size=(200, EXPERTS)) + 1.0 / EXPERTS
    near = best + 0.02 * others
    everything = np.vstack([best, near, others, np.eye(EXPERTS)])
    return np.asarray(everything + (1.0 - everything.sum(axis=1, keepdims=True)) / EXPERTS)


@pytest.mark.parametrize("lag", [0, 1, 7])
@pytest.mark.parametrize(
    "kind", ["usual", "the unit jumps", "wild outcomes", "outcomes against the blend"]
)
def test_no_linear_combination_is_ahead_by_more_than_the_bound(kind: str, lag: int) -> None:
    mixture, blend, bases, steady, rows = play(kind, lag)
    linear = mixture.bound().linear
    assert linear is not None
    unit = float(part_of(mixture.live, "largest_error")[0, 0])
    nearest = np.inf
    y, x = rows[:, 0], rows[:, 1:]
    error = np.array(usual_errors(bases, y))
    features = np.clip((x - bases[:, np.newaxis]) / error[:, np.newaxis], -5.0, 5.0)
    clipped = np.abs(y - bases) > 4.0 * error
    compared = 0
    for weights in combinations(bases, rows):
        moves = features @ weights
        if (np.abs(moves[clipped]) <= 4.0).all():
            combined = bases + error * moves
            regret = float(np.sum((blend - y)[1:] ** 2 - (combined - y)[1:] ** 2))
            assert regret <= linear.to(weights)
            alone = float(np.sum((steady - y)[1:] ** 2 - (combined - y)[1:] ** 2))
            price = STEADY_RIDGE * float(weights @ weights)
            room = unit * (_excess(mixture.live, 0) + price) - alone
            assert room >= -1e-9 * unit
            nearest = min(nearest, room / unit)
            compared += 1
    assert compared > 3
    if not clipped.any():  # the bound on the steady correction gives little away
        assert nearest < 15.0


def usual_errors(bases: Floats, y: Floats) -> list[float]:
    """Return the discounted mean of |y - b| after each outcome."""
    total, count, errors = 0.0, 0.0, list[float]()
    for base, outcome in zip(bases.tolist(), y.tolist(), strict=True):
        total, count = add_error(total, count, abs(outcome - base)), 0.99 * count + 1.0
        errors.append(total / count)
    return errors


def test_a_linear_combination_is_found() -> None:
    """The bound on the regret to the best combination grows more slowly than its lead."""
    rng = np.random.default_rng(2)
    y, share = rng.normal(size=3000), rng.normal(size=3000)
    mixture = Mixture()
    for outcome, common in zip(y.tolist(), share.tolist(), strict=True):
        made = mixture.predict({"a": outcome + common, "b": outcome + 2.0 * common})
        mixture.update(made.ticket, outcome)
    bound = mixture.bound()
    assert bound.linear is not None
    lead = 3000.0 * float(np.mean(share**2))  # of 2 a - b over the better expert
    assert bound.linear.to([2.0, -1.0]) < 0.5 * lead


def test_where_there_is_no_linear_bound() -> None:
    for mixture in (Mixture("auto", "absolute"), Mixture("auto:inside=true"), Mixture("squint")):
        mixture.update(mixture.predict({"a": 1.0, "b": 2.0}).ticket, 1.5)
        assert mixture.bound().linear is None
    several = Mixture()
    for _ in range(2):
        ticket = several.predict({"a": {"x": 1.0, "y": 2.0}, "b": {"x": 2.0, "y": 3.0}}).ticket
        several.update(ticket, {"x": 1.0, "y": 1.0})
    assert several.bound().linear is None
    assert Mixture().bound().linear is None
    heir = Mixture()
    heir.update(heir.predict({"a": 1.0, "b": 2.0, "c": 1.5}).ticket, 1.4)
    assert heir.bound().linear is not None
    heir.join(["d"])
    heir.inherit("d", "a")
    assert heir.bound().linear is None


def test_equations_of_too_many_experts_bound_nothing() -> None:
    """With more than 64 experts no correction knows them, and what it had learned is lost."""
    rng, mixture, loss = np.random.default_rng(3), Mixture("auto:guard=false"), 0.0
    for t in range(300):
        y, common = rng.normal(size=2).tolist()
        others = {f"e{i}": x for i, x in enumerate(rng.normal(size=68 if t < 250 else 62))}
        made = mixture.predict({"a": y + common, "b": y + 2.0 * common, **others})
        mixture.update(made.ticket, y)
        loss += (made.value - y) ** 2
        if t == 60:
            assert mixture.bound().linear is None
        if t == 249:
            for i in range(62, 68):
                mixture.leave(f"e{i}")
    assert loss > 100.0  # which 2 a - b does not lose
    assert len(mixture.names) == 64
    assert mixture.bound().linear is None


def test_the_price_of_a_weight() -> None:
    mixture = Mixture()
    for outcome in (1.0, 2.0, 3.0):
        mixture.update(mixture.predict({"a": outcome + 1.0, "b": outcome - 2.0}).ticket, outcome)
    linear = mixture.bound().linear
    assert isinstance(linear, LinearBound)
    assert linear.ridge > 0.0
    assert linear.ridge / STEADY_RIDGE <= 9.0  # the largest square of a mean error
