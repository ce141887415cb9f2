"""Owns how the process is left by a signal, and what becomes of a wait that no signal ends."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType


def leave(number: int, _frame: FrameType | None = None) -> None:
    """Ends the process at once, with one line; guardians and the kernel clean up after it.

    Not by an exception: raised inside an import of a library it may be swallowed or come out as another one.
    """
    try:
        os.write(sys.stderr.fileno(), f"error: interrupted by {signal.Signals(number).name}\n".encode())
    finally:  # also where standard error is closed or full
        os._exit(128 + number)


def break_the_wait(_number: int) -> None:
    """Ends what the main thread waits for, and leaves the process to whom it belongs, such as a notebook."""
    raise KeyboardInterrupt


give_up: Callable[[int], None] = break_the_wait
"""What is done when the end that was asked for twice doesn't come; the program's own is `leave`."""


def end_process_when_stuck() -> None:
    """The process is brimline's own."""
    global give_up
    give_up = leave
