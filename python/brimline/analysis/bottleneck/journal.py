"""Owns the candidate "journal": the log that writes wait for was being synced most of the time."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullness
from brimline.analysis.bottleneck.waiting import WAITING_SHARE_FULL, WAITING_SHARE_NEAR, waiting_share
from brimline.analysis.observation import Observation
from brimline.units import format_duration, format_number, format_percentage
from brimline.wording import joined, message

SYNC_SHARE_FULL = 0.3
"""Share of the time in a sync from which the journal is what writes wait for that are answered after it.

Syncs come one after the other, and a write waits for the rest of the present one and for the whole next. Unasked, the
server syncs ten times a second, which is 1 to 5 % of the time on the disks measured; with writes that wait it was 45
to 90 %.
"""
SYNC_SHARE_NEAR = 0.15
"""Share from which syncs are noticeable in the times of writes."""


def journal(observation: Observation) -> Evidence:
    """Full when the journal was being synced much of the time, unless no answer waited for it."""
    use = observation.server_use
    share = use.journal_sync_share
    standing = fullness(share, full=SYNC_SHARE_FULL, near=SYNC_SHARE_NEAR)
    if share is None and use.log_waiting is not None:
        return _of_waiters(observation, use.log_waiting, use.fsyncs_per_s or use.journal_syncs_per_s)
    if share is None and use.fsyncs_per_s is not None:
        text = message("{rate} fsyncs/s, how long they took isn't known", rate=format_number(use.fsyncs_per_s))
        return Evidence(kind=BottleneckKind.JOURNAL, standing=standing, text=text)
    if share is None:
        return Evidence(kind=BottleneckKind.JOURNAL, standing=standing, text="journal syncs unknown")
    awaited = observation.acknowledgement.journal
    if standing is Fullness.FULL and awaited is False:
        standing = Fullness.NEAR  # slow, and nobody waits for it
    seen = message(
        "journal being synced {share} of the time, {rate} syncs/s of {mean}, {awaited}",
        share=format_percentage(share),
        rate=format_number(use.journal_syncs_per_s or 0.0),
        mean=format_duration(use.journal_sync_mean_ns or 0.0),
        awaited=_AWAITED[awaited],
    )
    verdict = message("the journal (being synced {share} of the time)", share=format_percentage(share))
    return Evidence(kind=BottleneckKind.JOURNAL, standing=standing, text=seen, verdict=verdict)


def _of_waiters(observation: Observation, waiting: float, syncs_per_s: float | None) -> Evidence:
    """Of a server that says who waits for its log to be written, and not for how long."""
    share = waiting_share(observation, waiting)
    seen = message("{share} of the operations in flight waited for the log", share=format_percentage(share or 0.0))
    if syncs_per_s is not None:
        seen = joined("; ", [seen, message("{rate} fsyncs/s", rate=format_number(syncs_per_s))])
    return Evidence(
        kind=BottleneckKind.JOURNAL,
        standing=fullness(share, full=WAITING_SHARE_FULL, near=WAITING_SHARE_NEAR),
        text=seen,
        verdict=message(
            "the log ({share} of the operations in flight waited for it)", share=format_percentage(share or 0.0)
        ),
    )


_AWAITED = {True: "awaited by writes", False: "awaited by no write", None: "perhaps awaited by writes"}
