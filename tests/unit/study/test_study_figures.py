"""Figures by reference: what is there is written with its unit, what isn't there can't be written."""

import re
from dataclasses import replace

import pytest

from brimline.analysis.metrics import Known, Metric
from brimline.report.grid import Grid, GridAxis, GridRow
from brimline.report.language import said_in
from brimline.report.view import Report, Verdict
from brimline.study.figures import FigureMissing, figure_of, headline, said
from brimline.units import format_number

RATE = Metric(key="throughput", label="Throughput", unit="ops/s", higher_is_better=True, decides=True)


def report(figure: str = "9 400") -> Report:
    rows = [
        GridRow(levels=("100", "1"), figures={"throughput": Known(12_340.0)}),
        GridRow(levels=("100", "8"), figures={"throughput": Known(20_000.0, 19_000.0, 21_000.0)}),
        GridRow(levels=("200", "1"), figures={"throughput": Known(5_000.0)}),
    ]
    axes = (GridAxis(name="records", scale="linear"), GridAxis(name="connections", scale="log2"))
    return Report(
        kind="sweep",
        kind_title="Sweep",
        name="mine",
        subtitle="",
        verdict=Verdict(
            tone="pass",
            caption="Plateau",
            figure=format_number(9_400.0) if figure else "",
            unit="ops/s",
            interval="",
            sentence="From 8 connections on.",
        ),
        sections=[],
        footer="",
        data={"knee": {"connections": 8, "share": 0.5}, "latency": {"p99_ns": 1_500_000}, "size_bytes": 2_000_000},
        grids=[Grid(axes=axes, rows=rows, metrics=(RATE,))],
    )


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("verdict", "Plateau: 9 400 ops/s"),
        ("figure", "9 400 ops/s"),
        ("sentence", "From 8 connections on."),
        ("throughput records=100 connections=1", "12 340 ops/s"),
        ("throughput records=last", "5 000 ops/s"),
        ("throughput max", "20 000 ops/s (19 000 ops/s to 21 000 ops/s)"),
        ("throughput max at-connections", "8"),
        ("throughput records=first min", "12 340 ops/s"),
        ("knee.connections", "8"),
        ("knee.share", "50 %"),
        ("latency.p99_ns", "1.50 ms"),
        ("size_bytes", "2.00 MB"),
    ],
)
def test_a_figure_has_its_unit(what: str, text: str) -> None:
    assert figure_of(report(), what) == text


@pytest.mark.parametrize(
    "what", ["p99", "throughput", "throughput records=300", "throughput loudest", "latency.p50_ns", "interval", "knee"]
)
def test_a_figure_that_is_not_there_cannot_be_written(what: str) -> None:
    with pytest.raises(FigureMissing):
        figure_of(report(), what)


def test_a_verdict_without_a_figure_has_none() -> None:
    with pytest.raises(FigureMissing):
        figure_of(report(figure=""), "verdict")


def test_figures_in_prose_are_written_as_its_language_writes_them() -> None:
    text = said("最高 {mine throughput max}，{braces}", lambda _, what: figure_of(report(), what))
    assert str(said_in("zh", text)).startswith("最高 2.000 万次/秒")
    assert re.search(r"\{braces\}$", said_in("zh", text))


def test_a_verdict_in_chinese_has_full_width_marks() -> None:
    made = replace(report().verdict, interval="±5 %")
    assert said_in("zh", headline(made)) == "平台值：9400 次/秒（±5 %）"
    assert said_in("zh", headline(replace(made, interval=""))) == "平台值：9400 次/秒"
