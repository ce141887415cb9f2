"""Owns the verb `import`: files into a collection, counted, recorded, and resumable."""

import math
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from brimline.analysis.data_import import import_findings
from brimline.analysis.finding import Standing
from brimline.api.options import URI_VARIABLE, Options, typed
from brimline.api.planning import Cost, tell
from brimline.api.protocols import require_mongodb
from brimline.api.results import Result
from brimline.api.resume import uri_again, uri_option
from brimline.api.workplace import environment_of, nodes_of, server_in_use
from brimline.doctor.check import Status
from brimline.doctor.disk import free_at_server, server_disk
from brimline.errors import BrimlineError, InvalidRun, NodeGone, RecordError, ResourceError, TargetError, UsageError
from brimline.execution import interruptible
from brimline.execution.executor import Executor
from brimline.execution.import_collection import ImportContext, Namespace, look_at_collection
from brimline.execution.import_data import EMPTY_ON_PURPOSE, check_inputs, fresh_object_ids, run_import, shares_of
from brimline.execution.import_inputs import (
    collection_of,
    compression_by_name,
    find_inputs,
    other_separators,
    require_unchanged,
    tables_of_cr,
)
from brimline.execution.import_progress import ImportSilence, ImportSink
from brimline.execution.memory import allow_memory_of
from brimline.execution.scratch import sweep_scratch
from brimline.execution.stop import StopToken
from brimline.record import create_run_directory
from brimline.record.data_import import (
    KIND,
    REJECTED_FILE,
    ImportRecord,
    ImportShares,
    ImportState,
    ImportWriter,
    InputFile,
    documents_settled,
    documents_there,
    is_import,
    read_import,
)
from brimline.record.layout import require_room_for_records
from brimline.report.data_import.view import import_report
from brimline.servers import control_client
from brimline.servers.lab.names import is_client_routed
from brimline.spec import readers
from brimline.spec.import_settings import ImportSettings, WriteConcernSettings
from brimline.spec.target import database_of_uri, write_concern_of_uri
from brimline.units import counted, format_count
from brimline.wording import message

DATABASE_DEFAULT = "test"
_DISK_FULL = 14031
"""The server's code for a disk without room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportJob:
    """What is imported, and where to. `drop`: in place of what the collection holds."""

    namespace: Namespace
    settings: ImportSettings
    inputs: Sequence[InputFile]
    drop: bool
    tables_of_cr: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ImportResult(Result):
    """One import."""

    record: ImportRecord

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, server lost, stopped by an input or a refused row, or a count that does not add up."""
        if self.interrupted is not None:
            return self.interrupted
        state = self.record.state
        said = message("{done}: {reason}", done=_so_far(self.record.state), reason=state.message)
        match state.ending.get("kind"):
            case "completed" | None:
                return self._unproven
            case "input" if not state.counts.get("read") and (state.ending["line"] or 0) <= 1:
                return _nothing_imported(self._place, state.message)
            case "input":
                return InvalidRun(f"the input can't be read on: {self._place}{state.message}", hint=self._again_hint)
            case "refused" if state.ending["code"] == _DISK_FULL:
                return TargetError(
                    f"the server's disk is full: {state.message}", hint=f"{self._resume_hint}, once there is room"
                )
            case "refused" if state.ending.get("line") is None:
                return TargetError(f"the server refuses: {state.message}", hint=said_so_far(self.record))
            case "refused":
                return InvalidRun(f"the import stopped at {self._place}{state.message}", hint=self._again_hint)
            case "worker_lost":
                return NodeGone(state.message, hint=self._resume_hint)
            case "server_lost":
                return TargetError(f"the server went away: {state.message}", hint=self._resume_hint)
            case "unwritable":
                return RecordError(f"the record can't be written: {state.message}", hint=self._resume_hint)
            case "out_of_resources":
                return ResourceError(state.message, hint=self._resume_hint)
            case "stopped":
                return InvalidRun("the import was stopped", hint=self._resume_hint)
            case _:
                return BrimlineError(f"internal: {said}", hint=self._resume_hint)

    @property
    def _unproven(self) -> InvalidRun | None:
        failed = [each.evidence for each in import_findings(self.record) if each.verdict is Standing.FAIL]
        if failed:
            return InvalidRun(f"the import is not proven: {'; '.join(failed)}", hint=self.where_to_look)
        oversized = self.record.state.counts.get("oversized", 0)
        if oversized:
            return InvalidRun(
                f"{counted(oversized, 'record')} larger than the server stores, and rejected",
                hint=f"they are in {self.record.directory / REJECTED_FILE} with their lines",
            )
        return None

    @property
    def _place(self) -> str:
        state = self.record.state
        return _place(state.ending, state.inputs, type_=state.settings["type"])

    @property
    def _again_hint(self) -> str:
        """What is there, and how the corrected input comes in without doubling it."""
        state, so_far = self.record.state, said_so_far(self.record)
        if _was_own(self.record.environment) or not documents_there(state):
            return so_far
        if state.drop:
            return f"{so_far}; the same command again replaces them"
        if state.settings.get("mode", "insert") != "insert":
            return f"{so_far}; once it is corrected, the same command again doubles nothing"
        return f"{so_far}; {_begun_again(state)}"

    @property
    def _resume_hint(self) -> str:
        return f"{said_so_far(self.record)}; {_way_on(self.record.directory, self.record.environment)}"


