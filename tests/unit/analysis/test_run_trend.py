from collections.abc import Sequence
from dataclasses import replace

import pytest

from brimline.analysis.compared_run import ComparedRun, Totals
from brimline.analysis.gate import GateVerdict, overall
from brimline.analysis.run_trend import gate_trends, point_text, run_series
from brimline.plan import Plan
from tests.support.run_sets import plan, simulated_run

WOBBLE = (0.0, 0.004, -0.005, 0.002, -0.001)


def night(levels: Sequence[float], *, plan_of: Plan | None = None, start: int = 0) -> list[ComparedRun]:
    """A run each night, at these levels."""
    return [
        simulated_run(
            f"night-{start + number:02}",
            figures={"throughput": level * (1 + WOBBLE[number % 5]), "p99": 1e6},
            started_ns=start + number,
            plan_of=plan_of,
        )
        for number, level in enumerate(levels)
    ]


DROP = [1000.0] * 12 + [900.0] * 6


def test_a_drop_is_found_in_the_metric_that_dropped() -> None:
    (series,) = run_series(reversed(night(DROP)), keys=("throughput", "p99"))
    throughput, p99 = series.trends
    (point,) = throughput.points
    assert throughput.runs[point.index].name == "night-12"
    assert throughput.worse(point) == pytest.approx(0.1, abs=0.005)
    assert p99.points == ()
    assert "Throughput -1" in point_text(throughput, point) and "from night-12 on" in point_text(throughput, point)


def test_plans_are_followed_apart_and_the_newest_comes_last() -> None:
    old, new = night([1000.0] * 6, plan_of=plan(16)), night([500.0] * 6, start=50)
    series = run_series([*new, *old])
    assert [each.runs[0].name for each in series] == ["night-00", "night-50"]
    assert all(trend.points == () for each in series for trend in each.trends)


def test_invalid_runs_are_left_out_and_named() -> None:
    spoilt = simulated_run("spoilt", figures={"throughput": 1.0}, started_ns=99, problems=("ended early",))
    (series,) = run_series([*night([1000.0] * 8), spoilt])
    assert len(series.runs) == 8 and [each.name for each in series.left_out] == ["spoilt"]


@pytest.mark.parametrize(
    ("levels", "limit", "newest", "expected"),
    [
        (DROP, 0.05, 10, GateVerdict.FAIL),
        (DROP, 0.2, 10, GateVerdict.PASS),  # not by that much
        (DROP, 0.05, 5, GateVerdict.PASS),  # longer ago
        (DROP[::-1], 0.05, 18, GateVerdict.PASS),  # for the better
        (DROP[:5], 0.05, 10, GateVerdict.INCONCLUSIVE),  # too few
    ],
)
def test_the_gate_looks_for_a_worsening_among_the_newest(
    levels: list[float], limit: float, newest: int, expected: GateVerdict
) -> None:
    (case,) = gate_trends(run_series(night(levels), keys=("throughput",)), limit=limit, newest=newest)
    assert case.verdict is expected
    assert case.name.endswith(" throughput")


NOISY = [1000.0, 1250.0, 820.0, 1100.0, 760.0, 1180.0]


def test_runs_that_vary_too_much_for_a_change_to_show_pass_no_gate() -> None:
    """Six runs from 760 to 1250 ops/s passed a gate of 5 %: no change was found, and none could have been."""
    (case,) = gate_trends(run_series(night(NOISY), keys=("throughput",)), limit=0.05, newest=10)
    assert case.verdict is GateVerdict.INCONCLUSIVE
    assert case.text.startswith(
        "Throughput: a change for the worse by more than 5 % is not ruled out; 90 % interval of"
    )
    assert case.change is not None and case.change.inner_low < -0.05
    (wide,) = gate_trends(run_series(night(NOISY), keys=("throughput",)), limit=0.5, newest=10)
    assert wide.verdict is GateVerdict.PASS, "half as much would have shown"
    (more,) = gate_trends(run_series(night(NOISY * 40), keys=("throughput",)), limit=0.05, newest=120)
    assert more.verdict is GateVerdict.PASS, "so many runs tell it"


def test_a_newest_run_that_proves_nothing_passes_no_gate() -> None:
    spoilt = simulated_run("spoilt", figures={"throughput": 1.0}, started_ns=99, problems=("ended early",))
    for levels in ([1000.0] * 12, []):
        (first, *_) = cases = gate_trends(run_series([*night(levels), spoilt]), limit=0.05, newest=10)
        assert overall(cases) is GateVerdict.INCONCLUSIVE
        assert first.text == "the newest run, spoilt, proves nothing: ended early"
    older = simulated_run("older", figures={"throughput": 1.0}, started_ns=-1, problems=("ended early",))
    assert overall(gate_trends(run_series([older, *night([1000.0] * 12)]), limit=0.05, newest=10)) is GateVerdict.PASS


def test_a_newest_run_that_did_not_send_what_was_planned_passes_no_gate() -> None:
    totals = Totals(due=200_000, sent=179_960, overdue=20_040)
    *older, newest = night([1000.0] * 12)
    late = replace(newest, totals=totals, unsent="planned 200 000, sent 179 960: …")
    cases = gate_trends(run_series([*older, late]), limit=0.05, newest=10)
    told, *others = cases
    assert overall(others) is GateVerdict.PASS
    assert told.verdict is GateVerdict.INCONCLUSIVE
    assert told.text == (
        "the newest run, night-11, sent 179 960 of the 200 000 planned: its figures are of less than was asked for"
    )
    since = gate_trends(run_series([*older[:-1], replace(older[-1], unsent="…"), newest]), limit=0.05, newest=10)
    assert overall(since) is GateVerdict.PASS, "the newest one tells"


def test_a_figure_that_the_newest_run_lacks_passes_no_gate() -> None:
    bare = simulated_run("bare", figures={"throughput": 1000.0}, started_ns=99)
    cases = gate_trends(run_series([*night([1000.0] * 12), bare]), limit=0.05, newest=10)
    assert {case.name.rpartition(" ")[2]: case.verdict for case in cases} == {
        "throughput": GateVerdict.PASS,
        "p99": GateVerdict.INCONCLUSIVE,
    }
    strange = gate_trends(run_series(night([1000.0] * 12), keys=("p95",)), limit=0.05, newest=10)
    assert overall(strange) is GateVerdict.INCONCLUSIVE
