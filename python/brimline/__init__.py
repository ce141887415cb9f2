"""brimline finds how much load a MongoDB deployment can take, why it stops there, and how sure that is.

import brimline

result = brimline.capacity("ycsb-b", preset="quick")
print(result.conclusion.headline)
frames = brimline.run("ycsb-a", overrides={"duration": "10s"}).record.frames()
"""

TYPE_CHECKING = False  # as type checkers read it: `typing` takes longer to import than all that comes before the mask
if TYPE_CHECKING:
    from typing import Any

    from brimline.api.ab import ABResult, ab
    from brimline.api.capacity import capacity, frontier, resume_search
    from brimline.api.comparison import ComparisonResult, compare
    from brimline.api.lab import lab
    from brimline.api.load import load
    from brimline.api.options import LoadOptions, ObjectiveOptions, Options
    from brimline.api.reopen import open_result
    from brimline.api.results import (
        AlreadyLoaded,
        CapacityResult,
        FrontierResult,
        LoadResult,
        Loads,
        RunResult,
        SweepResult,
    )
    from brimline.api.run import run
    from brimline.api.scan import ScanResult, scan
    from brimline.api.sweep import sweep
    from brimline.api.trend import TrendResult, trend
    from brimline.api.vary import VaryResult, vary
    from brimline.errors import BrimlineError

__all__ = [
    "ABResult",
    "AlreadyLoaded",
    "BrimlineError",
    "CapacityResult",
    "ComparisonResult",
    "FrontierResult",
    "LoadOptions",
    "LoadResult",
    "Loads",
    "ObjectiveOptions",
    "Options",
    "RunResult",
    "ScanResult",
    "SweepResult",
    "TrendResult",
    "VaryResult",
    "ab",
    "capacity",
    "compare",
    "frontier",
    "lab",
    "load",
    "open_result",
    "resume_search",
    "run",
    "scan",
    "sweep",
    "trend",
    "vary",
]
_HOMES = {
    "ABResult": "brimline.api.ab",
    "AlreadyLoaded": "brimline.api.results",
    "BrimlineError": "brimline.errors",
    "CapacityResult": "brimline.api.results",
    "ComparisonResult": "brimline.api.comparison",
    "FrontierResult": "brimline.api.results",
    "LoadOptions": "brimline.api.options",
    "LoadResult": "brimline.api.results",
    "Loads": "brimline.api.results",
    "ObjectiveOptions": "brimline.api.options",
    "Options": "brimline.api.options",
    "RunResult": "brimline.api.results",
    "ScanResult": "brimline.api.scan",
    "SweepResult": "brimline.api.results",
    "TrendResult": "brimline.api.trend",
    "VaryResult": "brimline.api.vary",
    "__version__": "brimline._native",
    "ab": "brimline.api.ab",
    "capacity": "brimline.api.capacity",
    "compare": "brimline.api.comparison",
    "frontier": "brimline.api.capacity",
    "lab": "brimline.api.lab",
    "load": "brimline.api.load",
    "open_result": "brimline.api.reopen",
    "resume_search": "brimline.api.capacity",
    "run": "brimline.api.run",
    "scan": "brimline.api.scan",
    "sweep": "brimline.api.sweep",
    "trend": "brimline.api.trend",
    "vary": "brimline.api.vary",
}


def __getattr__(name: str) -> "Any":
    # Imported when first asked for: a load needs a third of it all, and a program wants to take over Ctrl-C first.
    if name not in _HOMES:
        raise AttributeError(f"module 'brimline' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