def _begun_again(state: ImportState) -> str:
    """What the same insert would do once more to what it left: an `_id` of their own keeps documents from a double."""
    else_ = "give --drop to replace what the collection holds, or --mode upsert"
    made = state.without_id
    if made == 0 and not (state.settings["stop_on_error"] or state.settings["maintain_insertion_order"]):
        return (
            "once it is corrected, the same command again adds the others: each of these has an _id of its own, and is "
            "rejected as a duplicate"
        )
    if made == 0:
        return f"the same command again would stop at the first of them, whose _id is there; {else_}"
    which = (
        "those of them that have"
        if made is None
        else "the 1 that has"
        if made == 1
        else f"the {format_count(made)} that have"
    )
    return (
        f"the same command again would double {which} no _id of their own; {else_} with --upsertFields that are a key"
    )


def _place(ending: Mapping[str, Any], inputs: Sequence[InputFile], *, type_: str) -> str:
    """Where an import ended: the input and the line."""
    path = inputs[ending["input"]].path if ending.get("input", 0) < len(inputs) else None
    name = "standard input" if path is None else path
    unit = "document" if type_ == "bson" else "line"
    return f"{name}, {unit} {ending['line']}: " if ending.get("line") else f"{name}: "


def _nothing_imported(place: str, reason: str) -> UsageError:
    return UsageError(f"{place}{reason}", hint="nothing was imported: correct the input or the options")


def _require_readable_again(inputs: Sequence[InputFile], wait_s: float) -> None:
    """Raises UsageError where an import that waits for its server could not go on by itself."""
    if wait_s > 0 and not all(each.is_file for each in inputs):
        raise UsageError(
            "a server can be waited for only when files are imported: what came through a pipe can't be read again",
            hint="leave --wait-for-server out; --resume goes on when the same bytes are piped again",
        )


def _require_readable(inputs: Sequence[InputFile], settings: ImportSettings, *, drop: bool) -> None:
    """Raises UsageError for files that can't be inputs of this kind, before a collection is dropped for them."""
    ending = check_inputs(inputs, settings, replaces=drop)
    if ending is not None:
        if drop and check_inputs(inputs, settings) is None:
            raise UsageError(_place(ending, inputs, type_=settings.type) + ending["reason"], hint=EMPTY_ON_PURPOSE)
        kind = compression_by_name(inputs[ending["input"]].path)
        reason = ending["reason"] if kind is None else f"it seems to be compressed with {kind}: decompress it first"
        raise _nothing_imported(_place(ending, inputs, type_=settings.type), reason)


def require_routable(settings: ImportSettings, topology: str | None) -> None:
    """Raises UsageError for what has no meaning over servers that share out documents by their `_id` alone."""
    if topology is not None and is_client_routed(topology):
        _require_any_order(settings, topology)


