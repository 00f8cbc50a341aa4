"""Forecast hubs: read their folders, and blend the submissions of many teams into one."""

from normalhedge.hubs.blending import HubBlend, HubScore, blend_hub
from normalhedge.hubs.folder import Hub, HubModel, read_hub
from normalhedge.hubs.weights import capped

__all__ = ["Hub", "HubBlend", "HubModel", "HubScore", "blend_hub", "capped", "read_hub"]
