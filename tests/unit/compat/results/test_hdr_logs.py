"""Histogram logs of every version, encoding and form, as YCSB, cassandra-stress and NoSQLBench write them.

`recorded_histograms.tsv` was recorded once: what HdrHistogram's releases for Java encoded (1.2.1: V0, 2.0.3 and
2.1.4: V1, 2.2.2: V2; deflated, those of 2.2.2 also not), and the values and counts that they held.
"""

import base64
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from brimline import _native
from brimline.compat.results import format_of, import_files
from brimline.errors import UsageError
from brimline.record.imported import ImportedRun
from tests.support.old_histograms import encoded, zigzag

US, MS, S = 1_000, 1_000_000, 1_000_000_000
START_S = 1_700_000_000.087
COUNTS = {120: 1, 250: 900, 910: 98, 40_100: 1, 5_000_000: 3}
ENCODINGS = [(version, compressed, size) for version, sizes in (("V0", (2, 4, 8)), ("V1", (2, 4, 8)), ("V2", (1,)))
             for compressed in (True, False) for size in sizes]  # fmt: skip
with (Path(__file__).parent / "recorded_histograms.tsv").open() as file:
    RECORDED = [tuple(line.rstrip("\n").split("\t")) for line in file][1:]
LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
PAYLOAD = encoded(COUNTS, version="V2", compressed=True)
OTHER = encoded({250: 10}, version="V1", compressed=True)


def imported(directory: Path, lines: Sequence[str], name: str = "run.hdr") -> ImportedRun:
    path = directory / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return import_files([path])


def interval(start_s: float, length_s: float, payload: str, *, tag: str = "") -> str:
    return f"{f'Tag={tag},' if tag else ''}{start_s:.3f},{length_s:.3f},5.000,{payload}"


@pytest.mark.parametrize(("version", "compressed", "size"), ENCODINGS)
@pytest.mark.parametrize(("digits", "lowest"), [(3, 1), (2, 1), (4, 1), (5, 1), (3, 100), (0, 1)])
def test_every_encoding_is_read(version: str, compressed: bool, size: int, digits: int, lowest: int) -> None:
    """A value comes out as the lowest one that its histogram doesn't tell from it."""
    text = encoded(COUNTS, version=version, compressed=compressed, counter_bytes=size, digits=digits, lowest=lowest)
    histogram = _native.Histogram.decode(text)
    assert histogram.count() == sum(COUNTS.values())
    assert histogram.max() == pytest.approx(5_000_000, rel=max(1.1 * 10.0**-digits, 1e-3) if digits else 1)
    if digits >= 3 and lowest == 1:
        assert [(value, count) for value, count in histogram.buckets() if value < 2000] == [
            (120, 1),
            (250, 900),
            (910, 98),
        ]


@pytest.mark.parametrize(("library", "kind", "values", "text"), RECORDED)
def test_what_every_release_encoded_is_read(library: str, kind: str, values: str, text: str) -> None:
    """Counters of two, four and eight bytes, one to three digits, units above one."""
    expected = _native.Histogram()
    for pair in values.split():
        value, count = map(int, pair.split(":"))
        expected.record(value, count)
    assert _native.Histogram.decode(text).buckets() == expected.buckets(), (library, kind)


def test_counts_at_the_edges() -> None:
    for version, size, most in (("V1", 2, 2**15 - 1), ("V0", 4, 2**31 - 1), ("V1", 8, 2**50), ("V2", 1, 2**50)):
        text = encoded({7: most}, version=version, compressed=True, counter_bytes=size)
        assert _native.Histogram.decode(text).count() == most
    for version, counts in (("V1", {7: -1}), ("V0", {7: -1}), ("V1", {7: 2**51}), ("V2", {7: 2**62})):
        with pytest.raises(ValueError, match="its counts are out of range"):
            _native.Histogram.decode(encoded(counts, version=version, compressed=False))
    with pytest.raises(ValueError, match="its values are out of range"):
        _native.Histogram.decode(encoded({3_600_000_000_001 * 2: 1}, version="V2", compressed=True))


