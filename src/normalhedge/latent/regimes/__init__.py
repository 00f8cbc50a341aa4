"""Regimes of a series, found online by hedging over fitted models."""

from normalhedge.latent.regimes._baselines import baselines as baselines
from normalhedge.latent.regimes._encoding import KINDS as KINDS, Encoding as Encoding
from normalhedge.latent.regimes._evidence import Break, Evidence
from normalhedge.latent.regimes._forecasting import Forecast
from normalhedge.latent.regimes._hindsight import RegimesInHindsight
from normalhedge.latent.regimes._infer import infer, new_regimes as new_regimes, resume
from normalhedge.latent.regimes._inferred import Inferred, Live
from normalhedge.latent.regimes._regimes import Regimes
from normalhedge.latent.regimes._regimes_stream import (
    RegimesFile as RegimesFile,
    RegimesStream as RegimesStream,
)
from normalhedge.latent.regimes._settings import (
    LEAST_PATIENCE as LEAST_PATIENCE,
    MOST_PATIENCE as MOST_PATIENCE,
    RegimesSettings as RegimesSettings,
)
from normalhedge.latent.regimes._tables import (
    facts as facts,
    forecast_columns as forecast_columns,
    forecast_table as forecast_table,
    regime_table as regime_table,
    score_table as score_table,
    segment_table as segment_table,
)
from normalhedge.latent.regimes._verdict import verdict as verdict

__all__ = [
    "Break",
    "Evidence",
    "Forecast",
    "Inferred",
    "Live",
    "Regimes",
    "RegimesInHindsight",
    "infer",
    "resume",
]
