"""The HTML file, the charts and the terminal text."""

import base64
import hashlib
import io
import json
import math
import random
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from rich.console import Console

from brimline.experiments.axis import Axis, On
from brimline.experiments.settings import quick
from brimline.report import Report, print_report, render_html
from brimline.report.figures import latency_axis, zero_based
from brimline.report.html import keep_figures_together
from brimline.report.search.probe_charts import ProbePoint, capacity_curve, sweep_curve
from brimline.report.view import Badge, Cell, Chart, Code, Column, Fact, Facts, Section, Table, Text, Verdict
from tests.unit.report.report_samples import Reports

SIZE_BYTES_MAX = 6_000_000
HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">&\'"'


class Page(HTMLParser):
    """What a browser would see: elements with attributes, scripts, and text outside of them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self._in: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag in ("script", "style"):
            self._in = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._in:
            self._in = None

    def handle_data(self, data: str) -> None:
        if self._in == "script":
            attributes, content = self.scripts[-1]
            self.scripts[-1] = (attributes, content + data)
        elif self._in is None:
            self.words.append(data)


def charts(report: Report) -> list[Chart]:
    return [block for each in report.sections for block in each.blocks if isinstance(block, Chart)]


def hostile_report() -> Report:
    """Every text that may come from a server or a spec is an attack."""
    word = HOSTILE
    table = Table(columns=[Column(label=word, unit=word, group=word)], rows=[[Cell(text=word)]], caption=word)
    facts = Facts(title=word, facts=[Fact(label=word, value=word, note=word)])
    figure = {"data": [{"type": "scatter", "x": [1], "y": [1], "text": [word], "name": word}], "layout": {}}
    chart = Chart(id="c", title=word, caption=word, summary=word, figure=figure)
    blocks = [table, facts, chart, Text(text=word), Code(text=word, title=word)]
    verdict = Verdict(
        tone="",
        caption=word,
        figure=word,
        unit=word,
        interval=word,
        sentence=word,
        badges=[Badge(text=word)],
        facts=[Fact(label=word, value=word)],
    )
    section = Section(id="s", title=word, short=word, intro=word, blocks=blocks)
    return Report(
        kind="run",
        kind_title=word,
        name=word,
        subtitle=word,
        verdict=verdict,
        sections=[section],
        footer=word,
    )


@pytest.mark.parametrize("kind", ["run", "capacity", "sweep"])
def test_html_is_one_file_that_asks_for_nothing(reports: Reports, kind: str) -> None:
    text = render_html(getattr(reports, kind))
    page = Page(text)

    assert len(text.encode()) < SIZE_BYTES_MAX
    for tag, attributes in page.elements:
        assert tag not in ("iframe", "object", "embed", "img", "video", "audio", "base", "form")
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        if tag == "link":
            assert attributes["href"] == "data:,"
        elif "href" in attributes:
            assert (attributes["href"] or "").startswith("#")


def policy_of(page: Page) -> str:
    return next(
        attributes["content"] or ""
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )


def test_policy_names_exactly_the_scripts_of_the_file(reports: Reports) -> None:
    page = Page(render_html(reports.run))
    policy = policy_of(page)
    executed = [content for attributes, content in page.scripts if attributes.get("type") != "application/json"]
    hashes = {base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in executed}

    assert len(executed) == 1
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == hashes
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "http" not in policy


def test_nothing_from_outside_becomes_markup() -> None:
    page = Page(render_html(hostile_report()))

    assert len(page.scripts) == 2  # the figures and what draws them; none more
    assert not any(tag == "img" for tag, _ in page.elements)
    block = next(content for attributes, content in page.scripts if attributes.get("id") == "figures")
    assert not set("<>&") & set(block)
    figures = json.loads(block)
    assert figures["c"]["data"][0]["name"] == HOSTILE
    assert HOSTILE in "".join(page.words)


def test_report_without_charts_does_without_scripts(reports: Reports) -> None:
    bare = replace(reports.run, sections=[each for each in reports.run.sections if each.id != "charts"])
    text = render_html(bare)

    assert len(text.encode()) < 100_000
    assert "script-src 'none'" in policy_of(Page(text))


@pytest.mark.parametrize("kind", ["run", "capacity", "sweep"])
def test_charts_are_valid_and_name_their_units(reports: Reports, kind: str) -> None:
    for chart in charts(getattr(reports, kind)):
        axes = {
            name: axis
            for name, axis in chart.figure["layout"].items()
            if re.fullmatch(r"[xy]axis\d?", name) and axis.get("visible", True)
        }
        titles = [axis["title"]["text"] for axis in axes.values()]
        assert all(
            re.search(r"ops/s|, s$|, ms$|log scale|percentile|connections|operations|workers|%|MB/s|per second", title)
            for title in titles
        ), titles
        json.dumps(chart.figure, allow_nan=False)


def test_throughput_starts_at_zero_and_latency_is_logarithmic(reports: Reports) -> None:
    for report in (reports.run, reports.capacity, reports.sweep):
        for chart in charts(report):
            for axis in chart.figure["layout"].values():
                title = axis.get("title", {}).get("text", "") if isinstance(axis, dict) else ""
                if "throughput" in title or "answered" in title:
                    assert axis["range"][0] == 0
                if "time, log" in title:
                    assert axis["type"] == "log"


def test_capacity_curve_holds_every_probe_the_objective_and_the_interval(reports: Reports) -> None:
    curve = next(chart for chart in charts(reports.capacity) if chart.id == "capacity-curve")
    open_loop = [trial for trial in reports.trials if trial.probe.rate_ops_per_s is not None]
    marks = [trace for trace in curve.figure["data"] if trace["mode"] == "markers" and trace["yaxis"] == "y"]

    assert sum(len(trace["x"]) for trace in marks) == len(open_loop)
    shapes: list[dict[str, Any]] = curve.figure["layout"]["shapes"]
    band = next(shape for shape in shapes if shape["type"] == "rect")
    sustained = reports.conclusion.sustained
    assert sustained is not None
    assert (band["x0"], band["x1"]) == (sustained.low, sustained.high)
    assert any(shape.get("y0") == 10_000_000 for shape in shapes)


def crossing(traces: list[dict[str, Any]]) -> list[tuple[float, list[float]]]:
    """Where lines of quantiles that both have a value there don't lie in their order; gaps are never drawn across."""
    lines = [each for each in traces if each.get("mode") != "markers" and re.search(r"\bp\d\d$", each.get("name", ""))]
    assert len(lines) == 3 and not any(each.get("connectgaps") for each in lines)
    columns = zip(lines[0]["x"], *(each["y"] for each in lines), strict=True)
    known = [(x, [value for value in values if value is not None]) for x, *values in columns]
    return [(x, values) for x, values in known if values != sorted(values)]


