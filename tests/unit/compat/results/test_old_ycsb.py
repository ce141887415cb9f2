"""YCSB's summaries before 0.5.0, and go-ycsb's: numbers returned, milliseconds, and failures among the times."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from brimline.compat.results import import_files
from brimline.errors import UsageError
from brimline.record.imported import ImportedRun, Series

US, MS = 1_000, 1_000_000


def summary(lines: Sequence[str], *, gap: str = " ") -> str:
    overall = [f"[OVERALL],{gap}RunTime(ms), 4000.0", f"[OVERALL],{gap}Throughput(ops/sec), 200.0"]
    return (
        "\n".join(["YCSB Client 0.1", "Command line: -db com.yahoo.ycsb.db.MongoDbClient -t", *overall, *lines]) + "\n"
    )


def imported(directory: Path, text: str) -> ImportedRun:
    path = directory / "run.txt"
    path.write_text(text, encoding="utf-8")
    return import_files([path])


def read_of(run: ImportedRun) -> Series:
    return next(each for each in run.series if each.operation == "READ")


TIMES_US = ["[READ], AverageLatency(us), 1500.0", "[READ], MinLatency(us), 210", "[READ], MaxLatency(us), 7400"]
COUNTS = (300, 300, 120, 60, 10, 5, 0, 5)
BUCKETS = [*(f"[READ], {each}, {count}" for each, count in enumerate((*COUNTS, *[0] * 992))), "[READ], >1000, 0"]
PERCENTILES = {
    "ms": ["[READ], 95thPercentileLatency(ms), 3", "[READ], 99thPercentileLatency(ms), 5"],
    "us": ["[READ], 95thPercentileLatency(us), 3000", "[READ], 99thPercentileLatency(us), 5000"],
}


@pytest.mark.parametrize("unit", ["ms", "us"])
@pytest.mark.parametrize("buckets", [BUCKETS, BUCKETS[:-1], BUCKETS[: len(COUNTS)], []])
def test_numbers_returned_and_steps_of_a_millisecond(unit: str, buckets: list[str], tmp_path: Path) -> None:
    """0.1.4 to 0.5.0 with `measurementtype=histogram`: named ms, or µs that are whole ms, with buckets or without."""
    lines = ["[READ], Operations, 800", *TIMES_US, *PERCENTILES[unit], "[READ], Return=0, 790", "[READ], Return=-1, 10"]
    run = imported(tmp_path, summary([*lines, *buckets]))
    series = read_of(run)
    assert (series.samples, series.failed, series.misses, series.timed) == (800, 10, 0, 800)
    assert (run.operation_count, run.failed_count) == (800, 10)
    counted = {0.5: 1 * MS, 0.9: 2 * MS} if buckets else {}
    assert series.printed_percentiles_ns == {0.95: 3 * MS, 0.99: 5 * MS, **counted} and series.printed_step_ns == MS
    assert any("counted from its buckets" in note for note in run.notes) == bool(buckets)
    assert not any("add up" in note for note in run.notes)
    assert (series.mean_ns, series.min_ns, series.max_ns) == (1500 * US, 210 * US, 7400 * US)
    assert (series.times_from, run.times) == ("summary", [])
    assert [(each["label"], each["count"]) for each in run.errors] == [("Return=-1", 10)]
    assert any("failed calls like others" in note for note in run.notes)


def test_the_first_release_has_whole_milliseconds_and_no_blank_behind_overall(tmp_path: Path) -> None:
    lines = [
        "[READ], Operations, 800", "[READ], AverageLatency(ms), 1.5", "[READ], MinLatency(ms), 0",
        "[READ], MaxLatency(ms), 7", *PERCENTILES["ms"], "[READ], Return=0, 800", *BUCKETS,
    ]  # fmt: skip
    run = imported(tmp_path, summary(lines, gap=""))
    series = read_of(run)
    assert (series.samples, series.failed, series.mean_ns, series.max_ns) == (800, 0, 1.5 * MS, 7 * MS)
    assert series.printed_percentiles_ns == {0.5: 1 * MS, 0.9: 2 * MS, 0.95: 3 * MS, 0.99: 5 * MS}
    assert run.duration_ns == 4_000 * MS and run.printed.throughput_per_s == 200.0


@pytest.mark.parametrize(
    ("beyond", "counted"), [(0, {0.5: 1, 0.9: 2}), (80, {0.5: 1, 0.9: 2}), (90, {0.5: 1}), (700, {})]
)
def test_times_beyond_the_buckets_are_above_every_bucket(
    beyond: int, counted: dict[float, int], tmp_path: Path
) -> None:
    """A percentile that lies there is not known."""
    within = {0: (300, 300, 120, 80), 80: (300, 300, 120), 90: (300, 300, 110), 700: (100,)}[beyond]
    buckets = [f"[READ], {each}, {count}" for each, count in enumerate(within)]
    lines = ["[READ], Operations, 800", *TIMES_US, *PERCENTILES["ms"], "[READ], Return=0, 800", *buckets,
             f"[READ], >1000, {beyond}"]  # fmt: skip
    run = imported(tmp_path, summary(lines))
    expected = {share: value * MS for share, value in counted.items()}
    assert read_of(run).printed_percentiles_ns == {0.95: 3 * MS, 0.99: 5 * MS, **expected}
    assert not any("add up" in note for note in run.notes)


@pytest.mark.parametrize("unit", ["ms", "us"])
@pytest.mark.parametrize("missing", [1, -1, 100])
def test_buckets_that_do_not_add_up_are_told_and_left_out(unit: str, missing: int, tmp_path: Path) -> None:
    if unit == "ms":
        lines = [*PERCENTILES["ms"], f"[READ], 0, {800 - missing}"]
    else:
        lines = ["[READ], 95thPercentileLatency(us), 1001", "[READ], 99thPercentileLatency(us), 1001",
                 f"[READ], 100, {799 - missing}.0", "[READ], 1001, 1.0"]  # fmt: skip
    run = imported(tmp_path, summary(["[READ], Operations, 800", *TIMES_US, "[READ], Return=OK, 800", *lines]))
    assert (run.times, len(read_of(run).printed_percentiles_ns)) == ([], 2)
    assert any("don't add up to its operations" in note for note in run.notes)


@pytest.mark.parametrize("blank", [" ", ""])
def test_decimal_commas_are_read_and_told(blank: str, tmp_path: Path) -> None:
    mean = f"[READ],{blank}AverageLatency(us),{blank}1500,25"
    lines = ["[READ], Operations, 800", mean, *TIMES_US[1:], "[READ], Return=OK, 800"]
    text = summary(lines).replace("Throughput(ops/sec), 200.0", f"Throughput(ops/sec),{blank}200,0")
    run = imported(tmp_path, text)
    assert (read_of(run).mean_ns, run.printed.throughput_per_s) == (1_500_250, 200.0)
    assert any("decimal commas" in note for note in run.notes)
    assert not any("decimal commas" in note for note in imported(tmp_path, summary([lines[0], *TIMES_US])).notes)


def test_a_comma_that_may_separate_thousands_is_refused(tmp_path: Path) -> None:
    for name in ("AverageLatency(us)", "95thPercentileLatency(us)", "Operations"):
        with pytest.raises(UsageError, match="1,523 may be a thousand times as much"):
            imported(tmp_path, summary(["[READ], Operations, 800", f"[READ], {name}, 1,523"]))


@pytest.mark.parametrize("figure", ["1,500.25", "1,234,567", "1.500,25", "1,234,567.5", "12,34,567.5"])
@pytest.mark.parametrize("blank", [" ", ""])
def test_separators_of_thousands_are_refused(blank: str, figure: str, tmp_path: Path) -> None:
    for name in ("AverageLatency(us)", "95thPercentileLatency(us)", "Operations"):
        with pytest.raises(UsageError, match=re.escape(f"{name} can't be '{figure}'")):
            imported(tmp_path, summary(["[READ], Operations, 800", f"[READ],{blank}{name},{blank}{figure}"]))


def test_words_returned_are_counted_beside_the_operations(tmp_path: Path) -> None:
    """From 0.5.0 on: what failed is not among them."""
    lines = [
        "[READ], Operations, 790",
        *TIMES_US,
        *PERCENTILES["us"],
        "[READ], Return=OK, 790",
        "[READ], Return=ERROR, 10",
    ]
    series = read_of(imported(tmp_path, summary(lines)))
    assert (series.samples, series.failed, series.timed) == (800, 10, 790)


def test_buckets_of_a_microsecond_are_times(tmp_path: Path) -> None:
    """An HdrHistogram's buckets leave out the empty ones, and its percentiles are hardly ever whole milliseconds."""
    lines = [
        "[READ], Operations, 3", "[READ], AverageLatency(us), 700.0", "[READ], MinLatency(us), 100",
        "[READ], MaxLatency(us), 1001", "[READ], 95thPercentileLatency(us), 1001",
        "[READ], 99thPercentileLatency(us), 1001",
        "[READ], Return=OK, 3", "[READ], 100, 1.0", "[READ], 1000, 1.0", "[READ], 1001, 1.0",
    ]  # fmt: skip
    run = imported(tmp_path, summary(lines))
    assert read_of(run).times_from == "histogram"
    assert run.histograms["READ", "service"].buckets() == [(100 * US, 1), (1000 * US, 1), (1001 * US, 1)]


