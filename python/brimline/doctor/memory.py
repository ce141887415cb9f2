"""Owns the checks of memory: huge pages, free pages that go back to the host, and swap.

The first two are about the server's memory. `deployment` is that server; None: one of brimline's own, which is here.
"""

import re
from pathlib import Path

from brimline.doctor.check import Check, Figure, graded, unknown
from brimline.doctor.kernel_files import ROOT, is_virtual, memory_kib, number, text
from brimline.servers import Deployment

SWAP_USED_SHARE_WARN = 0.10
SWAP_USED_SHARE_FAIL = 0.50
SWAPPINESS_MAX = 10
HUGE_PAGES_SINCE = 8
"""The major version of MongoDB from which on its allocator gains by huge pages."""

_HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
_BALLOON = "0x0005"
"""The virtio device by which a host takes and gives memory (virtio 1.2, section 5.5)."""
_REPORTING_BIT = 5
"""VIRTIO_BALLOON_F_REPORTING: the host is told what is free, and may take it."""


def huge_pages(deployment: Deployment | None, root: Path = ROOT, *, own_version: str | None = None) -> Check:
    """Transparent huge pages: MongoDB's manual asks for `never` up to 7.0 and for `always` from 8.0.

    `own_version` is that of brimline's own server; None: not known.
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


def free_page_reporting(deployment: Deployment | None, root: Path = ROOT) -> Check:
    """Whether the host of a virtual machine is told what is free there, and takes it back.

    The first use of a page that it took costs 10 µs, as measured, which a server pays while it is loaded.
    """
    name = "free_page_reporting"
    if deployment is not None and not deployment.local:
        return _elsewhere(name, deployment)
    if is_virtual(root) is False:
        return graded(name, "no virtual machine", hint="", figures={"reporting": False})
    balloons = _balloons(root)
    if not balloons:
        return unknown(name, "no virtio balloon, which would show whether the host takes back free memory")
    reporting = any(map(_reports, balloons))
    return graded(
        name,
        "the host takes back free memory: the first use of a page then costs more, 10 µs where it was measured"
        if reporting
        else "the host is not told what is free",
        warn=reporting,
        hint="loads cost the server more now and then: repeat them, or use a machine without free page reporting",
        figures={"reporting": reporting},
    )


def _elsewhere(name: str, deployment: Deployment) -> Check:
    return unknown(name, f"the server at {deployment.address} is not a process in sight")


def _balloons(root: Path) -> list[Path]:
    return [path for path in (root / "sys/bus/virtio/devices").glob("*") if text(path / "device") == _BALLOON]


def _reports(balloon: Path) -> bool:
    """What device and driver agreed on is shown bit by bit, the lowest first; without a driver it means nothing."""
    features = text(balloon / "features") or ""
    return features[_REPORTING_BIT : _REPORTING_BIT + 1] == "1" and (balloon / "driver").exists()


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
