"""What a comparison and a trend say on the terminal, in HTML and as JSON."""

import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from brimline.analysis.compared_run import ComparedRun, compared_run
from brimline.analysis.comparison import compare_runs
from brimline.analysis.configuration import configuration_differences, difference_text
from brimline.analysis.configured import Settings
from brimline.analysis.objective import LatencyObjective, Slo
from brimline.analysis.run_trend import gate_trends, run_series
from brimline.experiments.compared import compared_search
from brimline.record import ExperimentWriter, read_experiment
from brimline.report import Report, print_report, render_html, render_json
from brimline.report.comparison.trend_view import trend_report
from brimline.report.language import in_language
from brimline.report.markdown import render_markdown
from brimline.report.view import Chart, Table, Text
from tests.support.run_sets import MS, abba, plan, run_sets, simulated_run
from tests.unit.analysis.records import operation_row, run_record
from tests.unit.report.comparison_samples import WOBBLE, dropped, more_in_flight, regressed, report_of, trend_of

HOSTILE = "<script>alert(1)</script>"


def printed(report: Report) -> str:
    out = io.StringIO()
    print_report(report, Console(file=out, width=160))
    return out.getvalue()


def charts(report: Report) -> list[Chart]:
    return [block for section in report.sections for block in section.blocks if isinstance(block, Chart)]


def table_of(report: Report, section: str) -> Table:
    (found,) = [each for each in report.sections if each.id == section]
    return next(block for block in found.blocks if isinstance(block, Table))


def test_the_configuration_comes_before_the_figures() -> None:
    text = printed(report_of(regressed()))
    places = [
        text.index(word) for word in ("B is worse", "configured differently", "What changed", "Shift of the whole")
    ]
    assert places == sorted(places)
    assert "gate: fail" in text
    line = next(line for line in text.splitlines() if line.startswith("threads"))
    assert line.split() == ["threads", "plan", "1", "2"]
    throughput = next(line for line in text.splitlines() if line.startswith("Throughput  ") and "ops/s" in line)
    assert "regressed" in throughput and "-2" in throughput


def test_of_unlike_loads_the_report_says_so_judges_no_latency_and_offers_one_rate() -> None:
    report = report_of(more_in_flight())
    text = printed(report)
    assert "B is better" in text and "The loads differ (connections 8 → 32)" in text and "Little's law" in text
    assert "brimline run ycsb-c --connections 32 --rate 7000/s" in text
    rows = {row[0].text: row[-1].text for row in table_of(report, "changes").rows}
    assert rows["Throughput"] == "improved" and rows["Service p99"] == "not judged"
    assert [fact.label for fact in report.verdict.facts] == ["Throughput", "Error rate"]
    assert report.verdict.next_step.startswith("compare at one rate: brimline run ycsb-c --connections 8 --rate")
    document = report.data["unlike_loads"]
    assert document["differences"] == [{"where": "plan", "name": "connections", "a": ["8"], "b": ["32"]}]
    assert document["same_load_commands"][0] == "brimline run ycsb-c --connections 8 --rate 7000/s"
    assert document["capacity_commands"] == [
        "brimline capacity ycsb-c --connections 8",
        "brimline capacity ycsb-c --connections 32",
    ]
    assert "brimline capacity ycsb-c --connections 32" in text
    assert "compare both capacities: brimline capacity ycsb-c --connections 8; " in report.verdict.next_step


def test_the_json_has_every_figure_with_its_unit_and_interval() -> None:
    comparison = regressed()
    document = json.loads(render_json(report_of(comparison)))
    assert document["verdict"] == "regressed" and document["kind"] == "comparison"
    assert document["differences"] == [{"where": "plan", "name": "threads", "a": ["1"], "b": ["2"]}]
    throughput = document["changes"][0]
    low, high = throughput["interval_share"]
    assert low < throughput["change_share"] < high < 0
    assert len(throughput["a_runs_ops_per_s"]) == 5 and throughput["a_ops_per_s"] > throughput["b_ops_per_s"]
    assert document["gate"]["verdict"] == "fail"
    throughput, p99 = document["gate"]["cases"]
    assert (throughput["name"], p99["name"]) == ("throughput", "p99")
    assert throughput["limit_share"] == 0.05 and throughput["confidence"] == 0.9
    inner_low, inner_high = throughput["interval_share"]
    assert low < inner_low < throughput["change_share"] < inner_high < high


