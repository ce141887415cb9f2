"""The report of a run of operations that are their author's own: names, steps, plans, loads apart."""

import csv
import io
import json
import textwrap
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from brimline.analysis.objective import LatencyObjective, Slo
from brimline.analysis.observation import observe
from brimline.analysis.step_truth import plan_remarks, plan_text, step_truths
from brimline.api.run_result import run_result
from brimline.api.workload import objective
from brimline.compat.jmeter.jtl import jtl_lines
from brimline.record.model import RunRecord
from brimline.report import in_language, print_report, print_summary, render_html, said_in
from brimline.report.csv_export import RUN_COLUMNS, statistics_csv
from brimline.report.markdown import render_markdown
from brimline.report.run.step_sections import per_document, with_remarks
from brimline.report.search.view import detail_sections
from brimline.report.summary import summarised
from brimline.report.view import Chart, Code, Report, Table
from brimline.spec import load_spec
from tests.support.own_run import PLANS, REVENUE, SCANS, shop_plan, step_plan, write_own_run
from tests.support.own_work import SHOP, step
from tests.unit.report.report_samples import Reports

REMARKS = (
    "a whole collection is gone through by place_order: update stock (stock), revenue (orders)",
    "sorted in memory by latest_orders (orders)",
    "the plan of place_order: find customers changed from IXSCAN { _id: 1 } to IXSCAN { city: 1 }",
)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return write_own_run(tmp_path_factory.mktemp("own") / "run")


@pytest.fixture(scope="module")
def report(record: RunRecord) -> Report:
    return run_result(record, Slo(latencies=(LatencyObjective(limit_ns=50_000_000),))).report


def section(report: Report, name: str) -> Any:
    return next(each for each in report.sections if each.id == name)


def table(report: Report, name: str, place: int = 0) -> list[dict[str, str]]:
    found = [block for block in section(report, name).blocks if isinstance(block, Table)][place]
    return [{column.label: cell.text for column, cell in zip(found.columns, row, strict=True)} for row in found.rows]


def test_a_row_for_each_step(report: Report) -> None:
    rows = table(report, "steps")
    assert [row["Step"] for row in rows] == [
        "latest_orders",
        "place_order: find customers",
        "place_order: insert orders",
        "place_order: update stock",
        "revenue",
    ]
    assert [row["Query plan"] for row in rows] == [
        "IXSCAN { _id: 1 }, sorts in memory",
        "IXSCAN { _id: 1 }, in the end IXSCAN { city: 1 }",
        "—",
        "COLLSCAN",
        "COLLSCAN",
    ]
    assert [row["Index"] for row in rows] == ["_id_", "city_1", "—", "—", "—"]
    assert [row["Keys examined per document returned"] for row in rows] == ["1.00", "1.00", "—", "0", "0"]
    assert [row["Documents examined per document returned"] for row in rows] == [
        "1.00",
        "1.00",
        "—",
        "5 000",
        "333 000",
    ]
    assert [row["Reply"] for row in rows] == ["4.20 kB", *["1.40 kB"] * 3, "4.20 kB"]
    assert [row["Failed"] for row in rows] == ["0 %", "0 %", "0 %", "0.4 %", "0 %"]
    assert rows[0]["Service p50"] == "1.62 ms" and rows[1]["Service p50"] == "1.61 ms"


@pytest.mark.parametrize(("kind", "examined"), [("find", 0), ("find", 50), ("aggregate", 0), ("count", 0)])
def test_a_plan_of_a_command_that_found_nothing_says_so(kind: str, examined: int, tmp_path: Path) -> None:
    found_nothing = {"keys_examined": examined, "docs_examined": 0, "n_returned": 0}
    plans = {"end": [step_plan("one", f"{kind} orders", **found_nothing)]}
    plan = shop_plan(operations={"one": [step(kind)]}, weights={}, loads=())
    report = run_result(write_own_run(tmp_path / "run", plan, plans=plans), None).report
    told = "; nothing matched in the one command that was explained"
    (row,) = table(report, "steps")
    assert row["Query plan"] == "IXSCAN { _id: 1 }" + ("" if kind == "count" else told)
    assert "this one command" in next(
        each.caption for each in section(report, "steps").blocks if isinstance(each, Table)
    )


