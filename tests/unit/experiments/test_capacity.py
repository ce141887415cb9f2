"""The search against queues of known capacity, in windows of the presets."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brimline.analysis.bottleneck import BottleneckKind
from brimline.analysis.cpu_use import ServerCpu
from brimline.analysis.finding import Finding, Standing
from brimline.experiments.capacity.conclusion import CapacityConclusion, ConclusionKind
from brimline.experiments.capacity.outcome import TrialOutcome
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.cost import capacity_time
from brimline.experiments.settings import CapacitySettings, quick, standard
from brimline.experiments.trial import Probe, Trial
from brimline.units import format_number, format_rate
from tests.support.objectives import p99_within

from .observations import closed_trial, open_trial
from .queue_simulator import Law, QueueSimulator, Stall

SEEDS = range(10)


def search(law: Law, seed: int, chosen: CapacitySettings) -> tuple[list[Trial], CapacityConclusion]:
    capacity, simulator = Capacity(chosen, seed), QueueSimulator(law, seed)
    trials: list[Trial] = []
    while (probe := capacity.next_probe(trials)) is not None:
        trials.append(simulator.execute(probe))
    return trials, capacity.conclude(trials)


def exponential_capacity(service_ops_per_s: float, target_s: float) -> float:
    """Rate at which the p99 of a single exponential server with regular arrivals (D/M/1) reaches the target.

    Response time there is exponential with rate μ (1 − σ), where σ solves σ = exp(−μ (1 − σ) / λ).
    """
    sigma = 1 - math.log(100) / target_s / service_ops_per_s
    return -service_ops_per_s * (1 - sigma) / math.log(sigma)


LAWS = {
    "hard limit": (Law(gate_ops_per_s=1000), 1000.0),
    "hard limit that drifts by 1 %": (Law(gate_ops_per_s=1500, sigma=1.0, drift=0.01), 1500.0),
    "one exponential server": (
        Law(servers=1, service_s=1 / 4000, service_law="exponential"),
        exponential_capacity(4000, 0.010),
    ),
    # By simulation of 400 000 operations a rate; eight servers of 4 ms make 2000 ops/s at most.
    "eight servers": (Law(servers=8, service_s=0.004, sigma=0.3), 1955.0),
}


@pytest.mark.parametrize("name", LAWS)
def test_finds_a_known_capacity(name: str) -> None:
    law, truth = LAWS[name]
    near = covered = 0
    for seed in SEEDS:
        trials, conclusion = search(law, seed, quick())
        assert sum(trial.probe.cost_s for trial in trials) <= 85 + 1e-6
        if conclusion.sustained is None:
            continue
        # What held three times in a row is rather below what holds half the time than above.
        near += -0.04 <= conclusion.sustained.value / truth - 1 <= 0.015
        covered += conclusion.sustained.low <= truth <= conclusion.sustained.high
    assert near >= 9
    assert covered >= 8


def test_finds_it_with_stalls_that_only_long_windows_see() -> None:
    """Twelve stalls of 60 ms in a burst each minute: at the full rate they can't be caught up."""

    def burst(length_s: float, rng: np.random.Generator) -> Sequence[Stall]:
        phase = rng.uniform(0, 60)
        starts = [phase + 60 * k + 0.5 * each for k in range(-1, 3) for each in range(12)]
        return [(start, 0.06) for start in starts if 0 <= start < length_s]

    chosen = standard(p99_within(100_000_000))
    conclusion = search(Law(gate_ops_per_s=400, stalls=burst), 1, chosen)[1]
    assert conclusion.sustained is not None
    # During a burst the gate gives 88 % of its rate.
    assert 0.86 * 400 <= conclusion.sustained.value <= 0.97 * 400


def test_conclusion_of_a_search_with_a_known_bottleneck() -> None:
    law = Law(servers=2, service_s=0.001, sigma=0.2, cpu_per_op_s=0.00099)
    trials, conclusion = search(law, 3, quick())
    assert conclusion.kind is ConclusionKind.SUSTAINED and conclusion.exit_code == 0
    assert conclusion.knee_connections == 2
    assert conclusion.bottleneck is not None and conclusion.bottleneck.kind is BottleneckKind.SERVER_CPU
    assert conclusion.verifications >= 3
    assert conclusion.sustained is not None
    assert conclusion.sustained.value == conclusion.verified
    assert conclusion.saturation_ops_per_s == pytest.approx(2000, rel=0.03)
    assert conclusion.saturation is None  # each level ran once
    assert not conclusion.quotable
    assert conclusion.reasons_not_quotable == ("windows of 4 s are shorter than the 60 s between checkpoints",)
    for part in (
        "sustained ",
        "at response p99 ≤ 10 ms; knee at 2 connections",
        "stopped by server CPU 9",
        "quick look",
    ):
        assert part in conclusion.headline
    at_rate = [trial for trial in trials if trial.probe.rate_ops_per_s == conclusion.verified]
    assert len(at_rate) == conclusion.verification_windows


