"""Owns the first moment of the program: a signal to end does so with one line, from before the heavy imports on.

The imports take up to a second, in which nothing is started and nothing can be lost. A verb that starts something
takes the signals over while it works (`brimline.execution.stop`).
"""

import gc
import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as under `nohup`
        signal.signal(signal.SIGHUP, _leave)
    # numpy's BLAS has a thread for each processor, which spin while they wait: CPU time that a load needs.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What imports make is there to stay: neither they nor what follows need it looked through for garbage.
    gc.disable()
    from brimline.cli import import_verb
    from brimline.cli import main as command_line

    import_verb(sys.argv[1:])
    gc.freeze()
    gc.enable()
    command_line()


def _leave(number: int, _frame: FrameType | None) -> None:
    # Not an exception: raised inside an import of a library it may be swallowed or come out as another one.
    try:
        os.write(sys.stderr.fileno(), f"error: interrupted by {signal.Signals(number).name}\n".encode())
    finally:  # also where standard error is closed or full
        os._exit(128 + number)


if __name__ == "__main__":
    main()
