from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brimline.analysis.bottleneck import BottleneckKind
from brimline.analysis.cpu_use import ServerCpu
from brimline.analysis.finding import Finding, Standing
from brimline.experiments.runner import describe_outcome
from brimline.experiments.settings import SweepSettings
from brimline.experiments.sweep import Sweep, SweepConclusion, SweepEnd
from brimline.experiments.trial import Trial, fewer_connections

from .observations import closed_trial, not_had


def run(
    sweep: Sweep,
    throughput: Callable[[int], float],
    *,
    spoil: Mapping[int, Finding] | None = None,
    connections_max: int = 1_000_000,
    **changes: object,
) -> tuple[list[Trial], SweepConclusion]:
    """`spoil`: a finding by connections. `connections_max`: more can't be had."""
    trials: list[Trial] = []
    while (probe := sweep.next_probe(trials)) is not None:
        if probe.connections > connections_max:
            trials.append(not_had(probe, up=connections_max))
            continue
        found = (spoil or {}).get(probe.connections)
        findings = {} if found is None else {"findings": (found,)}
        trials.append(closed_trial(probe, throughput(probe.connections), **changes, **findings))
        assert len(trials) <= 100
    return trials, sweep.conclude(trials)


def test_doubles_until_two_levels_gain_nothing() -> None:
    trials, conclusion = run(Sweep(SweepSettings(), 1), lambda connections: min(1000 * connections, 8000))
    assert [trial.probe.connections for trial in trials] == [1, 2, 4, 8, 16, 32]
    assert conclusion.ended_by is SweepEnd.PLATEAU and conclusion.exit_code == 0
    assert conclusion.knee_connections == 8
    assert conclusion.saturation_ops_per_s == 8000
    assert conclusion.saturation is None
    assert conclusion.text == "saturation throughput 8 000 ops/s, one run per level; knee at 8 connections"


@pytest.mark.parametrize(("up", "fewer"), [(512, 460), (20, 14), (7, 1), (3, 1)])
def test_room_is_left_for_the_connections_of_brimline_itself(up: int, fewer: int) -> None:
    """A tenth of 20 is not enough: the server then closed those that look at it before a load."""
    assert fewer_connections(up) == fewer


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_level_without_all_its_connections_ends_a_sweep_with_what_was_measured(repeats: int) -> None:
    trials, conclusion = run(
        Sweep(SweepSettings(repeats=repeats), 1), lambda connections: 1000.0 * connections, connections_max=40
    )
    assert [trial.probe.connections for trial in trials[:7]] == [1, 2, 4, 8, 16, 32, 64]
    assert sorted(trial.probe.connections for trial in trials[7:]) == [1, 2, 4, 8, 16, 32][: 6 * (repeats - 1)]
    assert conclusion.ended_by is SweepEnd.CONNECTIONS_NOT_HAD and conclusion.exit_code == 4
    assert [(level.connections, level.trial_count) for level in conclusion.levels] == [
        (1 << power, repeats) for power in range(6)
    ]
    assert conclusion.text == (
        "no plateau up to 32 connections, at most 32 000 ops/s seen; the sweep probe with 64 connections could not be "
        "had: 40 of 64 connections"
    )


def test_a_plateau_stands_though_a_repeat_lacked_connections() -> None:
    sweep, trials = Sweep(SweepSettings(repeats=2), 1), list[Trial]()
    while (probe := sweep.next_probe(trials)) is not None:
        lacks = probe.connections == 32 and len(trials) > 6
        trials.append(not_had(probe, up=31) if lacks else closed_trial(probe, min(1000.0 * probe.connections, 8000.0)))
    conclusion = sweep.conclude(trials)
    assert len(trials) == 12 and conclusion.ended_by is SweepEnd.PLATEAU
    assert [level.trial_count for level in conclusion.levels] == [2, 2, 2, 2, 2, 1]


