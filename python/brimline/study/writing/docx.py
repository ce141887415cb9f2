"""Owns a report as DOCX: headings, tables and pictures in the styles of Word, or of a house template."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from brimline.errors import UsageError
from brimline.record.layout import unwritable
from brimline.report.language import said_in
from brimline.report.view import Chart, Code, Drawing, Fact, Facts, Heading, Report, Section, Table, Text


@dataclass(frozen=True, slots=True)
class _Marks:
    """What stands between words of a language."""

    colon: str = ": "
    aside: str = " ({})"


_PAGE_MM = (210, 297)
_MARGIN_MM = 20
_PICTURE_CM = (16.5, 22.0)
"""The most that a picture is wide and high."""
_COLUMNS_PORTRAIT = 9
_FONTS = {"zh": "Microsoft YaHei"}
_MARKS_OF = {"zh": _Marks(colon="：", aside="（{}）")}
_WORDS = re.compile(r"(?:[!-~\u00a0-\u024f]|(?<=\d)[ \u2009\u202f](?=[\dA-Za-zµ%]))+|\S")
"""What a line is better not broken in: words of Latin letters, figures with units, single characters of others."""
_PADDING, _WORD_MAX, _TEXT_MAX = 5, 24, 60
"""Letters of a cell's borders, and of the longest word and text that a column is made wide for."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_TABLE_STYLE, _LIST_STYLE = "Light Grid Accent 1", "List Bullet"


def write_docx(report: Report, path: Path, pictures: Mapping[str, Path], *, template: Path | None = None) -> None:
    """Writes the file. `pictures` are PNG by id of a chart or drawing: what has none says where it is.

    `template`: a document whose styles count, and whose own text stays before the report. Raises UsageError where
    python-docx is not installed or the template can't be read, and RecordError.
    """
    docx = _library()
    try:
        document = docx.Document(None if template is None else str(template))
    except Exception as error:
        raise UsageError(
            f"{template} is no DOCX that can be used: {error}", hint="save it from Word as .docx"
        ) from error
    if template is None:
        _lay_out(document)
    _Writer(document, report, pictures).write()
    try:
        document.save(str(path))
    except OSError as error:
        raise unwritable(path, error) from error


def _lay_out(document: Any) -> None:
    """A4, as what is printed: the library's own page is a letter."""
    from docx.shared import Mm

    for section in document.sections:
        section.page_width, section.page_height = map(Mm, _PAGE_MM)
        section.left_margin = section.right_margin = section.top_margin = section.bottom_margin = Mm(_MARGIN_MM)


def require_docx() -> None:
    """Raises UsageError where python-docx is not installed."""
    _library()


def _library() -> Any:
    try:
        import docx
    except ImportError:
        raise UsageError(
            "DOCX needs python-docx, which is not installed",
            hint="make documents, or pip install 'brimline[documents]'",
        ) from None
    return docx


