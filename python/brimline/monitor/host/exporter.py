"""Owns asking a Prometheus node exporter on a server's host how that host is doing."""

import http.client
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from brimline.errors import TargetError
from brimline.monitor.host.clock import JUMPED, ClockOffset, Exchange
from brimline.monitor.host.exposition import scrapes
from brimline.monitor.host.figures import HostFigures, data_disk
from brimline.monitor.host.file import require_one_disk
from brimline.monitor.host.peer import Page, Peer
from brimline.monitor.host.remote import Refused
from brimline.monitor.host.source import HostGone, Reading, meet

PAGE_BYTES_MAX = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterHost:
    """A node exporter's page; `disk`: the one with the server's data, where it tells of several."""

    host: str
    port: int
    path: str
    disk: str | None

    @property
    def address(self) -> str:
        """As it is named to people."""
        return f"http://{self.host}:{self.port}{self.path}"

    def watch(self) -> "ExporterWatch":
        """Begins to look."""
        return ExporterWatch(self, Peer(self.host, self.port))

    def require(self) -> None:
        """Raises TargetError where it doesn't answer as one, UsageError where the disk can't be told."""
        watch = self.watch()
        try:
            meet(watch)
        except (Refused, HostGone) as error:
            raise TargetError(
                f"no node exporter answers at {self.address}: {error}",
                hint="name its page, such as http://HOST:9100/metrics",
            ) from None
        require_one_disk(watch.disks, self.disk, where=self.address)


@dataclass(slots=True)
class ExporterWatch:
    """One connection to it, made anew after trouble; for one thread."""

    source: ExporterHost
    peer: Peer
    disks: set[str] = field(default_factory=set)
    _clock: ClockOffset = field(default_factory=ClockOffset)
    _facts: dict[str, Any] = field(default_factory=dict)

    def read(self) -> Reading:
        """What the host shows now. Raises HostGone, and Refused where it is no node exporter."""
        # By this machine's wall clock, as theirs is: what both do to each other during the run cancels out.
        apart_ns = time.time_ns() - time.monotonic_ns()
        page = self.peer.get(self.source.path, headers={"Accept": "text/plain"}, bytes_max=PAGE_BYTES_MAX)
        figures = _scraped(page)
        exchange = Exchange(page.sent_ns, figures.unix_ns - apart_ns, page.received_ns)
        if self._clock.learn(exchange):
            raise HostGone(JUMPED)
        self.disks |= set(figures.disks)
        disk = data_disk(figures.disks, self.source.disk)
        self._facts = {"disk": disk, "interfaces_bits_per_s": dict(figures.speeds_bits_per_s)}
        return Reading(at_ns=self._clock.placed(exchange), columns=figures.columns_with(disk))

    def rest(self, *, since_ns: int, until_ns: int) -> Sequence[Reading]:  # noqa: ARG002 (all was read already)
        """Nothing."""
        return ()

    def facts(self) -> dict[str, Any]:
        """Where it was learnt, and the most by which its instants can be wrong."""
        error_ns = self._clock.placed_error_ns
        return {**self._facts, "source": "exporter", "from": self.source.address, "clock_error_ns": error_ns}

    def close(self) -> None:
        """Closes the connection."""
        self.peer.close()


def _scraped(page: Page) -> HostFigures:
    if page.status != http.client.OK:
        raise Refused(f"it answers with status {page.status}", hint="")
    found = None
    with suppress(ValueError, KeyError):
        found = next(scrapes(page.body.decode("utf-8", "replace").splitlines()), None)
    if found is None:
        raise Refused("its page has no node_time_seconds", hint="")
    return found