def test_lines_of_quantiles_do_not_cross(reports: Reports) -> None:
    """Nor where some probes of a load have too few operations for a p99, or never answered enough for a p95."""
    drawn = random.Random(1)
    points = []
    for number in range(200):
        p50, p95, p99 = sorted(drawn.randrange(100_000, 9_000_000_000) for _ in range(3))
        known = drawn.randrange(4)
        points.append(
            ProbePoint(
                load=1000.0 * (1 + number % 40), throughput_ops_per_s=1000.0, p99_text="", verdict="pass", label="",
                p50_ns=p50 if known else None, p95_ns=p95 if known > 1 else None, p99_ns=p99 if known > 2 else None,
            )
        )  # fmt: skip
    limit = quick().slo.leading
    curve = capacity_curve(points, limit=limit, axis=Axis(On.RATE), capacity=None)
    swept = sweep_curve(points, knee_connections=None, plateau_ops_per_s=None)
    assert curve is not None and swept is not None
    for chart in (curve, swept, *charts(reports.capacity), *charts(reports.sweep), *charts(reports.run)):
        if chart.id in ("capacity-curve", "sweep-curve", "over-time"):
            assert crossing(chart.figure["data"]) == [], chart.id


def test_warm_up_is_hatched_from_start_to_measuring(reports: Reports) -> None:
    chart = next(each for each in charts(reports.run) if each.id == "over-time")
    hatched = [trace for trace in chart.figure["data"] if "fillpattern" in trace]

    assert {(trace["x"][0], trace["x"][1]) for trace in hatched} == {(0.0, 5.0)}
    assert all(trace["fillpattern"]["shape"] == "/" for trace in hatched)