def test_a_standard_search_can_be_quoted() -> None:
    trials, conclusion = search(Law(gate_ops_per_s=200), 1, standard())
    assert conclusion.sustained is not None
    assert abs(conclusion.sustained.value / 200 - 1) <= 0.03
    assert conclusion.quotable and conclusion.headline.count("quot") == 0
    assert {trial.probe.duration_s for trial in trials if trial.probe.stage in ("bisect", "verify")} >= {60.0}


@pytest.mark.parametrize("seed", range(4))
def test_speed_that_changes_from_run_to_run_is_never_a_narrow_number(seed: int) -> None:
    conclusion = search(Law(gate_ops_per_s=1000, drift=0.3), seed, quick())[1]
    assert conclusion.sustained is None
    assert conclusion.kind in (ConclusionKind.INCONCLUSIVE, ConclusionKind.SLO_UNREACHABLE)
    assert conclusion.exit_code in (3, 4)


@pytest.mark.parametrize("seed", range(4))
def test_stalls_that_hit_windows_by_chance_are_no_pass(seed: int) -> None:
    def stalls(length_s: float, rng: np.random.Generator) -> Sequence[Stall]:
        return [(float(start), 0.06) for start in np.sort(rng.uniform(0, length_s, rng.poisson(0.4 * length_s)))]

    conclusion = search(Law(gate_ops_per_s=1000, stalls=stalls), seed, quick())[1]
    assert conclusion.sustained is None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("generator_ops_per_s", [3000, 1500])  # slower than the server; not twice as fast as it
def test_a_limited_generator_gives_no_number(generator_ops_per_s: float, seed: int) -> None:
    gate = 5000 if generator_ops_per_s == 3000 else 1000
    law = Law(gate_ops_per_s=gate, generator_s=1 / generator_ops_per_s)
    conclusion = search(law, seed, quick())[1]
    assert conclusion.kind is ConclusionKind.CLIENT_LIMITED and conclusion.exit_code == 4
    assert conclusion.knee_connections is None and conclusion.sweep.band is None
    assert conclusion.sustained is None and conclusion.saturation_ops_per_s is None
    assert conclusion.bottleneck is not None and conclusion.bottleneck.kind is BottleneckKind.GENERATOR
    assert conclusion.headline.startswith("no capacity: the generator was the limit: ")


def test_an_unreachable_objective_says_what_was_seen() -> None:
    conclusion = search(Law(gate_ops_per_s=1000, service_s=0.02), 1, quick())[1]
    assert conclusion.kind is ConclusionKind.SLO_UNREACHABLE and conclusion.exit_code == 3
    assert conclusion.sustained is None
    assert "the objective can't be met: at 50" in conclusion.headline and "response p99" in conclusion.headline
    assert conclusion.saturation_ops_per_s is not None  # what the server can do at all is known


def test_slow_servers_get_longer_windows() -> None:
    trials, conclusion = search(Law(gate_ops_per_s=120), 1, quick())
    assert conclusion.sustained is not None
    assert abs(conclusion.sustained.value / 120 - 1) <= 0.03
    lowest = min(trials, key=lambda trial: trial.probe.rate_ops_per_s or math.inf)
    assert lowest.probe.duration_s * (lowest.probe.rate_ops_per_s or 0) >= 400


def test_too_few_operations_for_a_p99_are_no_failure() -> None:
    conclusion = search(Law(gate_ops_per_s=10), 1, quick())[1]
    assert conclusion.kind is ConclusionKind.INCONCLUSIVE
    assert "too few for a p99" in conclusion.reason or "time ran out" in conclusion.reason


def test_errors_fail_probes_as_latency_does() -> None:
    conclusion = search(Law(gate_ops_per_s=1000, error_rate=0.02), 1, quick())[1]
    assert conclusion.kind is ConclusionKind.SLO_UNREACHABLE
    assert "of the operations failed, 0.1 % are allowed" in conclusion.reason


