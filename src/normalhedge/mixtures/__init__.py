"""The live mixture: forecasts of named experts and outcomes in, blended predictions out."""

from normalhedge.mixtures._mixture import Mixture
from normalhedge.mixtures.losses import LOSSES, Loss, crps, pinball
from normalhedge.mixtures.state import MixtureOptions, MixtureSettings, Prediction
from normalhedge.mixtures.summaries import Summary

__all__ = [
    "LOSSES",
    "Loss",
    "Mixture",
    "MixtureOptions",
    "MixtureSettings",
    "Prediction",
    "Summary",
    "crps",
    "pinball",
]