@pytest.mark.parametrize("repeats", [1, 2, 3])
@pytest.mark.parametrize("top", [32, 64, 1_000_000], ids=["gains nothing", "gains a little", "gains on"])
def test_a_resumed_sweep_asks_for_the_level_that_lacked_connections(top: int, repeats: int) -> None:
    """The trial that failed is dropped, so that repeats of the levels below stand where it did."""
    sweep = Sweep(SweepSettings(repeats=repeats, connections_max=256), 1)
    trials = [each for each in run(sweep, lambda count: 1000.0 * count, connections_max=40)[0] if not each.failed]
    assert sweep.conclude(trials).ended_by is SweepEnd.INCOMPLETE
    asked = []
    while (probe := sweep.next_probe(trials)) is not None:
        asked.append(probe.connections)
        trials.append(closed_trial(probe, 1000.0 * min(probe.connections, top)))
    conclusion, first = sweep.conclude(trials), {32: [64, 128], 64: [64, 128, 256]}.get(top, [64, 128, 256])
    assert asked[: len(first)] == first and sorted(asked) == sorted(first * repeats)
    assert conclusion.ended_by is (SweepEnd.CONNECTIONS_MAX if top > 64 else SweepEnd.PLATEAU)
    assert {level.trial_count for level in conclusion.levels} == {repeats}
    assert conclusion.knee_connections == (None if top > 64 else top)


def test_a_resumed_sweep_asks_for_the_repeat_that_lacked_connections() -> None:
    sweep = Sweep(SweepSettings(repeats=2), 1)
    trials = run(sweep, lambda count: min(1000.0 * count, 8000.0))[0]
    for lost in range(6, 12):
        kept = [*trials[:lost], *trials[lost + 1 :]]
        assert sweep.next_probe(kept) == trials[lost].probe
        assert sweep.next_probe([*kept, trials[lost]]) is None


@pytest.mark.parametrize("repeats", [2, 3])
def test_only_repeats_with_the_same_connections_give_an_interval(repeats: int) -> None:
    """Four levels of the plateau are not four runs of the same."""
    rates = {8: iter([8000.0] * 3), 16: iter([8300.0, 8100.0, 8500.0]), 32: iter([8150.0] * 3)}
    conclusion = run(
        Sweep(SweepSettings(repeats=repeats, connections_max=32), 5),
        lambda connections: next(rates[connections]) if connections >= 8 else 1000.0 * connections,
    )[1]
    assert conclusion.knee_connections == 8
    if repeats == 2:
        assert conclusion.saturation is None
        assert conclusion.saturation_ops_per_s == 8200  # the highest level
        assert conclusion.text == "saturation throughput 8 200 ops/s, 2 runs per level; knee at 8 connections"
        return
    # Student, 2 degrees of freedom: 4.303 · 200 / √3 = 497.
    assert conclusion.saturation is not None
    # The same quantity however often a level ran, and the one of which the knee has 95 %.
    assert conclusion.saturation_ops_per_s == conclusion.saturation.value == conclusion.highest_ops_per_s == 8300
    assert conclusion.saturation.low == pytest.approx(8300 - 496.8, abs=0.5)
    assert conclusion.saturation.high == pytest.approx(8300 + 496.8, abs=0.5)
    assert "saturation throughput 8 300 ops/s (95 % CI 7 800–8 800); knee" in conclusion.text


FULL = Finding("generator_cpu", Standing.FAIL, "busiest engine thread 99 % of a CPU")
DISAGREE = Finding("opcounters", Standing.FAIL, "server and generator disagree")


def plateau(connections: int) -> float:
    return min(1000.0 * connections, 8000.0 + connections)


@pytest.mark.parametrize(
    ("finding", "end", "said"),
    [
        (FULL, SweepEnd.CLIENT_LIMITED, "the generator was the limit with 32 connections: busiest engine thread 99 %"),
        (DISAGREE, SweepEnd.INVALID, "the runs are invalid with 32 connections: server and generator disagree"),
    ],
)
def test_a_best_level_that_proves_nothing_gives_no_figure(finding: Finding, end: SweepEnd, said: str) -> None:
    conclusion = run(Sweep(SweepSettings(), 1), plateau, spoil={32: finding})[1]
    assert conclusion.ended_by is end and conclusion.exit_code == 4
    assert conclusion.saturation_ops_per_s is None and conclusion.saturation is None
    assert conclusion.knee_connections is None
    assert said in conclusion.text


def crowded(*, server: float, others: float, cpus: float = 4.0) -> ServerCpu:
    """Shares of a host that the server and other programs took; the generator is elsewhere."""
    return ServerCpu(
        server_cpus_used=server * cpus,
        server_cpu_count=cpus,
        host_cpus_busy=(server + others) * cpus,
        host_cpu_count=cpus,
        shared_host=False,
    )


