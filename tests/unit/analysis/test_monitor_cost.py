"""What watching cost: shares of known CPU times, and what is said where they aren't known."""

import pytest

from brimline.analysis.finding import Standing
from brimline.analysis.monitor_cost import monitor_cost, monitor_findings
from brimline.record.model import ServerRow
from tests.unit.analysis.records import MS, S, run_record


def _rows(**per_second: int | None) -> list[ServerRow]:
    """One row a second from -1 s on, before the warm-up's end a hundred times dearer than in the window."""
    rows: list[ServerRow] = []
    for second in range(-1, 13):
        factor = 100 if second < 1 else 1
        grown = {name: None if each is None else 10**12 + each * second * factor for name, each in per_second.items()}
        rows.append({"at_ns": second * S, "round_trip_ns": 2 * MS, **grown})
    return rows


def test_the_share_is_of_the_cpu_time_the_server_used_in_the_window() -> None:
    cost = monitor_cost(
        run_record(server=_rows(monitor_server_cpu_ns=MS, server_cpu_ns=500 * MS, monitor_cpu_ns=3 * MS))
    )
    assert cost is not None
    assert cost.server_share == pytest.approx(1 / 500)
    assert cost.server_ns_per_s == pytest.approx(MS)
    assert cost.monitor_ns_per_s == pytest.approx(3 * MS)
    assert cost.exact


@pytest.mark.parametrize(
    ("spent_ms", "used_ms", "standing"),
    [
        (10, 2000, Standing.PASS),
        (10, 1999, Standing.WARN),
        (5, 50, Standing.PASS),  # a tenth of what it used, and half a percent of one CPU
        (6, 50, Standing.WARN),
    ],
)
def test_more_than_half_a_percent_is_a_warning(spent_ms: int, used_ms: int, standing: Standing) -> None:
    rows = _rows(monitor_server_cpu_ns=spent_ms * MS, server_cpu_ns=used_ms * MS, monitor_cpu_ns=MS)
    (finding,) = monitor_findings(run_record(server=rows))
    assert finding.name == "monitor_cost"
    assert finding.verdict is standing
    assert ("more than 0.5 %" in finding.evidence) == (standing is Standing.WARN)


@pytest.mark.parametrize(
    ("answered_in_ms", "used_ms", "standing"), [(20, 4001, Standing.PASS), (20, 3999, Standing.UNKNOWN)]
)
def test_of_another_machine_there_is_a_bound_and_no_accusation(
    answered_in_ms: int, used_ms: int, standing: Standing
) -> None:
    rows = [
        {**row, "round_trip_ns": answered_in_ms * MS}
        for row in _rows(monitor_server_cpu_ns=None, server_cpu_ns=used_ms * MS, monitor_cpu_ns=MS)
    ]
    (finding,) = monitor_findings(run_record(server=rows))
    assert finding.verdict is standing
    assert "at most" in finding.evidence


def test_without_the_servers_cpu_time_there_is_no_share() -> None:
    rows = _rows(monitor_server_cpu_ns=None, server_cpu_ns=None, monitor_cpu_ns=MS)
    (finding,) = monitor_findings(run_record(server=rows))
    assert finding.verdict is Standing.UNKNOWN
    assert "2.00 ms per second" in finding.evidence


def test_a_record_that_has_no_cost_says_nothing() -> None:
    assert monitor_findings(run_record()) == []
    assert monitor_findings(run_record(server=_rows(server_cpu_ns=500 * MS))) == []


def test_a_record_of_a_null_run_has_no_such_check() -> None:
    rows = _rows(monitor_server_cpu_ns=MS, server_cpu_ns=MS, monitor_cpu_ns=MS)
    assert monitor_findings(run_record(server=rows))
    from brimline.analysis.observation import observe

    names = {finding.name for finding in observe(run_record(target="null", server=rows)).findings}
    assert "monitor_cost" not in names
