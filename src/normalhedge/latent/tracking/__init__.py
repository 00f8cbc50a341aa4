"""Tracking of moving positions, with Kalman filters or paths as experts."""

from normalhedge.latent.tracking._tracker import HedgedTracker, Jitter, ParticleFilter

__all__ = ["HedgedTracker", "Jitter", "ParticleFilter"]