def test_a_collection_that_disappeared_makes_the_run_invalid(tmp_path: Path) -> None:
    plan = shop_plan(operations={"one": [step("find")]}, weights={}, loads=())
    for start, end, verdict in (("COLLSCAN", "EOF", "fail"), ("EOF", "EOF", None), ("COLLSCAN", "COLLSCAN", None)):
        plans = {
            at: [step_plan("one", "find orders", plan_summary=summary)]
            for at, summary in (("start", start), ("end", end))
        }
        observation = observe(write_own_run(tmp_path / f"{start}-{end}", plan, plans=plans))
        found = [finding for finding in observation.findings if finding.name == "collections"]
        assert [finding.verdict.value for finding in found] == ([verdict] if verdict else [])
        assert all("gone at the end of the run: shop.orders" in str(finding.evidence) for finding in found)


def test_what_a_step_took_of_the_server(record: RunRecord) -> None:
    """Writes are 0.3 of its time and two equal steps; reads 0.6, apportioned by service time."""
    truths = {truth.label: truth for truth in step_truths(record, observe(record))}
    shares = {label: truth.server_share for label, truth in truths.items()}
    writes = [shares["place_order: insert orders"], shares["place_order: update stock"]]
    assert writes == [pytest.approx(0.15, rel=0.01)] * 2
    reads = [shares[label] for label in ("latest_orders", "place_order: find customers", "revenue")]
    assert sum(each or 0.0 for each in reads) == pytest.approx(0.6)
    assert reads[0] == pytest.approx(3 * (reads[1] or 0.0), rel=0.02)  # as often again, and twice
    assert all(truth.shares_class for truth in truths.values())


def test_one_step_of_a_class_took_all_of_it(tmp_path: Path) -> None:
    plan = shop_plan(
        operations={"find": [step("find")], "claim": [step("findAndModify")], "ping": [step("ping")]},
        weights={}, loads=(),
    )  # fmt: skip
    record = write_own_run(tmp_path / "run", plan, plans={})
    truths = step_truths(record, observe(record))
    assert [truth.server_share for truth in truths] == [pytest.approx(each) for each in (0.6, 0.3, 0.1)]
    assert not any(truth.shares_class for truth in truths)
    of_others = [{**row, "reads_ops": 2 * int(row["reads_ops"] or 0)} for row in record.server]
    shared = replace(record, server=of_others)
    assert [truth.server_share for truth in step_truths(shared, observe(shared))] == [
        None,
        *(pytest.approx(each) for each in (0.3, 0.1)),
    ]
    without = replace(record, server=())
    assert [truth.server_share for truth in step_truths(without, observe(without))] == [None] * 3


def test_what_stands_out_is_in_the_first_screen_of_every_format(report: Report) -> None:
    fact = next(fact for fact in report.verdict.facts if fact.label == "Query plans")
    assert (fact.value, fact.tone) == ("; ".join(REMARKS), "warn")
    assert report.data["plan_remarks"] == list(REMARKS)
    console = Console(width=100, file=io.StringIO())
    print_summary(summarised(report), console, closing=["report: somewhere"], lines_max=15)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert len(shown.splitlines()) <= 15
    assert REMARKS[0] in " ".join(shown.split())
    for text in (render_html(report), render_markdown(report).replace("\\", "")):
        assert REMARKS[0] in text and REMARKS[1] in text


def test_a_search_names_what_stands_out_of_the_probe_that_it_shows(reports: Reports, record: RunRecord) -> None:
    found = with_remarks(reports.capacity, record)
    assert found.verdict.facts[0].value == "; ".join(REMARKS)
    assert found.data["plan_remarks"] == list(REMARKS)
    assert with_remarks(reports.capacity, reports.record) is with_remarks(reports.capacity, None) is reports.capacity
    names = [each.id for each in detail_sections(record, None)]
    assert names == ["charts", "operations", "steps", "accounting", "errors"]
    assert not next(each for each in detail_sections(reports.record, None) if each.id == "steps").blocks


