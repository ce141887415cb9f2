from dataclasses import replace

import numpy as np
import pytest

from brimline.analysis.change_text import p_text, signed_percentage
from brimline.analysis.compared_run import ComparedRun, Totals
from brimline.analysis.comparison import compare_runs
from brimline.analysis.gate import GateCase, GateVerdict, gate, overall, parse_limits
from brimline.analysis.latency import NEVER_NS
from brimline.errors import UsageError
from brimline.report.junit import junit_xml
from tests.support.run_sets import run_sets, simulated_run

NOISE = (0.0, 0.004, -0.004, 0.007, -0.007)


def runs(throughput: float, *, count: int = 5, noise: float = 1.0) -> list[ComparedRun]:
    return [
        simulated_run(f"r{number}", figures={"throughput": throughput * (1 + noise * NOISE[number])}, started_ns=number)
        for number in range(count)
    ]


def gated(b: list[ComparedRun], limit: float) -> GateCase:
    (case,) = gate(compare_runs(runs(1000.0), b), {"throughput": limit})
    return case


@pytest.mark.parametrize(
    ("throughput", "limit", "expected"),
    [
        (1000.0, 0.05, GateVerdict.PASS),
        (1200.0, 0.05, GateVerdict.PASS),  # better
        (970.0, 0.05, GateVerdict.PASS),  # worse, and surely by less than allowed
        (900.0, 0.05, GateVerdict.FAIL),
        (952.0, 0.05, GateVerdict.INCONCLUSIVE),  # worse for certain, by about as much as allowed
    ],
)
def test_a_metric_against_its_limit(throughput: float, limit: float, expected: GateVerdict) -> None:
    assert gated(runs(throughput), limit).verdict is expected


def test_the_interval_of_a_gate_is_the_one_that_it_decides_by() -> None:
    """At 95 % it can reach beyond the limit where the gate passes."""
    case = gated(runs(957.0), 0.05)
    assert case.verdict is GateVerdict.PASS and case.change is not None
    assert -case.change.inner_low <= 0.05 < -case.change.low, "what the test is about"
    low, high = signed_percentage(case.change.inner_low), signed_percentage(case.change.inner_high)
    assert f"90 % interval {low} to {high}, p {p_text(case.adjusted_p)}; at most 5 %" in case.text
    assert "95 %" not in case.text and case.limit == 0.05
    assert "90 % interval" in junit_xml([case], suite="compare")


def test_what_a_shows_against_itself_fails_no_gate() -> None:
    comparison = compare_runs(runs(1000.0), runs(900.0), floors={"throughput": 0.12})
    (case,) = gate(comparison, {"throughput": 0.05})
    assert case.verdict is GateVerdict.INCONCLUSIVE


def test_noise_neither_passes_nor_fails() -> None:
    case = gated(runs(930.0, noise=20.0), 0.05)
    assert case.verdict is GateVerdict.INCONCLUSIVE
    assert "at most 5 % worse is allowed" in case.text


def test_one_run_is_inconclusive_and_so_is_a_metric_that_is_not_there() -> None:
    assert gated(runs(500.0, count=1), 0.05).verdict is GateVerdict.INCONCLUSIVE
    (case,) = gate(compare_runs(runs(1000.0), runs(1000.0)), {"p99": 0.05})
    assert case.verdict is GateVerdict.INCONCLUSIVE and "was not measured" in case.text


def test_the_runs_that_are_left_pass_for_no_run_in_which_the_server_broke() -> None:
    limits = {"throughput": 0.05}
    late = simulated_run("late", problems=("the generator sent late",))
    comparison = compare_runs(runs(1000.0), [*runs(1000.0), late])
    assert overall(gate(comparison, limits)) is GateVerdict.PASS
    broken = replace(late, name="broken", problems=("the target went away",), broken=True)
    comparison = compare_runs(runs(1000.0), [*runs(1000.0), late, broken])
    (throughput, told) = gate(comparison, limits)
    assert throughput.verdict is GateVerdict.PASS
    assert (told.verdict, told.text) == (GateVerdict.INCONCLUSIVE, "broken (B) is left out: the target went away")
    assert gate(comparison, {}) == ()


