"""What a spec can say about when operations are due, and what that becomes in the plan."""

from fractions import Fraction
from typing import Any, get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from brimline.errors import SpecError
from brimline.plan import NullTarget, Plan, load_plan, resolve
from brimline.plan.model import ClosedPacer, Stage, StagesPacer, ThinkTime, TlrPacer
from brimline.plan.pacing import describe_load, offered_line, offered_mean, short_load
from brimline.spec import load_spec
from brimline.spec.load_models import Load
from tests.support.explained_plan import explain

S = 1_000_000_000


def plan_of(load: Any, **overrides: Any) -> Plan:
    spec = load_spec("ycsb-c", overrides={"load": load, **overrides}).spec
    return resolve(spec, target=NullTarget())


def stages(*stages: tuple[float, float, int]) -> tuple[Stage, ...]:
    return tuple(
        Stage(from_ops_per_s=begin, to_ops_per_s=end, duration_ns=seconds * S) for begin, end, seconds in stages
    )


def test_a_load_with_a_shape_ends_with_it_and_has_no_warm_up() -> None:
    ramp = plan_of({"kind": "ramp", "from": 100, "to": 1000, "over": "30s"})
    assert ramp.pacer == StagesPacer(arrivals="even", stages=stages((100, 1000, 30)))
    assert (ramp.warmup_ns, ramp.duration_ns) == (0, 30 * S)
    longer = plan_of({"kind": "ramp", "to": 1000, "over": "30s"}, duration="60s", warmup="30s")
    assert (longer.warmup_ns, longer.duration_ns) == (30 * S, 60 * S)
    after_warmup = plan_of({"kind": "ramp", "to": 1000, "over": "30s"}, warmup="10s")
    assert (after_warmup.warmup_ns, after_warmup.duration_ns) == (10 * S, 20 * S)


def test_a_stage_begins_where_the_one_before_ended() -> None:
    given = [
        {"to": 50, "for": "2s"},
        {"to": 60, "for": "1s"},
        {"rate": 80, "for": "3s"},
        {"to": 0, "for": "1s"},
        {"from": 7, "to": 9, "for": "4s"},
    ]
    plan = plan_of({"kind": "stages", "stages": given, "arrivals": "poisson"})
    expected = stages((0, 50, 2), (50, 60, 1), (80, 80, 3), (80, 0, 1), (7, 9, 4))
    assert plan.pacer == StagesPacer(arrivals="poisson", stages=expected)
    assert plan.duration_ns == 11 * S


@pytest.mark.parametrize(
    ("begin", "end", "step", "rates"),
    [
        (100, 500, 100, [100, 200, 300, 400, 500]),
        (500, 100, 200, [500, 300, 100]),
        (0.1, 0.3, 0.1, [0.1, 0.2, 0.3]),
        (100, 450, 100, [100, 200, 300, 400]),
        (100, 100, 5, [100]),
        (28087.23, 28087.223, 0.001, [28087.23 - number / 1000 for number in range(8)]),
    ],
)
def test_steps_are_level_stages(begin: float, end: float, step: float, rates: list[float]) -> None:
    plan = plan_of({"kind": "steps", "from": begin, "to": end, "step": step, "every": "2s"})
    assert isinstance(plan.pacer, StagesPacer)
    assert [stage.from_ops_per_s for stage in plan.pacer.stages] == pytest.approx(rates)
    assert all(stage.from_ops_per_s == stage.to_ops_per_s for stage in plan.pacer.stages)
    assert plan.duration_ns == 2 * S * len(rates)


def rate_at(plan: Plan, at_ns: int) -> float:
    """What a plan with stages offers at an instant."""
    assert isinstance(plan.pacer, StagesPacer)
    for stage in plan.pacer.stages:
        if at_ns < stage.duration_ns:
            share = at_ns / stage.duration_ns
            return stage.from_ops_per_s + (stage.to_ops_per_s - stage.from_ops_per_s) * share
        at_ns -= stage.duration_ns
    return plan.pacer.stages[-1].to_ops_per_s


def times(count: int = 4) -> st.SearchStrategy[list[Fraction]]:
    """Instants as shares of a load's length, its end and some time after it among them."""
    return st.lists(st.fractions(0, Fraction(5, 4), max_denominator=10**6) | st.just(Fraction(1)), max_size=count)


