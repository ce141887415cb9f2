"""Owns what a run saw of the server's checkpoints: how long they take, and so how far apart they are."""

from collections.abc import Sequence

from brimline.record.model import ServerRow

CHECKPOINT_PAUSE_S = 60.0
"""WiredTiger's default pause from the end of one checkpoint to the beginning of the next (`syncPeriodSecs`)."""


def checkpoint_duration_s(rows: Sequence[ServerRow]) -> float | None:
    """Mean length in s of the checkpoints that ended while `rows` were taken; None where none was seen."""
    seen = [
        (count, total_ms)
        for row in rows
        if isinstance(count := row.get("checkpoints"), int)
        and isinstance(total_ms := row.get("checkpoint_total_ms"), int)
    ]
    if not seen or seen[-1][0] <= seen[0][0]:
        return None
    (first_count, first_ms), (last_count, last_ms) = seen[0], seen[-1]
    return (last_ms - first_ms) / (last_count - first_count) / 1000