def test_a_server_that_dies_ends_the_search() -> None:
    trials, conclusion = search(Law(gate_ops_per_s=1000, dies_at_rate=900), 1, quick())
    assert trials[-1].observation.ended_by == "target_lost"
    assert conclusion.kind is ConclusionKind.TARGET_LOST and conclusion.exit_code == 5
    assert "the server closed the connection" in conclusion.headline
    assert conclusion.highest_passed is not None


def test_a_search_that_was_killed_blames_no_server() -> None:
    law = Law(gate_ops_per_s=1000, dies_at_rate=900, dies_by="killed")
    trials, conclusion = search(law, 1, quick())
    assert conclusion.kind is ConclusionKind.INCOMPLETE and conclusion.exit_code == 4
    rate = format_rate(trials[-1].probe.rate_ops_per_s or 0)
    assert f"the bracket probe at {rate} did not end (killed): never sealed" in conclusion.headline
    assert "target" not in conclusion.headline


def test_a_search_that_is_still_under_way_says_so() -> None:
    law = Law(gate_ops_per_s=1000, dies_at_rate=900, dies_by="running")
    trials, conclusion = search(law, 1, quick())
    assert conclusion.kind is ConclusionKind.INCOMPLETE
    rate = format_rate(trials[-1].probe.rate_ops_per_s or 0)
    assert conclusion.reason == f"the bracket probe at {rate} is still under way"


def test_faster_servers_get_higher_numbers() -> None:
    found = [search(Law(gate_ops_per_s=gate), 1, quick())[1].sustained for gate in (300, 600, 1200)]
    values = [each.value for each in found if each is not None]
    assert len(values) == 3 and values == sorted(values) and values[2] > 3 * values[0]


def test_a_looser_objective_gets_a_higher_number() -> None:
    law = Law(servers=1, service_s=1 / 1000, service_law="exponential")
    found = [search(law, 1, quick(p99_within(ms * 1_000_000)))[1].sustained for ms in (8, 30)]
    assert found[0] is not None and found[1] is not None
    assert found[0].value < found[1].value


def test_open_loop_probes_have_connections_to_spare() -> None:
    trials, _ = search(Law(gate_ops_per_s=1000), 1, quick())
    assert {trial.probe.connections for trial in trials if trial.probe.rate_ops_per_s} == {64}
    many = Law(servers=40, service_s=0.02, sigma=0.1)
    trials, conclusion = search(many, 1, quick(p99_within(200_000_000)))
    assert conclusion.sweep.knee_connections == 64
    assert {trial.probe.connections for trial in trials if trial.probe.rate_ops_per_s} == {2 * 64}


# --- the machine alone ---

Decide = Callable[[Probe], TrialOutcome]


def play(
    decide: Decide, chosen: CapacitySettings, *, plateau: float = 8000.0, **swept: object
) -> tuple[list[Trial], CapacityConclusion]:
    """`swept` are fields of the observations of the sweep."""
    capacity = Capacity(chosen, 1)
    trials: list[Trial] = []
    while (probe := capacity.next_probe(trials)) is not None:
        if probe.target == "null":
            trials.append(closed_trial(probe, 1e6))
        elif probe.rate_ops_per_s is None:
            trials.append(closed_trial(probe, min(1000.0 * probe.connections, plateau), **swept))
        else:
            trials.append(open_trial(probe, decide(probe)))
        assert len(trials) <= 150
    return trials, capacity.conclude(trials)


def limit(rate: float) -> Decide:
    return lambda probe: TrialOutcome.PASS if (probe.rate_ops_per_s or 0) <= rate else TrialOutcome.FAIL


def stages(trials: Sequence[Trial]) -> list[str]:
    return [trial.probe.stage for trial in trials]


def test_the_stages_come_in_order() -> None:
    trials, conclusion = play(limit(7700), quick())
    order = stages(trials)
    assert order[0] == "calibrate" and trials[0].probe.target == "null"
    assert sorted(set(order), key=order.index) == ["calibrate", "sweep", "bracket", "bisect", "verify"]
    assert order == sorted(order, key=["calibrate", "sweep", "bracket", "bisect", "verify"].index)
    brackets = [trial.probe.rate_ops_per_s for trial in trials if trial.probe.stage == "bracket"]
    assert brackets == [4000, 5600, 6800, 8000]
    assert conclusion.sustained is not None and conclusion.sustained.value == pytest.approx(7700, rel=0.02)