def _require_any_order(settings: ImportSettings, topology: str) -> None:
    if settings.maintain_insertion_order:
        raise UsageError(
            f"the order of the input can't be kept on {topology}: each server has the documents of its own",
            hint="leave --maintainInsertionOrder out, or take another topology",
        )
    if settings.upsert_fields not in ((), ("_id",)):
        raise UsageError(
            f"on {topology} the server of a document follows from its _id, and --upsertFields names other fields",
            hint="leave --upsertFields out, or take another topology",
        )


def _tables_of_cr(inputs: Sequence[InputFile], settings: ImportSettings, *, drop: bool) -> tuple[str, ...]:
    """Tables that hold no row because their lines end with CR alone. Raises UsageError where one is to replace data."""
    found = () if settings.type in ("json", "bson") else tables_of_cr(inputs)
    if found and drop:
        raise UsageError(
            f"{found[0]} ends its lines with CR alone, as old Macs did: it holds no row",
            hint=f"turn them into line feeds first: tr '\\r' '\\n' < {Path(found[0]).name}; nothing was dropped",
        )
    return found


@contextmanager
def _telling_what_was_done(writer: ImportWriter, environment: Mapping[str, Any]) -> Iterator[None]:
    """A record that can't be written, as on a full disk, has the import end with what is done and how it goes on."""
    try:
        yield
    except RecordError as error:
        directory = writer.directory
        way_on = _way_on(directory, environment)
        error.hint = f"so far {_so_far(writer.state)}; make room where {directory} is, then {way_on}"
        raise


def _warn_of_little_room(context: ImportContext, inputs: Sequence[InputFile]) -> None:
    """Says when the server's disk may not hold what is to come; what comes from a pipe isn't known."""
    planned_bytes = sum(each.size_bytes or 0 for each in inputs)
    with control_client(context.deployment.address, access=context.deployment.access) as client:
        free_bytes = free_at_server(client)
    if not planned_bytes or free_bytes is None:
        return
    check = server_disk(
        f"at {context.deployment.address}",
        free_bytes=free_bytes,
        planned_bytes=planned_bytes,
        own_server=False,
        planned="the files to import have",
    )
    if check.status is not Status.PASS:
        context.progress.note(f"the server's disk may be too small: {check.evidence}")


def _so_far(state: ImportState) -> str:
    """What the server counted; where it is gone, what it had acknowledged and what of that is certain."""
    done, settled, rejected = documents_there(state), documents_settled(state), state.counts.get("rejected", 0)
    were = "was" if rejected == 1 else "were"
    done_to_them = "deleted" if state.settings.get("mode") == "delete" else "in"
    said = f"{counted(done, 'document')} {'is' if done == 1 else 'are'} {done_to_them}"
    if settled is not None:
        acknowledged = f"{counted(done, 'document')} {'was' if done == 1 else 'were'} acknowledged"
        certain = f"{format_count(settled)} are settled: they are {done_to_them}, whatever the server lost"
        said = f"{acknowledged}, of which {certain}"
    return f"{said}, {counted(rejected, 'record')} {were} rejected"


def _was_own(environment: Mapping[str, Any]) -> bool:
    """Whether the server was brimline's own, so that it and what was imported went with the verb."""
    return bool((environment.get("server") or {}).get("started_by_brimline"))


def _way_on(directory: Path, environment: Mapping[str, Any]) -> str:
    """What leads on from an import that did not end, for hints."""
    if _was_own(environment):
        return "import anew: its server was brimline's own and is gone"
    return f"brimline import --resume {directory}{uri_option(environment)} goes on with it without doubling a row"


def said_so_far(record: ImportRecord) -> str:
    """What was done, for hints."""
    return f"so far {_so_far(record.state)}"


