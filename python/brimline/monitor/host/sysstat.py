"""Owns reading what iostat and sar print of a host, as text or as JSON, into the columns of a row. Pure.

They tell rates. The columns are counters: each rate times the time since the report before, added up. So the first
report only says when counting begins; that of iostat is since the boot anyhow.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from brimline.monitor.host.figures import HostFigures, Numbers, can_be, is_outside
from brimline.units import NS_PER_S

GRAIN_NS = NS_PER_S
"""Times are printed in whole seconds."""
_KIBIBYTE, _SECTOR_BYTES, _MEBIBYTE = 1024, 512, 1 << 20
_MS_PER_S = 1000
_BUSY = ("user", "nice", "system", "steal", "usr", "sys", "irq", "soft", "guest", "gnice")
_HEADER = re.compile(r"Linux \S+ \(.*\)\s+(?P<date>\S+)\s+\S+\s+\((?P<cpus>\d+) CPU\)")
_CLOCK = re.compile(r"(\d{2}:\d{2}:\d{2})(?:\s+([AP]M))?")
_DATES = ("%Y-%m-%d", "%m/%d/%y", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y年%m月%d日")
_STAMP_LENGTH_MAX = 40
_STATISTICS = re.compile(r'"statistics"\s*:\s*\[')
_CPUS = re.compile(r'"number-of-cpus"\s*:\s*(\d+)')
_JSON_HEAD = re.compile(
    r'\s*\{\s*"sysstat"\s*:\s*\{\s*"hosts"\s*:\s*\[\s*\{[^\[\]{}]*("statistics"\s*:\s*\[\s*(\{.*)?)?', re.DOTALL
)
_DATE = re.compile(r'"(?:file-)?date"\s*:\s*"([^"]+)"')

_DISK_RATES: Mapping[str, tuple[str, float]] = {
    "r/s": ("disk_reads", 1),
    "w/s": ("disk_writes", 1),
    "rkB/s": ("disk_bytes_read", _KIBIBYTE),
    "wkB/s": ("disk_bytes_written", _KIBIBYTE),
    "rMB/s": ("disk_bytes_read", _MEBIBYTE),
    "wMB/s": ("disk_bytes_written", _MEBIBYTE),
    "kB_read/s": ("disk_bytes_read", _KIBIBYTE),
    "kB_wrtn/s": ("disk_bytes_written", _KIBIBYTE),
    "rsec/s": ("disk_bytes_read", _SECTOR_BYTES),
    "wsec/s": ("disk_bytes_written", _SECTOR_BYTES),
    "rd_sec/s": ("disk_bytes_read", _SECTOR_BYTES),
    "wr_sec/s": ("disk_bytes_written", _SECTOR_BYTES),
    "rkB": ("disk_bytes_read", _KIBIBYTE),
    "wkB": ("disk_bytes_written", _KIBIBYTE),
    "aqu-sz": ("disk_queue_time_ms", _MS_PER_S),
    "avgqu-sz": ("disk_queue_time_ms", _MS_PER_S),
    "util": ("disk_busy_ms", _MS_PER_S / 100),
    "%util": ("disk_busy_ms", _MS_PER_S / 100),
    "util-percent": ("disk_busy_ms", _MS_PER_S / 100),
}
"""Growth per second of a column by the names that the tools have for it; of two for one thing the first counts."""
_WAITS = (("r/s", "r_await", "disk_read_time_ms"), ("w/s", "w_await", "disk_write_time_ms"))

Told = Mapping[str, float]


@dataclass(slots=True)
class _Report:
    """What was told at one time, as rates per second, and figures that hold at that time."""

    at: datetime
    cpu: Told = field(default_factory=dict)
    disks: dict[str, Told] = field(default_factory=dict)
    interfaces: dict[str, Told] = field(default_factory=dict)
    memory: Told = field(default_factory=dict)


def json_figures(text: str, *, zone: tzinfo) -> Iterator[HostFigures]:
    """Of `iostat -o JSON -x -t` and `sadf -j`, also where its end isn't there yet. `zone`: of times that have none."""
    cpus = _CPUS.search(text)
    yield from _counted(_json_reports(text, zone), cpu_count=int(cpus[1]) if cpus else None)


def text_figures(lines: Sequence[str], *, zone: tzinfo) -> Iterator[HostFigures]:
    """Of `iostat -x -t` and `sar`, without or with `S_TIME_FORMAT=ISO`. `zone`: of times that have none."""
    header = next((found for line in lines if (found := _HEADER.match(line))), None)
    reports = _text_reports(lines, "" if header is None else header["date"], zone)
    yield from _counted(reports, cpu_count=None if header is None else int(header["cpus"]))


