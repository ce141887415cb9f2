"""Owns the candidate "disk": the device with the server's data had no idle time left."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, fullness
from brimline.analysis.observation import Observation
from brimline.units import format_bytes, format_number, format_percentage
from brimline.wording import joined, message

BUSY_SHARE_FULL = 0.90
"""Share of the time with a request in flight from which the disk counts as full, as in `iostat`'s %util.

A device that serves many requests at once may still have room at 100 %: the number in flight is told with it.
"""
BUSY_SHARE_NEAR = 0.70
"""Share from which requests wait for each other noticeably."""


def disk(observation: Observation) -> Evidence:
    """Full from 90 % busy time on."""
    use = observation.server_use
    standing = fullness(use.disk_busy_share, full=BUSY_SHARE_FULL, near=BUSY_SHARE_NEAR)
    if use.disk_busy_share is None:
        return Evidence(
            kind=BottleneckKind.DISK, standing=standing, text=_with_checkpoints("disk unknown", observation)
        )
    busy = format_percentage(use.disk_busy_share)
    seen = [message("disk busy {busy} of the time", busy=busy)]
    if use.disk_bytes_per_s is not None:
        seen.append(message("{rate}/s", rate=format_bytes(use.disk_bytes_per_s)))
    if use.disk_in_flight is not None:
        seen.append(message("{count} requests in flight", count=format_number(use.disk_in_flight)))
    text = joined(", ", seen)
    return Evidence(
        kind=BottleneckKind.DISK,
        standing=standing,
        text=_with_checkpoints(text, observation),
        verdict=message("the disk (busy {busy} of the time)", busy=busy),
    )


def _with_checkpoints(text: str, observation: Observation) -> str:
    share = observation.server_use.checkpoint_share
    if not share:
        return text
    return message("{text}; a checkpoint ran {share} of the time", text=text, share=format_percentage(share))
