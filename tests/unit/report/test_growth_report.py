"""The report of a growth experiment on a server that is known, in English, in Chinese and for machines."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from brimline.analysis.figure import Figure
from brimline.analysis.growth.breakpoints import ALPHA
from brimline.analysis.growth.moved import breaks_moved
from brimline.analysis.metric_names import check_names
from brimline.experiments.growth.conclusion import conclude
from brimline.experiments.growth.order import GrowthSettings, IndexSet, Protocol
from brimline.report import Report, in_language, render_html, render_json
from brimline.report.growth.view import growth_report
from brimline.report.showing import figures_csv, showing
from brimline.report.view import Chart, Table
from tests.unit.experiments.growth_simulator import GrowingServer
from tests.unit.report.language.test_chinese_report import QUOTED, _english
from tests.unit.report.report_samples import ended_experiment

SETTINGS = GrowthSettings(
    to_records=560_000, step_records=40_000, connections=(1, 8), indexes=(IndexSet.PRIMARY, IndexSet.SINGLE)
)
SETTINGS_OF_ONE = replace(SETTINGS, indexes=(IndexSet.PRIMARY,))
CACHE_RECORDS = 180_000.0
DIRECTORY = "runs/20260302t091405z-growth-order-service-12345678"


def report_of(server: GrowingServer, settings: GrowthSettings = SETTINGS, *, first: int | None = None) -> Report:
    trials = server.grow(settings)[:first]
    experiment = ended_experiment("growth", DIRECTORY)
    return growth_report(experiment, trials, conclude(settings, trials), settings)


def charts(report: Report) -> dict[str, Chart]:
    return {block.id: block for section in report.sections for block in section.blocks if isinstance(block, Chart)}


def test_the_headline_is_the_query_breakpoint_with_its_interval_and_cause() -> None:
    report = report_of(GrowingServer(cache_records=CACHE_RECORDS))
    assert report.verdict.caption == "Query breakpoint"
    assert report.verdict.unit == "records"
    assert report.verdict.interval.startswith("95 % CI ")
    assert "collection past the cache" in report.verdict.sentence
    (there,) = [fact.value for fact in report.verdict.facts if fact.label == "Collection there"]
    assert "of documents; the cache has" in there


def _found(report: Report) -> list[str]:
    """What and which index set of each row of the table that has a break."""
    (table,) = (block for section in report.sections if section.id == "breakpoints" for block in section.blocks)
    assert isinstance(table, Table)
    return [
        f"{row[0].text} {row[1].text}" for row in table.rows if row[2].text != "none found" and "few" not in row[2].text
    ]


def test_a_row_says_what_there_was_too_little_of_as_the_headline_does() -> None:
    """An import has stretches of a second or more, and queries have volumes."""
    report = report_of(GrowingServer(cache_records=CACHE_RECORDS), SETTINGS_OF_ONE, first=20)
    (table,) = (block for section in report.sections if section.id == "breakpoints" for block in section.blocks)
    assert isinstance(table, Table)
    import_rate, *queries = [row[2].text for row in table.rows]
    assert import_rate == "too few stretches" and set(queries) == {"too few volumes"}
    said = {fact.label: fact.value for fact in report.verdict.facts}["Import"]
    assert import_rate in said and queries[0] in report.verdict.sentence


def test_a_break_of_the_second_index_set_is_in_the_headline() -> None:
    """It said that none was found, above the row that has it."""
    trials = [
        trial
        for indexes, cache in ((IndexSet.PRIMARY, None), (IndexSet.SINGLE, CACHE_RECORDS))
        for trial in GrowingServer(cache_records=cache, noise=0.005).grow(replace(SETTINGS, indexes=(indexes,)))
    ]
    conclusion = conclude(SETTINGS, trials)
    report = growth_report(ended_experiment("growth", DIRECTORY), trials, conclusion, SETTINGS)
    assert report.verdict.caption == "Query breakpoint" and report.verdict.figure
    assert [badge.text for badge in report.verdict.badges] == ["single", "1 connection"]
    told = " ".join([report.verdict.sentence, *(fact.value for fact in report.verdict.facts), conclusion.text])
    assert _found(report) == ["Time per query over 1 connection single", "Time per query over 8 connections single"]
    assert "ingle: time per query over 8 connections: at " in told
    assert "rimary: time per query over 1 connection: none found" in told


def test_a_break_of_the_import_alone_is_the_headline() -> None:
    report = report_of(GrowingServer(import_break_records=300_000, noise=0.005), SETTINGS_OF_ONE)
    assert _found(report) == ["Import rate primary"]
    assert report.verdict.caption == "Import breakpoint" and "import is slower: 0." in report.verdict.sentence


def test_all_breaks_that_are_looked_for_are_one_family() -> None:
    """A chance of 2 % is one in fifty: of ten series it is no finding."""
    conclusion = conclude(SETTINGS, GrowingServer(cache_records=CACHE_RECORDS).grow(SETTINGS))
    rows = [each for growth in conclusion.sets for each in growth.breaks]
    p_values = sorted(each.result.p_value for each in rows)
    assert sorted(each.adjusted_p for each in rows)[0] == pytest.approx(min(1.0, len(rows) * p_values[0]))
    assert all(
        each.found is (each.adjusted_p <= ALPHA) for each in rows if each.result.found or each.adjusted_p > ALPHA
    )


def test_no_line_is_drawn_over_a_volume_without_a_figure() -> None:
    trials = [
        replace(trial, query=replace(trial.query, problem="cut short"))
        if trial.query is not None and trial.task.records == 200_000
        else trial
        for trial in GrowingServer().grow(SETTINGS_OF_ONE)
    ]
    report = growth_report(
        ended_experiment("growth", DIRECTORY), trials, conclude(SETTINGS_OF_ONE, trials), SETTINGS_OF_ONE
    )
    (line, *_) = charts(report)["queries-primary"].figure["data"]
    values = dict(zip(line["x"], line["y"], strict=True))
    assert values[200_000] is None and values[160_000] and values[240_000]


def test_there_is_a_chart_for_import_disk_and_queries() -> None:
    found = charts(report_of(GrowingServer(cache_records=CACHE_RECORDS)))
    assert set(found) == {"import", "disk-primary", "disk-single", "queries-primary", "queries-single"}
    queries = found["queries-primary"].figure
    assert [trace["name"] for trace in queries["data"]] == ["1 connection", "8 connections", "fitted"]
    (band,) = queries["layout"]["shapes"][:1]
    assert band["x0"] <= CACHE_RECORDS <= band["x1"]


def test_without_a_breakpoint_nothing_is_marked() -> None:
    report = report_of(GrowingServer(noise=0.001))
    assert report.verdict.caption == "No breakpoint found"
    assert report.verdict.figure == ""
    assert charts(report)["queries-primary"].figure["layout"]["shapes"] == []
    (table,) = (block for section in report.sections if section.id == "breakpoints" for block in section.blocks)
    assert isinstance(table, Table)
    assert {row[2].text for row in table.rows} == {"none found"}


def test_the_protocol_is_named_exactly() -> None:
    settings = GrowthSettings(to_records=80_000, step_records=40_000, protocol=Protocol.COLD)
    html = render_html(report_of(GrowingServer(), settings))
    assert "posix_fadvise" in html
    assert "beyond reach" in html


def test_the_json_has_every_volume_and_the_breakpoints() -> None:
    document = json.loads(render_json(report_of(GrowingServer(cache_records=CACHE_RECORDS))))
    first = document["index_sets"][0]
    assert [volume["records"] for volume in first["volumes"]][:2] == [40_000, 80_000]
    assert len(first["volumes"][0]["queries"]) == 2 * SETTINGS.repeats
    found = first["query_breakpoints"][0]
    low, high = found["interval_records"]
    assert low <= found["position_records"] <= high
    assert found["causes"][0]["name"] == "collection past the cache"
    assert first["import_breakpoint"]["position_records"] is None
    (bytes_per_record,) = {volume["load"]["data_bytes"] / volume["records"] for volume in first["volumes"]}
    assert found["position_bytes"] == round(found["position_records"] * bytes_per_record)
    assert first["cache_bytes"] == max(volume["load"]["signals"]["cache_bytes_max"] for volume in first["volumes"])


@pytest.mark.parametrize("first", [None, 30, 0], ids=["whole", "too few volumes", "nothing"])
@pytest.mark.parametrize("protocol", list(Protocol))
def test_no_english_word_is_left_in_chinese(first: int | None, protocol: Protocol) -> None:
    settings = GrowthSettings(
        to_records=560_000, step_records=40_000, connections=(1, 8), protocol=protocol, disk_share_max=0.5
    )
    server = GrowingServer(cache_records=CACHE_RECORDS, import_break_records=250_000.0)
    report = in_language(report_of(server, settings, first=first), "zh")
    assert _english(report, *QUOTED, "posix_fadvise", DIRECTORY) == set()


OF_SEVERAL_BATCHES = replace(SETTINGS_OF_ONE, to_records=200_000, queries=(10_000, 20_000), repeats=2)


def test_each_batch_has_its_own_row_in_table_and_csv() -> None:
    report = report_of(GrowingServer(cache_records=CACHE_RECORDS), OF_SEVERAL_BATCHES)
    (table,) = (
        block
        for section in report.sections
        if section.id == "queries"
        for block in section.blocks
        if isinstance(block, Table)
    )
    assert table.headings[:2] == ["Records", "Queries, per batch"]
    assert [cell.text for cell in table.rows[1]][:2] == ["40 000", "20 000"] and len(table.rows) == 5 * 2
    steps, batches = (list(csv.DictReader(io.StringIO(text))) for text in figures_csv(report).split("\n\n"))
    assert [row["records"] for row in steps] == ["40000", "80000", "120000", "160000", "200000"]
    assert float(steps[0]["import_time_per_million_ns"]) == pytest.approx(
        1e15 / float(steps[0]["import_documents_per_s"])
    )
    assert float(steps[-1]["data_bytes"]) == 200_000_000
    assert len(batches) == 5 * 2 * 2
    assert {(row["queries"], row["connections"]) for row in batches} == {
        ("10000", "1"), ("10000", "8"), ("20000", "1"), ("20000", "8"),
    }  # fmt: skip
    assert all(float(row["service_mean_ns_low"]) <= float(row["service_mean_ns"]) for row in batches)


def test_figures_of_steps_and_batches_can_be_chosen() -> None:
    report = report_of(GrowingServer(cache_records=CACHE_RECORDS), OF_SEVERAL_BATCHES)
    check_names(["import_time", "query_time", "storage_size"])
    shown = showing(report, ["import_time", "query_time"]).sections[0]
    tables = [block for block in shown.blocks if isinstance(block, Table)]
    assert tables[0].headings == ["Records", "Import of a million"]
    assert tables[1].headings[:4] == ["Records", "Queries", "Connections", "Time in the server"]
    assert {"shown-records-import-time", "shown-records-query-time", "shown-queries-query-time"} <= {
        block.id for block in shown.blocks if isinstance(block, Chart)
    }


def cell(cache_records: float | None) -> dict[str, Figure]:
    """The query breakpoint of a growth on a server whose cache holds so many records."""
    conclusion = conclude(SETTINGS_OF_ONE, GrowingServer(cache_records=cache_records, drift=0.0).grow(SETTINGS_OF_ONE))
    found = conclusion.sets[0].query_break.result.found
    last = conclusion.sets[0].volumes[-1].records
    place = (last, last, None) if found is None else (found.position.value, found.position.low, found.position.high)
    value, low, high = place
    return {"query_break.1": Figure(key="query_break.1", value=float(value), low=low, high=high, unit="records",
                                    label="Queries break at, 1 connection", higher_is_better=True)}  # fmt: skip


def test_a_breakpoint_that_moves_with_the_shards_is_said_to_with_its_ratio() -> None:
    """The known answer: twice the cache, twice the records."""
    (told,) = breaks_moved([("standalone", cell(130_000)), ("2 shards", cell(260_000))])
    assert "it moves up with 2 shards" in told
    ratio, low, high = (
        float(each) for each in re.findall(r"([\d.]+) times as many \(95 % CI ([\d.]+)–([\d.]+)\)", told)[0]
    )
    assert low <= 2 <= high and ratio == pytest.approx(2, rel=0.1)


def test_a_breakpoint_that_stays_is_not_said_to_move() -> None:
    (told,) = breaks_moved([("standalone", cell(180_000)), ("2 shards", cell(180_000))])
    assert "no move is shown" in told


def test_a_breakpoint_beyond_the_last_volume_is_a_bound() -> None:
    (told,) = breaks_moved([("standalone", cell(130_000)), ("4 shards", cell(None))])
    assert "it moves up with 4 shards, at least" in told and "none up to 560 000" in told
    (none,) = breaks_moved([("standalone", cell(None)), ("2 shards", cell(None))])
    assert none.startswith("Queries break at, 1 connection: none with standalone")
    assert breaks_moved([("standalone", cell(None))]) == []
