"""Regimes of a series, found online by hedging over fitted models."""