def test_the_sentence_above_the_quantiles_names_those_whose_rows_say_so() -> None:
    a, b = run_sets(np.random.default_rng(4), order=abba(5), slower=0.05)
    report = report_of(compare_runs(a, b))
    told = next(block.text for section in report.sections if section.id == "distribution" for block in section.blocks
                if isinstance(block, Text))  # fmt: skip
    shown = [row["Quantile"] for row in rows(report, "distribution") if row["Verdict"] == "regressed"]
    assert shown and told.startswith(f"B is slower at {', '.join(shown)}")
    both = {row["Metric"].removeprefix("Service "): (row["p"], row["Verdict"]) for row in rows(report, "changes")}
    for row in rows(report, "distribution"):
        if row["Quantile"] in both:
            assert both[row["Quantile"]] == (row["p"], row["Verdict"])


def test_an_interval_of_two_pairs_that_says_nothing_is_said_so_everywhere() -> None:
    """It was "-100 % to +1 540 000 000 %"."""
    sides = [
        [simulated_run(f"{side}{place}", figures={"throughput": 900.0 + place, "p99": p99}, started_ns=place)
         for place, p99 in enumerate(values)]
        for side, values in (("a", (1e6, 30e6)), ("b", (20e6, 1.1e6)))
    ]  # fmt: skip
    report = report_of(compare_runs(*sides))
    for text in (printed(report), render_markdown(report), render_html(report)):
        told = text.replace("\N{NO-BREAK SPACE}", " ").replace("&#39;", "'").replace("&#x27;", "'")
        assert "can't be told from 2 pairs" in " ".join(told.split()) and "000 000 %" not in told
    (_, _, p99) = json.loads(render_json(report))["gate"]["cases"][-1]["text"].partition("90 % interval ")
    assert p99.startswith("can't be told from 2 pairs, p ")


def test_charts_carry_the_intervals() -> None:
    comparison = regressed()
    found = {chart.id: chart for chart in charts(report_of(comparison))}
    assert found.keys() == {"changes", "shift"}
    for chart in found.values():
        assert chart.summary
    first = found["changes"].figure["data"][0]
    change = comparison.changes[0].change
    assert change is not None
    assert first["x"] == [pytest.approx(100 * change.value)]
    assert first["x"][0] - first["error_x"]["arrayminus"][0] == pytest.approx(100 * change.low)


def test_what_the_axis_cuts_is_said_with_its_value() -> None:
    a, b = run_sets(np.random.default_rng(1), order=abba(5), slower=0.75)
    b = [replace(run, distribution=((4_000_000, 9_900), (8_000_000, 100))) for run in b]
    found = {chart.id: chart for chart in charts(report_of(compare_runs(a, b)))}
    for chart, place in ((found["changes"], "x"), (found["shift"], "y")):
        arrows = [trace for trace in chart.figure["data"] if trace["name"] == "beyond the axis"]
        assert len(arrows) == 1 and set(arrows[0][place]) == {100.0}
        assert all(text.startswith(("+", "interval to +")) for text in arrows[0]["text"])
        assert "goes on" in chart.caption
    changes = found["changes"].figure["data"][-1]
    assert "Throughput" not in changes["y"] and len(changes["y"]) >= 4
    within = {chart.id: chart for chart in charts(report_of(regressed()))}
    assert all("goes on" not in chart.caption for chart in within.values())


def test_one_run_a_side_shows_figures_and_no_change() -> None:
    one = compare_runs([simulated_run("a", figures={"throughput": 1000.0})], [simulated_run("b")])
    report = report_of(one)
    text = printed(report)
    assert "No claim" in text and "gate: inconclusive" in text
    assert charts(report) == []
    document = json.loads(render_json(report))
    assert document["changes"][0]["interval_share"] is None and document["changes"][0]["verdict"] == "no claim"


def test_an_interval_without_an_end_is_null_and_drawn_to_the_edge() -> None:
    values = (1e-150, 1e150)
    sides = [[simulated_run(f"{side}{value}", figures={"p50": value}) for value in values] for side in "ab"]
    report = report_of(compare_runs(*sides, floors={"p50": math.inf}))
    (change,) = json.loads(render_json(report))["changes"]
    assert change["interval_share"][1] is None and change["floor_share"] is None
    assert "by any amount" in render_html(report)


