"""Owns the execution of one plan: start the engine, watch, write down what comes, seal."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from brimline import _native
from brimline.errors import (
    BrimlineError,
    Interrupted,
    NodeGone,
    NotAllConnected,
    RecordError,
    ResourceError,
    TargetError,
    UsageError,
    on_one_line,
)
from brimline.execution.around import Around, around
from brimline.execution.carried import Carried
from brimline.execution.descriptors import allow_descriptors
from brimline.execution.executor import Engine, Executor
from brimline.execution.log_room import check_room_for_log
from brimline.execution.progress import ProgressSink, Tick
from brimline.execution.stop import StopToken
from brimline.execution.wanted import WantedData
from brimline.execution.watching import Watching
from brimline.monitor import PartCounts
from brimline.monitor.host.source import HostSource
from brimline.plan import Plan
from brimline.plan.operations import OperationsWork
from brimline.plan.targets import runner_of
from brimline.record import RecordWriter, RunRecord, read_record
from brimline.record.layout import WORKER_LOST
from brimline.record.model import ErrorRow, Opcounters, Samples, Summary
from brimline.record.operation_log import log_path
from brimline.runners import CATALOGUE, command_of, runner_facts
from brimline.servers import OPEN, Access, Deployment
from brimline.servers.distrust import TURNED_AWAY
from brimline.units import NS_PER_S, format_duration
from brimline.wording import message

_POLL_S = 0.1
_TICK_S = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What surrounds a plan: the server behind its address, and what the record stores beside the samples.

    `deployment` is None when the target is no server. `on_samples` is shown the samples of a run as they are recorded.
    `executor`: who performs plans, None: the engine in this process. `wanted` is the data that brimline keeps as it was
    loaded, none where whatever is there is taken. `host` says how the server's host is doing where that is another
    machine, None where nothing does. `profiler_share`: of the commands of own operations that the server's profiler may
    record, None: none.
    """

    deployment: Deployment | None
    spec_text: str
    environment: Mapping[str, Any]
    progress: ProgressSink
    stop: StopToken
    executor: Executor | None = None
    on_samples: Callable[[Samples], None] | None = None
    wanted: Sequence[WantedData] = ()
    carried: Carried = field(default_factory=Carried)
    host: HostSource | None = None
    profiler_share: float | None = None

    def wanted_in(self, database: str, collection: str) -> WantedData | None:
        """The data of one collection, where it is kept."""
        namespace = f"{database}.{collection}"
        return next((each for each in self.wanted if each.namespace == namespace), None)

    @property
    def access(self) -> Access:
        """What opens the target."""
        return OPEN if self.deployment is None else self.deployment.access


Change = Callable[[], None]
"""The first change at the target: nothing is sent before it, and it is not made before everything else is there."""


Finish = Callable[[], None]
"""What belongs to a plan that went to its end, such as proving what was loaded, and making indexes over it."""


def execute(
    plan: Plan,
    *,
    directory: Path,
    title: str,
    context: RunContext,
    change: Change | None = None,
    finish: Finish | None = None,
) -> RunRecord:
    """As `execute_unread`; returns the sealed record."""
    execute_unread(plan, directory=directory, title=title, context=context, change=change, finish=finish)
    return read_record(directory)


