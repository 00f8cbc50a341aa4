"""Tracking of moving positions, with Kalman filters or paths as experts."""

from normalhedge.latent.tracking._paths import Jitter, Move, ParticleFilter, Score
from normalhedge.latent.tracking._track import Track, TrackPrediction
from normalhedge.latent.tracking._tracker import HedgedTracker

__all__ = ["HedgedTracker", "Jitter", "Move", "ParticleFilter", "Score", "Track", "TrackPrediction"]
