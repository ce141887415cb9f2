"""Owns what a soak shows: its parts on one axis, the figures over time, their drift, and the stalls.

Parts that met the same server, which went on running in between, are put together on its clock. Others can't be: a
server that was started anew has forgotten what it had. Then the longest stretch is what the soak shows.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from brimline.analysis.drift import SECONDS_PER_HOUR, Drift, Series, drifts
from brimline.analysis.stalls import Seen, Stalls, Values, find_stalls
from brimline.record.coarse import Coarse, Fine
from brimline.record.model import RunRecord, ServerRow
from brimline.record.time_histogram import Histogram
from brimline.units import NS_PER_S
from brimline.wording import message

_HAPPENED = {
    "checkpoint": ("checkpoint_running", "checkpoints"),
    "ttl": ("documents_expired",),
    "compaction": ("compactions_running", "compactions"),
    "election": ("members_unreachable",),
}
"""What a server did, by the columns of which one says so: a counter that rose, or a gauge above 0."""
_USED = {
    "disk": "disk_busy_ms",
    "eviction": "cache_pages_evicted_by_application",
    "journal": "journal_sync_time_us",
    "lock_waits": "lock_wait_us",
    "page_faults": "page_faults",
    "write_conflicts": "write_conflicts",
}
"""What is always there, more or less of it: counters, of which much between two looks is unusual."""
_GAUGES = frozenset({"checkpoint_running", "compactions_running", "members_unreachable"})
LOOKED_AT = (*(column for columns in _HAPPENED.values() for column in columns), *_USED.values(), "host_busy_ns",
             "server_cpu_ns", "uptime_ms", "entries_removed")  # fmt: skip
"""The columns that are needed of every look at the server."""
_REMOVES_MUCH = 2.0
"""How many times as many entries as usual a server removes while it deletes what has expired."""
COUNT_FOR_P99 = 300
"""Operations of a block below which its p99 is its slowest operation, or nearly."""
_SAME_START_WITHIN_S, _CLOCKS_DIFFER = 5.0, 1e-4
"""How far apart the start of one server seems by two looks: steps of the wall clock, and what it gains on another."""
_NEARLY = 0.99
"""Share of an hour from which a soak is told as one: its last interval may be cut short."""
EVICTION_BEGINS = 0.8
"""Share of the cache from which WiredTiger evicts in the background, unless it is configured otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRecord:
    """One part: its record in blocks, and what is kept of every interval."""

    record: RunRecord
    fine: Fine

    @classmethod
    def of(cls, coarse: Coarse) -> "PartRecord":
        """What was read of a run."""
        return cls(record=coarse.record, fine=coarse.fine)

    @property
    def measured_s(self) -> float:
        """How much of it counts."""
        return self.record.measured_s

    @property
    def answered(self) -> int:
        """Operations that were answered in it without failure."""
        return int(self.fine.answered.sum())

    @property
    def begins_s(self) -> float:
        """Of the measured window, on the part's own clock."""
        return float(self.fine.starts_s[0]) if len(self.fine.starts_s) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakFindings:
    """`parts` are those that count, with the time in s at which each begins on the axis; `left_out` the others.

    `observed`: the part that stalls and checks are of, the longest one.
    """

    parts: tuple[tuple[float, PartRecord], ...]
    left_out: tuple[PartRecord, ...]
    observed: PartRecord
    observed_at_s: float
    drifts: tuple[Drift, ...]
    stalls: Stalls

    @property
    def span_s(self) -> float:
        """From the beginning of the first part to the end of the last one."""
        at_s, last = self.parts[-1]
        return at_s + last.measured_s

    @property
    def told_s(self) -> float:
        """The time that all changes are told for: an hour, or all of a shorter soak, beyond which nobody knows."""
        return self.span_s if self.span_s < _NEARLY * SECONDS_PER_HOUR else SECONDS_PER_HOUR


def soak_findings(parts: Sequence[PartRecord]) -> SoakFindings:
    """What the parts show, of which there is at least one."""
    stretches = _stretches(parts)
    kept = max(stretches, key=lambda each: sum(part.measured_s for _, part in each))
    ours = {id(part) for _, part in kept}
    observed_at_s, observed = max(kept, key=lambda each: each[1].measured_s)
    fine = _whole(observed.fine)
    return SoakFindings(
        parts=tuple(kept),
        left_out=tuple(part for part in parts if id(part) not in ours),
        observed=observed,
        observed_at_s=observed_at_s,
        drifts=drifts(_joined([(at_s - part.begins_s, part) for at_s, part in kept])),
        stalls=find_stalls(fine.starts_s - observed.begins_s, fine.ends_s - observed.begins_s, fine.slowest_ns,
                           fine.answered, _seen(observed)),
    )  # fmt: skip


def _stretches(parts: Sequence[PartRecord]) -> list[list[tuple[float, PartRecord]]]:
    """Parts that belong together, each with the time at which it begins."""
    stretches: list[list[tuple[float, PartRecord]]] = []
    for part in parts:
        if stretches:
            at_s, before = stretches[-1][-1]
            apart_s = _apart_s(before, part)
            if apart_s is not None:
                stretches[-1].append((at_s + apart_s, part))
                continue
        stretches.append([(0.0, part)])
    return stretches


