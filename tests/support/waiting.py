"""Owns waiting for something that happens in another process: bounded, and no longer than needed."""

import time
from collections.abc import Callable


def eventually(condition: Callable[[], bool], *, timeout_s: float = 30.0, interval_s: float = 0.05) -> bool:
    """Whether `condition` comes true within the time; asked once more at its end."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(interval_s)
    return condition()
