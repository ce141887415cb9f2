"""The chart of work in the system: workers at work, operations in flight, what is due and not sent."""

from collections.abc import Sequence

from brimline.record.model import RunRecord
from brimline.report.panels import Line, Point, panel
from brimline.report.series import TimeBucket
from brimline.report.time_axis import TimeSpan
from brimline.report.view import Chart

WORKERS, IN_FLIGHT, BACKLOG = "#14477e", "#0b7a6b", "#b4322a"


def work_chart(record: RunRecord, buckets: Sequence[TimeBucket], span: TimeSpan) -> Chart | None:
    """Active workers of a closed loop or the backlog of an open one, with what is in flight; None without any."""
    in_flight = Line("in flight, mean", IN_FLIGHT, [(each.middle_s, each.in_flight) for each in buckets])
    if record.closed_loop:
        return panel(
            "workers",
            "Active workers",
            "workers",
            [Line("active workers", WORKERS, _points(buckets, "workers_active")), in_flight],
            span,
            caption="Workers that have begun and are not done, and how many of their operations were under way on "
            "average. What lies between the two is think time and the client.",
        )
    return panel(
        "work",
        "Work in the system",
        "operations",
        [in_flight, Line("due and not sent", BACKLOG, _points(buckets, "backlog"))],
        span,
        caption="A backlog that grows says that more is offered than is answered.",
    )


def _points(buckets: Sequence[TimeBucket], field: str) -> list[Point]:
    return [(each.end_s, float(getattr(each, field))) for each in buckets]
