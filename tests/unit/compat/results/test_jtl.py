"""JMeter's results: known answers, every delimiter and form, and every kind of damage."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from brimline.compat.results import format_of, import_files, jtl_xml
from brimline.compat.results import tally as tally_module
from brimline.errors import UsageError
from tests.unit.compat.results.jtl import COLUMNS, START_MS, Sample, row, uniform, write, write_lines

MS = 1_000_000


def test_known_answers(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jtl", uniform())
    run = import_files([path])
    (series,) = run.series
    histogram = run.histograms["GET order", "service"]
    assert (series.samples, series.failed, series.times_from) == (1000, 0, "samples")
    assert (series.mean_ns, series.min_ns, series.max_ns) == (500.5 * MS, MS, 1000 * MS)
    assert [histogram.quantile(q) // MS for q in (0.5, 0.9, 0.95, 0.99, 1.0)] == [500, 900, 950, 990, 1000]
    # From the first start to the last end: 10 ms before the first … 10 s + 1 s.
    assert run.duration_ns == (10_000 + 1000 - 10) * MS
    assert run.started_unix_ns == (START_MS + 10) * MS
    assert (series.bytes_in, series.bytes_out) == (1_000_000, 200_000)
    assert sum(each.samples for each in run.rows) == 1000
    assert {each.active_threads for each in run.active} == {5}
    assert run.closed_loop and run.tool == "JMeter"


def test_percentiles_are_of_the_whole_run_in_any_order(tmp_path: Path) -> None:
    """30 000 slow samples, then 20 000 fast ones: the last 20 000 alone would say that the median is 10 ms."""
    samples = [Sample(START_MS + each, 400 if each < 30_000 else 10) for each in range(50_000)]
    for name, ordered in (("forward", samples), ("backward", samples[::-1])):
        run = import_files([write(tmp_path / f"{name}.jtl", ordered)])
        histogram = run.histograms["GET order", "service"]
        assert [histogram.quantile(q) // MS for q in (0.4, 0.5, 0.99)] == [10, 400, 400], name
        assert run.series[0].mean_ns == (30_000 * 400 + 20_000 * 10) / 50_000 * MS


def test_failures_by_label_and_code(tmp_path: Path) -> None:
    samples = [
        *uniform(100),
        *(Sample(START_MS, 5, "POST order", success=False, message="clock moved, backwards") for _ in range(3)),
        Sample(START_MS, 5, "GET order", success=False, message="two\nlines"),
    ]
    run = import_files([write(tmp_path / "r.jtl", samples)])
    assert {each.operation: (each.samples, each.failed) for each in run.series} == {
        "GET order": (101, 1),
        "POST order": (3, 3),
    }
    assert [(each["operation"], each["code"], each["count"]) for each in run.errors] == [
        ("POST order", 500, 3),
        ("GET order", 500, 1),
    ]
    assert run.errors[0]["example"] == "clock moved, backwards"


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_every_delimiter(tmp_path: Path, delimiter: str) -> None:
    run = import_files([write(tmp_path / "r.jtl", uniform(100), delimiter=delimiter)])
    assert (run.series[0].samples, run.series[0].mean_ns) == (100, 50.5 * MS)


@pytest.mark.parametrize(
    "text", ["2023/11/14 22:13:20.250", "2023-11-14 22:13:20.250", "11/14/23 22:13:20.250", "2023-11-14 22:13:20"]
)
def test_formatted_times(tmp_path: Path, text: str) -> None:
    """Their zone isn't told, so that there is no start; what lies between them is known."""
    rows = [row(Sample(0, 1000)).replace("0,", f"{text},", 1), row(Sample(0, 2000)).replace("0,", f"{text},", 1)]
    run = import_files([write_lines(tmp_path / "r.jtl", [COLUMNS, *rows])])
    assert (run.started_unix_ns, run.duration_ns) == (None, 2000 * MS)


