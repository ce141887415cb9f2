"""Owns who performs a plan: the engine in this process, or nodes of a cluster, which to `execute` are one as well."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from brimline.plan import Plan
from brimline.record.data_import import ImportShares
from brimline.record.import_parts import ImportParts
from brimline.record.model import Samples, Summary
from brimline.servers import Access

if TYPE_CHECKING:
    from brimline import _native


class Engine(Protocol):
    """A started run. What each call does says `_native.Run`, which is one."""

    def poll(self, timeout_s: float, /) -> "_native.Progress":
        """The latest state, after up to `timeout_s`."""

    def take_samples(self) -> Samples:
        """The intervals that were completed since the last call."""

    def release(self) -> None:
        """Lets a run go that was held."""

    def stop(self) -> None:
        """Sends nothing more and drains."""

    def abort(self) -> None:
        """Drops every connection at once."""

    def join(self) -> Summary:
        """Waits for the end. Raises `_native.TargetError`."""


class Importer(Protocol):
    """A started import. What each call does says `_native.Import`, which is one."""

    def poll(self, timeout_s: float, /) -> str:
        """The progress as JSON, after up to `timeout_s`."""

    def take_intervals(self) -> "list[_native.ImportInterval]":
        """The intervals that were completed since the last call."""

    def await_documents(self, timeout_s: float, /) -> bool:
        """Waits up to `timeout_s`; whether the server is reached and there are documents to send."""

    def first_documents(self) -> list[bytes]:
        """Of an import that is held: the documents that come first."""

    def release(self) -> None:
        """Lets an import go that was held."""

    def stop(self) -> None:
        """Reads nothing more and settles what is read."""

    def abort(self) -> None:
        """Drops every connection at once."""

    def join(self) -> str:
        """Waits for the end; the summary as JSON."""


@runtime_checkable
class SharedImporter(Importer, Protocol):
    """An importer of several nodes."""

    def take_node_rows(self) -> list[dict[str, Any]]:
        """The intervals of single nodes since the last call."""


class Executor(Protocol):
    """Performs plans elsewhere than in this process, one after the other."""

    @property
    def facts(self) -> dict[str, Any]:
        """For records: the `count` of its nodes, and their `hosts`."""

    def of(self, nodes: int) -> "Executor":
        """The same with so many of its nodes. Raises UsageError where it has fewer."""

    def watch(self, host: str) -> tuple[str, str]:
        """Has the node at `host` tell how it is doing, as long as it is one of the nodes: where, and the token.

        Raises UsageError where there is no such node, and TargetError.
        """

    def check(self, plan: Plan) -> None:
        """Raises UsageError where `plan` can't be performed so; asked before anything is changed."""

    def start(self, plan: Plan, access: Access, *, held: bool, identity: bytes | None) -> Engine:
        """Starts `plan` as `start_engine` does, and returns at once."""

    def start_import(
        self, plan: Mapping[str, Any], shares: ImportShares, kept: ImportParts, access: Access, *, held: bool
    ) -> "SharedImporter":
        """Starts an import as `start_import` does, a node for each share. Raises UsageError and NodeGone."""
