"""Owns how the process is left by a signal, what is said then, and what becomes of a wait that no signal ends."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

last_words: dict[object, str] = {}
"""What is said as well where the process ends at once, each under a key of whoever put it there: what is left to do."""


def leave(number: int, _frame: FrameType | None = None) -> None:
    """Ends the process at once, with one line and the last words; guardians and the kernel clean up after it.

    Not by an exception: raised inside an import of a library it may be swallowed or come out as another one.
    """
    try:
        hints = [f"hint: {each}" for each in list(last_words.values())]
        said = [f"error: interrupted by {signal.Signals(number).name}", *hints]
        os.write(sys.stderr.fileno(), "".join(f"{line}\n" for line in said).encode())
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