def test_nothing_stands_out_of_plans_that_use_an_index(tmp_path: Path) -> None:
    plans = {instant: [step_plan("latest_orders", "find orders")] for instant in ("start", "end")}
    report = run_result(write_own_run(tmp_path / "run", plans=plans), None).report
    assert report.data["plan_remarks"] == []
    assert not any(fact.label == "Query plans" for fact in report.verdict.facts)
    unknown = run_result(write_own_run(tmp_path / "other", plans={}), None).report
    assert "Query plan" not in table(unknown, "steps")[0]
    assert unknown.data["operations"]["revenue"]["steps"]["aggregate orders"]["plan_at_start"] is None


@pytest.mark.parametrize(
    ("index_could_sort", "sort_used_disk", "told", "plan"),
    [
        (None, None, "sorted in memory by latest_orders (orders)", "sorts in memory"),
        (True, False, "sorted in memory by latest_orders (orders)", "sorts in memory"),
        (False, False, "", "sorts what it made in memory"),
        (False, True, "sorted on disk by latest_orders (orders)", "sorts on disk"),
    ],
)
def test_a_sort_stands_out_where_an_index_could_do_it_or_memory_was_short(
    index_could_sort: bool | None, sort_used_disk: bool | None, told: str, plan: str, tmp_path: Path
) -> None:
    """A sort of two groups was the headline of a run, and no index could have helped."""
    sort = {"in_memory_sort": True, "index_could_sort": index_could_sort, "sort_used_disk": sort_used_disk}
    plans = {"end": [step_plan("latest_orders", "find orders", **sort)]}
    truths = step_truths(write_own_run(tmp_path / "run", plans=plans), None)
    assert plan_remarks(truths) == ([told] if told else [])
    assert plan_text(next(each.plan for each in truths if each.plan is not None)).endswith(f", {plan}")


def test_a_plan_with_null_in_place_of_what_replies_bring_says_so(tmp_path: Path) -> None:
    counts = dict.fromkeys(("keys_examined", "docs_examined", "n_returned"))
    plans = {"end": [step_plan("place_order", "find customers", has_null=True, **counts)]}
    report = run_result(write_own_run(tmp_path / "run", plans=plans), None).report
    row = table(report, "steps")[1]
    assert row["Query plan"] == "IXSCAN { _id: 1 }, explained with null in place of what replies bring"
    assert row["Documents examined per document returned"] == "—"
    steps = report.data["operations"]["place_order"]["steps"]
    assert steps["find customers"]["plan_at_end"]["explained_with_null"] is True


def test_a_step_that_was_never_sent_has_no_plan_as_if_it_had_run(record: RunRecord) -> None:
    quiet = [{**row, "sent": 0, "ok": 0, "failed": 0} for row in record.steps if row["step"] == "update stock"]
    others = [row for row in record.steps if row["step"] != "update stock"]
    report = run_result(replace(record, steps=[*others, *quiet]), None).report
    assert list(table(report, "steps")[3].values())[1:5] == ["never sent", "—", "—", "—"]
    assert report.data["plan_remarks"][0] == "a whole collection is gone through by revenue (orders)"


def test_many_steps_that_scan_are_counted(tmp_path: Path) -> None:
    names = [f"operation {number}" for number in range(64)]
    plans = {"end": [step_plan(name, "find orders", **SCANS) for name in names]}
    plan = shop_plan(operations={name: [step("find")] for name in names}, weights={}, loads=())
    report = run_result(write_own_run(tmp_path / "run", plan, plans=plans), None).report
    remark = report.data["plan_remarks"][0]
    assert remark.endswith("operation 0 (orders), operation 1 (orders), operation 2 (orders) and 61 more")
    assert len(table(report, "steps")) == 64 and len(table(report, "operations")) == 65
    curves = next(block for block in section(report, "charts").blocks if block.id == "percentiles")
    assert isinstance(curves, Chart)
    assert len({key.name.partition(",")[0] for key in curves.legend}) == 12
    assert curves.caption.endswith("Drawn are the most frequent operations, without 52 others.")
    for columns in (60, 120):
        console = Console(width=columns, file=io.StringIO(), force_terminal=True, color_system=None)
        print_report(report, console)
        lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
        assert max(map(cell_len, lines)) <= columns


