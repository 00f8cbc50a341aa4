"""Panels of expert forecasts."""
