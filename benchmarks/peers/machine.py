"""Owns what is said about the machine: nothing that names it or a path on it."""

import os
import platform
import subprocess
from pathlib import Path

from benchmarks.peers.builds import ROOT
from benchmarks.peers.settings import CACHE_GB, Settings


def machine(settings: Settings) -> dict[str, str]:
    """Facts of the circumstances, in the order in which they are printed."""
    return {
        "processor": _processor(),
        "cores": f"{os.cpu_count()}; client on {_names(settings.client_cores)}, "
        f"server on {_names(settings.server_cores)}",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB",
        "system": f"Linux {platform.release()}, {_distribution()}",
        "load average at the start": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        "brimline": _commit(),
        "server": f"a cache of {CACHE_GB:.0f} GB, so that no run pays for eviction; no checkpoint but one before each "
        f"run, then a rest; half of the free memory, at most {settings.ready_bytes_max / 2**30:g} GiB, was used once "
        "beforehand",
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return "unknown distribution"


def _commit() -> str:
    done = subprocess.run(
        # A tag is no commit: none is looked for.
        ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else "unknown commit"


def _names(cores: tuple[int, ...]) -> str:
    return ", ".join(map(str, cores))