def is_json_head(text: str) -> bool:
    """Whether JSON of theirs has no whole report yet, and nothing else either."""
    head = _JSON_HEAD.fullmatch(text)
    if head is None or head[2] is None:
        return head is not None
    try:
        json.JSONDecoder().raw_decode(head[2])
    except ValueError:
        return True  # it is being written
    return False


def is_text_head(lines: Sequence[str]) -> bool:
    """Whether text of theirs has headings alone."""
    return all(_is_of_head(line) for line in lines)


def _is_of_head(line: str) -> bool:
    words = _CLOCK.sub("", line, count=1).split()
    return not words or _HEADER.match(line) is not None or _is_heading(words) or _stamp(line.strip(), UTC) is not None


def _counted(reports: Iterable[_Report], *, cpu_count: int | None) -> Iterator[HostFigures]:
    counted: Numbers = {}
    disks: dict[str, Numbers] = {}
    before: datetime | None = None
    for report in sorted(reports, key=lambda each: each.at):
        since_s = 0.0 if before is None else (report.at - before).total_seconds()
        before = report.at
        _grow(counted, _host_rates(report, cpu_count), since_s)
        for name, told in report.disks.items():
            _grow(disks.setdefault(name, {}), _disk_rates(told), since_s)
        columns: Numbers = {**_rounded(counted), **_memory(report.memory)}
        if report.cpu and cpu_count is not None:
            columns["host_cpu_count"] = cpu_count
        yield HostFigures(
            unix_ns=round(report.at.timestamp() * NS_PER_S),
            grain_ns=GRAIN_NS,
            columns=columns,
            disks={name: _rounded(each) for name, each in disks.items()},
        )


def _grow(counters: Numbers, rates: Mapping[str, float], since_s: float) -> None:
    for name, rate in rates.items():
        counters[name] = (counters.get(name) or 0.0) + rate * since_s


def _rounded(counters: Numbers) -> Numbers:
    return {name: None if value is None else round(value) for name, value in counters.items()}


def _host_rates(report: _Report, cpu_count: int | None) -> dict[str, float]:
    rates = {}
    if not report.cpu.keys().isdisjoint(_BUSY) and cpu_count is not None:
        of_all = cpu_count * NS_PER_S / 100
        rates["host_busy_ns"] = sum(report.cpu.get(name, 0) for name in _BUSY) * of_all
        rates["host_iowait_ns"] = report.cpu.get("iowait", 0) * of_all
    outside = [told for name, told in report.interfaces.items() if is_outside(name)]
    if outside:
        rates["host_network_bytes_in"] = sum(_of(told, "rxkB/s", "rxkB") for told in outside) * _KIBIBYTE
        rates["host_network_bytes_out"] = sum(_of(told, "txkB/s", "txkB") for told in outside) * _KIBIBYTE
    if "lo" in report.interfaces:
        rates["host_loopback_bytes"] = _of(report.interfaces["lo"], "txkB/s", "txkB") * _KIBIBYTE
    return rates


def _disk_rates(told: Told) -> dict[str, float]:
    rates: dict[str, float] = {}
    for name, (column, factor) in _DISK_RATES.items():
        if name in told:
            rates.setdefault(column, told[name] * factor)
    for per_s, wait_ms, column in _WAITS:
        if per_s in told and wait_ms in told:
            rates[column] = told[per_s] * told[wait_ms]
    return rates


def _memory(told: Told) -> Numbers:
    available = told.get("kbavail", told.get("avail"))
    return {} if available is None else {"host_memory_available_bytes": round(available * _KIBIBYTE)}


def _of(told: Told, *names: str) -> float:
    return next((told[name] for name in names if name in told), 0.0)


def _json_reports(text: str, zone: tzinfo) -> list[_Report]:
    reports = []
    begin = _STATISTICS.search(text)
    date = _DATE.search(text)
    decoder, place = json.JSONDecoder(), len(text) if begin is None else begin.end()
    while (place := _skipped(text, place)) < len(text) and text[place] != "]":
        try:
            document, place = decoder.raw_decode(text, place)
        except ValueError:
            break  # it is being written
        # One that is damaged says nothing, and the others are as good as before.
        with suppress(AttributeError, TypeError):
            at = _json_time(document.get("timestamp"), "" if date is None else date[1], zone)
            if at is not None:
                reports.append(_json_report(at, document))
    return reports