def test_verification_interleaves_the_levels_around_the_candidate() -> None:
    trials, conclusion = play(limit(7700), quick())
    verified = [trial.probe.rate_ops_per_s or 0 for trial in trials if trial.probe.stage == "verify"]
    candidate = conclusion.verified
    assert candidate is not None
    relative = [round(rate / candidate, 2) for rate in verified]
    assert relative == [1.0, 0.98, 1.0, 1.02, 1.0]


def test_the_figure_is_the_rate_that_held_and_its_windows_are_counted_there() -> None:
    """A pass and a failure above, as chance decides near the limit, are neither counted nor quoted."""
    seen: list[float] = []

    def decide(probe: Probe) -> TrialOutcome:
        rate = probe.rate_ops_per_s or 0
        if probe.stage != "verify":
            return limit(7700)(probe)
        seen.append(rate)
        return TrialOutcome.FAIL if rate == max(seen) and seen.count(rate) == 2 else TrialOutcome.PASS

    conclusion = play(decide, standard())[1]
    assert conclusion.sustained is not None
    rate = conclusion.sustained.value
    assert rate == conclusion.verified
    outcomes = [each.outcome for each in conclusion.judged if each.load == rate]
    assert conclusion.verification_windows == len(outcomes)
    assert conclusion.verifications == outcomes.count(TrialOutcome.PASS) >= 3
    assert {TrialOutcome.PASS, TrialOutcome.FAIL} == {each.outcome for each in conclusion.judged if each.load > rate}
    assert f"sustained {format_number(rate, digits=4)} ops/s (95 % CI" in conclusion.headline
    assert conclusion.sustained.low < rate < conclusion.sustained.high


@pytest.mark.parametrize("answered", [(0.0, 0.0, 0.0), (0.0, 4000.0, 8000.0)])
def test_an_overloaded_server_that_completes_nothing_counts_as_overloaded(answered: tuple[float, ...]) -> None:
    """A completed share of 0 is none, not an unknown one."""
    trials, conclusion = play(limit(7700), quick())
    assert conclusion.sustained is not None
    failed = [each.trial for each in conclusion.judged if each.outcome is TrialOutcome.FAIL][:3]
    assert len(failed) == 3
    changed = {
        id(trial): replace(
            trial, observation=replace(trial.observation, completed_share=0.0, throughput_ops_per_s=rate)
        )
        for trial, rate in zip(failed, answered, strict=True)
    }
    again = Capacity(quick(), 1).conclude([changed.get(id(trial), trial) for trial in trials])
    assert again.sustained is None and "too noisy" in again.reason


@pytest.mark.parametrize(("times", "stays"), [(1.04, True), (1.06, False)])
def test_a_probe_that_did_more_than_the_plateau_takes_it_back(times: float, stays: bool) -> None:
    """The sweep ran beside a disturbance; what it reached is no most, and its knee none either."""
    trials, before = play(limit(7700), quick())
    assert before.saturation_ops_per_s == 8000 and before.knee_connections == 8
    trials[-1] = replace(trials[-1], observation=replace(trials[-1].observation, throughput_ops_per_s=8000.0 * times))
    conclusion = Capacity(quick(), 1).conclude(trials)
    assert (conclusion.saturation_ops_per_s is not None) is stays
    assert (conclusion.knee_connections is not None) is stays and (conclusion.sweep.band is not None) is stays
    assert ("knee at" in conclusion.headline) is stays
    assert conclusion.sustained == before.sustained
    if not stays:
        assert conclusion.sweep.text.startswith("no saturation throughput: the sweep reached 8 000 ops/s, and the ver")
        assert conclusion.sweep.text.endswith(" 8 480 ops/s")


def full_server(share: float) -> ServerCpu:
    return ServerCpu(server_cpus_used=2 * share, server_cpu_count=2, host_cpus_busy=2 * share, host_cpu_count=2)


def test_what_was_full_in_the_sweep_did_not_stop_the_open_loop() -> None:
    conclusion = play(limit(7700), quick(), server=full_server(0.97))[1]
    assert conclusion.sweep.bottleneck is not None
    assert conclusion.sweep.bottleneck.kind is BottleneckKind.SERVER_CPU
    assert conclusion.bottleneck is not None
    assert conclusion.bottleneck.kind is BottleneckKind.UNDETERMINED
    assert "bottleneck undetermined" in conclusion.headline and "server CPU" not in conclusion.headline
    assert conclusion.bottleneck.evidence[-1] == "at saturation (closed loop): server CPU 97 %"


