"""Explanations: which experts gained weight, through which rounds, and what each is worth."""

from normalhedge.mixtures.explanations._explanation import (
    AGAIN as AGAIN,
    ESTIMATE as ESTIMATE,
    Absence as Absence,
    Explanation,
    Move as Move,
    WeightChange as WeightChange,
)
from normalhedge.mixtures.explanations._live import explain_mixture as explain_mixture
from normalhedge.mixtures.explanations._tracing import (
    estimate_absences as estimate_absences,
    trace_changes as trace_changes,
    trace_moves as trace_moves,
)

__all__ = ["Explanation"]
