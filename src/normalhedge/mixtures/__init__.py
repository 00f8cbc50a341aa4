"""The live mixture: forecasts of named experts and outcomes in, blended predictions out."""

from normalhedge.mixtures.losses import LOSSES, Loss, crps, pinball
from normalhedge.mixtures.mixture import Mixture
from normalhedge.mixtures.settings import MixtureOptions, MixtureSettings
from normalhedge.mixtures.summary import Summary
from normalhedge.mixtures.tickets import Prediction

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