def test_what_was_full_far_above_the_limit_did_not_stop_it() -> None:
    """The lowest failure says nothing; at the top of the bracket, 8000 where 7000 hold, the server was full."""
    capacity = Capacity(standard(), 1)
    trials: list[Trial] = []
    while (probe := capacity.next_probe(trials)) is not None:
        rate = probe.rate_ops_per_s
        if rate is None:
            swept = 1e6 if probe.target == "null" else min(1000.0 * probe.connections, 8000.0)
            trials.append(closed_trial(probe, swept))
            continue
        trial = open_trial(probe, limit(7000)(probe))
        server = full_server(0.95 if rate >= 8000 else 0.6)
        trials.append(replace(trial, observation=replace(trial.observation, server=server)))
    found = capacity.conclude(trials).bottleneck
    assert found is not None and found.kind is BottleneckKind.UNDETERMINED
    assert "at 8 000 ops/s: server CPU 95 %" in found.evidence


def test_where_no_probe_failed_nothing_stopped_it() -> None:
    assert play(lambda probe: TrialOutcome.PASS, quick(), server=full_server(0.97))[1].bottleneck is None


@pytest.mark.parametrize(
    ("finding", "kind"),
    [
        (Finding("generator_cpu", Standing.FAIL, "full"), ConclusionKind.CLIENT_LIMITED),
        (Finding("opcounters", Standing.FAIL, "disagree"), ConclusionKind.INVALID),
    ],
)
def test_a_sweep_that_proves_nothing_is_no_start(finding: Finding, kind: ConclusionKind) -> None:
    trials, conclusion = play(limit(7700), quick(), findings=(finding,))
    assert conclusion.kind is kind and conclusion.exit_code == 4
    assert set(stages(trials)) == {"calibrate", "sweep"}
    assert conclusion.reason == f"in the sweep with 8 connections: {finding.evidence}"


def test_levels_of_the_plateau_are_no_repeats_of_each_other() -> None:
    """Throughput that depends on the connections is not noise of the server."""
    flat = play(limit(7700), standard())[1]
    capacity = Capacity(standard(), 1)
    trials: list[Trial] = []
    rates = {8: 8000.0, 16: 7700.0, 32: 8050.0}
    while (probe := capacity.next_probe(trials)) is not None:
        rate = probe.rate_ops_per_s
        swept = 1e6 if probe.target == "null" else rates.get(probe.connections, 1000.0 * probe.connections)
        trials.append(closed_trial(probe, swept) if rate is None else open_trial(probe, limit(7700)(probe)))
    uneven = capacity.conclude(trials)
    assert flat.sustained is not None and uneven.sustained is not None
    assert uneven.sustained.relative_width == pytest.approx(flat.sustained.relative_width, abs=0.01)


def test_a_failed_verification_steps_down_two_percent() -> None:
    failing: list[float] = []

    def decide(probe: Probe) -> TrialOutcome:
        if probe.stage == "verify" and not failing:
            failing.append(probe.rate_ops_per_s or 0)
            return TrialOutcome.FAIL
        return limit(7700)(probe)

    conclusion = play(decide, standard())[1]
    assert conclusion.verified == pytest.approx(0.98 * failing[0], rel=1e-3)


def test_a_borderline_verification_is_tried_again_for_longer() -> None:
    seen: list[Probe] = []

    def decide(probe: Probe) -> TrialOutcome:
        if probe.stage == "verify":
            seen.append(probe)
            if len(seen) == 1:
                return TrialOutcome.INCONCLUSIVE
        return limit(7700)(probe)

    conclusion = play(decide, standard())[1]
    again = next(probe for probe in seen[1:] if probe.rate_ops_per_s == seen[0].rate_ops_per_s)
    assert (seen[0].duration_s, again.duration_s) == (60, 120)
    assert conclusion.verified == seen[0].rate_ops_per_s


def test_borderline_everywhere_is_never_a_pass() -> None:
    conclusion = play(lambda probe: TrialOutcome.INCONCLUSIVE, standard())[1]
    assert conclusion.sustained is None and conclusion.kind is not ConclusionKind.SUSTAINED


