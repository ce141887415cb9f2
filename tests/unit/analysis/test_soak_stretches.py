"""Which parts of a soak are of one server that went on running, and so stand on one axis; the figures of a part."""

from typing import Any

import numpy as np
import pytest

from brimline.analysis.soak import PartRecord, _grown, part_series, soak_findings
from brimline.record.coarse import Fine, Looks
from tests.unit.analysis.records import S, operation_row, run_record, summary

HOUR_S = 3600.0


def part(began_s: float, uptime_s: float | None) -> PartRecord:
    """Ten measured seconds that began at a time of the wall clock, when the server had run for so long."""
    rows: list[dict[str, Any]] = [] if uptime_s is None else [{"at_ns": S, "uptime_ms": (uptime_s + 1) * 1000}]
    starts = np.arange(1.0, 11.0)
    fine = Fine(starts_s=starts, ends_s=starts + 1, answered=np.full(10, 1000.0), slowest_ns=np.full(10, 2e6),
                looks=Looks(at_s=starts, columns={}))  # fmt: skip
    return PartRecord(record=run_record(server=rows, summary=summary(started_unix_ns=round(began_s * S))), fine=fine)


@pytest.mark.parametrize(
    ("began_s", "uptime_s", "at_s"),
    [
        (12 * HOUR_S, 12 * HOUR_S + 100, 12 * HOUR_S),
        (12 * HOUR_S + 3, 12 * HOUR_S + 100, 12 * HOUR_S),
        (12 * HOUR_S, 11 * HOUR_S, None),
        (12 * HOUR_S, 12 * HOUR_S, None),
        (12 * HOUR_S, 5.0, None),
        (12 * HOUR_S, None, None),
    ],
    ids=["the same", "the same, a wall clock that was set", "restarted in the pause", "soon after the part before",
         "just before the part", "nobody looked"],
)  # fmt: skip
def test_a_server_that_was_started_in_a_pause_is_another_one(
    began_s: float, uptime_s: float | None, at_s: float | None
) -> None:
    found = soak_findings([part(0.0, 100.0), part(began_s, uptime_s)])
    assert [each for each, _ in found.parts] == ([0.0] if at_s is None else [0.0, pytest.approx(at_s)])
    assert len(found.left_out) == (1 if at_s is None else 0)


def test_a_part_has_its_figures_in_their_units_and_knows_which_way_is_worse() -> None:
    rows = [
        {"at_ns": at * S, "resident_bytes": 5 + at, "oplog_window_ms": 3_600_000 - at, "disk_free_bytes": 100 - at,
         "cache_bytes_used": at, "cache_bytes_max": 10}
        for at in (1, 5, 10)
    ]  # fmt: skip
    operations = [operation_row(second, ok=900, miss=50, failed=50) for second in range(1, 11)]
    found = {each.key: each for each in part_series(run_record(server=rows, operations=operations))}
    assert set(found) == {"throughput", "errors", "server_memory", "oplog_window", "disk_left", "cache"}
    assert set(found["throughput"].values) == {950.0} and set(found["errors"].values) == {0.05}
    assert list(found["throughput"].times_s) == [at + 0.5 for at in range(1, 11)]
    oplog = found["oplog_window"]
    assert (oplog.unit, list(oplog.times_s)) == ("ns", [1.0, 5.0, 10.0])
    assert list(oplog.values) == [(3_600_000 - at) * 1e6 for at in (1, 5, 10)]
    assert list(found["disk_left"].values) == [99.0, 95.0, 90.0]
    more_is_better = {key for key, each in found.items() if each.higher_is_better}
    assert more_is_better == {"throughput", "oplog_window", "disk_left"}
    assert {key: each.full_at for key, each in found.items() if each.full_at is not None} == {
        "disk_left": 0.0, "cache": 8.0,
    }  # fmt: skip


def test_a_counter_that_falls_began_anew_and_what_it_grew_by_is_not_known() -> None:
    assert np.array_equal(_grown(np.array([1.0, 3.0, 3.0, 2.0, 5.0])), [np.nan, 2.0, 0.0, np.nan, 3.0], equal_nan=True)
