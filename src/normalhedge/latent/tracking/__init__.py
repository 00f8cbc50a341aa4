"""Positions that move: Kalman filters, or paths of your own dynamics, as experts."""
