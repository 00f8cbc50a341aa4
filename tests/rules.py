"""The two kinds of mixtures that nobody has to configure: the default, and the single rule."""

import pytest

SINGLE = "normal-hedge"
"""NormalHedge with a memory of 20 rounds."""

either = pytest.mark.parametrize("hedger", [None, SINGLE], ids=["auto", "single"])
"""Run a test with the default, and with the single rule."""
