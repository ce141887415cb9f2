"""What a scan asks next, and the commands that it sends."""

from dataclasses import replace
from typing import Any

import pytest

from brimline.analysis.scan_figures import Execution
from brimline.experiments.scan.order import (
    RangeBounds,
    ScanProbe,
    ScanSettings,
    Step,
    assumed_time,
    enough,
    explain_command,
    next_step,
    probes,
    scan_command,
    scan_time,
    starts,
    widths,
)
from brimline.spec.scans import RangeSpec, ScansSpec, ScenarioSpec

MS = 1_000_000


def scenario(**values: Any) -> ScenarioSpec:
    return ScenarioSpec.model_validate({"name": "n", **values})


def scans(**values: Any) -> ScansSpec:
    return ScansSpec.model_validate({"scenarios": [{"name": "n", "filter": "all"}], **values})


def steady(elapsed_ns: int) -> Execution:
    return Execution(
        touch="steady", documents=1, bytes=1, batches=1, first_reply_ns=1, elapsed_ns=elapsed_ns, client_cpu_ns=1
    )


def test_first_touch_then_the_explanation_then_repetitions_until_the_interval_is_narrow() -> None:
    asked = scans()
    first = replace(steady(50 * MS), touch="first")
    assert next_step([], explained=False, scans=asked) is Step.FIRST
    assert next_step([first], explained=False, scans=asked) is Step.EXPLAIN
    assert next_step([first], explained=True, scans=asked) is Step.STEADY
    repeated = [first, steady(10 * MS), steady(10 * MS)]
    assert next_step(repeated, explained=True, scans=asked) is Step.STEADY
    assert next_step([*repeated, steady(10 * MS)], explained=True, scans=asked) is None


def test_repetitions_end_by_precision_by_number_or_by_time() -> None:
    restless = [10.0 * MS, 20.0 * MS, 30.0 * MS]
    assert not enough(restless, scans())
    assert enough(restless, scans(precision=1.0)) is False, "Student's interval of three such is wider than the mean"
    assert enough([10.0 * MS, 10.1 * MS, 10.0 * MS], scans())
    assert enough(restless, scans(repetitions=3))
    assert enough(restless, scans(time_per_scenario="60ms"))
    assert not enough(restless[:2], scans(time_per_scenario="1ms")), "three at least, however long they take"


def test_each_width_is_a_query_of_its_own() -> None:
    asked = ScansSpec.model_validate(
        {"scenarios": [{"name": "a", "filter": "all"}, {"name": "b", "range": {"field": "x", "widths": [5, 6, 7]}}]}
    )
    found = probes(asked, entry_count=100)
    assert found[0] == ScanProbe(scenario=0, name="a")
    assert [each.width for each in found[1:]] == [5, 6, 7]
    assert found[-1].label == "b 7"
    estimate = scan_time(found, asked, restarts=True).text
    assert estimate.startswith("estimate: 4 probes (scan 4); at most "), estimate
    assert "; each after a restart of the server, once" in estimate


@pytest.mark.parametrize(
    ("count", "expected"), [(250_000, [1_000, 10_000, 100_000, 250_000]), (1_000, [1_000]), (10, [10])]
)
def test_widths_that_are_not_given(count: int, expected: list[int]) -> None:
    assert widths(RangeSpec(field="x"), entry_count=count) == expected


def test_ranges_lie_behind_each_other_where_they_fit() -> None:
    assert starts([10, 20, 30], entry_count=60) == [0, 10, 30]
    assert starts([10, 20, 30], entry_count=59) == [0, 0, 0]


def test_a_find_with_everything() -> None:
    asked = scenario(
        range={"field": "time"}, filter={"level": "ERROR"}, sort={"time": -1}, limit=5, projection={"_id": 0}, hint="t"
    )
    command = scan_command(asked, collection="log", bounds=RangeBounds(low=3, high=9), timeout_ns=2_000 * MS)
    assert next(iter(command)) == "find"
    assert command == {
        "find": "log",
        "filter": {"time": {"$gte": 3, "$lt": 9}, "level": "ERROR"},
        "sort": {"time": -1},
        "projection": {"_id": 0},
        "limit": 5,
        "hint": "t",
        "maxTimeMS": 2_000,
    }
    to_the_end = scan_command(asked, collection="log", bounds=RangeBounds(low=3), timeout_ns=MS)
    assert to_the_end["filter"]["time"] == {"$gte": 3}


def test_an_aggregate_with_a_range_matches_it_first() -> None:
    asked = scenario(range={"field": "time"}, pipeline=[{"$group": {"_id": "$level"}}], hint="$natural")
    command = scan_command(asked, collection="log", bounds=RangeBounds(low=1, high=2), timeout_ns=MS)
    assert command["pipeline"] == [{"$match": {"time": {"$gte": 1, "$lt": 2}}}, {"$group": {"_id": "$level"}}]
    assert command["cursor"] == {} and command["hint"] == {"$natural": 1}
    assert scan_command(scenario(filter="all"), collection="c", bounds=None, timeout_ns=MS)["filter"] == {}


def test_explain_wraps_the_command_and_keeps_the_time_limit() -> None:
    command = explain_command({"find": "c", "filter": {}, "maxTimeMS": 9})
    assert command == {"explain": {"find": "c", "filter": {}}, "verbosity": "executionStats", "maxTimeMS": 9}


def test_what_a_scan_is_assumed_to_take_follows_its_queries() -> None:
    two = scans(
        scenarios=[
            scenario(name="all", filter={"a": 1}),
            scenario(name="few", range={"field": "a", "widths": [10, 20, 30]}),
        ]
    )
    small, warm = (assumed_time(two, 1000, ScanSettings(restarts=restarts)).typical_s for restarts in (True, False))
    assert small - warm == pytest.approx(10.0), "four queries, a restart each"
    assert warm < 2
    large = assumed_time(two, 100_000_000, ScanSettings(restarts=False)).typical_s
    assert 500 < large < 510, "100 s cold, 100 s explained, three times more; the few entries take no time"
