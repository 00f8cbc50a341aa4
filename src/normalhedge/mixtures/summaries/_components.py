"""The components of an automatic mixture: their names, their places among values, their losses."""

from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.rules import Automatic
from normalhedge.mixtures.state import MixtureState

RECENT = 100
"""The number of rows over which corrections and contexts are looked at."""

CHUNK = 1 << 18
"""About how many losses are computed at a time."""


class ComponentLosses(NamedTuple):
    """The sums of the losses of components, over the rows in which all made a forecast."""

    sums: Floats = np.zeros(0)
    rows: int = 0

    @property
    def means(self) -> tuple[float, ...]:
        """The mean losses; empty without rows."""
        return tuple((self.sums / self.rows).tolist()) if self.rows else ()

    def plus(self, other: "ComponentLosses") -> "ComponentLosses":
        """Return the sums over both."""
        if not self.rows:
            return other
        return (
            ComponentLosses(self.sums + other.sums, self.rows + other.rows) if other.rows else self
        )


def several_items(state: MixtureState) -> bool:
    """Tell whether there are several items, with shared weights and weights of their own."""
    return state.settings.shared and len(state.items) > 1


def component_names(state: MixtureState) -> list[str]:
    """Return the names of the components of an automatic mixture; a single rule has none.

    With several items, a hedged component appears twice: with weights that all items share, and
    with separate weights for each item.
    """
    hedger = state.settings.hedger
    if not isinstance(hedger, Automatic):
        return []
    components = hedger.components(state.settings.loss)
    if not several_items(state):
        return [way.name for way in components]
    hedged = [way.name for way in components if way.hedger is not None]
    return [
        *(way.name for way in components if way.hedger is None),
        *(f"{name}, shared" for name in hedged),
        *(f"{name}, separate" for name in hedged),
    ]


def score_components(
    state: MixtureState, values: Floats, outcomes: Floats, items: np.ndarray
) -> ComponentLosses:
    """Return the losses of the components in rows with their values.

    ``values`` are the forecasts of the blend, one for each class, and of its components; see
    ``src/core/automatic.hpp``.
    """
    hedger, loss = state.settings.hedger, state.settings.loss
    if not isinstance(hedger, Automatic) or not len(values):
        return ComponentLosses()
    first, names = hedger.first_way(loss) - 1, component_names(state)
    classes = values.shape[1] // state.live.value_count
    size = max(CHUNK // values.shape[1], 1)
    result = ComponentLosses()
    known = ~np.isnan(outcomes) & ~np.isnan(values[:, 0])
    for k in range(0, len(values), size):
        rows = slice(k, k + size)
        used = known[rows]
        parts = values[rows, classes:][used]
        parts = parts.reshape(len(parts), classes, parts.shape[1] // classes)
        table = np.ascontiguousarray(parts[:, :, first : first + len(names)])
        losses = loss.table(table, outcomes[rows][used], items[rows][used])
        losses = losses[~np.isnan(losses).any(axis=1)]
        if len(losses):
            result = result.plus(ComponentLosses(losses.sum(axis=0), len(losses)))
    return result
