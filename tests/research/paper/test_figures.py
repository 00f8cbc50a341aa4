"""The figures agree with the paper."""

from normalhedge.research.paper._figures import FIGURES, HEDGE, STYLES, normal
from normalhedge.research.paper._part import ALPHA, PaperSettings


def test_the_figures_are_those_of_the_paper() -> None:
    one, two, three = FIGURES
    assert {(p.gamma, p.f) for p in one.panels} == {
        (g, f) for g in (0.2, 0.4, 0.6, 0.8) for f in (0.001, 0.01)
    }
    assert {(p.gamma, p.f) for p in two.panels} == {
        (g, f) for g in (0.2, 0.4, 0.6, 0.8) for f in (0.1, 0.5)
    }
    assert [(p.gamma, p.experts) for p in three.panels] == [
        (g, n) for n in (1000, 100, 10) for g in (0.2, 0.8)
    ]
    assert all(p.f == 0.1 for p in three.panels)
    assert {p.experts for p in one.panels + two.panels} == {1000}
    settings = PaperSettings()
    assert (settings.runs, settings.rounds, ALPHA) == (50, 10_000, 0.001)
    panel = one.panels[0]
    assert list(panel.hedgers()) == list(STYLES)
    printed = [name for name, style in STYLES.items() if not style.second]
    assert printed == [HEDGE, normal(1.0), normal(2.0), normal(4.0)]
    assert panel.nature.good == 1
    assert panel.nature.shift == 1000
