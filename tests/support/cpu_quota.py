"""Owns a limit on a process's CPU by a control group of its own, where the kernel lets us make one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PERIOD_US = 100_000
_ROOT = Path("/sys/fs/cgroup")


@contextmanager
def cpu_quota(pid: int, *, cpus: float) -> Iterator[bool]:
    """Lets the process use `cpus` CPUs at most for the length of the block; False where that can't be done."""
    group = None
    with suppress(OSError):
        group = _make(pid, cpus)
    try:
        yield group is not None
    finally:
        if group is not None:
            with suppress(OSError):  # the process may be gone
                (group.parent / "cgroup.procs").write_text(str(pid))
            with suppress(OSError):
                group.rmdir()


def _make(pid: int, cpus: float) -> Path:
    """A group below the root of cgroup 1's "cpu", else of cgroup 2. Raises OSError."""
    first = (_ROOT / "cpu").exists()
    group = (_ROOT / "cpu" if first else _ROOT) / f"brimline-test-{os.getpid()}"
    group.mkdir()
    try:
        quota_us = round(cpus * PERIOD_US)
        if first:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        else:
            (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
        (group / "cgroup.procs").write_text(str(pid))
    except OSError:
        group.rmdir()
        raise
    return group