class _Writer:
    """Puts the parts of a report into a document of python-docx."""

    def __init__(self, document: Any, report: Report, pictures: Mapping[str, Path]) -> None:
        self._document, self._report, self._pictures = document, report, pictures
        self._styles = {style.name for style in document.styles}
        self._marks = _MARKS_OF.get(report.language, _Marks())

    def write(self) -> None:
        self._set_language()
        report = self._report
        self._document.core_properties.title = _plain(report.name)
        self._document.core_properties.author = "brimline"
        self._paragraph(report.kind_title, style="Subtitle")
        self._paragraph(report.name, style="Title")
        self._paragraph(report.subtitle)
        verdict = report.verdict
        self._paragraph(" · ".join([verdict.caption, *(badge.text for badge in verdict.badges)]))
        self._facts(verdict.facts)
        self._paragraph(verdict.sentence)
        self._document.add_page_break()
        for section in report.sections:
            self._section(section)
        self._paragraph(report.footer)

    def _set_language(self) -> None:
        """Chinese needs a font that has it, beside that of Latin letters."""
        font = _FONTS.get(self._report.language)
        if font is None:
            return
        from docx.oxml.ns import qn

        for name in ("Normal", "Title", "Subtitle", "Heading 1", "Heading 2", "Heading 3", "Caption"):
            if name in self._styles:
                fonts = self._document.styles[name].element.get_or_add_rPr().get_or_add_rFonts()
                fonts.set(qn("w:eastAsia"), font)

    def _section(self, section: Section) -> None:
        self._document.add_heading(_plain(section.title), level=1)
        if section.intro:
            self._paragraph(section.intro)
        for block in section.blocks:
            match block:
                case Heading():
                    self._document.add_heading(_plain(block.text), level=2)
                case Table():
                    self._table(block)
                case Chart() | Drawing():
                    self._picture(block)
                case Facts():
                    if block.title:
                        self._document.add_heading(_plain(block.title), level=3)
                    self._facts(block.facts)
                case Code():
                    if block.title:
                        self._document.add_heading(_plain(block.title), level=3)
                    self._code(block.text)
                case Text():
                    self._paragraph(block.text)

    def _picture(self, block: Chart | Drawing) -> None:
        from docx.shared import Cm

        picture = self._pictures.get(block.id)
        if picture is None:
            where = said_in(self._report.language, "this figure is in the HTML document")
            self._paragraph(f"{block.title}{self._marks.colon}{where}")
            return
        width, height = map(Cm, _PICTURE_CM)
        drawn = self._document.add_picture(str(picture), width=width)
        if drawn.height > height:
            drawn.width, drawn.height = round(drawn.width * height / drawn.height), height
        self._document.paragraphs[-1].paragraph_format.keep_with_next = True
        self._paragraph(block.title, style="Caption")

    def _table(self, table: Table) -> None:
        from docx.shared import Pt

        if table.title:
            self._paragraph(table.title, style="Caption").paragraph_format.keep_with_next = True
        made = self._document.add_table(rows=1, cols=len(table.columns))
        made.style = _TABLE_STYLE if _TABLE_STYLE in self._styles else made.style
        size, letters = (Pt(9), 100) if len(table.columns) <= _COLUMNS_PORTRAIT else (Pt(7), 130)
        texts = [list(table.headings), *([cell.text for cell in row] for row in table.rows)]
        widths = [round(self._width * share) for share in column_shares(texts, letters=letters)]
        columns = [(column.numeric, width) for column, width in zip(table.columns, widths, strict=True)]
        made.autofit = False
        for column, width in zip(made.columns, widths, strict=True):
            column.width = width
        _fill(made.rows[0], texts[0], columns, size, bold=True)
        _repeat_on_each_page(made.rows[0])
        for number, row in enumerate(texts[1:]):
            _fill(made.add_row(), row, columns, size, bold=number in table.emphasised)
        if table.caption:
            self._paragraph(table.caption)

    @property
    def _width(self) -> int:
        """Of a line of text, in the library's units."""
        section = self._document.sections[-1]
        return int(section.page_width - section.left_margin - section.right_margin)

    def _facts(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            paragraph = self._paragraph("", style=_LIST_STYLE)
            if fact.label:
                paragraph.add_run(f"{_plain(fact.label)}{self._marks.colon}").bold = True
            paragraph.add_run(_plain(fact.value))
            if fact.note:
                paragraph.add_run(self._marks.aside.format(_plain(fact.note)))

    def _code(self, text: str) -> None:
        from docx.shared import Pt

        paragraph = self._paragraph("")
        run = paragraph.add_run(_CONTROL.sub(" ", text))
        run.font.name, run.font.size = "Consolas", Pt(8)

    def _paragraph(self, text: str, *, style: str | None = None) -> Any:
        return self._document.add_paragraph(_plain(text), style=style if style in self._styles else None)


def column_shares(rows: Sequence[Sequence[str]], *, letters: int) -> list[float]:
    """Of a line of so many letters, by what stands in each column: room for its longest word, the rest by its text."""
    columns = list(zip(*rows, strict=True))
    words = [
        min(_WORD_MAX, max(cell_len(word) for text in each for word in _WORDS.findall(text) or [""]))
        for each in columns
    ]
    texts = [min(_TEXT_MAX, max(map(cell_len, each))) for each in columns]
    least = [word + _PADDING for word in words]
    more = [max(0, text - word) for text, word in zip(texts, words, strict=True)]
    room = max(0, letters - sum(least))
    widths = [own + room * each / max(1, sum(more)) for own, each in zip(least, more, strict=True)]
    return [each / sum(widths) for each in widths]


def _fill(row: Any, texts: Sequence[str], columns: Sequence[tuple[bool, int]], size: Any, *, bold: bool) -> None:
    """`columns`: of each whether it has numbers, and its width."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    for cell, text, (is_number, width) in zip(row.cells, texts, columns, strict=True):
        cell.width = width
        paragraph = cell.paragraphs[0]
        run = paragraph.add_run(_plain(text))
        run.font.size, run.bold = size, bold
        if is_number:
            paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT


def _repeat_on_each_page(row: Any) -> None:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    mark = OxmlElement("w:tblHeader")
    mark.set(qn("w:val"), "true")
    row._tr.get_or_add_trPr().append(mark)


def _plain(text: str) -> str:
    """What XML can hold."""
    return _CONTROL.sub(" ", text)
