"""Owns the background workloads of an interference experiment: each works in a thread until it is told to stop.

Their documents are those of a plan of their own, in a collection of their own, which is removed afterwards.
"""

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pymongo.errors import PyMongoError

from brimline import _native, dataset
from brimline.dataset.access import WORK_WITHIN_S, DataDatabase, target_errors
from brimline.dataset.manifest import MANIFEST_COLLECTION
from brimline.errors import BrimlineError, TargetError
from brimline.execution.database import database_named
from brimline.execution.execute import RunContext, start_engine, unsampled_state
from brimline.execution.import_collection import Namespace
from brimline.execution.import_data import import_plan, start_import
from brimline.execution.unrecorded import execute_unrecorded
from brimline.plan import Plan
from brimline.record.background import Activity
from brimline.record.data_import import InputFile, documents_in
from brimline.servers import Deployment
from brimline.servers.owner import Owner
from brimline.spec.import_settings import ImportSettings
from brimline.threads import Worker
from brimline.units import NS_PER_S, counted

BACKGROUND_COLLECTION = "brimline_background"
LOOK_S = 0.1
_BEGIN_WITHIN_S = 60.0
_END_WITHIN_S = WORK_WITHIN_S + 60.0
"""Longer than any command of its own may take."""
_WITHOUT_END_NS = 24 * 3600 * NS_PER_S
_INDEX_NAME = "brimline_background"


class Background(ABC):
    """Work beside a run, as `text` asks for it. `plan` is the load of its documents.

    `start` returns once it is at work, `stop` once it has ended. Each start begins anew.
    """

    kind: str
    unit: str
    needs_documents = True

    def __init__(self, plan: Plan, deployment: Deployment, *, text: str = "") -> None:
        self.plan = plan
        self.text = text or self.kind
        self._deployment = deployment
        self._thread: Worker | None = None
        self._stop = threading.Event()
        self._at_work = threading.Event()
        self._forget()

    def _forget(self) -> None:
        self._stop.clear()
        self._at_work.clear()
        self._spans: list[tuple[int, int]] = []
        self._progress: list[tuple[int, int]] = []
        self._units = 0
        self._sizes: list[int] = []
        self._error: str | None = None

    def prepare(self, context: RunContext) -> None:
        """Loads what it works on, if it needs anything. Raises BrimlineError, Interrupted where `context` stops it."""
        if not self.needs_documents:
            return
        self._make_collection()
        summary = execute_unrecorded(self.plan, context=context)
        context.stop.raise_if_requested()
        inserted = summary["inserts"]["inserted"]
        if inserted != self.plan.data.record_count:
            raise TargetError(
                f"{inserted} of {counted(self.plan.data.record_count, 'document')} of the background were inserted",
                hint="check the server's disk and its log",
            )

    def start(self) -> None:
        """Begins, and waits until it is at work. Raises TargetError when it isn't within a minute."""
        self._forget()
        self._thread = Worker(self._work_and_tell, name=f"the background {self.text}")
        self._thread.start()
        # What began and came to its end at once is told by what it did, not here.
        has_begun = self._at_work.wait(_BEGIN_WITHIN_S) and (self._error is None or bool(self._progress))
        if not has_begun:
            activity = self.stop()
            raise TargetError(
                f"the background {self.text} didn't begin: {activity.error or 'nothing was done within a minute'}",
                hint="check the server's log",
            )

    def stop(self) -> Activity:
        """Ends it and says what it did. What it has made itself is removed by `clean`."""
        self._stop.set()
        if self._thread is not None:
            if not self._thread.join(_END_WITHIN_S):
                self._error = f"it did not end within {_END_WITHIN_S:.0f} s"
            self._thread = None
        return Activity(
            kind=self.text,
            unit=self.unit,
            spans=tuple(self._spans),
            progress=tuple(self._progress),
            sizes_bytes=tuple(self._sizes),
            error=self._error,
        )

    def clean(self) -> None:  # noqa: B027 - most leave nothing behind
        """Takes away what the work between start and stop has made. Raises TargetError."""

    def remove(self) -> None:
        """Removes its collection and the word of it. Raises TargetError."""
        name = self.plan.namespace.collection
        with self._database() as database, target_errors("removing the background's collection"):
            database.drop_collection(name)
            database[MANIFEST_COLLECTION].delete_one({"_id": name})

    @abstractmethod
    def _work(self) -> None:
        """Works until `self._stop` is set; an early return is an early end."""

    def _work_and_tell(self) -> None:
        try:
            self._work()
            if not self._stop.is_set():
                self._error = self._error or "it came to its end by itself"
        except (PyMongoError, BrimlineError, OSError, ValueError) as error:
            if not self._stop.is_set():
                self._error = str(error)
        finally:
            self._at_work.set()

    @contextmanager
    def _span(self) -> Iterator[None]:
        """Around what is work."""
        begun = _native.unix_now_ns()
        self._at_work.set()
        try:
            yield
        finally:
            self._spans.append((begun, _native.unix_now_ns()))

    def _advance(self, units: int) -> None:
        self._units += units
        self._progress.append((_native.unix_now_ns(), self._units))

    def _made(self, size_bytes: int) -> None:
        """One more of what has a size."""
        self._sizes.append(size_bytes)
        self._advance(1)

    def _make_collection(self) -> None:
        with self._database() as database:
            manifest = replace(dataset.manifest_for(self.plan), owner=Owner.current().to_document())
            dataset.prepare(database, manifest)

    def _database(self) -> AbstractContextManager[DataDatabase]:
        """That of its documents, at all servers that have a part of them."""
        return database_named(self.plan.namespace.database, self._deployment, purpose="background")


