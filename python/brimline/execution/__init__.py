"""Owns executing one plan: data in place, engine and monitor started, samples recorded, the record sealed."""

from brimline.execution.data import (
    RESUME_HINT,
    LoadReport,
    MakeDirectory,
    add_data,
    documents_inserted,
    load_data,
)
from brimline.execution.descriptors import allow_connections, allow_descriptors, connections_allowed
from brimline.execution.ensure import DataPolicy, ensure_data
from brimline.execution.execute import RunContext, execute, execute_unread
from brimline.execution.executor import Executor
from brimline.execution.keeper import keeper, putting_back
from brimline.execution.log_room import check_room
from brimline.execution.progress import Outcome, ProgressSink, Silence, SoFar, Tick
from brimline.execution.recent import Recent, latest_by_operation, recent
from brimline.execution.stop import StopToken, interruptible
from brimline.execution.wanted import WantedData

__all__ = [
    "RESUME_HINT",
    "DataPolicy",
    "Executor",
    "LoadReport",
    "MakeDirectory",
    "Outcome",
    "ProgressSink",
    "Recent",
    "RunContext",
    "Silence",
    "SoFar",
    "StopToken",
    "Tick",
    "WantedData",
    "add_data",
    "allow_connections",
    "allow_descriptors",
    "check_room",
    "connections_allowed",
    "documents_inserted",
    "ensure_data",
    "execute",
    "execute_unread",
    "interruptible",
    "keeper",
    "latest_by_operation",
    "load_data",
    "putting_back",
    "recent",
]