def test_a_quantile_of_few_operations_is_a_bound_as_in_the_report_of_its_run() -> None:
    few, many = [(MS, 1960), (2 * MS, 25), (3 * MS, 15)], [(MS, 19_600), (2 * MS, 400)]
    report = report_of(compare_runs([_run_of(few)], [_run_of(many)]))
    document = {each["quantile"]: each for each in json.loads(render_json(report))["shift"]}
    assert document[0.99]["a_ns"] == 2 * MS, "twenty of the two thousand lie above it"
    assert [document[q]["a_enough_samples"] for q in (0.5, 0.95, 0.99)] == [True, True, False]
    assert [document[q]["b_enough_samples"] for q in (0.5, 0.95, 0.99)] == [True, True, True]
    assert re.search(r"p99 +≥ 2\.000 ms +2\.000 ms", printed(report))
    assert re.search(r"p99 \| ≥ 2\.000 ms \| 2\.000 ms", render_markdown(report))
    assert "≥\N{NO-BREAK SPACE}2.000\N{NO-BREAK SPACE}ms" in render_html(report)
    for text in (render_html(report), render_markdown(report)):
        assert "too few operations lie above the quantile" in text


def test_the_bound_of_a_side_is_the_typical_lower_end_of_its_runs() -> None:
    low, high = [(MS, 700), (2 * MS, 300)], [(MS, 700), (8 * MS, 300)]
    comparison = compare_runs([_run_of(low), _run_of(high)], [_run_of(low)])
    assert [run.bounds[0.99] for run in comparison.a] == [2 * MS, 8 * MS]
    assert re.search(r"p99 +≥ 4\.000 ms +≥ 2\.000 ms", printed(report_of(comparison)))


