"""Owns what of the server could not be watched during a run, and the check that the user may watch it at all."""

from brimline.analysis.finding import Finding, Standing
from brimline.monitor import Absence, reason_text
from brimline.record.model import RunRecord
from brimline.units import format_count
from brimline.wording import joined, message


def unwatched(record: RunRecord) -> tuple[Absence, ...]:
    """Columns that the monitor has no figures for, by reason; empty where it had all, or didn't say."""
    stored = record.server_facts.get("monitor", {}).get("absent", ())
    return tuple(Absence(tuple(each["metrics"]), reason_text(each["reason"])) for each in stored)


def watching_findings(record: RunRecord) -> list[Finding]:
    """What the user may not see; nothing to say where the server shows what it has."""
    refused = [each for each in unwatched(record) if each.refused]
    if not refused:
        return []
    evidence = message(
        "{reasons}; {count} figures of the server are absent",
        reasons=joined("; ", [each.reason for each in refused]),
        count=format_count(sum(len(each.metrics) for each in refused)),
    )
    return [Finding("watched", Standing.UNKNOWN, evidence)]
