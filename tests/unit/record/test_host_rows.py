"""What was learnt of a host from elsewhere, brought to the instants of the server's rows."""

from typing import Any

import pytest

from brimline.record.host_rows import with_host

S = 1_000_000_000


def look(at_s: float, **columns: Any) -> dict[str, Any]:
    return {**reading(at_s), "shared_host": 0, "host_busy_ns": None, **columns}


def reading(at_s: float, **columns: Any) -> dict[str, Any]:
    return {"at_ns": round(at_s * S), "gap": "", "server": "db:27017", **columns}


def busy(rows: list[Any]) -> list[Any]:
    return [row["host_busy_ns"] for row in rows]


def test_a_counter_lies_on_the_line_between_the_readings_around_the_look() -> None:
    host = [reading(0.5 + second, host_busy_ns=second * S) for second in range(4)]
    assert busy(with_host([look(second) for second in range(5)], host)) == [None, S // 2, 3 * S // 2, 5 * S // 2, None]


def test_rates_are_the_same_by_whichever_instants_they_are_read() -> None:
    """A host with 1.7 CPUs busy, read 3 times a second at uneven instants."""
    host = [
        reading(at / 3 + (at % 4) / 100, host_busy_ns=round(1.7 * (at / 3 + (at % 4) / 100) * S)) for at in range(40)
    ]
    rows = with_host([look(second) for second in range(1, 12)], host)
    rates = [(b - a) / S for a, b in zip(busy(rows), busy(rows)[1:], strict=False)]
    assert rates == pytest.approx([1.7] * 10, rel=1e-6)


def test_while_nobody_told_anything_nothing_is_said() -> None:
    host = [reading(0, host_busy_ns=0), reading(1, host_busy_ns=S), reading(2) | {"gap": "connection refused"}]
    host += [reading(3, host_busy_ns=3 * S), reading(4, host_busy_ns=4 * S)]
    rows = with_host([look(at) for at in (0.5, 1.5, 2.5, 3.5)], host)
    assert busy(rows) == [S // 2, None, None, 7 * S // 2]


def test_a_hole_without_a_word_is_one_as_well() -> None:
    host = [reading(at, host_busy_ns=at * S) for at in (0, 1, 2, 3, 30, 31)]
    assert busy(with_host([look(2.5), look(20), look(30.5)], host)) == [5 * S // 2, None, 61 * S // 2]


def test_what_the_server_says_itself_stands_and_the_host_knows_better_whom_it_shares() -> None:
    host = [reading(at, host_busy_ns=at * S, server_cpu_ns=at, server_cpu_count=0.5, shared_host=1) for at in (0, 2)]
    (row,) = with_host([look(1, server_cpu_ns=77, server_cpu_count=8)], host)
    assert (row["server_cpu_ns"], row["server_cpu_count"], row["shared_host"]) == (77, 0.5, 1)


def test_a_row_of_another_server_has_another_host() -> None:
    host = [reading(at, host_busy_ns=at * S) for at in (0, 2)]
    assert busy(with_host([look(1) | {"server": "other:27017"}, look(1)], host)) == [None, S]


def test_times_by_name_lie_between_as_well() -> None:
    host = [reading(0, others_cpu_ns_by_name="cc1=10;ld=4"), reading(2, others_cpu_ns_by_name="cc1=30;new=8")]
    (row,) = with_host([look(1)], host)
    assert row["others_cpu_ns_by_name"] == "cc1=20;new=4"


def test_times_by_name_that_every_second_look_has_are_known_between_as_well() -> None:
    names = {0: "cc1=0", 2: "cc1=40", 4: "cc1=80"}
    host = [reading(second, others_cpu_ns_by_name=names.get(second)) for second in range(6)]
    rows = with_host([look(second + 0.5) for second in range(5)], host)
    assert [each.get("others_cpu_ns_by_name") for each in rows] == ["cc1=10", "cc1=30", "cc1=50", "cc1=70", None]


def test_without_rows_of_the_server_the_hosts_are_all_there_is() -> None:
    host = [reading(1, host_busy_ns=5)]
    assert with_host([], host) == host and with_host([look(1)], []) == [look(1)]


@pytest.mark.parametrize("damaged", ["soon", None])
def test_a_damaged_reading_says_nothing(damaged: Any) -> None:
    host = [reading(0, host_busy_ns=0), reading(2, host_busy_ns=2 * S), {"at_ns": damaged, "host_busy_ns": 9}]
    assert busy(with_host([look(1), look(1) | {"at_ns": damaged}], host)) == [S, None]
