"""What became of the writes of a ledger, as a section: in numbers, by write concern, and the worst one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

from brimline.analysis.ledger import Settled
from brimline.experiments.failover.order import FailoverTrial
from brimline.record.fault import FaultFacts
from brimline.record.ledger import LEDGER_FILE, Write
from brimline.report.view import Block, Cell, Column, Section, Table, Text
from brimline.units import format_count, format_duration, format_rate
from brimline.wording import Verbatim, joined, message

LISTED_MAX = 50
"""Writes that are named in the report; the file has all."""


def ledger_section(trials: Sequence[FailoverTrial], *, asked_per_s: float | None) -> list[Section]:
    """The section; none without a ledger, which was to make `asked_per_s` writes per second, None: what it could."""
    known = [
        (trial, trial.facts, trial.settled)
        for trial in trials
        if trial.facts is not None and trial.settled is not None and trial.facts.ledger is not None
    ]
    unchecked = [trial.facts.ledger_trouble for trial in trials if trial.facts is not None]
    shown: list[Block] = [Text(text=each, tone="fail") for each in unchecked if each]
    if known:
        shown.append(_counts(known, asked_per_s))
        if (listed := _listed(known)) is not None:
            shown.append(listed)
    if not shown:
        return []
    return [
        Section(
            id="ledger",
            title="What became of acknowledged writes",
            short="Ledger",
            intro="Writes of brimline's own beside the load, each of which adds its number to a document. They are "
            "looked for when every server does its part again.",
            blocks=shown,
        )
    ]


_Known = Sequence[tuple[FailoverTrial, FaultFacts, Settled]]


def _counts(known: _Known, asked_per_s: float | None) -> Table:
    return Table(
        columns=[
            Column(label="Fault", leading=True),
            Column(label="Writes", numeric=False),
            Column(label="Asked"),
            Column(label="Reached"),
            Column(label="Acknowledged"),
            Column(label="Missing"),
            Column(label="Twice"),
            Column(label="Unknown"),
            Column(label="Unknown, and there"),
            Column(label="Own write not read"),
            Column(label="Read, then gone"),
        ],
        rows=[_row(*each, asked_per_s) for each in known],
        caption=message(
            "Own write not read: a session did not read what it had written (read-your-writes). Read, then gone: it no "
            "longer read what it had read before (monotonic reads). Reached: acknowledged writes per second, without "
            "the longest time in which none was. Each write with its fate: {file} of its run.",
            file=Verbatim(LEDGER_FILE),
        ),
    )


def _row(trial: FailoverTrial, facts: FaultFacts, settled: Settled, asked_per_s: float | None) -> list[Cell]:
    counts = settled.counts()

    def cell(name: str, *, is_wrong: bool = False) -> Cell:
        return Cell(text=format_count(counts[name]), tone="fail" if is_wrong and counts[name] else "")

    return [
        Cell(text=format_count(trial.probe.number)),
        Cell(text=how_written(facts.ledger or {})),
        Cell(text="as answered" if asked_per_s is None else format_rate(asked_per_s, unit="writes/s")),
        Cell(
            text=format_rate(settled.reached_per_s, unit="writes/s"),
            tone="warn" if asked_per_s is not None and settled.is_slow(asked_per_s) else "",
        ),
        cell("acknowledged"),
        cell("missing", is_wrong=True),
        cell("twice", is_wrong=True),
        cell("unknown"),
        cell("unknown_there"),
        cell("stale_own", is_wrong=True),
        cell("stale_monotonic", is_wrong=True),
    ]


def how_written(ledger: Mapping[str, Any]) -> str:
    """`w: majority, sent once more after an error`."""
    concern = ledger.get("write_concern") or {}
    parts: list[str] = [message("w: {w}", w=concern["w"]) if "w" in concern else "w: the server's default"]
    if concern.get("j"):
        parts.append(Verbatim("j: true"))
    parts.append("sent once more after an error" if ledger.get("retry_writes") else "sent once")
    return joined(", ", parts)


def _listed(known: _Known) -> Table | None:
    """What is missing or there twice, one by one."""
    rows = [
        (trial, facts, write, fate)
        for trial, facts, settled in known
        for fate, writes in (("missing", settled.missing), ("twice", settled.twice))
        for write in writes
    ]
    if not rows:
        return None
    return Table(
        columns=[
            Column(label="Fault", leading=True),
            Column(label="Session"),
            Column(label="Write"),
            Column(label="Fate", numeric=False),
            Column(label="Acknowledged after the fault began"),
        ],
        rows=[
            [
                Cell(text=format_count(trial.probe.number)),
                Cell(text=format_count(write.session)),
                Cell(text=format_count(write.number)),
                Cell(text=fate, tone="fail"),
                Cell(text=_when(write, facts)),
            ]
            for trial, facts, write, fate in rows[:LISTED_MAX]
        ],
        caption=message("{shown} of {count}, the first; {file} of each run has all.",
                        shown=format_count(min(len(rows), LISTED_MAX)), count=format_count(len(rows)),
                        file=Verbatim(LEDGER_FILE)),
    )  # fmt: skip


def _when(write: Write, facts: FaultFacts) -> str:
    if facts.begun_unix_ns is None:
        return ""
    since_ns = write.done_unix_ns - facts.begun_unix_ns
    if since_ns < 0:
        return message("{time} before it", time=format_duration(-since_ns))
    return format_duration(since_ns)
