"""The list of all parts of the paper, in the order of the page and of the table of claims."""

from normalhedge.research.paper import (
    _chance as chance,
    _comparisons as comparisons,
    _confidences as confidences,
    _figures as figures,
    _fixed_rate as fixed_rate,
    _hedge_bound as hedge_bound,
    _hidden as hidden,
    _hidden_claims as hidden_claims,
    _learning as learning,
    _pulse as pulse,
    _real as real,
    _switching as switching,
    _theorem_1 as theorem_1,
    frontier,
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
    real.PART,
    learning.PART,
    pulse.PART,
    frontier.PART,
)

CHOICES = {name: measurements for part in PARTS for name, measurements in part.choices.items()}
"""The names that ``--only`` accepts, and the measurements that each of them needs."""
