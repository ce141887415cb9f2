"""The sections that only operations of their author's own have: each step as both sides saw it, and loads apart."""

from collections.abc import Sequence
from dataclasses import replace

from brimline.analysis.latency import Latency
from brimline.analysis.loads import answered_ops_per_s, loads_beside, offered_ops_per_s
from brimline.analysis.operation_names import shown
from brimline.analysis.quantile_text import quantile_text
from brimline.analysis.step_truth import StepTruth, plan_remarks, plan_text, step_truths
from brimline.plan.pacing import short_load
from brimline.record.model import RunRecord
from brimline.record.plans import StepProfile, profile_begins_s, step_profiles
from brimline.report.run.parts_table import request_facts
from brimline.report.view import Block, Cell, Code, Column, Fact, Report, Section, Table, Text, Tone
from brimline.stats.quantile_interval import QuantileInterval
from brimline.units import (
    NS_PER_MS,
    NS_PER_S,
    UNKNOWN_TEXT,
    format_bytes,
    format_count,
    format_duration,
    format_number,
    format_percentage,
    format_rate,
)
from brimline.wording import Verbatim, capitalised, joined, message

_CAPTION = "Measured window. Reply is its mean size; service time is of every command that ended."
_CAPTION_WITH_PLANS = (
    "Measured window. The plan is of one command of the step with values in place, asked before the load and after it. "
    "Keys and documents examined are those of this one command, for each document that it returned; where it returned "
    "none, they are all that were examined. "
    "Reply is its mean size; service time is of every command that ended. "
    "≈: what the server took for commands of this class, apportioned by service time."
)

_PROFILE_CAPTION = (
    "Commands that the server's profiler recorded, a share of them. It cuts each time to whole milliseconds. Steps of "
    "the same form are told together."
)


def steps(truths: Sequence[StepTruth], profiled: Table | None = None) -> Section:
    """What each step costs and how the server executes it; no blocks for other work."""
    blocks: list[Block] = []
    if truths:
        if remarks := plan_remarks(truths):
            told = message("{remarks}.", remarks=capitalised(joined("; ", remarks)))
            blocks.append(Text(text=told, tone="warn"))
        blocks.append(_table(truths))
        if profiled is not None:
            blocks.append(profiled)
        if commands := "\n".join(_command_lines(truths)):
            blocks.append(Code(text=commands, title="The commands, with values in their places"))
    return Section(id="steps", title="Each operation, step by step", short="Steps", blocks=blocks)


def profile(record: RunRecord) -> Table | None:
    """What the server's profiler recorded of each step; None where it recorded nothing."""
    told, begins_s = step_profiles(record.plans), profile_begins_s(record.plans)
    if not told:
        return None
    since = None
    if begins_s is not None:
        since = message(
            "The server keeps the newest only, usually 1 MB for each database: what was left of them begins at most "
            "{time} after the profiler was turned on.",
            time=format_duration(begins_s * NS_PER_S),
        )
    return Table(
        columns=[
            Column(label="Step", numeric=False, leading=True),
            Column(label="Commands"),
            Column(label="Mean time"),
            Column(label="Mean CPU time", optional=True),
            Column(label="Keys examined per command", optional=True),
            Column(label="Documents examined per command"),
            Column(label="Documents returned per command", optional=True),
        ],
        rows=[_profile_cells(each) for each in told],
        caption=_PROFILE_CAPTION if since is None else joined(" ", [_PROFILE_CAPTION, since]),
    )


def _profile_cells(told: StepProfile) -> list[Cell]:
    def mean(total: int | None, unit_ns: int) -> str:
        return UNKNOWN_TEXT if total is None else format_duration(total * unit_ns / told["commands"])

    counts = (told["keys_examined"], told["docs_examined"], told["n_returned"])
    label = message("{operation}: {step}", operation=Verbatim(told["operation"]), step=Verbatim(told["step"]))
    return [
        Cell(text=label),
        Cell(text=format_count(told["commands"])),
        Cell(text=mean(told["time_ms"], NS_PER_MS)),
        Cell(text=mean(told["cpu_ns"], 1)),
        *(Cell(text=per_document(total, told["commands"])) for total in counts),
    ]


def _table(truths: Sequence[StepTruth]) -> Table:
    knows_plans = any(truth.plan is not None for truth in truths)
    columns = [
        Column(label="Step", numeric=False, leading=True),
        *(_plan_columns() if knows_plans else ()),
        Column(label="Reply"),
        Column(label="Service p50"),
        Column(label="Service p99"),
        Column(label="95 % CI of the p99", optional=True),
        Column(label="Failed", optional=True),
        Column(label="Of the server's time", optional=True),
    ]
    rows = [_cells(truth, knows_plans=knows_plans) for truth in truths]
    return Table(columns=columns, rows=rows, caption=_CAPTION_WITH_PLANS if knows_plans else _CAPTION)


def _plan_columns() -> list[Column]:
    return [
        Column(label="Query plan", numeric=False),
        Column(label="Index", numeric=False, optional=True),
        Column(label="Keys examined per document returned", optional=True),
        Column(label="Documents examined per document returned"),
    ]


