"""Reading the arguments of `Mixture.predict`: foreign code may run here, and nothing changes."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.state import (
    Keys,
    MixtureState,
    RoundInput,
    let_sleep,
    number_classes,
    order_classes,
    read,
    read_context,
    refuse_contexts,
)


def read_round(
    state: MixtureState,
    forecasts: Mapping[str, Any],
    confidence: Mapping[str, float] | None,
    text: str | None,
    context: Mapping[str, Any] | None,
) -> tuple[RoundInput, Keys]:
    """Return a round as the core takes it, with its id as JSON text, and the keys of its rows."""
    live, loss = state.live, state.settings.loss
    version = live.version
    forecasts, classes = order_classes(live.classes, loss, forecasts)
    table, keys, new = _read_forecasts(state, forecasts)
    confidences = None
    if confidence is not None:
        names = (*state.names, *new)
        confidences = np.array([float(confidence.get(name, 1.0)) for name in names])
    if not live.warned and (np.abs(table) >= inputs.LARGEST).any():
        warnings.warn("infinite forecasts count as missing", RuntimeWarning, stacklevel=4)
        live.warned = True
    cells, new_cells = None, list[str]()
    if context is not None:
        refuse_contexts(state.settings)
        cells, new_cells = read_context(live, context, keys)
    items = [""] if keys is None else [str(key) for key in keys]
    kept = tuple(keys) if isinstance(keys, list) else keys
    classes = classes or number_classes(live, loss, table.shape[1])
    round_ = RoundInput(
        version, table, confidences, kept, items, new, text, cells, new_cells, classes
    )
    return round_, keys


def _read_forecasts(
    state: MixtureState, forecasts: Mapping[str, Any]
) -> tuple[Floats, Keys, list[str]]:
    """Return the table of forecasts, the keys of its rows, and the new names."""
    if not forecasts and not state.names:
        raise ValueError("forecasts must name at least one expert")
    new = state._unknown_names(forecasts)
    index = {name: k for k, name in enumerate((*state.names, *new))}
    loss = state.settings.loss
    levels = loss.levels if loss.of_levels else ()
    table, keys = read(forecasts, index, len(index), of_classes=loss.of_classes, levels=levels)
    let_sleep(state.live, table)
    count = 0 if loss.of_levels else len(loss.levels)
    if count > 1 and (keys is None or len(keys) != count):
        raise ValueError(f"forecasts must have {count} numbers each, one for each level")
    return table, keys, new
