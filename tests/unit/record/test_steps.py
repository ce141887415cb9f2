"""Steps of operations in a record: written, read back, and held against their operations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from brimline.record import RecordWriter, hlog, read_record
from brimline.record.model import step_clock
from brimline.record.plans import step_plans
from tests.support.public_histograms import public_intervals
from tests.unit.record.fake_histogram import FAKE_CODEC
from tests.unit.record.own_samples import STEPS, own_samples, own_summary, step_row
from tests.unit.record.samples import interval_row, operation_row, plan, samples, summary

PLANS = {
    "start": [{"operation": "place_order", "step": STEPS[0], "command": "{find: …}", "plan_summary": "COLLSCAN"}],
    "end": [],
}


def write_own_run(directory: Path, **changes: Any) -> list[str]:
    with RecordWriter(directory, plan(), "", {}, codec=FAKE_CODEC) as writer:
        writer.plans(PLANS)
        for second in range(5):
            writer.append(own_samples(second))
        return writer.seal(own_summary(**changes), None, ended_by="completed")


def test_steps_come_back_as_they_were_written(tmp_path: Path) -> None:
    assert write_own_run(tmp_path) == []
    record = read_record(tmp_path, codec=FAKE_CODEC)

    rows = [row for second in range(5) for row in own_samples(second)["steps"]]
    assert record.steps == [{key: value for key, value in row.items() if key != "service"} for row in rows]
    assert record.summary == own_summary()
    assert set(record.breakdown) == {("place_order", step_clock(step)) for step in STEPS}
    for step in STEPS:
        assert record.breakdown["place_order", step_clock(step)].buckets() == [(1_000_000, 3), (2_000_000, 3)]
        assert record.batches is not None
        assert len(record.batches.of(step_clock(step), "place_order")) == 3
    assert set(record.histograms) == {
        (operation, clock) for operation in ("latest orders", "place_order") for clock in ("service", "response", "lag")
    }
    assert step_plans(record.plans, "start")["place_order", STEPS[0]]["plan_summary"] == "COLLSCAN"
    assert step_plans(record.plans, "start")["place_order", STEPS[0]]["keys_examined"] is None
    assert (record.files_changed, record.imbalances) == ((), ())
    (tmp_path / "steps.csv").write_text("phase\n")
    (tmp_path / "plans.json").write_text("{}")
    assert set(read_record(tmp_path, codec=FAKE_CODEC).files_changed) == {"steps.csv", "plans.json"}


def test_a_run_without_steps_has_no_file_of_them(tmp_path: Path) -> None:
    with RecordWriter(tmp_path, plan(), "", {}, codec=FAKE_CODEC) as writer:
        for second in range(5):
            writer.append(samples(second))
        writer.seal(summary(), None, ended_by="completed")
    assert not (tmp_path / "steps.csv").exists()
    record = read_record(tmp_path, codec=FAKE_CODEC)
    assert (record.steps, record.plans, record.breakdown) == ([], {}, {})


def test_an_interval_that_was_not_finished_has_no_steps(tmp_path: Path) -> None:
    with RecordWriter(tmp_path, plan(), "", {}, codec=FAKE_CODEC) as writer:
        writer.append(own_samples(2))
        torn = own_samples(3)
        writer.append({**torn, "intervals": []})
    assert {row["start_ns"] for row in read_record(tmp_path, codec=FAKE_CODEC).steps} == {2_000_000_000}


@pytest.mark.parametrize(
    "name", ["read", "latest orders", "a.b", "50 %", "Müller, Söhne/KG", "订单 查询", "x=1", "a%2Fb"]
)
def test_a_tag_holds_any_name(name: str, tmp_path: Path) -> None:
    """Public readers take a tag up to the next comma, blank or line break."""
    from brimline import _native

    histogram = _native.Histogram()
    histogram.record(5_000_000)
    entries = [
        hlog.LogLine(phase=phase, operation=name, clock=clock, start_ns=0, end_ns=10**9, text=histogram.encode())
        for phase in ("warmup", "measure")
        for clock in ("service", step_clock(name))
    ]
    lines = [hlog.line(each, max_ns=5_000_000) for each in entries]
    assert list(hlog.parse(lines)) == entries
    assert {each.clock for each in hlog.parse(lines, clock=step_clock(name))} >= {step_clock(name)}
    path = tmp_path / "latency.hlog"
    path.write_text(hlog.header(0) + "".join(lines), encoding="utf-8")
    tags = [line.partition(",")[0].removeprefix("Tag=") for line in lines]
    assert not any(mark in tag for tag in tags for mark in " ,\n")
    assert [(row.tag, row.histogram.get_total_count()) for row in public_intervals(path)] == [(tag, 1) for tag in tags]


def test_names_that_kinds_have_are_tags_as_before() -> None:
    entry = hlog.LogLine(phase="measure", operation="read_modify_write", clock="lag", start_ns=0, end_ns=1, text="x")
    assert hlog.line(entry, max_ns=1).startswith("Tag=read_modify_write.lag,")
    step = hlog.LogLine(
        phase="warmup", operation="place_order", clock=step_clock("find customers"), start_ns=0, end_ns=1, text="x"
    )
    assert hlog.line(step, max_ns=1).startswith("Tag=place_order/find%20customers.service.warmup,")


def of_steps(**changes: int) -> Mapping[str, Any]:
    return {"place_order": {STEPS[0]: {"sent": 10, "ok": 10, "miss": 0, "failed": 0} | changes}}


@pytest.mark.parametrize(
    ("totals", "problem"),
    [
        (of_steps(), None),
        (of_steps(sent=9), f"place_order, {STEPS[0]}: the rows hold 10 sent, the totals 9"),
        (of_steps(failed=1), f"place_order, {STEPS[0]}: sent 10 is less than the 11 that ended"),
        (of_steps(ok=8), f"place_order, {STEPS[0]}: answered 8 times, and 10 of its operations went well"),
        ({}, f"place_order, {STEPS[0]}: the rows hold 10 sent, the totals 0"),
    ],
)
def test_steps_are_held_against_their_rows_and_their_operation(
    tmp_path: Path, totals: Mapping[str, Any], problem: str | None
) -> None:
    with RecordWriter(tmp_path, plan(), "", {}, codec=FAKE_CODEC) as writer:
        for second in range(5):
            writer.append({**own_samples(second), "steps": [step_row(second, STEPS[0])]})
        problems = writer.seal(own_summary(steps=totals), None, ended_by="completed")
    assert problems == [] if problem is None else problem in problems


def test_a_step_of_an_operation_that_failed_may_be_open(tmp_path: Path) -> None:
    """The insert was never sent, and of the find nothing is known."""
    find = {"sent": 2, "ok": 1, "miss": 0, "failed": 0}
    totals = own_summary(
        due=2, sent=2, ok=1, unfinished=1,
        operations={"place_order": {"sent": 2, "ok": 1, "miss": 0, "failed": 0, "unfinished": 1}},
        steps={"place_order": {STEPS[0]: find, STEPS[1]: find | {"sent": 1}}},
    )  # fmt: skip
    with RecordWriter(tmp_path, plan(), "", {}, codec=FAKE_CODEC) as writer:
        writer.append(
            {
                "operations": [operation_row(2, "place_order", ok=1)],
                "steps": [step_row(2, STEPS[0], ok=1), step_row(2, STEPS[1], sent=1, ok=1)],
                "intervals": [interval_row(2)],
            }
        )
        assert writer.seal(totals, None, ended_by="completed") == []
