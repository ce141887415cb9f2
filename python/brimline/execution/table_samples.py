"""Owns the rows that a workload takes from tables for its values: read before its runs, and said what was taken."""

from functools import partial

import bson

from brimline.dataset import tables
from brimline.dataset.sampling import Rows
from brimline.errors import UsageError
from brimline.execution.execute import RunContext
from brimline.execution.samples import read_each, tell_reading
from brimline.execution.statements import bson_value
from brimline.plan import Plan, SqlTarget
from brimline.plan.operations import Sampled
from brimline.servers.sql_reading import SAMPLE_BYTES_MAX
from brimline.units import counted


def read_table_samples(plan: Plan, context: RunContext) -> None:
    """Reads the rows of each value that is sampled, unless that was done; `execute` gives them to every run.

    Raises UsageError where there are none, TargetError.
    """
    read_each(plan, context, partial(_read, plan=plan, context=context))


def _read(name: str, wanted: Sampled, *, plan: Plan, context: RunContext) -> Rows:
    deployment, target = context.deployment, plan.target
    assert deployment is not None  # noqa: S101 - there is a keeper of tables
    assert deployment.of_uri is not None  # noqa: S101 - it was found by one
    assert isinstance(target, SqlTarget)  # noqa: S101 - as its deployment is
    namespace = f"{target.database}.{wanted.collection}"
    tell_reading(name, wanted, namespace, context)
    content, count, is_cut = bytearray(), 0, False
    with tables.open_store(deployment.of_uri, target) as store:
        if not store.exists(wanted.collection):
            raise UsageError(
                f"values.{name}: the table {namespace} isn't there", hint="correct its name; nothing was sent"
            )
        columns = ", ".join(map(store.quoted, wanted.fields)) or "*"
        shuffled = "RAND()" if target.kind == "mysql" else "random()"
        found = store.named_rows(
            f"reading rows for ${name}",
            f"SELECT {columns} FROM {store.quoted(wanted.collection)} "  # noqa: S608 - names are quoted
            f"ORDER BY {shuffled} LIMIT {wanted.row_count_max}",
        )
    for row in found:
        content += bson.encode({field: bson_value(row[field.lower()]) for field in wanted.fields or row})
        count += 1
        if is_cut := len(content) >= SAMPLE_BYTES_MAX:
            break
    if not count:
        raise UsageError(f"values.{name}: {namespace} has no rows", hint="load it first")
    more = ", no more for the sake of memory" if is_cut else ""
    context.progress.note(f"${name}: {counted(count, 'row')} of {namespace}{more}")
    return Rows(content=bytes(content), row_count=count, way="at random", lacking_count=0, is_cut=is_cut)
