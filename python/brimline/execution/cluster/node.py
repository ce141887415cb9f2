"""Owns the engine of one node: what the coordinator asks of it, whatever carries the questions.

It ends by itself when nobody has asked for a while: then the coordinator, or the way to it, is gone.
"""

import os
import platform
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from brimline import _native
from brimline.errors import BrimlineError
from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.node_import import ImportOrder, NodeImport
from brimline.monitor.host.asking import boot_id
from brimline.plan import Plan
from brimline.plan.operations import OperationsWork
from brimline.record.environment import brimline_version
from brimline.record.model import CLOCKS, NodeRow, SampleRow, Samples, Summary
from brimline.servers import OPEN

LEASE_S = 8.0
"""How long a run goes on that nobody asks about."""
UNASKED = 70
"""The code with which a node ends by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOrder:
    """A run on one node. `plan` has its share, and the rows of its tables; `plan_hash` is what it must come to."""

    plan: Plan
    plan_hash: str
    identity: bytes | None

    @property
    def rows_bytes(self) -> int:
        """What the rows of its tables take, which is nearly all of a large order."""
        work = self.plan.work
        return sum(map(len, work.table_contents())) if isinstance(work, OperationsWork) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a node says when it is looked at."""

    progress: "_native.Progress"
    samples: Samples


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a node can't do what it was asked for."""

    reason: str


_Work = TypeVar("_Work", _native.Run, NodeImport)


