"""Every rule obeys the laws of routers; a rule that does not is found out."""

from typing import Any

import pytest

from normalhedge import Router
from normalhedge.checks import ROUTER_LAWS, check_router
from normalhedge.routing import Choice

RULES = ["auto", "exp3-ix", "tsallis-inf", "maillard", "maillard:keenness=3,memory=100"]
RULES += ["normal-hedge:memory=50", "ada-normal-hedge", "fixed-share:alpha=0.01", "squint"]


@pytest.mark.parametrize("law", ROUTER_LAWS)
@pytest.mark.parametrize("rule", RULES)
def test_laws(rule: str, law: str) -> None:
    ROUTER_LAWS[law](Router(["a", "b", "c", "d"], rule=rule, gains=(-2.0, 3.0)).settings)


@pytest.mark.parametrize("law", ROUTER_LAWS)
def test_laws_of_graded_feedback(law: str) -> None:
    shows = {"a": ["b"], "c": ["a", "d"]}
    ROUTER_LAWS[law](Router(["a", "b", "c", "d"], shows=shows).settings)


def test_a_router_that_breaks_a_law_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    check_router(Router(["a", "b"]))
    choose = Router.choose

    def stubborn(router: Router, *args: Any, **options: Any) -> Choice:
        choice = choose(router, *args, **options)
        return choice._replace(probability=0.5 * choice.probability)

    monkeypatch.setattr(Router, "choose", stubborn)
    with pytest.raises(AssertionError, match="breaks the law probabilities_sum_to_one"):
        check_router(Router(["a", "b"]))


def test_laws_need_two_actions_and_no_budget() -> None:
    with pytest.raises(ValueError, match="at least two actions"):
        check_router(Router(["a"]))
    with pytest.raises(ValueError, match="no budget"):
        check_router(Router(["a", "b"], costs={"a": 1.0, "b": 2.0}, budget=1.5))
