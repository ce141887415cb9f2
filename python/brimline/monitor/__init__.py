"""Owns watching the server on the run's clock, and comparing its command counters with brimline's."""

from brimline.monitor.absence import Absence
from brimline.monitor.agreement import Agreement, CounterCheck, check_agreement
from brimline.monitor.namespace import namespace_document
from brimline.monitor.opcounters import Opcounters, added, read_opcounters
from brimline.monitor.row import CONSTANTS, COUNTERS, GAUGES, ServerRow
from brimline.monitor.sampler import SamplerCost, ServerSampler

__all__ = [
    "CONSTANTS",
    "COUNTERS",
    "GAUGES",
    "Absence",
    "Agreement",
    "CounterCheck",
    "Opcounters",
    "SamplerCost",
    "ServerRow",
    "ServerSampler",
    "added",
    "check_agreement",
    "namespace_document",
    "read_opcounters",
]
