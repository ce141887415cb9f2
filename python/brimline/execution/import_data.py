"""Owns the execution of an import: the importer at work, the change before it, the server's count after it.

An attempt ends with the inputs, with the first thing that stops it, or with the server. The next one goes on from the
checkpoint, in the same process when the server is waited for, in another one with `--resume`.
"""

import json
import secrets
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from brimline import _native
from brimline.dataset.access import target_errors
from brimline.errors import BrimlineError, RecordError, ResourceError, TargetError, UsageError
from brimline.execution.database import database_named
from brimline.execution.executor import Importer, SharedImporter
from brimline.execution.import_collection import (
    NUMBER_BITS,
    ImportContext,
    Namespace,
    counting,
    prepare_collection,
    without_id,
)
from brimline.execution.import_inputs import changed_inputs, require_unchanged
from brimline.execution.import_progress import ImportSink, ImportTick
from brimline.execution.stop import StopToken
from brimline.monitor import ServerSampler, data_sizes, read_part_counts
from brimline.monitor.cpu_time import process_cpu_ns
from brimline.record.data_import import (
    CHECKPOINT_FILE,
    REJECTED_FILE,
    ImportPart,
    ImportRecord,
    ImportShares,
    ImportState,
    ImportWriter,
    InputFile,
    Place,
    documents_in,
    read_checkpoint,
    read_import,
)
from brimline.record.files import read_json_if_there
from brimline.record.import_parts import ImportParts, read_sizes, remove_parts_files, settled_bytes
from brimline.record.layout import SERVER_FACTS_FILE
from brimline.servers import Access, Deployment, control_client, external_again, primary_now
from brimline.spec.import_settings import ImportSettings
from brimline.threads import Worker
from brimline.wording import Verbatim, message

_POLL_S = 0.1
_TICK_S = 0.25
_RATE_OVER_S = 3.0
"""Several nodes tell of bytes once in an interval, which is longer than a tick."""
_INTERVAL_NS = 1_000_000_000
_REPLY_TIMEOUT_NS = 300_000_000_000
_LOOK_AGAIN_S = 0.5
_ANSWER_S = 2.0
_ELECTION_S = 20.0
"""How long the other members of a lost primary are given to elect one: by default they notice its loss after 10 s."""


EMPTY_ON_PURPOSE = "nothing was dropped; to empty the collection on purpose, use mongosh: db.NAME.deleteMany({})"


def check_inputs(
    inputs: Sequence[InputFile], settings: ImportSettings, *, replaces: bool = False
) -> Mapping[str, Any] | None:
    """What would end an import of `inputs` before its first record, as an `ending`; pipes are not looked at.

    `replaces`: they are to replace what is there, so that there has to be a document in one of them.
    """
    check = {
        "inputs": [_planned(each) for each in inputs],
        "format": settings.format_document,
        "replaces": replaces,
    }
    ending = _native.check_import(json.dumps(check))
    found: dict[str, Any] | None = None if ending is None else json.loads(ending)
    return found


def run_import(namespace: Namespace, writer: ImportWriter, context: ImportContext) -> ImportRecord:
    """Imports what the state of `writer` says, from its checkpoint on, and seals the record.

    `ImportRecord.state` says how it ended. Raises RecordError when the record can't be written.
    """
    run = _Attempts(namespace, writer, context)
    try:
        run.all()
    except BrimlineError as error:
        with suppress(RecordError):  # where there is no room, the first error is the one to report
            writer.save(replace(writer.state, ended_by="error", message=error.message))
        raise
    return read_import(writer.directory)


