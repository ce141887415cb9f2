"""Owns whether the server's host, where that is another machine, was watched all the time, and how well in time."""

from collections.abc import Mapping
from typing import Any

from brimline.analysis.finding import Finding, Standing
from brimline.record.model import RunRecord
from brimline.units import format_duration
from brimline.wording import Verbatim, message

_TOLD_BY: Mapping[str, str] = {
    "watch": "brimline watch at {place}",
    "exporter": "the node exporter at {place}",
    "file": "the file {place}",
}


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
    return [Finding("host_watched", Standing.PASS, _by_clock(host, by))]


def _by_clock(host: Mapping[str, Any], by: str) -> str:
    error_ns = host.get("clock_error_ns")
    if error_ns is None:
        return message("{by}; its clock is taken to be right, nobody tells by how much it is not", by=by)
    return message("{by}; its times are known to within {error}", by=by, error=format_duration(error_ns))
