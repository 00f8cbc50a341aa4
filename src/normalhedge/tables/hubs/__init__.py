"""Forecast hubs: read their folders, and blend the submissions of many teams into one."""

from normalhedge.tables.hubs._blending import (
    KNOWN_AFTER as KNOWN_AFTER,
    NAME as NAME,
    HubBlend,
    HubScore,
    blend_hub,
)
from normalhedge.tables.hubs._folder import Hub, HubModel, read_hub
from normalhedge.tables.hubs._text_tables import LARGEST_FILE as LARGEST_FILE
from normalhedge.tables.hubs._weights import capped

__all__ = ["Hub", "HubBlend", "HubModel", "HubScore", "blend_hub", "capped", "read_hub"]
