"""The run directory: written while a run goes on, read ever after.

The record is raw and immutable; what is derived from it (`analysis.json`, `report.html`) can be deleted and
made again.
"""

from brimline.record.environment import brimline_version, capture_environment
from brimline.record.experiment import ExperimentRecord, ExperimentWriter, TrialEntry, read_experiment
from brimline.record.layout import create_run_directory
from brimline.record.listing import RecordEntry, list_records
from brimline.record.model import RunRecord
from brimline.record.reader import read_record
from brimline.record.writer import RecordWriter

__all__ = [
    "ExperimentRecord",
    "ExperimentWriter",
    "RecordEntry",
    "RecordWriter",
    "RunRecord",
    "TrialEntry",
    "brimline_version",
    "capture_environment",
    "create_run_directory",
    "list_records",
    "read_experiment",
    "read_record",
]
