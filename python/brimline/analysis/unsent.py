"""Owns what was asked for and never went out, and why."""

from brimline.analysis.loads import main_load
from brimline.analysis.window import done_in_window
from brimline.record.model import IntervalRow, RunRecord, Summary
from brimline.units import format_count, format_duration
from brimline.wording import message

OVERDUE_SHARE_MAX = 0.001
"""Share of operations due that were never sent, above which the run was not the planned one."""
HELD_BACK_SHARE_MAX = 0.01
"""Share of operations that waited for a connection, above which lag is no longer the generator's own."""
_PART_OF_WAIT_MIN = 0.5
"""Part of the time from when the oldest was due to the end from which what was seen in it is the reason."""


def not_begun(record: RunRecord) -> int:
    """How many of the operations that a closed loop was asked for it had not come to when it ended.

    They were never due, so that they are no part of due = sent + overdue: planned = sent + overdue + not begun. 0 where
    no number was asked for, or all were begun. What was attempted again is counted as sent, and not in that number.
    """
    record = main_load(record)
    summary, asked = record.summary, record.plan.operation_count
    if summary is None or asked is None or record.plan.pacer.kind != "closed":
        return 0
    return max(0, asked + summary.get("attempted_again", 0) - summary["due"])


def was_sent(summary: Summary) -> bool:
    """Whether what was due went out, but for a share that changes nothing."""
    return summary["overdue"] <= OVERDUE_SHARE_MAX * summary["due"]


def places_kept_unsent(record: RunRecord, held_back_share: float | None) -> bool:
    """Whether operations never went out, and taken places are told as the reason."""
    summary = record.summary
    if summary is None or was_sent(summary) or server_gone_ns(record):
        return False
    return waited_for_places(record, summary, held_back_share)


def why_unsent(record: RunRecord, summary: Summary, held_back_share: float | None) -> str:
    """The reason in words. Of what never went out nothing says what it waited for, but the samples of that time do."""
    if record.closed_loop and record.ended_by == "target_lost":
        return "because no connection to the server was left"
    if record.closed_loop:
        return "because the run ended before its workers had performed their loops"
    reason: str = "the generator was late"
    if gone_ns := server_gone_ns(record):
        reason = message("no connection to the server was up for {time}", time=format_duration(gone_ns))
    elif waited_for_places(record, summary, held_back_share):
        reason = places_taken(record.plan.in_flight_bound)
    age = format_duration(summary["oldest_overdue_ns"])
    return message("the oldest was due {age} before the end; {reason}", age=age, reason=reason)


def waited_for_places(record: RunRecord, summary: Summary, held_back_share: float | None) -> bool:
    """Whether the server kept operations from going out: all places were taken by those that it had not answered.

    The null target answers at once: what takes its places is the generator's own time.
    """
    if record.closed_loop or record.plan.target.kind == "null" or not summary["overdue"]:
        return False
    return (
        (held_back_share or 0.0) > HELD_BACK_SHARE_MAX
        or _were_places_taken(record, summary)
        or _was_backlog_held_back(record)
    )


def places_taken(bound: int) -> str:
    """What operations waited for, with how many of them may be in flight at once."""
    if bound == 1:
        return message("the one place for an operation in flight was taken")
    return message("all {count} places for operations in flight were taken", count=format_count(bound))


def server_gone_ns(record: RunRecord) -> int:
    """How long no connection was up while what never went out was due, if that is why it didn't; else 0."""
    if record.closed_loop or record.summary is None or not record.summary["overdue"]:
        return 0
    age_ns = record.summary["oldest_overdue_ns"]
    gone_ns = sum(overlap for row, overlap in _waited(record, age_ns) if not row["connections_up"])
    return gone_ns if gone_ns >= _PART_OF_WAIT_MIN * age_ns else 0


def _were_places_taken(record: RunRecord, summary: Summary) -> bool:
    age_ns = summary["oldest_overdue_ns"]
    full_ns = sum(
        overlap for row, overlap in _waited(record, age_ns) if row["in_flight"] >= record.plan.in_flight_bound
    )
    return age_ns > 0 and full_ns >= _PART_OF_WAIT_MIN * age_ns


def _was_backlog_held_back(record: RunRecord) -> bool:
    """Whether most of what was sent in the window had waited for a place, also where all of it was due before."""
    done = done_in_window(record)
    sent = sum(row["sent"] for row in done)
    return sent > 0 and sum(row["held_back"] for row in done) >= _PART_OF_WAIT_MIN * sent


def _waited(record: RunRecord, age_ns: int) -> list[tuple[IntervalRow, int]]:
    """The measured samples from when the oldest was due on, each with how many ns of it lie in that time."""
    measured = [row for row in record.intervals if row["phase"] == "measure"]
    due_ns = measured[-1]["end_ns"] - age_ns if measured else 0
    return [(row, row["end_ns"] - max(row["start_ns"], due_ns)) for row in measured if row["end_ns"] > due_ns]
