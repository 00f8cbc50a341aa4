"""The warning of a comparison, and its remark on the gap."""

from dataclasses import replace

import numpy as np

from normalhedge import Mixture, NormalHedge
from tests.mixtures.summary_examples import compared, fed, numbers


def test_a_gap_is_told_where_it_matters() -> None:
    mixture = Mixture(loss="absolute")
    rng = np.random.default_rng(2)
    for _ in range(50):
        mixture.update(mixture.predict({"a": rng.normal(), "b": rng.normal()}).ticket, 0.0)
    summary = mixture.summary()
    assert summary.convex_gap <= 1e-6 * summary.convex
    assert "may be" not in str(summary)
    unsure = replace(summary, comparison=replace(summary.comparison, gap=0.01))
    assert "the least loss may be 0.01 smaller" in str(unsure)


def test_a_warning_where_a_plain_combination_is_better() -> None:
    assert compared(100, 1.03, 1.0, 1.1, 0.1).warning == (
        "the blend lost 3.0 % more than the plain mean (1.03 against 1), over 100 rows of the table"
    )
    assert compared(99, 1.03, 1.0, 1.1, 0.1).warning == ""
    assert compared(100, 1.019, 1.0, 1.1, 0.1).warning == ""  # nor because of the best expert
    both = compared(200, 1.5, 1.0, 1.2, 2.0, since=40).warning
    assert "50 % more than the plain mean" in both
    assert "and 25 % more than the plain median" in both
    assert both.endswith("over 200 rows of the last 200 settled rounds, since round 40")
    assert "40 times as much as the plain mean" in compared(100, 4.0, 0.1, 9.0, 9.0).warning
    assert "0.5 where the plain mean lost nothing" in compared(100, 0.5, 0.0, 9.0, 9.0).warning
    assert compared(100, -0.5, -0.6, -0.4, 0.0).warning.startswith("the blend lost 17 % more")


def test_the_warning_is_shown() -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=300)
    x = y[:, None] + rng.normal(size=(300, 4))  # nobody is better: even weights are the best
    single = fed(Mixture(NormalHedge(memory=2), gradient=False), y, x).summary()
    assert single.warning.endswith("; auto, the default, hedges over plain combinations, too")
    assert str(single).splitlines()[1] == f"  Warning: {single.warning}."
    assert f"<p><b>Warning: {single.warning}.</b></p>" in single._repr_html_()
    auto = fed(Mixture(), *numbers(300)).summary()  # one of them is better
    assert auto.warning == ""
    assert "Warning" not in str(auto)