def test_all_rates_pass_is_no_number() -> None:
    conclusion = play(lambda probe: TrialOutcome.PASS, standard())[1]
    assert conclusion.kind is ConclusionKind.INCONCLUSIVE
    assert conclusion.reason == "no limit found up to 18 000 ops/s"


def test_a_surprising_failure_is_tried_again() -> None:
    calls: list[float] = []

    def decide(probe: Probe) -> TrialOutcome:
        calls.append(probe.rate_ops_per_s or 0)
        return TrialOutcome.FAIL if len(calls) == 1 else limit(7700)(probe)

    conclusion = play(decide, quick())[1]
    assert calls[0] == calls[1] == 4000
    assert conclusion.sustained is not None and conclusion.sustained.value == pytest.approx(7700, rel=0.02)


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (TrialOutcome.INVALID, ConclusionKind.INVALID),
        (TrialOutcome.CLIENT_LIMITED, ConclusionKind.CLIENT_LIMITED),
    ],
)
def test_a_spoilt_probe_is_repeated_once(outcome: TrialOutcome, kind: ConclusionKind) -> None:
    count = 0

    def once(probe: Probe) -> TrialOutcome:
        nonlocal count
        count += 1
        return outcome if count == 2 else limit(7700)(probe)

    assert play(once, standard())[1].kind is ConclusionKind.SUSTAINED
    trials, conclusion = play(lambda probe: outcome, standard())
    assert conclusion.kind is kind and conclusion.exit_code == 4
    assert stages(trials).count("bracket") == 2


def test_no_plateau_is_no_obstacle() -> None:
    trials, conclusion = play(limit(100_000), quick(), plateau=1e9)
    assert conclusion.saturation_ops_per_s is None and conclusion.knee_connections is None
    assert conclusion.kind in (ConclusionKind.SUSTAINED, ConclusionKind.INCONCLUSIVE)
    assert {trial.probe.connections for trial in trials if trial.probe.stage == "verify"} <= {512}


def test_a_dead_server_from_the_start() -> None:
    conclusion = play(limit(1), quick(), plateau=0.0)[1]
    assert conclusion.kind is ConclusionKind.INVALID
    assert conclusion.reason == "no operation was answered"


def test_every_prefix_can_be_resumed_and_concluded() -> None:
    trials, _ = play(limit(7700), quick())
    for count, trial in enumerate(trials):
        fresh = Capacity(quick(), 1)
        assert fresh.next_probe(trials[:count]) == trial.probe
        conclusion = fresh.conclude(trials[:count])
        assert conclusion.kind is ConclusionKind.INCOMPLETE
        assert conclusion.sustained is None


def test_an_interrupted_probe_leaves_the_search_incomplete() -> None:
    trials, _ = play(limit(7700), quick())
    probe = trials[-1].probe
    cut = [*trials[:-1], open_trial(probe, TrialOutcome.PASS, ended_by="interrupt")]
    assert Capacity(quick(), 1).next_probe(cut) is None
    assert Capacity(quick(), 1).conclude(cut).kind is ConclusionKind.INCOMPLETE


@settings(deadline=None, max_examples=40)
@given(
    choices=st.lists(st.sampled_from(list(TrialOutcome)), min_size=1, max_size=25),
    chosen=st.sampled_from([quick(), standard()]),
)
def test_any_answers_end_the_search_within_its_time(choices: list[TrialOutcome], chosen: CapacitySettings) -> None:
    count = 0

    def decide(probe: Probe) -> TrialOutcome:
        nonlocal count
        count += 1
        return choices[count % len(choices)]

    trials, conclusion = play(decide, chosen)
    if chosen.budget_s is not None:
        assert conclusion.spent_s <= chosen.budget_s + 1e-6
    assert len(trials) <= 120
    if conclusion.sustained is not None:
        assert conclusion.verifications >= 3
        assert conclusion.sustained.relative_width <= chosen.width_max


def test_time_estimates() -> None:
    assert capacity_time(quick()).max_s <= 85
    assert capacity_time(quick()).typical_s == pytest.approx(80, abs=8)
    assert 600 < capacity_time(standard()).typical_s < 1200 < capacity_time(standard()).max_s


def test_settings_refuse_fewer_than_three_verifications() -> None:
    with pytest.raises(ValueError, match="at least 3 verifications"):
        CapacitySettings(preset="own", verifications=2)
