"""Rows of a stream, answered by a mixture."""

import numpy as np
import pytest

from normalhedge import Mixture
from normalhedge.integrations.clusters._answers import StreamRow, answers

EXPERTS = ["gam", "ar"]


def _rounds(count: int) -> list[StreamRow]:
    rng = np.random.default_rng(2)
    return [
        StreamRow(t, t, [float(x) for x in rng.normal(size=2)], float(rng.normal()))
        for t in range(count)
    ]


def test_rows_with_outcomes_are_the_rounds_of_a_loop() -> None:
    rows, mixture = _rounds(20), Mixture()
    found = answers(Mixture(), EXPERTS, rows)
    for row, answer in zip(rows, found, strict=True):
        made = mixture.predict(dict(zip(EXPERTS, row.forecasts, strict=True)))
        mixture.update(made.ticket, row.outcome)
        assert (answer.blend, answer.weights) == (made.value, dict(made.weights))
        assert (answer.time, answer.id, answer.error) == (row.time, row.id, None)


def test_the_order_of_a_batch_changes_nothing() -> None:
    rounds = _rounds(12)
    rows = [row._replace(outcome=None) for row in rounds]
    rows += [StreamRow(row.time + 3, row.id, [None, float("nan")], row.outcome) for row in rounds]
    expected = answers(Mixture(), EXPERTS, rows)
    assert len(expected) == 12
    rng = np.random.default_rng(0)
    for _ in range(5):
        assert answers(Mixture(), EXPERTS, [rows[k] for k in rng.permutation(24)]) == expected


def test_a_late_outcome_is_learned_when_it_comes() -> None:
    late, never = Mixture("squint"), Mixture("squint")
    for mixture in (late, never):
        answers(mixture, EXPERTS, [StreamRow(1, "a", [1.0, 3.0], None)])
    assert answers(late, EXPERTS, [StreamRow(9, "a", [None, None], 3.0)]) == []
    (told,) = answers(late, EXPERTS, [StreamRow(10, "b", [1.0, 3.0], None)])
    (not_told,) = answers(never, EXPERTS, [StreamRow(10, "b", [1.0, 3.0], None)])
    assert told.blend is not None
    assert not_told.blend is not None
    assert told.blend > not_told.blend == 2.0


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (StreamRow(5, "b", [None, None], 2.0), "no round with id 'b' waits for its outcome"),
        (StreamRow(5, "a", [1.0, 2.0], None), 'a round with id "a" waits'),
        (StreamRow(5, "b", [None, float("nan")], None), "neither forecasts nor an outcome"),
        (StreamRow(5, "a", [None, None], float("inf")), "outcome must be finite"),
    ],
)
def test_a_wrong_row_is_answered_by_a_sentence_and_changes_nothing(
    row: StreamRow, why: str
) -> None:
    mixture, other = Mixture(), Mixture()
    for one in (mixture, other):
        answers(one, EXPERTS, [StreamRow(1, "a", [1.0, 3.0], None)])
    (answer,) = answers(mixture, EXPERTS, [row])
    assert why in str(answer.error)
    assert answer.blend is None
    last = [StreamRow(6, "a", [None, None], 3.0), StreamRow(7, "z", [1.0, 3.0], None)]
    assert answers(mixture, EXPERTS, last) == answers(other, EXPERTS, last)


def test_a_prediction_stands_though_its_outcome_is_refused() -> None:
    mixture = Mixture(loss="log-wealth")
    (answer,) = answers(mixture, EXPERTS, [StreamRow(1, "a", [1.0, 1.1], -1.0)])
    assert answer.blend == pytest.approx(1.05)
    assert "the round waits for its outcome" in str(answer.error)
    assert len(mixture.pending) == 1


def test_intervals_are_those_of_the_mixture() -> None:
    rows, mixture = _rounds(30), Mixture(interval=[0.5, 0.8])
    found = answers(Mixture(interval=[0.5, 0.8]), EXPERTS, rows)
    for row, answer in zip(rows, found, strict=True):
        made = mixture.predict(dict(zip(EXPERTS, row.forecasts, strict=True)))
        mixture.update(made.ticket, row.outcome)
        assert made.intervals is not None
        assert answer.intervals == (*made.intervals[0.5], *made.intervals[0.8])
