"""What a sweep says about connections, as facts beside a verdict: the knee, and the numbers to use."""

from brimline.experiments.sweep import SweepConclusion
from brimline.plan.pacing import connections_text
from brimline.report.view import Fact
from brimline.wording import message


def plateau_facts(sweep: SweepConclusion) -> list[Fact]:
    """The knee with its interval and the recommended connections; none without a plateau."""
    if sweep.knee is None or sweep.band is None:
        return []
    return [
        Fact(
            label="Knee",
            value=connections_text(sweep.knee.connections),
            note=message("95 % of the plateau; {interval}", interval=sweep.knee.interval_text),
        ),
        Fact(
            label="Recommended",
            value=sweep.band.text,
            note="fewer cost throughput; with more, p99 rises and throughput doesn't",
        ),
    ]