class _Attempts:
    """One attempt after the other, until the inputs end or nothing is to be waited for."""

    def __init__(self, namespace: Namespace, writer: ImportWriter, context: ImportContext) -> None:
        self._namespace = namespace
        self._writer = writer
        self._context = context
        self._deployment = context.deployment
        self._settings = ImportSettings.from_document(writer.state.settings)

    def all(self) -> None:
        self._note_sizes("before")
        while True:
            summary = self._attempt()
            lost = summary["ending"]["kind"] == "server_lost"
            if not lost or self._context.stop.requested or not self._server_is_back(summary["ending"]["reason"]):
                break
            self._writer.event("server_back")
            require_unchanged(self._writer.state.inputs)
        self._conclude(summary)

    def _attempt(self) -> dict[str, Any]:
        """Lets the importer run to its end. Whatever happens here, it has ended afterwards."""
        context, writer = self._context, self._writer
        writer.begin_attempt()
        client_before_ns = time.process_time_ns()
        with _ServerCpu(self._deployment) as server_cpu, self._sampler() as sampler:
            started_unix_ns, origin_ns = _native.unix_now_ns(), time.monotonic_ns()
            handle = self._started()
            if sampler is not None:
                sampler.set_origin(origin_ns)
            writer.event("attempt", number=writer.state.attempts + 1)
            state = replace(writer.state, attempts=writer.state.attempts + 1, ended_by=None)
            writer.save(replace(state, started_unix_ns=state.started_unix_ns or started_unix_ns))
            context.progress.begin(message("importing into {namespace}", namespace=Verbatim(self._namespace.text)))
            ticks = _Ticks(context.progress, writer.state, json.loads(handle.poll(0)), directory=writer.directory)
            try:
                if not writer.state.is_prepared:
                    self._prepare(handle)
                while True:
                    progress = json.loads(handle.poll(_POLL_S))
                    self._record(handle, sampler, started_unix_ns)
                    ticks.show(progress)
                    if progress["is_over"]:
                        break
                    if context.stop.urgent:
                        handle.abort()
                    elif context.stop.requested:
                        handle.stop()
            finally:
                handle.abort()
                context.progress.end()
                summary: dict[str, Any] = json.loads(handle.join())
                writer.state = replace(
                    writer.state,
                    nodes=summary.get("nodes", ()),
                    counts=summary["counts"],
                    first_not_utf8=summary["first_not_utf8"],
                    first_ragged=summary["first_ragged"],
                    misfits=summary["misfits"],
                    standstills=[*writer.state.standstills, *writer.on_clock(summary["standstills"])],
                    kept=summary["checkpoint"],
                )
            self._record(handle, sampler, started_unix_ns)
        self._append_rows(sampler)
        nodes_cpu_ns = sum(each["client_cpu_ns"] for each in writer.state.nodes)
        self._add_up(summary, time.process_time_ns() - client_before_ns + nodes_cpu_ns, server_cpu.used_ns)
        return summary

    def _started(self) -> Importer:
        """The importer, held where the collection is not prepared: that of this process, or of several nodes."""
        state, directory = self._writer.state, self._writer.directory
        access, held = self._deployment.access, not state.is_prepared
        plan = import_plan(
            self._deployment, self._namespace, state.inputs, self._settings,
            directory=directory, object_ids=state.object_ids,
        )  # fmt: skip
        if state.shares is None:
            return start_import(plan, access, held=held)
        assert self._context.executor is not None  # noqa: S101 - those who go on have as many nodes as had begun
        kept = ImportParts(directory, state.shares.parts)
        return self._context.executor.start_import(plan, state.shares, kept, access, held=held)

    def _prepare(self, handle: Importer) -> None:
        """Changes the collection once the importer has the server and the first documents, and lets it go.

        Nothing is changed where it ends before that: an input that can't be read costs no document. Raises UsageError
        where an input without a document is to replace what is there, or the collection refuses those that come first.
        """
        stop = self._context.stop
        while not handle.await_documents(_POLL_S):
            if stop.requested:
                handle.abort()
            progress = json.loads(handle.poll(0))
            if progress["is_over"] and json.loads(handle.join())["ending"]["kind"] != "completed":
                return
            if progress["is_over"]:
                break  # nothing is in the inputs, and that was read
        state = self._writer.state
        documents = handle.first_documents()
        if state.drop and not documents:
            raise UsageError("the input holds no document", hint=EMPTY_ON_PURPOSE)
        prepare_collection(self._namespace, self._settings, drop=state.drop, documents=documents, context=self._context)
        self._writer.save(replace(state, is_prepared=True, count_before=0 if state.drop else state.count_before))
        handle.release()

    def _sampler(self) -> AbstractContextManager[ServerSampler | None]:
        """One of several shards would not speak for the others."""
        return nullcontext() if self._deployment.shards else ServerSampler(self._deployment)

    def _record(self, handle: Importer, sampler: ServerSampler | None, started_unix_ns: int) -> None:
        self._writer.append(handle.take_intervals(), started_unix_ns=started_unix_ns)
        if isinstance(handle, SharedImporter):
            self._writer.append_nodes(handle.take_node_rows())
        self._append_rows(sampler)

    def _append_rows(self, sampler: ServerSampler | None) -> None:
        for row in sampler.take_rows() if sampler is not None else ():
            self._writer.append_server(row.columns())

    def _add_up(self, summary: Mapping[str, Any], client_cpu_ns: int, server_cpu_ns: int | None) -> None:
        state = self._writer.state
        before_ns = 0 if state.attempts == 1 else state.server_cpu_ns
        known = server_cpu_ns is not None and before_ns is not None
        self._writer.save(
            replace(
                state,
                ending=summary["ending"],
                counts=summary["counts"],
                kept=summary["checkpoint"],
                duration_ns=state.duration_ns + summary["elapsed_ns"],
                client_cpu_ns=state.client_cpu_ns + client_cpu_ns,
                server_cpu_ns=(before_ns or 0) + (server_cpu_ns or 0) if known else None,
            )
        )

    def _server_is_back(self, reason: str) -> bool:
        """Waits for a server that went away. Returns whether it answers again."""
        context = self._context
        if context.wait_s <= 0 or not all(each.is_file for each in self._writer.state.inputs):
            return False
        self._writer.event("server_lost", reason=reason)
        context.progress.note(f"the server went away ({reason}): waiting for it")
        until_s = time.monotonic() + context.wait_s
        while time.monotonic() < until_s and not context.stop.requested:
            with suppress(TargetError, UsageError):
                self._deployment = external_again(self._deployment, connect_timeout_s=_LOOK_AGAIN_S)
                if all(self._answers_at(address) for address in self._deployment.shards):
                    context.progress.note("the server is back: going on from the checkpoint")
                    return True
            time.sleep(_LOOK_AGAIN_S)
        return False

    def _conclude(self, summary: Mapping[str, Any]) -> None:
        """Has the server count, and seals the record."""
        ending = summary["ending"]
        state = self._writer.state
        ended_by = "interrupt" if self._context.stop.requested and ending["kind"] == "stopped" else ending["kind"]
        count_after = made = None
        was_lost = ending["kind"] == "server_lost"
        if not self._context.stop.urgent and (not was_lost or self._answers()):
            try:
                self._context.progress.step("counting the documents")
                with (
                    database_named(self._namespace.database, self._deployment, purpose="import") as database,
                    counting(),
                ):
                    name = self._namespace.collection
                    count_after = database[name].count_documents({})
                    if ended_by in ("input", "refused") and self._settings.mode == "insert":
                        made = without_id(database, name, state.object_ids, inputs=len(state.inputs))
                self._note_sizes("after")
            except TargetError as error:
                ended_by, ending = "server_lost", {"kind": "server_lost", "reason": error.message}
        message = str(ending.get("reason", ""))
        sealed = replace(
            state,
            ended_by=ended_by,
            ending=ending,
            message=message,
            count_after=count_after,
            without_id=made,
            inputs_changed=changed_inputs(state.inputs),
        )
        self._writer.save(sealed, sealed=True)
        if sealed.ended_by == "completed" and sealed.shares is not None:
            remove_parts_files(self._writer.directory, len(sealed.shares.parts))

    def _answers(self) -> bool:
        """Whether a server that was lost answers all the same: a connection may end where a server doesn't.

        Of a replica set the others elect a new primary, which knows what is in.
        """
        replica_set = self._deployment.replica_set
        others = replica_set is not None and len(replica_set.members) > 1
        if others:
            self._context.progress.step("waiting for a new primary, to count the documents")
        try:
            self._deployment = primary_now(self._deployment, connect_timeout_s=_ELECTION_S if others else _LOOK_AGAIN_S)
        except TargetError:
            return False
        return all(self._answers_at(address) for address in (self._deployment.address, *self._deployment.shards))

    def _answers_at(self, address: str) -> bool:
        try:
            with (
                control_client(
                    address,
                    access=self._deployment.access,
                    connect_timeout_s=_LOOK_AGAIN_S,
                    command_timeout_s=_ANSWER_S,
                ) as client,
                target_errors("asking whether the server is there", within_s=_ANSWER_S),
            ):
                client.admin.command("ping")
        except TargetError:
            return False
        return True

    def _note_sizes(self, instant: str) -> None:
        """How large the data is, `before` or `after` the import; unknown when the server doesn't say."""
        facts = read_json_if_there(self._writer.directory / SERVER_FACTS_FILE) or {}
        if instant == "before" and instant in facts:
            return
        counts = read_part_counts(self._deployment)
        facts[instant] = data_sizes(
            self._deployment,
            database=self._namespace.database,
            collection=self._namespace.collection,
            checkpoint=instant == "after" and not self._context.stop.requested,
            counts=counts,
            purpose="import",
        )
        self._writer.server_facts(facts)


