"""Owns the form of what the sampler looks at."""

from types import TracebackType
from typing import Any, Protocol, Self

from brimline.monitor.absence import Absence
from brimline.monitor.server_host import ServerHost


class Watched(Protocol):
    """Something that can be looked at again and again, by one thread; a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def take(self, *, may_search: bool = True) -> dict[str, Any]:
        """The columns of a `ServerRow`, `at_ns` on the monotonic clock; what isn't known is missing. Raises nothing."""

    @property
    def command_count(self) -> int:
        """What looks have asked the server."""

    @property
    def host(self) -> ServerHost | None:
        """What is watched of the server's host; None when that isn't this machine."""

    def absent(self) -> tuple[Absence, ...]:
        """The columns that no look has filled so far, and why."""