def test_a_series_of_means_has_no_buckets(tmp_path: Path) -> None:
    lines = ["[READ], Operations, 800", *TIMES_US, "[READ], Return=0, 800", "[READ], 0, 1523.7", "[READ], 1000, 1476.2"]
    run = imported(tmp_path, summary(lines))
    assert (read_of(run).samples, read_of(run).printed_step_ns, run.times) == (800, 0, [])


GO = """***************** properties *****************
"operationcount"="1000"
"threadcount"="4"
"target"="900"
**********************************************
READ   - Takes(s): 5.0, Count: 100, OPS: 20.1, Avg(us): 1, Min(us): 1, Max(us): 1, 50th(us): 1, 99th(us): 1
READ   - Takes(s): 9.9, Count: 9513, OPS: 960.1, Avg(us): 511, Min(us): 100, Max(us): 30431, 50th(us): 401, \
99.99th(us): 30000
READ_ERROR - Takes(s): 9.8, Count: 7, OPS: 0.7, Avg(us): 5, Min(us): 1, Max(us): 9, 50th(us): 401, 99th(us): 2300
READ_MODIFY_WRITE - Takes(s): 9.9, Count: 3, OPS: 0.3, Avg(us): 900, Min(us): 800, Max(us): 999, 99th(us): 999
UPDATE_ERROR - Takes(s): 9.9, Count: 487, OPS: 49.2, Avg(us): 911, Min(us): 200, Max(us): 40431, 99th(us): 5300
TOTAL  - Takes(s): 9.9, Count: 10010, OPS: 999.2, Avg(us): 511, Min(us): 100, Max(us): 30431, 99th(us): 2300
"""


