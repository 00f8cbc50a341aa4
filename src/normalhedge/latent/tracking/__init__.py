"""Tracking of moving positions, with Kalman filters or paths as experts."""
