"""The report of a factor sweep whose answers are known, in English, in Chinese, for spreadsheets and for machines."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from brimline.analysis.compared_run import Metric
from brimline.analysis.factorial import Mean
from brimline.analysis.metrics import all_metrics
from brimline.experiments.vary.conclusion import Cell, conclude_vary
from brimline.experiments.vary.order import VaryLoad, VaryProbe
from brimline.experiments.vary.runner import read_vary_load, read_vary_trial
from brimline.record.events import FEWER_CONNECTIONS
from brimline.record.model import Event
from brimline.report import Report, in_language, print_report, render_html, render_json
from brimline.report.csv_export import probes_csv
from brimline.report.markdown import render_markdown
from brimline.report.vary.as_json import vary_document
from brimline.report.vary.claims import vary_claims
from brimline.report.vary.tables import curves_table, differences_table, ends_text, loads_table, mean_text, plans_blocks
from brimline.report.vary.view import vary_report
from brimline.report.view import Chart, Facts, Table, Text
from tests.support.own_run import write_own_run
from tests.unit.analysis.records import run_record, summary
from tests.unit.experiments.vary_simulator import Machine, settings_of
from tests.unit.report.language.test_chinese_report import QUOTED, _english
from tests.unit.report.report_samples import ENVIRONMENT, ended_experiment
from tests.unit.report.vary_samples import DIRECTORY, SETTINGS, loads, measured, trials_of, varied


def tables(report: Report, section: str) -> list[Table]:
    return [
        block for each in report.sections if each.id == section for block in each.blocks if isinstance(block, Table)
    ]


def charts(report: Report) -> dict[str, Chart]:
    return {block.id: block for section in report.sections for block in section.blocks if isinstance(block, Chart)}


def rows(table: Table) -> list[dict[str, str]]:
    return [dict(zip([column.label for column in table.columns], (cell.text for cell in row), strict=True))
            for row in table.rows]  # fmt: skip


def test_the_difference_is_told_with_interval_and_verdict() -> None:
    report = varied()
    (table,) = tables(report, "level-differences")
    (version,) = (row for row in rows(table) if row["Factor"] == "server-version" and row["Metric"] == "Throughput")
    assert (version["Level"], version["Against"], version["Verdict"]) == ("6.0", "4.4", "improved")
    assert version["95 % CI"].startswith("+")
    assert "throughput is higher with server-version 6.0 against 4.4" in str(report.data["text"])
    assert "hroughput is higher with server-version 6.0 against 4.4" in report.verdict.sentence


def test_a_percentile_that_one_run_cannot_state_has_no_mean_of_the_others() -> None:
    """The runs that state it are the fast ones: their mean would stand below the p95 of all."""
    first = next(trial for trial in trials_of(spoilt=False) if trial.probe.levels == ("4.4", "1"))
    known = {key: value for key, value in first.figures.items() if key != "p99"}
    trials = [replace(trial, figures=known) if trial is first else trial for trial in trials_of(spoilt=False)]
    found = conclude_vary(SETTINGS, trials, loads(), seed=1)
    without, whole = found.cells[0], found.cells[1]
    assert without.levels == ("4.4", "1") and set(without.means) == {"throughput", "p95"}
    assert set(whole.means) == {"throughput", "p95", "p99"}
    compared = [each for each in found.within if each.at == {"connections": "1"}]
    assert {each.metric.key for each in compared} == {"throughput", "p95"}
    table = differences_table(found.everywhere, caption="")
    assert table is not None
    version = [(row["Metric"], row["At"]) for row in rows(table) if row["Factor"] == "server-version"]
    assert version == [("Throughput", "all"), ("Service p95", "all"), ("Service p99", "3 of 4 combinations")]


def test_no_line_is_drawn_over_a_level_without_a_figure() -> None:
    """Drawn from the neighbours of the one that has none, the p99 ran below its own p95."""
    trials = [
        replace(trial, figures={key: value for key, value in trial.figures.items() if key != "p99"})
        if trial.probe.levels == ("4.4", "4")
        else trial
        for trial in trials_of(spoilt=False)
    ]
    conclusion = conclude_vary(SETTINGS, trials, (), seed=1)
    report = vary_report(ended_experiment("vary", DIRECTORY), trials, (), conclusion, SETTINGS,
                         environment=ENVIRONMENT)  # type: ignore[arg-type]  # fmt: skip
    lines = {trace["name"]: trace for trace in charts(report)["connections-latency"].figure["data"]}
    p95, p99 = (lines[f"server-version 4.4, Service {name}"] for name in ("p95", "p99"))
    assert p95["x"] == p99["x"] == [1, 4, 16, 32]
    assert [value is None for value in p99["y"]] == [False, True, False, False] and None not in p95["y"]


def test_runs_at_a_given_rate_are_headed_by_their_latency() -> None:
    """Throughput follows from the rate: it was the headline, 0 % and equivalent."""
    given = [replace(each, kind="open loop", figures={**each.figures, "throughput": 500.0} if each.figures else {})
             for each in trials_of()]  # fmt: skip
    conclusion = conclude_vary(SETTINGS, given, (), seed=1)
    report = vary_report(
        ended_experiment("vary", DIRECTORY),
        given,
        (),
        conclusion,
        SETTINGS,
        environment=ENVIRONMENT,  # type: ignore[arg-type]
    )
    assert (conclusion.main.key, str(report.verdict.caption)) == ("p99", "Differences that are shown: Response p99")
    assert set(charts(report)) == {"server-version-latency", "connections-latency"}
    assert report.verdict.figure not in ("", "0")
    assert str(report.data["text"]).startswith("Response p99 is longer with connections 32 against 1; ")


def test_the_number_above_is_that_of_the_rows_that_are_shown() -> None:
    report = varied(spoilt=False)
    every = [row for section in ("level-differences", "combinations", "loading") for table in tables(report, section)
             for row in rows(table) if row.get("Metric", "") == "Throughput"]  # fmt: skip
    shown = [row for row in every if row["Verdict"] in ("improved", "regressed")]
    assert (report.verdict.figure, str(report.verdict.unit)) == (str(len(shown)), f"of {len(every)}")
    assert len(shown) > 2


def test_levels_stand_in_the_order_given_though_a_line_lacks_one() -> None:
    axis = charts(varied())["server-version-latency"].figure["layout"]["xaxis"]
    assert (axis["categoryorder"], axis["categoryarray"]) == ("array", ["4.4", "6.0"])


def test_levels_are_the_words_that_were_typed_in_every_language() -> None:
    """`primary` is a read preference here, and elsewhere the index set that Chinese has a word for."""
    levels = {"4.4": "secondary", "6.0": "primary"}
    trials = [
        replace(trial, probe=replace(trial.probe, levels=(levels[trial.probe.levels[0]], trial.probe.levels[1])))
        for trial in trials_of(spoilt=False)
    ]
    settings = settings_of("read-preference=secondary,primary", "connections=1,4,16,32", blocks=3, blocks_max=4,
                           duration_s=12.0, warmup_s=0.2)  # fmt: skip
    conclusion = conclude_vary(settings, trials, [], seed=1)
    report = vary_report(ended_experiment("vary", DIRECTORY), trials, [], conclusion, settings, environment=ENVIRONMENT)
    chinese = in_language(report, "zh")
    (table,) = tables(chinese, "level-differences")
    assert {(row["水平"], row["相对"]) for row in rows(table) if row["因素"] == "读偏好"} == {("primary", "secondary")}
    figure = charts(chinese)["read-preference-throughput"].figure
    assert figure["layout"]["xaxis"]["categoryarray"] == figure["data"][0]["x"] == ["secondary", "primary"]
    assert "仅主键" not in render_html(chinese) and "secondary，primary" in chinese.subtitle


def test_a_sweep_over_workloads_is_named_after_all_of_them() -> None:
    settings = settings_of("workload=ycsb-a,ycsb-b", "connections=1,4", blocks=2, blocks_max=2)
    conclusion = conclude_vary(settings, [], [], seed=1)
    report = vary_report(ended_experiment("vary", DIRECTORY), [], [], conclusion, settings, environment=ENVIRONMENT)
    assert report.name == "ycsb-a, ycsb-b"
    assert varied().name == ended_experiment("vary", DIRECTORY).name


def test_equal_levels_make_no_claim() -> None:
    (table,) = tables(varied(equal=True, spoilt=False), "level-differences")
    verdicts = {row["Verdict"] for row in rows(table) if row["Factor"] == "server-version"}
    assert verdicts <= {"equivalent", "inconclusive"}


def test_each_version_has_its_load_rate_its_highest_throughput_and_its_best_connections() -> None:
    """S3's table: versions down, what loading and running came to across."""
    (table,) = tables(varied(spoilt=False), "best-connections")
    old, new = rows(table)
    assert (old["server-version"], new["server-version"]) == ("4.4", "6.0")
    assert old["Load rate"].startswith("40 400") and new["Load rate"].startswith("44 440")
    assert old["Highest throughput"].startswith(("1 9", "2 0"))
    assert new["Highest throughput"].startswith(("2 3", "2 4"))
    (chinese,) = tables(in_language(varied(), "zh"), "best-connections")
    assert ("对应", "连接数") in [(column.label, column.unit) for column in chinese.columns]
    for row in (old, new):
        assert row["Recommended"] in ("4 connections", "4 to 16 connections")
        assert row["Service p95"].endswith("ms") and row["Service p99"].endswith("ms")