@pytest.mark.parametrize(("version", "compressed", "size"), ENCODINGS)
def test_every_cut_and_flipped_byte_is_one_error_or_a_histogram(version: str, compressed: bool, size: int) -> None:
    whole = base64.b64decode(encoded({3: 2, 90: 4}, version=version, compressed=compressed, counter_bytes=size))
    damaged = [whole[:end] for end in range(len(whole))]
    damaged += [
        bytes([*whole[:at], whole[at] ^ 1 << bit, *whole[at + 1 :]]) for at in range(len(whole)) for bit in range(8)
    ]
    for each in damaged:
        try:
            _native.Histogram.decode(base64.b64encode(each).decode()).count()
        except ValueError as error:
            assert str(error).startswith("histogram: ")


def test_runs_of_zeros_that_overflow() -> None:
    for numbers in ((-(2**62), -(2**62), -(2**62), -(2**62), 1), (-(2**63), -(2**63) + 1, 0), (-(2**40), 5)):
        payload = b"".join(map(zigzag, numbers))
        plain = struct.pack(">iiiiqqd", 0x1C849313, len(payload), 0, 3, 1, 1 << 42, 1.0) + payload
        with pytest.raises(ValueError, match=r"out of range|cut short"):
            _native.Histogram.decode(base64.b64encode(plain).decode())


def test_a_histogram_of_fractions_is_refused() -> None:
    with pytest.raises(ValueError, match="don't begin as a histogram of whole numbers"):
        _native.Histogram.decode(base64.b64encode(bytes.fromhex("0c72124f00000001ff")).decode())


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3"])
@pytest.mark.parametrize(("encoding", "compressed"), [("V0", True), ("V1", True), ("V2", True), ("V1", False)])
def test_ycsb_of_every_release(version: str, encoding: str, compressed: bool, tmp_path: Path) -> None:
    payload = encoded(COUNTS, version=encoding, compressed=compressed)
    lines = [
        "#[Logging for: READ]", f"#[Histogram log format version {version}]",
        f"#[StartTime: {START_S} (seconds since epoch), Tue Nov 14 22:13:20 UTC 2023]", LEGEND,
        interval(0.0, 10.001, payload), interval(10.001, 10.0, OTHER),
    ]  # fmt: skip
    run = imported(tmp_path, lines)
    (series,) = run.series
    assert (run.tool, series.operation, series.clock, run.value_unit_ns) == ("YCSB", "READ", "service", US)
    assert series.samples == sum(COUNTS.values()) + 10 and (series.max_ns or 0) == pytest.approx(5 * S, rel=1e-3)
    assert (run.duration_ns, run.started_unix_ns) == (20_001 * MS, 1_700_000_000_087 * MS)
    assert [(each.start_ns, each.end_ns, each.samples) for each in run.rows] == [
        (0, 10_001 * MS, 1003),
        (10_001 * MS, 20_001 * MS, 10),
    ]
    assert {each.text[:5] for each in run.times} == {"HISTF"}, "a record has one encoding"


def test_times_are_the_runs_whatever_they_count_from(tmp_path: Path) -> None:
    """Relative to the start, to a base, or since the epoch: with the start, without it, and with neither."""
    start, base = f"#[StartTime: {START_S} (seconds since epoch)]", f"#[BaseTime: {START_S} (seconds since epoch)]"
    relative = [interval(0.5, 1.0, OTHER), interval(1.5, 1.0, OTHER)]
    absolute = [interval(START_S + 0.5, 1.0, OTHER), interval(START_S + 1.5, 1.0, OTHER)]
    known = 1_700_000_000_087 * MS
    cases = (
        ([start], relative, 500 * MS, known), ([start, base], relative, 500 * MS, known),
        ([start], absolute, 500 * MS, known), ([base], relative, 0, known + 500 * MS),
        ([], absolute, 0, known + 500 * MS), ([], relative, 500 * MS, None),
    )  # fmt: skip
    for comments, rows, first_ns, started in cases:
        run = imported(tmp_path, ["#[Logging for: READ]", *comments, *rows])
        assert [(each.start_ns, each.end_ns) for each in run.times] == [
            (pytest.approx(first_ns, abs=1000), pytest.approx(first_ns + S, abs=1000)),
            (pytest.approx(first_ns + S, abs=1000), pytest.approx(first_ns + 2 * S, abs=1000)),
        ]
        assert run.started_unix_ns == started


