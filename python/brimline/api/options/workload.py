"""Owns how a workload is named: a shipped one, a file, or YCSB's properties."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from brimline.api.options.group import Group, option


@dataclass(frozen=True, kw_only=True)
class WorkloadOptions(Group):
    """The workload of a verb."""

    title: ClassVar[str] = "Workload"

    workload: str | None = option("", "WORKLOAD", "A shipped workload (see: brimline workloads) or a YAML file.")
    property_files: Sequence[str] = option(
        "-P", "FILE", "YCSB property file instead of a workload; repeatable.", default=()
    )
    properties: Sequence[str] = option("-p", "NAME=VALUE", "YCSB property as name=value; repeatable.", default=())
