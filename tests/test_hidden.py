"""Section 5: the cases, their verdicts, and what is shown of them."""

from pathlib import Path

import numpy as np
import pytest

from normalhedge.experiments import hidden, hidden_claims, learning, paper, pulse
from normalhedge.experiments.hidden import BAYES, BEST, CASES, MODELS, STATES, play_case
from normalhedge.experiments.measures import Arrays
from normalhedge.latent import best_candidate, follow


def test_the_case_where_bayes_fails_to_the_digit() -> None:
    bank, symbols, _ = hidden.none_correct(np.random.default_rng(0))
    best, alone = best_candidate(bank, symbols)
    assert best == 0
    assert alone.round(1).tolist() == [1253.2, 10007.6, 9894.0, 10000.0]
    named = hidden.predictors(bank)
    found = {
        name: round(follow(named[name], symbols).loss, 1)
        for name in (BAYES, "Bayes rounded", MODELS, STATES)
    }
    assert found == {BAYES: 9889.5, "Bayes rounded": 10362.0, MODELS: 1253.4, STATES: 1036.6}


def test_sequences_of_two_states_are_drawn_as_they_say() -> None:
    rng = np.random.default_rng(0)
    state, expected = 0, []
    for _ in range(300):
        if rng.random() > 0.9:
            state = 1 - state
        expected.append(float(rng.random() < (0.8, 0.3)[state]))
    drawn = hidden.draw_two_states(300, 0.9, 0.8, 0.3, np.random.default_rng(0))
    assert drawn.tolist() == expected


@pytest.fixture(scope="module")
def found() -> dict[str, Arrays]:
    return {case.id: play_case(case, 1, quick=True) for case in CASES}


def test_cases_are_whole_and_repeatable(found: dict[str, Arrays]) -> None:
    again = play_case(CASES[0], 1, quick=True)
    for field, values in found["known"].items():
        assert (values == again[field]).all()
    for case in found.values():
        names = case["names"].tolist()
        assert len(set(names)) == len(names) == 10
        for field in ("loss", "errors", "late", "late_errors", "curve", "truth", "best"):
            assert ((case[field] >= 0.0) & (case[field] <= 1.0 + 1e-12)).all()
        np.testing.assert_allclose(case["curve"].mean(axis=2), case["loss"])
        # Rounded predictors lose as often as they are wrong.
        bayes = names.index("Bayes rounded")
        np.testing.assert_allclose(case["loss"][:, bayes], case["errors"][:, bayes])
    known = found["known"]
    for name in (MODELS, BEST):  # one candidate: all of these are the HMM itself
        own, other = (known["loss"][:, known["names"].tolist().index(n)] for n in (name, BAYES))
        np.testing.assert_allclose(own, other)


def test_every_claim_is_judged(found: dict[str, Arrays]) -> None:
    verdicts = {row.claim[:38]: row.verdict for row in hidden_claims.judge_hidden(found)}
    assert list(verdicts.values()) == [
        "holds only for the L1 loss",
        "does not hold",
        verdicts["If none of the vectors is correct, it "],
        "holds",
        verdicts["If the truth changes on the way, hedgi"],
    ]
    assert verdicts["If none of the vectors is correct, it "].startswith("holds")
    assert verdicts["If the truth changes on the way, hedgi"].startswith("holds")
    assert hidden_claims.judge_hidden({"none": found["none"]}) == []


def changed(arrays: Arrays, field: str, name: str, factor: float) -> Arrays:
    values = arrays[field].copy()
    values[:, arrays["names"].tolist().index(name)] *= factor
    return {**arrays, field: values}


def test_verdicts_follow_from_the_numbers(found: dict[str, Arrays]) -> None:
    good = changed(found["known"], "errors", STATES, 0.5)
    assert hidden_claims.known_parameters({"known": good}).verdict == "holds"
    bad = changed(found["known"], "loss", STATES, 1.5)
    assert hidden_claims.known_parameters({"known": bad}).verdict == "does not hold"
    sure = {**found["among"], "truth": np.ones_like(found["among"]["truth"])}
    assert hidden_claims.correct_vector({"among": sure}).verdict == "holds"
    everywhere = {
        case: {**found[case], "best": np.ones_like(found[case]["best"])}
        for case in ("none", "fragile", "without")
    }
    assert hidden_claims.least_regret(everywhere).verdict == "holds"
    nowhere = {case: {**arrays, "best": 0.0 * arrays["best"]} for case, arrays in found.items()}
    assert hidden_claims.least_regret(nowhere).verdict == "does not hold"
    some = {**everywhere, "without": nowhere["without"]}
    only = "holds only in: none of the candidates is correct; its fragile neighbour"
    assert hidden_claims.least_regret(some).verdict == only
    fair = changed(found["none"], "loss", BAYES, 0.1)
    assert hidden_claims.bayes_fails({**found, "none": fair}).verdict == "does not hold"