def test_the_total_is_the_workloads_and_a_load_apart_has_its_row(report: Report) -> None:
    rows = table(report, "operations")
    assert [row["Label"] for row in rows] == ["Total", "latest_orders", "place_order", "revenue"]
    assert [row["Samples"] for row in rows] == ["10 000", "7 500", "2 500", "20"]
    (apart,) = table(report, "operations", 1)
    assert apart == {
        "Load of its own": "revenue",
        "Load": "2.00 ops/s offered",
        "Connections": "1",
        "Offered": "2.00 ops/s",
        "Answered": "2.00 ops/s",
        "Overdue": "0",
    }
    assert report.data["throughput_ops_per_s"] == 999
    assert report.data["loads_apart"][0]["operations"] == ["revenue"]
    assert report.data["loads_apart"][0]["throughput_ops_per_s"] == 2


def test_no_claim_of_the_report_contradicts_another(report: Report) -> None:
    assert {row["Result"] for row in table(report, "lint")} == {"pass"}


NAMES = ("Latest_Orders", "read", "<b>orders</b> & more", "50 %, {x}", "订单查询", "errors", "a" * 120)


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    """Also where brimline has a word of its own for one, and where a format takes a part of it for its own."""
    plan = shop_plan(operations={name: [step("find")] for name in NAMES}, weights={}, loads=())
    record = write_own_run(tmp_path / "run", plan, plans={})
    report = run_result(record, None).report
    for shown in (report, in_language(report, "zh")):
        found = next(block for block in section(shown, "operations").blocks if isinstance(block, Table))
        assert {row[0].text for row in found.rows[1:]} == set(NAMES)
        steps = next(block for block in section(shown, "steps").blocks if isinstance(block, Table))
        assert [row[0].text for row in steps.rows] == list(NAMES)
    html = render_html(report)
    assert "<b>orders" not in html and "&lt;b&gt;orders&lt;/b&gt; &amp; more" in html
    assert "\\<b\\>orders" in render_markdown(report)
    assert [row["operation"] for row in csv.DictReader(io.StringIO(statistics_csv(record, observe(record))))] == [
        "Total",
        *sorted(NAMES),
    ]
    assert {row["label"] for row in csv.DictReader(jtl_lines(record))} == set(NAMES)
    assert set(json.loads(json.dumps(report.data))["operations"]) == set(NAMES)


def test_an_objective_names_an_operation_as_its_author_does(tmp_path: Path) -> None:
    """Also where Chinese has a word for one."""
    text = """
    name: shop
    collections: {orders: {records: 10, fields: {total: {kind: int, max: 9}}}}
    operations: {errors: {find: {collection: orders}}}
    slo: {errors: {response_p99: 20ms, error_rate: 1%}}
    """
    path = tmp_path / "shop.yaml"
    path.write_text(textwrap.dedent(text))
    promised = objective(load_spec(str(path)).spec)
    assert promised is not None
    assert said_in("zh", promised.latency_text) == "errors 响应时间 p99 ≤ 20 ms"
    assert [said_in("zh", each.text) for each in promised.errors[1:]] == ["errors 错误 ≤ 1%"]


def test_a_row_of_csv_for_each_step(record: RunRecord) -> None:
    rows = list(csv.DictReader(io.StringIO(statistics_csv(record, observe(record)))))
    assert [(row["operation"], row["step"]) for row in rows] == [
        ("Total", ""),
        ("latest_orders", ""),
        ("place_order", ""),
        *(("place_order", each["name"]) for each in SHOP["place_order"]),
        ("revenue", ""),
    ]
    last = rows[5]
    assert (last["clock"], last["samples"], last["failed"], last["unit"]) == ("service", "2500", "10", "command")
    assert float(last["median_ms"]) == pytest.approx(1.61, abs=0.01)
    assert tuple(rows[0]) == RUN_COLUMNS


def test_json_has_each_step_with_its_command_and_both_plans(report: Report) -> None:
    steps = report.data["operations"]["place_order"]["steps"]
    assert list(steps) == [each["name"] for each in SHOP["place_order"]]
    found = steps["find customers"]
    assert found["command"] == PLANS["start"][1]["command"]
    assert (found["plan_at_start"]["index_names"], found["plan_at_end"]["index_names"]) == (["_id_"], ["city_1"])
    assert found["plan_changed"] and not steps["update stock"]["plan_changed"]
    assert (found["sent"], found["samples"], found["failed"], found["bytes_per_reply"]) == (2500, 2500, 0, 1400)
    assert found["service"]["count"] == 2500
    assert steps["update stock"]["failed"] == 10


