"""Counters of several servers in one record: what is subtracted, what is drawn, and what is said of it."""

import math
from collections.abc import Mapping

from brimline.analysis.checkpoints import checkpoint_duration_s
from brimline.analysis.finding import Standing
from brimline.analysis.followed import ServerChange, following_findings, server_changes
from brimline.analysis.growth.figures import quiet_time_ns
from brimline.analysis.observation import observe
from brimline.analysis.server_settling import server_checks
from brimline.analysis.server_window import ServerWindow, is_of_another_server
from brimline.monitor import NO_PRIMARY
from brimline.record.model import Scalar
from brimline.report.run.server_series import gauge, grown_between, rate
from tests.unit.analysis.records import S, run_record

Row = Mapping[str, Scalar]
A, B = "a.example:27017", "b.example:27017"


def row(at_s: int, server: str | None, **columns: Scalar) -> Row:
    gap = NO_PRIMARY if server is None else None
    return {"at_ns": at_s * S, "gap": gap, "server": server, **columns}


def rows(*inserts: tuple[str | None, int | None]) -> list[Row]:
    return [row(at_s, server, insert=count, connections=count) for at_s, (server, count) in enumerate(inserts)]


UP = rows((A, 100), (A, 200), (A, 300), (B, 90_000), (B, 90_050))
DOWN = rows((A, 90_000), (A, 90_100), (A, 90_200), (None, None), (B, 5), (B, 55))
BACK = rows((A, 100), (A, 200), (B, 9), (A, 9_000), (A, 9_100))


def test_rates_leave_out_the_step_from_one_server_to_another() -> None:
    assert ServerWindow(UP).rate("insert") == 250 / 3
    assert ServerWindow(DOWN).rate("insert") == 250 / 3
    assert ServerWindow(BACK).rate("insert") == 100.0
    assert ServerWindow(UP).growth("insert") == 250.0
    assert ServerWindow(UP).ratio(("insert",), ("connections",)) == 1.0


def test_one_row_of_each_server_has_no_rate() -> None:
    window = ServerWindow(rows((A, 1), (B, 2), (A, 900)))
    assert window.rate("insert") is None and window.growth("insert") is None


def test_a_row_that_names_no_server_is_of_no_other() -> None:
    assert is_of_another_server(row(1, B), row(0, A))
    pairs: list[tuple[str | None, str | None]] = [(A, A), (A, None), (None, B), (None, None)]
    for earlier, later in pairs:
        assert not is_of_another_server(row(1, later), row(0, earlier))


def test_a_gap_at_the_same_server_is_no_change() -> None:
    assert ServerWindow(rows((A, 100), (None, None), (A, 300))).rate("insert") == 100.0


def test_records_that_name_no_server_are_read_as_ever() -> None:
    old = [{"at_ns": at_s * S, "insert": 10 + at_s * 10} for at_s in range(4)]
    assert ServerWindow(old).rate("insert") == 10.0
    assert ServerWindow([*old, {"at_ns": 4 * S, "insert": 0}]).rate("insert") is None
    assert following_findings(old) == []
    assert gauge(ServerWindow(old), "insert") == [(0.0, 10), (1.0, 20), (2.0, 30), (3.0, 40)]


def test_charts_have_a_gap_at_the_change() -> None:
    window = ServerWindow(UP)
    assert rate(window, "insert") == [(0.5, 100.0), (1.5, 100.0), (2.5, None), (3.5, 50.0)]
    assert gauge(window, "connections") == [
        (0.0, 100), (1.0, 200), (2.0, 300), (2.5, None), (3.0, 90_000), (4.0, 90_050)
    ]  # fmt: skip


def test_a_checkpoint_is_not_drawn_across_the_change() -> None:
    seen = [row(0, A, checkpoints=1), row(1, B, checkpoints=9, checkpoint_running=1), row(2, B, checkpoints=10)]
    assert grown_between(ServerWindow(seen), "checkpoints", while_gauge="checkpoint_running") == [(1.0, 2.0)]


def test_checkpoints_are_those_of_each_server() -> None:
    seen = [
        row(0, A, checkpoints=1, checkpoint_total_ms=1000),
        row(1, A, checkpoints=2, checkpoint_total_ms=3000),
        row(2, B, checkpoints=50, checkpoint_total_ms=90_000),
        row(3, B, checkpoints=51, checkpoint_total_ms=94_000),
    ]
    assert checkpoint_duration_s(seen) == 3.0
    (finding,) = server_checks(seen, start_ns=0, end_ns=4 * S)
    assert finding.evidence == "2 checkpoints passed"


def test_a_cache_settles_at_the_last_server() -> None:
    filling = [row(at, A, cache_bytes_used=10 + at, cache_bytes_max=100) for at in range(30)]
    settled = [row(30 + at, B, cache_bytes_used=60, cache_bytes_max=100) for at in range(30)]
    (finding,) = server_checks([*filling, *settled], start_ns=0, end_ns=60 * S)
    assert (finding.name, finding.verdict) == ("cache_fill", Standing.PASS)


def test_slices_of_reads_begin_anew_at_another_server() -> None:
    seen = [
        row(0, A, reads_ops=0, reads_latency_us=0),
        row(1, A, reads_ops=200, reads_latency_us=2000),
        row(2, B, reads_ops=90_000, reads_latency_us=2_100),
        row(3, B, reads_ops=90_200, reads_latency_us=4_100),
    ]
    quiet_ns = quiet_time_ns(seen)
    assert quiet_ns is not None and math.isclose(quiet_ns, 10_000.0)


def test_the_report_says_when_and_from_which_to_which() -> None:
    assert server_changes(DOWN) == [ServerChange(at_ns=4 * S, earlier=A, later=B)]
    found = observe(run_record(server=DOWN)).findings
    (finding,) = [each for each in found if each.name == "followed"]
    assert finding.verdict == Standing.WARN
    assert finding.evidence == f"the server watched changed at 4.00 s from {A} to {B}; 1 look found no primary"


def test_several_changes_are_counted() -> None:
    (finding,) = following_findings(BACK)
    assert finding.evidence == (
        f"the server watched changed 2 times: at 2.00 s from {A} to {B}, at 3.00 s from {B} to {A}"
    )
    (finding,) = following_findings(rows(*((A, 1) if number % 2 else (B, 2) for number in range(40))))
    assert finding.evidence.count(" from ") == 8 and "39 times, at first: " in finding.evidence
