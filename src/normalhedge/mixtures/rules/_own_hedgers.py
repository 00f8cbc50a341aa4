"""The states of a hedger of the user's own, when experts join and leave."""

import warnings
from typing import Any, NamedTuple

import numpy as np


class OwnStates(NamedTuple):
    """Makes the states of a hedger for other numbers of experts and games."""

    hedger: Any

    def grow(self, states: list[Any], games: int, experts: int, learned: bool) -> list[Any]:  # noqa: FBT001
        """Return a state for each of so many games, with so many experts."""
        grown = [self._joined(state, experts, learned=learned) for state in states]
        return grown + [
            self.hedger.init(experts) if experts else None for _ in range(games - len(states))
        ]

    def shrink(self, states: list[Any], places: np.ndarray) -> list[Any]:
        """Return the states without the experts at some places."""
        leave = getattr(self.hedger, "leave", None)
        if leave is not None:
            return [leave(state, places.tolist()) for state in states]
        return [self.hedger.init(len(state.weights) - len(places)) for state in states]

    def _joined(self, state: Any, experts: int, *, learned: bool) -> Any:
        """Return a state with more experts."""
        if state is not None and len(state.weights) == experts:
            return state
        join = getattr(self.hedger, "join", None)
        if learned and join is not None:
            return join(state, experts - len(state.weights))
        if learned:
            warnings.warn(
                f"{type(self.hedger).__name__} has no join: it begins anew with {experts} experts",
                RuntimeWarning,
                stacklevel=5,
            )
        return self.hedger.init(experts) if experts else None
