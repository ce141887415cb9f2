import pytest

from brimline.analysis.compared_run import METRIC_KEYS, Totals, clock_of, compared_run, metrics
from brimline.plan import load_plan, resolve
from brimline.plan.model import WireTarget
from brimline.spec import load_spec

from .records import MS, S, operation_row, run_record, summary


def test_a_run_has_one_figure_per_metric_that_it_knows() -> None:
    run = compared_run(run_record(rate=None))
    assert run.kind == "closed loop" and run.problems == ()
    assert (
        run.figures.items()
        >= {
            "throughput": 1000.0,
            "p50": MS,
            "p95": MS,
            "p99": MS,  # 9900 of 10 000 are not slower
            "errors": 0.0,
            "client_cpu": S / 10 / 1000,
            "client_cpu_share": 0.2,
            "connections": 8.0,
            "mean": 1.01 * MS,
            "read.mean": 1.01 * MS,
            "read.throughput": 1000.0,
        }.items()
    )
    assert run.distribution == [(MS, 9900), (2 * MS, 100)]


def test_quantiles_with_too_few_operations_beyond_them_are_no_figures() -> None:
    few = compared_run(run_record(rate=None, latencies={"service": [(MS, 5000), (2 * MS, 100)]}))
    assert {"p50", "p95"} <= few.figures.keys() and not {"p99", "p99.9"} & few.figures.keys()
    many = compared_run(run_record(rate=None, latencies={"service": [(MS, 200_000)]}))
    assert many.figures["p99.9"] == MS
    assert few.bounds.keys() == {0.99, 0.999} and many.bounds == {}


def test_an_open_loop_is_told_by_its_response_times() -> None:
    latencies = {"service": [(MS, 10_000)], "response": [(3 * MS, 10_000)], "lag": [(10_000, 10_000)]}
    run = compared_run(run_record(latencies=latencies))
    assert run.kind == "open loop" and clock_of(run.kind) == "response"
    assert run.figures["p50"] == 3 * MS and run.distribution == [(3 * MS, 10_000)]
    assert [metric.label for metric in metrics(run.kind)][1:3] == ["Response p50", "Response p95"]


def test_the_servers_cpu_is_shared_out_over_the_operations() -> None:
    rows = [
        {"at_ns": 2 * S, "server_cpu_ns": 1 * S, "server_cpu_count": 2},
        {"at_ns": 10 * S, "server_cpu_ns": 5 * S, "server_cpu_count": 2},
    ]
    run = compared_run(run_record(rate=None, server=rows))
    assert run.figures["server_cpu"] == pytest.approx(0.5 * S / 1000)


def test_a_run_without_a_server_is_a_kind_of_its_own() -> None:
    assert compared_run(run_record(rate=None, target="null")).kind == "null target"


def test_a_load_is_measured_in_documents() -> None:
    spec = load_spec("ycsb-c", overrides={"data.records": 20_000}).spec
    target = WireTarget(address="h:1", write_concern=None)
    assert resolve(spec, target=target).work.kind == "mix"
    rows = [operation_row(second, operation="load", documents=1000 * second) for second in range(1, 5)]
    run = compared_run(run_record(plan=load_plan(spec, target=target), operations=rows))
    assert run.kind == "load"
    # Ten thousand documents in the eleven seconds until the last interval ended.
    assert run.figures["throughput"] == pytest.approx(10_000 / 11)
    assert metrics("load")[0].unit == "documents/s"


def test_runs_that_prove_nothing_say_why() -> None:
    lost = compared_run(run_record(rate=None, summary=summary(sent=9_000)))
    assert lost.problems and "operations got lost" in lost.problems[0]
    stopped = compared_run(run_record(rate=None, ended_by="interrupt", message="Ctrl-C"))
    assert stopped.problems == ("the run ended early (interrupt): Ctrl-C",)
    assert not lost.broken and not stopped.broken
    assert compared_run(run_record(rate=None, ended_by="target_lost", message="gone")).broken


def test_what_never_went_out_is_carried_along_and_the_run_counts() -> None:
    behind = compared_run(run_record(summary=summary(due=12_000, overdue=2_000)))
    assert behind.problems == () and behind.totals == Totals(due=12_000, sent=10_000, overdue=2_000)
    words = (
        "planned 12 000, sent 10 000: 2 000 (16.7 % of the whole run, its warm-up of 2.00 s included) never went out"
    )
    assert behind.unsent.startswith(words)
    few = compared_run(run_record(summary=summary(due=10_007, overdue=7)))
    assert few.unsent == "" and few.totals == Totals(due=10_007, sent=10_000, overdue=7)
    assert compared_run(run_record(summary=None)).totals is None


def test_what_a_closed_loop_had_not_come_to_was_planned_as_its_own_report_says() -> None:
    spec = load_spec("ycsb-c", overrides={"load": "closed", "operation_count": 25_000, "duration": "10s"}).spec
    plan = resolve(spec, target=WireTarget(address="h:1", write_concern=None))
    totals = compared_run(run_record(rate=None, plan=plan)).totals
    assert totals == Totals(due=10_000, sent=10_000, overdue=0, not_begun=15_000) and totals.planned == 25_000


def test_every_kind_has_the_metrics_that_users_can_name() -> None:
    for kind in ("closed loop", "open loop", "load", "null target"):
        assert tuple(metric.key for metric in metrics(kind)) == METRIC_KEYS
