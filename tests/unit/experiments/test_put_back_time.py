"""What putting data back takes: it is told, it is part of the time that is left, and no budget counts it."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brimline.analysis.bottleneck import BottleneckKind
from brimline.analysis.finding import Finding, Standing
from brimline.execution.data_events import tell_data_event, tell_data_events_in_all, tell_putting_back
from brimline.experiments.capacity.conclusion import RAN_OUT, ConclusionKind
from brimline.experiments.capacity.outcome import TrialOutcome
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.paired.runner import PairedRuns
from brimline.experiments.runner import tell_put_back
from brimline.experiments.settings import quick
from brimline.experiments.sweep import Sweep
from brimline.experiments.trial import Trial
from brimline.record.model import Event
from brimline.report.search.view import _what_next

from .observations import closed_trial, open_trial

SETTINGS = quick()


def _played(put_back_s: float, count: int = 99, connecting_s: float = 0.0) -> tuple[Capacity, list[Trial]]:
    """A search of which each run takes so much more, for putting data back and for connecting."""
    search, trials = Capacity(SETTINGS, seed=1), list[Trial]()
    while len(trials) < count and (probe := search.next_probe(trials)) is not None:
        back_s, more_s = (0.0, 0.0) if probe.target == "null" else (put_back_s, connecting_s)
        if probe.rate_ops_per_s is not None:
            made = open_trial(probe, TrialOutcome.PASS if probe.rate_ops_per_s < 7e3 else TrialOutcome.FAIL)
        else:
            made = closed_trial(probe, 1_000_000.0 if probe.target == "null" else min(1_000.0 * probe.connections, 8e3))
        trials.append(replace(made, took_s=probe.cost_s + more_s + back_s, put_back_s=back_s))
    return search, trials


def test_what_putting_back_takes_is_no_part_of_a_budget() -> None:
    """Each run costs 25 s of putting back, 81 s are there for all: the search probes as if nothing were put back."""
    (_, slow), (_, usual) = _played(25.0), _played(0.0)
    assert [each.probe for each in slow] == [each.probe for each in usual]
    assert sum(each.took_s or 0.0 for each in slow) > 7 * (SETTINGS.budget_s or 0)


def test_where_the_time_ran_out_during_the_sweep_a_command_is_named() -> None:
    """Connecting takes so long that no window has room."""
    search, trials = _played(0.0, connecting_s=20.0)
    conclusion = search.conclude(trials)
    assert (conclusion.kind, conclusion.reason) == (ConclusionKind.INCONCLUSIVE, RAN_OUT)
    said = _what_next(conclusion)
    assert "--resume" in said and "--budget" in said


def test_a_time_that_ends_before_the_sweep_is_not_a_server_that_does_not_answer() -> None:
    chosen = replace(SETTINGS, budget_s=1.5)
    search, trials = Capacity(chosen, seed=1), list[Trial]()
    while (probe := search.next_probe(trials)) is not None:
        trials.append(closed_trial(probe, 1_000_000.0))
    conclusion = search.conclude(trials)
    assert [trial.probe.stage for trial in trials] == ["calibrate"]
    assert (conclusion.kind, conclusion.reason) == (ConclusionKind.INCONCLUSIVE, RAN_OUT)
    assert "--budget" in _what_next(conclusion)


def test_the_time_that_is_left_counts_what_putting_back_takes_here() -> None:
    slow, trials = _played(3.0, count=3)
    usual = [replace(each, put_back_s=0.0, took_s=each.probe.cost_s) for each in trials]
    left = [slow.so_far(each).left_s for each in (trials, usual)]
    assert left[0] is not None and left[1] is not None
    assert left[0] - left[1] > 10 * 3.0
    swept = [Sweep(SETTINGS.sweep, 1).so_far(each).left_s for each in (trials, usual)]
    assert swept[0] is not None and swept[1] is not None and swept[0] - swept[1] == pytest.approx(6 * 3.0)


def test_what_putting_back_takes_is_told_with_what_it_makes_of_the_time_that_is_left() -> None:
    said: list[str] = []
    context: Any = SimpleNamespace(progress=SimpleNamespace(note=said.append))
    tell_put_back(context, 1.9, left_s=100.0)
    tell_put_back(context, 24.5, left_s=None)
    assert not said
    tell_put_back(context, 24.5, left_s=645.0)
    assert said[0].startswith("putting the data back takes about 24.5 s before each run: 10 min 45 s are left with it")


def test_a_comparison_tells_it_once_it_is_worth_telling() -> None:
    """The first run, before which the data are copied aside, takes less than is worth a line."""
    said: list[str] = []
    context: Any = SimpleNamespace(progress=SimpleNamespace(note=said.append))
    runs = PairedRuns(arms={}, writer=cast(Any, None), pairs=3)
    for left, took_s in ((5, 0.9), (4, 12.0), (3, 13.0)):
        events = [Event(unix_ns=0, kind="data_put_back", fields={"namespace": "shop.orders", "took_s": took_s})]
        record: Any = SimpleNamespace(events=events, summary={"elapsed_ns": 10_000_000_000})
        runs._tell_put_back(record, context, left=left)
    assert len(said) == 1 and said[0].startswith("putting the data back takes about 12.0 s before each run: 88.0 s are")


@pytest.mark.parametrize("cause", ["a busy host", "another client", "nothing"])
def test_a_search_that_others_disturbed_waits_until_they_are_gone(cause: str) -> None:
    """Longer windows would not help."""
    search, trials = _played(0.01, count=4)
    if cause == "another client":
        wrong = Finding("opcounters", Standing.FAIL, "the server counted more", another_client=True)
        trials = [*trials[:-1], replace(trials[-1], observation=replace(trials[-1].observation, findings=(wrong,)))]
    conclusion: Any = replace(search.conclude(trials), kind=ConclusionKind.INCONCLUSIVE)
    if cause == "a busy host":
        conclusion = replace(conclusion, bottleneck=SimpleNamespace(kind=BottleneckKind.HOST))
    quiet = _what_next(conclusion).startswith("wait until the server's host is quiet and nobody else writes")
    assert quiet is (cause != "nothing")


def test_what_goes_on_before_each_run_is_said_once_and_in_all_at_the_end() -> None:
    said: list[str] = []
    progress = SimpleNamespace(step=said.append, note=said.append, is_live=False)
    carried = SimpleNamespace(events=[], told=set(), taken_s={})
    context: Any = SimpleNamespace(progress=progress, carried=carried)

    def put_back(times: int) -> None:
        for _ in range(times):
            tell_putting_back(context, "shop.orders")
            tell_data_event(context, "shop.orders", "put back from its copy", "data_put_back", began_s=0.0)

    put_back(3)
    assert _begins(said) == ["putting shop.orders back from its copy", "shop.orders was put back from its copy in "]
    assert len(carried.events) == 3, "the record has each"
    tell_data_events_in_all(context)
    assert said[-1].startswith("shop.orders was put back from its copy 3 times, in ")
    progress.is_live = True
    said.clear()
    tell_putting_back(context, "shop.orders")
    assert said, "a screen shows what goes on just now"


def _begins(said: Sequence[str]) -> list[str]:
    return [text.partition(" in ")[0] + (" in " if " in " in text else "") for text in said]