def test_loads_stand_apart_by_how_they_were_loaded_and_say_how_long_they_took() -> None:
    """Those of w 1 and of w majority were one row, its mean theirs together."""
    settings = settings_of("server-version=4.4,6.0", "write-concern=1,majority", "connections=8,32", blocks=2,
                           blocks_max=2, apart=("server-version",), loads=("server-version",))  # fmt: skip
    rates = {
        ("4.4", "1"): 40_000.0, ("4.4", "majority"): 20_000.0, ("6.0", "1"): 50_000.0, ("6.0", "majority"): 25_000.0
    }  # fmt: skip
    made = [
        VaryLoad(block=block, levels=(version,), server=block, figures={"throughput": rate + block}, took_s=1e6 / rate,
                 loaded_with={"write-concern": concern})
        for (version, concern), rate in rates.items()
        for block in (1, 2)
    ]  # fmt: skip
    trials = Machine(settings, lambda _: 1000.0, seed=1, noise=0.002).all()
    conclusion = conclude_vary(settings, trials, made, seed=1)
    table = loads_table(conclusion)
    assert table is not None
    found = {(row["server-version"], row["write-concern"]): row for row in rows(table)}
    assert found.keys() == rates.keys()
    assert found["4.4", "majority"]["Took"] == "50.0 s" and found["6.0", "1"]["Took"] == "20.0 s"
    assert found["4.4", "majority"]["Throughput"].startswith("20 00")
    concern = next(each for each in conclusion.load_differences if each.factor == "write-concern")
    assert concern.b / concern.a == pytest.approx(0.5, rel=1e-3)
    curves = curves_table(conclusion, settings)
    assert curves is not None
    shown = {(row["server-version"], row["write-concern"]): row["Load rate"] for row in rows(curves)}
    assert shown["4.4", "majority"].startswith("20 00") and shown["6.0", "1"].startswith("50 00")
    experiment = ended_experiment("vary", DIRECTORY)
    document = vary_document(experiment, trials, made, conclusion, settings)
    assert document["load_runs"][0]["levels"] == {"server-version": "4.4", "write-concern": "1"}
    assert document["load_runs"][0]["took_s"] == 25.0


