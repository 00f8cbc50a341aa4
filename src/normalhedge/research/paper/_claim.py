"""Claims of the paper, and the verdicts on them."""

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """The outcome of a claim; the value is the word of the page's style sheet."""

    HOLDS = "yes"
    PARTLY = "partly"
    FAILS = "no"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim.

    Examples
    --------
    >>> print(holds_only("for the L1 loss"))
    holds only for the L1 loss
    """

    outcome: Outcome  # whether the claim holds
    condition: str = ""  # if it holds partly: the words after "holds only"

    def __str__(self) -> str:
        if self.outcome is Outcome.PARTLY:
            return f"holds only {self.condition}"
        return "holds" if self.outcome is Outcome.HOLDS else "does not hold"


HOLDS = Verdict(Outcome.HOLDS)
FAILS = Verdict(Outcome.FAILS)


def holds_only(condition: str) -> Verdict:
    """Return the verdict on a claim that holds under a condition."""
    return Verdict(Outcome.PARTLY, condition)


def holds_if(true: object) -> Verdict:
    """Return the verdict on a claim that is either true or not."""
    return HOLDS if true else FAILS


@dataclass(frozen=True)
class PaperClaim:
    """A claim of the paper with its evidence: a row of the table of claims."""

    claim: str  # the claim, in our words
    where: str  # the section of the paper; "ours" at the end if the paper does not make the claim
    measured: str  # the measured numbers, in words
    sample: str  # the number of runs, and their spread
    rule: str  # the rule by which the verdict follows from the numbers
    verdict: Verdict  # the verdict on the claim as it is printed
    # numbers that go beyond the printed claim, in words; they do not count for the verdict
    beyond: str = ""

    @property
    def ours(self) -> bool:
        """Whether the paper does not make the claim."""
        return self.where.endswith("ours")

    def texts(self) -> dict[str, str]:
        """Return all fields as texts, by name."""
        return {name: str(value) for name, value in vars(self).items()}
