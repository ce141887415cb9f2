"""Owns what is asked of an HTTP service around a run: nothing but what its process takes, where that is here."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from brimline.execution.around.base import Around
from brimline.monitor import ServerSampler, WatchedProcess
from brimline.servers import Deployment


class AroundService(Around):
    """What it counts only its own log knows, and what it keeps and how nobody is told."""

    deployment: Deployment

    @contextmanager
    def sampler(self) -> Iterator[ServerSampler | None]:
        """Of its process, as often as the run takes samples."""
        if self.deployment.pid is None:
            yield None
            return
        watch = partial(WatchedProcess, self.deployment.pid, address=self.deployment.address)
        with ServerSampler(self.deployment, watch=watch, interval_s=self.plan.interval_ns / 1e9) as sampler:
            yield sampler
