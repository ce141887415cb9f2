"""Owns a file with a host's figures that another tool writes or wrote: which tool's it is, and its place in time.

It is read when a run ends, so that the tool may write it meanwhile. Its times are those of the host's wall clock. How
far that one is from ours the server on that host says, where it tells the time.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from itertools import pairwise
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

from brimline.errors import UsageError
from brimline.monitor.host.clock import DRIFT_MAX, ClockOffset, Exchange
from brimline.monitor.host.exposition import scrapes
from brimline.monitor.host.figures import HostFigures, data_disk, whole_disks
from brimline.monitor.host.source import Reading
from brimline.monitor.host.sysstat import is_json_head, is_text_head, json_figures, text_figures
from brimline.units import NS_PER_S

FILE_BYTES_MAX = 1 << 30
MARGIN_NS = 60 * NS_PER_S
"""How long before and behind a run readings are taken along, so that those around it are among them."""

_SPACINGS_MAX = 3
"""A run begins or ends without the file where its nearest report is farther than so many times as usual."""

AskTime = Callable[[], Sequence[Exchange]]
"""Asks a server on that host for the time, some times; by our wall clock. Nothing where it doesn't say."""
TIME_GRAIN_NS = 1_000_000
"""A server tells the time in whole milliseconds."""

_HOW = "it is read as text or JSON of iostat -x -t, of sar or sadf -j, or as the text of a node exporter"


def read_host_file(path: Path) -> list[HostFigures]:
    """The figures in a file, in order of time. Raises UsageError where it can't be read or is of no tool that is known.

    Times without a zone are taken to be of this machine's.
    """
    try:
        if path.exists() and not path.is_file():
            raise UsageError(
                f"--host-metrics {path} is no file: it is read before a run and after it",
                hint=f"write what the tool tells into a file, which may grow meanwhile; {_HOW}",
            )
        if path.stat().st_size > FILE_BYTES_MAX:
            raise UsageError(f"{path} is larger than 1 GiB", hint="cut out the time of the runs")
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"--host-metrics {path} can't be read: {reason}", hint=_HOW) from None
    zone = datetime.now().astimezone().tzinfo
    assert zone is not None  # noqa: S101 - it was just given one
    try:
        found = _figures(text, zone)
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError):
        found = None
    if found is None:
        raise UsageError(f"--host-metrics {path} is of no tool that is known", hint=_HOW)
    return sorted(found, key=lambda each: each.unix_ns)


def _figures(text: str, zone: tzinfo) -> list[HostFigures] | None:
    """By the tool whose text it is; None: by none that is known."""
    head, lines = text.lstrip()[:4096], text.splitlines()
    if '"sysstat"' in head:
        return list(json_figures(text, zone=zone))
    if head.startswith("Linux "):
        return list(text_figures(lines, zone=zone))
    if any(line.startswith("node_") for line in lines):
        return list(scrapes(lines))
    return None if head else []  # the tool has not begun


def _has_only_begun(text: str) -> bool:
    """Whether a tool has written no more than what stands before its first report."""
    return is_json_head(text) if text.lstrip().startswith("{") else is_text_head(text.splitlines())


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHost:
    """A file; `disk`: the one with the server's data, where it tells of several."""

    path: Path
    disk: str | None
    ask_time: AskTime = field(repr=False)

    def require(self) -> None:
        """Raises UsageError where it can't be used."""
        figures = read_host_file(self.path)
        if not any(each.tells for each in figures) and not _has_only_begun(self.path.read_text(errors="replace")):
            raise UsageError(
                f"--host-metrics {self.path} tells nothing of a host that can be read",
                hint=f"{_HOW}; each report has its time, as iostat's with -t",
            )
        names = {name for each in figures for name in each.disks}
        require_one_disk(names, self.disk, where=str(self.path))

    def watch(self) -> "FileWatch":
        """Begins to look."""
        return FileWatch(self)


