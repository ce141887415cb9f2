"""Owns what is said of the times in which the generator itself did not run: stopped, swapped out, suspended."""

from collections.abc import Sequence

from brimline.analysis.finding import Finding, Standing
from brimline.record.model import Standstill
from brimline.units import format_count, format_duration, format_percentage
from brimline.wording import Message, message

STILL_SHARE_MAX = 0.01
"""Share of the window from which figures are the standstill's: a rate is as much too low, and a p99 lies within it."""
STILL_NS_MIN = 250_000_000
"""And how long it is then at least: in a few seconds others hold a thread up for a tenth of one by chance."""


def standstill_findings(standstills: Sequence[Standstill], *, begin_ns: int, end_ns: int) -> list[Finding]:
    """That the generator stood still, when and for how long; nothing to say where it never did.

    `begin_ns` and `end_ns` bound the measured window, on the clock of `standstills`.
    """
    if not standstills:
        return []
    measured = [each for each in standstills if each["from_ns"] < end_ns and each["to_ns"] > begin_ns]
    if not measured:
        evidence = message("{what}, outside of the measured window", what=_what(standstills))
        return [Finding("standstills", Standing.WARN, evidence)]
    still_ns = sum(each["still_ns"] for each in measured)
    # A host that was suspended held up the run's clock too, so that more than the window can have passed.
    share = min(1.0, still_ns / max(end_ns - begin_ns, still_ns, 1))
    if share <= STILL_SHARE_MAX or still_ns < STILL_NS_MIN:
        evidence = message("{what}: what was slowest then is not the server's doing", what=_what(measured))
        return [Finding("standstills", Standing.WARN, evidence)]
    evidence = message(
        "{what}, {share} of the measured window: rates and times are not the server's",
        what=_what(measured),
        share=format_percentage(share),
    )
    return [Finding("standstills", Standing.FAIL, evidence)]


def _what(standstills: Sequence[Standstill]) -> Message:
    longest = max(standstills, key=lambda each: each["still_ns"])
    words = {
        "longest": format_duration(longest["still_ns"]),
        "at": format_duration(longest["from_ns"]),
    }
    if len(standstills) == 1:
        return message("the generator itself did not run for {longest} from {at} on", **words)
    return message(
        "the generator itself did not run {count} times, {total} together, the longest {longest} from {at} on",
        count=format_count(len(standstills)),
        total=format_duration(sum(each["still_ns"] for each in standstills)),
        **words,
    )
