"""Owns loading: collections emptied and filled, or a load gone on with, and what the server counts then."""

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from brimline import _native, dataset
from brimline.dataset.access import DataDatabase
from brimline.dataset.inspection import Inspection, State
from brimline.errors import BrimlineError, InvalidRun, RecordError, TargetError, UsageError
from brimline.execution.database import database_of
from brimline.execution.descriptors import allow_descriptors
from brimline.execution.execute import Change, RunContext, execute
from brimline.execution.server_room import warn_of_little_room
from brimline.execution.wanted import WantedData
from brimline.plan import Plan, rest_of_load
from brimline.plan.document_bytes import mean_document_bytes
from brimline.record import RunRecord, read_record
from brimline.units import counted, format_count
from brimline.wording import Verbatim, message

RESUME_HINT = "the same command with --resume goes on with the load"
"""What to do about a load that did not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """A load that ended, whole or not.

    `record` is None when every document was there already and nothing was sent. `document_count` is what the server
    counted at the end, 0 when the load was cut short. `resumed_count` documents were there before. `shortfall` is set
    when the server counted another number than intended. `kept`: which options and indexes of the collection stayed.
    """

    record: RunRecord | None
    document_count: int
    namespace: str
    resumed_count: int = 0
    shortfall: InvalidRun | None = None
    kept: dataset.Shape = field(default_factory=dataset.Shape)

    @property
    def is_whole(self) -> bool:
        """Whether the collection holds what it is to hold."""
        return self.shortfall is None and (self.record is None or self.record.complete)


MakeDirectory = Callable[[Plan], Path]
"""Makes the directory for the record of a plan, once there is something to record."""


def load_data(
    wanted: Sequence[WantedData],
    *,
    make_directory: MakeDirectory,
    context: RunContext,
    drop: bool = False,
    going_on: Collection[WantedData] = (),
) -> list[LoadReport]:
    """Executes each load into its emptied collection, and has the server count the result.

    Nothing is changed before all of them may be. One that did not come to its end is the last. Of `going_on` a load of
    the same data that did not end goes on: what is there stays, what is missing is inserted. With `drop`, what is no
    such load is replaced.

    Raises:
        UsageError: a collection holds documents of somebody else, and `drop` is False; or there is nothing to resume;
            or the server refuses what the collection is to be.
        InvalidRun: nothing was missing, and yet a collection doesn't hold exactly the intended documents.
        TargetError, RecordError: as `execute`.
    """
    for each in wanted:
        allow_descriptors(each.load)
    reports: list[LoadReport] = []
    with ExitStack() as open_databases:
        loads: list[Callable[[], LoadReport]] = []
        to_fill: list[tuple[Plan, DataDatabase]] = []
        for each in wanted:
            database = open_databases.enter_context(database_of(each.load, context.deployment))
            if each in going_on and goes_on(found := _to_resume(database, each), drop=drop):
                loads.append(_going_on(database, each, found, make_directory, context))
                continue
            replacement = dataset.replacement(database, each.manifest, drop=drop, wanted=each.definition)
            require_taken(each.load, replacement)
            to_fill.append((each.load, database))
            loads.append(partial(_replace_and_fill, each, replacement, make_directory, context))
        if to_fill:
            warn_of_little_room([plan for plan, _ in to_fill], to_fill[0][1], context)
        for load in loads:
            reports.append(load())
            if not reports[-1].is_whole or context.stop.requested:
                break
    return reports


def _replace_and_fill(
    wanted: WantedData, replacement: dataset.Replacement, make_directory: MakeDirectory, context: RunContext
) -> LoadReport:
    if wanted.definition is not None and wanted.definition.shard_key is not None and not replacement.behind_router:
        context.progress.note(f"the shard key of {wanted.namespace} has no effect, as no mongos is in use")
    change = partial(replace_collection, replacement, context)
    report = _insert(
        wanted.load, replacement.manifest, make_directory, context, change=change, definition=wanted.definition
    )
    return replace(report, kept=replacement.kept)


def require_taken(plan: Plan, replacement: dataset.Replacement) -> None:
    """Raises UsageError where what stays of the collection refuses the first documents of `plan`, before they go."""
    if not replacement.made:
        return
    first, count = replacement.manifest.records.start, len(replacement.manifest.records)
    some = _native.generate_documents(plan.canonical_json(), first, min(count, dataset.TRIAL_DOCUMENTS))
    size_bytes = round(mean_document_bytes(plan.data, plan.seed) * count)
    dataset.require_taken(
        replacement.database,
        replacement.manifest.collection,
        replacement.made,
        some,
        count=count,
        size_bytes=size_bytes,
        is_asked_for=bool(replacement.wanted),
    )


def replace_collection(replacement: dataset.Replacement, context: RunContext) -> None:
    """Empties a collection, and says what it held and what stays of it. Raises TargetError."""
    replacement.carry_out()
    namespace = f"{replacement.database.name}.{replacement.manifest.collection}"
    if replacement.held:
        context.progress.note(f"replaced {counted(replacement.held, 'document')} that {namespace} held")
    if replacement.kept:
        context.progress.note(f"kept {replacement.kept.text} of {namespace}")
    if replacement.lost:
        context.progress.note(
            f"replaced {', '.join(replacement.lost)} of {namespace}, which the workload has otherwise"
        )


def _to_resume(database: DataDatabase, wanted: WantedData) -> Inspection:
    """What is there of the data. Raises UsageError where somebody is at work on it."""
    found = dataset.inspect(database, wanted.manifest)
    dataset.require_nobody_at_work(wanted.namespace, found.manifest)
    return found


def goes_on(found: Inspection, *, drop: bool) -> bool:
    """Whether a part of a load is there, or all of it; with `drop`, anything else is replaced, else a UsageError."""
    if found.state in (State.UNFINISHED, State.READY):
        return True
    if found.state is State.ABSENT or drop:
        return False
    raise UsageError(
        f"there is no load to go on with: {found.explanation}",
        hint="load anew without --resume, with --drop where the documents may go",
    )


def _going_on(
    database: DataDatabase, wanted: WantedData, found: Inspection, make_directory: MakeDirectory, context: RunContext
) -> Callable[[], LoadReport]:
    """Looks what an unfinished load has left out; what is returned inserts it."""
    plan = wanted.load
    manifest = wanted.manifest if found.manifest is None else found.manifest
    if found.ready:
        return lambda: LoadReport(
            record=None,
            document_count=found.document_count,
            namespace=wanted.namespace,
            resumed_count=found.document_count,
        )
    context.progress.step("looking which documents are there")
    look_up = context.stop.raise_if_requested
    gaps = dataset.find_gaps(database, manifest, plan_json=plan.canonical_json(), look_up=look_up)
    there, all_of_them = format_count(gaps.present_count), counted(len(manifest.records), "document")
    context.progress.note(f"{there} of {all_of_them} are there already")

    def go_on() -> LoadReport:
        if not gaps.missing:
            finished = dataset.complete(database, manifest, wanted=wanted.definition)
            return LoadReport(
                record=None,
                document_count=finished.count or 0,
                namespace=wanted.namespace,
                resumed_count=gaps.present_count,
            )
        rest = rest_of_load(plan, gaps.missing)
        report = _insert(rest, manifest, make_directory, context, definition=wanted.definition)
        return replace(report, resumed_count=gaps.present_count)

    return go_on


def _insert(
    plan: Plan,
    manifest: dataset.Manifest,
    make_directory: MakeDirectory,
    context: RunContext,
    *,
    change: Change | None = None,
    definition: dataset.Definition | None = None,
) -> LoadReport:
    namespace, directory = _namespace(plan), make_directory(plan)
    try:
        record = execute_load(
            plan,
            manifest,
            directory=directory,
            title=message("loading {namespace}", namespace=Verbatim(namespace)),
            context=context,
            change=change,
            definition=definition,
        )
    except InvalidRun as error:
        record = read_record(directory)
        shortfall = InvalidRun(error.message, hint=_load_hint(record) or error.hint)
        return LoadReport(record=record, document_count=0, namespace=namespace, shortfall=shortfall)
    return LoadReport(
        record=record, document_count=len(manifest.records) if record.complete else 0, namespace=namespace
    )


def execute_load(
    plan: Plan,
    manifest: dataset.Manifest,
    *,
    directory: Path,
    title: str,
    context: RunContext,
    change: Change | None = None,
    definition: dataset.Definition | None = None,
) -> RunRecord:
    """`execute`, of a load that makes `change` first, and is counted and signed at its end.

    Raises as `execute`, and InvalidRun where documents are missing. Where the record
    can't be written any more, the data is whole all the same, counted, and the error says so.
    """
    changed = False

    def make_change() -> None:
        nonlocal changed
        if change is not None:
            change()
        changed = True

    def finish() -> None:
        context.progress.step(message("counting the documents{further}", further=_and_indexing(definition)))
        complete(plan, manifest, context, definition)

    try:
        return execute(plan, directory=directory, title=title, context=context, change=make_change, finish=finish)
    except RecordError as error:
        if changed:
            error.hint = f"{_data_without_record(plan, manifest, context, definition)}; {error.hint}"
        raise


def _and_indexing(definition: dataset.Definition | None) -> str:
    names = [] if definition is None else definition.shape.names
    return message(" and making the indexes {indexes}", indexes=Verbatim(", ".join(names))) if names else ""


def _data_without_record(
    plan: Plan, manifest: dataset.Manifest, context: RunContext, definition: dataset.Definition | None
) -> str:
    """What became of the data of a load that lost its record."""
    if context.stop.requested:
        return f"the load was interrupted as well: {RESUME_HINT}"
    try:
        count = complete(plan, manifest, context, definition).count or 0
    except BrimlineError as error:
        return f"the data is not whole: {error.message}: {RESUME_HINT}"
    return f"the data is whole, only its report is lost: {counted(count, 'document')} in {_namespace(plan)}"


def add_data(plan: Plan, *, directory: Path, context: RunContext) -> RunRecord:
    """Executes `plan`, a load, into whatever the collection holds, as YCSB does.

    A collection that was empty and holds exactly the intended documents afterwards has a manifest that says so.
    Raises TargetError and RecordError.
    """
    allow_descriptors(plan)
    manifest = dataset.manifest_for(plan)
    was_empty = False

    def begin() -> None:
        nonlocal was_empty
        with database_of(plan, context.deployment) as database:
            was_empty = dataset.prepare_addition(database, manifest)

    record = execute(plan, directory=directory, title="loading", context=context, change=begin)
    if was_empty and record.complete and documents_inserted(record) == len(manifest.records):
        with suppress(InvalidRun):  # somebody else writes there: it stays "loading"
            complete(plan, manifest, context)
    return record


def complete(
    plan: Plan, manifest: dataset.Manifest, context: RunContext, definition: dataset.Definition | None = None
) -> dataset.Manifest:
    """Counts and signs at the primary of the moment, which the load may have outlived; again where that one goes too.

    Raises InvalidRun where documents are missing, TargetError where no primary answers.
    """
    try:
        with database_of(plan, context.deployment) as database:
            return dataset.complete(database, manifest, wanted=definition)
    except TargetError:
        with database_of(plan, context.deployment) as database:
            return dataset.complete(database, manifest, wanted=definition)


def documents_inserted(record: RunRecord) -> int:
    """How many documents the server acknowledged in a load."""
    return sum(row["documents"] for row in record.operations)


def _load_hint(record: RunRecord) -> str | None:
    """What to do about documents that are missing, with the first failure of the load, which is why they are."""
    errors = record.summary["errors"] if record.summary else []
    return f"the server said: {errors[0]['example']}; {RESUME_HINT} once that is cured" if errors else None


def _namespace(plan: Plan) -> str:
    return f"{plan.namespace.database}.{plan.namespace.collection}"