@pytest.mark.parametrize("short", [(1,), (1, 2, 3)], ids=["one of three", "all"])
def test_a_load_over_fewer_connections_is_marked_and_in_no_difference(short: tuple[int, ...]) -> None:
    """Beside loads over 512 one over 297 would be a difference of versions."""
    made = [
        replace(each, fewer_connections=(297, 512), figures={"throughput": 1_000.0})
        if each.levels == ("6.0",) and each.block in short
        else each
        for each in loads()
    ]
    conclusion = conclude_vary(SETTINGS, trials_of(), made, seed=1)
    changes = [each.change for each in conclusion.load_differences]
    if len(short) == 1:
        (change,) = changes
        assert change is not None and (change.a_count, change.b_count) == (3, 2)
        assert change.value == pytest.approx(0.1, abs=0.01)
    else:
        assert changes == [], "nothing is there to be compared"
    table, curves = loads_table(conclusion), curves_table(conclusion, SETTINGS)
    assert table is not None and curves is not None
    old, new = rows(table)
    assert old["Left out"] == ""
    assert new["Left out"].startswith("block 1: over 297 of 512 connections, and so in no difference")
    assert new["Throughput"].startswith("44 5" if len(short) == 1 else "1 000")
    assert [row["Load rate"] == "—" for row in rows(curves)] == [False, len(short) == 3]
    document = vary_document(ended_experiment("vary", DIRECTORY), trials_of(), made, conclusion, SETTINGS)
    assert [each["fewer_connections"] for each in document["load_runs"]].count(297) == len(short)


