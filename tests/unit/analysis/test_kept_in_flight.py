"""A closed loop whose replies lie unread asks less of the server than it was told to."""

from dataclasses import replace

import pytest

from brimline.analysis.bottleneck.judgement import at_its_limit
from brimline.analysis.finding import Standing
from brimline.analysis.objective import LatencyObjective, Slo
from brimline.analysis.observation import observe
from brimline.analysis.verdict import Verdict, judge
from brimline.record.model import RunRecord

from .records import MS, S, interval_row, operation_row, run_record


def closed(*, held: int, served: float, seconds: int = 10, rate: float | None = None) -> RunRecord:
    return run_record(
        rate=rate,
        connections=3_000,
        operations=[operation_row(second, in_flight_ns=int(served * S)) for second in range(1, seconds + 1)],
        intervals=[interval_row(second, in_flight=held) for second in range(1, seconds + 1)],
    )


def standing_of(record: RunRecord) -> tuple[Standing, str] | None:
    found = [each for each in observe(record).findings if each.name == "kept_in_flight"]
    return (found[0].verdict, found[0].evidence) if found else None


@pytest.mark.parametrize(
    ("held", "served", "standing"),
    [
        (32, 22.0, Standing.PASS),
        (128, 64.0, Standing.PASS),
        (128, 63.0, Standing.WARN),
        (512, 128.0, Standing.WARN),
        (512, 114.6, Standing.FAIL),
        (3_000, 114.7, Standing.FAIL),
    ],
)
def test_most_of_what_is_under_way_waits_for_the_server(held: int, served: float, standing: Standing) -> None:
    seen = standing_of(closed(held=held, served=served))
    assert seen is not None and seen[0] is standing
    assert ("lay unread" in seen[1]) is (standing is not Standing.PASS)


def test_nothing_is_said_where_it_would_mean_nothing() -> None:
    assert standing_of(closed(held=3, served=0.5)) is None, "few operations: the generator's own time is much of each"
    assert standing_of(closed(held=3_000, served=1.0, seconds=2)) is None, "two samples"
    assert standing_of(closed(held=3_000, served=1.0, rate=1_000.0)) is None, "in an open loop what waits is timed"


def test_workers_that_did_not_perform_their_loops_were_limited_by_something() -> None:
    """However few of their requests were under way at once."""
    record = closed(held=3_000, served=114.7)
    assert at_its_limit(replace(observe(record), back_to_back=False, overdue=430_594))
    assert not at_its_limit(replace(observe(record), back_to_back=False))


def test_a_service_time_that_few_requests_had_meets_no_objective() -> None:
    slo = Slo(latencies=(LatencyObjective(limit_ns=100 * MS, clock="service"),))
    assert judge(observe(closed(held=3_000, served=2_500.0)), slo).verdict is Verdict.PASS
    late = judge(observe(closed(held=3_000, served=114.7)), slo)
    assert late.verdict is Verdict.INVALID
    assert "of 3 000 operations under way only 115 waited for the server" in late.reasons[0]
