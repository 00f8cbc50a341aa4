"""People's experts by name: forecasts and outcomes in, blended predictions out."""

from normalhedge.mixtures.blending import Blend, blend
from normalhedge.mixtures.losses import LOSSES, Loss, pinball
from normalhedge.mixtures.mixture import Mixture
from normalhedge.mixtures.summary import Summary
from normalhedge.mixtures.tickets import Prediction

__all__ = ["Blend", "LOSSES", "Loss", "Mixture", "Prediction", "Summary", "blend", "pinball"]  # noqa: RUF022
