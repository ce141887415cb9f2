"""Owns waiting for a condition with a deadline, and saying what is waited for when it takes long."""

import time
from collections.abc import Callable

from brimline.errors import TargetError

_LOOK_S = 0.2
_SAY_EVERY_S = 2.0
"""Shorter waits need no word, and nobody reads faster."""


def wait_until(
    condition: Callable[[], bool],
    *,
    until: float,
    meanwhile: Callable[[], None],
    why: Callable[[], str],
    say: Callable[[str], None],
    say_every_s: float = _SAY_EVERY_S,
) -> None:
    """Waits for `condition`, and says `why` it doesn't hold yet from time to time, but never twice the same.

    Raises TargetError when the deadline `until` (monotonic) passes.
    """
    said, say_at = "", time.monotonic() + say_every_s
    while not condition():
        meanwhile()
        if time.monotonic() > until:
            raise TargetError(
                f"the replica set is not complete in time: {why()}",
                hint="the machine may be busy: give a longer --deadline, or fewer members",
            )
        if time.monotonic() >= say_at:
            reason = why()
            if reason != said:
                say(f"still waiting: {reason}")
            said, say_at = reason, time.monotonic() + say_every_s
        time.sleep(_LOOK_S)