@typed
def import_data(
    files: Sequence[str | Path] = (),
    *,
    settings: ImportSettings | None = None,
    database: str | None = None,
    collection: str | None = None,
    gzip: bool = False,
    throw_away: bool = False,
    wait_for_server_s: float = 0.0,
    options: Options | None = None,
    progress: ImportSink | None = None,
) -> ImportResult:
    """Imports `files` (paths, patterns, a dump's directory; none: standard input) into one collection.

    `Options.drop` empties the collection first; without it the documents are added to those that are there.
    `wait_for_server_s`: how long a server that goes away is waited for. `throw_away`: into a mongod of brimline's own,
    as a measurement.

    Raises UsageError, TargetError and RecordError before anything is imported; afterwards `ImportResult.error` says
    what is wrong.
    """
    options, settings = options or Options(), settings or ImportSettings()
    if options.drop and settings.mode == "delete":
        raise UsageError(
            "--drop empties the collection, and --mode delete deletes single documents", hint="give one of the two"
        )
    uri = _uri(options, throw_away=throw_away)
    require_routable(settings, options.topology)
    sweep_scratch(options.runs_dir, say=(progress or ImportSilence()).note)
    require_room_for_records(options.runs_dir)
    job = import_job(files, settings=settings, database=database, collection=collection, gzip=gzip, uri=uri,
                     drop=options.drop, wait_for_server_s=wait_for_server_s)  # fmt: skip
    if options.workers is not None:
        require_shareable(job)
    tell(Cost(seconds=math.nan, data_bytes=sum(each.size_bytes or 0 for each in job.inputs)))

    def make_directory() -> Path:
        name = job.namespace.text
        return create_run_directory(options.runs_dir, name=name, plan_hash=secrets.token_hex(4), kind=KIND)

    with _context(uri, options, progress, wait_for_server_s) as context:
        return _result(import_into(job, context, make_directory=make_directory), context.stop, options)


def require_there(files: Sequence[str], *, gzip: bool, collection: str | None) -> None:
    """Raises UsageError for files that are not there: that comes before what is wrong in their options."""
    find_inputs(files, gzip=gzip, collection=collection)


def import_job(
    files: Sequence[str | Path],
    *,
    settings: ImportSettings,
    database: str | None,
    collection: str | None,
    gzip: bool,
    uri: str | None,
    drop: bool,
    wait_for_server_s: float = 0.0,
) -> ImportJob:
    """What is to be imported, looked at as far as that takes no server. Raises UsageError."""
    allow_memory_of("this import", connections=settings.connections, threads=settings.connections)
    inputs = find_inputs([str(each) for each in files], gzip=gzip, collection=collection)
    _require_readable_again(inputs, wait_for_server_s)
    settings = _with_concern_of(uri, settings)
    of_cr = _tables_of_cr(inputs, settings, drop=drop)
    _require_readable(inputs, settings, drop=drop)
    namespace = _namespace(database, collection, uri=uri, inputs=inputs)
    return ImportJob(namespace=namespace, settings=settings, inputs=inputs, drop=drop, tables_of_cr=of_cr)


def import_into(job: ImportJob, context: ImportContext, *, make_directory: Callable[[], Path]) -> ImportRecord:
    """Imports into the server of `context`, in a directory that is made once that can be. Raises BrimlineError."""
    namespace, settings = job.namespace, job.settings
    if context.deployment.shards:
        _require_any_order(settings, context.deployment.kind)
    count_before = look_at_collection(namespace, settings, drop=job.drop, context=context)
    if count_before and settings.mode == "insert" and not job.drop:
        context.progress.note(
            f"{namespace.text} holds {counted(count_before, 'document')} already: the import adds to them "
            "(--drop removes them first)"
        )
    shares = None
    if context.executor is not None:
        context.progress.step("finding where records end")
        shares = shares_of(job.inputs, settings, context.executor.facts["count"], stop=context.stop)
        _tell_who_takes_part(shares, settings, context)
    state = ImportState(
        name=namespace.text,
        namespace=namespace.text,
        settings=settings.to_document(),
        inputs=job.inputs,
        object_ids=fresh_object_ids(),
        count_before=count_before,
        drop=job.drop,
        is_prepared=False,
        tables_of_cr=job.tables_of_cr,
        shares=shares,
    )
    _warn_of_little_room(context, job.inputs)
    if settings.json_array and settings.type != "json":
        context.progress.note(f"--jsonArray is of JSON, and changes nothing of {settings.type}")
    for doubt in other_separators(job.inputs, settings.type) if settings.headerline else ():
        context.progress.note(f"{doubt}: turn them into those first if that is not meant")
    with (
        ImportWriter(make_directory(), state, context.environment) as writer,
        _telling_what_was_done(writer, context.environment),
    ):
        return run_import(namespace, writer, context)


