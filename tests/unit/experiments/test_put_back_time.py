"""What putting data back takes of a search's time: in what is left of it, in why it ended, and in what to do then."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from brimline.analysis.bottleneck import BottleneckKind
from brimline.analysis.finding import Finding, Standing
from brimline.execution.data_events import tell_data_event, tell_data_events_in_all, tell_putting_back
from brimline.experiments.capacity.conclusion import ConclusionKind
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.settings import quick
from brimline.experiments.trial import Trial
from brimline.report.search.view import _what_next

from .observations import closed_trial

SETTINGS = quick()


def _swept(put_back_s: float, count: int | None = None) -> tuple[Capacity, list[Trial]]:
    """A search on a slow disk that only came to sweep: before each run data are put back."""
    search, trials = Capacity(SETTINGS, seed=1), list[Trial]()
    while (probe := search.next_probe(trials)) is not None and (count is None or len(trials) < count):
        assert probe.stage in ("calibrate", "sweep"), "no time is left for a window"
        spent = 0.0 if probe.target == "null" else put_back_s
        rate = 1_000_000.0 if probe.target == "null" else 1_000.0 * (1 + len(trials))
        made = closed_trial(probe, rate)
        trials.append(replace(made, took_s=probe.cost_s + spent, put_back_s=spent))
    return search, trials


def test_where_the_time_ran_out_what_putting_back_took_is_named() -> None:
    search, trials = _swept(20.0)
    conclusion = search.conclude(trials)
    assert conclusion.kind is ConclusionKind.INCONCLUSIVE
    assert conclusion.reason.startswith(
        "the time ran out during the sweep: putting the data back before each run took "
    ), conclusion.reason
    assert conclusion.put_back_share == pytest.approx(
        sum(each.put_back_s for each in trials) / sum(each.cost_s for each in trials)
    )
    said = _what_next(conclusion, SETTINGS)
    assert "--budget" in said and "fewer records" in said


def test_the_time_that_is_left_counts_what_putting_back_takes_here() -> None:
    slow, trials = _swept(3.0, count=3)
    usual = [replace(each, put_back_s=0.0) for each in trials]
    without_budget = replace(SETTINGS, budget_s=None)
    left = [Capacity(without_budget, 1).so_far(each).left_s for each in (trials, usual)]
    assert left[0] is not None and left[1] is not None
    assert left[0] - left[1] > 10 * 3.0
    within = slow.so_far(trials).left_s
    assert within is not None and within <= (SETTINGS.budget_s or 0) - sum(each.cost_s for each in trials)


@pytest.mark.parametrize("cause", ["a busy host", "another client", "nothing"])
def test_a_search_that_others_disturbed_waits_until_they_are_gone(cause: str) -> None:
    """Longer windows would not help."""
    search, trials = _swept(0.01, count=4)
    if cause == "another client":
        wrong = Finding("opcounters", Standing.FAIL, "the server counted more", another_client=True)
        trials = [*trials[:-1], replace(trials[-1], observation=replace(trials[-1].observation, findings=(wrong,)))]
    conclusion: Any = replace(search.conclude(trials), kind=ConclusionKind.INCONCLUSIVE)
    if cause == "a busy host":
        conclusion = replace(conclusion, bottleneck=SimpleNamespace(kind=BottleneckKind.HOST))
    quiet = _what_next(conclusion, SETTINGS).startswith("wait until the server's host is quiet and nobody else writes")
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
