"""The result of a game: curves of regret, potential and gain for each hedger."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from normalhedge.boundary import extras
from normalhedge.boundary.inputs import Floats


class Curves(NamedTuple):
    """A quantity over the recorded rounds, one row for each hedger.

    Attributes
    ----------
    mean
        The mean over the runs.
    spread
        The standard deviation over the runs; zero if there was one run.
    """

    mean: Floats
    spread: Floats


@dataclass(frozen=True, eq=False)
class Trace:
    """The record of a game.

    Attributes
    ----------
    hedgers
        The names of the hedgers, in the order of all rows below.
    rounds
        The recorded rounds; the first round is 1.
    runs
        How many games were played.
    discount
        The rate at which each hedger's regrets are discounted: its own, unless the game had one for
        all. Regrets at different rates cannot be compared.
    regret
        The discounted regret to the best expert.
    potential
        The logarithm of the average potential; NaN for a hedger without a potential.
    gain
        The hedger's gain in the round. Rounds in which every expert was asleep are left out of the
        mean.
    quantile
        The epsilon of ``quantile_regret``.
    quantile_regret
        The discounted regret to the best epsilon-quantile of experts; None unless asked for.
    highest_regret, highest_potential
        The largest regret, and the largest logarithm of the average potential, in any round of any
        run, recorded or not. One number for each hedger; minus infinity without a potential.
    part_regret
        The mean regret in equal parts of the game: hedgers x runs x parts.
    run_gain, final_regret
        The mean gain of a round, and the regret after the last round, in each run: hedgers x runs.
    weights
        The weights of the first run after each recorded round: hedgers x rounds x experts; None
        unless asked for.
    """

    hedgers: tuple[str, ...]
    rounds: np.ndarray
    runs: int
    discount: tuple[float, ...]
    regret: Curves
    potential: Curves
    gain: Curves
    quantile: float | None
    quantile_regret: Curves | None
    highest_regret: Floats
    highest_potential: Floats
    part_regret: Floats
    run_gain: Floats
    final_regret: Floats
    weights: Floats | None

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the hedgers, with their discount rates if these differ."""
        if len(set(self.discount)) < 2:
            return self.hedgers
        pairs = zip(self.hedgers, self.discount, strict=True)
        return tuple(f"{name} (discount {rate:.4g})" for name, rate in pairs)

    def to_frame(self) -> Any:
        """Return `columns` as a DataFrame of pandas, which must be installed."""
        return extras.require("pandas").DataFrame(self.columns())

    def columns(self) -> dict[str, np.ndarray]:
        """Return the curves as a table, one row for each hedger and recorded round."""
        shape = self.regret.mean.shape
        table: dict[str, np.ndarray] = {
            "hedger": np.broadcast_to(np.array(self.hedgers)[:, None], shape),
            "discount": np.broadcast_to(np.array(self.discount)[:, None], shape),
            "round": np.broadcast_to(self.rounds, shape),
            "runs": np.full(shape, self.runs),
        }
        curves = {"regret": self.regret, "log_potential": self.potential, "gain": self.gain}
        if self.quantile_regret is not None:
            curves["quantile_regret"] = self.quantile_regret
        for name, curve in curves.items():
            table[f"{name}_mean"], table[f"{name}_spread"] = curve
        return {name: np.ravel(values) for name, values in table.items()}