@pytest.mark.parametrize(
    ("end", "duration_ms"),
    [("Run finished, takes 10.001s\n", 10_001), ("Run finished, takes 1m0.5s\n", 60_500), ("", 9_900)],
)
def test_go_ycsb(end: str, duration_ms: float, tmp_path: Path) -> None:
    """Each line is of the whole run until then: the last one counts. A run that was ended has its last time."""
    run = imported(tmp_path, GO + end)
    assert (run.tool, run.duration_ns) == ("go-ycsb", duration_ms * MS)
    assert (run.printed.threads, run.printed.target_ops_per_s, run.printed.phase) == (4, 900.0, "run")
    series = read_of(run)
    assert (series.samples, series.failed, series.timed, series.mean_ns) == (9520, 7, 9513, 511 * US)
    assert series.printed_percentiles_ns == {0.5: 401 * US, 0.9999: 30_000 * US}
    update = next(each for each in run.series if each.operation == "UPDATE")
    assert (update.samples, update.failed, update.timed) == (487, 487, 0)
    assert {each.operation for each in run.series} == {"READ", "READ-MODIFY-WRITE", "UPDATE"}


def test_a_load_by_go_ycsb(tmp_path: Path) -> None:
    text = '"dotransactions"="false"\nINSERT - Takes(s): 2.0, Count: 10, OPS: 5, Avg(us): 5, Min(us): 1, Max(us): 9\n'
    assert imported(tmp_path, text).printed.phase == "load"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Count: 9513", "Count: many", ":7: Operations can't be 'many'"),
        ("Takes(s): 9.8", "Takes(s): NaN", ":8: Takes(s) can't be 'NaN'"),
        (
            "Avg(us): 511, Min(us): 100, Max(us): 30431, 50th(us): 401, 99.99",
            "Avg(us): -5, 99.99",
            ":7: AverageLatency",
        ),
        ("takes 10.001s", "takes forever", ":12: its time can't be 'forever'"),
    ],
)
def test_damage_of_go_ycsb(old: str, new: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        imported(tmp_path, f"{GO}Run finished, takes 10.001s\n".replace(old, new))
    assert words in raised.value.message
