"""Owns how a soak is reported: what drifts, what changed, what stalls, on one time axis."""
