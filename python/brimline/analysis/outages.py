"""Owns what is said of the times in which the target could not be used: its primary was lost, or the server gone."""

from collections.abc import Sequence

from brimline.analysis.finding import Finding, Standing
from brimline.record.model import Outage, RunRecord
from brimline.units import format_count, format_duration
from brimline.wording import message


def outages_of(record: RunRecord) -> Sequence[Outage]:
    """In the order of time; none where there was none, and of older records."""
    return [] if record.summary is None else record.summary.get("outages", [])


def outage_ns(outage: Outage, record: RunRecord) -> int:
    """How long it lasted; one that did not end, until the run did."""
    end_ns = outage["to_ns"]
    if end_ns is None:
        end_ns = record.summary["elapsed_ns"] if record.summary else outage["from_ns"]
    return max(0, end_ns - outage["from_ns"])


def outages(record: RunRecord) -> list[Finding]:
    """That there were some, how long, and what became of operations; nothing to say where there was none."""
    found = outages_of(record)
    if not found:
        return []
    longest = max(found, key=lambda outage: outage_ns(outage, record))
    words = {
        "failed": format_count(sum(outage["failed"] for outage in found)),
        "retried": _retried_text(sum(outage["retried"] for outage in found), record),
        "longest": format_duration(outage_ns(longest, record)),
        "at": format_duration(longest["from_ns"]),
    }
    if len(found) == 1:
        evidence = message(
            "nothing was answered for {longest} from {at} on: {failed} operations failed meanwhile, {retried}",
            **words,
        )
    else:
        evidence = message(
            "nothing was answered in {count} outages of {total} together, the longest {longest} from {at} on: "
            "{failed} operations failed meanwhile, {retried}",
            count=format_count(len(found)),
            total=format_duration(sum(outage_ns(outage, record) for outage in found)),
            **words,
        )
    return [Finding("outages", Standing.WARN, evidence)]


def retried_count(record: RunRecord) -> int:
    """Commands of the whole run that were sent once more, whatever for."""
    totals = {} if record.summary is None else record.summary.get("operations", {})
    return sum(of.get("retried", 0) for of in totals.values())


def _retried_text(meanwhile: int, record: RunRecord) -> str:
    """Some are sent once more after an outage, or without one: then the two counts stand side by side."""
    everywhere = retried_count(record)
    if everywhere <= meanwhile:
        return message("{count} commands were sent once more", count=format_count(meanwhile))
    return message(
        "{count} commands were sent once more, of {all} in the whole run",
        count=format_count(meanwhile),
        all=format_count(everywhere),
    )
