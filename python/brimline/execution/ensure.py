"""Owns the data under a run: looked for in every collection, and loaded where it has to be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from brimline import dataset
from brimline.dataset.definition import listed_key
from brimline.dataset.inspection import Inspection, State
from brimline.errors import UsageError
from brimline.execution.data import LoadReport, MakeDirectory, load_data
from brimline.execution.database import database_of
from brimline.execution.descriptors import allow_descriptors
from brimline.execution.execute import RunContext
from brimline.execution.put_back import put_right
from brimline.execution.restoring import restored
from brimline.execution.wanted import WantedData
from brimline.wording import Verbatim, message

_ABSENT_HINT = (
    "load the workload first (brimline load), or give --data load, with --drop to replace what is there, "
    "or --data as-is"
)
_UNFINISHED_HINT = "go on with it: brimline load with --resume, or --data load here"
_MISFIT_HINT = "give --data load to have it made as the workload says, or --data as-is"


class DataPolicy(StrEnum):
    """What a run does about the data it needs."""

    CHECK = "check"  # it must be there, else the run is refused
    LOAD = "load"  # it is loaded when it isn't there
    AS_IS = "as-is"  # whatever is there is taken


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What was found in one collection. `misfit`: how it differs from its definition, where it holds the data."""

    wanted: WantedData
    found: Inspection
    misfit: dataset.Misfit = field(default_factory=dataset.Misfit)

    @property
    def is_right(self) -> bool:
        return self.found.ready and not self.misfit

    @property
    def is_to_be_loaded(self) -> bool:
        return not self.found.ready or self.misfit.needs_another_collection or bool(self.misfit.other)

    def error(self) -> UsageError:
        """Why a run may not use it."""
        if self.found.ready:
            return UsageError(f"{self.wanted.namespace} is {self.misfit.text}", hint=_MISFIT_HINT)
        return refusal_of(self.found)


def refusal_of(found: Inspection) -> UsageError:
    """Why a run may not use what was found."""
    unfinished = found.state is State.UNFINISHED
    return UsageError(found.explanation, hint=_UNFINISHED_HINT if unfinished else _ABSENT_HINT)


def ensure_data(
    wanted: Sequence[WantedData],
    *,
    policy: DataPolicy,
    make_directory: MakeDirectory,
    context: RunContext,
    drop: bool = False,
) -> list[LoadReport]:
    """Sees to it that each collection holds its data and is what it is to be; what was loaded for that, in order.

    All are looked at before anything is changed in one. A load that did not end goes on.

    Raises:
        UsageError: the data isn't there and may not be loaded; says what is there instead.
        InvalidRun, TargetError, RecordError: as `load_data`.
    """
    if policy is DataPolicy.AS_IS or context.deployment is None:
        return []
    for each in wanted:
        allow_descriptors(each.load)
    looks = [_look(each, context) for each in wanted]
    for look in [] if drop else looks:
        dataset.require_nobody_at_work(look.wanted.namespace, look.found.manifest)
    if policy is DataPolicy.CHECK:
        _require_right([look for look in looks if look.found.state is not State.CHANGED])
    looks = [_restored(look, context, drop=drop) for look in looks]
    if policy is DataPolicy.CHECK:
        _require_right(looks)
        return []
    reports = load_data(
        [look.wanted for look in looks if look.is_to_be_loaded],
        make_directory=make_directory,
        context=context,
        drop=drop,
        going_on=[] if drop else [look.wanted for look in looks if look.found.state is State.UNFINISHED],
    )
    if all(report.is_whole for report in reports) and not context.stop.requested:
        for look in looks:
            if not look.is_to_be_loaded and look.misfit:
                _fit(look, context)
    return reports


def _look(wanted: WantedData, context: RunContext) -> _Look:
    with database_of(wanted.load, context.deployment) as database:
        found = dataset.inspect(database, wanted.manifest)
        if wanted.definition is None or found.manifest is None or not found.ready:
            return _Look(wanted=wanted, found=found)
        misfit = dataset.find_misfit(database, found.manifest, wanted.definition)
    return _Look(wanted=wanted, found=found, misfit=misfit)


def _restored(look: _Look, context: RunContext, *, drop: bool) -> _Look:
    """The same without what runs inserted and changed."""
    if look.found.state is not State.CHANGED:
        return look
    found = look.found
    with database_of(look.wanted.load, context.deployment) as database:
        if not found.changed_by_operations:
            found = restored(database, look.wanted.load, found, stop=context.stop)
        manifest = found.manifest
        if look.wanted.expires and manifest is not None and found.document_count < (manifest.count or 0):
            manifest = manifest.changed()  # by the server itself, as the workload wants it
            dataset.write_manifest(database, manifest)
        if manifest is not None and manifest.state == "changed":
            try:
                put_right(database, look.wanted, manifest, context)
            except UsageError:
                if not drop:
                    raise
    return _look(look.wanted, context)


def _require_right(looks: Sequence[_Look]) -> None:
    for look in looks:
        if not look.is_right:
            raise look.error()


def _fit(look: _Look, context: RunContext) -> None:
    """Makes the indexes of loaded data what they are to be. Raises TargetError."""
    found, misfit = look.found.manifest, look.misfit
    assert found is not None  # noqa: S101 - it is ready
    context.progress.step(
        message(
            "making {namespace} what it is to be: it is {misfit}",
            namespace=Verbatim(look.wanted.namespace),
            misfit=misfit.text,
        )
    )
    asked = [] if look.wanted.definition is None else look.wanted.definition.shape.indexes
    fields: list[Mapping[str, Any]] = [listed_key(index) for index in misfit.missing]
    with database_of(look.wanted.load, context.deployment) as database:
        # Before they are there: one that is made and not known to be brimline's would be taken for somebody else's.
        made = [*found.asked_indexes, *misfit.missing]
        found = replace(found, own_indexes=[*found.own_indexes, *fields], asked_indexes=made)
        dataset.write_manifest(database, found)
        dataset.fit_indexes(database, found.collection, misfit)
        keys = [listed_key(index) for index in asked]
        own = [each for each in found.own_indexes if dict(each) in keys]
        made = [each for each in made if each in asked]
        dataset.write_manifest(database, replace(found, own_indexes=own, asked_indexes=made))