def _apart_s(before: PartRecord, part: PartRecord) -> float | None:
    """From the beginning of one to that of the next by the server's own clock; None where it was another one.

    One that was started anew in a long pause may have run for longer than the part before: when it was started, which
    is the wall clock without its uptime, tells. Where nobody looked at a server, the one begins when the other ends.
    """
    first, second = (_zero_of_uptime_s(each.record.server) for each in (before, part))
    if first is None and second is None:
        return before.measured_s
    if first is None or second is None:
        return None
    apart_s = second - first + part.begins_s - before.begins_s
    if apart_s < before.measured_s:
        return None
    began = [_started_unix_s(each.record) for each in (before, part)]
    if began[0] is not None and began[1] is not None:
        off_s = (began[1] - second) - (began[0] - first)
        if abs(off_s) > _SAME_START_WITHIN_S + _CLOCKS_DIFFER * apart_s:
            return None
    return apart_s


def _started_unix_s(record: RunRecord) -> float | None:
    """The wall clock when the run's was zero."""
    started = None if record.summary is None else record.summary.get("started_unix_ns")
    return None if started is None else started / NS_PER_S


def _zero_of_uptime_s(rows: Sequence[ServerRow]) -> float | None:
    """How long the server had run when the run's clock was zero."""
    for row in rows:
        up_ms, at_ns = row.get("uptime_ms"), row.get("at_ns")
        if isinstance(up_ms, int | float) and isinstance(at_ns, int | float):
            return up_ms / 1000 - at_ns / NS_PER_S
    return None


def _whole(fine: Fine) -> Fine:
    """Without a last interval that was cut short: less is answered in it."""
    lengths = fine.ends_s - fine.starts_s
    if len(lengths) < 2 or lengths[-1] >= 0.9 * float(np.median(lengths)):
        return fine
    return replace(fine, starts_s=fine.starts_s[:-1], ends_s=fine.ends_s[:-1], answered=fine.answered[:-1],
                   slowest_ns=fine.slowest_ns[:-1])  # fmt: skip


def _joined(parts: Sequence[tuple[float, PartRecord]]) -> list[Series]:
    """The series of all parts, one behind the other."""
    found: dict[str, list[Series]] = defaultdict(list)
    for offset_s, part in parts:
        for each in part_series(part.record):
            found[each.key].append(replace(each, times_s=each.times_s + offset_s))
    return [reduce(_behind, each) for each in found.values()]


def _behind(first: Series, second: Series) -> Series:
    return replace(first, times_s=np.concatenate([first.times_s, second.times_s]),
                   values=np.concatenate([first.values, second.values]), full_at=second.full_at)  # fmt: skip


def part_series(record: RunRecord) -> Iterator[Series]:
    """The figures of one part over time, block by block, on its own clock."""
    blocks = [row for row in record.intervals if row["phase"] == "measure"]
    lengths = [row["end_ns"] - row["start_ns"] for row in blocks]
    if len(blocks) > 1 and lengths[-1] < 0.9 * float(np.median(lengths)):
        blocks = blocks[:-1]
    middles = {row["start_ns"]: (row["start_ns"] + row["end_ns"]) / 2 / NS_PER_S for row in blocks}
    yield from _flows(
        record, middles, {row["start_ns"]: (row["end_ns"] - row["start_ns"]) / NS_PER_S for row in blocks}
    )
    if blocks:
        rows = [row for row in record.server
                if blocks[0]["start_ns"] <= _number(row.get("at_ns")) <= blocks[-1]["end_ns"]]  # fmt: skip
        yield from _levels(rows)


def _flows(record: RunRecord, middles: dict[int, float], lengths_s: dict[int, float]) -> Iterator[Series]:
    answered, failed, finished = (dict.fromkeys(middles, 0) for _ in range(3))
    for row in record.operations:
        if row["start_ns"] in middles:
            answered[row["start_ns"]] += row["ok"] + row["miss"]
            failed[row["start_ns"]] += row["failed"]
            finished[row["start_ns"]] += row["ok"] + row["miss"] + row["failed"]
    times = np.asarray(list(middles.values()))
    rates = np.asarray([answered[each] / lengths_s[each] for each in middles])
    yield Series(key="throughput", label="Throughput", unit="ops/s", kind="flow", times_s=times, values=rates,
                 higher_is_better=True)  # fmt: skip
    clock = "service" if record.closed_loop else "response"
    merged = _by_block(record, clock, middles)
    figures = {
        "mean": {start: each.mean() for start, each in merged.items()},
        "p50": {start: float(each.quantile(0.5)) for start, each in merged.items()},
        "p99": {start: float(each.quantile(0.99)) for start, each in merged.items() if each.count() >= COUNT_FOR_P99},
    }
    for figure, values in figures.items():
        known = [start for start in middles if start in values]
        if known:
            yield Series(key=f"{clock}_{figure}", label=_label(clock, figure), unit="ns", kind="flow",
                         times_s=np.asarray([middles[each] for each in known]),
                         values=np.asarray([values[each] for each in known]))  # fmt: skip
    if any(failed.values()):
        shares = np.asarray([failed[each] / max(finished[each], 1) for each in middles])
        yield Series(key="errors", label="Failed operations", unit="share", kind="flow", times_s=times, values=shares)