@pytest.mark.parametrize(("server", "others"), [(0.55, 0.4), (0.03, 0.95)], ids=["a part", "hardly anything"])
@pytest.mark.parametrize("disturbed", [{8, 16, 32}, {8}, {32}], ids=["all of it", "its best", "its last level"])
def test_a_plateau_on_a_host_that_others_filled_is_not_the_targets(
    disturbed: set[int], server: float, others: float
) -> None:
    """With 8 connections most is done; that 16 and 32 gain nothing ends the sweep."""
    sweep = Sweep(SweepSettings(), 1)
    trials = run(sweep, lambda connections: {8: 8100.0}.get(connections, min(1000.0 * connections, 8000.0)))[0]
    assert [trial.probe.connections for trial in trials] == [1, 2, 4, 8, 16, 32]
    beside = [
        replace(trial, observation=replace(trial.observation, server=crowded(server=server, others=others)))
        if trial.probe.connections in disturbed
        else trial
        for trial in trials
    ]
    conclusion = sweep.conclude(beside)
    assert conclusion.ended_by is SweepEnd.DISTURBED and conclusion.exit_code == 4
    assert conclusion.saturation_ops_per_s is None and conclusion.knee is None and conclusion.band is None
    assert conclusion.bottleneck is not None and conclusion.bottleneck.kind is BottleneckKind.HOST
    first = min(disturbed)
    assert f"other programs were the limit with {first} connections: a host busy with other" in conclusion.text
    assert f"others {others:.0%}".replace("%", " %") in conclusion.text and conclusion.text.endswith(
        "at most 8 100 ops/s seen"
    )


def test_other_programs_below_the_plateau_or_in_small_change_nothing() -> None:
    sweep = Sweep(SweepSettings(), 1)
    trials = run(sweep, lambda connections: min(1000.0 * connections, 8000.0))[0]
    beside = [
        replace(
            trial,
            observation=replace(
                trial.observation,
                server=crowded(server=0.55, others=0.4 if trial.probe.connections < 8 else 0.05),
            ),
        )
        for trial in trials
    ]
    assert sweep.conclude(beside).ended_by is SweepEnd.PLATEAU


def test_an_invalid_level_below_the_best_is_no_knee() -> None:
    conclusion = run(Sweep(SweepSettings(), 1), plateau, spoil={8: DISAGREE})[1]
    assert conclusion.ended_by is SweepEnd.PLATEAU
    assert conclusion.knee_connections == 16
    assert [level.connections for level in conclusion.levels if level.problems] == [8]


def test_a_generator_with_too_little_headroom_gives_no_figure() -> None:
    sweep = Sweep(SweepSettings(), 1)
    trials = run(sweep, plateau)[0]
    assert sweep.conclude(trials, null_ceiling_ops_per_s=17_000).ended_by is SweepEnd.PLATEAU
    conclusion = sweep.conclude(trials, null_ceiling_ops_per_s=15_000)
    assert conclusion.ended_by is SweepEnd.CLIENT_LIMITED
    assert "1.9 times what was measured" in conclusion.reason


def test_the_null_target_shows_the_generators_ceiling_and_no_saturation() -> None:
    conclusion = run(Sweep(SweepSettings(), 1), lambda _: 200_000.0, target="null")[1]
    assert conclusion.exit_code == 0
    assert conclusion.generator_ceiling_ops_per_s == 200_000
    assert conclusion.saturation_ops_per_s is None and conclusion.knee_connections is None
    assert conclusion.text == "generator's ceiling (encode and record, without sockets): 200 000 ops/s"
    assert conclusion.bottleneck is not None and conclusion.bottleneck.kind is BottleneckKind.GENERATOR


def test_a_dip_is_no_end() -> None:
    seen = {1: 1000, 2: 1900, 4: 1950, 8: 3600, 16: 7000, 32: 7100, 64: 7000}
    trials, conclusion = run(Sweep(SweepSettings(), 1), lambda connections: seen[connections])
    assert [trial.probe.connections for trial in trials] == list(seen)
    assert conclusion.knee_connections == 16


def test_recovering_from_a_dip_is_no_gain() -> None:
    seen = {1: 1000, 2: 2000, 4: 1500, 8: 2050}
    trials, conclusion = run(Sweep(SweepSettings(), 1), lambda connections: seen[connections])
    assert len(trials) == 4 and conclusion.knee_connections == 2


