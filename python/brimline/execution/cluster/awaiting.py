"""Owns waiting for nodes that are yet to be reached: a thread does it, which is left when the command is to end."""

import math
import time
from collections.abc import Callable
from typing import TypeVar

from brimline.execution.stop import StopToken
from brimline.threads import Worker

_STEP_S = 0.1
_LEFT_WITHIN_S = 2.0
"""For what was given up, to be over: it holds up the end no longer."""
_Found = TypeVar("_Found")


def awaited(
    work: Callable[[], _Found],
    stop: StopToken,
    *,
    within_s: float = math.inf,
    give_up: Callable[[], None] = lambda: None,
) -> _Found:
    """What `work` returns. `give_up` is called where it is not waited for any more, and ends it if anything can.

    Raises what `work` raises, Interrupted where `stop` is requested, and TimeoutError.
    """
    found: list[_Found] = []
    raised: list[BaseException] = []

    def do() -> None:
        try:
            found.append(work())
        except BaseException as error:
            raised.append(error)

    worker = Worker(do, name="brimline-reaching")
    worker.start()
    until_s = time.monotonic() + within_s
    while not worker.join(_STEP_S):
        if stop.requested or time.monotonic() > until_s:
            give_up()
            worker.join(_LEFT_WITHIN_S)
            stop.raise_if_requested()
            raise TimeoutError(f"no answer within {within_s:g} s")
    if raised:
        raise raised[0]
    return found[0]
