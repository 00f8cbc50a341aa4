"""The claims of Section 5: verdicts follow from the numbers."""

import numpy as np

from normalhedge.research._cells import Arrays
from normalhedge.research.paper import _hidden_claims as hidden_claims
from normalhedge.research.paper._claim import FAILS, HOLDS, Outcome, holds_only
from normalhedge.research.paper._hidden import BAYES, MODELS, STATES


def named(cases: dict[str, Arrays]) -> dict[str, Arrays]:
    return {f"hidden-{case}": arrays for case, arrays in cases.items()}


def test_every_claim_is_judged(found: dict[str, Arrays]) -> None:
    verdicts = {row.claim[:38]: row.verdict for row in hidden_claims.judge(named(found))}
    assert list(verdicts.values()) == [
        holds_only("for the L1 loss"),
        FAILS,
        verdicts["If none of the vectors is correct, it "],
        HOLDS,
        verdicts["If the truth changes on the way, hedgi"],
    ]
    assert verdicts["If none of the vectors is correct, it "].outcome is not Outcome.FAILS
    assert verdicts["If the truth changes on the way, hedgi"].outcome is not Outcome.FAILS
    ours = [row.ours for row in hidden_claims.judge(named(found))]
    assert ours == [True, False, False, False, True]
    bayes = hidden_claims.bayes_fails(found)
    assert "The bounded loss beats Bayes, not the rule" in bayes.beyond
    assert hidden_claims.judge(named({"none": found["none"]})) == []


def changed(arrays: Arrays, field: str, name: str, factor: float) -> Arrays:
    values = arrays[field].copy()
    values[:, arrays["names"].tolist().index(name)] *= factor
    return {**arrays, field: values}


def test_verdicts_follow_from_the_numbers(found: dict[str, Arrays]) -> None:
    good = changed(found["known"], "errors", STATES, 0.5)
    assert hidden_claims.known_parameters({"known": good}).verdict == HOLDS
    bad = changed(found["known"], "loss", STATES, 1.5)
    assert hidden_claims.known_parameters({"known": bad}).verdict == FAILS
    sure = {**found["among"], "truth": np.ones_like(found["among"]["truth"])}
    assert hidden_claims.correct_vector({"among": sure}).verdict == HOLDS
    everywhere = {
        case: {**found[case], "best": np.ones_like(found[case]["best"])}
        for case in ("none", "fragile", "without")
    }
    assert hidden_claims.least_regret(everywhere).verdict == HOLDS
    nowhere = {case: {**arrays, "best": 0.0 * arrays["best"]} for case, arrays in found.items()}
    assert hidden_claims.least_regret(nowhere).verdict == FAILS
    some = {**everywhere, "without": nowhere["without"]}
    only = holds_only("in: none of the candidates is correct; its fragile neighbour")
    assert hidden_claims.least_regret(some).verdict == only
    fair = changed(found["none"], "loss", BAYES, 0.1)
    assert hidden_claims.bayes_fails({**found, "none": fair}).verdict == FAILS


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
    assert hidden_claims.recovery({"change": cost, "mild": cost}).verdict == HOLDS
    assert hidden_claims.recovery({"change": free, "mild": free}).verdict == FAILS
    only = hidden_claims.recovery({"change": cost, "mild": free}).verdict
    assert only == holds_only("in: the truth changes")
