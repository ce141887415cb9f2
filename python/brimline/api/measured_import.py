"""Owns the import as a design crosses it: the same files at each combination, into a collection that is empty.

Its documents come from files, and a design keeps workloads: one stands for the namespace, and nothing of it is sent.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from brimline.analysis.figure import Figure
from brimline.analysis.import_metrics import IMPORT_METRICS
from brimline.api.import_data import (
    ImportJob,
    import_into,
    import_job,
    import_result,
    require_routable,
    require_shareable,
)
from brimline.api.kinds import MeasureInPlace
from brimline.api.options import URI_VARIABLE, Options
from brimline.api.vary import VaryResult, vary
from brimline.api.workplace import Workplace
from brimline.dataset.access import indexes_of, target_errors
from brimline.errors import UsageError
from brimline.execution.database import database_named
from brimline.execution.import_collection import ImportContext, Namespace
from brimline.execution.import_inputs import column_names, require_unchanged
from brimline.execution.import_progress import ImportSilence
from brimline.execution.memory import allow_memory_of
from brimline.experiments.cost import TIME_UNKNOWN
from brimline.experiments.measure import Measure
from brimline.experiments.vary.factor_kinds import KINDS, SERVER
from brimline.experiments.vary.factors import index_sets, parse_factors, parse_listed
from brimline.record.data_import import KIND, InputFile, read_import
from brimline.report.data_import.view import import_grid
from brimline.spec import Spec
from brimline.spec.import_settings import ImportSettings

_INDEX = "brimline_varied"
_STANDS_FOR_IT = "bulk-rows"
_WORDS = {"connections": "workers", "batch_size": "batch_size"}
_SURROUNDINGS = {"batch-size", "cache-gb", "compression", "connections", "indexes", "journal", "mongod", "network",
                 "nodes", "server", "server-version", "topology", "write-concern"}  # fmt: skip
"""The factors that an import knows."""
_SHOWN = {"import_rate", "client_cpu", "server_cpu", "storage_size", "index_size"}
"""The others of an import's figures are the same for every cell, or follow from these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """`index`: the fields of the secondary index; None where indexes are no factor."""

    job: ImportJob
    index: tuple[str, ...] | None


def vary_import(
    files: Sequence[str | Path],
    *,
    factors: Sequence[str] = (),
    levels: Sequence[str] = (),
    settings: ImportSettings | None = None,
    database: str | None = None,
    collection: str | None = None,
    gzip: bool = False,
    throw_away: bool = False,
    design: Mapping[str, Any] | None = None,
    options: Options | None = None,
) -> VaryResult:
    """Imports `files` at each combination of levels, as `vary` has them; `design` are fields of its settings.

    Before each the collection is emptied: on a server that stays that takes `Options.drop`. Raises BrimlineError.
    """
    options, settings = options or Options(), settings or ImportSettings()
    uri = options.uri or os.environ.get(URI_VARIABLE)
    varied = parse_listed(levels)[0] if levels else parse_factors(factors)
    stays = uri is not None or any(each.name == SERVER for each in varied)
    if throw_away and stays:
        raise UsageError("--throw-away asks for a server that doesn't stay, and one that does is named",
                         hint=f"leave --throw-away out, or --uri and {URI_VARIABLE}")  # fmt: skip
    if settings.mode == "delete":
        raise UsageError("--mode delete finds nothing in a collection that is empty", hint="leave --vary out")
    _require_drop(options.drop, is_own=not stays)
    job = import_job(files, settings=settings, database=database, collection=collection, gzip=gzip, uri=uri,
                     drop=options.drop)  # fmt: skip
    if not all(each.is_file for each in job.inputs):
        raise UsageError("what comes through a pipe can't be imported again", hint="give files, or leave --vary out")
    if options.workers is not None:
        require_shareable(job)
    stands = {
        "name": job.namespace.collection,
        "description": f"Stands for an import into {job.namespace.text}",
        "data.database": job.namespace.database,
        "data.collection": job.namespace.collection,
        "operations": {"insert": 1},
    }
    return vary(_STANDS_FOR_IT, factors=factors, levels=levels, measure="import", said={"job": asdict(job)},
                settings=design, options=options, overrides=stands)  # fmt: skip


def _require_drop(drop: bool, *, is_own: bool) -> None:
    if not is_own and not drop:
        raise UsageError("each import of a design begins with an empty collection, and this server stays",
                         hint="give --drop where the collection's documents may go, or leave --uri out")  # fmt: skip