class Import(Background):
    """Inserts the documents of its plan, as fast as the server takes them."""

    kind, unit = "import", "documents"
    needs_documents = False

    def _work(self) -> None:
        self._make_collection()
        run = start_engine(self.plan, self._deployment.access)
        begun: int | None = None
        try:
            while True:
                state = unsampled_state(run, LOOK_S)
                if state["documents"] > 0:
                    begun = begun or _native.unix_now_ns()
                    self._at_work.set()
                    self._progress.append((_native.unix_now_ns(), state["documents"]))
                if state["failed"] > 0:
                    raise TargetError(f"{state['failed']} insert commands failed")
                if state["stage"] == "finished":
                    self._error = f"all {counted(state['documents'], 'document')} are in"
                    break
                if self._stop.is_set():
                    break
            if begun is not None:
                self._spans.append((begun, _native.unix_now_ns()))
        finally:
            # What is in flight is waited for: a batch that came in after `clean` would make the collection anew.
            run.stop()
            with suppress(OSError):  # a target that went away is told by the run beside it
                run.join()

    def clean(self) -> None:
        """Drops what was imported, so that the next one finds the disk as this one did."""
        self.remove()


class Scan(Background):
    """Reads its whole collection again and again, with a condition that no document meets and no index helps."""

    kind, unit = "scan", "documents"

    def _work(self) -> None:
        pipeline: list[dict[str, Any]] = [{"$match": {"brimline_nowhere": 1}}, {"$count": "count"}]
        with self._database() as database:
            collection = database[self.plan.namespace.collection]
            while not self._stop.is_set():
                with self._span():
                    next(iter(collection.aggregate(pipeline, hint={"$natural": 1})), None)
                self._advance(self.plan.data.record_count)


class IndexBuild(Background):
    """Builds an index over its collection, drops it, and builds it again."""

    kind, unit = "index", "builds"

    def _work(self) -> None:
        first_field = self.plan.data.template[0]["name"] if self.plan.data.template else "field0"
        with self._database() as database:
            collection = database[self.plan.namespace.collection]
            while not self._stop.is_set():
                with self._span():
                    collection.create_index([(first_field, 1)], name=_INDEX_NAME)
                    collection.drop_index(_INDEX_NAME)
                self._advance(1)


class Work(Background):
    """Another workload, whose run is `run_plan`, on documents of its own; it has no end of its own."""

    kind, unit = "workload", "operations"

    def __init__(self, plan: Plan, deployment: Deployment, run_plan: Plan, *, text: str) -> None:
        super().__init__(plan, deployment, text=text)
        self._run_plan = run_plan.model_copy(
            update={"warmup_ns": 0, "duration_ns": _WITHOUT_END_NS, "operation_count": None}
        )

    def _work(self) -> None:
        run = start_engine(self._run_plan, self._deployment.access)
        begun: int | None = None
        try:
            while not self._stop.is_set():
                state = unsampled_state(run, LOOK_S)
                done = state["ok"] + state["miss"]
                if done > 0:
                    begun = begun or _native.unix_now_ns()
                    self._at_work.set()
                    self._progress.append((_native.unix_now_ns(), done))
                if state["stage"] == "finished":
                    self._error = f"it ended after {counted(done, 'operation')}"
                    break
            if begun is not None:
                self._spans.append((begun, _native.unix_now_ns()))
        finally:
            run.stop()  # what is in flight is waited for, as with an import
            with suppress(OSError):
                run.join()


class FileImport(Background):
    """Imports a file as `brimline import` does; one that comes to its end is imported again, after a drop."""

    kind, unit = "import", "documents"
    needs_documents = False

    def __init__(
        self, plan: Plan, deployment: Deployment, file: InputFile, settings: ImportSettings, *, text: str
    ) -> None:
        super().__init__(plan, deployment, text=text)
        self._file = file
        self._settings = settings

    def _work(self) -> None:
        total = 0
        try:
            while not self._stop.is_set():
                self._make_collection()
                total = self._once(total)
                self.remove()
        finally:
            if self._progress:  # a drop between two imports is work as well
                self._spans.append((self._progress[0][0], _native.unix_now_ns()))

    def _once(self, before: int) -> int:
        """Imports the file once; returns how many documents came in, with those `before`."""
        namespace = Namespace(self.plan.namespace.database, self.plan.namespace.collection)
        with TemporaryDirectory(prefix="brimline-") as directory:
            plan = import_plan(self._deployment, namespace, [self._file], self._settings, directory=Path(directory))
            handle = start_import(plan, self._deployment.access, held=False)
            done = 0
            try:
                while True:
                    progress = json.loads(handle.poll(LOOK_S))
                    handle.take_intervals()
                    done = documents_in(progress["counts"])
                    if done:
                        self._at_work.set()
                        self._progress.append((_native.unix_now_ns(), before + done))
                    if progress["is_over"] or self._stop.is_set():
                        break
            finally:
                handle.stop()
                summary = json.loads(handle.join())
        if not self._stop.is_set() and (not done or summary["ending"]["kind"] != "completed"):
            raise TargetError(f"the import ended: {summary['ending'].get('reason') or 'the file holds no document'}")
        return before + done

    def clean(self) -> None:
        """Drops what was imported, so that the next one finds the disk as this one did."""
        self.remove()


_KINDS: dict[str, type[Background]] = {each.kind: each for each in (Import, Scan, IndexBuild)}


def background(kind: str, plan: Plan, deployment: Deployment) -> Background:
    """The background of this kind: import, scan or index."""
    return _KINDS[kind](plan, deployment)
