"""Captures where a run happened.

Host, kernel, limits, versions. What the server says about itself is handed in.

A fact that can't be had is absent or null, never guessed.
"""

import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from brimline.errors import redact_uri
from brimline.record.redaction import redact


def brimline_version() -> str:
    """Version of the installed package; `unknown` when brimline runs from a source tree."""
    try:
        return metadata.version("brimline")
    except metadata.PackageNotFoundError:
        return "unknown"


def capture_environment(
    *,
    uri: str | None = None,
    server: Mapping[str, Any] | None = None,
    command: Sequence[str] | None = None,
    row_files: Mapping[str, Any] | None = None,
    workers: Mapping[str, Any] | None = None,
    data: str | None = None,
    root: Path = Path("/"),
) -> dict[str, Any]:
    """Everything about this host that may matter to a result, and `server` (buildInfo and friends), redacted.

    `command` are the words of the command line that started the run, for the report's "how to reproduce".
    `row_files` say of each spec where the files of rows are that it names, and what is in them. `workers` says how many
    nodes share a run, and their hosts, where several do. `data` is what was said to be done about the data.
    `root` is where `/proc` and `/sys` are looked for.
    """
    environment: dict[str, Any] = {
        "captured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "brimline": {"version": brimline_version()},
        "python": {"version": platform.python_version(), "implementation": sys.implementation.name},
        "host": _host(root),
        "container": _container(root),
    }
    if uri is not None:
        environment["uri"] = redact_uri(uri)
    if command is not None:
        environment["command"] = shlex.join(redact(command))
    if row_files:
        environment["row_files"] = row_files
    if workers is not None:
        environment["workers"] = workers
    if data is not None:
        environment["data"] = data
    if server is not None:
        environment["server"] = redact(server)
    return environment


def _host(root: Path) -> dict[str, Any]:
    cpu = _cpu(root)
    return {
        "name": platform.node(),
        "system": _os_name(root),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu_model": cpu.get("model name"),
        "cpu_cores": os.cpu_count(),
        "cpu_cores_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "cpu_governor": _text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "virtualised": "hypervisor" in (cpu.get("flags") or "").split() if cpu else None,
        "memory_bytes": _memory_bytes(root, "MemTotal"),
        "memory_available_bytes": _memory_bytes(root, "MemAvailable"),
        "swap_bytes": _memory_bytes(root, "SwapTotal"),
        "transparent_huge_pages": _chosen(_text(root / "sys/kernel/mm/transparent_hugepage/enabled")),
        "load_average_1min": _load_average(root),
        "open_files_max": _open_files_max(),
    }


def _container(root: Path) -> dict[str, Any]:
    """Limits that a control group puts on this process (cgroup 2, else 1); null where there is none."""
    return {
        "kind": _container_kind(root),
        "cpu_limit_cores": _cpu_limit_cores(root / "sys/fs/cgroup"),
        "memory_limit_bytes": _memory_limit_bytes(root / "sys/fs/cgroup"),
    }


def _container_kind(root: Path) -> str | None:
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    groups = _text(root / "proc/1/cgroup") or ""
    return next((kind for kind in ("kubepods", "docker", "lxc") if kind in groups), None)


def _cpu_limit_cores(cgroup: Path) -> float | None:
    quota, _, period = (_text(cgroup / "cpu.max") or "").partition(" ")
    if not quota:
        quota = _text(cgroup / "cpu/cpu.cfs_quota_us") or ""
        period = _text(cgroup / "cpu/cpu.cfs_period_us") or ""
    if quota in ("", "max", "-1") or not period.isdigit():
        return None
    return int(quota) / int(period)


def memory_left_bytes(root: Path = Path("/")) -> int | None:
    """What programs could still have of this machine's memory, and of what a control group allows them together.

    None where this machine tells neither.
    """
    known = (_memory_bytes(root, "MemAvailable"), _group_left_bytes(root / "sys/fs/cgroup"))
    return min((each for each in known if each is not None), default=None)


def _group_left_bytes(cgroup: Path) -> int | None:
    """Its limit less what its programs use. Files that were not read of late give way, as kubelet and docker count."""
    limit_bytes = _memory_limit_bytes(cgroup)
    if limit_bytes is None:
        return None
    used = _text(cgroup / "memory.current") or _text(cgroup / "memory/memory.usage_in_bytes") or "0"
    counts = (_text(cgroup / "memory.stat") or _text(cgroup / "memory/memory.stat") or "").splitlines()
    stat = dict(line.split(maxsplit=1) for line in counts if " " in line)
    # Of cgroup 1, what has no "total_" is without the groups below.
    idle = stat.get("total_inactive_file") or stat.get("inactive_file", "0")
    return max(limit_bytes - max(int(used) - int(idle), 0), 0)


def _memory_limit_bytes(cgroup: Path) -> int | None:
    text = _text(cgroup / "memory.max") or _text(cgroup / "memory/memory.limit_in_bytes")
    # cgroup 1 says "no limit" with a number near 2^63.
    return int(text) if text and text.isdigit() and int(text) < 1 << 60 else None


def _cpu(root: Path) -> dict[str, str]:
    """The first processor of /proc/cpuinfo."""
    block = (_text(root / "proc/cpuinfo") or "").split("\n\n", 1)[0]
    pairs = (line.partition(":") for line in block.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _memory_bytes(root: Path, key: str) -> int | None:
    for line in (_text(root / "proc/meminfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return int(value.split()[0]) * 1024
    return None


def _load_average(root: Path) -> float | None:
    text = _text(root / "proc/loadavg")
    return float(text.split()[0]) if text else None


def _open_files_max() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _os_name(root: Path) -> str:
    for line in (_text(root / "etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip().strip('"')
    return platform.system()


def _chosen(text: str | None) -> str | None:
    """The word in brackets of the kernel's `always [madvise] never`."""
    if text is None or "[" not in text:
        return text
    return text.partition("[")[2].partition("]")[0]


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