class NodeEngine:
    """The engine of this process; calls come one after the other."""

    def __init__(self, *, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._run: _native.Run | NodeImport | None = None
        self._given: PortableAccess | None = None
        self._access = OPEN
        self._asked_at = time.monotonic()

    def hello(self) -> dict[str, Any]:
        """Who is here: versions, host, process, processors, and which of these are shared with others."""
        return {
            "version": brimline_version(),
            "engine": _native.__version__,
            "python": platform.python_version(),
            "host": platform.node(),
            "pid": os.getpid(),
            "cpu_cores": len(os.sched_getaffinity(0)),
            "network": network(),
            "boot": boot_id(),
            "processes": process_space(),
        }

    def clock(self) -> int:
        """What the monotonic clock shows here, in ns."""
        self._asked_at = time.monotonic()
        return self._clock()

    def admit(self, access: PortableAccess, ca: bytes | None) -> str | None:
        """Takes what opens the server, its authority's certificate apart; why it can't be used, where it can't.

        In a call of its own: what carries calls may put a large one, as of a plan with rows, where others can read it.
        """
        if (given := replace(access, ca=ca)) == self._given:
            return None
        try:
            self._given, self._access = given, given.opened()
        except BrimlineError as error:
            self._given = None
            return error.message
        return None

    def start(self, order: NodeOrder) -> str | None:
        """Starts a run that is held; why it can't be performed here, where it can't."""
        from brimline.execution.execute import start_engine  # of no use before a run

        self.end()
        self._asked_at = time.monotonic()
        if (found := order.plan.hash8()) != order.plan_hash:
            return f"the plan that arrived is another one: its hash is {found}, not {order.plan_hash}"
        try:
            self._run = start_engine(order.plan, self._access, held=True, identity=order.identity)
        except BrimlineError as error:
            return error.message
        self._lease(self._run)
        return None

    def begin_import(self, order: ImportOrder) -> list[int]:
        """Takes an import on; which of its inputs are not here, so that they have to be sent."""
        self.end()
        self._run = work = NodeImport(order, clock=self._clock)
        self._lease(work)
        return work.missing()

    def of_import(self, name: str, *arguments: Any) -> Any:
        """What the import's method of this name answers; why it can't, where what it needs is not to be had here."""
        work = self._started(NodeImport)
        try:
            answer = getattr(work, name)(*arguments, *((self._access,) if name == "start" else ()))
        except BrimlineError as error:
            return Refusal(error.message)
        except OSError as error:
            return Refusal(error.strerror or str(error))
        finally:
            self._asked_at = time.monotonic()
        return answer

    def look(self, wait_s: float, settled_elsewhere: int) -> Look:
        """What the run is at, after up to `wait_s`, and its samples since the last look."""
        run = self._started(_native.Run)
        run.note_settled(settled_elsewhere)
        progress = run.poll(wait_s)
        samples = run.take_samples()
        self._asked_at = time.monotonic()
        return Look(progress=progress, samples={**samples, "nodes": node_rows(samples)})

    def release(self, at_ns: int) -> int:
        """Lets the run go at `at_ns` of this node's clock; how late that was, in ns, 0 where it lies ahead."""
        ahead_of_system_ns = self._clock() - time.monotonic_ns()
        self._started(_native.Run).release(at_ns - ahead_of_system_ns)
        return max(0, self._clock() - at_ns)

    def stop(self) -> None:
        """See `_native.Run.stop`."""
        self._started(_native.Run).stop()

    def abort(self) -> None:
        """See `_native.Run.abort`."""
        self._started(_native.Run).abort()

    def join(self) -> Summary | str:
        """The summary; why the target could never be reached, where it could not."""
        try:
            return self._started(_native.Run).join()
        except _native.TargetError as error:
            return str(error.args[0])
        finally:
            self._run = None

    def end(self) -> None:
        """Gives a run up that is still under way."""
        if self._run is not None:
            self._run.abort()
            if isinstance(self._run, NodeImport):
                self._run.close()
            self._run = None

    def _started(self, kind: type[_Work]) -> _Work:
        if not isinstance(self._run, kind):
            raise RuntimeError("no such work was started on this node")
        self._asked_at = time.monotonic()
        return self._run

    def _lease(self, work: _native.Run | NodeImport) -> None:
        self._asked_at = time.monotonic()  # what a large plan takes to begin is no silence
        threading.Thread(target=self._keep_lease, args=(work,), name="brimline-lease", daemon=True).start()

    def _keep_lease(self, run: _native.Run | NodeImport) -> None:
        """Ends this process when nobody has asked about its run for so long."""
        while self._run is run:
            time.sleep(LEASE_S / 10)
            if time.monotonic() - self._asked_at > LEASE_S and self._run is run:
                run.abort()
                os._exit(UNASKED)


def network() -> str:
    """Which network this process is in: two with the same have one loopback."""
    return f"{boot_id()} {Path('/proc/self/ns/net').readlink()}"


def process_space() -> str:
    """Where the ids of processes are those of this process."""
    return f"{boot_id()} {Path('/proc/self/ns/pid').readlink()}"


def node_rows(samples: Samples) -> list[NodeRow]:
    """One row per interval: what the node itself did in it."""
    by_span: dict[tuple[int, int], list[SampleRow]] = {}
    for row in samples["operations"]:
        by_span.setdefault((row["start_ns"], row["end_ns"]), []).append(row)
    rows = []
    for interval in samples["intervals"]:
        of_interval = by_span.get((interval["start_ns"], interval["end_ns"]), [])
        p99_ns = {clock: _p99_ns([row[clock] for row in of_interval]) for clock in CLOCKS}
        rows.append(
            NodeRow(
                node=0,
                **interval,
                sent=sum(row["sent"] for row in of_interval),
                ok=sum(row["ok"] for row in of_interval),
                miss=sum(row["miss"] for row in of_interval),
                failed=sum(row["failed"] for row in of_interval),
                held_back=sum(row["held_back"] for row in of_interval),
                service_p99_ns=p99_ns["service"],
                lag_p99_ns=p99_ns["lag"],
                clock_ahead_ns=0,
                clock_error_ns=0,
            )
        )
    return rows


def _p99_ns(texts: list[str | None]) -> int:
    given = [text for text in texts if text is not None]
    return _native.Histogram.decode(_native.merge_histograms(given)).quantile(0.99) if given else 0
