"""DOCX of a report, opened again by python-docx: headings, tables, pictures, and the styles of a house."""

import struct
import zlib
from pathlib import Path

import pytest

from brimline.errors import UsageError
from brimline.report.view import Cell, Chart, Code, Column, Fact, Facts, Heading, Report, Section, Table, Text, Verdict
from brimline.study.document.numbering import numbered
from brimline.study.writing.docx import column_shares, write_docx

docx = pytest.importorskip("docx")
CHART = Chart(id="curve", title="A curve", caption="", summary="", figure={})
TABLE = Table(
    columns=[Column(label="Records", leading=True), Column(label="Time")],
    rows=[[Cell(text="1 000"), Cell(text="1.50 ms")], [Cell(text="2 000"), Cell(text="a \x0b byte")]],
    title="Times",
)


def report(language: str = "en") -> Report:
    facts = Facts(title="Facts", facts=[Fact(label="Size", value="1 GB", note="at most")])
    code = Code(text="brimline run", title="Command")
    blocks = [Heading(text="A part"), Text(text="Words."), TABLE, CHART, TABLE, code, facts]
    verdict = Verdict(tone="pass", caption="2 of 2 measured", figure="", unit="", interval="", sentence="See below.")
    return Report(
        kind="study",
        kind_title="Test report",
        name="Mine",
        subtitle="brimline",
        verdict=verdict,
        sections=numbered(
            [
                Section(id="empty", title="Nothing", short="", blocks=[]),
                Section(id="results", title="Results", short="Results", blocks=blocks),
            ]
        ),
        footer="brimline",
        language=language,
    )


def test_a_document_has_headings_tables_and_numbers(tmp_path: Path) -> None:
    write_docx(report(), tmp_path / "mine.docx", {})
    made = docx.Document(str(tmp_path / "mine.docx"))
    headings = [each.text for each in made.paragraphs if each.style.name.startswith("Heading")]
    assert headings == ["1 Results", "1.1 A part", "Command", "Facts"]
    captions = [each.text for each in made.paragraphs if each.style.name == "Caption"]
    assert captions == ["Table 1-1: Times", "Table 1-2: Times"]
    assert [[cell.text for cell in row.cells] for row in made.tables[0].rows] == [
        ["Records", "Time"],
        ["1 000", "1.50 ms"],
        ["2 000", "a � byte"],
    ]
    assert "Figure 1-1: A curve: this figure is in the HTML document" in [each.text for each in made.paragraphs]


def test_marks_between_chinese_words_are_full_width(tmp_path: Path) -> None:
    write_docx(report("zh"), tmp_path / "mine.docx", {})
    texts = [each.text for each in docx.Document(str(tmp_path / "mine.docx")).paragraphs]
    assert "Size：1 GB（at most）" in texts
    assert any(text.endswith("A curve：此图见 HTML 文档") for text in texts), texts


def test_a_house_template_gives_its_styles(tmp_path: Path) -> None:
    house = docx.Document()
    house.styles["Heading 1"].font.name = "Georgia"
    house.add_paragraph("Our house")
    house.save(str(tmp_path / "house.docx"))
    write_docx(report("zh"), tmp_path / "mine.docx", {}, template=tmp_path / "house.docx")
    made = docx.Document(str(tmp_path / "mine.docx"))
    assert made.paragraphs[0].text == "Our house"
    assert made.styles["Heading 1"].font.name == "Georgia"
    assert "Microsoft YaHei" in made.styles["Normal"].element.xml, "Chinese has a font that has it"


def test_a_page_is_a4_and_columns_are_as_wide_as_what_stands_in_them(tmp_path: Path) -> None:
    write_docx(report(), tmp_path / "mine.docx", {})
    made = docx.Document(str(tmp_path / "mine.docx"))
    (section,) = made.sections
    assert (round(section.page_width.mm), round(section.page_height.mm)) == (210, 297)
    widths = [column.width for column in made.tables[0].columns]
    assert sum(widths) == pytest.approx(section.page_width - section.left_margin - section.right_margin, rel=0.01)
    short, long = column_shares([["a", "含义"], ["b", "从该处起查询变慢，同时集合超出缓存"]], letters=100)
    assert long > 5 * short
    option, _ = column_shares([["--wiredTigerCacheSizeGB", "x"], ["y", "z"]], letters=40)
    assert option > 0.5, "a word that can't be broken has room"


def test_a_high_picture_fits_the_page(tmp_path: Path) -> None:
    lines = zlib.compress(b"\0\0" * 300)
    parts = ((b"IHDR", struct.pack(">IIBBBBB", 1, 300, 8, 0, 0, 0, 0)), (b"IDAT", lines), (b"IEND", b""))
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    (tmp_path / "high.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(packed))
    write_docx(report(), tmp_path / "mine.docx", {f"1-1-{CHART.id}": tmp_path / "high.png"})
    (shape,) = docx.Document(str(tmp_path / "mine.docx")).inline_shapes
    assert shape.height.cm == pytest.approx(22, abs=0.1)
    assert shape.width < shape.height / 200


def test_what_is_no_document_is_refused(tmp_path: Path) -> None:
    (tmp_path / "house.docx").write_text("no")
    with pytest.raises(UsageError, match="is no DOCX"):
        write_docx(report(), tmp_path / "mine.docx", {}, template=tmp_path / "house.docx")
