"""JMeter's results as they come from the field: dates, headers in the middle or none, and rows that don't fit.

`jmeter_dates.tsv` was recorded once: what `SimpleDateFormat` of Java 17 makes of a text in the forms JMeter tries, in
UTC, not lenient, in ms since 1970, or `-`. Where brimline reads it in another way the third column says how, and why.
"""

import csv
from pathlib import Path

import pytest

from brimline.compat.results import import_files
from brimline.compat.results.jtl_times import Times
from brimline.errors import UsageError
from tests.unit.compat.results.jtl import COLUMNS, START_MS, Sample, row, uniform, write, write_lines

MS = 1_000_000
with (Path(__file__).parent / "jmeter_dates.tsv").open(encoding="utf-8", newline="") as file:
    DATES = [tuple(each) for each in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]
SHORT = "timeStamp,elapsed,label,responseCode,success"


@pytest.mark.parametrize(("text", "jmeter", "brimline", "why"), DATES)
def test_dates_are_read_as_jmeter_reads_them(text: str, jmeter: str, brimline: str, why: str) -> None:
    assert (jmeter != brimline) == bool(why)
    try:
        read = str(Times(Path("r.jtl")).read([text], [2])[0])
    except UsageError as error:
        read = "-"
        assert "r.jtl:2: timeStamp can't be" in error.message
    assert read == brimline


def test_a_file_of_dates(tmp_path: Path) -> None:
    """Whole seconds, then some of them with milliseconds; the same minute, and another one."""
    for form, separator in (("2024/03/05 {}", "."), ("2024-03-05 {}", ","), ("03/05/2024 {}", "."), ("3/5/24 {}", ",")):
        times = ["10:00:00", f"10:00:00{separator}250", "10:00:59", f"10:01:00{separator}7"]
        lines = [f"{form.format(time)};{100 + each};A;200;true" for each, time in enumerate(times)]
        run = import_files([write_lines(tmp_path / "r.jtl", [SHORT.replace(",", ";"), *lines])])
        assert (run.started_unix_ns, run.duration_ns) == (None, (60_007 + 103) * MS), form


def test_dates_with_a_zone_are_moments(tmp_path: Path) -> None:
    lines = ["2024-03-05T10:00:00.250+0100,100,A,200,true", "2024-03-05T09:00:01Z,100,A,200,true"]
    run = import_files([write_lines(tmp_path / "r.jtl", [SHORT, *lines])])
    assert (run.started_unix_ns, run.duration_ns) == (1_709_629_200_250 * MS, 850 * MS)


@pytest.mark.parametrize("first", ["", "Z"])
def test_dates_with_a_zone_in_some_rows_only_are_an_error(first: str, tmp_path: Path) -> None:
    """Hours may lie between two of them that seem to be of one second."""
    second = "" if first else " +0100"
    lines = [f"2024-03-05 10:00:00{first},1,A,200,true", f"2024-03-05 10:00:01{second},1,A,200,true"]
    with pytest.raises(UsageError, match=r"r\.jtl:3: timeStamp has a zone in some rows and none in others"):
        import_files([write_lines(tmp_path / "r.jtl", [SHORT, *lines])])


@pytest.mark.parametrize("gap", ["||", ",", "", ",,,"])
def test_columns_without_a_name_are_passed_over(gap: str, tmp_path: Path) -> None:
    """As where the delimiter is doubled, or a spreadsheet filled every line up; the header may come again."""
    delimiter, end = (gap, "") if gap == "||" else (",", gap)
    names = delimiter.join(SHORT.split(",")) + end
    cells = [delimiter.join([str(START_MS + each), "5", "A", "200", "true"]) + end for each in range(4)]
    run = import_files([write_lines(tmp_path / "r.jtl", [names, *cells[:2], names, *cells[2:]])])
    assert (run.operation_count, run.duration_ns) == (4, 8 * MS)


@pytest.mark.parametrize(
    ("text", "unit", "change"),
    [
        ("1700000000", "seconds", "multiply by 1000"),
        ("1700000000.123", "seconds", "multiply by 1000"),
        ("1700000000000000", "microseconds", "divide by 1000"),
        ("1700000000000000000", "nanoseconds", "divide by 1 000 000"),
    ],
)
def test_times_in_other_units_are_told(text: str, unit: str, change: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"r\.jtl:2: timeStamp can't be '{text}': it looks like {unit}") as raised:
        import_files([write_lines(tmp_path / "r.jtl", [SHORT, f"{text},100,A,200,true"])])
    assert change in str(raised.value.hint)
    if text.isdecimal():
        (tmp_path / "r.xml").write_text(f'<testResults><sample t="1" ts="{text}" lb="a" s="true"/></testResults>')
        with pytest.raises(UsageError, match=f"can't be '{text}': it looks like {unit}"):
            import_files([tmp_path / "r.xml"])