class _ServerCpu:
    """CPU time of a server on this machine during a `with` block; None where it can't be seen or was started again."""

    def __init__(self, deployment: Deployment) -> None:
        self._pid = None if deployment.shards else deployment.pid
        self._before_ns: int | None = None
        self.used_ns: int | None = None

    def __enter__(self) -> "_ServerCpu":
        self._before_ns = None if self._pid is None else process_cpu_ns(self._pid)
        return self

    def __exit__(self, *_: object) -> None:
        after_ns = None if self._pid is None else process_cpu_ns(self._pid)
        if self._before_ns is not None and after_ns is not None:
            self.used_ns = after_ns - self._before_ns


class _Ticks:
    """Thins out polls to what an eye can follow, and derives the rates over some of them.

    `first`: the poll before anything is sent. What came in before this attempt is in no rate.
    """

    def __init__(self, progress: ImportSink, state: ImportState, first: Mapping[str, Any], *, directory: Path) -> None:
        sizes = [each.size_bytes for each in state.inputs]
        self._total = sum(size for size in sizes if size is not None) if None not in sizes else None
        self._before = 0  # what several nodes had settled is not read again; one client reads through it
        if state.shares is not None:
            self._total = state.shares.input_bytes
            self._before = settled_bytes(
                directory,
                state.shares.parts,
                read_sizes([(each.size_bytes or 0, each.gzip) for each in state.inputs], self._total),
            )
        self._progress = progress
        self._seen = deque([self._mark(first)])
        self._first = self._seen[0]

    def show(self, progress: Mapping[str, Any]) -> None:
        now, bytes_now = self._mark(progress), progress["input_bytes"]
        elapsed_s, documents, bytes_read = now
        if elapsed_s - self._seen[-1][0] < _TICK_S and not progress["is_over"]:
            return
        self._seen.append(now)
        while self._seen[1][0] <= elapsed_s - _RATE_OVER_S:
            self._seen.popleft()
        self._progress.tick(
            ImportTick(
                elapsed_s=elapsed_s,
                documents=documents,
                rejected=progress["counts"]["rejected"],
                bytes_read=bytes_read,
                bytes_total=self._total,
                documents_per_s=self._per_s(1),
                bytes_per_s=self._per_s(2),
                left_s=elapsed_s * (self._total - bytes_read) / bytes_now if self._total and bytes_now else None,
                service_p99_ns=progress["service_p99_ns"] or None,
            )
        )

    def _mark(self, progress: Mapping[str, Any]) -> tuple[float, int, int]:
        return progress["elapsed_ns"] / 1e9, documents_in(progress["counts"]), self._before + progress["input_bytes"]

    def _per_s(self, figure: int) -> float | None:
        """None before the first of it: what isn't known yet is no 0."""
        then, now = self._seen[0], self._seen[-1]
        if now[figure] == self._first[figure] or now[0] <= then[0]:
            return None
        grown: float = now[figure] - then[figure]
        return grown / (now[0] - then[0])


