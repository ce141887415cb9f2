"""Owns the question whether the server's disk may hold what a load inserts, asked before anything is replaced."""

import math
from collections.abc import Sequence

from pymongo.errors import PyMongoError

from brimline.dataset.access import DataDatabase
from brimline.execution.execute import RunContext
from brimline.plan import Plan
from brimline.plan.document_bytes import mean_document_bytes
from brimline.units import format_bytes

_BYTES_MAX = 1 << 62


def warn_of_little_room(plans: Sequence[Plan], database: DataDatabase, context: RunContext) -> None:
    """Says when the documents of `plans`, loads into `database`, have more bytes than are free there.

    What the database takes now counts as free. They may fit all the same, since servers compress what they
    store. A server that doesn't say how much room there is, or says what can't be, is not asked again.
    """
    try:
        stats = database.command("dbStats")
    except PyMongoError:
        return
    sizes = [stats.get(name) for name in ("fsTotalSize", "fsUsedSize", "storageSize")]
    total, used, stored = (
        float(each) if isinstance(each, int | float) and 0 <= each <= _BYTES_MAX else math.nan for each in sizes
    )
    if not total or not math.isfinite(room := total - used + stored):
        return  # of a database that isn't there all is 0, and so nothing is replaced
    planned = sum(round(mean_document_bytes(plan.data, plan.seed) * plan.data.record_count) for plan in plans)
    if 0 <= room < planned:
        context.progress.warning(
            f"the server's disk may be too small: {format_bytes(room)} free, with what {database.name} takes "
            f"now, and the documents to load have {format_bytes(planned)}"
        )
