"""Figures by reference: what is there is written with its unit, what isn't there can't be written."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from typing import Any

import pytest

from brimline.analysis.metrics import Known, Metric
from brimline.report.grid import Grid, GridAxis, GridRow
from brimline.report.language import said_in
from brimline.report.view import Report, Verdict
from brimline.study.figures import FigureMissing, figure_of, headline, said, value_text
from brimline.units import format_number

RATE = Metric(key="throughput", label="Throughput", unit="ops/s", higher_is_better=True, decides=True)


def report(figure: str = "9 400") -> Report:
    rows = [
        GridRow(levels=("100", "1"), figures={"throughput": Known(12_340.0)}),
        GridRow(levels=("100", "8"), figures={"throughput": Known(20_000.0, 19_000.0, 21_000.0)}),
        GridRow(levels=("200", "1"), figures={"throughput": Known(5_000.0)}),
        GridRow(levels=("200", "8"), figures={"throughput": Known(5_000.0, 0.1, 2e9)}),
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
        ("throughput records=last connections=1", "5 000 ops/s"),
        ("throughput records=last connections=8", "5 000 ops/s (interval can't be told)"),
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
    assert said_in("zh", headline(made)) == "饱和吞吐量：9400 次/秒（±5 %）"
    assert said_in("zh", headline(replace(made, interval=""))) == "饱和吞吐量：9400 次/秒"


UNITS = {"ns": "850 ns", "s": "14 min 10 s", "bytes": "850 B", "share": "85 000 %", "count": "850"}
RATES = {"ops", "documents", "entries", "queries", "commands"}


def keys_of(schema: Any) -> Iterator[str]:
    """Every key that JSON of results may have."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from keys_of(each)


def test_every_value_of_json_has_the_unit_of_its_key() -> None:
    text = resources.files("brimline.report").joinpath("result.schema.json").read_text(encoding="utf-8")
    keys = {*keys_of(json.loads(text))}
    assert len(keys) > 500
    for key in sorted(keys):
        what, _, per = key.removeprefix("per_").partition("_per_")
        units = [word for word in what.split("_") if word in UNITS]
        written = str(value_text(key, 850))
        if units:
            wanted = UNITS[units[-1]] + (f"/{per}" if per else "")
        elif per == "s":
            counted = [word for word in what.split("_") if word in RATES]
            wanted = f"850 {counted[-1] if counted else ''}/s"
        else:
            wanted = "850" + (f"/{per}" if per else "")
        assert written == wanted, key


@pytest.mark.parametrize(
    ("key", "written", "chinese"),
    [
        ("entries_per_s", "850 000 entries/s", "85.0 万条目/秒"),
        ("received_bytes_per_s", "850 kB/s", "850 kB/s"),
        ("cpu_ns_per_row", "850 µs/row", "850 µs/row"),
        ("throughput_ops_per_s", "850 000 ops/s", "85.0 万次/秒"),
        ("waited_s", "236 h 7 min", "236 小时 7 分"),
    ],
)
def test_a_rate_is_no_time(key: str, written: str, chinese: str) -> None:
    assert str(value_text(key, 850_000.0)) == written
    assert str(said_in("zh", value_text(key, 850_000.0))) == chinese


def test_one_of_an_interval_has_the_unit_of_the_interval() -> None:
    with_interval = replace(report(), data={"p99_interval_ns": [1_500_000, 2_500_000]})
    assert figure_of(with_interval, "p99_interval_ns.1") == "2.50 ms"
