"""Owns a report as DOCX: headings, tables and pictures in the styles of Word, or of a house template."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brimline.errors import UsageError
from brimline.record.layout import unwritable
from brimline.report.language import said_in
from brimline.report.view import Chart, Code, Drawing, Fact, Facts, Heading, Report, Section, Table, Text


@dataclass(frozen=True, slots=True)
class _Marks:
    """What stands between words of a language."""

    colon: str = ": "
    comma: str = ", "
    aside: str = " ({})"


_PICTURE_CM = 16.5
_COLUMNS_PORTRAIT = 9
_FONTS = {"zh": "Microsoft YaHei"}
_MARKS_OF = {"zh": _Marks(colon="：", comma="、", aside="（{}）")}
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
    _Writer(document, report, pictures).write()
    try:
        document.save(str(path))
    except OSError as error:
        raise unwritable(path, error) from error


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
        self._document.add_picture(str(picture), width=Cm(_PICTURE_CM))
        self._document.paragraphs[-1].paragraph_format.keep_with_next = True
        keys = self._marks.comma.join(key.name for key in block.legend) if isinstance(block, Chart) else ""
        self._paragraph(f"{block.title}{self._marks.aside.format(keys) if keys else ''}", style="Caption")

    def _table(self, table: Table) -> None:
        from docx.shared import Pt

        if table.title:
            self._paragraph(table.title, style="Caption").paragraph_format.keep_with_next = True
        made = self._document.add_table(rows=1, cols=len(table.columns))
        made.style = _TABLE_STYLE if _TABLE_STYLE in self._styles else made.style
        size = Pt(9 if len(table.columns) <= _COLUMNS_PORTRAIT else 7)
        _fill(made.rows[0], table.headings, [column.numeric for column in table.columns], size, bold=True)
        _repeat_on_each_page(made.rows[0])
        for number, row in enumerate(table.rows):
            cells = [cell.text for cell in row]
            numeric = [column.numeric for column in table.columns]
            _fill(made.add_row(), cells, numeric, size, bold=number in table.emphasised)
        if table.caption:
            self._paragraph(table.caption)

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


def _fill(row: Any, texts: Sequence[str], numeric: Sequence[bool], size: Any, *, bold: bool) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    for cell, text, is_number in zip(row.cells, texts, numeric, strict=True):
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
