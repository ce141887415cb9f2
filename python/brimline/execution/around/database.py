"""Owns what is asked of an SQL database around a run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from brimline.execution.around.base import Around
from brimline.execution.statement_plans import look_at_statements
from brimline.monitor import PartCounts, ServerSampler
from brimline.monitor.sizes import CHECKPOINT_NOT_NEEDED, CHECKPOINT_TAKEN
from brimline.monitor.sql import DIALECTS, SqlCounters, WatchedDatabase
from brimline.plan import Plan, SqlTarget
from brimline.plan.model import LoadWork
from brimline.record.model import Opcounters
from brimline.servers import Deployment
from brimline.servers.sql_client import SqlClient, SqlError, open_client, sql_errors


class AroundDatabase(Around):
    """Status variables or statistics views, sizes of table and indexes, `EXPLAIN`."""

    deployment: Deployment

    def __init__(self, plan: Plan, deployment: Deployment | None) -> None:
        super().__init__(plan, deployment)
        self._dialect = DIALECTS[self.deployment.protocol]
        self._database = plan.target.database if isinstance(plan.target, SqlTarget) else ""

    def plans(self) -> list[dict[str, Any]]:
        """By `EXPLAIN`."""
        return look_at_statements(self.plan, self.deployment)

    def sizes(self, *, is_over: bool, parts: Sequence[PartCounts] = ()) -> dict[str, Any] | None:  # noqa: ARG002
        """Of the database, and of the table of the plan's own data. After a load PostgreSQL takes a checkpoint."""
        with self._client() as client, sql_errors("asking for the size of the data"):
            asked = {"checkpoint": self._checkpoint(client)} if is_over and isinstance(self.plan.work, LoadWork) else {}
            sizes = self._dialect.sizes(client, self._database, self.plan.namespace.collection)
            return {"sql": dict(sizes), **asked}

    def _checkpoint(self, client: SqlClient) -> str:
        if self.deployment.protocol != "postgres":
            return CHECKPOINT_NOT_NEEDED
        try:
            client.change("CHECKPOINT")
        except SqlError as error:  # only a superuser may, or who has pg_checkpoint
            return f"refused: {error}"
        return CHECKPOINT_TAKEN

    def counters(self, *, connected: bool = False) -> SqlCounters:
        """Of now, when what has ended is counted."""
        with self._client() as client, sql_errors("reading the server's counts"):
            self._dialect.settle(client, self._database, connected)
            return self._dialect.counters(client, self._database)

    def counted(self, before: SqlCounters, after: SqlCounters) -> Opcounters | None:
        """Both readings."""
        return {"before": before.to_dict(), "after": after.to_dict()}

    @contextmanager
    def sampler(self) -> Iterator[ServerSampler | None]:
        """As often as the run takes samples."""
        watch = partial(WatchedDatabase, self.deployment, self._dialect, database=self._database)
        with ServerSampler(self.deployment, watch=watch, interval_s=self.plan.interval_ns / 1e9) as sampler:
            yield sampler

    def _client(self) -> SqlClient:
        assert self.deployment.of_uri is not None  # noqa: S101 - it was found by one
        return open_client(self.deployment.of_uri, database=self._database)
