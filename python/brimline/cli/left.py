"""Owns leaving what has no end of its own: Ctrl-C and SIGTERM end it at once, and are no error."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_EXIT_SIGNAL_BASE = 128


class Left(KeyboardInterrupt):
    """Ctrl-C or SIGTERM. No `Exception`, so that no library on the way takes it for trouble of its own."""

    def __init__(self, signal_number: int) -> None:
        super().__init__()
        self.exit_code = _EXIT_SIGNAL_BASE + signal_number


@contextmanager
def leaving() -> Iterator[None]:
    """Within the block both signals end the work at once, also a wait for a server that does not answer.

    Raises Left.
    """

    def leave(number: int, _frame: FrameType | None) -> None:
        raise Left(number)

    previous = {number: signal.signal(number, leave) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
