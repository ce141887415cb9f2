"""Owns what a load has to meet, as the command line and Python say it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from brimline.api.options.group import Group, option
from brimline.errors import UsageError

_LIMIT = re.compile(r"(?:(?P<kind>[^.=]+)\.)?(?P<figure>p\d[\d.]*|mean|error_rate)\s*=\s*(?P<value>\S.*)")


@dataclass(frozen=True, kw_only=True)
class ObjectiveOptions(Group):
    """The objective of a workload."""

    title: ClassVar[str] = "Objective"

    p99: str | None = option("--p99", "TIME", "Response time p99, such as 10ms.", path="slo.response_p99")
    error_rate: str | None = option(
        "--error-rate", "SHARE", "Share of failed operations, such as 0.1%.", path="slo.error_rate"
    )
    slo: Sequence[str] = option(
        "--slo",
        "LIMIT",
        "Another limit: p95=5ms, mean=5ms, error_rate=0.1%, or of one operation read.p99.9=20ms; repeatable.",
        default=(),
    )

    @property
    def overrides(self) -> dict[str, object]:
        """By spec path. Raises UsageError for a limit that can't be read or is given twice."""
        found = super().overrides
        for text in self.slo:
            path, value = _limit(text)
            if found.get(path) is not None:
                raise UsageError(f"--slo {text.strip()}: the same limit is given twice", hint="give each limit once")
            found[path] = value
        return found


def _limit(text: str) -> tuple[str, str]:
    """`read.p95=3ms` as the spec says it: `slo.read.response_p95`, `3ms`."""
    match = _LIMIT.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f'--slo must be a limit, but is "{text}"', hint="write it like --slo p95=5ms, or --slo read.error_rate=1%"
        )
    kind, figure, value = match.group("kind", "figure", "value")
    name = figure if figure == "error_rate" else f"response_{figure}"
    return f"slo.{kind}.{name}" if kind else f"slo.{name}", value
