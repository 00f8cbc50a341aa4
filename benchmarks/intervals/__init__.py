"""Intervals: ours beside ACI at its best rate, DtACI, AgACI and MAPIE."""
