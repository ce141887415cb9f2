"""Owns the checks of the machine itself.

Each reads the kernel's files below `root`, so that tests can hand in others. A fact that can't be read where
a container hides it is a pass with the words "not visible", never a guess.
"""

import ctypes
import errno
import os
import resource
import time
from pathlib import Path

from brimline.doctor.check import Check, Status

CORES_MIN = 2
OPEN_FILES_MIN = 4096
CLOCK_RESOLUTION_NS_MAX = 1_000
CPU_PRESSURE_PERCENT_MAX = 10.0
LOAD_PER_CORE_MAX = 0.5

_EPOLL_PWAIT2 = 441
"""System call number, the same on all architectures since Linux 5.11 (syscall table of the kernel)."""
_SLOW_CLOCK_SOURCES = frozenset({"hpet", "acpi_pm", "jiffies", "refined-jiffies"})


def cores() -> Check:
    """Generator and a server on the same machine need a core each."""
    count = len(os.sched_getaffinity(0))
    if count < CORES_MIN:
        return Check(
            name="cores",
            status=Status.WARN,
            evidence=f"{count} usable core: generator and a local server share it",
            hint="run brimline on another machine than the server, and give --uri",
        )
    return Check(name="cores", status=Status.PASS, evidence=f"{count} usable cores")


def open_files(*, limit: int | None = None) -> Check:
    """Each connection takes a file descriptor, at the generator and at the server it starts."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if limit is None else limit
    if soft == resource.RLIM_INFINITY:
        return Check(name="open files", status=Status.PASS, evidence="no limit")
    evidence = f"limit of {soft} open files"
    if soft < OPEN_FILES_MIN:
        hint = f"ulimit -n 64000, else fewer than {soft} connections can be made"
        return Check(name="open files", status=Status.WARN, evidence=evidence, hint=hint)
    return Check(name="open files", status=Status.PASS, evidence=evidence)


def cpu_governor(root: Path = Path("/")) -> Check:
    """A governor that lowers the clock makes a lightly loaded server look slow."""
    folder = root / "sys/devices/system/cpu"
    governors = {_text(path) for path in folder.glob("cpu[0-9]*/cpufreq/scaling_governor")} - {None, ""}
    if not governors:
        return Check(name="cpu governor", status=Status.PASS, evidence="not visible, as in most virtual machines")
    evidence = ", ".join(sorted(str(governor) for governor in governors))
    if governors == {"performance"}:
        return Check(name="cpu governor", status=Status.PASS, evidence=evidence)
    return Check(
        name="cpu governor",
        status=Status.WARN,
        evidence=f"{evidence}: the clock changes with the load",
        hint="cpupower frequency-set -g performance",
    )


def huge_pages(root: Path = Path("/")) -> Check:
    """Transparent huge pages: MongoDB's manual asks for `never` up to 7.0 and for `always` from 8.0."""
    text = _text(root / "sys/kernel/mm/transparent_hugepage/enabled")
    if text is None or "[" not in text:
        return Check(name="huge pages", status=Status.PASS, evidence="not visible")
    chosen = text.partition("[")[2].partition("]")[0]
    evidence = f"transparent huge pages: {chosen}"
    if chosen == "always":
        return Check(
            name="huge pages",
            status=Status.WARN,
            evidence=f"{evidence}; servers before 8.0 suffer from it",
            hint="before 8.0: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        )
    return Check(name="huge pages", status=Status.PASS, evidence=evidence)


def swap(root: Path = Path("/")) -> Check:
    """A server that was swapped out answers at the speed of the disk."""
    used_kib = _memory_kib(root, "SwapTotal") - _memory_kib(root, "SwapFree")
    if _memory_kib(root, "SwapTotal") == 0:
        return Check(name="swap", status=Status.PASS, evidence="none")
    evidence = f"{used_kib // 1024} MiB of {_memory_kib(root, 'SwapTotal') // 1024} MiB in use"
    if used_kib > _memory_kib(root, "SwapTotal") // 10:
        hint = "close other programs, or swapoff -a if memory allows"
        return Check(name="swap", status=Status.WARN, evidence=evidence, hint=hint)
    return Check(name="swap", status=Status.PASS, evidence=evidence)


def epoll_pwait2() -> Check:
    """The engine waits with nanosecond timeouts, which needs `epoll_pwait2` of Linux 5.11."""
    libc = ctypes.CDLL(None, use_errno=True)
    # An impossible file descriptor: the call does nothing, and the error tells whether the kernel knows it.
    libc.syscall(_EPOLL_PWAIT2, -1, None, 0, None, None, 0)
    return _epoll_pwait2_from(ctypes.get_errno(), os.uname().release)


def _epoll_pwait2_from(error: int, release: str) -> Check:
    if error in {errno.ENOSYS, errno.EPERM}:
        return Check(
            name="epoll_pwait2",
            status=Status.FAIL,
            evidence=f"Linux {release} does not offer it, or a sandbox forbids it",
            hint="Linux 5.11 or later is needed",
        )
    return Check(name="epoll_pwait2", status=Status.PASS, evidence=f"Linux {release}")


def clock(root: Path = Path("/"), *, resolution_ns: int | None = None) -> Check:
    """Latencies are differences of the monotonic clock, read twice per operation."""
    if resolution_ns is None:
        resolution_ns = round(time.clock_getres(time.CLOCK_MONOTONIC) * 1e9)
    folder = root / "sys/devices/system/clocksource/clocksource0"
    source = _text(folder / "current_clocksource") or "not visible"
    evidence = f"resolution {resolution_ns} ns, source {source}"
    if resolution_ns > CLOCK_RESOLUTION_NS_MAX:
        hint = "use a kernel with high-resolution timers"
        return Check(name="clock", status=Status.FAIL, evidence=evidence, hint=hint)
    if source in _SLOW_CLOCK_SOURCES:
        hint = "reading this source takes microseconds: choose tsc or kvm-clock if the kernel offers it"
        return Check(name="clock", status=Status.WARN, evidence=evidence, hint=hint)
    return Check(name="clock", status=Status.PASS, evidence=evidence)


def cpu_pressure(root: Path = Path("/")) -> Check:
    """Others at work on this machine take what generator and server need."""
    hint = "wait until other work on this machine has ended"
    waited = _pressure_percent(root)
    if waited is not None:
        evidence = f"in the last 10 s some task waited for a CPU {waited:g} % of the time"
        if waited > CPU_PRESSURE_PERCENT_MAX:
            return Check(name="cpu pressure", status=Status.WARN, evidence=evidence, hint=hint)
        return Check(name="cpu pressure", status=Status.PASS, evidence=evidence)
    load_text = _text(root / "proc/loadavg")
    if load_text is None:
        return Check(name="cpu pressure", status=Status.PASS, evidence="not visible")
    load, count = float(load_text.split()[0]), len(os.sched_getaffinity(0))
    evidence = f"load average {load:g} on {count} cores"
    if load > count * LOAD_PER_CORE_MAX:
        return Check(name="cpu pressure", status=Status.WARN, evidence=evidence, hint=hint)
    return Check(name="cpu pressure", status=Status.PASS, evidence=evidence)


def _pressure_percent(root: Path) -> float | None:
    # "some avg10=0.95 avg60=0.97 avg300=0.31 total=4271709"
    for line in (_text(root / "proc/pressure/cpu") or "").splitlines():
        if line.startswith("some "):
            return float(line.partition("avg10=")[2].split()[0])
    return None


def _memory_kib(root: Path, name: str) -> int:
    for line in (_text(root / "proc/meminfo") or "").splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0])
    return 0


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
