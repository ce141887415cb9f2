"""Owns a person's own operations: collections, values, and steps that are MongoDB's commands, from YAML.

`OwnOperations` and `Collections` are what a spec has; `read_workload` puts them together for the plan.
"""

from brimline.spec.own.collections import EXISTING, CollectionSpec, OwnIndex, TableSpec
from brimline.spec.own.forms import KeyOf, Table
from brimline.spec.own.operations import OwnOperation, OwnOperations
from brimline.spec.own.tables import Rows, Sample
from brimline.spec.own.workload import OwnWorkload, read_workload

__all__ = [
    "EXISTING",
    "CollectionSpec",
    "KeyOf",
    "OwnIndex",
    "OwnOperation",
    "OwnOperations",
    "OwnWorkload",
    "Rows",
    "Sample",
    "Table",
    "TableSpec",
    "read_workload",
]
