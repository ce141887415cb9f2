"""Owns executing one plan: data in place, engine and monitor started, samples recorded, the record sealed."""

from brimline.run.data import DataPolicy, LoadReport, ensure_data, load_data, restore_data
from brimline.run.execute import RunContext, execute
from brimline.run.progress import ProgressSink, Silence, Tick
from brimline.run.stop import StopToken, interruptible

__all__ = [
    "DataPolicy",
    "LoadReport",
    "ProgressSink",
    "RunContext",
    "Silence",
    "StopToken",
    "Tick",
    "ensure_data",
    "execute",
    "interruptible",
    "load_data",
    "restore_data",
]
