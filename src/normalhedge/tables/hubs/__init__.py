"""Forecast hubs: read their folders, and blend the submissions of many teams into one."""

from normalhedge.tables.hubs.blending import HubBlend, HubScore, blend_hub
from normalhedge.tables.hubs.folder import Hub, HubModel, read_hub
from normalhedge.tables.hubs.weights import capped

__all__ = ["Hub", "HubBlend", "HubModel", "HubScore", "blend_hub", "capped", "read_hub"]
