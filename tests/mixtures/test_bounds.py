"""Regret bounds of mixtures."""

from typing import Any

from normalhedge import Mixture
from tests.mixtures.hedger_examples import KNOWN


def test_bounds_of_mixtures_say_what_is_known() -> None:
    def played(hedger: Any, *, late: bool = False, **options: Any) -> str:
        mixture = Mixture(hedger, **options)
        for t in range(10):
            names = "abc" if t > 5 and late else "ab"
            made = mixture.predict({name: float(k + t) for k, name in enumerate(names)})
            mixture.update(made.ticket, 0.0)
        bound = mixture.bound()
        assert not bound or mixture.summary().regret <= bound.regret
        return str(bound)

    assert "de Rooij et al. 2014, AdaHedge" in played("ada-hedge")
    assert "AdaHedge where experts join later" in played("ada-hedge", late=True)
    assert "Blackwell" in played("regret-matching", late=True)
    assert "Squint with a discount" in played("squint")
    assert "the range of losses is learned" in played("squint:alpha=0")
    assert "improper prior" in played("squint:alpha=0", loss=KNOWN)
    assert "improper prior" in played("squint:alpha=0", loss=KNOWN, late=True)
    assert "regret <= " in played("normal-hedge", late=True)