def test_the_record_of_a_load_says_over_how_few_connections_it_went_on() -> None:
    """Who writes it is in integration/test_few_connections.py."""
    told = Event(unix_ns=1, kind=FEWER_CONNECTIONS, fields={"connections": 297, "up": 330, "wanted": 512})
    where = {"block": 1, "levels": ("6.0",), "server": 2, "loaded_with": {}}
    for events, fewer in (([told], (297, 512)), ([], None)):
        record = run_record(events=events, summary=summary(elapsed_ns=1))
        assert read_vary_load(record, **where).fewer_connections == fewer  # type: ignore[arg-type]


def test_loads_of_which_nobody_knows_how_they_were_loaded_are_told_apart_by_their_data() -> None:
    found = conclude_vary(SETTINGS, trials_of(), loads(), seed=1).load_factors
    assert [factor.name for factor in found] == ["server-version"]


def test_what_was_client_limited_is_said_and_is_no_number() -> None:
    report = varied()
    (combinations, matrix, _) = tables(report, "combinations")
    spoilt = next(row for row in rows(combinations) if (row["server-version"], row["connections"]) == ("4.4", "32"))
    assert spoilt["Left out"].startswith("block 1, client limited: busiest generator thread 97 % of a CPU")
    assert int(spoilt["Runs"]) == len({trial.probe.block for trial in trials_of()}) - 1
    assert [fact.value for fact in report.verdict.facts if fact.label == "Runs"] == ["23 of 25 count; 1 made once more"]
    whole = next(row for row in rows(combinations) if (row["server-version"], row["connections"]) == ("6.0", "32"))
    assert whole["Left out"] == ""
    by_both = {(row["server-version"], row["connections"]): row["Throughput"] for row in rows(combinations)}
    name = matrix.columns[0].label
    for row in rows(matrix):
        assert {level: row[level] for level in ("1", "4", "16", "32")} == {
            level: by_both[row[name], level] for level in ("1", "4", "16", "32")
        }
    (best,) = [cell.text for line in matrix.rows for cell in line if cell.tone == "pass"]
    assert best == by_both["6.0", "32"]


def test_a_combination_without_any_run_that_counts_has_a_dash() -> None:
    only_spoilt = [number for number, trial in enumerate(trials_of(), start=1) if trial.probe.levels == ("4.4", "32")]
    report = varied(first=only_spoilt[1])
    combinations, *_ = tables(report, "combinations")
    spoilt = next(row for row in rows(combinations) if (row["server-version"], row["connections"]) == ("4.4", "32"))
    assert spoilt["Runs"] == "0"
    assert spoilt["Throughput"] == "—"
    assert "combinations without a run that counts" in [badge.text for badge in report.verdict.badges]


