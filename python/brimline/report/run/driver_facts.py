"""Owns what a report says of the driver that a run's operations went through, by what its process said of itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from brimline.record.model import RunRecord, drivers_of, finished_count
from brimline.report.view import Fact, Facts
from brimline.units import NS_PER_US, UNKNOWN_TEXT, format_bytes, format_count, format_duration
from brimline.wording import Verbatim, message


def driver_facts(record: RunRecord) -> Facts:
    """One row a figure; nothing of a run by brimline's own client. Of several loads, each has a driver of its own."""
    return Facts(title="Driver", facts=[fact for runner in drivers_of(record.summary) for fact in _of(record, runner)])


def driver_texts(driver: Mapping[str, Any]) -> tuple[str, str]:
    """A driver with its version, and its runtime with its own; "" where it did not say."""
    driver_text, runtime_text = (
        Verbatim(" ".join(filter(None, (driver.get(name), driver.get(f"{name}_version")))))
        for name in ("driver", "runtime")
    )
    return driver_text, runtime_text


def _of(record: RunRecord, runner: Mapping[str, Any]) -> list[Fact]:
    assert record.summary is not None  # noqa: S101 - it names the runner
    finished = finished_count([record.summary])
    facts = []
    if "driver" in runner:
        told = message(
            "{driver} {version} on {runtime} {runtime_version}",
            driver=runner["driver"],
            version=runner.get("driver_version", ""),
            runtime=runner.get("runtime", ""),
            runtime_version=runner.get("runtime_version", ""),
        )
        facts.append(Fact(label="Driver", value=told))
    facts.append(
        Fact(
            label="Operations under way at most",
            value=format_count(runner["workers"]),
            note="the workers of the driver's process",
        )
    )
    if "connections_created" in runner:
        created, closed = runner["connections_created"], runner.get("connections_closed", 0)
        value = message("{created}, closed: {closed}", created=format_count(created), closed=format_count(closed))
        facts.append(Fact(label="Connections opened", value=value, note="by the events of the driver's pool"))
    if runner.get("pool_taken") and "pool_waited_ns" in runner:
        mean = format_duration(runner["pool_waited_ns"] / runner["pool_taken"])
        longest = format_duration(runner["pool_waited_max_ns"]) if "pool_waited_max_ns" in runner else UNKNOWN_TEXT
        value = message("{mean} in the mean, {longest} at most", mean=mean, longest=longest)
        if waits := runner.get("pool_waits"):
            p50, p99 = (format_duration(_below_ns(waits, share)) for share in (0.5, 0.99))
            value = message("{value}; half below {p50}, 99 % below {p99}", value=value, p50=p50, p99=p99)
        facts.append(Fact(label="Wait for a connection", value=value, note="a part of the service time"))
    if runner.get("pool_refused"):
        facts.append(Fact(label="No connection in time", value=format_count(runner["pool_refused"])))
    if "cpu_ns" in runner and finished:
        value = message("{time} per operation", time=format_duration(runner["cpu_ns"] / finished))
        facts.append(Fact(label="CPU time of the driver's process", value=value, note="warm-up included"))
    if "memory_peak_bytes" in runner:
        facts.append(Fact(label="Most memory of it", value=format_bytes(runner["memory_peak_bytes"])))
    if "collections" in runner:
        count = format_count(runner["collections"])
        told_ns = runner.get("collections_ns")
        in_all = (
            count if told_ns is None else message("{count}, {time} in all", count=count, time=format_duration(told_ns))
        )
        facts.append(Fact(label="Collections of garbage", value=in_all))
    clocks = [runner[name] for name in ("clock_before", "clock_after") if name in runner]
    if clocks:
        error = format_duration(max(each["error_ns"] for each in clocks))
        facts.append(
            Fact(label="Its clock", value=message("known to {error}", error=error), note="before and after the run")
        )
    return facts


def _below_ns(waits: Sequence[int], share: float) -> int:
    """The end of the place that `share` of the waits lie below; place *n* ends at 2^n µs."""
    wanted, seen = share * sum(waits), 0
    for place, count in enumerate(waits):
        seen += count
        if seen >= wanted:
            return NS_PER_US << place
    return NS_PER_US << len(waits)