def execute_unread(
    plan: Plan,
    *,
    directory: Path,
    title: str,
    context: RunContext,
    change: Change | None = None,
    finish: Finish | None = None,
) -> None:
    """Runs `plan` to its end, or to the end that `context.stop` or the target makes, and seals the record.

    It is not read back: that of a soak of days is read in blocks, by who knows that. `RunRecord.ended_by` says how it
    ended; a run that was cut short is no error here. `change` is made when the record is begun and all connections are
    there; an error of it ends the run before anything is sent. After it the target's data matter more than the record:
    where that can't be written any more, this is told when the run is over. `finish` comes before the sizes of the data
    are read; what it raises is raised once the record is sealed.

    Raises:
        UsageError: the plan needs more open files than there may be, the engine refuses it, or its log of operations
            has no room on the disk.
        TargetError: no connection could be made.
        RecordError: the record can't be written; what was written stays.
    """
    plan = context.carried.with_rows(plan)
    if context.executor is None:
        allow_descriptors(plan)
    else:
        context.executor.check(plan)
    check_room_for_log(plan, directory)
    TURNED_AWAY.take_s()  # what was waited before is no part of this run
    with RecordWriter(directory, plan, context.spec_text, context.environment) as writer, ExitStack() as profiler:
        for event in context.carried.take_events():
            writer.event(**event)
        looks = _Looks(around(plan, context.deployment), writer, context, profiler)
        try:
            looks.before()
            with Watching.during(plan, looks.target, context.host) as watching:
                begin = None if change is None else partial(looks.behind, change)
                summary = _drive(plan, writer, watching, title, context, begin=begin)
        except RecordError as error:
            with suppress(RecordError):  # where nothing can be written, it reads as killed
                _seal(writer, context, None, None, ended_by="error", message=error.message)
            raise
        except BrimlineError as error:
            _seal(writer, context, None, None, ended_by=_cut_by(error), message=error.message)
            raise
        summary = looks.after(summary, finish)
        watching.conclude(writer, looks.facts, summary)
        ended_by = _ended_by(summary, context.stop)
        _seal(writer, context, summary, looks.counters, ended_by=ended_by, message=summary["message"])
        if summary["ended_by"] == WORKER_LOST:
            context.stop.note_lost(summary["message"])
        if looks.unfinished is not None:
            raise looks.unfinished


@dataclass(slots=True)
class _Looks:
    """What is asked of a target around its load, most of which goes into the record at once.

    `facts` are what is known of the server, `counters` the difference over the load where both were told. `unfinished`
    is why what belongs to the plan could not be done behind it.
    """

    target: Around
    writer: RecordWriter
    context: RunContext
    profiler: ExitStack
    facts: dict[str, Any] = field(default_factory=dict)
    counters: Opcounters | None = None
    unfinished: BrimlineError | None = None
    _counted: Any = None
    _plans: Any = None
    _profiled: Any = None

    def before(self) -> None:
        """Looks at it before the load. Raises BrimlineError."""
        self._plans = self.target.plans()
        if self._plans:
            self.writer.plans({"start": self._plans})
        profiling = self.target.profiling(self.context.profiler_share, self.context.progress.warning)
        self._profiled = self.profiler.enter_context(profiling)
        self._note_sizes("before")
        self._counted = self.target.counters()

    def behind(self, change: Change) -> None:
        """Makes the change, behind which the load's figures begin. Raises BrimlineError."""
        change()
        self._note_sizes("before")
        self._counted = self.target.counters(connected=True)

    def after(self, summary: Summary, finish: Finish | None) -> Summary:
        """Looks at it once the load is over, and says whether it was lost until then. Raises RecordError."""
        sessions = summary.pop("unsettled_sessions", [])
        # A server that went away has nothing to tell any more, and asking it takes its time.
        if summary["ended_by"] == "target_lost":
            return summary
        target, stop = self.target, self.context.stop
        target.settle(sessions)
        try:
            self.counters = target.counted(self._counted, target.counters())
            parts = target.parts()  # not later: what finishes a load counts as well
            if finish is not None and _ended_by(summary, stop) == "completed":
                self.unfinished = _error_of(finish)
            # Of a load these are what is known after a checkpoint, for which a large one waits.
            self._note_sizes("after", parts=parts, is_over=not stop.requested)
            if not stop.urgent:
                profile = self._profiled.told()
                self.profiler.close()
                if self._plans or profile["profile"]:
                    self.writer.plans({"start": self._plans, "end": target.plans(), **profile})
        except TargetError as error:
            # It died, or fell silent, so late in the run that the engine was still waiting for it.
            return {**summary, "ended_by": "target_lost", "message": error.message}
        return summary

    def _note_sizes(self, instant: str, *, parts: Sequence[PartCounts] | None = None, is_over: bool = False) -> None:
        """How large the data is, before or after the load, and what its servers had counted then: now, or `parts`."""
        sizes = self.target.sizes(is_over=is_over, parts=self.target.parts() if parts is None else parts)
        if sizes is not None:
            self.facts[instant] = sizes
            self.writer.server_facts(self.facts)


