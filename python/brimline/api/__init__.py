"""Owns the functions behind every verb: spec in, result out. The command line is a thin shell over them."""

from brimline.api.ab import ABResult, ab
from brimline.api.capacity import capacity, frontier, resume_search
from brimline.api.checkup import checkup
from brimline.api.comparison import ComparisonResult, compare
from brimline.api.generate import GenerateResult, RowFormat, generate
from brimline.api.grow import GrowthResult, grow
from brimline.api.import_data import ImportResult, import_data, resume_import
from brimline.api.import_results import ImportedResult, import_results
from brimline.api.interfere import InterferenceResult, interfere_loaded
from brimline.api.lab import lab, lab_down, lab_status, lab_up, labs
from brimline.api.lint import LintResult, lint
from brimline.api.load import load
from brimline.api.options import Options
from brimline.api.reopen import open_result
from brimline.api.results import (
    AlreadyLoaded,
    CapacityResult,
    FrontierResult,
    LoadResult,
    Result,
    RunResult,
    SweepResult,
)
from brimline.api.run import run
from brimline.api.scan import ScanResult, scan
from brimline.api.stat import stat
from brimline.api.sweep import sweep
from brimline.api.trend import TrendResult, trend
from brimline.api.vary import VaryResult, vary
from brimline.api.ycsb import ycsb

__all__ = [
    "ABResult",
    "AlreadyLoaded",
    "CapacityResult",
    "ComparisonResult",
    "FrontierResult",
    "GenerateResult",
    "GrowthResult",
    "ImportResult",
    "ImportedResult",
    "InterferenceResult",
    "LintResult",
    "LoadResult",
    "Options",
    "Result",
    "RowFormat",
    "RunResult",
    "ScanResult",
    "SweepResult",
    "TrendResult",
    "VaryResult",
    "ab",
    "capacity",
    "checkup",
    "compare",
    "frontier",
    "generate",
    "grow",
    "import_data",
    "import_results",
    "interfere_loaded",
    "lab",
    "lab_down",
    "lab_status",
    "lab_up",
    "labs",
    "lint",
    "load",
    "open_result",
    "resume_import",
    "resume_search",
    "run",
    "scan",
    "stat",
    "sweep",
    "trend",
    "vary",
    "ycsb",
]