@pytest.mark.parametrize("side", ["A", "B"])
def test_a_run_that_did_not_send_what_was_planned_passes_no_gate(side: str) -> None:
    """Not even one of latency, whose figures are the same: what never went out would have been the slowest."""
    totals = Totals(due=200_000, sent=179_960, overdue=20_040)
    a, b = runs(1000.0), runs(1000.0)
    late = {"A": a, "B": b}[side]
    late[4] = replace(late[4], name="late", totals=totals, unsent="planned 200 000, sent 179 960: …")
    comparison = compare_runs(a, b)
    throughput, told = gate(comparison, {"throughput": 0.05})
    assert throughput.verdict is GateVerdict.PASS
    assert told.verdict is GateVerdict.INCONCLUSIVE
    assert told.text == (
        f"late ({side}) sent 179 960 of the 200 000 planned: its figures are of less than was asked for"
    )
    assert gate(comparison, {}) == ()


def test_runs_that_have_a_figure_pass_for_none_that_lacks_it() -> None:
    b = runs(1000.0)
    b[0] = replace(b[0], figures={"p50": 1.0})
    case = gated(b, 0.05)
    assert case.verdict is GateVerdict.INCONCLUSIVE and case.text.endswith("not every run has this figure")
    slower = [b[0], *runs(800.0)[1:]]
    assert gated(slower, 0.05).verdict is GateVerdict.FAIL


def test_the_worst_case_decides() -> None:
    cases = [GateCase(name=each.value, verdict=each, text="") for each in GateVerdict]
    assert overall(cases) is GateVerdict.FAIL
    assert overall([case for case in cases if case.verdict is not GateVerdict.FAIL]) is GateVerdict.INCONCLUSIVE
    assert overall([]) is GateVerdict.PASS


def test_limits_are_read_by_name_or_for_the_usual_ones() -> None:
    assert parse_limits(["5%"]) == {"": 0.05}
    assert parse_limits(["5%", "p99=10%", "errors=0.1%"]) == {"": 0.05, "p99": 0.1, "errors": 0.001}
    assert parse_limits(["sustained=10%"], known=None) == {"sustained": 0.1}
    for wrong, said in (
        ("p98=5%", "is no metric; there are throughput"),
        ("5", "is no percentage"),
        ("p99=", "no perc"),
    ):
        with pytest.raises(ValueError, match=said):
            parse_limits([wrong])


def test_a_limit_without_a_name_is_for_what_decides() -> None:
    a, b = run_sets(np.random.default_rng(1), order="ABBAABBAAB", slower=0.2)
    comparison = compare_runs(a, b)
    assert [(case.name, case.limit) for case in gate(comparison, {"": 0.05, "p99": 0.5})] == [
        ("throughput", 0.05),
        ("p99", 0.5),
    ]
    with pytest.raises(UsageError, match='"sustained" is no metric of these'):
        gate(comparison, {"sustained": 0.05})


@pytest.mark.parametrize(
    ("slowest_ns", "advice"),
    [(1_000_000, "longer runs, with more operations in each, give it a figure"),
     (NEVER_NS, "longer runs, at a load that is answered, give it a figure")],
    ids=["too few operations", "not answered"],
)  # fmt: skip
def test_what_gives_a_missing_figure_depends_on_why_it_is_missing(slowest_ns: int, advice: str) -> None:
    """Where all was answered a lower load helps nothing."""
    thin = [replace(each, distribution=((1_000_000, 20), (slowest_ns, 2))) for each in runs(1000.0)]
    (case,) = gate(compare_runs(thin, thin), {"p99": 0.05})
    assert (case.verdict, case.advice) == (GateVerdict.INCONCLUSIVE, advice)
