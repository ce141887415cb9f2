"""Owns which worker (pytest-xdist) runs which file of tests, and when.

Files with real servers mostly wait, and hold a generator to its times. The others only compute. All workers but the
last take files with servers first. The last one computes at a low priority: it has what the others leave of the
processor, and takes none from a generator. Files with servers and without a generator are patient: they come last, and
whichever worker has nothing else takes them.
"""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

WORKERS_MIN = 3
"""With fewer workers none is left to compute alone."""
NICENESS = 10
"""A tenth of what a process of usual priority has, where both want the same processor."""
_SERVERS = {"integration", "examples", "browser"}
"""Folders whose tests wait for real servers and programs."""
_REAL_TIME = re.compile(
    r"scripted_server|own_mongod|mark\.mongod|mark\.alone|sql_server|order_service|forwarder|terminal"
    r"|import (socket|subprocess|threading|time)\b|from (socket|subprocess|threading|time|concurrent)\b"
)
"""In a file of any other folder: it waits for others too."""
_NO_GENERATOR = re.compile(r"/browser/|/integration/test_(import|completion)")
"""Files with servers or programs in which no generator is held to its times."""


class Kind(Enum):
    """How a file of tests spends its time."""

    COMPUTES = "computes"
    WAITS = "waits"
    PATIENT = "patient"
    """It waits for others too, and none of them minds waiting for the processor."""


_COMPUTING_WORKER = (Kind.COMPUTES, Kind.PATIENT)
_OTHER_WORKERS = (Kind.WAITS, Kind.PATIENT, Kind.COMPUTES)
"""What each takes first, next, and last."""


def pytest_configure(config: Any) -> None:
    """A worker that computes steps back."""
    worker = getattr(config, "workerinput", None)
    if worker is None or not _computes(worker["workerid"], worker["workercount"]):
        return
    os.nice(NICENESS)
    with suppress(OSError):  # where each session has a share of its own (autogroup), a niceness counts within it alone
        os.setsid()
        Path("/proc/self/autogroup").write_text(str(NICENESS))


def _computes(worker: str, count: int) -> bool:
    return count >= WORKERS_MIN and worker == f"gw{count - 1}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items[:] = longest_first(items)


def longest_first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Long files come first, so that no worker has one left when the others are done."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    return [item for tests in sorted(files.values(), key=_length, reverse=True) for item in tests]


def _length(tests: Sequence[pytest.Item]) -> tuple[int, int]:
    return sum(item.get_closest_marker("slow") is not None for item in tests), len(tests)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> "Scheduler":
    return Scheduler(config, log)


class Scheduler(LoadFileScheduling):
    """Gives each worker the next whole file of its kind."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        self._kinds: dict[str, Kind] = {}

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        self.registered_collections[node] = _Places(self.registered_collections[node])

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """As in the base, and forgets a file that is done: after each test all that is left is counted."""
        name = self.registered_collections[node][item_index]
        file = self._split_scope(name)
        files = self.assigned_work[node]
        files[file][name] = True
        if all(files[file].values()):
            del files[file]
        self._reschedule(node)

    def _reschedule(self, node: WorkerController) -> None:
        if self.workqueue and self._next_of(node) is None and not node.shutting_down:
            node.shutdown()
        else:
            super()._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        file = self._next_of(node)
        if file is not None:
            self.workqueue.move_to_end(file, last=False)
            super()._assign_work_unit(node)

    def _next_of(self, node: WorkerController) -> str | None:
        """The file that a worker takes next; None where those that are left aren't for it."""
        order = _COMPUTING_WORKER if _computes(node.gateway.id, self.numnodes) else _OTHER_WORKERS
        return next((file for kind in order for file in self.workqueue if self._kind(file) is kind), None)

    def _kind(self, file: str) -> Kind:
        if file not in self._kinds:
            self._kinds[file] = kind_of(self.config.rootpath / file)
        return self._kinds[file]


class _Places(list[str]):
    """Names of tests whose places are asked for one after the other."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names)
        self._places = {name: place for place, name in enumerate(self)}

    def index(self, name: str, *_: Any) -> int:  # type: ignore[override]
        return self._places[name]


def kind_of(file: Path) -> Kind:
    """How a file of tests spends its time."""
    if _NO_GENERATOR.search(file.as_posix()):
        return Kind.PATIENT
    if _SERVERS & set(file.parts) or _REAL_TIME.search(file.read_text(encoding="utf-8")):
        return Kind.WAITS
    return Kind.COMPUTES