@pytest.mark.parametrize(
    "comments",
    [
        ["#Logging op latencies for Cassandra Stress", "#[Histogram log format version 1.3]",
         f"#[BaseTime: {START_S} (seconds since epoch)]", f"#[StartTime: {START_S} (seconds since epoch)]", LEGEND],
        ["#[Histogram log format version 1.2]", "#Logging op latencies for Cassandra Stress", LEGEND],
        [LEGEND],
        [],
    ],
)  # fmt: skip
def test_cassandra_stress(comments: list[str], tmp_path: Path) -> None:
    """One log of all operations, in ns: service, response and waiting times; without any comment by its tags."""
    ns = encoded({250_000: 90, 1_000_000: 10}, version="V2", compressed=True)
    rows = [interval(second, 1.0, ns, tag=f"{name}-{clock}") for second in (0, 1) for name in ("READ", "WRITE")
            for clock in ("st", "rt", "wt")]  # fmt: skip
    run = imported(tmp_path, [*comments, *rows])
    assert (run.tool, run.value_unit_ns, run.duration_ns) == ("cassandra-stress", 1, 2 * S)
    assert {(each.operation, each.clock, each.samples) for each in run.series} == {
        (name, clock, 200) for name in ("READ", "WRITE") for clock in ("service", "response")
    }
    assert run.operation_count == 400 and not run.closed_loop
    assert run.series[0].mean_ns == pytest.approx(325_000, rel=1e-3)
    assert sum(each.samples for each in run.rows) == 400


@pytest.mark.parametrize(
    ("comment", "tags", "hint"),
    [
        ("#Logging op latencies for Cassandra Stress", ("READ-wt", "WRITE-wt"), "service (-st) or response times"),
        ("#logging histograms for session x", ("main.tries", "main.resultset-size"), "the timers of operations"),
    ],
)
def test_a_log_without_a_time_of_operations_says_so(
    comment: str, tags: Sequence[str], hint: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="it holds no time of an operation: ") as raised:
        imported(tmp_path, [comment, *(interval(0.0, 1.0, PAYLOAD, tag=tag) for tag in tags)])
    assert tags[-1] in raised.value.message and hint in (raised.value.hint or "")


def test_failures_that_have_a_log_of_their_own_are_counted(tmp_path: Path) -> None:
    """Beside the log of what succeeded, and alone; their times are left apart."""
    for name in ("READ", "READ-FAILED"):
        text = [f"#[Logging for: {name}]", interval(0.0, 1.0, PAYLOAD if name == "READ" else OTHER)]
        (tmp_path / f"run.{name}.hdr").write_text("\n".join(text) + "\n")
    failures = tmp_path / "run.READ-FAILED.hdr"
    (both,) = import_files([tmp_path / "run.READ.hdr", failures]).series
    assert (both.operation, both.samples, both.failed, both.timed) == ("READ", 1_013, 10, 1_003)
    (alone,) = import_files([failures]).series
    assert (alone.operation, alone.samples, alone.failed, alone.timed) == ("READ", 10, 10, 0)


def test_nosqlbench(tmp_path: Path) -> None:
    """Cycles are the operations; what is measured within them stands beside, and counts of rows are no times."""
    ns = encoded({250_000: 90, 1_000_000: 10}, version="V2", compressed=True)
    empty = encoded({}, version="V2", compressed=True)
    comments = ["#logging histograms for session scenario_1", "#[Histogram log format version 1.3]",
                f"#[StartTime: {START_S} (seconds since epoch), Tue Nov 14 22:13:20 UTC 2023]", LEGEND]  # fmt: skip
    tags = ("main.cycles.servicetime", "main.result", "main.bind", "main.tries", "main.resultset-size")
    rows = [interval(0.003 + each / 2, 0.5, ns, tag=tag) for each in (0, 1) for tag in tags]
    run = imported(tmp_path, [*comments, *rows, interval(0.003, 0.5, empty, tag="main.delay")])
    assert (run.tool, run.value_unit_ns) == ("NoSQLBench", 1)
    assert {(each.operation, each.counted, each.samples) for each in run.series} == {
        ("main.cycles", True, 200), ("main.result", False, 200), ("main.bind", False, 200),
    }  # fmt: skip
    assert run.operation_count == 200 and sum(each.samples for each in run.rows) == 200
    only = imported(tmp_path, [*comments, interval(0.003, 0.5, ns, tag="main.result")])
    assert only.operation_count == 100, "where there is nothing else it is counted"
    both = imported(
        tmp_path, [*comments, *(interval(0, 1, ns, tag=f"main_cycles_{each}time") for each in ("service", "response"))]
    )
    assert {each.clock for each in both.series} == {"service", "response"} and both.operation_count == 100


