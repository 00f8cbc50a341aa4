"""Alerts: experts that got worse, stopped, or repeat another."""

from normalhedge.mixtures.alerts._alerts import (
    KINDS as KINDS,
    Alert,
    Watched as Watched,
    watch as watch,
)
from normalhedge.mixtures.alerts._watching import (
    watch_mixture as watch_mixture,
    watch_rows as watch_rows,
)

__all__ = ["Alert"]
