"""A report as one HTML file that needs nothing else: no network, no fonts, no second file.

The content security policy forbids every load from outside and every script but the one in the file, by its hash.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import jinja2

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
STYLE_FILE = _OWN_FILES / "style.css"
"""How a report looks, and what else is to look like one."""
# In the order in which they need each other.
_SCRIPTS = ("axes", "marks", "chart", "pointer", "page")
_UNITS = r"(?:ops/s|ns|µs|ms|s|min|h|d|%|B|kB|MB|GB|TB|KB/s)\b|[万亿]|次/秒|%"


def render_html(report: Report) -> str:
    """The whole file as text."""
    return "".join(html_pieces(report))


def write_html(report: Report, path: Path, template: Path | None = None) -> None:
    """Writes the file, replacing an older one whole. Raises RecordError; for `template` see `html_pieces`."""
    replace_pieces(path, html_pieces(report, template))


def html_pieces(report: Report, template: Path | None = None) -> Iterator[str]:
    """The file's text, one part after the other.

    `template`: a Jinja template of a person's own in place of that of the report's kind, which it may extend by name:
    `report.html.j2`, `study.html.j2`. Raises what Jinja raises for one that is wrong.
    """
    charts = list(_charts(report))
    script = _script() if charts else ""
    return _template(report.kind, template).generate(
        report=report,
        said=partial(said_in, report.language),
        html_language=_HTML_LANGUAGES.get(report.language, report.language),
        style=STYLE_FILE.read_text(encoding="utf-8"),
        policy=_policy(script),
        script=script,
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


def _template(kind: str, own: Path | None) -> jinja2.Template:
    if own is not None:
        return _environment(own.parent).get_template(own.name)
    return _shipped().get_template("study.html.j2" if kind == "study" else "report.html.j2")


@cache
def _shipped() -> jinja2.Environment:
    return _environment()


def _environment(*directories: Path) -> jinja2.Environment:
    """Templates of `directories` before brimline's own."""
    loaders = [*(jinja2.FileSystemLoader(each) for each in directories), jinja2.PackageLoader("brimline.report")]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["figures"] = keep_figures_together
    return environment


@cache
def _script() -> str:
    """What draws the charts, in one piece."""
    return "\n".join((_OWN_FILES / "charts" / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS)


def _script_json(value: Any) -> str:
    """JSON that can stand in a script element: no tag, comment or entity can begin in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    # The style sheet stands in the page; its icon is an empty data address.
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
