"""Owns the checks of the processors: how many, how steadily they run, and who else is on them."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from brimline.doctor.check import Check, graded, unknown
from brimline.doctor.kernel_files import ROOT, is_virtual, text
from brimline.units import counted

CORES_MIN = 2
PRESSURE_PERCENT_MAX = 10.0
LOAD_PER_CORE_MAX = 0.5
STEAL_SHARE_WARN = 0.01
STEAL_SHARE_FAIL = 0.10
STEAL_WINDOW_S = 0.5

_OTHERS_HINT = "wait until other work on this machine has ended"


def cores(*, count: int | None = None) -> Check:
    """Generator and a server on the same machine need a core each."""
    count = len(os.sched_getaffinity(0)) if count is None else count
    few = count < CORES_MIN
    return graded(
        "cores",
        f"{count} usable core: generator and a local server share it" if few else f"{count} usable cores",
        warn=few,
        hint="run brimline on another machine than the server, and give --uri",
        figures={"core_count": count},
    )


def governor(root: Path = ROOT) -> Check:
    """A governor that lowers the clock makes a lightly loaded server look slow."""
    folder = root / "sys/devices/system/cpu"
    found = {text(path) for path in folder.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    governors = sorted(each for each in found if each)
    if not governors:
        return unknown("cpu_governor", "the kernel shows no cpufreq, as in most virtual machines and containers")
    steady = governors == ["performance"]
    names = ", ".join(governors)
    return graded(
        "cpu_governor",
        names if steady else f"{names}: the clock changes with the load",
        warn=not steady,
        hint="cpupower frequency-set -g performance",
        figures={"governors": names},
    )


def pressure(root: Path = ROOT) -> Check:
    """Tasks that wait for a processor are what generator and server will be."""
    # "some avg10=0.95 avg60=0.97 avg300=0.31 total=4271709"
    for line in (text(root / "proc/pressure/cpu") or "").splitlines():
        if line.startswith("some ") and "avg10=" in line:
            percent = float(line.partition("avg10=")[2].split()[0])
            return graded(
                "cpu_pressure",
                f"in the last 10 s some task waited for a CPU {percent:g} % of the time",
                warn=percent > PRESSURE_PERCENT_MAX,
                hint=_OTHERS_HINT,
                figures={"some_avg10_percent": percent},
            )
    return unknown("cpu_pressure", "the kernel shows no pressure (/proc/pressure/cpu)")


def load_average(root: Path = ROOT, *, core_count: int | None = None) -> Check:
    """Other programs at work: how many tasks ran or wanted to, over the last minute."""
    words = (text(root / "proc/loadavg") or "").split()
    if not words:
        return unknown("load_average", "/proc/loadavg can't be read")
    core_count = len(os.sched_getaffinity(0)) if core_count is None else core_count
    load = float(words[0])
    return graded(
        "load_average",
        f"{load:g} over the last minute, on {counted(core_count, 'core')}",
        warn=load > core_count * LOAD_PER_CORE_MAX,
        hint=_OTHERS_HINT,
        figures={"load_1min": load, "core_count": core_count},
    )


def steal(root: Path = ROOT, *, pause: Callable[[float], None] = time.sleep) -> Check:
    """Time in which this machine wanted to run and its host ran others, which looks like a slow server."""
    before = _cpu_ticks(root)
    if before is None:
        return unknown("steal_time", "/proc/stat can't be read")
    pause(STEAL_WINDOW_S)
    after = _cpu_ticks(root) or before
    since_boot = _share(before[0], before[1])
    now = _share(after[0] - before[0], after[1] - before[1])
    worse = max(now, since_boot)
    return graded(
        "steal_time",
        f"{_machine(root)}; its host took {now * 100:.1f} % of the last {STEAL_WINDOW_S:g} s, "
        f"{since_boot * 100:.1f} % since boot",
        warn=worse > STEAL_SHARE_WARN,
        fail=now > STEAL_SHARE_FAIL,
        hint="use a machine whose processors are not shared, or one of one's own",
        figures={"steal_share": now, "steal_share_since_boot": since_boot, "virtual_machine": is_virtual(root)},
    )


def _cpu_ticks(root: Path) -> tuple[int, int] | None:
    """Stolen and all ticks: "cpu  user nice system idle iowait irq softirq steal guest guest_nice" (proc(5))."""
    words = (text(root / "proc/stat") or "").partition("\n")[0].split()
    if len(words) < 9 or words[0] != "cpu":
        return None
    # guest and guest_nice are in user and nice already.
    ticks = [int(word) for word in words[1:9]]
    return ticks[7], sum(ticks)


def _share(part: int, whole: int) -> float:
    return part / whole if whole > 0 else 0.0


def _machine(root: Path) -> str:
    match is_virtual(root):
        case True:
            product = text(root / "sys/class/dmi/id/product_name")
            return f"virtual machine ({product})" if product else "virtual machine"
        case False:
            return "no virtual machine"
        case _:
            return "virtual machine or not: not known here"
