"""Owns watching the server on the run's clock, and comparing its command counters with brimline's."""

from brimline.monitor.absence import Absence, reason_text
from brimline.monitor.agreement import Agreement, CounterCheck, agreement_by_shard, agreement_of, check_agreement
from brimline.monitor.namespace import namespace_document
from brimline.monitor.opcounters import Opcounters, read_opcounters
from brimline.monitor.own_work import OwnCounts, brought_by_rows, command_names, of_shard, own_counts
from brimline.monitor.part_counts import PartCounts, read_part_counts
from brimline.monitor.row import CONSTANTS, COUNTERS, GAUGES, ServerRow
from brimline.monitor.sampler import SamplerCost, ServerSampler
from brimline.monitor.server_counters import around, read_counters
from brimline.monitor.sizes import data_sizes
from brimline.monitor.watched_process import WatchedProcess
from brimline.monitor.watched_server import NO_PRIMARY

__all__ = [
    "CONSTANTS",
    "COUNTERS",
    "GAUGES",
    "NO_PRIMARY",
    "Absence",
    "Agreement",
    "CounterCheck",
    "Opcounters",
    "OwnCounts",
    "PartCounts",
    "SamplerCost",
    "ServerRow",
    "ServerSampler",
    "WatchedProcess",
    "agreement_by_shard",
    "agreement_of",
    "around",
    "brought_by_rows",
    "check_agreement",
    "command_names",
    "data_sizes",
    "namespace_document",
    "of_shard",
    "own_counts",
    "read_counters",
    "read_opcounters",
    "read_part_counts",
    "reason_text",
]
