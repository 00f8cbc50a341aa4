"""Section 5: the measurements of the cases, and their tables."""

from pathlib import Path

import numpy as np
import pytest

from normalhedge.latent import best_candidate, follow
from normalhedge.research._cells import Arrays
from normalhedge.research.paper import _hidden as hidden
from normalhedge.research.paper._hidden import BAYES, BEST, MODELS, STATES, play_case
from normalhedge.research.paper._hidden_cases import CASES, none_correct
from normalhedge.research.paper._part import QUICK, PaperSettings
from normalhedge.research.paper._reproduce import reproduce


def test_the_case_where_bayes_fails_to_the_digit() -> None:
    bank, symbols, _ = none_correct(np.random.default_rng(0), 1e-10, 0.04)
    best, alone = best_candidate(bank, symbols)
    assert best == 0
    assert alone.round(1).tolist() == [1253.2, 10007.6, 9894.0, 10000.0]
    named = hidden.predictors(bank)
    found = {
        name: round(follow(named[name], symbols).loss, 1)
        for name in (BAYES, "Bayes rounded", MODELS, STATES)
    }
    assert found == {BAYES: 9889.5, "Bayes rounded": 10362.0, MODELS: 1253.4, STATES: 1036.6}


def test_cases_are_whole_and_repeatable(found: dict[str, Arrays]) -> None:
    again = play_case(CASES[0], PaperSettings(seed=1, quick=True))
    for field, values in found["known"].items():
        assert (values == again[field]).all()
    for case in found.values():
        names = case["names"].tolist()
        assert len(set(names)) == len(names) == 14
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


def test_tables_name_everybody_and_mark_the_best(found: dict[str, Arrays]) -> None:
    sections = hidden.sections({f"hidden-{case}": arrays for case, arrays in found.items()})
    assert [section.id for section in sections] == ["hidden", *(f"hidden-{c.id}" for c in CASES)]
    for section in sections[1:]:
        assert len(section.rows) == 14
        for column in range(1, 5):
            assert any(row[column].endswith("*") for row in section.rows)
    assert hidden.sections({}) == []


def test_the_bounded_loss_beats_bayes_and_not_the_rule(found: dict[str, Arrays]) -> None:
    """Where NormalHedge loses clearly less than Bayes, so do Hedge and AdaHedge."""
    beaten = 0
    for case in found.values():
        for kind in (STATES, MODELS):
            bayes, ours, *others = (
                hidden.values_of(case, "loss", name).mean()
                for name in (BAYES, kind, *(hidden.with_rule(kind, rule) for rule in hidden.RULES))
            )
            if ours < 0.97 * bayes:
                beaten += 1
                assert max(others) < 0.99 * bayes
                assert others[1] == pytest.approx(ours, rel=0.03)  # AdaHedge
    assert beaten >= 6


def test_the_page_has_section_5(tmp_path: Path) -> None:
    parts = ["hidden-known", "pulse"]
    result = reproduce(tmp_path, QUICK, only=parts)
    page = (tmp_path / "report.html").read_text()
    assert [(row.where, row.ours) for row in result.claims] == [("Section 5; ours", True)]
    for word in ("Known parameters", "Section 5: hidden states", "tracking a pulse", "persistence"):
        assert word in page
