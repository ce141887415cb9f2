"""Owns whether a closed loop had as many requests at the server as it was told to have under way.

Replies are timed by their arrival, so that a service time doesn't show how long they lay unread. A generator that comes
to them late asks less of the server than was wanted: of 3 000 connections on a host that the server filled, 115 had a
request under way, and the service times were those of 115.
"""

from brimline.analysis.finding import Finding, Standing
from brimline.record.model import RunRecord
from brimline.units import format_count, format_number
from brimline.wording import message

KEPT_SHARE_WARN = 0.5
"""Part that has to wait for the server. A closed loop that leaves replies alone for a moment has 0.7 and more."""
KEPT_SHARE_FAIL = 0.25
HELD_MIN = 4.0
"""Operations under way below which the generator's own time between two is a good part of each."""
INTERVALS_MIN = 3


def kept_in_flight(record: RunRecord, mean_in_flight: float) -> list[Finding]:
    """Whether most operations under way waited for the server, and not for the generator to take their replies.

    Nothing to say of an open loop, where what waits has its time counted, and of few operations or intervals.
    `mean_in_flight`: from sending to arrival, on average over the measured window.
    """
    held = [row["in_flight"] for row in record.intervals if row["phase"] == "measure"]
    if not record.closed_loop or len(held) < INTERVALS_MIN:
        return []
    mean_held = sum(held) / len(held)
    if mean_held < HELD_MIN:
        return []
    counts = {"served": format_number(mean_in_flight), "held": format_count(round(mean_held))}
    if mean_in_flight >= KEPT_SHARE_WARN * mean_held:
        evidence = message("of {held} operations under way {served} waited for the server, on average", **counts)
        return [Finding("kept_in_flight", Standing.PASS, evidence)]
    evidence = message(
        "of {held} operations under way only {served} waited for the server, on average: the replies of the others lay "
        "unread, since the generator didn't come to them",
        **counts,
    )
    is_far_off = mean_in_flight < KEPT_SHARE_FAIL * mean_held
    return [Finding("kept_in_flight", Standing.FAIL if is_far_off else Standing.WARN, evidence)]