def _seal(
    writer: RecordWriter,
    context: RunContext,
    summary: Summary | None,
    counters: Opcounters | None,
    *,
    ended_by: str,
    message: str,
) -> None:
    """Seals the record, however the run ended, with what is known by then of the looks at its server."""
    _tell_turned_away(writer, context)
    writer.seal(summary, counters, ended_by=ended_by, message=message)


def _tell_turned_away(writer: RecordWriter, context: RunContext) -> None:
    """Says how long those who looked at the server around this run waited in all until it had connections for them."""
    if waited_s := TURNED_AWAY.take_s():
        writer.event("turned_away", waited_s=round(waited_s, 3))
        context.progress.note(
            message(
                "the server closed new connections for {time} in all, as one at its limit does, and was asked again",
                time=format_duration(waited_s * NS_PER_S),
            )
        )


def _error_of(finish: Finish) -> BrimlineError | None:
    try:
        finish()
    except BrimlineError as error:
        return error
    return None


def _drive(
    plan: Plan,
    writer: RecordWriter,
    watching: Watching,
    title: str,
    context: RunContext,
    *,
    begin: Change | None = None,
) -> Summary:
    """Starts the engine and follows it to its end. Whatever happens here, the engine has ended afterwards.

    With `begin`, called when all connections are made, the record's errors are raised at the end.
    """
    held, identity = begin is not None, context.carried.identity if isinstance(plan.work, OperationsWork) else None
    run = started(plan, context, log=log_path(writer.directory), held=held, identity=identity)
    context.progress.begin(title, plan)
    ticks = _Ticks(context.progress)
    begun = False
    unwritable: RecordError | None = None
    try:
        while True:
            progress = run.poll(_POLL_S)
            if progress["stage"] == "ready" and begin is not None and not begun and not context.stop.requested:
                begin()
                begun = True  # a stage is told until the next is reached
                run.release()
            watching.put_on_clock(progress["elapsed_ns"])
            try:
                if unwritable is None:
                    _record(run, writer, watching, context)
            except RecordError as error:
                if begin is None:
                    raise
                unwritable = error
            ticks.show(progress)
            if progress["stage"] == "finished":
                summary = join_engine(run, plan, stop=context.stop, up=progress["connections_up"])
                if unwritable is not None:
                    raise unwritable
                return summary
            if context.stop.urgent:
                run.abort()
            elif context.stop.requested:
                run.stop()
    finally:
        run.abort()
        context.progress.end()


def _cut_by(error: BrimlineError) -> str:
    """Of a run that never came so far that the engine says it."""
    if isinstance(error, NodeGone):
        return WORKER_LOST
    return "interrupt" if isinstance(error, Interrupted) else "error"


def _record(run: Engine, writer: RecordWriter, watching: Watching, context: RunContext) -> None:
    samples = run.take_samples()
    if samples["intervals"]:
        writer.append(samples)
        if context.on_samples is not None:
            context.on_samples(samples)
        context.progress.samples(samples)
    watching.record(writer)


def started(
    plan: Plan, context: RunContext, *, log: Path | None = None, held: bool = False, identity: bytes | None = None
) -> Engine:
    """Starts `plan` by whoever performs plans in `context`; see `start_engine` and `Executor`, of which none logs."""
    if context.executor is None:
        return start_engine(plan, context.access, log=log, held=held, identity=identity)
    return context.executor.start(plan, context.access, held=held, identity=identity)


def start_engine(
    plan: Plan, access: Access, *, log: Path | None = None, held: bool = False, identity: bytes | None = None
) -> _native.Run:
    """Starts `plan` on the server that `access` opens, and returns at once.

    `log` is an empty file for the log of operations; without it none is kept. `held`: nothing is sent before `release`.
    `identity`: see `Carried`; without it the engine draws one.

    Raises UsageError where the engine refuses the plan.
    """
    allow_descriptors(plan)
    if log is None:
        plan = plan.model_copy(update={"operation_log": False})
    try:
        tables = plan.work.table_contents() if isinstance(plan.work, OperationsWork) else []
        client = runner_of(plan.target)
        runner = [] if client is None else command_of(client)
        return _native.start(plan.canonical_json(), access.native, log, held, tables, identity, runner)
    except _native.PlanError as error:
        path, message = error.args
        raise UsageError(f"{path}: {message}") from error