def test_dates_and_numbers_in_one_file_are_refused(tmp_path: Path) -> None:
    lines = [f"{START_MS},1,A,200,true", "2024/03/05 10:00:00,1,A,200,true"]
    for number, ordered in enumerate((lines, lines[::-1])):
        with pytest.raises(UsageError, match=r"jtl:3: timeStamp is a date in some rows and a number in others"):
            import_files([write_lines(tmp_path / f"{number}.jtl", [SHORT, *ordered])])


def test_dates_without_a_zone_are_not_beside_known_moments(tmp_path: Path) -> None:
    """Several files as well: which of them came first can't be told."""
    date = write_lines(tmp_path / "date.jtl", [SHORT, "2024/03/05 10:00:00,1,A,200,true"])
    later = write_lines(tmp_path / "later.jtl", [SHORT, "2024/03/05 10:00:09,1,A,200,true"])
    known = write_lines(tmp_path / "known.jtl", [SHORT, f"{START_MS},1,A,200,true"])
    zone = write_lines(tmp_path / "zone.jtl", [SHORT, "2023-11-14T22:13:20Z,2,A,200,true"])
    (tmp_path / "x.xml").write_text(f'<testResults><sample t="1" ts="{START_MS}" lb="a" s="true"/></testResults>')
    for other in (known, zone, tmp_path / "x.xml"):
        for files in ([date, other], [other, date]):
            with pytest.raises(
                UsageError, match=rf"date\.jtl: timeStamp is a date without a zone, and in {other.name}"
            ):
                import_files(files)
    assert import_files([date, later]).started_unix_ns is None
    assert import_files([known, zone]).started_unix_ns == START_MS * 1_000_000


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_header_again_is_no_sample(mark: str, delimiter: str, tmp_path: Path) -> None:
    """JMeter that appends to a file writes it once more."""
    header, *rows = [line.replace(",", delimiter) for line in (COLUMNS, *(row(each) for each in uniform(4)))]
    again = [mark + header, *rows[:2], mark + header, mark + header, *rows[2:], mark + header]
    run = import_files([write_lines(tmp_path / "r.jtl", again)])
    assert (run.series[0].samples, run.series[0].mean_ns) == (4, 2.5 * MS)


@pytest.mark.parametrize(
    "header", [SHORT, COLUMNS.replace(",", ";"), COLUMNS.replace("label,responseCode", "responseCode,label")]
)
def test_another_header_is_told(header: str, tmp_path: Path) -> None:
    lines = [COLUMNS, row(Sample(START_MS, 1)), header, row(Sample(START_MS, 2))]
    with pytest.raises(UsageError, match=r"r\.jtl:3: another header begins here, with other columns"):
        import_files([write_lines(tmp_path / "r.jtl", lines)])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("start", [str(START_MS), "2024/03/05 10:00:00.250", '"03/05/24 10:00:00"'])
def test_results_without_a_header_are_named(start: str, delimiter: str, tmp_path: Path) -> None:
    """With the columns of JMeter's default the hint is the whole header."""
    sample = row(Sample(START_MS, 1)).replace(",", delimiter).replace(str(START_MS), start, 1)
    for line, names in (
        (sample, COLUMNS),
        (delimiter.join((start, "812", "Landing", "true", "1")), "timeStamp,elapsed,…"),
    ):
        with pytest.raises(UsageError, match="JMeter's results without the header that names the columns") as raised:
            import_files([write_lines(tmp_path / "r.jtl", [line, line])])
        assert raised.value.hint == f"put it first: {names.replace(',', delimiter)}"


def test_a_hint_fits_the_place(tmp_path: Path) -> None:
    """Too long, too short in the middle, and too short at the end are three different troubles."""
    good = [row(each) for each in uniform(3)]
    comma = good[1].replace("GET order", "GET order, all")
    cases = (
        ([*good, comma, good[0]], 5, "no quotes"),
        ([*good, comma], 5, "no quotes"),
        ([*good, good[0][:40], good[0]], 5, "two programs"),
        ([*good, good[0][:40]], 5, "delete the last line"),
    )
    for lines, line, hint in cases:
        with pytest.raises(UsageError, match=rf"r\.jtl:{line}: the row has") as raised:
            import_files([write_lines(tmp_path / "r.jtl", [COLUMNS, *lines])])
        assert hint in str(raised.value.hint)


def test_a_last_row_that_is_cut_within_its_last_cell_is_told(tmp_path: Path) -> None:
    for success, hint in (("tru", "delete the last line"), ("", "delete the last line"), ("yes", "true or false")):
        lines = ["timeStamp,elapsed,label,success", "1700000000000,100,A,true", f"1700000000500,100,A,{success}"]
        with pytest.raises(UsageError, match=rf"r\.jtl:3: success can't be '{success}'") as raised:
            import_files([write_lines(tmp_path / "r.jtl", lines)])
        assert hint in str(raised.value.hint)


