"""What a sweep says about connections, as facts beside a verdict: the knee, and the numbers to use."""

from brimline.experiments.sweep import SweepConclusion
from brimline.report.view import Fact
from brimline.units import format_count
from brimline.wording import message


def plateau_facts(sweep: SweepConclusion) -> list[Fact]:
    """The knee with its interval and the recommended connections; none without a plateau."""
    if sweep.knee is None or sweep.band is None:
        return []
    return [
        Fact(
            label="Knee",
            value=message("{count} connections", count=format_count(sweep.knee.connections)),
            note=message("95 % of the plateau; {interval}", interval=sweep.knee.interval_text),
        ),
        Fact(
            label="Recommended",
            value=sweep.band.text,
            note="fewer cost throughput; with more, p99 rises and throughput doesn't",
        ),
    ]