def test_servers_tell_which_runs_they_had() -> None:
    (table,) = tables(varied(spoilt=False), "servers")
    found = rows(table)
    assert [row["Server"] for row in found[:2]] == ["1", "2"]
    assert {row["Version"] for row in found} == {"4.4.1", "6.0.1"}
    assert [row["Runs"] for row in found[:2]] == ["1–4", "5–8"]
    (environment,) = (each for each in varied().sections if each.id == "environment")
    assert [block.title for block in environment.blocks if isinstance(block, Facts)] == ["Generator host"]


def test_charts_have_a_line_for_each_combination_of_the_others() -> None:
    found = charts(varied())
    assert set(found) == {
        "connections-throughput", "connections-latency", "server-version-throughput", "server-version-latency",
    }  # fmt: skip
    curves = found["connections-throughput"].figure["data"]
    assert [trace["x"] for trace in curves] == [[1, 4, 16, 32], [1, 4, 16, 32]]
    assert all(trace["error_y"]["array"][0] > 0 for trace in curves)
    assert len(found["connections-latency"].figure["data"]) == 4


def test_the_figures_fit_each_other() -> None:
    findings = varied().data["lint"]
    assert findings
    assert [each for each in findings if each["result"] == "fail"] == []


def test_a_mean_that_is_not_known_is_no_claim() -> None:
    """Of a run that was interrupted before anything was answered there is a rate, 0, and no mean of it."""
    report = varied(first=1)
    without = [{**each, "throughput_ops_per_s": None} for each in report.data["combinations"]]
    means = [each.name for each in vary_claims(report).repeated if each.name.startswith("mean of")]
    left = vary_claims(replace(report, data={**report.data, "combinations": without})).repeated
    assert len(means) == 1
    assert [each.name for each in left if each.name.startswith("mean of")] == []


def test_machines_and_spreadsheets_get_every_run_with_its_levels() -> None:
    report = varied()
    document = json.loads(render_json(report))
    assert document["kind"] == "vary"
    assert document["factors"][0] == {"name": "server-version", "levels": ["4.4", "6.0"]}
    assert len(document["combinations"]) == len(SETTINGS.combinations)
    assert len(document["probes"]) == len(trials_of())
    table = list(csv.DictReader(io.StringIO(probes_csv(document))))
    assert len(table) == len(trials_of())
    assert {(row["server-version"], row["connections"]) for row in table} == {
        tuple(each) for each in SETTINGS.combinations
    }
    assert {row["result"] for row in table} == {"counts", "client_limited"}
    assert "| 6.0 | 4.4 |" in render_markdown(report)


def test_it_is_said_in_chinese() -> None:
    report = in_language(varied(), "zh")
    assert _english(report, *QUOTED, DIRECTORY) == set()
    assert "服务器版本 6.0 相对 4.4" in render_html(report)


def test_a_further_table_of_a_section_says_what_it_is_on_a_terminal_too() -> None:
    report = varied()
    further = [table.caption for section in report.sections for table in tables(report, section.id)[1:]]
    starts = ("The same at each combination of the other factors.", "p is adjusted for all differences of a factor")
    assert any(all(start in caption for start in starts) for caption in further)
    out = io.StringIO()
    print_report(report, Console(file=out, width=160))
    printed = " ".join(out.getvalue().split())
    assert all(start in printed for start in starts)