@pytest.mark.parametrize(
    ("content", "what", "hint"),
    [
        (b"\x1f\x8b\x08\x00rest", "it is compressed with gzip", "zcat < r.jtl > unpacked-r.jtl"),
        (b"PK\x03\x04rest", "it is a ZIP archive", "unzip r.jtl"),
        (b"\x28\xb5\x2f\xfdrest", "it is compressed with zstd", "zstdcat < r.jtl > unpacked-r.jtl"),
        (COLUMNS.encode("utf-16"), "it is text in UTF-16", "iconv -f UTF-16 -t UTF-8 r.jtl"),
        (COLUMNS.encode("utf-16-le"), "it is text in UTF-16", "iconv -f UTF-16LE -t UTF-8 r.jtl"),
        (COLUMNS.encode("utf-16-be"), "it is text in UTF-16", "iconv -f UTF-16BE -t UTF-8 r.jtl"),
    ],
)
def test_packed_files_and_other_encodings_are_named(content: bytes, what: str, hint: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jtl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=what) as raised:
        import_files([path])
    assert hint in str(raised.value.hint)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("run 1.jtl.gz", "zcat < 'run 1.jtl.gz' > 'run 1.jtl'"),
        ("-x.jtl", "zcat < -x.jtl > unpacked--x.jtl"),
        ("run.READ.hdr", "zcat < run.READ.hdr > unpacked-run.READ.hdr"),
    ],
)
def test_what_unpacks_a_file_does_so_whatever_its_name_is(name: str, hint: str, tmp_path: Path) -> None:
    """gunzip refuses a file that isn't named .gz. The name tells the operation of a histogram log."""
    path = tmp_path / name
    path.write_bytes(b"\x1f\x8b\x08\x00rest")
    with pytest.raises(UsageError) as raised:
        import_files([path])
    assert raised.value.hint == f"unpack it first: {hint}"


BLANK = ["", "  ", ",,,,", "\t", " ; ; "]


@pytest.mark.parametrize("blank", [[""], BLANK], ids=["one", "several"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "marked"])
def test_blank_lines_before_the_header_are_passed_over(blank: list[str], end: str, mark: str, tmp_path: Path) -> None:
    good = f"{START_MS},5,a,true"
    path = tmp_path / "r.jtl"

    def written(*lines: str) -> Path:
        path.write_bytes((mark + end.join([*blank, "timeStamp,elapsed,label,success", *lines, ""])).encode())
        return path

    assert import_files([written(good, good)]).operation_count == 2
    for lines, words in (
        ((good, f"{START_MS},x,a,true"), "elapsed can't be 'x'"),
        ((good, "1,2"), "the row has 2 of 4 columns"),
    ):
        with pytest.raises(UsageError) as raised:
            import_files([written(*lines)])
        assert raised.value.message == f"r.jtl:{len(blank) + 3}: {words}"
    path.write_bytes((mark + end.join([*blank, good, ""])).encode())
    with pytest.raises(UsageError, match=f"r.jtl:{len(blank) + 1}: it looks like JMeter's results without the header"):
        import_files([path])


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_blank_lines_before_xml_are_passed_over(mark: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.jtl"
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<testResults version="1.2">\n{}</testResults>\n'
    sample = f'<sample t="5" ts="{START_MS}" lb="a" s="true"/>\n'
    path.write_bytes(mark + b"\n \r\n" + text.format(sample).encode())
    assert import_files([path]).operation_count == 1
    path.write_bytes(mark + b"\n \r\n" + text.format(sample + "<sample t='1'/>").encode())
    with pytest.raises(UsageError, match=r"r\.jtl:6: the sample has no attribute"):
        import_files([path])


@pytest.mark.parametrize(("header", "rows"), [(",", ";"), (";", ","), ("\t", ";"), (",", "\t"), ("|", ",")])
def test_rows_with_another_delimiter_than_the_header_are_told(header: str, rows: str, tmp_path: Path) -> None:
    names = header.join(["timeStamp", "elapsed", "label", "success"])
    good, other = (each.join([str(START_MS), "5", "a", "true"]) for each in (header, rows))
    shown = {"\t": "a tab"}
    for lines, line in (([names, other, other], 2), ([names, good, other], 3)):
        with pytest.raises(UsageError, match=f"r.jtl:{line}: the row has") as raised:
            import_files([write_lines(tmp_path / "r.jtl", lines)])
        separators = [shown.get(each, repr(each)) for each in (rows, header)]
        assert "separated by {}, those of the header by {}".format(*separators) in str(raised.value.hint)


def test_utf_8_of_other_alphabets_is_read(tmp_path: Path) -> None:
    run = import_files([write(tmp_path / "r.jtl", [Sample(START_MS, 5, "Запрос 订单")])])
    assert run.series[0].operation == "Запрос 订单"
