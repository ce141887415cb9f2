"""What iostat, sar and a node exporter tell of a host, from files that these tools wrote, in the columns of a row."""

import json
import os
import re
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from brimline.errors import UsageError
from brimline.monitor.host.clock import Exchange
from brimline.monitor.host.exposition import scrapes
from brimline.monitor.host.figures import data_disk
from brimline.monitor.host.file import FileHost, read_host_file

SAMPLES = Path(__file__).parent / "samples"
S, MS = 1_000_000_000, 1_000_000
CPUS = 2


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The samples without a zone were written in UTC."""
    monkeypatch.setitem(os.environ, "TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def unix_ns(clock: str) -> int:
    return round(datetime.fromisoformat(f"2026-11-26T{clock}+00:00").timestamp()) * S


@pytest.mark.parametrize("name", ["iostat.txt", "iostat-cut.json"])
def test_iostat_as_text_and_as_json_that_is_still_being_written(name: str) -> None:
    figures = read_host_file(SAMPLES / name)
    assert [each.unix_ns for each in figures] == [unix_ns(f"18:03:{second}") for second in (55, 56, 57, 58)]
    first, second, *_, last = figures
    # The first report is since the boot: counting begins with it.
    assert first.columns == {"host_busy_ns": 0, "host_iowait_ns": 0, "host_cpu_count": CPUS}
    assert second.columns["host_busy_ns"] == pytest.approx(1.00 * CPUS * S, rel=1e-3)
    assert last.columns["host_busy_ns"] == pytest.approx(3.00 * CPUS * S, rel=1e-3)
    assert second.disks["vda"]["disk_bytes_written"] == 208 * 1024
    assert second.disks["vda"]["disk_writes"] == 14
    assert second.disks["vda"]["disk_write_time_ms"] == round(14 * 0.14)
    assert last.disks["vda"]["disk_bytes_written"] == (208 + 12 + 304) * 1024


def test_iostat_with_times_that_name_their_zone(tmp_path: Path) -> None:
    text = (SAMPLES / "iostat.txt").read_text().replace("11/26/26 18:", "2026-11-26T20:")
    (tmp_path / "iso.txt").write_text(text.replace(":55\navg", ":55+0200\navg").replace(":56\navg", ":56+0200\navg"))
    assert [each.unix_ns for each in read_host_file(tmp_path / "iso.txt")][:2] == [
        unix_ns("18:03:55"),
        unix_ns("18:03:56"),
    ]


@pytest.mark.parametrize("clock", ["24", "12"])
def test_sar_has_the_host_its_disk_and_its_interfaces(tmp_path: Path, clock: str) -> None:
    text = (SAMPLES / "sar.txt").read_text()
    if clock == "12":
        text = text.replace("\n18:03:", "\n06:03:").replace(":55 ", ":55 PM ")
        for second in (56, 57, 58, 59):
            text = text.replace(f":{second} ", f":{second} PM ")
    (tmp_path / "sar.txt").write_text(text)
    figures = read_host_file(tmp_path / "sar.txt")
    assert [each.unix_ns for each in figures] == [unix_ns(f"18:03:{second}") for second in (56, 57, 58, 59)]
    last = figures[-1]
    assert last.columns["host_memory_available_bytes"] == 19_726_188 * 1024
    assert last.columns["host_busy_ns"] == pytest.approx(3 * CPUS * S, rel=1e-3)
    assert last.disks["vda"]["disk_busy_ms"] == round((0.0 + 0.4 + 1.6) * 10)
    # Loopback is apart, and ifb0 is none of the interfaces by which traffic leaves.
    in_kilobytes = (last.columns["host_network_bytes_in"] or 0) / 1024
    assert in_kilobytes > 11_122


def test_a_sar_report_over_midnight(tmp_path: Path) -> None:
    rows = "".join(
        f"{at}        all     50.00      0.00      0.00      0.00      0.00     50.00\n"
        for at in ("23:59:58", "23:59:59", "00:00:00", "00:00:01")
    )
    head = "Linux 6.1 (db) \t11/26/26 \t_x86_64_\t(4 CPU)\n\n"
    heading = "23:59:57        CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
    (tmp_path / "sar.txt").write_text(head + heading + rows)
    figures = read_host_file(tmp_path / "sar.txt")
    assert [each.unix_ns - figures[0].unix_ns for each in figures] == [0, S, 2 * S, 3 * S]
    assert figures[-1].columns["host_busy_ns"] == 3 * 4 * S // 2


_AVERAGE = "Average:        all     50.00\n\n"
_DEVICES, _PROCESSORS = "DEV       tps     rkB/s     %util", "CPU     %user     %nice"


@pytest.mark.parametrize(("between", "second"), [(_AVERAGE, _DEVICES), ("\n", _DEVICES), (_AVERAGE, _PROCESSORS)])
def test_the_tables_of_a_day_are_of_the_same_day(tmp_path: Path, between: str, second: str) -> None:
    """Each begins where the one before it began, which is no midnight."""
    times = [f"{hour:02}:00:01" for hour in range(0, 24, 4)]
    head = "Linux 6.1 (db) \t11/26/26 \t_x86_64_\t(4 CPU)\n\n"
    first = "00:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle\n" + "".join(
        f"{at}        all     50.00      0.00      0.00      0.00      0.00     50.00\n" for at in times
    )
    name = "vda" if second.startswith("DEV") else "all"
    rows = "".join(f"{at}     {name}     10.00     20.00     50.00\n" for at in times)
    (tmp_path / "sar.txt").write_text(head + first + between + f"00:00:01     {second}\n" + rows)
    figures = read_host_file(tmp_path / "sar.txt")
    assert [each.unix_ns - figures[0].unix_ns for each in figures] == [hour * 3600 * S for hour in range(0, 24, 4)]
    if name == "vda":
        assert figures[-1].disks["vda"]["disk_busy_ms"] == 20 * 3600 * 500


def test_tables_by_turns_go_over_midnight_together(tmp_path: Path) -> None:
    text = "Linux 6.1 (db) \t11/26/26 \t_x86_64_\t(4 CPU)\n\n"
    for before, at in (("23:59:58", "23:59:59"), ("23:59:59", "00:00:00"), ("00:00:00", "00:00:01")):
        text += f"{before}        CPU     %user     %nice\n{at}        all     50.00      0.00\n\n"
        text += f"{before}          DEV       tps     %util\n{at}          vda     10.00     50.00\n\n"
    (tmp_path / "sar.txt").write_text(text)
    figures = read_host_file(tmp_path / "sar.txt")
    assert [each.unix_ns - figures[0].unix_ns for each in figures] == [0, S, 2 * S]
    assert figures[-1].disks["vda"]["disk_busy_ms"] == 1000


def test_the_json_of_sadf() -> None:
    figures = read_host_file(SAMPLES / "sadf.json")
    assert len(figures) == 4 and figures[1].unix_ns - figures[0].unix_ns == S
    assert set(figures[-1].disks["vda"]) >= {"disk_bytes_read", "disk_bytes_written", "disk_busy_ms"}
    assert figures[-1].columns["host_cpu_count"] == CPUS
    assert figures[-1].columns["host_memory_available_bytes"]


def test_kilobytes_of_sadf_are_of_1024_bytes(tmp_path: Path) -> None:
    text = (SAMPLES / "sadf.json").read_text()
    host = json.loads(text)
    for each in host["sysstat"]["hosts"][0]["statistics"]:
        each["network"]["net-dev"] = [{"iface": "eth0", "rxkB": 1.0, "txkB": 3.0}]
    (tmp_path / "sadf.json").write_text(json.dumps(host))
    first, second = (each.columns for each in read_host_file(tmp_path / "sadf.json")[:2])
    grown = [(second[name] or 0) - (first[name] or 0) for name in ("host_network_bytes_in", "host_network_bytes_out")]
    assert grown == [1024, 3072]


def test_pages_of_a_node_exporter_one_behind_the_other() -> None:
    first, second = read_host_file(SAMPLES / "node_exporter.txt")
    assert second.unix_ns - first.unix_ns == S
    # User time of one CPU is all that grew: 0.9 s.
    assert (second.columns["host_busy_ns"] or 0) - (first.columns["host_busy_ns"] or 0) == pytest.approx(900 * MS)
    assert first.columns["host_cpu_count"] == CPUS
    assert first.columns["host_memory_total_bytes"] == 25_276_502_016
    assert first.columns["host_network_bytes_in"] == 5_569_859_649
    disk = second.disks["vda"]
    assert disk["disk_busy_ms"] == 2_131_930 and disk["disk_queue_time_ms"] == 26_100_133
    assert disk["disk_reads"] == 5_036_432 and disk["disk_in_flight"] == 0
    assert data_disk(second.disks, None) == "vda"


def test_waiting_for_the_disk_is_no_work_of_the_processor() -> None:
    seconds = {"user": 1.5, "iowait": 0.25, "idle": 9}
    page = "".join(f'node_cpu_seconds_total{{cpu="0",mode="{mode}"}} {each}\n' for mode, each in seconds.items())
    (figures,) = scrapes(f"node_time_seconds 1\n{page}".splitlines())
    assert (figures.columns["host_busy_ns"], figures.columns["host_iowait_ns"]) == (1500 * MS, 250 * MS)


@pytest.mark.parametrize(
    "page",
    [
        'node_time_seconds NaN\nnode_cpu_seconds_total{cpu="0"} 1\n',
        'node_time_seconds 1e400\nnode_disk_io_now{device="sda"} +Inf\n',
        'node_time_seconds 1\nnode_cpu_seconds_total{mode="user"} NaN\n',
        "node_time_seconds 1\nnode_network_receive_bytes_total{} 5\nnode_disk_io_now 5\n",
        "node_ node_ {}{}{}\n\x00\n",
    ],
)
def test_a_page_that_cannot_be_is_passed_over_or_says_less(page: str) -> None:
    for each in scrapes(page.splitlines()):
        assert all(value is None or abs(value) < 1e30 for value in each.columns.values())


def test_a_label_without_an_end_is_looked_through_once() -> None:
    """Each letter of it was once a beginning: 60 000 took 15 s, in which nothing else ran."""
    page = ["node_time_seconds 1", "node_disk_io_now{" + "a" * 300_000 + "} 5"]
    begun = time.process_time()
    assert len(list(scrapes(page))) == 1
    assert time.process_time() - begun < 2.0


def test_an_hour_of_iostat_is_read_in_a_second(tmp_path: Path) -> None:
    """Each line was once tried with every form of a time: an hour took 1.9 s, and what is late is not in the record."""
    head, *lines = (SAMPLES / "iostat.txt").read_text().splitlines()
    tables = "\n".join(lines[lines.index("11/26/26 18:03:56") + 1 : lines.index("11/26/26 18:03:57")])
    times = [f"11/26/26 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}" for second in range(3600)]
    (tmp_path / "hour.txt").write_text(head + "\n\n" + "".join(f"{at}\n{tables}\n" for at in times))
    begun = time.process_time()
    assert len(read_host_file(tmp_path / "hour.txt")) == 3600
    assert time.process_time() - begun < 1.0


@pytest.mark.parametrize("figure", ["nan", "-nan", "inf", "1e308", "99999999999999999999999999", "?"])
def test_a_figure_that_can_not_be_spoils_no_other(tmp_path: Path, figure: str) -> None:
    text = (SAMPLES / "iostat.txt").read_text()
    whole = read_host_file(SAMPLES / "iostat.txt")
    (tmp_path / "damaged.txt").write_text(text.replace(" 208.00 ", f" {figure} "))
    figures = read_host_file(tmp_path / "damaged.txt")
    assert [each.columns for each in figures] == [each.columns for each in whole]
    assert figures[-1].disks["vda"]["disk_writes"] == whole[-1].disks["vda"]["disk_writes"]
    assert figures[-1].disks["vda"]["disk_bytes_written"] == (12 + 304) * 1024


@pytest.mark.parametrize("report", ["7", '{"disk": 7}', '{"timestamp": "11/26/26 18:03:56", "disk": [7]}', "[[1]]"])
def test_a_report_that_can_not_be_spoils_no_other(tmp_path: Path, report: str) -> None:
    text = (SAMPLES / "sadf.json").read_text()
    begin = text.index("[", text.index('"statistics"')) + 1
    (tmp_path / "damaged.json").write_text(f"{text[:begin]}{report}, {text[begin:]}")
    whole = read_host_file(SAMPLES / "sadf.json")
    damaged = read_host_file(tmp_path / "damaged.json")
    assert damaged == whole


def test_a_report_of_another_day_spoils_no_other(tmp_path: Path) -> None:
    text = (SAMPLES / "iostat-cut.json").read_text()
    whole = read_host_file(SAMPLES / "iostat-cut.json")
    first = text.index("{", text.index('"statistics"'))
    late = '{"timestamp": "2099-01-01T00:00:00+0000", "avg-cpu": {"user": 1.0}}, '
    (tmp_path / "damaged.json").write_text(text[:first] + late + text[first:])
    assert read_host_file(tmp_path / "damaged.json")[:-1] == whole


def test_a_file_that_is_too_deep_is_of_no_tool(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text('{"sysstat": {"statistics": [{"disk": ' + "[" * 200_000)
    with pytest.raises(UsageError, match="of no tool that is known"):
        read_host_file(tmp_path / "deep")


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    """Such as what a shell makes of `<(ssh db1 iostat …)`: it is there once, and the run reads it twice."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(UsageError, match="is no file: it is read before a run and after it"):
            read_host_file(path)


