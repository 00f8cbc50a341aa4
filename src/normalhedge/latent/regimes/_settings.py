"""The settings of `Regimes`: each option once, with its default, its check and its text."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.hedgers import Hedger
from normalhedge.latent.models.emissions import ALL
from normalhedge.latent.regimes._model_averaging import ModelAveraging, default_hedger
from normalhedge.live.options import option

SYMBOLS = 1_000  # the largest number of symbols: each state learns the probability of every symbol
LEAST_PATIENCE, MOST_PATIENCE = 10, 10**9  # of the alarm, in rounds


@dataclass(frozen=True)
class RegimesSettings:
    """The settings of `Regimes`, which explains them, checked and with all defaults filled in."""

    emission: str | None = option(
        None,
        'A family of `fit`. With "gaussian", Student\'s t is tried too; with "poisson" the '
        'negative binomial, with "full" the diagonal family. By default the first observation '
        'decides: "poisson" for a number of an integer type, "full" for several numbers, else '
        '"gaussian".',
        by_name=False,
    )
    states: int | Sequence[int] = option(
        (1, 2, 3, 4, 5),
        "The numbers of states to try, or a single one; more than three only if fewer have "
        "support.",
        short="The numbers of states to try.",
        shown="1-5",
        by_name=False,
    )
    budget: int = option(
        30,
        "The largest number of hidden Markov models at a time; at least 2.",
        short="The largest number of models.",
    )
    hedger: Hedger[Any] | None = option(
        None,
        "The hedger that weighs the candidates, see `ModelAveraging`; `FixedShare` by default, "
        "which with log scores is Bayes' rule for a best candidate that changes now and then.",
        short="The hedger that weighs the models.",
        shown="fixed-share",
    )
    worth: float = option(
        0.02,
        "The nats per round that an additional state must add to the log score to be a regime.",
        short="The nats per round that an additional state must add to be a regime.",
    )
    symbols: int | None = option(None, 'The number of symbols, with emission="categorical".')
    patience: int | None = option(
        None,
        "The mean number of rounds between false alarms is at least this, see `Regimes.alarm`; "
        "1000 by default.",
        short="The least mean number of rounds between false alarms; with it, answers of a stream "
        "have novelty and alarms.",
        shown="1000",
    )
    rng: np.random.Generator | None = option(
        None,
        "The generator of random numbers for the starts of fits, of which a copy is used; seeded "
        "with 0 by default.",
    )

    def __post_init__(self) -> None:
        if self.emission is not None and self.emission not in ALL:
            raise ValueError(f"emission must be one of {', '.join(ALL)}, got {self.emission!r}")
        if self.emission == "categorical":
            symbols = inputs.count("symbols", self.symbols)
            if symbols > SYMBOLS:
                raise ValueError(f"there may be at most {SYMBOLS:,} symbols, got {symbols:,}")
            self._set("symbols", symbols)
        numbers = (self.states,) if isinstance(self.states, int | np.integer) else self.states
        self._set("states", tuple(sorted({inputs.count("states", k) for k in numbers})))
        if not self.states:
            raise ValueError("states must hold at least one number")
        self._set("budget", max(inputs.count("budget", self.budget), 2))
        hedger = default_hedger() if self.hedger is None else self.hedger
        if not (hasattr(hedger, "join") and hasattr(hedger, "leave")):
            raise TypeError(f"hedger must let experts join and leave, got {hedger!r}")
        self._set("hedger", hedger)
        self._set("worth", inputs.number("worth", self.worth, 0.0, closed=True))
        if self.patience is not None:
            self._set("patience", inputs.count("patience", self.patience))
            if not LEAST_PATIENCE <= self.patience <= MOST_PATIENCE:
                raise ValueError(
                    f"patience must be from {LEAST_PATIENCE} to {MOST_PATIENCE:,} rounds, "
                    f"got {self.patience:,}"
                )
        rng = np.random.default_rng(0) if self.rng is None else copy.deepcopy(self.rng)
        self._set("rng", rng)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of states, in order."""
        assert isinstance(self.states, tuple)
        return self.states

    @property
    def most(self) -> int:
        """The largest number of states."""
        return self.numbers[-1]

    @property
    def averaging(self) -> ModelAveraging:
        """The model averaging of the candidates by the hedger."""
        return ModelAveraging(self.hedger)
