"""Owns the checks of memory: huge pages and swap."""

from pathlib import Path

from brimline.doctor.check import Check, Figure, graded, unknown
from brimline.doctor.kernel_files import ROOT, memory_kib, number, text

SWAP_USED_SHARE_WARN = 0.10
SWAP_USED_SHARE_FAIL = 0.50
SWAPPINESS_MAX = 10


def huge_pages(root: Path = ROOT) -> Check:
    """Transparent huge pages: MongoDB's manual asks for `never` up to 7.0 and for `always` from 8.0."""
    found = text(root / "sys/kernel/mm/transparent_hugepage/enabled")
    if found is None or "[" not in found:
        return unknown("transparent_huge_pages", "the kernel doesn't show the setting")
    chosen = found.partition("[")[2].partition("]")[0]
    always = chosen == "always"
    return graded(
        "transparent_huge_pages",
        f"{chosen}; servers before 8.0 suffer from it" if always else chosen,
        warn=always,
        hint="before 8.0: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        figures={"setting": chosen},
    )


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
