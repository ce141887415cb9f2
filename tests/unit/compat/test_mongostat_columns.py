"""mongostat's columns against what the real one printed.

Each recorded row is turned back into two answers of a server which, looked at by us, must give that very row.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from brimline.compat.mongostat import StatInterval, StatTable, chosen_fields, json_line, parse_fields
from brimline.compat.mongostat.amounts import bits_text, bytes_text
from brimline.compat.mongostat.columns import VALUES
from brimline.errors import UsageError

_GOLDEN = Path(__file__).parents[2] / "golden" / "mongostat"
_HOST = "127.0.0.1:27017"
_CACHE_BYTES = 1_000_000
_UNITS = {"b": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "B": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_SHOWN = [name for name in VALUES if name not in ("host", "set", "repl")]


def _recorded(name: str) -> list[str]:
    # All dates were made the same one afterwards; mongostat's own form of a day below 10 has a blank for the zero.
    return [line.replace("Jan 01", "Jan  1") for line in (_GOLDEN / f"{name}.txt").read_text().splitlines()]


def _amount(text: str) -> int:
    if text[-1] not in _UNITS:
        return int(text)
    # The smallest whole number that is shown so, or one above it: 2.50G is no whole number of MiB less.
    return round(float(text[:-1]) * _UNITS[text[-1]])


def _counts(text: str) -> tuple[int, int]:
    """Of clients and of replication."""
    if "|" in text:
        own, replicated = text.split("|")
        return int(own), int(replicated)
    return (0, int(text[1:])) if text.startswith("*") else (int(text), 0)


def _interval(row: Mapping[str, str], *, seconds: float = 1.0) -> StatInterval:
    """Two answers whose difference is `row`, `seconds` apart."""
    kinds = ("insert", "query", "update", "delete", "getmore", "command")
    own, replicated = zip(*(_counts(row[kind]) for kind in kinds), strict=True)
    queued, active = ([int(part) for part in row[name].split("|")] for name in ("qrw", "arw"))
    after = {
        "opcounters": _grown(kinds, own, seconds),
        "opcountersRepl": _grown(kinds, replicated, seconds),
        "wiredTiger": {
            "cache": {
                "tracked dirty bytes in the cache": _cached(row["dirty"]),
                "bytes currently in the cache": _cached(row["used"]),
                "maximum bytes configured": _CACHE_BYTES,
            },
            "transaction": {"transaction checkpoints": 7 + int(row["flushes"])},
            "concurrentTransactions": {"read": {"out": active[0]}, "write": {"out": active[1]}},
        },
        "mem": {"virtual": _amount(row["vsize"]) >> 20, "resident": _amount(row["res"]) >> 20, "bits": 64},
        "globalLock": {
            # Some wait in a queue, and some that are counted as active wait for a ticket.
            "currentQueue": {"readers": queued[0], "writers": 0},
            "activeClients": {"readers": active[0], "writers": active[1] + queued[1]},
        },
        "network": _grown(("bytesIn", "bytesOut"), (_amount(row["net_in"]), _amount(row["net_out"])), seconds),
        "connections": {"current": int(row["conn"])},
    }
    before: dict[str, Any] = {
        "opcounters": _zero(kinds),
        "opcountersRepl": _zero(kinds),
        "network": _zero(("bytesIn", "bytesOut")),
        "wiredTiger": {"transaction": {"transaction checkpoints": 7}},
    }
    at = _instant(row["time"])
    return StatInterval(host=_HOST, before=before, after=after, elapsed_s=seconds, at=at)


def _zero(names: tuple[str, ...]) -> dict[str, int]:
    return dict.fromkeys(names, 1000)


def _grown(names: tuple[str, ...], per_s: tuple[int, ...], seconds: float) -> dict[str, int]:
    # A little more than that many a second: what is left over is cut off.
    return {name: 1000 + -int(-each * seconds // 1) for name, each in zip(names, per_s, strict=True)}


def _cached(text: str) -> int:
    return round(float(text.rstrip("%")) * _CACHE_BYTES / 100)


def _instant(text: str) -> datetime:
    if text[0].isalpha():
        return datetime.strptime(f"2020 {text}", "%Y %b %d %H:%M:%S.%f").replace(tzinfo=UTC)
    return datetime.fromisoformat(text if "T" in text else f"2020-01-01T{text}Z")


def _cells(line: str) -> list[str]:
    """The cells of a row; a time has a blank or three in it."""
    return re.findall(r"[A-Z][a-z]{2} +\d+ \S+|\S+", line)


def _table(name: str, *, human: bool, headings: bool, seconds: float = 1.0) -> list[str]:
    """What we print for the rows recorded under `name`."""
    recorded = _recorded(name)
    rows = recorded[1:] if headings else recorded
    table: StatTable | None = None
    printed: list[str] = []
    for line in rows:
        interval = _interval(dict(zip(_SHOWN, _cells(line), strict=True)), seconds=seconds)
        table = table or StatTable(chosen_fields(interval.after), headings=headings)
        printed += table.lines(interval, human=human)
    return printed


@pytest.mark.parametrize(
    ("name", "human", "headings", "seconds"),
    [
        ("default", True, True, 1.0),
        ("all", True, True, 1.0),
        ("idle-server", True, True, 1.0),
        ("interval-2s", True, True, 2.0),
        ("interval-2s", True, True, 1.98),
        ("noheaders-humanreadable-false", False, False, 1.0),
    ],
)
def test_tables_are_the_recorded_ones_to_the_letter(name: str, human: bool, headings: bool, seconds: float) -> None:
    recorded = _recorded(name)
    assert recorded
    assert _table(name, human=human, headings=headings, seconds=seconds) == recorded


@pytest.mark.parametrize(("name", "human"), [("json", True), ("json-humanreadable-false", False)])
def test_json_is_the_recorded_one_to_the_letter(name: str, human: bool) -> None:
    recorded = _recorded(name)
    assert recorded
    for line in recorded:
        interval = _interval(json.loads(line)[_HOST])
        assert json_line(chosen_fields(interval.after), interval, human=human) == line


def test_added_columns_stand_behind_the_others() -> None:
    heading, *rows = _recorded("added-columns")
    more = parse_fields("host,mem.bits=bits")
    table: StatTable | None = None
    printed: list[str] = []
    for line in rows:
        interval = _interval(dict(zip(_SHOWN, _cells(line), strict=False)))
        table = table or StatTable(chosen_fields(interval.after, more=more))
        printed += table.lines(interval, human=True)
    assert printed == [heading, *rows]


def test_chosen_columns_have_paths_differences_rates_and_headings_of_their_own() -> None:
    heading, *rows = _recorded("custom-columns")
    chosen = "host=H,insert=I,query,metrics.document.inserted.rate()=dps,opcounters.getmore.diff()=gm,time"
    fields = parse_fields(chosen)
    table = StatTable(fields)
    printed: list[str] = []
    for line in rows:
        host, inserts, queries, inserted, getmores, time = _cells(line)
        counted = ("insert", "query", "getmore")
        values = (int(inserts), int(queries), int(getmores))
        interval = StatInterval(
            host=host,
            before={"opcounters": _zero(counted), "metrics": {"document": {"inserted": 5}}},
            after={
                "opcounters": _grown(counted, values, 1.0),
                "metrics": {"document": {"inserted": 5 + int(inserted)}},
            },
            elapsed_s=1.0,
            at=_instant(time),
        )
        printed += table.lines(interval, human=True)
    assert printed == [heading, *rows]


def _plain_interval(
    before: Mapping[str, Any], after: Mapping[str, Any], *, elapsed_s: float = 1.0, at: datetime | None = None
) -> StatInterval:
    return StatInterval(
        host=_HOST, before=before, after=after, elapsed_s=elapsed_s, at=at or datetime(2020, 1, 1, tzinfo=UTC)
    )


def _text(source: str, before: Mapping[str, Any], after: Mapping[str, Any], *, elapsed_s: float = 1.0) -> str:
    (field,) = parse_fields(source)
    return field.text(_plain_interval(before, after, elapsed_s=elapsed_s), human=True)


@pytest.mark.parametrize(
    ("own", "replicated", "shown"), [(0, 0, "*0"), (7, 0, "7"), (0, 9, "*9"), (7, 9, "7|9"), (1, 0, "1")]
)
def test_operations_of_clients_and_of_replication(own: int, replicated: int, shown: str) -> None:
    before = {"opcounters": {"insert": 10}, "opcountersRepl": {"insert": 20}}
    after = {"opcounters": {"insert": 10 + own}, "opcountersRepl": {"insert": 20 + replicated}}
    assert _text("insert", before, after) == shown


def test_commands_always_show_both() -> None:
    counters = {"opcounters": {"command": 4}, "opcountersRepl": {"command": 0}}
    assert _text("command", counters, counters) == "0|0"


@pytest.mark.parametrize(("grown", "elapsed_s", "shown"), [(199, 2.0, "99"), (100, 0.99, "101"), (1, 2.0, "*0")])
def test_rates_are_per_second_and_cut_off(grown: int, elapsed_s: float, shown: str) -> None:
    before, after = {"opcounters": {"insert": 5}}, {"opcounters": {"insert": 5 + grown}}
    assert _text("insert", before, after, elapsed_s=elapsed_s) == shown


def test_counters_that_began_anew_count_from_their_start() -> None:
    assert _text("insert", {"opcounters": {"insert": 900}}, {"opcounters": {"insert": 30}}) == "30"


def test_flushes_are_of_the_interval_and_not_per_second() -> None:
    def status(count: int) -> dict[str, Any]:
        return {"wiredTiger": {"transaction": {"transaction checkpoints": count}}}

    assert _text("flushes", status(3), status(5), elapsed_s=10.0) == "2"


def test_tickets_of_8_are_found_where_they_are_now() -> None:
    status = {
        "queues": {"execution": {"read": {"out": 3}, "write": {"out": 1}}},
        "globalLock": {
            "currentQueue": {"readers": 0, "writers": 2},
            "activeClients": {"readers": 4, "writers": 0},
        },
    }
    assert _text("arw", {}, status) == "3|1"
    assert _text("qrw", {}, status) == "1|1"
    status["globalLock"]["activeClients"]["readers"] = 0
    assert _text("qrw", {}, status) == "0|1"


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0b"),
        (999, "999b"),
        (1000, "1.00k"),
        (9994, "9.99k"),
        (12_345, "12.3k"),
        (999_499, "999k"),
        (1_140_000, "1.14m"),
        (24_200_000, "24.2m"),
        (3 * 10**9, "3.00g"),
        (5 * 10**12, "5000g"),
    ],
)
def test_traffic(size: int, shown: str) -> None:
    assert bits_text(size, human=True) == shown
    assert bits_text(size, human=False) == str(size)


@pytest.mark.parametrize(
    ("mebibytes", "shown"), [(5, "5.00M"), (140, "140M"), (1023, "1023M"), (1024, "1.00G"), (2560, "2.50G")]
)
def test_memory(mebibytes: int, shown: str) -> None:
    assert bytes_text(mebibytes << 20, human=True) == shown
    assert bytes_text(mebibytes << 20, human=False) == str(mebibytes * 1024 * 1024)


@pytest.mark.parametrize(
    ("repl", "role"),
    [
        ({"setName": "rs", "isWritablePrimary": True, "secondary": False}, "PRI"),
        ({"setName": "rs", "ismaster": True}, "PRI"),
        ({"setName": "rs", "isWritablePrimary": False, "secondary": True}, "SEC"),
        ({"setName": "rs", "isWritablePrimary": False, "secondary": True, "passive": True}, "PSV"),
        ({"setName": "rs", "isWritablePrimary": False, "secondary": False, "arbiterOnly": True}, "ARB"),
        ({"setName": "rs", "isWritablePrimary": False, "secondary": False}, "REC"),
        ({}, "UNK"),
    ],
)
def test_a_member_of_a_set_has_two_columns_more(repl: dict[str, Any], role: str) -> None:
    status = {"repl": repl, "wiredTiger": {}}
    names = [field.source for field in chosen_fields(status)]
    assert names[names.index("conn") :] == ["conn", "set", "repl", "time"]
    assert _text("repl", status, status) == role
    assert _text("set", status, status) == repl.get("setName", "")


def test_without_wiredtiger_the_cache_has_no_columns() -> None:
    names = [field.source for field in chosen_fields({"process": "mongos"})]
    assert not {"dirty", "used", "set", "host"} & set(names)
    assert _text("repl", {}, {"process": "mongos"}) == "RTR"


def test_a_figure_that_a_server_does_not_have_is_empty_and_not_zero() -> None:
    row = {name: _text(name, {}, {}) for name in ("qrw", "arw", "net_in", "conn", "res", "dirty", "flushes")}
    assert set(row.values()) == {""}


def test_a_path_that_is_not_there_says_so() -> None:
    assert _text("mem.nothing", {}, {"mem": {}}) == "INVALID"
    assert _text("mem.bits.rate()", {}, {"mem": {"bits": 64}}) == "INVALID"
    assert _text("repl.hosts", {}, {"repl": {"hosts": ["a"]}}) == "INVALID"


def test_columns_of_the_monitor_are_there_on_request() -> None:
    def status(waits: int, dirty: int) -> dict[str, Any]:
        return {
            "locks": {"Global": {"acquireWaitCount": {"w": waits}}},
            "wiredTiger": {"cache": {"tracked dirty bytes in the cache": dirty}},
        }

    assert _text("lock_waits", status(10, 1), status(31, 2), elapsed_s=2.0) == "10"
    assert _text("cache_bytes_dirty", status(10, 1), status(31, 2)) == "2"


def test_headings_come_again_after_ten_rows_and_widths_only_grow() -> None:
    (field,) = parse_fields("insert=I")
    table = StatTable([field])
    counts = [3, 12345, *[1] * 9]
    printed = [
        table.lines(_plain_interval({"opcounters": {"insert": 0}}, {"opcounters": {"insert": count}}), human=True)
        for count in counts
    ]
    assert printed[0] == ["I", "3"]
    assert printed[1] == ["12345"]
    assert printed[2] == ["    1"]
    assert printed[10] == ["    I", "    1"]
    assert [len(lines) for lines in printed] == [2, *[1] * 9, 2]


def test_times_are_local_and_say_their_zone_when_they_are_for_programs() -> None:
    (field,) = parse_fields("time")
    east = datetime(2020, 1, 7, 3, 4, 5, 678_900, tzinfo=timezone(timedelta(hours=2)))
    interval = _plain_interval({}, {}, at=east)
    assert field.text(interval, human=True) == "Jan  7 03:04:05.678"
    assert field.text(interval, human=False) == "2020-01-07T03:04:05+02:00"


@pytest.mark.parametrize("text", ["nosuch", "insert,,query", "=x", ""])
def test_a_column_that_does_not_exist_is_an_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_fields(text)