def test_the_knee_is_the_fewest_connections_near_the_highest_even_when_more_make_it_worse() -> None:
    seen = {1: 1000, 2: 5000, 4: 4800, 8: 3000}
    conclusion = run(Sweep(SweepSettings(), 1), lambda connections: seen[connections])[1]
    assert conclusion.knee_connections == 2
    assert conclusion.highest_ops_per_s == 5000


def test_no_plateau_no_saturation() -> None:
    settings_ = SweepSettings(connections_max=24)
    trials, conclusion = run(Sweep(settings_, 1), lambda connections: 1000.0 * connections)
    assert [trial.probe.connections for trial in trials] == [1, 2, 4, 8, 16, 24]
    assert conclusion.ended_by is SweepEnd.CONNECTIONS_MAX and conclusion.exit_code == 4
    assert conclusion.saturation_ops_per_s is None and conclusion.knee_connections is None
    assert conclusion.text == "no plateau up to 24 connections, at most 24 000 ops/s seen"


def test_errors_end_the_sweep() -> None:
    trials, conclusion = run(Sweep(SweepSettings(), 1), lambda connections: 1000.0 * connections, error_rate=0.5)
    assert len(trials) == 1
    assert conclusion.ended_by is SweepEnd.ERRORS
    assert "50 % of the operations failed with 1 connection" in conclusion.text


def test_a_lost_target_ends_the_sweep() -> None:
    trials, conclusion = run(Sweep(SweepSettings(), 1), lambda connections: 10.0, ended_by="target_lost")
    assert len(trials) == 1
    assert conclusion.ended_by is SweepEnd.BROKEN_OFF and conclusion.exit_code == 5
    for own in ("killed", "error", "interrupt"):
        conclusion = run(Sweep(SweepSettings(), 1), lambda connections: 10.0, ended_by=own)[1]
        assert conclusion.ended_by is SweepEnd.INCOMPLETE and conclusion.exit_code == 4


def test_repeats_take_the_same_levels_in_another_order() -> None:
    sweep = Sweep(SweepSettings(repeats=3), 5)
    trials, conclusion = run(sweep, lambda connections: min(1000 * connections, 8000))
    connections = [trial.probe.connections for trial in trials]
    rounds = [connections[start : start + 6] for start in (0, 6, 12)]
    assert [sorted(each) for each in rounds] == [[1, 2, 4, 8, 16, 32]] * 3
    assert rounds[1] != rounds[0] or rounds[2] != rounds[0]
    assert {level.trial_count for level in conclusion.levels} == {3}


def test_an_unfinished_sweep_says_so() -> None:
    sweep = Sweep(SweepSettings(), 1)
    trials = run(sweep, lambda connections: min(1000 * connections, 8000))[0]
    conclusion = sweep.conclude(trials[:3])
    assert conclusion.ended_by is SweepEnd.INCOMPLETE
    assert conclusion.text == "the sweep did not finish, at most 4 000 ops/s seen"
    assert sweep.conclude([]).highest_ops_per_s is None


@settings(max_examples=60)
@given(
    rates=st.lists(st.floats(0, 1e5), min_size=9, max_size=9),
    connections_max=st.integers(1, 256),
    repeats=st.integers(1, 3),
)
def test_ends_and_can_be_resumed_at_any_point(rates: list[float], connections_max: int, repeats: int) -> None:
    sweep = Sweep(SweepSettings(connections_max=connections_max, repeats=repeats), 3)
    trials = run(sweep, lambda connections: rates[connections.bit_length() - 1])[0]
    assert len(trials) <= repeats * len(sweep._settings.levels)
    for count, trial in enumerate(trials):
        again = Sweep(SweepSettings(connections_max=connections_max, repeats=repeats), 3)
        assert again.next_probe(trials[:count]) == trial.probe
    sweep.conclude(trials)


def test_impossible_settings() -> None:
    with pytest.raises(ValueError, match="at least one connection"):
        SweepSettings(connections_max=0)


def test_the_time_between_two_looks_at_the_clock_is_no_service_time() -> None:
    """The null target answers while it is asked: 50 ns beside 165 000 ops/s can't be put together."""
    (first, *_), _ = run(Sweep(SweepSettings(connections_max=1), 1), lambda _: 165_000.0)
    assert describe_outcome(first.observation).startswith("165 000 ops/s, service p99 ")
    assert describe_outcome(replace(first.observation, target="null")) == "165 000 ops/s"
