"""Owns the data under a run: loaded when it has to be, and proven."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from brimline import _native, dataset
from brimline.dataset.access import DataDatabase
from brimline.dataset.inspection import Inspection, State
from brimline.errors import BrimlineError, InvalidRun, RecordError, TargetError, UsageError
from brimline.execution.database import database_of
from brimline.execution.descriptors import allow_descriptors
from brimline.execution.execute import Change, RunContext, execute
from brimline.execution.restoring import restored
from brimline.execution.server_room import warn_of_little_room
from brimline.plan import Plan, rest_of_load
from brimline.plan.explain import mean_document_bytes
from brimline.record import RunRecord
from brimline.units import format_count

_ABSENT_HINT = (
    "load the workload first (brimline load), or give --data load, with --drop to replace what is there, "
    "or --data as-is"
)
RESUME_HINT = "the same command with --resume goes on with the load"
"""What to do about a load that did not end."""
_UNFINISHED_HINT = "go on with it: brimline load with --resume, or --data load here"


class DataPolicy(StrEnum):
    """What a run does about the data it needs."""

    CHECK = "check"  # it must be there, else the run is refused
    LOAD = "load"  # it is loaded when it isn't there
    AS_IS = "as-is"  # whatever is there is taken


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


MakeDirectory = Callable[[Plan], Path]
"""Makes the directory for the record of a plan, once there is something to record."""


def load_data(
    plan: Plan, *, make_directory: MakeDirectory, context: RunContext, drop: bool = False, resume: bool = False
) -> LoadReport:
    """Executes `plan`, a load, into the emptied collection, and has the server count the result.

    With `resume` a load of the same data that did not end goes on: what is there stays, what is missing is inserted.

    Raises:
        UsageError: the collection holds documents of somebody else, and `drop` is False; or there is nothing to resume.
        InvalidRun: nothing was missing, and yet the collection doesn't hold exactly the intended documents.
        TargetError, RecordError: as `execute`.
    """
    allow_descriptors(plan)
    with database_of(plan, context.deployment) as database:
        if resume and (found := _to_resume(database, plan)).state is not State.ABSENT:
            return _go_on(database, plan, found, make_directory, context)
        manifest = dataset.manifest_for(plan)
        replacement = dataset.replacement(database, manifest, drop=drop)
        require_taken(plan, replacement)
        warn_of_little_room(plan, database, context)
        change = partial(replace_collection, replacement, context)
        report = _insert(plan, manifest, make_directory, context, change)
        return replace(report, kept=replacement.kept)


def require_taken(plan: Plan, replacement: dataset.Replacement) -> None:
    """Raises UsageError where what stays of the collection refuses the first documents of `plan`, before they go."""
    if not replacement.kept:
        return
    first, count = replacement.manifest.records.start, len(replacement.manifest.records)
    some = _native.generate_documents(plan.canonical_json(), first, min(count, dataset.TRIAL_DOCUMENTS))
    size_bytes = round(mean_document_bytes(plan.data, plan.seed) * count)
    name = replacement.manifest.collection
    dataset.require_taken(replacement.database, name, replacement.kept, some, count=count, size_bytes=size_bytes)


def replace_collection(replacement: dataset.Replacement, context: RunContext) -> None:
    """Empties a collection, and says what it held and what stays of it. Raises TargetError."""
    replacement.carry_out()
    namespace = f"{replacement.database.name}.{replacement.manifest.collection}"
    if replacement.held:
        context.progress.note(f"replaced {format_count(replacement.held)} documents that {namespace} held")
    if replacement.kept:
        context.progress.note(f"kept {replacement.kept.text} of {namespace}")


def _to_resume(database: DataDatabase, plan: Plan) -> Inspection:
    """What is there of the data of `plan`: nothing, a part, or all. Raises UsageError when it is something else."""
    found = dataset.inspect(database, dataset.manifest_for(plan))
    if found.state in (State.ABSENT, State.UNFINISHED, State.READY):
        return found
    raise UsageError(
        f"there is no load to go on with: {found.explanation}",
        hint="load anew without --resume, with --drop where the documents may go",
    )


def _go_on(
    database: DataDatabase, plan: Plan, found: Inspection, make_directory: MakeDirectory, context: RunContext
) -> LoadReport:
    """Inserts what an unfinished load has left out."""
    manifest = dataset.manifest_for(plan)
    if found.ready:
        return LoadReport(
            record=None,
            document_count=found.document_count,
            namespace=_namespace(plan),
            resumed_count=found.document_count,
        )
    context.progress.step("looking which documents are there")
    look_up = context.stop.raise_if_requested
    gaps = dataset.find_gaps(database, manifest, plan_json=plan.canonical_json(), look_up=look_up)
    there, all_of_them = format_count(gaps.present_count), format_count(len(manifest.records))
    context.progress.note(f"{there} of {all_of_them} documents are there already")
    if not gaps.missing:
        finished = dataset.complete(database, manifest)
        return LoadReport(
            record=None,
            document_count=finished.count or 0,
            namespace=_namespace(plan),
            resumed_count=gaps.present_count,
        )
    rest = rest_of_load(plan, gaps.missing)
    report = _insert(rest, manifest, make_directory, context)
    return replace(report, resumed_count=gaps.present_count)


def _insert(
    plan: Plan,
    manifest: dataset.Manifest,
    make_directory: MakeDirectory,
    context: RunContext,
    change: Change | None = None,
) -> LoadReport:
    namespace = _namespace(plan)
    record = execute_load(
        plan, manifest, directory=make_directory(plan), title=f"loading {namespace}", context=context, change=change
    )
    if not record.complete:
        return LoadReport(record=record, document_count=0, namespace=namespace)
    context.progress.step("counting the documents")
    try:
        finished = _complete(plan, manifest, context)
    except InvalidRun as error:
        shortfall = InvalidRun(error.message, hint=_load_hint(record) or error.hint)
        return LoadReport(record=record, document_count=0, namespace=namespace, shortfall=shortfall)
    return LoadReport(record=record, document_count=finished.count or 0, namespace=namespace)


def execute_load(
    plan: Plan,
    manifest: dataset.Manifest,
    *,
    directory: Path,
    title: str,
    context: RunContext,
    change: Change | None = None,
) -> RunRecord:
    """`execute`, of a load that makes `change` first. Raises as that.

    Where the record can't be written any more, the data is whole all the same, counted, and the error says so.
    """
    changed = False

    def make_change() -> None:
        nonlocal changed
        if change is not None:
            change()
        changed = True

    try:
        return execute(plan, directory=directory, title=title, context=context, change=make_change)
    except RecordError as error:
        if changed:
            error.hint = f"{_data_without_record(plan, manifest, context)}; {error.hint}"
        raise


def _data_without_record(plan: Plan, manifest: dataset.Manifest, context: RunContext) -> str:
    """What became of the data of a load that lost its record."""
    if context.stop.requested:
        return f"the load was interrupted as well: {RESUME_HINT}"
    try:
        count = _complete(plan, manifest, context).count or 0
    except BrimlineError as error:
        return f"the data is not whole: {error.message}: {RESUME_HINT}"
    return f"the data is whole, only its report is lost: {format_count(count)} documents in {_namespace(plan)}"


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
            _complete(plan, manifest, context)
    return record


def _complete(plan: Plan, manifest: dataset.Manifest, context: RunContext) -> dataset.Manifest:
    """Counts and signs at the primary of the moment, which the load may have outlived; again where that one goes too.

    Raises InvalidRun where documents are missing, TargetError where no primary answers.
    """
    try:
        with database_of(plan, context.deployment) as database:
            return dataset.complete(database, manifest)
    except TargetError:
        with database_of(plan, context.deployment) as database:
            return dataset.complete(database, manifest)


def documents_inserted(record: RunRecord) -> int:
    """How many documents the server acknowledged in a load."""
    return sum(row["documents"] for row in record.operations)


def ensure_data(
    plan: Plan,
    load: Plan,
    *,
    policy: DataPolicy,
    make_directory: MakeDirectory,
    context: RunContext,
    drop: bool = False,
) -> LoadReport | None:
    """Sees to it that the collection holds the data of `plan`; None when nothing had to be loaded.

    A load that did not end goes on.

    Raises:
        UsageError: the data isn't there and may not be loaded; says what is there instead.
        InvalidRun, TargetError, RecordError: as `load_data`.
    """
    if policy is DataPolicy.AS_IS or context.deployment is None:
        return None
    allow_descriptors(plan)
    with database_of(plan, context.deployment) as database:
        found = dataset.inspect(database, dataset.manifest_for(plan))
        if found.state is State.CHANGED:
            found = restored(database, plan, found, stop=context.stop)
    if found.ready:
        return None
    unfinished = found.state is State.UNFINISHED
    if policy is DataPolicy.CHECK:
        raise UsageError(found.explanation, hint=_UNFINISHED_HINT if unfinished else _ABSENT_HINT)
    return load_data(load, make_directory=make_directory, context=context, drop=drop, resume=unfinished and not drop)


def _load_hint(record: RunRecord) -> str | None:
    """What to do about documents that are missing, with the first failure of the load, which is why they are."""
    errors = record.summary["errors"] if record.summary else []
    return f"the server said: {errors[0]['example']}; {RESUME_HINT} once that is cured" if errors else None


def _namespace(plan: Plan) -> str:
    return f"{plan.namespace.database}.{plan.namespace.collection}"
