"""Growth on servers whose breakpoints are known, on no clock at all."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from brimline.analysis.growth.cause import onset
from brimline.analysis.growth.figures import quiet_time_ns
from brimline.analysis.growth.speed import speed_share
from brimline.experiments.growth.conclusion import GrowthConclusion, conclude
from brimline.experiments.growth.cost import growth_cost
from brimline.experiments.growth.order import (
    Growth,
    GrowthEnd,
    GrowthSettings,
    IndexSet,
    index_fields,
)
from brimline.record.model import ServerRow
from brimline.spec.data import DataSpec

from .growth_simulator import GrowingServer

SETTINGS = GrowthSettings(to_records=560_000, step_records=40_000, connections=(1, 8), repeats=3)
CACHE_RECORDS = 180_000.0


def grown(server: GrowingServer, settings: GrowthSettings = SETTINGS) -> GrowthConclusion:
    return conclude(settings, server.grow(settings))


def test_steps_and_batches_come_in_order() -> None:
    settings = GrowthSettings(
        to_records=250, step_records=100, connections=(1, 8), queries=(100, 200), repeats=2, disk_share_max=None
    )
    tasks = [trial.task for trial in GrowingServer().grow(settings)]
    loads = [(task.there, task.records) for task in tasks if task.stage == "load"]
    assert loads == [(0, 100), (100, 200), (200, 250)]
    assert [task.stage for task in tasks[:9]] == ["load"] + 8 * ["query"]
    assert [(task.repeat, task.queries, task.connections) for task in tasks[1:6]] == [
        (0, 100, 1),
        (0, 100, 8),
        (0, 200, 1),
        (0, 200, 8),
        (1, 100, 1),
    ]
    assert len(tasks) == 3 * (1 + settings.batches_per_step)


@pytest.mark.parametrize(
    ("absurd", "problem"),
    [
        ({"to_records": 10**12, "step_records": 1}, "at most 10000"),
        ({"repeats": 10**9}, "at most 10000"),
        ({"step_records": 0}, "a step of at least 1 record"),
        ({"connections": (0,)}, "at least 1 connection"),
        ({"connections": (10**9,)}, "at most 50000 connections"),
        ({"queries": (1,)}, "at least 100"),
        ({"query_time_factor_max": math.nan}, "greater than 1"),
        ({"import_rate_factor_max": math.inf}, "greater than 1"),
        ({"query_time_factor_max": 1.0}, "greater than 1"),
        ({"disk_share_max": 0.0}, "above 0%"),
        ({"disk_share_max": 1.5}, "at most 100%"),
        ({"budget_s": 0.0}, "no time"),
    ],
)
def test_settings_that_nobody_can_mean_are_refused(absurd: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        replace(SETTINGS, **absurd)


def test_the_query_breakpoint_is_where_the_cache_ends() -> None:
    hits = 0
    for seed in range(10):
        conclusion = grown(GrowingServer(cache_records=CACHE_RECORDS, rng=np.random.default_rng(seed)))
        found = conclusion.sets[0].query_break
        assert found.result.found is not None
        hits += abs(found.result.found.position.value / CACHE_RECORDS - 1) <= 0.15
        assert [cause.name for cause in found.causes] == ["collection past the cache"]
        assert conclusion.sets[0].cache_holds_records == pytest.approx(CACHE_RECORDS, rel=1e-6)
        assert not conclusion.sets[0].import_break.found
    assert hits >= 9


def test_without_a_breakpoint_it_says_none() -> None:
    found = sum(
        each.found
        for seed in range(20)
        for growth in grown(GrowingServer(noise=0.05, rng=np.random.default_rng(seed))).sets
        for each in (growth.import_break, *growth.query_breaks)
    )
    assert found <= 2  # 60 tests at 1 %
    conclusion = grown(GrowingServer(noise=0.001))
    assert conclusion.sets[0].query_break.text == (
        "time per query over 1 connection: none found up to 560 000 records; "
        "looked for 10 % off its course there, beyond chance"
    )
    assert conclusion.sets[0].cache_holds_records is None
    assert conclusion.ended_by is GrowthEnd.TARGET


def test_the_import_breakpoint_names_what_began_with_it() -> None:
    found = grown(GrowingServer(import_break_records=300_000)).sets[0].import_break
    assert found.result.found is not None
    assert found.result.found.position.value == pytest.approx(300_000, rel=0.15)
    assert found.result.found.ratio < 1
    assert {cause.name for cause in found.causes} == {
        "indexes' working set past the cache",
        "eviction by clients' threads",
    }


def test_a_breakpoint_with_which_nothing_coincides_is_undetermined() -> None:
    found = grown(GrowingServer(cache_records=CACHE_RECORDS, blind=True)).sets[0].query_break
    assert found.found
    assert found.causes == () and found.cause_text == "undetermined"


def test_signals_that_were_there_before_or_never_came_did_not_begin() -> None:
    assert onset([(1, 0.0), (2, 0.1), (3, 0.6), (4, 0.7)], 0.5) == (2, 3, 0.7)
    assert onset([(1, 0.6), (2, 0.7), (3, 0.6)], 0.5) is None
    assert onset([(1, 0.0), (2, 0.1), (3, 0.2)], 0.5) is None
    assert onset([(1, 0.0), (2, 0.9), (3, 0.1), (4, 0.1)], 0.5) is None  # one look is no beginning


def test_each_index_set_grows_by_itself() -> None:
    settings = replace(SETTINGS, indexes=(IndexSet.PRIMARY, IndexSet.COMPOUND))
    conclusion = grown(GrowingServer(), settings)
    assert [each.indexes for each in conclusion.sets] == [IndexSet.PRIMARY, IndexSet.COMPOUND]
    assert [len(each.volumes) for each in conclusion.sets] == [14, 14]
    assert index_fields(IndexSet.COMPOUND, ["field0", "field1", "field2"]) == [{"field0": 1, "field1": 1}]


@pytest.mark.parametrize(
    ("changes", "server", "end", "last_records"),
    [
        ({"query_time_factor_max": 1.5}, GrowingServer(cache_records=CACHE_RECORDS), GrowthEnd.QUERY_TIME, 280_000),
        ({"import_rate_factor_max": 2}, GrowingServer(import_break_records=120_000), GrowthEnd.IMPORT_RATE, 240_000),
        ({"disk_share_max": 0.3}, GrowingServer(), GrowthEnd.DISK, 320_000),
        ({"budget_s": 30.0}, GrowingServer(), GrowthEnd.BUDGET, 200_000),
    ],
)
def test_stop_rules(changes: dict[str, float], server: GrowingServer, end: GrowthEnd, last_records: int) -> None:
    settings = replace(SETTINGS, **changes)
    trials = server.grow(settings)
    assert conclude(settings, trials).ended_by is end
    assert abs(trials[-1].task.records - last_records) <= settings.step_records
    assert trials[-1].task.records < settings.to_records


def test_a_stopped_index_set_lets_the_next_one_grow() -> None:
    settings = replace(SETTINGS, indexes=(IndexSet.PRIMARY, IndexSet.SINGLE), disk_share_max=0.1)
    conclusion = grown(GrowingServer(), settings)
    assert [each.volumes[-1].records for each in conclusion.sets] == [120_000, 120_000]
    assert conclusion.sets[0].stopped == "12 % of the file system is in use"


@pytest.mark.parametrize("kept", [0, 1, 5, 30])
def test_a_resumed_growth_goes_on_where_it_ended(kept: int) -> None:
    whole = GrowingServer().grow(SETTINGS)
    resumed = GrowingServer().grow(SETTINGS, whole[:kept])
    assert [trial.task for trial in resumed] == [trial.task for trial in whole]


def test_nothing_is_asked_after_a_trial_that_broke_off() -> None:
    whole = GrowingServer().grow(SETTINGS)
    lost = [*whole[:10], replace(whole[10], ended_by="target_lost", query=None)]
    assert Growth(SETTINGS).next_probe(lost) is None
    assert conclude(SETTINGS, lost).ended_by is GrowthEnd.BROKEN_OFF
    interrupted = [*whole[:10], replace(whole[10], ended_by="interrupt", query=None)]
    assert conclude(SETTINGS, interrupted).ended_by is GrowthEnd.INCOMPLETE


def test_a_volume_whose_batches_were_cut_short_has_no_say() -> None:
    whole = GrowingServer().grow(SETTINGS)
    found = conclude(SETTINGS, whole[:-1]).sets[0].query_breaks
    assert [each.volumes[-1] for each in found] == [560_000, 520_000]
    assert all(len(each.values) == len(each.volumes) for each in found)


def test_a_batch_with_failures_has_no_say() -> None:
    trials = GrowingServer().grow(SETTINGS)
    spoilt = [
        replace(trial, query=replace(trial.query, quiet_time_ns=1.0, problem="queries failed"))
        if trial.query is not None and trial.task.repeat == 0
        else trial
        for trial in trials
    ]
    times = [volume.time_ns(1) for volume in conclude(SETTINGS, spoilt).sets[0].volumes]
    assert all(time_ns is not None and time_ns > 1.0 for time_ns in times)


def rows(*slices: tuple[int, float]) -> Sequence[ServerRow]:
    """Looks between which so many reads took so many µs each."""
    found: list[dict[str, int]] = [{"reads_ops": 10, "reads_latency_us": 100}]
    for count, each_us in slices:
        last = found[-1]
        found.append(
            {
                "reads_ops": last["reads_ops"] + count,
                "reads_latency_us": last["reads_latency_us"] + round(count * each_us),
            }
        )
    return found


def test_bursts_of_disturbance_do_not_reach_the_quiet_time() -> None:
    calm = quiet_time_ns(rows(*8 * [(1000, 20.0)]))
    burst = quiet_time_ns(rows((1000, 20.0), (1000, 900.0), (1000, 20.0), (300, 500.0), (1000, 20.0)))
    assert calm == burst == 20_000
    assert quiet_time_ns(rows(*8 * [(50, 20.0)])) == 20_000  # looks with few reads are put together
    assert quiet_time_ns(rows((50, 20.0))) is None
    assert quiet_time_ns([]) is None


def test_without_controls_times_are_taken_as_they_are() -> None:
    server = GrowingServer(cache_records=CACHE_RECORDS, control=False, drift=0.0)
    found = grown(server).sets[0].query_break
    assert found.result.found is not None
    assert found.values[0] == pytest.approx(17_000 * 40**0.03, rel=0.1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"step_records": 0},
        {"step_records": 600_000},
        {"connections": ()},
        {"connections": (0,)},
        {"queries": (10,)},
        {"repeats": 0},
        {"indexes": (IndexSet.SINGLE, IndexSet.SINGLE)},
        {"query_time_factor_max": 1.0},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"growth|batch|queries|factor"):
        replace(SETTINGS, **wrong)


def test_the_estimate_follows_the_settings() -> None:
    data = DataSpec(records=1, fields=10)
    one = growth_cost(SETTINGS, data)
    two = growth_cost(replace(SETTINGS, indexes=(IndexSet.PRIMARY, IndexSet.SINGLE)), data)
    assert [(each.stage, each.probe_count) for each in one.time.stages] == [("load", 14), ("query", 14 * 6)]
    assert two.time.typical_s == pytest.approx(2 * one.time.typical_s)
    assert two.data_bytes - one.data_bytes == 100 * SETTINGS.to_records
    assert one.time.text.startswith("estimate: about ")


def test_a_control_that_is_noise_hides_no_breakpoint() -> None:
    """As on a quiet machine, where short controls vary by a tenth and queries hardly do."""
    settings = replace(SETTINGS, connections=(1,), repeats=2)
    hits = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        server = GrowingServer(cache_records=CACHE_RECORDS, drift=0.0, control_noise=0.1, rng=rng)
        found = grown(server, settings).sets[0].query_break.result.found
        hits += found is not None and abs(found.position.value / CACHE_RECORDS - 1) <= 0.15
    assert hits >= 9


@pytest.mark.parametrize(
    ("server", "least", "most"),
    [
        (GrowingServer(drift=0.3), 0.9, 1.0),
        (GrowingServer(drift=0.0, control_noise=0.1), 0.0, 0.1),
        (GrowingServer(drift=0.3, control=False), 0.0, 0.0),
    ],
    ids=["the machine's speed drifts", "the control is noise", "no control"],
)
def test_how_far_queries_follow_their_controls(server: GrowingServer, least: float, most: float) -> None:
    conclusion = grown(server)
    volumes = [each.batches(1) for each in conclusion.sets[0].volumes]
    assert least <= speed_share(volumes) <= most
    assert speed_share([batches[:1] for batches in volumes]) == 0, "one batch of each volume tells nothing"
