"""Section 5 on real days."""

from importlib.util import find_spec

import numpy as np
import pytest

from normalhedge.research.paper import _real as real
from normalhedge.research.paper._part import QUICK


@pytest.mark.skipif(find_spec("vega_datasets") is None, reason="needs vega_datasets")
def test_the_proposal_beside_infer() -> None:
    arrays = real.measure(QUICK)
    names = arrays["names"].tolist()
    assert arrays["scores"].shape == (2, len(names), 4)
    assert np.isfinite(arrays["scores"]).all()
    paper, ours = (arrays["scores"][:, names.index(name)] for name in (names[0], "infer"))
    assert "(the paper)" in names[0]
    assert (paper[:, 0] < ours[:, 0]).all()  # the loss that it learns from
    assert (paper[:, 2] < ours[:, 2] - 0.1).all()  # honest probabilities
    shown = real.sections(arrays)
    assert [section.title for section in shown] == [
        f"Section 5 on real days. {title}" for title in real.TITLES.values()
    ]
    assert all(len(section.rows) == len(names) for section in shown)
    assert all("*" in str(section.rows) for section in shown)


def test_scores_are_means_of_proper_and_improper_losses() -> None:
    predictions = np.array([[0.25, 0.75], [0.5, 0.5]])
    loss, brier, log, wrong = real.judged(predictions, np.array([1.0, 1.0]))
    assert loss == pytest.approx((0.25 + 0.5) / 2)
    assert brier == pytest.approx((2 * 0.25**2 + 0.5) / 2)
    assert log == pytest.approx((np.log(0.75) + np.log(0.5)) / 2)
    assert wrong == 0.5


def test_without_the_series_there_is_no_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real, "find_spec", lambda _: None)
    assert real.sections(real.measure(QUICK)) == []
