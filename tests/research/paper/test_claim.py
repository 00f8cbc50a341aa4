"""Verdicts: data first, words only for the reader."""

from normalhedge.research.paper._claim import FAILS, HOLDS, Outcome, PaperClaim, holds_only


def test_the_words_of_a_verdict_follow_from_its_outcome() -> None:
    assert [str(HOLDS), str(FAILS)] == ["holds", "does not hold"]
    partly = holds_only("if f = 0.1")
    assert str(partly) == "holds only if f = 0.1"
    kinds = [verdict.outcome.value for verdict in (HOLDS, partly, FAILS)]
    assert kinds == ["yes", "partly", "no"]  # the classes of the style sheet
    assert len(Outcome) == len(kinds)


def test_a_claim_is_a_row_of_texts() -> None:
    claim = PaperClaim("c", "Section 1", "2", "3 runs", "holds if 2", HOLDS)
    names = ["claim", "where", "measured", "sample", "rule", "verdict", "beyond"]
    assert list(claim.texts()) == names
    assert claim.texts()["beyond"] == ""
    assert claim.texts()["verdict"] == "holds"
    assert not claim.ours
