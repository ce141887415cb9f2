import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from brimline.analysis.finding import Standing
from brimline.analysis.observation import observe
from brimline.analysis.server_settling import server_checks
from brimline.analysis.steady import Steadiness, SteadyState, counted, steady_state
from brimline.plan import NullTarget, WireTarget, load_plan, resolve
from brimline.record.model import RunRecord, ServerRow
from brimline.record.time_histogram import IntervalHistogram
from brimline.spec import load_spec
from tests.unit.record.fake_histogram import FakeHistogram

from .records import MS, S, interval_row, operation_row, run_record

WIRE = WireTarget(address="h:1", write_concern=None)


def closed_record(rate_of: Callable[[int], int], seconds: int = 60, **changes: Any) -> RunRecord:
    """A closed loop with a rate for each second of its window."""
    return run_record(
        rate=None,
        operations=[operation_row(second, ok=rate_of(second)) for second in range(seconds)],
        intervals=[interval_row(second) for second in range(seconds)],
        **changes,
    )


def ripple(second: int) -> int:
    """1000 and a bit, without any trend."""
    return 1000 + (second * 37) % 5


def judged(record: RunRecord) -> SteadyState:
    found = steady_state(record)
    assert found is not None
    return found


def server_rows(
    fill: Callable[[int], float], dirty: Callable[[int], float] = lambda _: 0.01, checkpoints: int = 2
) -> list[ServerRow]:
    return [
        {
            "at_ns": second * S,
            "cache_bytes_max": 1000_000,
            "cache_bytes_used": int(1000_000 * fill(second)),
            "cache_bytes_dirty": int(1000_000 * dirty(second)),
            "checkpoints": 7 + checkpoints * second // 59,
        }
        for second in range(60)
    ]


def test_a_level_rate_is_steady() -> None:
    found = judged(closed_record(ripple))
    assert found.verdict is Steadiness.STEADY and found.finding.verdict is Standing.PASS
    assert found.evidence == "throughput kept level, slope and spread for 60.0 s"


def test_what_does_not_matter_is_no_drift() -> None:
    """Surely down, by 3 %."""
    found = judged(closed_record(lambda second: 10_000 - 5 * second))
    assert found.verdict is Steadiness.STEADY
    assert judged(closed_record(lambda second: 10_000 - 12 * second)).verdict is Steadiness.NOT_STEADY


def test_an_unsteady_run_is_warned_of_and_stays_valid() -> None:
    observation = observe(closed_record(lambda second: 1000 - 5 * second))
    finding = observation.findings[-1]
    assert finding.name == "steady_state" and finding.verdict is Standing.WARN
    assert "throughput drifts" in finding.evidence and "down over the window" in finding.evidence
    assert observation.valid


@pytest.mark.parametrize(("seconds", "verdict"), [(29, Steadiness.UNKNOWN), (30, Steadiness.STEADY)])
def test_half_a_minute_is_needed(seconds: int, verdict: Steadiness) -> None:
    assert judged(closed_record(ripple, seconds)).verdict is verdict


def test_a_stall_without_answers_is_no_zero_to_divide_by() -> None:
    assert judged(closed_record(lambda _: 0)).verdict is Steadiness.UNKNOWN


@pytest.mark.parametrize(
    "load",
    [
        {"kind": "tlr", "threads": 4, "loops": 5, "ramp_up": "10s"},
        {"kind": "ramp", "from": 10, "to": 100, "over": "60s"},
    ],
)
def test_what_is_meant_to_change_is_not_asked(load: dict[str, object]) -> None:
    spec = load_spec("ycsb-c", overrides={"load": load}).spec
    assert steady_state(closed_record(ripple, plan=resolve(spec, target=WIRE))) is None


def test_neither_a_load_nor_the_null_target_is_asked() -> None:
    spec = load_spec("ycsb-c").spec
    assert steady_state(closed_record(ripple, plan=load_plan(spec, target=WIRE))) is None
    assert steady_state(closed_record(ripple, plan=resolve(spec, target=NullTarget()))) is None


# The server's side