def _run_of(service: list[tuple[int, int]]) -> ComparedRun:
    count = sum(each for _, each in service)
    rows = [operation_row(second, sent=count // 10, ok=count // 10) for second in range(1, 11)]
    return compared_run(run_record(rate=None, latencies={"service": service}, operations=rows))


def test_what_comes_from_outside_is_escaped() -> None:
    spoilt = simulated_run(HOSTILE, figures={"throughput": 1.0}, problems=(HOSTILE,))
    a, b = run_sets(np.random.default_rng(1), order=abba(3))
    hostile = {"server": {"version": HOSTILE}}
    report = report_of(compare_runs([*a, spoilt], [replace(run, environment=hostile, name=HOSTILE) for run in b]))
    assert HOSTILE not in render_html(report)


def test_a_trend_says_where_the_level_changed_and_draws_it() -> None:
    report = trend_of(dropped())
    text = printed(report)
    assert "The level changed" in text and "gate: fail" in text and "20261113t034851z-ycsb-c-0059a198" in text
    found = charts(report)
    assert [chart.id for chart in found] == ["trend-1-throughput", "trend-1-p99"]
    levels = [trace["x"] for trace in found[0].figure["data"] if trace["name"] == "level"]
    assert levels == [[0.5, 12.5], [12.5, 20.5]]
    document = json.loads(render_json(report))
    (change,) = document["series"][0]["metrics"][0]["changes"]
    assert change["run"] == "20261113t034851z-ycsb-c-0059a198" and change["worse_share"] == pytest.approx(0.1, abs=0.01)
    render_html(report)


def test_too_few_runs_are_named_and_not_judged() -> None:
    series = run_series([simulated_run(f"r{index}", started_ns=index) for index in range(4)])
    report = trend_report(series, floor=0.03, cases=())
    assert report.verdict.caption == "Too few runs" and charts(report) == []
    assert "Throughput: 4 runs have it, a trend needs 6" in render_html(report)


def nights(rates: Sequence[float], networks: Sequence[str | None]) -> list[ComparedRun]:
    """Runs of one plan, night by night: their rate and their lab's network."""
    return nights_at(rates, [{"lab": {"network": network}} for network in networks])


def nights_at(rates: Sequence[float], servers: Sequence[Mapping[str, object]]) -> list[ComparedRun]:
    """Runs of one plan, night by night: their rate, and what is known of their server beside its version."""
    return [
        simulated_run(
            f"night-{index:02}",
            started_ns=index,
            figures={"throughput": rate * (1 + WOBBLE[index % 5])},
            environment={"server": {"version": "6.0.5", **server}},
        )
        for index, (rate, server) in enumerate(zip(rates, servers, strict=True))
    ]


CACHE = {"getCmdLineOpts": {"parsed": {"storage": {"wiredTiger": {"engineConfig": {"cacheSizeGB": 0.25}}}}}}


@pytest.mark.parametrize(
    ("later", "said", "in_chinese"),
    [
        ({"version": "7.0.14"}, "server version: 6.0.5 → 7.0.14", "服务器 version：6.0.5 → 7.0.14"),
        ({"lab": {"network": "5ms"}}, "lab network: not set → 5ms", "实验环境 network：未设置 → 5ms"),
        (
            CACHE,
            "server options storage.wiredTiger.engineConfig.cacheSizeGB: not set → 0.25",
            "服务器选项 storage.wiredTiger.engineConfig.cacheSizeGB：未设置 → 0.25",
        ),
        ({"same_host": True}, "server same_host: — → yes", "服务器 same_host：— → 是"),
    ],
)
def test_what_was_changed_is_said_in_both_languages(later: Mapping[str, object], said: str, in_chinese: str) -> None:
    """Server, network and setting. Values are as they were written; "not set" and "yes" are in the reader's words."""
    runs = nights_at([1000.0] * 6 + [700.0] * 6, [{}] * 6 + [later] * 6)
    report = trend_report(run_series(runs), floor=0.03, cases=())
    for shown, expected in ((report, said), (in_language(report, "zh"), in_chinese)):
        (change,) = table_of(shown, "changes").rows
        between = [row[-1].text for row in table_of(shown, "series-1").rows]
        assert (change[-1].text, between) == (expected, [""] * 6 + [expected] + [""] * 5)


@pytest.mark.parametrize("late", [-1, 0, 1])
def test_a_trend_names_what_was_changed_where_the_level_did(late: int) -> None:
    """The network, a run before or after the split at the most: what most runs have is what is compared."""
    rates = [1000.0] * 6 + [700.0] * 6
    slower = run_series(nights(rates, [None] * (6 + late) + ["5ms"] * (6 - late)))
    cases = gate_trends(slower, limit=0.05, newest=10)
    report = trend_report(slower, floor=0.03, cases=cases)
    (row,) = rows(report, "changes")
    assert row["Changed with it"] == "lab network: not set → 5ms"
    assert "changed with it: lab network: not set → 5ms" in cases[0].text
    ((change,),) = [metric["changes"] for metric in report.data["series"][0]["metrics"]]
    assert change["changed_with_it"] == [{"where": "lab", "name": "network", "a": ["not set"], "b": ["5ms"]}]
    alone = run_series(nights(rates, [None] * 12))
    (row,) = rows(trend_report(alone, floor=0.03, cases=()), "changes")
    assert row["Changed with it"] == "nothing that brimline knows of"


def test_a_trend_has_the_table_of_its_runs_and_what_was_changed_between_them() -> None:
    series = run_series(nights([1000.0] * 6, [None, None, None, "5ms", None, None]))
    found = rows(trend_report(series, floor=0.03, cases=()), "series-1")
    assert [row["Run"] for row in found] == [run.name for run in series[0].runs]
    assert found[0]["Throughput"] == "1 000 ops/s"
    changed = [row["Changed since the one before"] for row in found]
    assert changed == ["", "", "", "lab network: not set → 5ms", "lab network: 5ms → not set", ""]


def test_runs_of_several_plans_are_told_what_they_differ_in_and_where_to_compare_them() -> None:
    """It said that 8 runs are too few, of which there were four each of two plans."""
    runs = [simulated_run(f"r{index}", started_ns=index, plan_of=plan(connections=8 if index % 2 else 16))
            for index in range(8)]  # fmt: skip
    report = trend_report(run_series(runs), floor=0.03, cases=())
    older, newest = rows(report, "plans")
    assert (older["Runs that count"], newest["Runs that count"]) == ("4", "4")
    assert "plan connections: 16 → 8" in older["Differs from the plan of the newest run"]
    text = printed(report)
    assert "brimline compare" in text and "the most here are 4" in report.verdict.sentence
    assert "8 runs: too few" not in text and "Throughput: 4 runs have it, a trend needs 6" in text


def test_settings_are_told_in_words_and_not_as_python_writes_them(tmp_path: Path) -> None:
    """Two searches with other objectives: the limits stand as they are read, and once; lists and what is nested too."""
    runs = []
    for number, limit_ms in enumerate((30, 100)):
        directory = tmp_path / str(number)
        slo = asdict(Slo(latencies=(LatencyObjective(limit_ns=limit_ms * 1_000_000),)))
        made: dict[str, Any] = {"kind": "capacity", "name": "s", "settings": {"slo": slo}, "plan_hash": "0" * 8}
        with ExperimentWriter(directory, spec_text="name: s\n", environment={}, **made) as writer:
            writer.seal(ended_by="completed")
        run = compared_search(read_experiment(directory), {}, deciding=())
        columns, template = ("_id", "sender")[number:], ({"name": "a", "value": {"on": None if number else True}},)
        own: Settings = {("plan", "columns"): columns, ("plan", "template"): template}
        runs.append(replace(run, settings={**run.settings, **own}))
    told = [difference_text(each) for each in configuration_differences(runs[:1], runs[1:])]
    assert told == [
        "search objective: p99 ≤ 30 ms, errors ≤ 0.1 % → p99 ≤ 100 ms, errors ≤ 0.1 %",
        "plan columns: _id, sender → sender",
        'plan template: [{"name": "a", "value": {"on": true}}] → [{"name": "a", "value": {"on": null}}]',
    ]


def test_a_newest_plan_of_few_runs_is_not_passed_by_an_older_one() -> None:
    """Seven runs of two plans, one of them of the newest: it said that no metric had changed its level."""
    older = [simulated_run(f"r{index}", started_ns=index, plan_of=plan(connections=16)) for index in range(6)]
    newest = simulated_run("new", started_ns=9, plan_of=plan(connections=8))
    told = trend_report(run_series([*older, newest]), floor=0.03, cases=()).verdict
    said = "Of the newest plan nothing can be told yet: too few runs have a figure."
    assert (told.tone, told.sentence.endswith(said)) == ("muted", True)
    alone = trend_report(run_series([newest, *(replace(run, started_ns=10) for run in older)]), floor=0.03, cases=())
    assert (alone.verdict.tone, said in alone.verdict.sentence) == ("pass", False)


def test_the_terminal_names_the_runs_that_are_left_out_of_a_trend() -> None:
    runs = [simulated_run(f"r{index}", started_ns=index) for index in range(4)]
    spoilt = simulated_run("spoilt", started_ns=9, problems=("server and generator disagree",))
    report = trend_report(run_series([*runs, spoilt]), floor=0.03, cases=())
    text = printed(report)
    assert "spoilt is left out: server and generator disagree" in text
    assert "Throughput: 4 runs have it, a trend needs 6" in text


def test_one_run_is_told_in_the_singular() -> None:
    report = trend_report(run_series([simulated_run("only")]), floor=0.03, cases=())
    text = printed(report)
    assert "1 run\n" in text and "Throughput: 1 run has it, a trend needs 6" in text and "1 runs" not in text


def test_a_trend_over_searches_speaks_of_searches() -> None:
    runs = [replace(simulated_run(f"r{index}", started_ns=index), kind="capacity") for index in range(3)]
    english = trend_report(run_series(runs), floor=0.03, cases=())
    assert english.subtitle.startswith("3 searches of one plan")
    assert english.verdict.caption == "Too few searches"
    assert "Throughput: 3 searches have it" in printed(english)
    assert not re.search(r"\bruns?\b", printed(english).casefold())
    mixed = trend_report(run_series([*runs, replace(simulated_run("other"), title="other")]), floor=0.03, cases=())
    assert mixed.subtitle == "4 records of 2 plans, the oldest first"
    assert in_language(english, "zh").subtitle == "同一计划的 3 次搜索，从最早的开始"


def test_names_of_several_workloads_are_joined_in_the_reader_s_language() -> None:
    """The names themselves stay, even one that is a word."""
    runs = [[replace(simulated_run(f"{title}{index}"), title=title) for index in range(2)] for title in ("day1", "yes")]
    english = report_of(compare_runs(*runs))
    assert english.name == "day1 and yes"
    assert in_language(english, "zh").name == "day1 和 yes"


def test_changes_and_margins_have_no_blank_before_the_sign_in_chinese() -> None:
    report = in_language(report_of(regressed()), "zh")
    texts = [cell.text for block in _tables(report) for row in block.rows for cell in row]
    assert any(text.startswith("±") for text in texts) and any(text.startswith("+") for text in texts)
    assert not [text for text in texts if " %" in text]


def rows(report: Report, section: str) -> list[dict[str, str]]:
    """The rows of a section's first table, by the labels of its columns."""
    table = table_of(report, section)
    labels = [column.label for column in table.columns]
    return [dict(zip(labels, (cell.text for cell in row), strict=True)) for row in table.rows]


def _tables(report: Report) -> list[Table]:
    return [block for section in report.sections for block in section.blocks if isinstance(block, Table)]
