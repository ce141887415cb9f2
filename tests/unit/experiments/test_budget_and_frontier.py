"""The pure machines within a budget, and for several limits: which probes they ask for, and what they leave open."""

from dataclasses import replace

import pytest

from brimline.api.search_settings import FURTHER_LIMIT_SHARE, SearchWords, frontier_settings
from brimline.experiments.capacity.conclusion import CapacityConclusion, ConclusionKind
from brimline.experiments.capacity.frontier import Frontier, FrontierSettings
from brimline.experiments.capacity.outcome import TrialOutcome
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.cost import capacity_time, time_needed
from brimline.experiments.settings import CapacitySettings, quick, standard
from brimline.experiments.trial import SEARCH_STAGES, Probe, Trial
from tests.support.objectives import p99_within
from tests.support.simulation import read_only

from .observations import MS, closed_trial, open_trial
from .queue_simulator import Law, QueueSimulator

OVERHEAD_S = 3.0


def answer(probe: Probe, limit: float) -> Trial:
    if probe.target == "null":
        return closed_trial(probe, 1e6)
    if probe.rate_ops_per_s is None:
        return closed_trial(probe, min(1000.0 * probe.connections, 8000.0))
    return open_trial(probe, TrialOutcome.PASS if probe.rate_ops_per_s <= limit else TrialOutcome.FAIL)


def play(
    settings: CapacitySettings, *, limit: float = 7700.0, overhead_s: float = 0.0
) -> tuple[list[Trial], CapacityConclusion]:
    search = Capacity(settings, 1)
    trials: list[Trial] = []
    while (probe := search.next_probe(trials)) is not None:
        trials.append(replace(answer(probe, limit), took_s=probe.cost_s + overhead_s))
        assert len(trials) < 100
    return trials, search.conclude(trials)


def within(budget_s: float) -> CapacitySettings:
    return replace(standard(), budget_s=budget_s, budget_elapses=True)


@pytest.mark.parametrize("budget_s", [60.0, 120.0, 300.0, 480.0, 600.0, 900.0, 1800.0])
def test_a_search_ends_within_its_budget(budget_s: float) -> None:
    trials, conclusion = play(within(budget_s), overhead_s=OVERHEAD_S)
    assert sum(trial.took_s or 0 for trial in trials) <= budget_s
    assert conclusion.state.spent_s <= budget_s
    if budget_s >= 300:
        assert conclusion.figure is not None and conclusion.exit_code == 0
    if budget_s >= 900:
        assert conclusion.kind is ConclusionKind.SUSTAINED
        assert conclusion.sustained is not None
        assert conclusion.sustained.value == pytest.approx(7700, rel=0.03)


def test_what_the_budget_left_open_is_said() -> None:
    _, full = play(replace(standard(), budget_s=3600.0, budget_elapses=True))
    assert not any("had no time left" in each for each in full.unsettled)
    _, short = play(within(time_needed(standard())))
    assert any("had no time left" in each for each in short.unsettled)


def test_the_shortest_budget_that_is_taken_gives_a_figure() -> None:
    conclusion = play(within(time_needed(standard())))[1]
    assert conclusion.figure is not None


def test_the_estimate_tells_each_stage() -> None:
    estimate = capacity_time(standard())
    assert estimate.text == (
        "estimate: about 15 min 17 s, 24 probes (calibrate 1, sweep 8, search 9, reference 3, verify 3); "
        "at most 35 min 59 s, without server starts, loading and what is around each run"
    )
    assert estimate.probe_count == sum(stage.probe_count for stage in estimate.stages) == 24
    assert estimate.typical_s == pytest.approx(sum(stage.total_s for stage in estimate.stages))
    assert capacity_time(within(600)).max_s == 600


def test_the_estimate_of_an_undisturbed_search_is_about_right() -> None:
    trials, _ = play(standard())
    spent_s = sum(trial.probe.cost_s for trial in trials)
    assert spent_s == pytest.approx(capacity_time(standard()).typical_s, rel=0.1)


