"""Owns the options that verbs share, in groups. From them come the command line, Python's words and the reference."""

from brimline.api.options.data import DataOptions
from brimline.api.options.group import Group, Option, option, typed
from brimline.api.options.load import LoadOptions
from brimline.api.options.objective import ObjectiveOptions
from brimline.api.options.record import RUNS_DIRECTORY_VARIABLE, RecordOptions, default_runs_directory
from brimline.api.options.server import ServerOptions
from brimline.api.options.surroundings import URI_VARIABLE, Options, named_uri
from brimline.api.options.workload import WorkloadOptions

__all__ = [
    "RUNS_DIRECTORY_VARIABLE",
    "URI_VARIABLE",
    "DataOptions",
    "Group",
    "LoadOptions",
    "ObjectiveOptions",
    "Option",
    "Options",
    "RecordOptions",
    "ServerOptions",
    "WorkloadOptions",
    "default_runs_directory",
    "named_uri",
    "option",
    "typed",
]
