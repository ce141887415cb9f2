"""Recorded workloads of YCSB on the virtual clock."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from brimline.compat.ycsb import measurement_rows, render
from brimline.execution import execute
from brimline.plan import SimulatedTarget, load_plan, resolve
from brimline.record.model import Samples
from brimline.spec import load_ycsb
from brimline.spec.ycsb_front import Phase
from tests.support.simulation import GENERATOR_NS, context
from tests.support.ycsb_golden import GOLDEN

MS = 1_000_000
STEADY = {"service": {"kind": "fixed", "ns": 2 * MS}}
BROKEN = {**STEADY, "faults": [{"when": {"share": 0.2}, "kind": {"error": {"code": 11600, "name": "Interrupted"}}}]}


class Run:
    """One simulated run of a recorded workload: its record, and what it was asked to print."""

    def __init__(
        self, directory: Path, *properties: str, workload: str = "a", phase: Phase = "run", script: Mapping[str, Any]
    ) -> None:
        self.samples: list[Samples] = []
        loaded, self.output = load_ycsb([GOLDEN / f"workload{workload}.properties"], properties, phase=phase)
        target = SimulatedTarget(script=dict(script), generator_ns=GENERATOR_NS)
        plan = (load_plan if phase == "load" else resolve)(loaded.spec, target=target)
        surroundings = replace(context(), on_samples=self.samples.append)
        self.record = execute(plan, directory=directory / "run", title="simulated", context=surroundings)

    def text(self) -> str:
        return render(measurement_rows(self.record, self.output), self.output.exporter)

    def values(self) -> dict[tuple[str, str], int | float]:
        return {
            (metric, measurement): value for metric, measurement, value in measurement_rows(self.record, self.output)
        }