@pytest.mark.parametrize("text", ["what is this\n", "{}", "Linux is a kernel\n"])
def test_a_file_of_no_tool_is_refused_or_has_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    try:
        assert read_host_file(tmp_path / "file") == []
    except UsageError as error:
        assert "of no tool that is known" in error.message and "iostat" in (error.hint or "")


def required(path: Path, text: str) -> None:
    path.write_text(text)
    FileHost(path=path, disk=None, ask_time=tuple).require()


_REPORT = '{"sysstat": {"hosts": [{"nodename": "db", "statistics": ['


@pytest.mark.parametrize(
    "text",
    [
        '"sysstat" [[[[',
        '{"sysstat" [[[[',
        _REPORT + "[[[[",
        _REPORT + '{"avg-cpu": {"user": 1.0}}',
        _REPORT + '{"timestamp": "2026-11-26T18:03:55+0000", "avg-cpu": {"load": 1.0}}',
        "Linux is a kernel\n",
        "node_load1 5\n",
        "node_time_seconds 5\nnode_load1 5\n",
    ],
)
def test_a_file_in_which_nothing_can_be_read_is_refused_before_the_run(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="tells nothing of a host that can be read"):
        required(tmp_path / "file", text)


@pytest.mark.parametrize("without", [r"(?m)^\d\d/.*$", r"%\w+|Device"])
def test_iostat_without_times_or_without_a_column_that_is_known_is_refused(tmp_path: Path, without: str) -> None:
    text = (SAMPLES / "iostat.txt").read_text()
    names = re.compile(without)
    with pytest.raises(UsageError, match="tells nothing of a host that can be read") as refused:
        required(tmp_path / "file", names.sub("x", text) if "Device" in without else names.sub("", text))
    assert "as iostat's with -t" in (refused.value.hint or "")


