"""The contexts of a mixture, and how far they move the blend."""

from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.mixtures.rules import (
    BASE,
    CONTEXTS,
    CORRECTED_BY_CONTEXTS,
    CORRECTIONS,
    TRUST_IN_BASE,
    part_of,
)
from normalhedge.mixtures.state import MixtureState, contexts_of
from normalhedge.mixtures.summaries._comparison import Settled


class ContextRow(NamedTuple):
    """A context of a mixture."""

    name: str
    values: int  # the number of its values
    weight: float  # its weight in the choice between the base and its corrections
    moved: float  # by how much its cells moved the forecasts of the last rows, mean absolute


def context_rows(state: MixtureState, rows: Settled | None) -> list[ContextRow]:
    """Return the contexts of a mixture, and how far they moved the last of these rows."""
    names = contexts_of(state.live)
    if not names:
        return []
    weights = _weights(state, len(names))
    moves = np.full(len(names), np.nan)
    if rows is not None:
        values = rows.last
        common, first = BASE + 1 + CORRECTED_BY_CONTEXTS, BASE + 1 + CORRECTIONS
        by_cell = values[:, first : first + len(names)] - values[:, [common]]
        moves = np.abs(by_cell).mean(axis=0) if len(values) else moves
    cells = [cell.partition("=")[0] for cell in state.live.cells]
    return [
        ContextRow(name, cells.count(name), float(weight), float(weight * move))
        for name, weight, move in zip(names, weights, moves, strict=True)
    ]


def _weights(state: MixtureState, contexts: int) -> Floats:
    """Return the weights of the contexts in the choice that items share."""
    evidence = part_of(state.live, "corrections")[0]
    several = state.settings.shared and len(state.items) > 1
    first = 1 + CORRECTIONS
    others = (1 + several) * CORRECTIONS + contexts
    used = np.zeros(len(evidence), dtype=bool)
    used[: first + contexts] = True
    used[first + CONTEXTS :] = several
    prior = np.where(used, (1.0 - TRUST_IN_BASE) / others, 0.0)
    prior[0] = TRUST_IN_BASE
    weights = prior * (evidence if evidence[0] > 0.0 else 1.0)
    return np.asarray((weights / weights.sum())[first : first + contexts])