def test_the_commands_can_be_copied(report: Report) -> None:
    code = next(block for block in section(report, "steps").blocks if isinstance(block, Code))
    assert code.text.splitlines()[:2] == ["// latest_orders", str(PLANS["start"][0]["command"])]
    assert len(code.text.splitlines()) == 8


def test_an_unexpected_reply_has_words_and_a_cause(report: Report) -> None:
    (row,) = table(report, "errors")
    assert (row["Error"], row["Operation"]) == ("not as expected: documents: 1", "place_order")
    errors = next(row for row in table(report, "validity") if row["Check"] == "Operations failed")
    assert errors["Evidence"] == (
        "0.0998 % of the operations failed; most often a reply that is not as expected (documents: 1): "
        "the data is not what the step expects, or its filter finds other documents"
    )
    chinese = next(row for row in table(in_language(report, "zh"), "validity") if row["检查项"] == "操作失败")
    assert "与预期不符（documents: 1）" in chinese["依据"]


def test_a_long_name_is_cut_where_several_have_to_fit(tmp_path: Path) -> None:
    """The table has it whole."""
    name = "orders_" * 12
    plans = {"end": [step_plan(name, "find orders", **SCANS)]}
    plan = shop_plan(operations={name: [step("find")]}, weights={}, loads=())
    report = run_result(write_own_run(tmp_path / "run", plan, plans=plans), None).report
    assert report.data["plan_remarks"] == [f"a whole collection is gone through by {name[:39]}… (orders)"]
    assert table(report, "steps")[0]["Step"] == name


@pytest.mark.parametrize(
    ("examined", "returned", "text"), [(20, 20, "1.00"), (5000, 0, "5 000"), (7, None, "7.00"), (None, 3, "—")]
)
def test_examined_per_document(examined: int | None, returned: int | None, text: str) -> None:
    assert per_document(examined, returned) == text


def test_a_load_apart_is_of_the_plan() -> None:
    assert shop_plan().work.loads[0].model_dump()["connections"] == REVENUE["connections"]  # type: ignore[union-attr]


def test_rows_of_jtl_for_each_step(record: RunRecord) -> None:
    """Beside the row of its operation, which is like that of a transaction controller."""
    rows = Counter((row["label"], row["success"]) for row in csv.DictReader(jtl_lines(record)))
    wanted: Counter[tuple[str, str]] = Counter()
    named = [(row["operation"], row) for row in record.operations] + [(row["step"], row) for row in record.steps]
    for label, row in named:
        if row["phase"] == "measure":
            wanted[label, "true"] += row["ok"] + row["miss"]
            wanted[label, "false"] += row["failed"]
    assert rows == +wanted
    assert rows["update stock", "false"] > 0


def test_steps_have_rows_of_jtl_also_while_no_operation_ends(record: RunRecord) -> None:
    """As in the first interval of operations that take longer."""
    first_ns = min(row["start_ns"] for row in record.operations if row["phase"] == "measure")
    later = replace(record, operations=[row for row in record.operations if row["start_ns"] > first_ns])
    wanted = sum(row["ok"] for row in record.steps if row["step"] == "insert orders" and row["phase"] == "measure")
    rows = Counter(row["label"] for row in csv.DictReader(jtl_lines(later)))
    assert rows["insert orders"] == wanted
    assert rows["place_order"] < wanted


def test_the_profilers_table_says_from_when_on_its_entries_are(tmp_path: Path) -> None:
    counts = {"commands": 4, "time_ms": 6, "docs_examined": 8}
    plans = {**PLANS, "profile": [{"operation": "latest_orders", "step": "find orders", **counts}]}
    since = "what was left of them begins at most 58.5 s after the profiler was turned on."
    for known, told in (({"profile_begins_s": 58.5}, True), ({}, False)):
        record = write_own_run(tmp_path / f"run-{told}", plans={**plans, **known})
        report = run_result(record, None).report
        (profiled,) = (
            each
            for each in section(report, "steps").blocks
            if isinstance(each, Table) and "profiler" in str(each.caption)
        )
        assert (since in str(profiled.caption)) == told
        assert ("58.5" in render_markdown(in_language(report, "zh"))) == told
