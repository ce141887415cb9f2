"""A report as one HTML file that needs nothing else: no network, no fonts, no second file.

The content security policy forbids every load from outside and every script but the two in the file, by their
hashes.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import jinja2
import plotly

from brimline.record.files import replace_pieces
from brimline.report.language import said_in
from brimline.report.view import Chart, Report

_NARROW_NO_BREAK_SPACE = "\u202f"
_NO_BREAK_SPACE = "\u00a0"
# Not behind a letter: "p99 418 ms" are two figures.
_GROUPED_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?: \d{3})+(?!\d)")
# Which Han forms a browser chooses depends on the region.
_HTML_LANGUAGES = {"zh": "zh-CN"}
_OWN_FILES = Path(__file__).parent / "templates"
# Plotly's library is the bulk of the file.
_SCRIPTS = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js", _OWN_FILES / "charts.js")
_PIECE_CHARACTERS = 65_536
_UNITS = r"(?:ops/s|ns|µs|ms|s|min|h|d|%|B|kB|MB|GB|TB|KB/s)\b|[万亿]|次/秒|%"


def render_html(report: Report) -> str:
    """The whole file as text."""
    return "".join(html_pieces(report))


def write_html(report: Report, path: Path) -> None:
    """Writes the file, replacing an older one whole. Raises RecordError."""
    replace_pieces(path, html_pieces(report))


def html_pieces(report: Report) -> Iterator[str]:
    """The file's text, one part after the other: whole, the scripts alone would take 40 MB."""
    charts = list(_charts(report))
    scripts = _SCRIPTS if charts else ()
    return _template().generate(
        report=report,
        said=partial(said_in, report.language),
        html_language=_HTML_LANGUAGES.get(report.language, report.language),
        style=(_OWN_FILES / "style.css").read_text(encoding="utf-8"),
        policy=_policy(scripts),
        scripts=map(_script_pieces, scripts),
        figures_json=_script_json({chart.id: chart.figure for chart in charts}),
    )


def keep_figures_together(text: str) -> str:
    """`text` with spaces that no line may break at: within `9 400` and between a number and its unit."""
    text = _GROUPED_NUMBER.sub(lambda match: match[0].replace(" ", _NARROW_NO_BREAK_SPACE), text)
    text = re.sub(rf"(?<=\d) (?={_UNITS})", _NO_BREAK_SPACE, text)
    return re.sub(r"([≤≥]) (?=\d)", rf"\1{_NO_BREAK_SPACE}", text)


def _charts(report: Report) -> Iterator[Chart]:
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Chart):
                yield block


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("brimline.report"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["figures"] = keep_figures_together
    return environment.get_template("report.html.j2")


def _script_pieces(script: Path) -> Iterator[str]:
    # The policy has the hash of its bytes: a line break stays the one that it is.
    with script.open(encoding="utf-8", newline="") as text:
        while piece := text.read(_PIECE_CHARACTERS):
            yield piece


def _script_json(value: Any) -> str:
    """JSON that can stand in a script element: no tag, comment or entity can begin in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(scripts: Sequence[Path]) -> str:
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'"
    # Plotly sets style attributes; images are its own drawings, made in the page.
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(script: Path) -> str:
    with script.open("rb") as content:
        return base64.b64encode(hashlib.file_digest(content, "sha256").digest()).decode()