@pytest.mark.parametrize("name", ["iostat.txt", "sar.txt", "iostat-cut.json", "sadf.json"])
def test_a_tool_that_has_only_begun_is_taken(tmp_path: Path, name: str) -> None:
    """However far it has come; before its file says whose it is, it is empty."""
    lines = (SAMPLES / name).read_text().splitlines(keepends=True)
    for count in (0, *range(5 if name.endswith("json") else 1, len(lines), max(1, len(lines) // 25))):
        required(tmp_path / "file", "".join(lines[:count]))


def test_several_disks_have_to_be_told_apart(tmp_path: Path) -> None:
    text = (SAMPLES / "iostat.txt").read_text().replace("\nvda ", "\nsdb 1 1\nvda ")
    (tmp_path / "two.txt").write_text(text)
    with pytest.raises(UsageError, match="several disks: sdb, vda"):
        FileHost(path=tmp_path / "two.txt", disk=None, ask_time=tuple).require()
    with pytest.raises(UsageError, match="no disk nvme0n1"):
        FileHost(path=tmp_path / "two.txt", disk="nvme0n1", ask_time=tuple).require()
    FileHost(path=tmp_path / "two.txt", disk="vda", ask_time=tuple).require()


def file_watch(path: Path, *, ahead_ns: int) -> FileHost:
    """The host's clock is ahead of ours, and the server says so within 3 ms."""

    def ask_time() -> list[Exchange]:
        now_ns = time.time_ns()
        return [Exchange(now_ns, now_ns + ahead_ns + 2 * MS, now_ns + 6 * MS)]

    return FileHost(path=path, disk=None, ask_time=ask_time)


def test_a_clock_that_is_5_s_ahead_is_found_and_set_right(tmp_path: Path) -> None:
    """The file was written just now by a host whose clock is ahead."""
    now_s = time.time_ns() // S
    ahead_ns = 5 * S
    pages = "".join(
        f"node_time_seconds {now_s - 10 + second + ahead_ns // S}\n"
        f'node_cpu_seconds_total{{cpu="0",mode="user"}} {second}\n'
        for second in range(10)
    )
    (tmp_path / "page").write_text(pages)
    watch = file_watch(tmp_path / "page", ahead_ns=ahead_ns).watch()
    assert watch.read() is None
    now_ns = time.monotonic_ns()
    readings = watch.rest(since_ns=now_ns - 11 * S, until_ns=now_ns)
    error_ns = watch.facts()["clock_error_ns"]
    assert len(readings) == 10 and error_ns == pytest.approx(3.5 * MS + 11 * S * 50e-6, rel=1e-3)
    began_ns = now_ns - (time.time_ns() - (now_s - 10) * S)
    assert abs(readings[0].at_ns - began_ns) <= error_ns + 50 * MS


def test_a_file_that_begins_late_and_ends_early_says_so_and_a_half_report_is_left(tmp_path: Path) -> None:
    now_s = time.time_ns() // S
    pages = "".join(
        f'node_time_seconds {now_s - 10 + second}\nnode_memory_MemTotal_bytes 5\nnode_cpu_seconds_total{{cpu="0"}} 5\n'
        for second in range(3)
    )
    (tmp_path / "page").write_text(pages + f"node_time_seconds {now_s - 7}\nnode_memory_MemTotal_bytes 5\n")
    watch = FileHost(path=tmp_path / "page", disk=None, ask_time=tuple).watch()
    now_ns = time.monotonic_ns()
    before, *whole, behind = watch.rest(since_ns=now_ns - 20 * S, until_ns=now_ns)
    assert [each.gap for each in whole] == ["", "", ""] and all(each.columns["host_busy_ns"] for each in whole)
    assert "its first report is of" in before.gap and "behind the beginning" in before.gap
    assert "its last report is of" in behind.gap and "before the end of the run" in behind.gap
    assert (before.at_ns, behind.at_ns) == (now_ns - 20 * S, now_ns)


def test_a_file_that_says_nothing_of_the_run_says_so(tmp_path: Path) -> None:
    watch = file_watch(SAMPLES / "iostat.txt", ahead_ns=0).watch()
    now_ns = time.monotonic_ns()
    first, last = watch.rest(since_ns=now_ns - S, until_ns=now_ns)
    assert first.gap == last.gap and ("its last report is of" in first.gap or "its first report is of" in first.gap)
    (tmp_path / "empty").write_text("")
    empty = FileHost(path=tmp_path / "empty", disk=None, ask_time=tuple).watch()
    assert empty.rest(since_ns=now_ns - S, until_ns=now_ns)[0].gap == "the file holds no report"
