"""brimline itself, behind the interface that its peers have: `brimline.run` and `brimline.load` in this process.

A closed loop with one engine thread. A load has no warm-up, since nothing is compiled while it runs, and ends when its
documents are in: `--records` is how many, and its window is the whole load.

With `--client` the operations go through a driver in a process of its own, and a load has a warm-up and a window.
"""

import argparse
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import brimline
from benchmarks.peers.protocol import answer, options, say
from brimline import _native
from brimline.execution import Silence, Tick, documents_inserted
from brimline.plan import Plan

_OWN = "wire"
_READ_S = 2.0
"""Within which the runner has read the CPU time of a driver's process, which works on for so long."""


def main() -> None:
    """Runs one workload; see ../../README.md."""
    parser = options()
    parser.add_argument("--client", default=_OWN)
    given = parser.parse_args()
    by_count = given.client == _OWN and given.workload == "load"
    with tempfile.TemporaryDirectory(prefix="peers-brimline-") as runs:
        result = load(given, Path(runs)) if by_count else run(given, Path(runs))
    answer({"versions": {"brimline": _native.__version__}, **result})


def run(given: argparse.Namespace, runs: Path) -> dict[str, Any]:
    """Workload A or C over the measured window, or a driver's load: inserts of new records.

    A driver's process works on for a moment, so that it can be read.
    """
    is_driver, inserts = given.client != _OWN, given.workload == "load"
    length_s = given.measured_s + (_READ_S if is_driver else 0)
    work = {"operations": {"insert": 1}, "insert_batch_size": given.batch} if inserts else {}
    result = brimline.run(
        "ycsb-c" if inserts else f"ycsb-{given.workload}",
        overrides=overrides(given) | work | {"warmup": f"{given.warmup_s}s", "duration": f"{length_s}s"},
        options=brimline.Options(
            uri=given.uri, data="as-is", runs_dir=runs, progress=WindowOfRun(given.warmup_s, given.measured_s)
        ),
    )
    seen = result.observation
    # Throughput is of what was answered, found or not; both rates are shares of what failed as well.
    ended = seen.throughput_ops_per_s * seen.measured_s / max(1 - seen.error_rate, 1e-9)
    failed = (seen.error_rate + seen.miss_rate) * ended
    told = {
        "failed": round(failed) * given.batch,
        "p50_ns": seen.service and seen.service.p50_ns,
        "p99_ns": seen.service and seen.service.p99_ns,
    }
    if not is_driver:
        return told | {
            "operations": round(ended - failed),
            "window_ns": round(seen.measured_s * 1e9),
            "engine_cpu_ns": seen.generator.engine_cpu_ns,
        }
    [runner] = (result.record.summary or {})["runners"]
    return told | {
        "operations": None,  # those of the window only the server has counted
        "window_ns": round(given.measured_s * 1e9),
        "versions": {runner["driver"]: runner["driver_version"], runner["runtime"]: runner["runtime_version"]},
    }


def load(given: argparse.Namespace, runs: Path) -> dict[str, Any]:
    """The load phase, from the first document to the last."""
    progress = WindowOfLoad()
    result = brimline.load(
        "ycsb-c",
        overrides=overrides(given) | {"data.batch_size": given.batch},
        options=brimline.Options(uri=given.uri, drop=True, runs_dir=runs, progress=progress),
    )
    seen, inserted = result.observation, documents_inserted(result.record)
    return {
        "operations": inserted,
        "failed": given.records - inserted,
        "window_ns": progress.window_ns,
        "p50_ns": seen.service and seen.service.p50_ns,
        "p99_ns": seen.service and seen.service.p99_ns,
        "engine_cpu_ns": seen.generator.engine_cpu_ns,
    }


def overrides(given: argparse.Namespace) -> dict[str, object]:
    """The workload as every peer has it."""
    return {
        "data.records": given.records,
        "data.database": given.database,
        "data.collection": given.collection,
        "connections": given.threads,
        "threads": 1,
        "seed": given.seed,
        "target.client": given.client,
    }


class WindowOfRun(Silence):
    """Says when the measured window begins and ends, by the engine's clock."""

    def __init__(self, warmup_s: float, measured_s: float) -> None:
        self._warmup_s, self._measured_s = warmup_s, measured_s
        self._thread: threading.Thread | None = None

    def tick(self, tick: Tick) -> None:
        """The first news of a running engine tells when its clock started."""
        if self._thread is None and tick.stage == "running":
            start_s = time.monotonic() - tick.elapsed_s
            self._thread = threading.Thread(target=self._follow, args=(start_s,))
            self._thread.start()

    def end(self) -> None:
        """The drain may end within the last instants of the window."""
        if self._thread is not None:
            self._thread.join()

    def _follow(self, start_s: float) -> None:
        say("ready")
        sleep_until(start_s + self._warmup_s)
        say("begin")
        sleep_until(start_s + self._warmup_s + self._measured_s)
        say("end")


class WindowOfLoad(Silence):
    """Says when the load begins and ends, connecting included."""

    window_ns = 0

    def begin(self, title: str, plan: Plan) -> None:  # noqa: ARG002 (the interface of a sink)
        """The engine has been started."""
        self._begin_ns = time.monotonic_ns()
        say("ready")
        say("begin")

    def end(self) -> None:
        """Every document has been answered."""
        self.window_ns = time.monotonic_ns() - self._begin_ns
        say("end")


def sleep_until(instant_s: float) -> None:
    """Sleeps until that instant of the monotonic clock."""
    time.sleep(max(instant_s - time.monotonic(), 0))


if __name__ == "__main__":
    main()