def _skipped(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n,":
        place += 1
    return place


def _json_report(at: datetime, document: Mapping[str, Any]) -> _Report:
    loads = document.get("cpu-load") or []
    return _Report(
        at=at,
        cpu=_numbers(
            document.get("avg-cpu") or next((each for each in loads if each.get("cpu") in ("all", -1, "-1")), {})
        ),
        disks={
            str(each.get("disk_device", each.get("disk-device"))): _numbers(each) for each in document.get("disk") or []
        },
        interfaces={
            str(each.get("iface")): _numbers(each) for each in (document.get("network") or {}).get("net-dev") or []
        },
        memory=_numbers(document.get("memory") or {}),
    )


def _numbers(told: Mapping[str, Any]) -> Told:
    return {name: float(value) for name, value in told.items() if can_be(value)}


def _json_time(stamp: Any, date: str, zone: tzinfo) -> datetime | None:
    if isinstance(stamp, Mapping):  # of sadf
        of = UTC if stamp.get("utc") in (1, True) else zone
        return _time(str(stamp.get("date", date)), str(stamp.get("time", "")), of)
    return _stamp(str(stamp), zone)


def _text_reports(lines: Sequence[str], date: str, zone: tzinfo) -> Iterable[_Report]:
    """Tables under headings. iostat prints a time above its tables; sar before each row, and "Average:" at the end.

    Of a file sar prints one table behind the other, each from the file's beginning: each has a day of its own.
    """
    reports: dict[datetime, _Report] = {}
    at: datetime | None = None
    columns: list[str] = []
    last: dict[str, datetime | None] = {}  # of each kind of table
    for line in lines:
        words = line.split()
        if not words or _HEADER.match(line):
            columns = [] if not words else columns
            continue
        if words[0] == "Average:":
            last.clear()
            continue
        if (stamp := _stamp(line.strip(), zone)) is not None:
            at, columns = stamp, []
            continue
        if (clock := _CLOCK.match(line)) is not None:
            words = line[clock.end() :].split()
        is_heading = bool(words) and _is_heading(words)
        columns = words if is_heading else columns
        if clock is not None:
            kind = columns[0] if columns else ""
            at = last[kind] = _following(_time(date, " ".join(filter(None, clock.groups())), zone), last.get(kind))
        if columns and at is not None and not is_heading:
            _take(reports.setdefault(at, _Report(at)), columns, words)
    return reports.values()


def _is_heading(words: Sequence[str]) -> bool:
    return words[0] in ("avg-cpu:", "CPU", "DEV", "IFACE") or words[0].startswith(("Device", "kbmem"))


def _take(report: _Report, columns: Sequence[str], words: Sequence[str]) -> None:
    kind = columns[0]
    if kind == "avg-cpu:":
        report.cpu = _told([name.strip("%") for name in columns[1:]], words)
    elif kind == "CPU" and words[0] == "all":
        report.cpu = _told([name.strip("%") for name in columns[1:]], words[1:])
    elif kind == "DEV" or kind.startswith("Device"):
        report.disks[words[0]] = _told(columns[1:], words[1:])
    elif kind == "IFACE":
        report.interfaces[words[0]] = _told(columns[1:], words[1:])
    elif kind.startswith("kbmem"):
        report.memory = _told(columns, words)


def _told(names: Sequence[str], words: Sequence[str]) -> Told:
    """Figures by their names; some locales write a comma where others write a point."""
    told = {}
    for name, word in zip(names, words, strict=False):
        with suppress(ValueError):
            if can_be(value := float(word.replace(",", "."))):
                told[name] = value
    return told


def _stamp(text: str, zone: tzinfo) -> datetime | None:
    """A date and a time on a line of their own."""
    if text.count(":") < 2 or len(text) > _STAMP_LENGTH_MAX:
        return None  # nearly all lines, each of which would be tried with every form
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        date, _, clock = text.partition(" ")
        return _time(date, clock, zone)
    # A date alone is none.
    return None if len(text) < len("2026-11-26T17") else at if at.tzinfo else at.replace(tzinfo=zone)


def _time(date: str, clock: str, zone: tzinfo) -> datetime | None:
    for form in _DATES:
        for of_day in ("%H:%M:%S", "%I:%M:%S %p"):
            try:
                return datetime.strptime(f"{date} {clock}", f"{form} {of_day}").replace(tzinfo=zone)
            except ValueError:
                continue
    return None


def _following(at: datetime | None, before: datetime | None) -> datetime | None:
    """Sar prints times of day: one that lies half a day back is of the next day."""
    while at is not None and before is not None and before - at > timedelta(hours=12):
        at += timedelta(days=1)
    return at