def test_recovery_is_what_the_change_costs() -> None:
    """Being better all the time is no recovery."""
    steady = np.array([0.1, 0.11, 0.12])
    names = np.array([STATES, MODELS, BAYES, "Bayes, discounted"])

    def case(after: float) -> Arrays:
        late = np.stack([steady, steady, steady + 0.2 + after, steady], axis=1)
        whole = np.stack([steady, steady, steady + 0.2 + after / 2, steady], axis=1)
        noise = 1e-3 * np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, -1, 0, 0]])
        return {
            "names": names,
            **dict.fromkeys(("loss", "errors"), whole),
            **dict.fromkeys(("late", "late_errors"), late + noise),
            "converged": np.full((3, 3), np.inf),
            "rounds": np.full(3, 20_000),
        }

    cost, free = case(0.3), case(0.0)
    assert hidden_claims.recovery({"change": cost, "mild": cost}).verdict == "holds"
    assert hidden_claims.recovery({"change": free, "mild": free}).verdict == "does not hold"
    only = hidden_claims.recovery({"change": cost, "mild": free}).verdict
    assert only == "holds only in: the truth changes"


def test_tables_name_everybody_and_mark_the_best(found: dict[str, Arrays]) -> None:
    sections = hidden_claims.hidden_sections(found)
    assert [section.id for section in sections] == ["hidden", *(f"hidden-{c.id}" for c in CASES)]
    for section in sections[1:]:
        assert len(section.rows) == 10
        for column in range(1, 5):
            assert any(row[column].endswith("*") for row in section.rows)
    assert hidden_claims.hidden_sections({}) == []


def test_learning_closes_most_of_the_gap() -> None:
    pytest.importorskip("hmmlearn")
    found = learning.learn(0, quick=True)
    assert found["loss"].shape == (2, 6)
    assert learning.closed(found, "late_errors", rounded=False)[0] > 0.5
    (row,) = learning.judge_learning(found)
    assert "share of the gap" in row.measured


def test_the_share_of_a_gap() -> None:
    columns = [[0.4, 0.3, 0.32, 0.26, 0.2, 0.2], [0.6, 0.5, 0.52, 0.46, 0.4, 0.4]]
    found = dict.fromkeys(learning.FIELDS, np.array(columns))
    assert learning.closed(found, "late", rounded=False) == pytest.approx((0.4, 0.0))
    assert learning.closed(found, "late", rounded=True) == pytest.approx((0.4, 0.0))
    (row,) = learning.judge_learning(found)
    assert row.verdict == "does not hold"
    found["late_errors"] = np.array([[0.4, 0.3, 0.22, 0.21, 0.2, 0.2]] * 2)
    (row,) = learning.judge_learning(found)
    assert row.verdict == "holds only for wrong decisions, wrong decisions, rounded"
    found["late"] = found["late_errors"]
    (row,) = learning.judge_learning(found)
    assert row.verdict == "holds"


def test_without_hmmlearn_the_rest_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "find_spec", lambda _: None)
    monkeypatch.setattr(learning, "ROUNDS", 300)
    section = learning.learning_section(learning.learn(0, quick=True))
    assert section.rows[-1][1] == "needs hmmlearn"
    assert learning.judge_learning(learning.learn(0, quick=True)) == []


def test_the_page_has_section_5(tmp_path: Path) -> None:
    parts = ["hidden-known", "pulse"]
    result = paper.reproduce(tmp_path, paper.QUICK, only=parts)
    page = (tmp_path / "report.html").read_text()
    assert [row.where for row in result.claims] == ["Section 5"]
    for word in ("Known parameters", "Section 5: hidden states", "tracking a pulse", "persistence"):
        assert word in page
    assert len(pulse.pulse_section(pulse.track_pulses(0, quick=True)).rows) == 4
