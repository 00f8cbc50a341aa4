"""Hedgers with a delay; DORM, DORM+ and AdaHedgeD also have a hint of the unknown rounds."""

from dataclasses import dataclass

from normalhedge.boundary import inputs
from normalhedge.hedgers._compiled_hedger import CompiledHedger

LONGEST = 100_000
"""The longest delay: a state keeps a row for each round of it."""

PLAYED_EARLIER = "a round is played before the outcomes of the last rounds are known"
"""Why hedgers with a delay break the law `run_folds_step`."""


@dataclass(frozen=True)
class LateHedger(CompiledHedger):
    """A hedger that knows how late outcomes come; `DORM` says how it counts rounds.

    The first row of its own is what weights are made of, and so is the total, if it has one. Both
    are kept as they were before each of the last ``delay`` outcomes, too.
    """

    delay: int = 0
    hint: float = 0.0
    alpha: float = 0.0

    def __post_init__(self) -> None:
        delay = check_delay(self.delay)
        hint = inputs.number("hint", self.hint, 0.0, 1.0, closed=True)
        object.__setattr__(self, "delay", delay)
        object.__setattr__(self, "hint", hint)
        if delay:
            made_of, *others = self.row_names
            totals = [name for total in self.total_names for name in age_names(total, delay)]
            object.__setattr__(self, "row_names", (*age_names(made_of, delay), *others))
            object.__setattr__(self, "total_names", tuple(totals))
            object.__setattr__(self, "breaks", {**self.breaks, "run_folds_step": PLAYED_EARLIER})
        self._prepare(delay, hint)

    @property
    def _repeats(self) -> float:
        """How often the last rises are counted once more."""
        return self.hint * (self.delay + 1)

    @property
    def _missed(self) -> float:
        """How many rounds are unknown when a round is played, itself too, or hinted wrongly."""
        return self.delay + 1 + self._repeats


def check_delay(delay: object) -> int:
    """Check that a delay is a whole number from 0 to the longest, and return it as an int."""
    rounds = inputs.count("delay", delay, least=0)
    if rounds > LONGEST:
        raise ValueError(f"delay must be at most {LONGEST}, got {rounds}")
    return rounds


def age_names(name: str, delay: int) -> tuple[str, ...]:
    """Return the names of a number now and before each of the last outcomes."""
    return (name, *(f"{name} {ago} ago" for ago in range(1, delay + 1)))