def test_plans_that_differ_between_combinations_are_shown(tmp_path: Path) -> None:
    """A step that has the same plan everywhere is counted only; other work has no such section."""
    assert plans_blocks(trials_of(), SETTINGS) == []
    plans = {"4.4": {"latest": "COLLSCAN", "key": "IDHACK"}, "6.0": {"latest": "IXSCAN { a: 1 }", "key": "IDHACK"}}
    trials = [replace(trial, plans=plans[trial.probe.levels[0]]) for trial in trials_of()]
    (found,) = plans_blocks(trials, SETTINGS)
    assert isinstance(found, Table)
    shown = rows(found)
    assert len(shown) == 8 and {row["Step"] for row in shown} == {"latest"}
    assert {(row["server-version"], row["Query plan"]) for row in shown} == {
        ("4.4", "COLLSCAN"),
        ("6.0", "IXSCAN { a: 1 }"),
    }
    assert found.caption.endswith("1 of 2 steps had the same plan in all.")
    (same,) = plans_blocks([replace(trial, plans=plans["6.0"]) for trial in trials], SETTINGS)
    assert isinstance(same, Text) and same.text == "Every step had the same plan in every combination."
    record = write_own_run(tmp_path / "run")
    read = read_vary_trial(VaryProbe(block=1, levels=("4.4", "1")), record, server=1)
    assert read.plans == {
        "latest_orders": "IXSCAN { _id: 1 }, sorts in memory",
        "place_order: find customers": "IXSCAN { city: 1 }",
        "place_order: update stock": "COLLSCAN",
        "revenue": "COLLSCAN",
    }


def test_two_factors_have_a_heat_map_whose_darkest_place_is_the_worst() -> None:
    (chart,) = [
        block for section in measured().sections for block in section.blocks
        if isinstance(block, Chart) and block.id == "heat-map"
    ]  # fmt: skip
    colors = {(each["y"][0], each["x"][0]): each["marker"]["color"] for each in chart.figure["data"]}
    assert ("replica-set-3", "64") not in colors, "it failed, and has no place"
    worst, best = colors["replica-set-3", "8"], colors["standalone", "64"]
    assert int(worst[4:].split(",")[1]) < int(colors["standalone", "8"][4:].split(",")[1]) < int(best[4:].split(",")[1])
    assert not any(
        block for section in varied().sections for block in section.blocks if getattr(block, "id", "") == "heat-map"
    )


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (None, 4818.0, "≤ 4 818 ops/s"),
        (4818.0, None, "≥ 4 818 ops/s"),
        (4000.0, 5000.0, "4 818 ops/s"),
        (4000.0, None, "4 818 ops/s"),
        (None, None, "4 818 ops/s"),
    ],
)
def test_a_figure_that_is_no_more_than_a_bound_is_shown_as_one(
    low: float | None, high: float | None, text: str
) -> None:
    metric = next(each for each in all_metrics("closed loop", ()) if each.key == "throughput")
    mean = Mean(value=4818.0, run_count=1, estimate=None, low=low, high=high)
    assert mean_text(Cell(levels=("1",), means={"throughput": mean}, left_out=(), precise=False), metric) == text


@pytest.mark.parametrize(
    ("unit", "value", "low", "high", "text"),
    [
        ("ops/s", 60.0, 0.0, 121.0, "at most 121.0 ops/s"),
        ("share", 0.0005, 0.0, 0.002, "at most 0.2 %"),
        ("share", 0.0, 0.0, 0.002, "at most 0.2 %"),
        ("share", 0.0, 0.0, 0.0, "0 % to 0 %"),
        ("ops/s", 60.0, None, 121.0, "at most 121.0 ops/s"),
        ("ops/s", 60.0, 40.0, 121.0, "40 ops/s to 121 ops/s"),
        ("ops/s", 1.0, -3.0, 5.0, "-3.0 ops/s to 5.0 ops/s"),
        ("ops/s", 60.0, 0.0, 1e9, "can't be told"),
        ("ops/s", 60.0, 0.1, 1e9, "can't be told"),
    ],
)
def test_an_interval_from_0_on_is_a_bound(unit: str, value: float, low: float | None, high: float, text: str) -> None:
    metric = Metric(key="x", label="X", unit=unit, higher_is_better=True, decides=True)
    assert ends_text(Mean(value=value, run_count=1, estimate=None, low=low, high=high), metric) == text