def _planned(each: InputFile) -> dict[str, Any]:
    return {"path": each.path, "gzip": each.gzip}


def shares_of(inputs: Sequence[InputFile], settings: ImportSettings, nodes: int, *, stop: StopToken) -> ImportShares:
    """Divides `inputs` at borders between records among as many of `nodes` as have a connection, fewer of few records.

    Reads them whole. Raises Interrupted.
    """
    split = {
        "inputs": [_planned(each) for each in inputs],
        "format": settings.format_document,
        "parts": min(nodes, settings.connections),
    }
    found: list[str] = []
    reading = Worker(lambda: found.append(_native.split_import(json.dumps(split))), name="finding where records end")
    started_ns = time.monotonic_ns()
    reading.start()
    while not reading.join(_POLL_S):
        stop.raise_if_requested()
    if not found:
        raise ResourceError("where records end was not found out", hint="see what is said above")
    told = json.loads(found[0])
    begins: list[Place] = [Place(input=0, offset=0, line=1), *told["borders"]]
    parts = [
        ImportPart(begin=begin, until=until) for begin, until in zip(begins, [*told["borders"], None], strict=True)
    ]
    read = told["heads"]
    heads_bytes = [None if each.gzip or number >= len(read) else read[number] for number, each in enumerate(inputs)]
    reading_ns = time.monotonic_ns() - started_ns
    return ImportShares(parts=parts, heads_bytes=heads_bytes, input_bytes=told["read_bytes"], reading_ns=reading_ns)


