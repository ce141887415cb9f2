"""Owns the checks of time: where it comes from, what reading it costs, whether it goes evenly, when bytes arrived."""

import socket
import time
from collections.abc import Callable
from pathlib import Path

from brimline import _native
from brimline.doctor.check import Check, graded, unknown
from brimline.doctor.kernel_files import ROOT, text
from brimline.units import counted, format_duration

RESOLUTION_NS_MAX = 1_000
READS = 1_000_000
READ_COST_NS_MAX = 500.0
"""A read through the vDSO takes 15 to 60 ns; more is a system call or a device."""
JUMP_NS_MAX = 10_000_000

_STAMP_TRIES, _BETWEEN_STAMP_TRIES_S = 50, 0.01
_SO_TIMESTAMPNS = 35
"""asm-generic/socket.h; Python's `socket` doesn't name it."""

_SLOW_SOURCES = frozenset({"hpet", "acpi_pm", "jiffies", "refined-jiffies"})

Probe = Callable[[int], "_native.ClockProbe"]


def clock_source(root: Path = ROOT, *, resolution_ns: int | None = None) -> Check:
    """Latencies are differences of the monotonic clock, read twice per operation."""
    if resolution_ns is None:
        resolution_ns = round(time.clock_getres(time.CLOCK_MONOTONIC) * 1e9)
    source = text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")
    coarse = resolution_ns > RESOLUTION_NS_MAX
    if source is None and not coarse:
        return unknown("clock_source", f"the kernel doesn't show the source; resolution {resolution_ns} ns")
    return graded(
        "clock_source",
        f"{source or 'unknown source'}, resolution {resolution_ns} ns",
        warn=source in _SLOW_SOURCES,
        fail=coarse,
        hint="use a kernel with high-resolution timers"
        if coarse
        else "reading this source takes microseconds: choose tsc or kvm-clock if the kernel offers it",
        figures={"source": source, "resolution_ns": resolution_ns},
    )


def clock_error(probe: Probe = _native.probe_clock) -> Check:
    """A million reads in a row: what one costs, whether one was earlier than the one before, how far two lay apart."""
    seen = probe(READS)
    cost_ns = seen["elapsed_ns"] / seen["reads"]
    back, largest_ns = seen["steps_back"], seen["largest_step_ns"]
    if seen["smallest_step_ns"] == 0:
        return graded("clock_error", "the clock stands still", fail=True, hint=_BROKEN_HINT)
    return graded(
        "clock_error",
        f"{cost_ns:.0f} ns per read, smallest step {seen['smallest_step_ns']} ns, {counted(back, 'step')} back, "
        f"largest gap {format_duration(largest_ns)}",
        warn=cost_ns > READ_COST_NS_MAX or largest_ns > JUMP_NS_MAX,
        fail=back > 0,
        hint=_BROKEN_HINT
        if back
        else "reads are slow or were interrupted for long: by other programs, or by the host of this machine",
        figures={
            "read_cost_ns": cost_ns,
            "steps_back_count": back,
            "smallest_step_ns": seen["smallest_step_ns"],
            "largest_gap_ns": largest_ns,
        },
    )


def _kernel_stamps() -> bool:
    """Sends itself bytes until one has a time: the first socket that asks makes the kernel switch stamping on."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as receiver:
        try:
            receiver.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        except OSError:
            return False
        sender, _ = server.accept()
        with sender:
            for _ in range(_STAMP_TRIES):
                sender.sendall(b".")
                _, beside, *_ = receiver.recvmsg(1, socket.CMSG_SPACE(16))
                if any((level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS) for level, kind, _ in beside):
                    return True
                time.sleep(_BETWEEN_STAMP_TRIES_S)
    return False


def arrival_times(stamps: Callable[[], bool] = _kernel_stamps) -> Check:
    """A reply is done when it arrived, by the kernel's stamp, so that a late look makes none slower."""
    stamped = stamps()
    return graded(
        "arrival_times",
        "the kernel says when bytes arrived"
        if stamped
        else "the kernel doesn't say when bytes arrived: replies are timed by when the generator reads them",
        warn=not stamped,
        hint="measure on Linux itself, not in a sandbox that stands in for its kernel (SO_TIMESTAMPNS)",
        figures={"stamped": stamped},
    )


_BROKEN_HINT = "no latency from this machine can be trusted: choose another clock source, or another machine"
