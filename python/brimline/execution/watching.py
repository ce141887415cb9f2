"""Owns what looks on during a run, the server and its host, and what is written down of both."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Self

from brimline.execution.around import Around
from brimline.monitor import ServerSampler
from brimline.monitor.host.sampler import HostSampler
from brimline.monitor.host.source import HostSource
from brimline.plan import NullTarget, Plan
from brimline.record import RecordWriter
from brimline.record.model import Summary
from brimline.units import NS_PER_S


class Watching:
    """Who looks on; None each where nothing can be seen."""

    def __init__(self, sampler: ServerSampler | None, host: HostSampler | None) -> None:
        self._sampler, self._host = sampler, host
        self._on_clock = False

    @classmethod
    @contextmanager
    def during(cls, plan: Plan, target: Around, source: HostSource | None) -> Iterator[Self]:
        """Looks at the target of `plan`, and by `source` at its host where that is elsewhere, while the block lasts."""
        server = "" if target.deployment is None else target.deployment.address
        seen = source is not None and not isinstance(plan.target, NullTarget)
        host = HostSampler(source, server=server, interval_s=plan.interval_ns / NS_PER_S) if source and seen else None
        with target.sampler() as sampler, host or nullcontext():
            yield cls(sampler, host)

    def put_on_clock(self, elapsed_ns: int) -> None:
        """The run's clock says `elapsed_ns` now; once is enough, and 0 is before its zero."""
        if elapsed_ns <= 0 or self._on_clock:
            return
        self._on_clock = True
        for each in (self._sampler, self._host):
            if each is not None:
                each.set_origin(time.monotonic_ns() - elapsed_ns)

    def record(self, writer: RecordWriter) -> None:
        """Writes down what was seen. Until the run's clock has a zero, a row can't be put on it: it waits."""
        if not self._on_clock:
            return
        for row in self._sampler.take_rows() if self._sampler is not None else ():
            writer.append_server(row.columns())
        for seen in self._host.take_rows() if self._host is not None else ():
            writer.append_host(seen)

    def conclude(self, writer: RecordWriter, facts: dict[str, Any], summary: Summary) -> None:
        """Writes down what was only known at the end, and beside `facts` what looking on cost and did not see."""
        if self._host is not None and self._on_clock:
            for row in self._host.take_rows():
                writer.append_host(row)
        monitor: dict[str, Any] = {}
        filled = frozenset[str]()
        if self._host is not None:
            monitor["host"], filled = self._host.facts(), self._host.filled
        if (sampler := self._sampler) is not None:
            host = sampler.host()
            absent = [each.without(filled) for each in sampler.absent()]
            monitor = {
                "host": None if host is None else host.to_dict(),
                **monitor,
                "absent": [each.to_dict() for each in absent if each.metrics],
                "cost": _cost(sampler, summary),
            }
            writer.event("monitor_cost", **monitor["cost"])
        if monitor:
            writer.server_facts({**facts, "monitor": monitor})


def _cost(sampler: ServerSampler, summary: Summary) -> dict[str, int | None]:
    cost = sampler.cost()
    return {
        "cpu_ns": cost.cpu_ns,
        "server_cpu_ns": cost.server_cpu_ns,
        "commands": cost.command_count,
        "round_trip_ns": cost.round_trip_ns,
        "elapsed_ns": summary["elapsed_ns"],
    }