def _cells(truth: StepTruth, *, knows_plans: bool) -> list[Cell]:
    size = truth.bytes_per_reply
    return [
        Cell(text=truth.label),
        *(_plan_cells(truth) if knows_plans else ()),
        Cell(text=UNKNOWN_TEXT if size is None else format_bytes(round(size))),
        *_time_cells(truth.service),
        Cell(text=format_percentage(truth.failed_share), tone="fail" if truth.failed else ""),
        Cell(text=_server_share(truth)),
    ]


def _plan_cells(truth: StepTruth) -> list[Cell]:
    plan = truth.plan
    if plan is None or not truth.was_sent:
        never = () if truth.was_sent else (Cell(text="never sent"),)
        return [*never, *(Cell(text=UNKNOWN_TEXT) for _ in _plan_columns()[len(never) :])]
    is_told = plan["collection_scan"] or truth.sorts_in_vain or truth.sorts_on_disk or truth.has_changed
    tone: Tone = "warn" if is_told else ""
    return [
        Cell(text=_plan_text(truth), tone=tone),
        Cell(text=Verbatim(", ".join(plan["index_names"])) or UNKNOWN_TEXT),
        Cell(text=per_document(plan["keys_examined"], plan["n_returned"])),
        Cell(text=per_document(plan["docs_examined"], plan["n_returned"])),
    ]


def _plan_text(truth: StepTruth) -> str:
    plan = truth.plan
    assert plan is not None  # noqa: S101 - asked for where there is one
    told = plan_text(plan)
    if truth.has_changed and truth.start is not None:
        before = Verbatim(truth.start["plan_summary"] or "")
        told = message("{before}, in the end {after}", before=before, after=told)
    if plan["has_null"]:
        return message("{plan}, explained with null in place of what replies bring", plan=told)
    if truth.matched_nothing:
        return message("{plan}; nothing matched in the one command that was explained", plan=told)
    return told


def per_document(examined: int | None, returned: int | None) -> str:
    """Examined for each document returned; of none that was returned all that was examined."""
    if examined is None:
        return UNKNOWN_TEXT
    return format_number(examined / max(returned or 0, 1))


def _time_cells(service: Latency | None) -> list[Cell]:
    if service is None:
        return [Cell(text=UNKNOWN_TEXT) for _ in range(3)]
    return [
        Cell(text=quantile_text(service.p50)),
        Cell(text=quantile_text(service.p99)),
        Cell(text=_interval(service.p99)),
    ]


def _interval(quantile: QuantileInterval) -> str:
    if quantile.low_ns is None or quantile.high_ns is None:
        return UNKNOWN_TEXT
    return message("{low} – {high}", low=format_duration(quantile.low_ns), high=format_duration(quantile.high_ns))


def _server_share(truth: StepTruth) -> str:
    if truth.server_share is None:
        return UNKNOWN_TEXT
    share = format_percentage(truth.server_share, digits=2)
    return message("≈ {share}", share=share) if truth.shares_class else share


def _command_lines(truths: Sequence[StepTruth]) -> list[str]:
    """Each command below its step's name, as a comment of the shell's language."""
    return [
        line
        for truth in truths
        if truth.sample_command
        for line in (f"// {' '.join(truth.label.split())}", truth.sample_command)
    ]


def first_facts(truths: Sequence[StepTruth], record: RunRecord) -> list[Fact]:
    """What stands out of a run's plans and replies, for the first screen."""
    remarks = plan_remarks(truths)
    of_plans = [Fact(label="Query plans", value=joined("; ", remarks), tone="warn")] if remarks else []
    return [*of_plans, *request_facts(record)]


def with_remarks(report: Report, record: RunRecord | None) -> Report:
    """`report` with what stands out of the plans and replies of the run that it shows more closely."""
    if record is None:
        return report
    truths = step_truths(record, None)
    facts = first_facts(truths, record)
    if not facts:
        return report
    verdict = replace(report.verdict, facts=[*facts, *report.verdict.facts])
    return replace(report, verdict=verdict, data={**report.data, "plan_remarks": plan_remarks(truths)})


def loads_apart(record: RunRecord) -> Table | None:
    """The loads beside the workload's; None without any."""
    parts = loads_beside(record)
    if not parts:
        return None
    return Table(
        columns=[
            Column(label="Load of its own", numeric=False, leading=True),
            Column(label="Load", numeric=False),
            Column(label="Connections"),
            Column(label="Offered"),
            Column(label="Answered"),
            Column(label="Overdue"),
        ],
        rows=[_load_cells(part) for part in parts],
        caption="Due times, connections and rates of their own. They are no part of the total above, nor of what an "
        "objective of all operations is about.",
    )


def _load_cells(part: RunRecord) -> list[Cell]:
    offered, answered = offered_ops_per_s(part), answered_ops_per_s(part)
    overdue = None if part.summary is None else part.summary["overdue"]
    names = dict.fromkeys(row["operation"] for row in part.operations)
    return [
        Cell(text=joined(", ", [shown(name, part.plan) for name in names]) if names else UNKNOWN_TEXT),
        Cell(text=short_load(part.plan)),
        Cell(text=format_count(part.plan.connections)),
        Cell(text=UNKNOWN_TEXT if offered is None else format_rate(offered)),
        Cell(text=UNKNOWN_TEXT if answered is None else format_rate(answered)),
        Cell(text=UNKNOWN_TEXT if overdue is None else format_count(overdue), tone="warn" if overdue else ""),
    ]