def test_a_log_of_ycsb_without_comments_is_known_by_its_name(tmp_path: Path) -> None:
    for name, operation, clock in (
        ("READ.hdr", "READ", "service"), ("run.Intended-UPDATE.hdr", "UPDATE", "response"),
        ("x-READ-MODIFY-WRITE.hdr", "READ-MODIFY-WRITE", "service"),
    ):  # fmt: skip
        path = tmp_path / name
        path.write_text(interval(0.0, 1.0, PAYLOAD) + "\n")
        assert format_of(path) == "hdr"
        if operation != "READ-MODIFY-WRITE":  # which alone is no call
            (series,) = import_files([path]).series
            assert (series.operation, series.clock) == (operation, clock)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([LEGEND, interval(0, 1, PAYLOAD)], "so that its unit isn't known"),
        ([interval(0, 1, PAYLOAD, tag="a"), interval(0, 1, PAYLOAD)], "so that its unit isn't known"),
        (["#[Values are nanoseconds; tags are operation.clock]", LEGEND, interval(0, 1, PAYLOAD, tag="read.service")],
         "the log of a record of brimline's own"),
        (["#[Logging for: READ]", LEGEND, interval(0, 1, "HISTwrong")], ":3: '0.000,1.000,5.000,HISTwrong'"),
        (["#[Logging for: READ]", "0.0,inf,5.0," + PAYLOAD], ":2: '0.0,inf,5.0,"),
        (["#[Logging for: READ]", "0.0,-1,5.0," + PAYLOAD], ":2: '0.0,-1,5.0,"),
        (["#[Logging for: READ]", f"0.0,{'9' * 400},5.0,{PAYLOAD}"], ":2: '0.0,9999"),
        (["#[Logging for: READ]", "1.2.3,1,5.0," + PAYLOAD], ":2: '1.2.3,1"),
        (["#[Logging for: READ]", "#[StartTime: 1e308 (s)]", interval(0, 1, PAYLOAD)], "StartTime can't be '1e308'"),
        (["#[Logging for: READ]", "#[StartTime: 1.2.3 (s)]", interval(0, 1, PAYLOAD)], "StartTime can't be '1.2.3'"),
        (["#[Logging for: READ]", interval(0, 1, PAYLOAD), interval(1_700_000_000, 1, PAYLOAD)], "years apart"),
        (["#[Logging for: READ]", interval(0, 1, encoded({}, version="V2", compressed=True))], "RunTime(ms)"),
    ],
)  # fmt: skip
def test_damage_is_one_error(lines: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        imported(tmp_path, lines)
    assert words in raised.value.message


def of_ycsb(operation: str, start_s: float) -> list[str]:
    head = [f"#[Logging for: {operation}]", "#[Histogram log format version 1.3]", f"#[StartTime: {start_s} (s)]"]
    return [*head, LEGEND, interval(start_s, 1, PAYLOAD), interval(start_s + 1, 1, PAYLOAD)]


def test_a_second_log_in_one_file_is_told(tmp_path: Path) -> None:
    for lines, line, words in (
        ([*of_ycsb("READ", START_S), *of_ycsb("UPDATE", START_S)], 7, "a second log begins here, of UPDATE; the first"),
        ([*of_ycsb("READ", START_S), *of_ycsb("READ", START_S + 60)], 9, "a second run begins here"),
        ([*of_ycsb("READ", START_S), *of_ycsb("READ", START_S)], 11, "overlaps another one"),
        ([*of_ycsb("READ", START_S), *of_ycsb("READ", START_S)[-2:]], 7, "overlaps another one"),
        (["#[Logging for: READ]", interval(0, 2, PAYLOAD), interval(1, 0.9, PAYLOAD)], 3, "overlaps another one"),
        ([interval(each, 1, PAYLOAD, tag="READ-st") for each in (0, 1, 0)], 3, "overlaps another one"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=rf"run\.hdr:{line}: .*{words}"):
            imported(tmp_path, lines)


def test_intervals_that_meet_roughly_or_in_any_order_are_one_run(tmp_path: Path) -> None:
    head = of_ycsb("READ", START_S)[:4]
    rows = [interval(*each, PAYLOAD) for each in ((0, 1.004), (1, 1.1), (2, 1), (9, 0), (9, 1))]
    count = 5 * sum(COUNTS.values())
    for lines in ([*head, *rows], [*head, *rows[::-1]], [*head, rows[0], *head, *rows[1:]]):
        assert imported(tmp_path, lines).operation_count == count


def test_a_cut_last_line_is_told(tmp_path: Path) -> None:
    for rows, is_last in (([interval(0, 1, PAYLOAD), interval(1, 1, PAYLOAD[:30])], True),
                          ([interval(0, 1, PAYLOAD[:30]), interval(1, 1, PAYLOAD)], False)):  # fmt: skip
        with pytest.raises(UsageError, match="is no interval") as raised:
            imported(tmp_path, ["#[Logging for: READ]", *rows])
        assert (raised.value.hint is not None) == is_last


def test_logs_of_two_tools_are_not_one_run(tmp_path: Path) -> None:
    first, second = tmp_path / "READ.hdr", tmp_path / "stress.hdr"
    first.write_text("#[Logging for: READ]\n" + interval(0, 1, PAYLOAD) + "\n")
    second.write_text(interval(0, 1, PAYLOAD, tag="READ-st") + "\n")
    with pytest.raises(UsageError, match="it is of cassandra-stress, the log before it of YCSB"):
        import_files([first, second])
    text = tmp_path / "run.txt"
    text.write_text("[OVERALL], RunTime(ms), 1\n")
    with pytest.raises(UsageError, match=r"run\.txt: it is no file of cassandra-stress"):
        import_files([second, text])


@pytest.mark.parametrize(
    ("said", "is_told"), [("1.3", False), ("1.0", False), ("1.4", True), ("2.0", True), ("", True)]
)
@pytest.mark.parametrize("tool", ["YCSB", "cassandra-stress"])
def test_a_version_that_is_not_known_is_read_and_told(said: str, is_told: bool, tool: str, tmp_path: Path) -> None:
    title, tag = (
        ("#[Logging for: READ]", "") if tool == "YCSB" else ("#Logging op latencies for Cassandra Stress", "READ-st")
    )
    run = imported(
        tmp_path, [title, f"#[Histogram log format version {said}]", LEGEND, interval(0, 1, PAYLOAD, tag=tag)]
    )
    assert (run.tool, run.operation_count) == (tool, sum(COUNTS.values()))
    assert any("a version of its format that is not known" in note for note in run.notes) == is_told


def test_tags_in_a_log_of_ycsb_are_told(tmp_path: Path) -> None:
    lines = ["#[Logging for: READ]", LEGEND, interval(0, 1, PAYLOAD), interval(0, 1, OTHER, tag="other")]
    run = imported(tmp_path, lines)
    assert run.operation_count == sum(COUNTS.values())
    assert any("have tags, which YCSB does not write" in note for note in run.notes)
    assert not any("have tags" in note for note in imported(tmp_path, lines[:-1]).notes)


@pytest.mark.parametrize(
    "titles", [["#[Logging for: READ]", "#[StartTime: 1700000000,087 (seconds since epoch)]", LEGEND], []]
)
def test_decimal_commas_in_a_log_are_read_and_told(titles: list[str], tmp_path: Path) -> None:
    """As releases of HdrHistogram wrote them that took the machine's way of writing numbers."""
    rows = [f"{start},{length},5,000,{PAYLOAD}" for start, length in (("0,500", "1,000"), ("1,500", "1,000"))]
    run = imported(tmp_path, [*titles, *rows], name="run.READ.hdr")
    assert [(each.start_ns, each.end_ns) for each in run.rows] == [(500 * MS, 1500 * MS), (1500 * MS, 2500 * MS)]
    assert run.started_unix_ns == (1_700_000_000_087 * MS if titles else None)
    assert any("decimal commas" in note for note in run.notes)


def test_a_run_lasts_from_its_first_interval_to_its_last(tmp_path: Path) -> None:
    """Also where its log was begun a while before."""
    ns = encoded({250_000: 90}, version="V2", compressed=True)
    rows = [interval(second, 1.0, ns, tag="READ-rt") for second in (5, 6, 7)]
    assert imported(tmp_path, [LEGEND, *rows]).duration_ns == 3 * S