def test_columns_in_any_order_and_number(tmp_path: Path) -> None:
    rows = [f"true,a,{START_MS + each},{each}" for each in range(1, 11)]
    run = import_files([write_lines(tmp_path / "r.jtl", ["success,label,timeStamp,elapsed", *rows])])
    (series,) = run.series
    assert (series.samples, series.mean_ns, series.bytes_in, run.active) == (10, 5.5 * MS, None, [])


def test_rows_that_stand_for_several_samples(tmp_path: Path) -> None:
    """`elapsed` is the sum of their times: the mean is exact, percentiles are not known."""
    lines = [
        "timeStamp,elapsed,label,success,SampleCount,ErrorCount",
        f"{START_MS},600,a,true,3,0",
        f"{START_MS + 1000},1400,a,true,7,2",
        f"{START_MS},40,b,true,1,0",
    ]
    run = import_files([write_lines(tmp_path / "r.jtl", lines)])
    first, second = run.series
    assert (first.samples, first.failed, first.mean_ns, first.times_from) == (10, 2, 200 * MS, "groups")
    assert (first.min_ns, first.max_ns) == (None, None)
    assert (second.samples, second.times_from) == (1, "samples")
    assert list(run.histograms) == [("b", "service")]
    assert any("several samples" in note for note in run.notes)


def test_several_generators_add_up(tmp_path: Path) -> None:
    one = write(tmp_path / "1.jtl", uniform(500))
    other = write(tmp_path / "2.jtl", [each._replace(elapsed_ms=each.elapsed_ms + 500) for each in uniform(500)])
    run = import_files([one, other])
    histogram = run.histograms["GET order", "service"]
    assert run.series[0].samples == 1000
    assert [histogram.quantile(q) // MS for q in (0.5, 0.99)] == [500, 990]
    assert max(each.active_threads for each in run.active) == 10


def test_long_runs_get_longer_intervals_and_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally_module, "CELLS_MAX", 8)
    samples = [Sample(START_MS + 500 * each, each % 100 + 1, f"label {each % 2}") for each in range(200)]
    run = import_files([write(tmp_path / "r.jtl", samples)])
    assert len({each.start_ns for each in run.rows}) <= 4
    assert sum(each.samples for each in run.rows) == sum(each.histogram.count() for each in run.times) == 200
    spans = sorted({(each.start_ns, each.end_ns) for each in run.rows})
    assert {(each.start_ns, each.end_ns): each.active_threads for each in run.active} == dict.fromkeys(spans, 5)
    assert spans[0][0] == 0 and spans[-1][1] == run.duration_ns
    assert all(one[1] == other[0] for one, other in itertools.pairwise(spans))


def test_more_labels_than_can_be_told_apart(tmp_path: Path) -> None:
    samples = [Sample(START_MS + each, 5, f"GET /order/{each}") for each in range(600)]
    run = import_files([write(tmp_path / "r.jtl", samples)])
    assert len(run.series) == tally_module.OPERATIONS_MAX
    assert run.series[-1].operation == "(other labels)" and run.series[-1].samples == 101
    assert sum(each.samples for each in run.series) == 600