def _cell(_spec: Spec, said: Mapping[str, Any]) -> _Cell:
    kept: Mapping[str, Any] = said["job"]
    concern = dict(kept["settings"]["write_concern"])
    if (asked := said.get("write_concern")) is not None:
        concern["w"] = int(asked) if str(asked).isdigit() else asked
    concern["journal"] = said.get("journal", concern["journal"])
    varied = {name: said[word] for word, name in _WORDS.items() if word in said}
    settings = ImportSettings.from_document({**kept["settings"], **varied, "write_concern": concern})
    allow_memory_of("this import", connections=settings.connections, threads=settings.connections)
    inputs = [InputFile(**each) for each in kept["inputs"]]
    job = ImportJob(namespace=Namespace(**kept["namespace"]), settings=settings, inputs=inputs, drop=kept["drop"],
                    tables_of_cr=tuple(kept["tables_of_cr"]))  # fmt: skip
    return _Cell(job=job, index=_index(said["indexes"], job) if "indexes" in said else None)


def _index(level: str, job: ImportJob) -> tuple[str, ...]:
    known = column_names(job.inputs[0], job.settings)
    try:
        return tuple(index_sets(level, known or level.split("+")))
    except ValueError as error:
        raise UsageError(f"--vary indexes: {error}", hint="name columns of the file, such as created+amount") from error


def import_in(place: Workplace, settings: _Cell, *, directory: Path, resume: bool = False) -> Path:
    """Imports in a place that is up; one that was cut short begins anew. Raises BrimlineError."""
    del resume
    deployment, job = place.context.deployment, settings.job
    if deployment is None:
        raise UsageError("the null target holds no data", hint="leave --null out")
    _require_drop(job.drop, is_own=deployment.is_own)
    require_unchanged(job.inputs)
    context = ImportContext(deployment=deployment, environment=place.context.environment,
                            progress=ImportSilence(), stop=place.stop, executor=place.context.executor)  # fmt: skip
    if settings.index is not None:
        _set_index(job.namespace, settings.index, context)
    import_into(replace(job, drop=True), context, make_directory=lambda: directory)
    return directory


def _set_index(namespace: Namespace, fields: Sequence[str], context: ImportContext) -> None:
    """One index over `fields`, or none; the import keeps it as it empties the collection. Raises UsageError."""
    with (
        database_named(namespace.database, context.deployment, purpose="import") as database,
        target_errors("making the index"),
    ):
        there = {name: list(keys) for name, keys in indexes_of(database, namespace.collection).items()}
        others = there.keys() - {"_id_", _INDEX}
        if others:
            raise UsageError(f"{namespace.text} has indexes of its own: {', '.join(sorted(others))}",
                             hint="vary indexes of a collection that has none, or leave them out")  # fmt: skip
        if there.get(_INDEX, []) == list(fields):
            return
        if _INDEX in there:
            database[namespace.collection].drop_index(_INDEX)
        if fields:
            database[namespace.collection].create_index([(field, 1) for field in fields], name=_INDEX)


def _figures(directory: Path) -> Mapping[str, Figure]:
    """What an import came to, nothing where the server doesn't prove it; imports vary, so that none has an interval."""
    record = read_import(directory)
    (row,) = import_grid(record).rows
    if import_result(record).error is not None:
        return {}
    return {
        each.key: Figure(key=each.key, value=row.figures[each.key].value, unit=each.unit, label=each.label,
                         higher_is_better=each.higher_is_better)
        for each in IMPORT_METRICS
        if each.key in _SHOWN and each.key in row.figures
    }  # fmt: skip


MEASURE = MeasureInPlace(
    measure=Measure(
        name="import",
        kind=KIND,
        figures=_figures,
        meaningless=dict.fromkeys(KINDS.keys() - _SURROUNDINGS, "its documents are those of files"),
        has_interval=False,
    ),
    made_in=import_in,
    settings=_cell,
    estimate=lambda _spec, _settings: TIME_UNKNOWN,
    data_bytes=lambda _spec, settings: sum(each.size_bytes or 0 for each in settings.job.inputs),
    words=frozenset((*_WORDS, "indexes", "write_concern", "journal")),
    on_data=False,
    fits=lambda settings, options: require_routable(settings.job.settings, options.topology),
)
"""An import as a design crosses it; said to it is what is imported, and where to."""
