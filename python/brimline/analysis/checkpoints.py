"""Owns what a run saw of the server's checkpoints: how long they take, and so how far apart they are."""

from collections.abc import Sequence

from brimline.analysis.server_window import ServerWindow
from brimline.record.model import ServerRow

_MS_PER_S = 1000
CHECKPOINT_PAUSE_S = 60.0
"""WiredTiger's default pause from the end of one checkpoint to the beginning of the next (`syncPeriodSecs`)."""


def checkpoint_duration_s(rows: Sequence[ServerRow]) -> float | None:
    """Mean length in s of the checkpoints that ended while `rows` were taken; None where none was seen."""
    mean_ms = ServerWindow(rows).ratio(("checkpoint_total_ms",), ("checkpoints",))
    return None if mean_ms is None else mean_ms / _MS_PER_S
