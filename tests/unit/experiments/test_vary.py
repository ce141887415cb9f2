"""The order of a factor sweep, when it ends, and what it asks again."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brimline.analysis.figure import Figure
from brimline.experiments.measure import Measure
from brimline.experiments.vary.conclusion import conclude_vary
from brimline.experiments.vary.factors import parse_factors
from brimline.experiments.vary.order import RunOutcome, Vary, VaryEnd, VaryProbe, VarySettings, VaryTrial
from brimline.experiments.vary.runner import read_measured_trial

from .vary_simulator import Machine, combinations_of, settings_of

TWO_BY_THREE = ("mongod=/a/mongod,/b/mongod", "connections=1,8,64")


def level(_levels: Mapping[str, str]) -> float:
    return 1000.0


@settings(max_examples=60)
@given(
    counts=st.lists(st.integers(2, 4), min_size=1, max_size=3),
    apart=st.integers(0, 2),
    seed=st.integers(0, 2**32),
    block=st.integers(1, 9),
)
def test_every_block_has_every_combination_once_and_those_of_one_server_together(
    counts: list[int], apart: int, seed: int, block: int
) -> None:
    names = ("mongod", "cache-gb", "connections")
    factors = [
        f"{name}={','.join(str(level + 1) for level in range(count))}"
        for name, count in zip(names, counts, strict=False)
    ]
    wanted = settings_of(*factors, apart=names[:apart])
    order = Vary(wanted, seed).order(block)
    assert Counter(order) == Counter(wanted.combinations)
    servers = [wanted.server_levels(levels) for levels in order]
    changes = sum(before != after for before, after in pairwise(servers))
    assert changes == len(wanted.groups) - 1
    assert Vary(wanted, seed).order(block + block % 2) == tuple(
        reversed(Vary(wanted, seed).order(block - 1 + block % 2))
    )


def test_the_seed_decides_the_order_and_even_drift_meets_all_alike() -> None:
    wanted = settings_of(*TWO_BY_THREE)
    orders = {Vary(wanted, seed).order(1) for seed in range(30)}
    assert len(orders) > 20
    places: Counter[tuple[str, ...]] = Counter()
    for block in (1, 2):
        for place, levels in enumerate(Vary(wanted, 3).order(block)):
            places[levels] += place
    assert set(places.values()) == {5}


def test_it_ends_when_every_interval_is_narrow_enough() -> None:
    machine = Machine(settings_of(*TWO_BY_THREE), level, seed=1, noise=0.002)
    trials = machine.all()
    assert len(trials) == 3 * 6
    assert machine.vary.ended_by(trials) is VaryEnd.PRECISE
    noisier = Machine(settings_of(*TWO_BY_THREE), level, seed=1, noise=0.05)
    more = noisier.all()
    assert len(more) > 3 * 6
    assert all(sorted(combinations_of(more, block)) == sorted(noisier.settings.combinations)
               for block in range(1, more[-1].probe.block + 1))  # fmt: skip


def test_it_ends_at_the_most_blocks_and_says_so() -> None:
    machine = Machine(settings_of(*TWO_BY_THREE, blocks_max=4), level, seed=1, noise=0.5)
    trials = machine.all()
    assert len(trials) == 4 * 6
    assert machine.vary.ended_by(trials) is VaryEnd.BLOCKS_MAX


def test_a_block_is_begun_only_when_the_budget_takes_all_of_it() -> None:
    wanted = settings_of(*TWO_BY_THREE, budget_s=200.0)
    machine = Machine(wanted, level, seed=1)
    trials: list[VaryTrial] = []
    while (probe := machine.vary.next_probe(trials)) is not None:
        trials.append(replace(machine.run(probe), took_s=15.0))
    assert len(trials) == 2 * 6
    assert machine.vary.ended_by(trials) is VaryEnd.BUDGET
    with pytest.raises(ValueError, match="budget is shorter"):
        replace(wanted, budget_s=71.0)


def test_a_run_that_proves_nothing_is_made_once_more_at_once() -> None:
    spoilt = ("/a/mongod", "8")

    def first_time(probe: VaryProbe) -> RunOutcome:
        spoils = probe.levels == spoilt and probe.block == 1 and probe.attempt == 1
        return RunOutcome.INVALID if spoils else RunOutcome.COUNTS

    trials = Machine(settings_of(*TWO_BY_THREE), level, seed=1, spoilt=first_time).all()
    place = next(index for index, trial in enumerate(trials) if trial.outcome is RunOutcome.INVALID)
    assert trials[place + 1].probe == replace(trials[place].probe, attempt=2)
    assert len(trials) == 3 * 6 + 1


def test_what_proves_nothing_twice_is_left_and_does_not_hold_up_the_end() -> None:
    spoilt = ("/b/mongod", "64")

    def always(probe: VaryProbe) -> RunOutcome:
        return RunOutcome.CLIENT_LIMITED if probe.levels == spoilt else RunOutcome.COUNTS

    machine = Machine(settings_of(*TWO_BY_THREE), level, seed=1, spoilt=always)
    trials = machine.all()
    assert sum(trial.probe.levels == spoilt for trial in trials) == 2 * 3
    assert machine.vary.ended_by(trials) is VaryEnd.PRECISE
    assert not any(trial.figures for trial in trials if trial.probe.levels == spoilt)


@pytest.mark.parametrize(("attempts", "runs"), [((1, 2), 2), ((1,), 4)])
def test_what_can_not_begin_is_not_tried_in_every_block(attempts: tuple[int, ...], runs: int) -> None:
    """It failed twice with the same words; what failed once ran in the end."""
    failing = ("/b/mongod", "64")

    def fails(probe: VaryProbe) -> RunOutcome:
        fails = probe.levels == failing and probe.block == 1 and probe.attempt in attempts
        return RunOutcome.FAILED if fails else RunOutcome.COUNTS

    machine = Machine(settings_of(*TWO_BY_THREE), level, seed=1, spoilt=fails)
    trials = machine.all()
    assert sum(trial.probe.levels == failing for trial in trials) == runs
    assert sum(trial.probe.levels != failing for trial in trials) == 3 * 5
    assert machine.vary.ended_by(trials) is VaryEnd.PRECISE


def test_where_nothing_can_begin_the_end_comes_after_one_block() -> None:
    machine = Machine(settings_of(*TWO_BY_THREE), level, seed=1, spoilt=lambda _: RunOutcome.FAILED)
    trials = machine.all()
    assert (len(trials), machine.vary.ended_by(trials)) == (2 * 6, VaryEnd.IMPOSSIBLE)


def test_at_a_given_rate_the_latency_has_to_be_known() -> None:
    """The throughput follows from the rate, and is known at once."""
    machine, trials = (
        Machine(settings_of(*TWO_BY_THREE, blocks_max=5, measure="run"), level, seed=1, noise=0.2),
        list[VaryTrial](),
    )
    while (probe := machine.vary.next_probe(trials)) is not None:
        made = machine.run(probe)
        trials.append(replace(made, kind="open loop", figures={**made.figures, "throughput": 500.0}))
    assert (len(trials), machine.vary.ended_by(trials)) == (5 * 6, VaryEnd.BLOCKS_MAX)
    found = conclude_vary(machine.settings, trials, (), seed=1)
    assert found.main.key == "p99" and not any(each.precise for each in found.cells)
    assert all(each.main == each.means["p99"] for each in found.cells)
    # What no run states is not waited for.
    unstated = [replace(each, figures={"throughput": 500.0}) for each in trials]
    assert machine.vary.ended_by(unstated[:18]) is VaryEnd.PRECISE
    one_less = [replace(each, figures={"throughput": 500.0} if each.probe.levels == trials[0].probe.levels else
                {**each.figures, "p99": 1e6 + each.probe.block}) for each in trials]  # fmt: skip
    assert machine.vary.ended_by(one_less[:18]) is VaryEnd.PRECISE


def test_nothing_is_asked_after_a_run_that_was_cut_short() -> None:
    machine = Machine(settings_of(*TWO_BY_THREE), level, seed=1)
    for ended_by, end in (("target_lost", VaryEnd.BROKEN_OFF), ("interrupt", VaryEnd.INCOMPLETE)):
        trials = machine.all(most=4)
        trials.append(replace(trials[-1], ended_by=ended_by))
        assert machine.vary.next_probe(trials) is None
        assert machine.vary.ended_by(trials) is end


@pytest.mark.parametrize("cut_at", [0, 1, 7, 13])
def test_going_on_makes_the_runs_that_were_left(cut_at: int) -> None:
    machine = Machine(settings_of(*TWO_BY_THREE), level, seed=5)
    whole = machine.all()
    part = whole[:cut_at]
    for number in range(cut_at, len(whole)):
        probe = machine.vary.next_probe(part)
        assert probe == whole[number].probe
        part.append(machine.run(probe))
    assert machine.vary.next_probe(part) is None
    assert part == whole


def test_a_resumed_design_asks_for_what_failed_in_any_block() -> None:
    """A run that could not have its connections is dropped on resume, wherever it stood."""
    machine = Machine(settings_of(*TWO_BY_THREE, blocks=2, blocks_max=2), level, seed=5)
    whole = machine.all()
    gone = ("/b/mongod", "64")
    resumed = machine.all([trial for trial in whole if trial.probe.levels != gone])
    assert Counter(trial.probe for trial in resumed) == Counter(trial.probe for trial in whole)
    assert machine.vary.ended_by(resumed) is machine.vary.ended_by(whole)


def test_settings_that_make_no_sense_are_refused() -> None:
    factors = parse_factors(["connections=1,8"])
    wrong: tuple[dict[str, object], ...] = (
        {"factors": ()}, {"precision": 0.0}, {"precision": 1.5}, {"blocks": 0}, {"blocks": 5, "blocks_max": 4},
        {"duration_s": 0.0}, {"blocks_max": 10**9},
    )  # fmt: skip
    for each in wrong:
        with pytest.raises(ValueError):
            VarySettings(**{"factors": factors, **each})  # type: ignore[arg-type]
    many = parse_factors([f"{name}={','.join(str(each) for each in range(1, 33))}" for name in ("records", "threads")])
    with pytest.raises(ValueError, match="1024 combinations"):
        VarySettings(factors=many)


def test_every_load_goes_over_the_most_connections_that_are_varied() -> None:
    """It went over those of the combination that happened to run first: 1 or 32 in one row of the loading table."""
    settings = settings_of("write-concern=1,majority", "connections=1,32,8", "threads=2,1")
    assert settings.loading_combination(("majority", "8", "1")) == ("majority", "32", "2")


def test_a_bound_counts_and_says_why_no_more_is_known(tmp_path: Path) -> None:
    why = "the objective can't be met: at 1 connection already: 50 % of the operations failed"
    bound = Figure(key="sustained", value=1, high=1, unit="connections", label="", higher_is_better=True, remark=why)
    measure = Measure(name="capacity", kind="capacity", figures=lambda _: {bound.key: bound})
    trial = read_measured_trial(measure, VaryProbe(block=1, levels=("a",)), tmp_path, server=1, problem="")
    assert trial.counts and trial.figures == {"sustained": 1} and trial.reasons == (why,)