def resume_import(
    directory: Path,
    *,
    workers: int | None = None,
    wait_for_server_s: float = 0.0,
    options: Options | None = None,
    progress: ImportSink | None = None,
) -> ImportResult:
    """Goes on with the import whose record is in `directory`: rows in doubt are looked for by `_id` first.

    Raises UsageError when a file was changed since or the server was brimline's own, RecordError when there is no such
    record.
    """
    options = options or Options()
    if not is_import(directory):
        raise UsageError(
            f"{directory} is not the record of an import", hint="brimline list shows the records there are"
        )
    found = read_import(directory)
    if found.ended_by == "completed":
        if progress is not None:
            progress.note("nothing is left to do: this import went to its end, and here is its result again")
        return import_result(found)
    if _was_own(found.environment):
        raise UsageError(
            "this import can't be gone on with: its server was brimline's own, and what was in it is gone",
            hint="import anew, or with --uri into a server that stays",
        )
    require_unchanged(found.state.inputs)
    _require_readable_again(found.state.inputs, wait_for_server_s)
    stored = uri_again(found.environment) or found.environment.get("uri")
    uri = options.uri or _uri(options, throw_away=False, stored=stored)
    database, _, collection = found.state.namespace.partition(".")
    settings = dict(found.state.settings)
    if workers is not None:
        settings["workers"] = workers
    ImportSettings.from_document(settings)
    options = _with_workers(options, found)
    with _context(uri, options, progress, wait_for_server_s) as context:
        _require_same_nodes(found.state, context.executor, connections=settings["workers"])
        counts = found.checkpoint.get("counts", {})
        context.progress.note(f"settled: {counted(counts.get('read', 0), 'record')}, going on after them")
        goes_on = ImportWriter.reopen(directory, replace(found.state, settings=settings))
        with goes_on as writer, _telling_what_was_done(writer, context.environment):
            record = run_import(Namespace(database, collection), writer, context)
        return _result(record, context.stop, options)


def open_import(directory: Path) -> ImportResult:
    """The import in a record directory, reported anew. Raises RecordError."""
    return import_result(read_import(directory))


def import_result(record: ImportRecord) -> ImportResult:
    """What an import shows."""
    return ImportResult(report=import_report(record), directory=record.directory, record=record)


def _result(record: ImportRecord, stop: StopToken, options: Options) -> ImportResult:
    interrupted = None
    if record.ended_by == "interrupt":
        interrupted = stop.error(kept=str(record.directory))
        interrupted.hint = f"{said_so_far(record)}; {_way_on(record.directory, record.environment)}"
    result = replace(import_result(record), interrupted=interrupted)
    result.write(options.language)
    return result


def _uri(options: Options, *, throw_away: bool, stored: object = None) -> str | None:
    uri = options.uri or os.environ.get(URI_VARIABLE) or (str(stored) if stored else None)
    if throw_away:
        if options.uri is not None:
            raise UsageError("--uri names a server that stays, --throw-away asks for one that doesn't",
                             hint="give one of the two")  # fmt: skip
        return None
    if uri is None:
        raise UsageError(
            "an import into brimline's own server would be gone with it",
            hint="give --uri mongodb://HOST:PORT; --throw-away imports all the same, to measure it",
        )
    return uri


def _with_concern_of(uri: str | None, settings: ImportSettings) -> ImportSettings:
    """The write concern of the connection string, where the options leave mongoimport's default."""
    if uri is None or settings.write_concern != WriteConcernSettings():
        return settings
    try:
        asked = write_concern_of_uri(uri)
    except ValueError as error:
        raise UsageError(f"the connection string can't be honoured: {error}", hint="correct --uri") from None
    if asked is None:
        return settings
    return replace(
        settings, write_concern=WriteConcernSettings(w=asked.w, journal=asked.journal, timeout_ms=asked.timeout_ms)
    )


