"""Owns what is said of the times in which the generator itself did not run: stopped, swapped out, suspended.

The process of a driver is a part of it, with standstills of its own.
"""

from collections.abc import Sequence
from operator import itemgetter

from brimline.analysis.finding import Finding, Standing
from brimline.record.model import Standstill, Summary, drivers_of
from brimline.units import format_count, format_duration, format_percentage
from brimline.wording import Message, message

STILL_SHARE_MAX = 0.01
"""Share of the window from which figures are the standstill's: a rate is as much too low, and a p99 lies within it."""
STILL_NS_MIN = 250_000_000
"""And how long it is then at least: in a few seconds others hold a thread up for a tenth of one by chance."""


def runner_standstills(summary: Summary | None) -> list[Standstill]:
    """Of the processes that drivers of a run are in, in the order of time."""
    stood = (each for runner in drivers_of(summary) for each in runner.get("standstills", []))
    return sorted(stood, key=itemgetter("from_ns"))


def standstill_findings(
    standstills: Sequence[Standstill], *, begin_ns: int, end_ns: int, of_runner: bool = False
) -> list[Finding]:
    """That the generator stood still, or a driver's process, when and for how long; nothing to say where it never did.

    `begin_ns` and `end_ns` bound the measured window, on the clock of `standstills`.
    """
    if not standstills:
        return []
    name = "runner_standstills" if of_runner else "standstills"
    whose = "the process of the driver" if of_runner else "the generator itself"
    measured = [each for each in standstills if each["from_ns"] < end_ns and each["to_ns"] > begin_ns]
    if not measured:
        evidence = message("{what}, outside of the measured window", what=_what(standstills, whose))
        return [Finding(name, Standing.WARN, evidence)]
    still_ns = sum(each["still_ns"] for each in measured)
    # A host that was suspended held up the run's clock too, so that more than the window can have passed.
    share = min(1.0, still_ns / max(end_ns - begin_ns, still_ns, 1))
    if share <= STILL_SHARE_MAX or still_ns < STILL_NS_MIN:
        evidence = message("{what}: what was slowest then is not the server's doing", what=_what(measured, whose))
        return [Finding(name, Standing.WARN, evidence)]
    evidence = message(
        "{what}, {share} of the measured window: rates and times are not the server's",
        what=_what(measured, whose),
        share=format_percentage(share),
    )
    return [Finding(name, Standing.FAIL, evidence)]


def _what(standstills: Sequence[Standstill], whose: str) -> Message:
    longest = max(standstills, key=lambda each: each["still_ns"])
    if (node := longest.get("node")) is not None:
        whose = message("{whose} on node {node}", whose=whose, node=node)
    words = {
        "whose": whose,
        "longest": format_duration(longest["still_ns"]),
        "at": format_duration(longest["from_ns"]),
    }
    if len(standstills) == 1:
        return message("{whose} did not run for {longest} from {at} on", **words)
    return message(
        "{whose} did not run {count} times, {total} together, the longest {longest} from {at} on",
        count=format_count(len(standstills)),
        total=format_duration(sum(each["still_ns"] for each in standstills)),
        **words,
    )
