"""Which parts of a soak are of one server that went on running, and so stand on one axis."""

from typing import Any

import numpy as np
import pytest

from brimline.analysis.soak import PartRecord, soak_findings
from brimline.record.coarse import Fine, Looks
from tests.unit.analysis.records import S, run_record, summary

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
