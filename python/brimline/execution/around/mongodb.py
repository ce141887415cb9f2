"""Owns what is asked of a MongoDB server around a run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from brimline import monitor
from brimline.execution.around.base import Around
from brimline.execution.open_transactions import end_transactions
from brimline.execution.step_plans import look_at_plans
from brimline.execution.step_profile import Profiled, Warn, profiling
from brimline.monitor import (
    PartCounts,
    ServerSampler,
    command_names,
    data_sizes,
    read_counters,
    read_part_counts,
)
from brimline.monitor.server_counters import Reading
from brimline.plan import Plan
from brimline.plan.model import LoadWork
from brimline.record.model import Opcounters
from brimline.servers import Deployment, primary_now


class AroundMongodb(Around):
    """Opcounters, `serverStatus`, `dbStats` and `collStats`, `explain`."""

    deployment: Deployment

    def __init__(self, plan: Plan, deployment: Deployment | None) -> None:
        super().__init__(plan, deployment)
        self._commands = command_names(plan)

    def plans(self) -> list[dict[str, Any]]:
        """By `explain`."""
        return [] if self.plan.target.kind == "null" else look_at_plans(self.plan, self.deployment)

    def parts(self) -> Sequence[PartCounts]:
        """Of shards, and of a set's members."""
        return read_part_counts(self.deployment)

    def sizes(self, *, is_over: bool, parts: Sequence[PartCounts] = ()) -> dict[str, Any] | None:
        """Of the primary, or of all shards. After a load they are those of a checkpoint, on whosever server it was."""
        where = self.plan.namespace
        return data_sizes(
            primary_now(self.deployment),
            database=where.database,
            collection=where.collection,
            checkpoint=is_over and (self.deployment.is_own or isinstance(self.plan.work, LoadWork)),
            counts=parts,
        )

    def counters(self, *, connected: bool = False) -> dict[str, Reading]:
        """By address."""
        del connected  # what a server counted is up to date at once
        return read_counters(self.deployment, self._commands)

    def counted(self, before: dict[str, Reading], after: dict[str, Reading]) -> Opcounters | None:
        """What all servers counted together, and each of client-routed shards alone."""
        further = self.deployment.shards
        return monitor.around(before, after, (self.deployment.address, *further) if further else ())

    @contextmanager
    def sampler(self) -> Iterator[ServerSampler | None]:
        """As often as the run takes samples; one of several shards would not speak for the others."""
        if self.deployment.shards:
            yield None
            return
        with ServerSampler(self.deployment, interval_s=self.plan.interval_ns / 1e9) as sampler:
            yield sampler

    @contextmanager
    def profiling(self, share: float | None, warn: Warn) -> Iterator[Profiled]:
        """By the database profiler."""
        if share is None:
            yield Profiled()
            return
        with profiling(self.plan, self.deployment, share, warn) as profiled:
            yield profiled

    def settle(self, sessions: Sequence[bytes]) -> None:
        """Ends the sessions, and the transactions that they left open."""
        end_transactions(self.deployment, sessions)
