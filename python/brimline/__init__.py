"""brimline finds how much load a MongoDB deployment can take, why it stops there, and how sure that is.

import brimline

result = brimline.capacity("ycsb-b", preset="quick")
print(result.conclusion.headline)
frames = brimline.run("ycsb-a", overrides={"duration": "10s"}).record.frames()
"""

from brimline.api import (
    CapacityResult,
    LoadResult,
    Options,
    RunResult,
    SweepResult,
    capacity,
    load,
    open_result,
    run,
    sweep,
)
from brimline.errors import BrimlineError

__all__ = [
    "BrimlineError",
    "CapacityResult",
    "LoadResult",
    "Options",
    "RunResult",
    "SweepResult",
    "capacity",
    "load",
    "open_result",
    "run",
    "sweep",
]