def require_one_disk(names: set[str], disk: str | None, *, where: str) -> None:
    """Raises UsageError where a disk that is named isn't told of, or none is named of several."""
    several = whole_disks(names)
    if disk is not None and names and disk not in names:
        raise UsageError(f"{where} tells of no disk {disk}", hint=f"it tells of {', '.join(sorted(names))}")
    if disk is None and len(several) > 1:
        raise UsageError(
            f"{where} tells of several disks: {', '.join(several)}",
            hint=f"name the one with the server's data, such as --host-disk {several[0]}",
        )


class FileWatch:
    """Looks at the file at the end of a run; meanwhile at the clock of the server."""

    def __init__(self, source: FileHost) -> None:
        self._source = source
        self._clock = ClockOffset(grain_ns=TIME_GRAIN_NS)
        self._facts: dict[str, Any] = {}
        self._grain_ns = self._drift_ns = 0
        self._is_asked = False

    def read(self) -> Reading | None:
        """Nothing yet; before a run it is seen how the clocks stand to each other."""
        if not self._is_asked:
            self._ask_time()
        return None

    def rest(self, *, since_ns: int, until_ns: int) -> Sequence[Reading]:
        """What the file holds of that time."""
        self._ask_time()
        try:
            figures = read_host_file(self._source.path)
        except UsageError as error:
            return [Reading(at_ns=since_ns, gap=error.message), Reading(at_ns=until_ns, gap=error.message)]
        names = {name for each in figures for name in each.disks}
        disk = data_disk(names, self._source.disk)
        self._facts = {"disk": disk, "interfaces_bits_per_s": dict(figures[-1].speeds_bits_per_s) if figures else {}}
        self._drift_ns = ceil((until_ns - since_ns) * DRIFT_MAX)
        self._grain_ns = max((each.grain_ns for each in figures), default=0)
        ours_ns = time.monotonic_ns() - time.time_ns() + (self._clock.offset_ns if self._clock.known else 0)
        placed = [(each.unix_ns + each.grain_ns // 2 + ours_ns, each) for each in figures]
        within = [(at_ns, each) for at_ns, each in placed if since_ns - MARGIN_NS <= at_ns <= until_ns + MARGIN_NS]
        if not any(since_ns <= at_ns <= until_ns for at_ns, _ in within):
            return [Reading(at_ns=at_ns, gap=_nothing_of(placed, until_ns)) for at_ns in (since_ns, until_ns)]
        readings = [Reading(at_ns=at_ns, columns=each.columns_with(disk)) for at_ns, each in within]
        if len(readings) > 1 and not readings[-2].columns.keys() <= readings[-1].columns.keys():
            readings.pop()  # it is being written
        usual_ns = median([NS_PER_S, *(later.at_ns - earlier.at_ns for earlier, later in pairwise(readings))])
        if readings[0].at_ns - since_ns > _SPACINGS_MAX * usual_ns:
            readings.insert(
                0,
                Reading(
                    at_ns=since_ns,
                    gap=f"its first report is of {_ago(readings[0].at_ns - since_ns)} behind the beginning",
                ),
            )
        if until_ns - readings[-1].at_ns > _SPACINGS_MAX * usual_ns:
            readings.append(Reading(at_ns=until_ns, gap=_nothing_of(placed, until_ns)))
        return readings

    def facts(self) -> dict[str, Any]:
        """Where it was learnt; the error of the clocks is None where the server tells no time."""
        apart_ns = self._drift_ns + self._grain_ns // 2
        error_ns = self._clock.error_ns + apart_ns if self._clock.known else None
        return {**self._facts, "source": "file", "from": str(self._source.path), "clock_error_ns": error_ns}

    def close(self) -> None:
        """Nothing is open."""

    def _ask_time(self) -> None:
        self._is_asked = True
        for exchange in self._source.ask_time():
            self._clock.learn(exchange)


def _nothing_of(placed: Sequence[tuple[int, HostFigures]], until_ns: int) -> str:
    """Why the file says nothing of a run."""
    if not placed:
        return "the file holds no report"
    if placed[-1][0] <= until_ns:
        return f"its last report is of {_ago(until_ns - placed[-1][0])} before the end of the run"
    return f"its first report is of {_ago(placed[0][0] - until_ns)} behind the run"


def _ago(time_ns: int) -> str:
    return f"{time_ns / NS_PER_S:.0f} s"