def _label(clock: str, figure: str) -> str:
    if clock == "service":
        return message("Service time, {figure}", figure=figure)
    return message("Response time, {figure}", figure=figure)


def _by_block(record: RunRecord, clock: str, middles: dict[int, float]) -> dict[int, Histogram]:
    merged: dict[int, Histogram] = {}
    for each in record.interval_histograms("service" if clock == "service" else "response"):
        if each.start_ns in middles:
            if each.start_ns in merged:
                merged[each.start_ns].merge(each.histogram)
            else:
                merged[each.start_ns] = each.histogram
    return merged


def _levels(rows: Sequence[ServerRow]) -> Iterator[Series]:
    """What is there at an instant, by the last look of each block."""
    cache_max = max((_number(row.get("cache_bytes_max"), 0.0) for row in rows), default=0.0)
    for key, column, label, unit, full_at, higher_is_better in (
        ("server_memory", "resident_bytes", "Memory of the server", "bytes", None, False),
        ("cache", "cache_bytes_used", "Cache in use", "bytes", EVICTION_BEGINS * cache_max or None, False),
        ("connections", "connections", "Connections at the server", "connections", None, False),
        ("connections_left", "connections_available", "Connections that are left", "connections", 0.0, True),
        ("disk_left", "disk_free_bytes", "Disk that is left to the server", "bytes", 0.0, True),
        ("host_memory_left", "host_memory_available_bytes", "Memory that is left to the host", "bytes", 0.0, True),
        ("oplog_window", "oplog_window_ms", "Window of the oplog", "ns", None, True),
        ("generator_memory", "generator_resident_bytes", "Memory of the generator", "bytes", None, False),
    ):
        known = [(_number(row.get("at_ns")) / NS_PER_S, _number(row.get(column))) for row in rows]
        known = [(at_s, value) for at_s, value in known if not np.isnan(value)]
        if len(known) > 1:
            times, values = np.asarray(known).T
            scale = 1e6 if unit == "ns" else 1.0
            yield Series(key=key, label=label, unit=unit, kind="level", times_s=times, values=values * scale,
                         full_at=full_at, higher_is_better=higher_is_better)  # fmt: skip


def _seen(part: PartRecord) -> list[Seen]:
    """What the server, its host and the generator were seen doing, on the axis of the part."""
    looks, columns = part.fine.looks, part.fine.looks.columns
    at_s = looks.at_s - part.begins_s
    found = []
    for name, sources in _HAPPENED.items():
        signs = [columns[each] if each in _GAUGES else _grown(columns[each]) for each in sources if each in columns]
        if name == "ttl" and signs and "entries_removed" in columns:
            signs = [since_it_began(signs[0], _grown(columns["entries_removed"]))]
        known = [each for each in signs if not np.isnan(each).all()]
        if known:
            found.append(Seen(name=name, at_s=at_s, values=np.nan_to_num(np.fmax.reduce(known)), happens=True))
    for name, column in _USED.items():
        if column in columns:
            found.append(Seen(name=name, at_s=at_s, values=_grown(columns[column]), happens=False))
    if "host_busy_ns" in columns:
        others = _grown(columns["host_busy_ns"]) - _grown(columns["server_cpu_ns"])
        found.append(Seen(name="other_programs", at_s=at_s, values=others, happens=False))
    summary = part.record.summary
    standstills = summary.get("standstills", []) if summary else []
    if standstills:
        starts, ends = part.fine.starts_s, part.fine.ends_s
        stood = np.zeros(len(starts))
        for each in standstills:
            stood[(starts < each["to_ns"] / NS_PER_S) & (ends > each["from_ns"] / NS_PER_S)] = 1
        found.append(Seen(name="generator", at_s=ends - part.begins_s, values=stood, happens=True))
    return found


def since_it_began(expired: Values, removed: Values) -> Values:
    """What expired, by look, and at the looks before it, as long as more entries than usual were removed at each.

    A server counts what expired when it is through with it (seen of 6.0.5: nothing for 4 s, then 60 000 documents).
    A stall while it was at work would come with nothing.
    """
    much = removed > _REMOVES_MUCH * np.nanmedian(removed) if (~np.isnan(removed)).any() else np.zeros(len(removed))
    found = expired.copy()
    for place in range(len(found) - 2, -1, -1):
        if much[place] and found[place + 1] > 0:
            found[place] = np.fmax(found[place], found[place + 1])
    return found


def _grown(counter: Values) -> Values:
    """What a counter grew by since the look before; NaN where that isn't known."""
    grown = np.full(len(counter), np.nan)
    grown[1:] = np.diff(counter)
    grown[grown < 0] = np.nan
    return grown


def _number(value: object, otherwise: float = float("nan")) -> float:
    return float(value) if isinstance(value, int | float) else otherwise
