"""Owns the checks of memory: huge pages and swap."""

import re
from pathlib import Path

from brimline.doctor.check import Check, Figure, graded, unknown
from brimline.doctor.kernel_files import ROOT, memory_kib, number, text
from brimline.servers import Deployment

SWAP_USED_SHARE_WARN = 0.10
SWAP_USED_SHARE_FAIL = 0.50
SWAPPINESS_MAX = 10
HUGE_PAGES_SINCE = 8
"""The major version of MongoDB from which on its allocator gains by huge pages."""

_HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"


def huge_pages(deployment: Deployment | None, root: Path = ROOT, *, own_version: str | None = None) -> Check:
    """Transparent huge pages: MongoDB's manual asks for `never` up to 7.0 and for `always` from 8.0.

    `deployment` is the server; None: one of brimline's own, which is here, of `own_version`, None: not known.
    """
    name = "transparent_huge_pages"
    if deployment is not None and not deployment.local:
        return _elsewhere(name, deployment)
    found = text(root / _HUGE_PAGES)
    if found is None or "[" not in found:
        return unknown(name, "the kernel doesn't show the setting")
    chosen = found.partition("[")[2].partition("]")[0]
    version = own_version if deployment is None else deployment.version
    major = re.match(r"\d{1,4}", version or "")
    if major is None or not (deployment is None or deployment.is_mongodb):
        return unknown(name, f"{chosen} is right or wrong by MongoDB's version, and that isn't known")
    gains = int(major.group()) >= HUGE_PAGES_SINCE
    suits = (chosen == "always") is gains
    effect = "" if suits else f", which {'gains by' if gains else 'suffers from'} huge pages"
    return graded(
        name,
        f"{chosen}, for a server of version {version}{effect}",
        warn=not suits,
        hint=f"before the server starts: echo {'always' if gains else 'madvise'} > /{_HUGE_PAGES}",
        figures={"setting": chosen, "server_version": version},
    )


def _elsewhere(name: str, deployment: Deployment) -> Check:
    return unknown(name, f"the server at {deployment.address} is not a process in sight")


def swap(root: Path = ROOT) -> Check:
    """A server that was swapped out answers at the speed of the disk."""
    memory = memory_kib(root)
    if "SwapTotal" not in memory or "SwapFree" not in memory:
        return unknown("swap", "/proc/meminfo can't be read")
    total_kib = memory["SwapTotal"]
    used_kib = total_kib - memory["SwapFree"]
    swappiness = number(root / "proc/sys/vm/swappiness")
    figures: dict[str, Figure] = {
        "swap_total_bytes": total_kib * 1024,
        "swap_used_bytes": used_kib * 1024,
        "swappiness": swappiness,
    }
    if total_kib == 0:
        return graded("swap", "none", hint="", figures=figures)
    share = used_kib / total_kib
    eager = swappiness is not None and swappiness > SWAPPINESS_MAX
    in_use = share > SWAP_USED_SHARE_WARN
    shown = "not known here" if swappiness is None else str(swappiness)
    return graded(
        "swap",
        f"{used_kib // 1024} MiB of {total_kib // 1024} MiB in use, swappiness {shown}",
        warn=in_use or eager,
        fail=share > SWAP_USED_SHARE_FAIL,
        hint="close other programs, or swapoff -a if memory allows" if in_use else "sysctl vm.swappiness=1",
        figures=figures,
    )
