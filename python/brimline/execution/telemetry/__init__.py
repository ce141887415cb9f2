"""Owns figures for those who look on from elsewhere while a run is at work: a page for Prometheus, and OpenTelemetry.

Their one source is what every screen is told (`execution.progress`). A thread of their own adds it up and hands it out;
the load never waits for it.
"""

from brimline.execution.telemetry.sink import Telemetry, at_work, telemetry_beside

__all__ = ["Telemetry", "at_work", "telemetry_beside"]
