"""Owns the rows that a workload takes from collections: read before its runs, and what was taken is said."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from brimline import _native
from brimline.dataset.sampling import Rows, sample_rows
from brimline.errors import UsageError
from brimline.execution.database import database_named
from brimline.execution.execute import RunContext
from brimline.plan import Plan
from brimline.plan.operations import OperationsWork, Sampled
from brimline.units import format_count
from brimline.wording import Verbatim, joined, message


@dataclass(frozen=True, slots=True)
class _LoadedKeys:
    """See `sampling.Keys`."""

    records: range
    plan_json: str

    def of(self, records: range) -> Sequence[str]:
        return _native.generate_keys(self.plan_json, records.start, len(records))


def read_samples(plan: Plan, context: RunContext) -> None:
    """Reads the rows of each value that is sampled, unless that was done; `execute` gives them to every run.

    Raises UsageError where there are none, or there is no server, TargetError and Interrupted.
    """
    read_each(plan, context, partial(_read, context=context))


def read_each(plan: Plan, context: RunContext, read: Callable[[str, Sampled], Rows]) -> None:
    """Has `read` read the rows of each value that is sampled, by its name, unless that was done."""
    if not isinstance(plan.work, OperationsWork):
        return
    for table in plan.work.tables:
        if table.sample is not None and table.name not in context.carried.rows:
            context.carried.rows[table.name] = read(table.name, table.sample)


def tell_reading(name: str, wanted: Sampled, namespace: str, context: RunContext) -> None:
    """Says what is read, and from where."""
    context.progress.step(
        message(
            "reading {count} rows of {namespace} for ${name}",
            count=format_count(wanted.row_count_max),
            namespace=Verbatim(namespace),
            name=Verbatim(name),
        )
    )


def _read(name: str, wanted: Sampled, context: RunContext) -> Rows:
    namespace = f"{wanted.database}.{wanted.collection}"
    if context.deployment is None:
        raise UsageError(
            f"values.{name} are rows of {namespace}, and without a server there are none", hint="leave --null out"
        )
    tell_reading(name, wanted, namespace, context)
    data = context.wanted_in(wanted.database, wanted.collection)
    keys = None
    if data is not None and not data.is_time_series:
        keys = _LoadedKeys(data.manifest.records, data.load.canonical_json())
    try:
        with database_named(wanted.database, context.deployment) as database:
            rows = sample_rows(
                database,
                wanted.collection,
                wanted.fields,
                count=wanted.row_count_max,
                keys=keys,
                look_up=context.stop.raise_if_requested,
            )
    except UsageError as error:
        raise UsageError(f"values.{name}: {error.message}", hint=error.hint) from None
    context.progress.note(message("${name}: {told}", name=Verbatim(name), told=_told(rows, wanted, namespace)))
    return rows


def _told(rows: Rows, wanted: Sampled, namespace: str) -> str:
    """What was taken, for people."""
    count = format_count(rows.row_count)
    what = "{count} row of {namespace}" if rows.row_count == 1 else "{count} rows of {namespace}"
    parts = [message(what, count=count, namespace=Verbatim(namespace)), rows.way]
    if rows.lacking_count:
        parts.append(
            message(
                "{count} further ones lack {fields} and were left out",
                count=format_count(rows.lacking_count),
                fields=joined(" or ", map(Verbatim, wanted.fields)),
            )
        )
    if rows.is_cut:
        parts.append("no more for the sake of memory")
    return joined(", ", parts)
