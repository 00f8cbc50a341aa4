"""The list of all parts of the paper, in the order of the page and of the table of claims."""

from normalhedge.research.paper import (
    chance,
    comparisons,
    confidences,
    figures,
    fixed_rate,
    frontier,
    hedge_bound,
    hidden,
    hidden_claims,
    learning,
    pulse,
    switching,
    theorem_1,
)

PARTS = (
    figures.PART,
    theorem_1.PART,
    chance.PART,
    switching.PART,
    confidences.PART,
    hedge_bound.PART,
    fixed_rate.PART,
    comparisons.PART,
    hidden.PART,
    hidden_claims.PART,
    learning.PART,
    pulse.PART,
    frontier.PART,
)

CHOICES = {name: measurements for part in PARTS for name, measurements in part.choices.items()}
"""The names that ``--only`` accepts, and the measurements that each of them needs."""
