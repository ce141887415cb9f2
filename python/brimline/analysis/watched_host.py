"""Owns whether the server's host, where that is another machine, was watched all the time, and how well in time."""

from collections.abc import Mapping
from typing import Any

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.server_window import ServerWindow
from brimline.record.model import RunRecord
from brimline.units import format_duration
from brimline.wording import Verbatim, message

_TOLD_BY: Mapping[str, str] = {
    "watch": "brimline watch at {place}",
    "exporter": "the node exporter at {place}",
    "file": "the file {place}",
}
_BUSY = "host_busy_ns"
_COUNTERS = (_BUSY, "disk_busy_ms", "host_network_bytes_in", "host_network_bytes_out")
"""What a host tells of itself by its growth: each where it is told at all."""
_MEMORY = "host_memory_available_bytes"
_TOLD_THROUGHOUT = (*_COUNTERS, _MEMORY, "host_cpu_count")
"""What a source tells in each reading or in none."""


def host_findings(record: RunRecord) -> list[Finding]:
    """The check that figures of another machine's host are there for the whole run; none where nobody watched one."""
    host = (record.server_facts.get("monitor") or {}).get("host") or {}
    told_by = _TOLD_BY.get(host.get("source", ""))
    if told_by is None:
        return []
    by = message(told_by, place=Verbatim(str(host.get("from", ""))))
    elapsed_ns = record.intervals[-1]["end_ns"] if record.intervals else 0
    gaps = host.get("gaps") or []
    missing_ns = sum(max(0, min(each["end_ns"], elapsed_ns) - max(each["start_ns"], 0)) for each in gaps)
    if missing_ns:
        evidence = message(
            "{by} told nothing for {time} of the run ({reason}): how the server's host was then is unknown",
            by=by,
            time=format_duration(missing_ns),
            reason=Verbatim(str(gaps[0].get("reason", ""))),
        )
        return [Finding("host_watched", Standing.UNKNOWN, evidence)]
    if why := _unusable(host, elapsed_ns) or _why_unclear(
        ServerWindow.of(record.server, start_ns=0, end_ns=elapsed_ns)
    ):
        evidence = message("{by} {why}: how the server's host was is unknown", by=by, why=why)
        return [Finding("host_watched", Standing.UNKNOWN, evidence)]
    return [Finding("host_watched", Standing.PASS, _by_clock(host, by))]


def _unusable(host: Mapping[str, Any], elapsed_ns: int) -> str:
    """Which columns had readings within the run that nothing can be made of, and since when; "" where none had."""
    told: Mapping[str, int] = host.get("unusable_since_ns") or {}
    since_ns = {name: told[name] for name in _TOLD_THROUGHOUT if name in told and told[name] <= elapsed_ns}
    if not since_ns:
        return ""
    return message(
        "told nothing of use in {columns}, first {time} into the run",
        columns=Verbatim(", ".join(since_ns)),
        time=format_duration(min(since_ns.values())),
    )


def _why_unclear(window: ServerWindow) -> str:
    """Why nothing can be made of what was told of the host; "" where something can, and where nobody looked twice."""
    counts = {name: window.told_count(name) for name in (*_COUNTERS, _MEMORY)}
    if not any(counts.values()):
        return message("told no figure of the run that a host can have") if window.told_count("at_ns") > 1 else ""
    # No processor of a host with a server that is asked has had nothing to do.
    odd = [
        name
        for name in _COUNTERS
        if counts[name] > 1 and (window.growth(name) is None or (name == _BUSY and window.growth(name) == 0))
    ]
    if not odd:
        return ""
    return message(
        "told figures that can't be ({columns} fell back, stood still, or grew too much)",
        columns=Verbatim(", ".join(odd)),
    )


def _by_clock(host: Mapping[str, Any], by: str) -> str:
    error_ns = host.get("clock_error_ns")
    if error_ns is None:
        return message("{by}; its clock is taken to be right, nobody tells by how much it is not", by=by)
    return message("{by}; its times are known to within {error}", by=by, error=format_duration(error_ns))
