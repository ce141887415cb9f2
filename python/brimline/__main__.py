"""Owns the first moment of the program: its words leave the process list, and a signal to end does so with one line.

The heavy imports take up to a second, in which nothing is started and nothing can be lost. A verb that starts something
takes the signals over while it works (`brimline.execution.stop`).
"""

import os
import sys

from brimline.process_list import hide_all, show_but_secrets


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    hide_all(sys.argv[1:])  # before any other import: a password may be among them
    import gc
    import signal

    from brimline.leaving import end_process_when_stuck, leave

    end_process_when_stuck()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as under `nohup`
        signal.signal(signal.SIGHUP, leave)
    show_but_secrets(sys.argv[1:])
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


if __name__ == "__main__":
    main()
