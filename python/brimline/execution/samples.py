"""Owns the rows that a workload takes from collections: read before the run, and what was taken is said."""

from collections.abc import Sequence
from dataclasses import dataclass

from brimline import _native
from brimline.dataset.sampling import Rows, sample_rows
from brimline.errors import UsageError
from brimline.execution.database import database_named
from brimline.execution.execute import RunContext
from brimline.execution.wanted import WantedData
from brimline.units import format_count


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedSample:
    """Rows for the value `name`: `count` of a collection, with `fields`. `data`: what is loaded there, if known."""

    name: str
    database: str
    collection: str
    fields: tuple[str, ...]
    count: int
    data: WantedData | None = None


@dataclass(frozen=True, slots=True)
class _LoadedKeys:
    """See `sampling.Keys`."""

    records: range
    plan_json: str

    def of(self, records: range) -> Sequence[str]:
        return _native.generate_keys(self.plan_json, records.start, len(records))


def read_samples(wanted: Sequence[WantedSample], context: RunContext) -> dict[str, Rows]:
    """The rows of each value, by its name. Raises UsageError where there are none, TargetError and Interrupted."""
    return {each.name: _read(each, context) for each in wanted}


def _read(wanted: WantedSample, context: RunContext) -> Rows:
    namespace = f"{wanted.database}.{wanted.collection}"
    context.progress.step(f"reading {format_count(wanted.count)} rows of {namespace} for ${wanted.name}")
    keys = None
    if wanted.data is not None and not wanted.data.is_time_series:
        keys = _LoadedKeys(wanted.data.manifest.records, wanted.data.load.canonical_json())
    try:
        with database_named(wanted.database, context.deployment) as database:
            rows = sample_rows(
                database,
                wanted.collection,
                wanted.fields,
                count=wanted.count,
                keys=keys,
                look_up=context.stop.raise_if_requested,
            )
    except UsageError as error:
        raise UsageError(f"values.{wanted.name}: {error.message}", hint=error.hint) from None
    lacking = ""
    if rows.lacking_count:
        lacking = f"; {format_count(rows.lacking_count)} rows without {' or '.join(wanted.fields)} were left out"
    cut = "; memory bounds it" if rows.is_cut else ""
    context.progress.note(
        f"${wanted.name}: {format_count(rows.row_count)} rows of {namespace}, {rows.way}{lacking}{cut}"
    )
    return rows