def import_plan(
    deployment: Deployment,
    namespace: Namespace,
    inputs: Sequence[InputFile],
    settings: ImportSettings,
    *,
    directory: Path,
    object_ids: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """What the importer is to do, as JSON has it: from the checkpoint in `directory` on, where there is one.

    `object_ids`: from which the ids of records without one are counted; None: drawn anew.
    """
    concern = settings.write_concern
    return {
        "address": deployment.address,
        "database": namespace.database,
        "collection": namespace.collection,
        "inputs": [_planned(each) for each in inputs],
        "format": settings.format_document,
        "object_ids": object_ids or fresh_object_ids(),
        "mode": settings.mode,
        "upsert_fields": list(settings.upsert_fields),
        "workers": settings.connections,
        "batch_documents": settings.batch_size,
        "maintain_order": settings.maintain_insertion_order,
        "stop_on_error": settings.stop_on_error or settings.maintain_insertion_order,
        "write_concern": {"w": concern.w, "journal": concern.journal, "timeout_ms": concern.timeout_ms},
        "bypass_document_validation": settings.bypass_document_validation,
        "checkpoint_file": str(directory / CHECKPOINT_FILE),
        "rejected_file": str(directory / REJECTED_FILE),
        "resume": read_checkpoint(directory),
        "interval_ns": _INTERVAL_NS,
        "reply_timeout_ns": _REPLY_TIMEOUT_NS,
        **({"shards": deployment.shards} if deployment.shards else {}),
    }


def fresh_object_ids() -> dict[str, int]:
    """Where the ids of an import's records begin that have none of their own."""
    return {"unix_s": int(time.time()), "number": secrets.randbits(NUMBER_BITS)}


def start_import(plan: Mapping[str, Any], access: Access, *, held: bool) -> _native.Import:
    """Starts the importer and returns at once; `held`: it sends nothing before `release`.

    Raises UsageError for a plan that can't be, RecordError where its files can't be written.
    """
    try:
        return _native.start_import(json.dumps(plan), access.native, held)
    except ValueError as error:
        raise UsageError(f"the import can't be made: {error}") from error
    except OSError as error:
        raise RecordError(
            f"the import can't begin: {error}", hint="check the address and the record's directory"
        ) from error
