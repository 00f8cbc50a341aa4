"""The summary of a state, for people."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.guarantees import Bound, at_most

LEADERS = 5


@dataclass(frozen=True, eq=False)
class Report:
    """A state and the bounds that hold for it; ``print`` shows it as a small table.

    The limits are for the experts that are still in the game. If some have left, the average
    potential and the quantile regret of the others may exceed the numbers of `bound`, which counts
    all experts that ever joined. The average potential is NaN if the hedger has none.
    """

    hedger: str
    rounds: int
    experts: int
    gain: float | None
    average_potential: float
    potential_limit: float
    best_regret: float
    bound: Bound
    quantile: float
    quantile_regret: float
    quantile_bound: Bound
    weights: Floats
    regrets: Floats

    def __str__(self) -> str:
        """Return the report as a small table."""
        gain = (
            "none: every expert was asleep, or it was not kept"
            if self.gain is None
            else f"{self.gain:+.4f}"
        )
        gain = gain if self.rounds else "none yet"
        with_weight = int(np.count_nonzero(self.weights))
        limited = partial(_show_limit, numerical=self.bound.numerical)
        rows = [
            ("rounds", f"{self.rounds:,}"),
            ("last gain", gain),
            ("experts", f"{self.experts:,}, {with_weight:,} with weight"),
            *self._potential(limited),
            ("regret to the best", limited(self.best_regret, self.bound.regret)),
            (
                f"regret to the best {100 * self.quantile:.3g} %",
                limited(self.quantile_regret, self.quantile_bound.regret),
            ),
            ("bound", self.bound.source),
        ]
        lines = [self.hedger, *(f"  {name:<24}{text}" for name, text in rows)]
        lines.append(f"  {'expert':>8}{'weight':>10}{'regret':>14}")
        leaders = np.argsort(-self.weights, kind="stable")[:LEADERS]
        lines += [
            f"  {expert:>8}{self.weights[expert]:>10.4f}{self.regrets[expert]:>14.6g}"
            for expert in leaders
        ]
        if self.experts > LEADERS:
            lines.append(f"  {'...':>8}")
        return "\n".join(lines)

    def _potential(self, limited: Callable[[float, float], str]) -> list[tuple[str, str]]:
        if np.isnan(self.average_potential):
            return []
        return [("average potential", limited(self.average_potential, self.potential_limit))]


def _show_limit(value: float, limit: float, *, numerical: bool) -> str:
    if not np.isfinite(limit):
        return f"{value:.6g}"
    return f"{value:.6g}, {'numerical limit' if numerical else 'never above'} {at_most(limit)}"