def _namespace(
    database: str | None, collection: str | None, *, uri: str | None, inputs: Sequence[InputFile]
) -> Namespace:
    """Where the documents go. Raises UsageError for a name that no server takes."""
    if database is None:
        database = (database_of_uri(uri) if uri else None) or DATABASE_DEFAULT
    if collection is None:
        collection = _collection(inputs)
    for option, check, name in (
        ("--db", readers.check_database, database),
        ("--collection", readers.check_collection, collection),
    ):
        try:
            readers.text(check)(name)
        except ValueError as error:
            raise UsageError(f"{option}: {error}", hint=f"give another: {option} NAME") from None
    return Namespace(database, collection)


def _collection(inputs: Sequence[InputFile]) -> str:
    """As mongoimport: the file's name without its last part."""
    first = inputs[0]
    if first.path is None or not first.is_file:
        name = "standard input" if first.path is None else f"the pipe {first.path}"
        raise UsageError(f"{name} has no name to call the collection after", hint="give --collection")
    if len(inputs) > 1:
        raise UsageError("several files don't say what the collection is called", hint="give --collection")
    return collection_of(Path(first.path))


@contextmanager
def _context(uri: str | None, options: Options, progress: ImportSink | None, wait_s: float) -> Iterator[ImportContext]:
    """A server that answers and the request to end. Raises TargetError and UsageError."""
    progress = progress or ImportSilence()
    require_mongodb("import", uri, options)
    with (
        interruptible() as stop,
        nodes_of(options, stop, progress) as executor,
        server_in_use(uri, options, say=progress.step, stop=stop) as deployment,
    ):
        stop.raise_if_requested()
        yield ImportContext(
            deployment=deployment,
            environment=environment_of(deployment, options, executor=executor),
            progress=progress,
            stop=stop,
            wait_s=wait_s,
            executor=executor,
        )


def require_shareable(job: ImportJob) -> None:
    """Raises UsageError for what several nodes can't import together."""
    if job.settings.maintain_insertion_order:
        raise UsageError(
            "the order of the input can't be kept by several nodes: each sends its part at the same time",
            hint="leave --maintainInsertionOrder or --workers out",
        )
    for each in job.inputs:
        if not each.is_file:
            name = "standard input" if each.path is None else f"the pipe {each.path}"
            raise UsageError(
                f"{name} can't be shared out: where its records end is not known before it was read",
                hint="write it to a file first, or leave --workers out",
            )


def _tell_who_takes_part(shares: ImportShares, settings: ImportSettings, context: ImportContext) -> None:
    """Says where not all nodes do."""
    count, there = len(shares.parts), 0 if context.executor is None else context.executor.facts["count"]
    if count == there:
        return
    values = {"count": format_count(count), "there": format_count(there)}
    if count == settings.connections:
        context.progress.note(message("{count} of {there} workers take part: there are as many connections", **values))
    else:
        context.progress.note(message("{count} of {there} workers take part: there are so few records", **values))


def _with_workers(options: Options, found: ImportRecord) -> Options:
    """The nodes that the import was shared out among, where no others are named."""
    facts = found.environment.get("workers") or {}
    if found.state.shares is None or options.workers is not None or "where" not in facts:
        return options
    return replace(options, workers=facts["where"], workers_per_node=facts["per_node"])


def _require_same_nodes(state: ImportState, executor: Executor | None, *, connections: int) -> None:
    """Raises UsageError where an import would go on with other nodes than it was begun by: each has its own part."""
    if state.shares is None and executor is not None:
        raise UsageError("this import was begun by one client, and goes on as one", hint="leave --workers out")
    if state.shares is None:
        return
    wanted = len(state.shares.parts)
    there = 0 if executor is None else executor.facts["count"]
    if there < wanted:
        raise UsageError(
            f"this import was shared out among {counted(wanted, 'worker')}, and goes on with as many",
            hint=f"give --workers local:{wanted}, or ray:{wanted}",
        )
    if connections < wanted:
        raise UsageError(
            f"{counted(connections, 'connection')} can't be shared out among {counted(wanted, 'worker')}",
            hint=f"give -j {wanted} or more, or leave it out",
        )
