"""Owns writing a study's document in the formats that are wanted, and saying which could not be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from shutil import rmtree
from typing import Literal, TypeAlias, get_args

import jinja2

from brimline.errors import BrimlineError, TargetError, UsageError
from brimline.record.files import make_directory, replace_text
from brimline.report.html import write_html
from brimline.report.markdown import render_markdown
from brimline.report.view import Chart, Drawing, Report
from brimline.study.writing.browser import find_chromium
from brimline.study.writing.chromium import Chromium

Format: TypeAlias = Literal["html", "md", "docx", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
_PICTURES = "figures"
_FOOTER = (
    '<div style="width:100%;font-size:8px;color:#5f6b7a;padding:0 12mm;display:flex;justify-content:space-between">'
    '<span>{name}</span><span><span class="pageNumber"></span> / <span class="totalPages"></span></span></div>'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The files of a document. `error`: why a PDF that was wanted is not among them."""

    files: Sequence[Path]
    error: BrimlineError | None = None


def write_document(
    report: Report, directory: Path, formats: Sequence[Format], *, template: Path | None, say: Callable[[str], None]
) -> Written:
    """Writes `document.*` into `directory`.

    Charts in Markdown and DOCX are pictures that Chromium makes of the HTML, and so is the PDF: without one that works
    there is no PDF, the others have their tables, and `say` is told. `template` is a house template: Jinja for HTML or
    Markdown (`.j2`), or a `.docx` with styles. Raises UsageError for one that can't be used, and RecordError.
    """
    page = directory / "document.html"
    try:
        write_html(report, page, _house(template, ".html.j2"))
    except jinja2.TemplateError as error:
        raise UsageError(f"{template} can't be used: {error}", hint="it is a Jinja template; see the guide") from error
    written, pictures = [page], dict[str, Path]()
    failed: BrimlineError | None = None
    if set(formats) - {"html"}:
        try:
            written += _by_chromium(report, page, "pdf" in formats, pictures)
        except (UsageError, TargetError) as error:
            say(f"{error.message}: no PDF is written, and charts are in the HTML alone")
            failed = error if "pdf" in formats else None
    if "md" in formats:
        path = directory / "document.md"
        beside = {name: str(each.relative_to(directory)) for name, each in pictures.items()}
        replace_text(path, _markdown(report, beside, _house(template, ".md.j2")))
        written.append(path)
    if "docx" in formats:
        from brimline.study.writing.docx import write_docx  # an optional library

        path = directory / "document.docx"
        write_docx(report, path, pictures, template=_house(template, ".docx"))
        written.append(path)
    if failed is not None:
        failed.message = f"document.pdf is not written: {failed.message}"
    return Written(files=written, error=failed)


def _house(template: Path | None, ending: str) -> Path | None:
    return template if template is not None and template.name.endswith(ending) else None


def require_template(template: Path) -> None:
    """Raises UsageError for what is no template, before anything is measured."""
    if not template.name.endswith((".html.j2", ".md.j2", ".docx")):
        raise UsageError(
            f"--template {template}: its name says nothing of its kind", hint="end it with .html.j2, .md.j2 or .docx"
        )
    if not template.is_file():
        raise UsageError(f"--template {template}: there is no such file", hint="give the path of a template")


def _by_chromium(report: Report, page: Path, wants_pdf: bool, pictures: dict[str, Path]) -> list[Path]:
    """Pictures of all charts and drawings, by their ids, and the PDF. Raises UsageError and TargetError."""
    if (executable := find_chromium()) is None:
        raise UsageError("there is no Chromium here", hint="install Chromium: make browser")
    folder, found = (
        page.parent / _PICTURES,
        [block for section in report.sections for block in section.blocks if isinstance(block, Chart | Drawing)],
    )
    selectors = [_whole(each) for each in found]
    with Chromium(executable) as browser:
        browser.open(page)
        taken = browser.pictures(selectors)
        pdf = browser.pdf(footer=_FOOTER.format(name=escape(report.name))) if wants_pdf else None
    rmtree(folder, ignore_errors=True)
    make_directory(folder)
    for each, content in zip(found, taken, strict=True):
        pictures[each.id] = folder / f"{each.id}.png"
        pictures[each.id].write_bytes(content)
    if pdf is None:
        return []
    path = page.with_suffix(".pdf")
    path.write_bytes(pdf)
    return [path]


def _whole(block: Chart | Drawing) -> str:
    """What of the page is its picture; a chart has its legend above it."""
    if isinstance(block, Drawing):
        return f"#drawing-{block.id} svg"
    return f"#chart-{block.id}, .chart:has(> #chart-{block.id}) > .legend"


def _markdown(report: Report, pictures: dict[str, str], template: Path | None) -> str:
    text = render_markdown(report, pictures)
    if template is None:
        return text
    environment = jinja2.Environment(  # noqa: S701 (Markdown, whose text is escaped already)
        loader=jinja2.FileSystemLoader(template.parent), undefined=jinja2.StrictUndefined
    )
    try:
        return environment.get_template(template.name).render(report=report, document=text)
    except jinja2.TemplateError as error:
        raise UsageError(f"{template} can't be used: {error}", hint="it is a Jinja template; see the guide") from error
