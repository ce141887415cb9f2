"""Owns the form of what says how a server's host is doing, wherever that is learnt: readings on our clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from brimline.monitor.row import ServerRow
from brimline.threads import Worker

MEET_WITHIN_S = 20.0
NO_END = "its answer does not come to an end"

Columns = Mapping[str, int | float | str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a host showed at an instant of this machine's monotonic clock, or why it showed nothing (`gap`).

    `columns` are some of a `ServerRow`'s. `cant_be`: those of which something was told that no host can have.
    """

    at_ns: int
    columns: Columns = field(default_factory=dict)
    gap: str = ""
    cant_be: frozenset[str] = frozenset()


class HostGone(Exception):
    """There is no reading now; the text says why, in some words that hold no secret."""


class HostSource(Protocol):
    """Where a host's figures come from."""

    def watch(self) -> "HostWatch":
        """Begins to look, for one run. Raises nothing; see `HostWatch`."""


class HostWatch(Protocol):
    """Looks at a host during one run, in one thread."""

    def read(self) -> Reading | None:
        """What it shows now; None: nothing that it didn't show before. Raises HostGone."""

    def rest(self, *, since_ns: int, until_ns: int) -> Sequence[Reading]:
        """At the end of the run: what is only known now, of the time between two instants of the monotonic clock."""

    def facts(self) -> dict[str, Any]:
        """For the run record: where it was learnt, disk and interfaces, and how well the clocks are known."""

    def close(self) -> None:
        """Ends it; idempotent."""


def meet(watch: HostWatch, *, within_s: float = MEET_WITHIN_S) -> None:
    """Looks once, and no more. Raises what that raises; HostGone where the answer has no end by then."""
    trouble: list[Exception] = []

    def look() -> None:
        try:
            watch.read()
        except Exception as error:
            trouble.append(error)
        finally:
            watch.close()

    meeting = Worker(look, name="meeting who watches the host")
    meeting.start()
    # A peer that sends a byte now and then would be waited for without an end.
    if not meeting.join(within_s):
        raise HostGone(NO_END)
    if trouble:
        raise trouble[0]


HOST_COLUMNS: tuple[str, ...] = tuple(
    name
    for name in ServerRow.__dataclass_fields__
    if name.startswith(("host_", "disk_", "members_cpu_ns", "others_cpu_ns_by_name", "server_cpu_"))
    or name == "shared_host"
)
"""The columns of a `ServerRow` that a host's figures fill."""
