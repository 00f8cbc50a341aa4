"""Every hedger, and a mixture that has used each of its features."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge import Mixture
from normalhedge.hedgers import HEDGERS, named
from normalhedge.mixtures.losses import Absolute

EVERY: dict[str, Any] = {
    name: named(name + (":eta=0.4" if name == "hedge-fixed" else ""), n_experts=3, alpha=0.1)
    for name in HEDGERS
}
"""Every hedger, forgetting; one that does not forget is in `NEVER`."""


WIDTH = 8.0
"""A range that is known."""


@dataclass(frozen=True)
class Known(Absolute):
    """The absolute loss, whose range is known."""

    width = WIDTH


KNOWN = Known()


def busy_with(hedger: Any, *, shared: bool = True) -> Mixture:
    mixture, rng = Mixture(hedger, shared=shared), np.random.default_rng(7)
    for t in range(40):
        names = ["a", "b", "c", "d"][: 3 + (t > 20)]
        said = {name: rng.normal(size=2) * (2.0 if t > 30 else 1.0) for name in names}
        made = mixture.predict(said | ({"b": None} if t % 4 == 1 else {}))
        if t % 6:
            mixture.update(made.ticket, rng.normal(size=2))
    return mixture
