"""Regimes of a series, found as it comes in by hedging over fitted models."""