def test_a_cache_that_still_fills_takes_the_steady_back() -> None:
    found = judged(closed_record(ripple, server=server_rows(lambda second: 0.2 + second / 200)))
    assert found.verdict is Steadiness.UNKNOWN
    assert "the cache still fills, from 20 % to 49.5 %" in found.evidence


def test_a_full_cache_has_stopped_filling() -> None:
    assert judged(closed_record(ripple, server=server_rows(lambda s: 0.7 + s / 400))).verdict is Steadiness.STEADY


def test_dirty_pages_that_grow_between_two_checkpoints() -> None:
    rows = server_rows(lambda _: 0.8, lambda second: second / 600, checkpoints=0)
    found = judged(closed_record(ripple, server=rows))
    assert found.verdict is Steadiness.UNKNOWN and "dirty part of the cache still grows" in found.evidence
    sawtooth = server_rows(lambda _: 0.8, lambda second: second % 20 / 200)
    assert judged(closed_record(ripple, server=sawtooth)).verdict is Steadiness.STEADY


def test_the_server_does_not_excuse_the_client() -> None:
    rows = server_rows(lambda second: 0.2 + second / 200)
    assert judged(closed_record(lambda second: 1000 - 5 * second, server=rows)).verdict is Steadiness.NOT_STEADY


@pytest.mark.parametrize(("passed", "standing"), [(0, Standing.UNKNOWN), (1, Standing.UNKNOWN), (2, Standing.PASS)])
def test_checkpoints_are_counted(passed: int, standing: Standing) -> None:
    checks = server_checks(server_rows(lambda _: 0.5, checkpoints=passed), start_ns=0, end_ns=60 * S)
    found = next(check for check in checks if check.name == "checkpoints")
    assert found.verdict is standing and found.evidence.startswith(f"{passed} checkpoint")


def test_a_server_that_shows_nothing_is_not_judged() -> None:
    bare: list[ServerRow] = [{"at_ns": second * S, "cache_bytes_used": None} for second in range(60)]
    assert server_checks(bare, start_ns=0, end_ns=60 * S) == []
    assert server_checks([], start_ns=0, end_ns=60 * S) == []


# The warm-up that was found


def test_a_found_warmup_becomes_warmup_in_every_part_of_the_record() -> None:
    def histogram(second: int) -> IntervalHistogram:
        held = FakeHistogram()
        held.record(MS if second >= 10 else 9 * MS, 100)
        return IntervalHistogram(
            phase="measure",
            start_ns=second * S,
            end_ns=(second + 1) * S,
            operation="read",
            clock="service",
            histogram=cast(Any, held),
        )

    slow_start = closed_record(
        lambda second: ripple(second) // (1 if second >= 10 else 4), batches=[histogram(second) for second in range(60)]
    )
    found = judged(slow_start)
    assert found.verdict is Steadiness.STEADY and found.warmup_end_ns == 10 * S == found.warmup_found_ns
    assert "steady from 10.0 s on, 10.0 s of warm-up more than planned are not counted" in found.evidence
    rest = counted(slow_start, found)
    assert [row["phase"] for row in rest.intervals] == ["warmup"] * 10 + ["measure"] * 50
    assert [row["phase"] for row in rest.operations] == ["warmup"] * 10 + ["measure"] * 50
    assert counted(rest, found) is rest  # nothing is read a second time
    assert observe(rest, steady=found).steady is found
    assert rest.histograms["read", "service"].count() == 5000
    assert rest.histograms["read", "service"].max() == pytest.approx(MS, rel=0.01)
    assert {each.phase for each in rest.interval_histograms("service") if each.start_ns < 10 * S} == {"warmup"}
    assert math.isclose(observe(slow_start).throughput_ops_per_s, 1002, abs_tol=1e-6)


def test_noise_is_no_warmup() -> None:
    """MSER-5 finds a point in many such series; what it would cut off is like the rest."""
    rates = np.random.default_rng(1).normal(1000, 150, size=(100, 60)).astype(int).tolist()
    cut = sum(judged(closed_record(each.__getitem__)).warmup_found_ns > 0 for each in rates)
    assert cut <= 5


def test_nothing_is_cut_where_nothing_was_found() -> None:
    record = closed_record(ripple)
    assert counted(record, judged(record)) is record
    assert counted(record, None) is record