def test_percentile_curve_ends_where_too_few_operations_are_left(reports: Reports) -> None:
    chart = next(each for each in charts(reports.run) if each.id == "percentiles")
    for trace in chart.figure["data"]:
        assert trace["x"] == sorted(trace["x"])
        assert trace["y"] == sorted(trace["y"])
        assert trace["x"][-1] <= 60_500 / 10


def test_latency_axis_writes_units_that_people_read() -> None:
    axis = latency_axis("response time", [350_000.0, 40_000_000.0])
    assert axis["ticktext"] == ["500 µs", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms"]
    assert axis["range"][0] < math.log10(350_000)
    assert latency_axis("response time", [])["ticktext"]


def test_zero_based_axis_of_nothing_is_still_an_axis() -> None:
    assert zero_based("throughput, ops/s", 0.0)["range"] == [0, 1.0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9 400 ops/s", "9\u202f400\u00a0ops/s"),
        ("1 234 567 operations", "1\u202f234\u202f567 operations"),
        ("response p99 418 ms", "response p99 418\u00a0ms"),
        ("p99 ≤ 10 ms", "p99 ≤\u00a010\u00a0ms"),
        ("in 3 of 19 probes", "in 3 of 19 probes"),
        ("97.3 % of 2 CPUs", "97.3\u00a0% of 2 CPUs"),
    ],
)
def test_lines_do_not_break_within_a_figure(text: str, expected: str) -> None:
    assert keep_figures_together(text) == expected


def printed(report: Report, **options: Any) -> str:
    output = io.StringIO()
    print_report(report, Console(file=output, **options))
    return output.getvalue()


def test_terminal_text_in_a_pipe_is_plain_and_whole(reports: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    text = printed(reports.capacity)

    assert "\x1b" not in text
    verdict = reports.capacity.verdict
    assert f"Sustained throughput: {verdict.figure} ops/s ({verdict.interval})" in text
    assert "[quick look, not quotable]" in text
    header = next(line for line in text.splitlines() if line.startswith("Label"))
    assert header.split() == [
        *(
            "Label",
            "Samples",
            "Fail",
            "Error",
            "%",
            "Average",
            "Min",
            "Max",
            "Median",
            "90th",
            "95th",
            "99th",
        ),
        *("Throughput", "Received", "Sent"),
    ]
    units = text.splitlines()[text.splitlines().index(header) + 1]
    assert units.split() == [*["ms"] * 7, "ops/s", "KB/s", "KB/s"]


def test_terminal_honours_no_color(reports: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    # Weight may stay; colours (30–37, 90–97) may not.
    assert not re.search(
        r"\x1b\[[0-9;]*\b(3[0-7]|9[0-7])(?=[;m])", printed(reports.run, force_terminal=True, width=120)
    )
    monkeypatch.delenv("NO_COLOR")
    assert re.search(
        r"\x1b\[[0-9;]*\b3[0-7](?=[;m])",
        printed(reports.run, force_terminal=True, width=120, color_system="standard"),
    )


def test_narrow_terminal_leaves_columns_out_rather_than_folding(reports: Reports) -> None:
    text = printed(reports.run, force_terminal=True, width=90, no_color=True, color_system=None)

    header = next(line for line in text.splitlines() if line.startswith("Label"))
    assert header.split() == [
        *("Label", "Samples", "Fail", "Error", "%", "Average", "Median", "95th", "99th", "Throughput"),
    ]
    assert max(len(line) for line in text.splitlines()) <= 90


def test_markup_in_server_text_is_printed_as_it_is() -> None:
    report = hostile_report()
    named = replace(report, name="[red]x[/red]", sections=[replace(report.sections[0], id="errors")])
    assert "[red]x[/red]" in printed(named)
