"""Owns how large a log of operations can become, as far as that is known beforehand."""

import math
from typing import Final

from brimline.plan import model
from brimline.units import NS_PER_S

LOG_ROW_BYTES: Final = 48


def operations_at_most(plan: model.Plan) -> int | None:
    """Most operations that `plan` sends; None where only the target's speed decides."""
    bounds = [] if plan.operation_count is None else [plan.operation_count]
    match plan.pacer:
        case model.TlrPacer(loops=loops):
            bounds.append(plan.worker_count * loops)
        case model.ConstantPacer(rate_ops_per_s=rate) if plan.duration_ns is not None:
            bounds.append(math.ceil(rate * (plan.warmup_ns + plan.duration_ns) / NS_PER_S))
    return min(bounds, default=None)


def log_bytes(operation_count: int) -> int:
    """Size of a log of so many operations: a header as wide as a row, and the rows."""
    return LOG_ROW_BYTES * (1 + operation_count)