def unsampled_state(run: Engine, timeout_s: float) -> "_native.Progress":
    """What `run` is at, after up to `timeout_s`, where nobody wants its samples: they are thrown away.

    While there are samples to take, `poll` does not wait: who leaves them there asks without end, with a whole core.
    """
    progress = run.poll(timeout_s)
    run.take_samples()
    return progress


def join_engine(run: Engine, plan: Plan, *, stop: StopToken, up: int = 0) -> Summary:
    """Waits for the end. `up`: how many connections there were when it was seen last.

    Raises TargetError where the connections could not be had, NotAllConnected where some could; Interrupted where that
    was asked.
    """
    try:
        summary = run.join()
    except _native.TargetError as error:
        stop.raise_if_requested()  # one that was stopped before it had its connections has not failed
        reason = str(error.args[0])
        client = runner_of(plan.target)
        if client is not None and (scarce := ResourceError.told_by(f"the client {client}", reason)) is not None:
            raise scarce from error
        hint = "check that the server runs, and that it and this machine allow so many connections (ulimit -n)"
        if "authentication" in reason or "password" in reason:
            hint = "check user name, password, authSource and authMechanism; nothing was tried twice"
        elif client is not None and reason.startswith("no answer to the handshake"):
            # A driver that finds no server says so: this one's process has not come so far.
            reason = f"the client {client} was not ready in time"
            hint = (
                "this machine may be too busy to start it: see what else it does, or give a longer connect_timeout; "
                "else see whether the server answers"
            )
        elif reason.startswith("no answer to the handshake"):
            hint = (
                "the server may be slow or overloaded: see what else it does, or give a longer connect_timeout or "
                "fewer connections; else check that it and this machine allow so many connections (ulimit -n)"
            )
        elif client is not None:
            hint = (
                f"the client {client} needs: {CATALOGUE[client].how}"
                if reason.startswith("the runner") or "can't be started: " in reason
                else "these are the driver's words: correct an option that it refuses; else check that the server runs"
            )
        unreached = f"the target can't be reached: {reason}"
        if 0 < up < plan.connections:
            raise NotAllConnected(unreached, up=up, wanted=plan.connections, hint=hint) from error
        raise TargetError(unreached, hint=hint) from error
    # A server's words end up on terminals.
    visible: Summary = {
        **summary,
        "errors": _visible(summary["errors"]),
        "document_errors": _visible(summary.get("document_errors", [])),
    }
    if said := summary.get("runners"):
        visible["runners"] = [runner_facts(each) for each in said]
    return visible


def _visible(rows: list[ErrorRow]) -> list[ErrorRow]:
    return [{**row, "label": on_one_line(row["label"]), "example": on_one_line(row["example"])} for row in rows]


def _ended_by(summary: Summary, stop: StopToken) -> str:
    return "interrupt" if stop.requested and summary["ended_by"] in ("stopped", "aborted") else summary["ended_by"]


class _Ticks:
    """Thins out polls to what an eye can follow, and derives the rate between two of them."""

    def __init__(self, progress: ProgressSink) -> None:
        self._progress = progress
        self._elapsed_s = 0.0
        self._finished = 0
        self._documents = 0

    def show(self, progress: "_native.Progress") -> None:
        elapsed_s = progress["elapsed_ns"] / 1e9
        since_s = elapsed_s - self._elapsed_s
        if since_s < _TICK_S and progress["stage"] == "running":
            return
        finished = progress["ok"] + progress["miss"] + progress["failed"]
        documents = progress["documents"]
        per_s = 1 / since_s if since_s > 0 else 0.0
        self._progress.tick(
            Tick(
                stage=progress["stage"],
                elapsed_s=elapsed_s,
                finished=finished,
                failed=progress["failed"],
                documents=documents,
                in_flight=progress["in_flight"],
                rate_ops_per_s=(finished - self._finished) * per_s,
                rate_documents_per_s=(documents - self._documents) * per_s,
            )
        )
        self._elapsed_s, self._finished, self._documents = elapsed_s, finished, documents
