"""Blend whole tables of forecasts and outcomes in the order of time."""

from normalhedge.tables.blending import Blend, blend
from normalhedge.tables.hindsight import Hindsight, hindsight
from normalhedge.tables.timeline import Timeline, timeline

__all__ = ["Blend", "Hindsight", "Timeline", "blend", "hindsight", "timeline"]