def frontier(*limits_ms: float, search: CapacitySettings | None = None) -> FrontierSettings:
    return FrontierSettings(search=search or standard(), limits_ns=tuple(round(each * MS) for each in limits_ms))


def test_limits_are_searched_from_the_loosest_to_the_tightest() -> None:
    """One exponential server: the sweep is shared, and the bracket of the loosest limit serves the others."""
    settings = frontier(10, 5, search=replace(quick(), budget_s=None))
    law = Law(servers=1, service_s=1 / 4000, service_law="exponential")
    machine, simulator = Frontier(settings, 1), QueueSimulator(law, 1)
    trials: list[Trial] = []
    while (probe := machine.next_probe(trials)) is not None:
        trials.append(simulator.execute(probe))
        assert len(trials) < 120
    goals = [trial.probe.goal for trial in trials if trial.probe.stage in SEARCH_STAGES]
    assert goals == sorted(goals, key=["10ms", "5ms"].index)
    assert sum(trial.probe.stage == "calibrate" for trial in trials) == 1
    first, second = machine.conclude(trials).points
    assert first.figure is not None and second.figure is not None
    assert second.figure < first.figure
    # Every prefix leads to the same next probe, and a finished limit isn't changed by what comes after it.
    for count in range(0, len(trials), 5):
        assert Frontier(settings, 1).next_probe(trials[:count]) == trials[count].probe
    own = [trial for trial in trials if trial.probe.goal in ("", "10ms")]
    assert Capacity(settings.of_limit(10 * MS), 1).conclude(own).figure == first.figure


def test_a_budget_is_divided_among_the_limits() -> None:
    settings = frontier(20, 10, 5, search=within(1800))
    budgets = [settings.of_limit(each).budget_s or 0 for each in settings.limits_ns]
    assert budgets == sorted(budgets) and budgets[-1] == 1800
    assert budgets[1] - budgets[0] == pytest.approx(budgets[2] - budgets[1])


def test_the_time_of_a_preset_is_for_one_limit_and_what_is_asked_for_is_for_all() -> None:
    own = quick().budget_s
    assert own is not None
    limits_ns = [20 * MS, 10 * MS, 5 * MS, 5 * MS]
    found = frontier_settings(read_only(), "quick", limits_ns).search.budget_s
    assert found == pytest.approx(own * (1 + 2 * FURTHER_LIMIT_SHARE)), "two further ones"
    assert frontier_settings(read_only(), "quick", limits_ns, SearchWords(budget_s=900.0)).search.budget_s == 900


@pytest.mark.parametrize("limits", [(5.0,), (5.0, 5.0), tuple(float(each) for each in range(1, 20))])
def test_too_few_or_too_many_limits(limits: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="a frontier needs 2 to 12 different limits"):
        frontier(*limits)


def test_the_rest_of_the_objective_holds_for_every_limit() -> None:
    slo = p99_within(10 * MS)
    chosen = frontier(20, 5, search=standard(slo)).of_limit(5 * MS)
    assert chosen.slo.leading.limit_ns == 5 * MS and chosen.slo.errors == slo.errors and chosen.goal == "5ms"


@pytest.mark.parametrize(("checkpoint_s", "window_s"), [(None, 60), (0.2, 61), (4.7, 65)])
def test_deciding_windows_hold_a_whole_period_of_checkpoints(checkpoint_s: float | None, window_s: float) -> None:
    """The pause between two checkpoints is 60 s, so that their beginnings are further apart than that."""
    search = Capacity(standard(), 1)
    trials: list[Trial] = []
    while (probe := search.next_probe(trials)) is not None:
        trial = answer(probe, 7700)
        seen = None if len(trials) != 5 else checkpoint_s  # in the sweep
        trials.append(replace(trial, observation=replace(trial.observation, checkpoint_s=seen)))
    lengths_s = {trial.probe.duration_s for trial in trials if trial.probe.stage in ("search", "verify")}
    assert lengths_s == {window_s}
