"""Searches on connections and on threads: whole numbers, service time, and a generator that must not be the limit."""

from dataclasses import replace

import pytest

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.objective import LatencyObjective, Slo
from brimline.experiments.axis import On
from brimline.experiments.capacity.conclusion import CapacityConclusion, ConclusionKind
from brimline.experiments.capacity.outcome import TrialOutcome
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.runner import probe_plan
from brimline.experiments.settings import CapacitySettings, standard
from brimline.experiments.trial import SEARCH_STAGES, Probe, Trial
from brimline.plan import WireTarget
from brimline.spec import load_spec
from tests.support.objectives import p99_within

from .observations import MS, closed_trial, with_p99

PLATEAU = 8000.0


def on_connections(limit_ms: float = 10) -> CapacitySettings:
    return replace(standard(p99_within(round(limit_ms * MS)).on_service_time()), on=On.CONNECTIONS)


def on_threads() -> CapacitySettings:
    return replace(standard(Slo().on_service_time()), on=On.THREADS, loops=4, ramp_up_s=60.0)


def trial(probe: Probe, *, held: bool, **changes: object) -> Trial:
    made = closed_trial(probe, min(1000.0 * probe.connections, PLATEAU), **changes)
    service = made.observation.service
    assert service is not None
    p99_ns = 2 * MS if held else 50 * MS
    return replace(made, observation=replace(made.observation, service=with_p99(service, p99_ns)))


def play(settings: CapacitySettings, largest: int, **changes: object) -> tuple[list[Trial], CapacityConclusion]:
    search = Capacity(settings, 1)
    trials: list[Trial] = []
    while (probe := search.next_probe(trials)) is not None:
        if probe.target == "null":
            trials.append(closed_trial(probe, 1e6))
        elif probe.stage == "sweep":
            trials.append(trial(probe, held=True))
        else:
            trials.append(trial(probe, held=probe.connections <= largest, **changes))
        assert len(trials) < 100
    return trials, search.conclude(trials)


@pytest.mark.parametrize("largest", [4, 5, 7, 31, 79, 83, 131])
def test_the_largest_number_of_connections(largest: int) -> None:
    trials, conclusion = play(on_connections(), largest)
    assert conclusion.kind is ConclusionKind.SUSTAINED, conclusion.headline
    assert conclusion.sustained is not None
    assert conclusion.sustained.value == pytest.approx(largest, abs=max(1, 0.02 * largest))
    assert conclusion.sustained.low <= largest <= conclusion.sustained.high
    assert conclusion.sustained.unit == "connections"
    searched = [each.probe for each in trials if each.probe.stage in SEARCH_STAGES]
    assert all(each.rate_ops_per_s is None and each.loops is None for each in searched)
    assert conclusion.headline.startswith(f"most {conclusion.sustained.value:.0f} connections (verified, 95 % CI ")
    assert "at service p99 ≤ 10 ms" in conclusion.headline


@pytest.mark.parametrize("on", [On.CONNECTIONS, On.RATE])
def test_no_connection_waits_for_the_generator_where_their_number_is_sought(on: On) -> None:
    """A search of a rate and a sweep may leave replies a moment: they look for throughput."""
    probe = Capacity(replace(on_connections(), on=on), 1).next_probe([])
    assert probe is not None
    target = WireTarget(address="127.0.0.1:1", write_concern=None)
    for made in (replace(probe, target="server"), replace(probe, target="null")):
        pacer = probe_plan(made, spec=load_spec("ycsb-c").spec, target=target).pacer.model_dump()
        sought = on is On.CONNECTIONS and made.target == "server"
        assert pacer.get("follows_replies", False) is sought


def test_every_probe_of_a_search_on_connections_follows_replies() -> None:
    assert all(each.probe.follows_replies for each in play(on_connections(), 40)[0])


def test_one_connection_too_many_is_no_number() -> None:
    conclusion = play(on_connections(), 0)[1]
    assert conclusion.kind is ConclusionKind.SLO_UNREACHABLE
    assert conclusion.reason.startswith("at 1 connection already: service p99")


def test_the_only_number_that_holds_is_one() -> None:
    conclusion = play(on_connections(), 1)[1]
    assert conclusion.sustained is not None and conclusion.sustained.value == 1


def test_threads_of_tlr() -> None:
    trials, conclusion = play(on_threads(), 117_300)
    assert conclusion.sustained is not None
    # 8 000 samples/s for 60 s in loops of 4 are 120 000 threads.
    assert conclusion.sustained.value == pytest.approx(117_300, rel=0.02)
    probes = [each.probe for each in trials if each.probe.stage in SEARCH_STAGES]
    assert {(each.loops, each.ramp_up_s, each.duration_s, each.warmup_s) for each in probes} == {(4, 60.0, 60.0, 0.0)}
    assert "T = 11" in conclusion.headline and "L = 4, R = 60 s: T·L/R = 7 " in conclusion.headline
    assert "samples/s started) at service p99 ≤ 10 ms" in conclusion.headline


def test_a_generator_at_its_limit_spoils_even_a_pass() -> None:
    """A late generator keeps fewer operations in flight than it was told, so that a closed loop flatters the server."""
    full = (Finding("generator_cpu", Standing.FAIL, "busiest engine thread 99 % of a CPU"),)
    conclusion = play(on_connections(), 100, findings=full)[1]
    assert conclusion.kind is ConclusionKind.CLIENT_LIMITED and conclusion.sustained is None
    assert conclusion.state.judged[0].load < 100 and conclusion.state.judged[0].outcome is TrialOutcome.CLIENT_LIMITED


def test_no_more_is_tried_than_there_may_be() -> None:
    trials, conclusion = play(replace(on_connections(), load_max=60), 10**6)
    assert max(each.probe.connections for each in trials if each.probe.stage == "search") == 60
    assert conclusion.kind is ConclusionKind.BOUNDED and conclusion.at_least == 60


@pytest.mark.parametrize("largest", [5, 50, 58])
def test_a_limit_below_the_most_that_can_be_tried_is_found(largest: int) -> None:
    trials, conclusion = play(on_connections().within(65), largest)
    assert max(each.probe.connections for each in trials) <= 65
    assert conclusion.sustained is not None
    assert conclusion.sustained.value == pytest.approx(largest, abs=max(1, 0.02 * largest))


def test_a_search_within_few_connections_keeps_what_was_asked_for() -> None:
    on_rate = standard().within(100)
    assert (on_rate.sweep.connections_max, on_rate.connections_max, on_rate.load_max) == (100, 100, None)
    assert standard().within(10).connections_max == standard().connections_min
    assert on_connections().within(1).load_max == 1
    assert replace(on_connections(), load_max=7).within(100).load_max == 7


def test_threads_need_loops() -> None:
    with pytest.raises(ValueError, match="loops and a ramp-up"):
        replace(standard(Slo(latencies=(LatencyObjective(clock="service"),))), on=On.THREADS)
