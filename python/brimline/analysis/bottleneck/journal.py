"""Owns the candidate "journal": the log that writes wait for was being synced most of the time."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullness
from brimline.analysis.observation import Observation
from brimline.units import format_duration, format_number, format_percentage
from brimline.wording import message

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


_AWAITED = {True: "awaited by writes", False: "awaited by no write", None: "perhaps awaited by writes"}