def xml_text(samples: str, *, head: str = "") -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}<testResults version="1.2">\n{samples}</testResults>\n'


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("block_bytes", [1, 7, 1 << 18])
def test_control_characters_in_xml_are_replaced(
    version: str, block_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JMeter writes them as references, which only XML 1.1 allows; wherever the file is cut for reading."""
    monkeypatch.setattr(jtl_xml, "_BLOCK_BYTES", block_bytes)
    text = xml_text(f'<sample t="5" ts="{START_MS}" s="true" lb="a&#x1;b&#27;&#x9;&amp;&#228;"/>\n')
    (tmp_path / "r.xml").write_text(text.replace('"1.0"', f'"{version}"'))
    run = import_files([tmp_path / "r.xml"])
    assert [each.operation for each in run.series] == ["a\ufffdb\ufffd\t&ä"]


@pytest.mark.parametrize("encoding", ["UTF-8", "GBK", "GB18030", "Shift_JIS", "Big5", "windows-1252", "ISO-8859-1"])
@pytest.mark.parametrize("block_bytes", [200, 201, 1 << 18])
def test_xml_in_the_encoding_that_it_declares(
    encoding: str, block_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jtl_xml, "_BLOCK_BYTES", block_bytes)
    label = "Größe" if encoding in ("windows-1252", "ISO-8859-1") else "中文中文"
    text = xml_text(f'<sample t="5" ts="{START_MS}" s="true" lb="{label}"/>\n' * 20)
    (tmp_path / "r.xml").write_bytes(text.replace("UTF-8", encoding).encode(encoding))
    run = import_files([tmp_path / "r.xml"])
    assert [(each.operation, each.samples) for each in run.series] == [(label, 20)]


def test_xml(tmp_path: Path) -> None:
    outer = "".join(
        f'<httpSample t="{each}" ts="{START_MS + 10 * each}" s="true" lb="GET &lt;id&gt;" rc="200" rm="OK" by="1000" '
        'sby="200" na="5"><httpSample t="1" ts="1" s="false" lb="image" rc="404" rm="no"/>'
        "<responseData>x</responseData></httpSample>\n"
        for each in range(1, 1001)
    )
    failed = f'<sample t="7" ts="{START_MS}" s="false" lb="login" rc="500" rm="broken" by="1" sby="1" na="6"/>\n'
    path = tmp_path / "r.xml"
    path.write_text(xml_text(outer + failed))
    run = import_files([path])
    assert {each.operation: (each.samples, each.failed) for each in run.series} == {
        "GET <id>": (1000, 0),
        "login": (1, 1),
    }
    assert run.histograms["GET <id>", "service"].quantile(0.99) == 990 * MS
    assert run.series[0].mean_ns == 500.5 * MS and run.series[0].bytes_in == 1_000_000
    assert run.errors[0]["example"] == "broken"


def lines_with(bad: str, *, after: int = 3) -> list[str]:
    return [COLUMNS, *(row(each) for each in uniform(after)), bad, row(Sample(START_MS, 1))]


GOOD = row(Sample(START_MS, 12))
DAMAGE: list[tuple[str, Callable[[], bytes], str]] = [
    ("empty", lambda: b"", "r.jtl: the file is empty"),
    ("header only", lambda: COLUMNS.encode(), "r.jtl: the file has a header and no sample"),
    ("no header", lambda: f"{GOOD}\n{GOOD}\n".encode(), "r.jtl:1: it looks like JMeter's results without the header"),
    ("column missing", lambda: COLUMNS.replace("success,", "").encode(), "r.jtl:1: the header lacks success"),
    ("column twice", lambda: (COLUMNS + ",elapsed").encode(), "r.jtl:1: the header names elapsed twice"),
    ("cut short", lambda: "\n".join(lines_with(GOOD[:30])).encode(), "r.jtl:5: the row has 4 of 17 columns"),
    ("too long", lambda: "\n".join(lines_with(GOOD + ",1")).encode(), "r.jtl:5: the row has 18 of 17 columns"),
    ("elapsed", lambda: "\n".join(lines_with(GOOD.replace(",12,", ",x,", 1))).encode(), "r.jtl:5: elapsed can't be"),
    ("negative", lambda: "\n".join(lines_with(GOOD.replace(",12,", ",-1,", 1))).encode(), "5: elapsed can't be '-1'"),
    ("huge", lambda: "\n".join(lines_with(GOOD.replace(",12,", f",{10**30},", 1))).encode(), "5: elapsed can't"),
    ("success", lambda: "\n".join(lines_with(GOOD.replace("true", "yes"))).encode(), "r.jtl:5: success can't be 'yes'"),
    ("time", lambda: "\n".join(lines_with("now" + GOOD[13:])).encode(), "r.jtl:5: timeStamp can't be 'now'"),
    ("first time", lambda: f"{COLUMNS}\nnow{GOOD[13:]}".encode(), "r.jtl:2: timeStamp can't be 'now'"),
    ("open quote", lambda: "\n".join([*lines_with('"' + GOOD), *[GOOD] * 2000]).encode(), "larger than field limit"),
    ("binary", lambda: COLUMNS.encode() + b"\n\x00\x01\x02", "this is no text"),
    ("binary later", lambda: "\n".join([COLUMNS, *[GOOD] * 2000]).encode() + b"\n\x00", "r.jtl:2002: this is no text"),
    ("giant line", lambda: COLUMNS.encode() + b"\n" + b"x" * (3 << 20), "r.jtl:2: the line is longer than 1048576"),
    ("other text", lambda: b"hello\nworld\n", "r.jtl: it holds no results that can be read"),
    ("other XML", lambda: b"\n<suite></suite>", "r.jtl:2: <suite> is not what JMeter's results begin with"),
    ("a page", lambda: b"\n<!DOCTYPE HTML>\n<html></html>", "r.jtl: it is a page of HTML"),
    ("a pointer", lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "pointer of Git LFS"),
    ("torn XML", lambda: xml_text("<sample t='1'").encode()[:-16], "not valid XML"),
    ("XML number", lambda: xml_text(f'<sample t="x" ts="{START_MS}" lb="a" s="true"/>').encode(), "3: t (elapsed) can"),
    ("XML time", lambda: xml_text(f'<sample t="1" ts="{2**53}" lb="a" s="true"/>').encode(), "r.jtl:3: ts (timeStamp)"),
    ("XML elapsed", lambda: xml_text(f'<sample t="{2**53}" ts="{START_MS}" lb="a" s="true"/>').encode(), "(elapsed)"),
    ("XML count", lambda: xml_text(f'<sample t="1" ts="1" lb="a" s="true" sc="{2**52}"/>').encode(), "3: sc (Sample"),
    ("bytes", lambda: "\n".join(lines_with(GOOD.replace(",1000,", f",{2**52},"))).encode(), "5: bytes can't be"),
    ("XML encoding", lambda: xml_text("").replace("UTF-8", "X-Y").encode(), "r.jtl:1: its encoding X-Y is not known"),
    ("XML codec", lambda: xml_text("").replace("UTF-8", "base64").encode(), "its encoding base64 is not known"),
    ("XML attribute", lambda: xml_text('<sample ts="1" lb="a" s="true"/>').encode(), "the sample has no attribute t"),
    ("no sample", lambda: xml_text("").encode(), "r.jtl: the file holds no sample"),
    (
        "entities",
        lambda: xml_text("", head='<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]>').encode(),
        "r.jtl:2: a document type is not allowed",
    ),
    ("endless tag", lambda: xml_text("<sample " + "a" * (20 << 20)).encode(), "a tag or attribute without end"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "words"), DAMAGE, ids=[each[0] for each in DAMAGE])
def test_damage_is_one_error_with_its_line(name: str, content: Callable[[], bytes], words: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jtl"
    path.write_bytes(content())
    with pytest.raises(UsageError) as error:
        import_files([path])
    assert words in error.value.message


def test_counts_that_contradict_each_other(tmp_path: Path) -> None:
    lines = ["timeStamp,elapsed,label,success,SampleCount,ErrorCount", f"{START_MS},600,a,true,3,4"]
    with pytest.raises(UsageError, match=r"r\.jtl:2: ErrorCount is above SampleCount"):
        import_files([write_lines(tmp_path / "r.jtl", lines)])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"can't read .*: no such file or directory"):
        import_files([tmp_path / "r.jtl"])


def test_the_same_file_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jtl", uniform(10))
    with pytest.raises(UsageError, match="given twice"):
        import_files([path, path])


def test_what_a_file_is_shows_at_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "r"
    for text, form in (
        (COLUMNS, "jtl-csv"),
        ("\ufeff" + COLUMNS.replace(",", ";"), "jtl-csv"),
        ('<?xml version="1.0"?>', "jtl-xml"),
        ("#[Logging for: READ]", "hdr"),
        ("[OVERALL], RunTime(ms), 1", "ycsb"),
    ):
        path.write_text(text, encoding="utf-8")
        assert format_of(path) == form
