"""Owns what is done about the data that a workload needs."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from brimline.api.options.group import Group, option
from brimline.execution import DataPolicy


@dataclass(frozen=True, kw_only=True)
class DataOptions(Group):
    """What is done about the data. `data` None: `load` on a server that brimline starts, `check` on any other."""

    title: ClassVar[str] = "Data"

    data: DataPolicy | Literal["check", "load", "as-is"] | None = option(
        "--data",
        "",
        "Check it is there, load it when not, or take what is there as-is. "
        "Default: load on brimline's own server, else check.",
    )
    drop: bool = option("--drop", "", "Replace documents that brimline did not load.", default=False)
    resume: bool = option(
        "--resume", "", "Go on with a load of the same data that did not end: insert what is missing.", default=False
    )
    allow_writes: bool = option(
        "--allow-writes",
        "",
        "Let operations of your own write to collections that brimline did not load.",
        default=False,
    )
