"""The report of a growth experiment on a server that is known, in English, in Chinese and for machines."""

import json

import pytest

from brimline.experiments.growth.conclusion import conclude
from brimline.experiments.growth.order import GrowthSettings, IndexSet, Protocol
from brimline.report import Report, in_language, render_html, render_json
from brimline.report.growth.view import growth_report
from brimline.report.view import Chart, Table
from tests.unit.experiments.growth_simulator import GrowingServer
from tests.unit.report.language.test_chinese_report import QUOTED, _english
from tests.unit.report.report_samples import ended_experiment

SETTINGS = GrowthSettings(
    to_records=560_000, step_records=40_000, connections=(1, 8), indexes=(IndexSet.PRIMARY, IndexSet.SINGLE)
)
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


def test_there_is_a_chart_for_import_disk_and_queries() -> None:
    found = charts(report_of(GrowingServer(cache_records=CACHE_RECORDS)))
    assert set(found) == {"import", "disk-primary", "disk-single", "queries-primary", "queries-single"}
    queries = found["queries-primary"].figure
    assert [trace["name"] for trace in queries["data"]] == ["1 connection", "8 connections", "fitted"]
    (band,) = queries["layout"]["shapes"][:1]
    assert band["x0"] <= CACHE_RECORDS <= band["x1"]


def test_without_a_breakpoint_nothing_is_marked() -> None:
    report = report_of(GrowingServer(noise=0.001))
    assert report.verdict.caption == "No query breakpoint found"
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