@given(
    begin=st.integers(1, 10**8),
    step=st.integers(1, 10**7),
    count=st.integers(1, 300),
    left_over=st.just(Fraction(0)) | st.fractions(0, Fraction(999, 1000)),
    is_upwards=st.booleans(),
    every_ms=st.integers(1, 10**5),
    shares=times(),
    boundary=st.integers(0, 20),
)
def test_steps_have_the_rate_of_their_number_at_any_time(
    begin: int,
    step: int,
    count: int,
    left_over: Fraction,
    is_upwards: bool,
    every_ms: int,
    shares: list[Fraction],
    boundary: int,
) -> None:
    """Step k lasts from k to k + 1 times `every`, at `from` and k steps towards `to`, the last not beyond it.

    Rates in thousandths. How many steps there are must not be a matter of rounding: many distances are whole steps.
    """
    distance = step * (count - 1) + int(left_over * step)
    begin += 0 if is_upwards else distance
    end = begin + (distance if is_upwards else -distance)
    load = {"kind": "steps", "from": begin / 1000, "to": end / 1000, "step": step / 1000, "every": f"{every_ms}ms"}
    plan = plan_of(load)
    every_ns = every_ms * S // 1000
    assert plan.duration_ns == count * every_ns
    instants = [int(share * count * every_ns) for share in shares]
    for at_ns in (0, boundary * every_ns, (boundary + 1) * every_ns - 1, *instants):
        number = min(at_ns // every_ns, count - 1)
        meant = Fraction(begin + (step if is_upwards else -step) * number, 1000)
        assert rate_at(plan, at_ns) == pytest.approx(float(meant))


rates = st.integers(0, 10**8).map(lambda thousandth: thousandth / 1000)
stage_specs = st.one_of(
    st.fixed_dictionaries({"rate": rates, "ms": st.integers(1, 10**5)}),
    st.fixed_dictionaries({"to": rates, "ms": st.integers(1, 10**5)}, optional={"from": rates}),
)


@given(given_stages=st.lists(stage_specs, min_size=1, max_size=6), shares=times())
def test_stages_have_the_rate_on_their_line_at_any_time(
    given_stages: list[dict[str, Any]], shares: list[Fraction]
) -> None:
    """A stage is level or a line from where it says, or where the one before ended; the first from 0."""
    assume(any(value for stage in given_stages for key, value in stage.items() if key != "ms"))
    written = [
        {key: value for key, value in stage.items() if key != "ms"} | {"for": f"{stage['ms']}ms"}
        for stage in given_stages
    ]
    plan = plan_of({"kind": "stages", "stages": written})
    corners, held, now_ms = [], 0.0, 0
    for stage in given_stages:
        first = stage.get("rate", stage.get("from", held))
        held = stage["rate"] if "rate" in stage else stage["to"]
        corners.append((now_ms, now_ms + stage["ms"], first, held))
        now_ms += stage["ms"]
    assert plan.duration_ns == now_ms * S // 1000
    for at_ns in (0, *(int(share * now_ms * S // 1000) for share in shares)):
        at_ms = Fraction(at_ns * 1000, S)
        inside = [corner for corner in corners if corner[0] <= at_ms < corner[1]]
        meant = held
        if inside:
            ((begins_ms, ends_ms, first, last),) = inside
            meant = first + (last - first) * float((at_ms - begins_ms) / (ends_ms - begins_ms))
        assert rate_at(plan, at_ns) == pytest.approx(meant, rel=1e-9, abs=1e-6)


def test_threads_loops_and_ramp_up_say_how_many_connections_and_operations_there_are() -> None:
    plan = plan_of({"kind": "tlr", "threads": 100, "loops": 50, "ramp_up": "10s"})
    assert plan.pacer == TlrPacer(loops=50, ramp_up_ns=10 * S)
    assert (plan.connections, plan.operation_count, plan.duration_ns, plan.warmup_ns) == (100, 5000, None, 0)
    assert plan_of({"kind": "tlr", "threads": 9, "loops": 5, "ramp_up": "1s"}, duration="3s").duration_ns == 3 * S


def test_unlimited_is_a_closed_loop_that_never_thinks() -> None:
    assert plan_of("unlimited") == plan_of("closed")
    thinking = plan_of({"kind": "closed", "think_time": "100ms", "think_time_law": "exponential"})
    assert thinking.pacer == ClosedPacer(think_time=ThinkTime(mean_ns=S // 10, law="exponential"))


@pytest.mark.parametrize(
    ("load", "short", "line"),
    [
        (
            "unlimited",
            "closed loop, unlimited",
            "closed loop, unlimited, 32 connections on 1 thread; each sends its next operation when the answer to",
        ),
        (
            "closed",
            "closed loop, unlimited",
            "closed loop, unlimited, 32 connections on 1 thread; each sends its next operation when the answer to",
        ),
        (
            {"kind": "closed", "think_time": "100ms"},
            "closed loop, think time 100ms",
            "closed loop, 32 connections on 1 thread; each sends its next operation 100ms after the last is answered",
        ),
        (
            {"kind": "constant", "rate": "5k/s"},
            "5 000 ops/s offered",
            "constant rate of 5000/s, whatever the target does, over 32 connections on 1 thread",
        ),
        (
            {"kind": "tlr", "threads": 100, "loops": 50, "ramp_up": "10s"},
            "T-L-R: 100 workers × 50 over 10s",
            "100 workers start evenly over 10s, each performs 50, one after another: 5 000 operations",
        ),
        ({"kind": "poisson", "rate": "5k/s"}, "5 000 ops/s offered, Poisson", "Poisson arrivals of 5000/s on average"),
        ({"kind": "ramp", "to": "5k/s", "over": "1m"}, "ramp from 0/s to 5000/s in 1m", "in 1m, whatever the target"),
        (
            {"kind": "steps", "from": 10, "to": 30, "step": 10, "every": "5s"},
            "3 stages between 10/s and 30/s in 15s",
            "3 stages between 10/s and 30/s in 15s, whatever the target does",
        ),
        (
            {"kind": "stages", "stages": [{"to": "5k/s", "for": "30s"}, {"rate": "5k/s", "for": "60s"}]},
            "2 stages between 0/s and 5000/s in 1m30s",
            "2 stages between 0/s and 5000/s in 1m30s, whatever the target does, over 32 connections on 1 thread",
        ),
    ],
)
def test_each_describes_itself_in_one_line(load: Any, short: str, line: str) -> None:
    """All kinds that there are, see below."""
    plan = plan_of(load)
    assert short_load(plan) == short
    (description,) = [each for each in explain(plan) if each.startswith("load: ")]
    assert line in description and "\n" not in description


@pytest.mark.parametrize(
    ("workers", "asked", "used"), [(7, 3, 1), (9, 4, 3), (8, 8, 8), (2, 8, 2), (12, 5, 4), (1, 4, 1)]
)
def test_the_engine_threads_that_run_are_told_and_not_those_asked_for(workers: int, asked: int, used: int) -> None:
    """As many as divide T."""
    plan = plan_of({"kind": "tlr", "threads": workers, "loops": 3, "ramp_up": "1s"}, threads=asked)
    assert plan.threads == used
    assert f"operations on {used} thread{'' if used == 1 else 's'}" in describe_load(plan)


def test_one_worker_starts_at_once() -> None:
    line = describe_load(plan_of({"kind": "tlr", "threads": 1, "loops": 5, "ramp_up": "1s"}))
    assert line == "T-L-R, 1 worker starts at once and performs 5, one after another: 5 operations on 1 thread"


def test_every_kind_is_in_the_table_above() -> None:
    table = test_each_describes_itself_in_one_line.pytestmark[0].args[1]
    described = {load if isinstance(load, str) else load["kind"] for load, _, _ in table}
    assert described == {kind.model_fields["kind"].default for kind in get_args(get_args(Load)[0])}


def test_a_bound_in_flight_is_told() -> None:
    (description,) = [each for each in explain(plan_of("closed", in_flight=8)) if each.startswith("load: ")]
    assert "32 connections on 1 thread, at most 8 operations in flight" in description
    assert plan_of("closed", in_flight=32).connections == 32, "as many as there are connections may be in flight"


@pytest.mark.parametrize(
    ("load", "words", "workers"),
    [
        ("closed", "closed loop, unlimited, 32 workers share 8 connections on 1 thread", 32),
        (
            {"kind": "tlr", "threads": 20, "loops": 5, "ramp_up": "1s"},
            "100 operations on 1 thread, sharing 8 connections",
            20,
        ),
    ],
)
def test_workers_share_a_pool(load: Any, words: str, workers: int) -> None:
    plan = plan_of(load, max_pool_size=8)
    assert (plan.connections, plan.worker_count, plan.in_flight_bound, plan.is_pooled) == (8, workers, 8, True)
    (description,) = [each for each in explain(plan) if each.startswith("load: ")]
    assert words in description


def test_a_pool_bounds_the_sockets_of_an_open_loop_and_of_a_load() -> None:
    plan = plan_of({"kind": "constant", "rate": "100/s"}, max_pool_size=8)
    assert (plan.connections, plan.in_flight_max, plan.is_pooled) == (8, None, False)
    loading = load_spec("ycsb-c", overrides={"max_pool_size": 3, "data.records": 100_000}).spec
    loaded = load_plan(loading, target=NullTarget())
    assert loaded.connections == 3
    assert plan_of("closed", max_pool_size=64).connections == 32, "more room than workers changes nothing"


def test_the_offered_rate_over_time_and_its_mean() -> None:
    plan = plan_of({"kind": "stages", "stages": [{"to": 100, "for": "10s"}, {"rate": 40, "for": "5s"}]})
    assert offered_line(plan.pacer, end_ns=12 * S) == [(0, 0), (10 * S, 100), (10 * S, 40), (12 * S, 40)]
    assert offered_line(plan.pacer, end_ns=5 * S) == [(0, 0), (5 * S, 50)]
    assert offered_line(plan.pacer, end_ns=20 * S)[-1] == (20 * S, 40)
    assert offered_mean(plan, start_ns=0, end_ns=10 * S) == pytest.approx(50)
    assert offered_mean(plan, start_ns=5 * S, end_ns=15 * S) == pytest.approx((375 + 200) / 10)
    assert offered_mean(plan, start_ns=15 * S, end_ns=20 * S) == pytest.approx(40)
    assert offered_mean(plan, start_ns=S, end_ns=S) is None
    assert offered_line(plan_of("closed").pacer, end_ns=S) == []


@pytest.mark.parametrize(
    ("overrides", "message", "hint"),
    [
        ({"load": {"kind": "constant", "rate": "0/s"}}, "load.rate: must be above 0", "leave it out for a closed loop"),
        ({"load": {"kind": "poisson", "rate": "-5/s"}}, "load.rate: must not be negative", "write it like 5000/s"),
        (
            {"load": {"kind": "poisson", "rate": 10**12}},
            "load.rate: must be above 0 and at most 1e9/s",
            "write it like 5000/s",
        ),
        (
            {"load": {"kind": "ramp", "from": 10**12, "to": 5, "over": "1s"}},
            "load.from: must be above 0 and at most",
            "write it like 5000/s",
        ),
        (
            {"load": {"kind": "ramp", "from": 0, "to": 0, "over": "1s"}},
            "a ramp from 0 to 0 offers nothing",
            "to: 5000/s",
        ),
        ({"load": {"kind": "ramp", "to": 5, "over": "0s"}}, "load.over: must be in 1ms to", "such as 10s"),
        (
            {"load": {"kind": "ramp", "to": 5, "over": "2s"}, "warmup": "2s"},
            "nothing would be measured",
            "shorten warmup",
        ),
        ({"load": {"kind": "stages", "stages": []}}, "load.stages", "{rate: 5000/s, for: 10s}"),
        (
            {"load": {"kind": "stages", "stages": [{"rate": 0, "for": "1s"}]}},
            "no stage offers anything",
            "{rate: 5000/s, for: 10s}",
        ),
        (
            {"load": {"kind": "stages", "stages": [{"rate": 5, "to": 9, "for": "1s"}]}},
            "either a rate or a rate to go to",
            "{from, to, for}",
        ),
        (
            {"load": {"kind": "stages", "stages": [{"from": 5, "for": "1s"}]}},
            "either a rate or a rate to go to",
            "{from, to, for}",
        ),
        ({"load": {"kind": "stages", "stages": [{"rate": 5}]}}, "is missing", "add for"),
        (
            {"load": {"kind": "steps", "from": 1, "to": 10**9, "step": 1, "every": "1s"}},
            "more than 10000 steps",
            "make the step larger",
        ),
        (
            {"load": {"kind": "tlr", "threads": 5, "loops": 5, "ramp_up": "0s"}},
            "load.ramp_up: must be in",
            "1ms starts all at once",
        ),
        (
            {"load": {"kind": "tlr", "threads": 5, "loops": 0, "ramp_up": "1s"}},
            "load.loops: must be in 1 to",
            "write it like 1000 or 100k",
        ),
        (
            {"load": {"kind": "tlr", "threads": 5, "loops": 5, "ramp_up": "1s"}, "connections": 7},
            "connections follow",
            "leave connections out",
        ),
        (
            {"load": {"kind": "tlr", "threads": 5, "loops": 5, "ramp_up": "1s"}, "operation_count": 7},
            "operation_count",
            "leave operation_count out",
        ),
        (
            {"load": {"kind": "tlr", "threads": 5, "loops": 5, "ramp_up": "1s"}, "in_flight": 2},
            "in_flight has no place",
            "leave in_flight out",
        ),
        (
            {"load": {"kind": "closed", "think_time": "20s"}, "duration": "10s"},
            "load.think_time is as long as the run",
            "shorten load.think_time or lengthen duration",
        ),
        (
            {
                "load": {"kind": "closed", "think_time": "2s", "think_time_law": "exponential"},
                "duration": "1s",
                "warmup": "1s",
            },
            "load.think_time is as long as the run",
            "shorten load.think_time or lengthen duration",
        ),
        (
            {"load": {"kind": "closed", "think_time_law": "exponential"}},
            "no effect without a think_time",
            "add think_time",
        ),
        (
            {"in_flight": 33},
            "in_flight can't be more than there are connections: 33 > 32",
            "for more workers than sockets give connections and a smaller max_pool_size",
        ),
        (
            {"load": {"kind": "ramp", "from": "1000/s", "to": 0, "over": "1s"}, "operation_count": 501},
            "operation_count is 501, and the load offers 500 operations until its rate is 0",
            "lower operation_count",
        ),
        (
            {
                "load": {"kind": "stages", "stages": [{"rate": "1000/s", "for": "1s"}, {"to": 0, "for": "1s"}]},
                "operation_count": 100_000,
            },
            "offers 1 500 operations until",
            "leave it out to run for the length of the load",
        ),
        (
            {
                "load": {"kind": "ramp", "from": 1000, "to": 0, "over": "1s", "arrivals": "poisson"},
                "operation_count": 400,
            },
            "offers 321 operations for certain",
            "lower operation_count",
        ),
        ({"connections": 100_000}, "connections: must be in 1 to 50000, but is 100000", "write it like 32"),
        ({"in_flight": 0}, "in_flight: must be in 1 to", "write it like 32"),
        ({"in_flight": 4, "max_pool_size": 8}, "in_flight and max_pool_size both bound", "leave in_flight out"),
        ({"max_pool_size": 0}, "max_pool_size: must be in 1 to", "write it like 32"),
    ],
)
def test_what_makes_no_sense_is_refused(overrides: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_spec("ycsb-c", overrides=overrides)
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    "load",
    [
        {"kind": "ramp", "from": "1000/s", "to": 0, "over": "1s"},
        {"kind": "ramp", "from": 0, "to": 1, "over": "1s"},  # goes on at 1/s
        {"kind": "stages", "stages": [{"rate": "500/s", "for": "1s"}, {"rate": 0, "for": "1s"}]},
        {"kind": "stages", "stages": [{"rate": 0, "for": "1s"}, {"from": 1, "to": 2, "for": "1s"}]},
    ],
)
def test_a_count_that_is_reached_stays_what_ends_a_run(load: dict[str, Any]) -> None:
    assert load_spec("ycsb-c", overrides={"load": load, "operation_count": 500}).spec.operation_count == 500
