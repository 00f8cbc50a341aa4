"""Tests of forecast hubs."""
