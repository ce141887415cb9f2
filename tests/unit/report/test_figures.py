"""What a chart asks for is what the page's own scripts draw, and a report stays small."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from brimline.report import Report, render_html
from brimline.report.search import probe_charts
from brimline.report.view import Chart

SIZE_BYTES_MAX = 1_500_000
SCRIPTS = Path(render_html.__code__.co_filename).parent / "templates" / "charts"
NOT_DRAWN = {
    # What other readers of the figure need, and what says what is so anyway.
    "layout": {"paper_bgcolor", "plot_bgcolor", "hovermode", "hoverlabel", "showlegend", "separators", "font"},
    "axis": {"separatethousands", "exponentformat", "ticks", "ticklen", "standoff", "anchor", "autorange", "dtick",
             "fixedrange", "categoryorder"},
    "trace": {"xaxis", "symmetric", "showarrow", "yanchor", "bordercolor", "shape", "fgcolor", "solidity", "size"},
}  # fmt: skip
DRAWN = {
    "type": {"scatter", "bar", "rect", "line", "log", "category", "data"},
    "mode": {"lines", "markers", "lines+markers", "markers+text"},
    "fill": {"toself", "tonexty"},
    "dash": {"solid", "dash", "dot"},
    "orientation": {"h"},
    "textposition": {"none", "top left", "bottom center"},
    "hoverinfo": {"skip"},
    "yanchor": {"bottom"},
    "xanchor": {"left", "center", "right"},
    "xref": {"x", "x domain", "paper"},
}
"""The words under a key that have a meaning for the scripts; what is not here would be drawn wrong in silence."""


def charts(reports: Mapping[str, Report]) -> Iterator[Chart]:
    for report in reports.values():
        yield from (block for section in report.sections for block in section.blocks if isinstance(block, Chart))


def keyed(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of a figure with its value, at any depth."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield key, inner
            yield from keyed(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from keyed(inner)


def test_every_kind_of_report_is_small(every_kind: Mapping[str, Report]) -> None:
    sizes = {kind: len(render_html(report).encode()) for kind, report in every_kind.items()}
    assert {kind: size for kind, size in sizes.items() if size > SIZE_BYTES_MAX} == {}


def test_figures_use_only_what_the_scripts_draw(every_kind: Mapping[str, Report]) -> None:
    scripts = "".join(file.read_text(encoding="utf-8") for file in SCRIPTS.glob("*.js"))
    known = set(re.findall(r"[A-Za-z_]\w*", scripts)).union(*NOT_DRAWN.values())
    found = [pair for chart in charts(every_kind) for pair in keyed(chart.figure)]
    assert {key for key, _ in found if not re.fullmatch(r"[xy]axis\d?|title", key)} - known == set()
    for key, words in DRAWN.items():
        used = {value for each, value in found if each == key and isinstance(value, str)}
        assert used <= words, key


def test_marks_are_shapes_that_the_scripts_know(every_kind: Mapping[str, Report]) -> None:
    script = (SCRIPTS / "marks.js").read_text(encoding="utf-8")
    shapes = set(re.findall(r'^    "?([a-z-]+)"?: function \(r\)', script, flags=re.MULTILINE))
    used = {value for chart in charts(every_kind) for key, value in keyed(chart.figure) if key == "symbol"}
    # Those of what the reports at hand happen not to show.
    used |= {symbol for _, symbol, _, _ in probe_charts._MARKS.values()} | {"triangle-right", "triangle-up"}
    assert used and {re.sub("-thin|-open", "", each) for each in used} <= shapes


def test_hover_templates_have_forms_that_the_scripts_write(every_kind: Mapping[str, Report]) -> None:
    templates = [value for chart in charts(every_kind) for key, value in keyed(chart.figure) if key == "hovertemplate"]
    forms = {form for each in templates for form in re.findall(r"%\{[a-z]+:?([^}]*)\}", each)}
    assert all(not form or re.fullmatch(r",?\.\d+~?[fg]", form) for form in forms), forms
