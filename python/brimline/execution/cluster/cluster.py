"""Owns the nodes of a cluster as one executor: who they are, whether they are alike, and what each is to perform."""

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from functools import partial
from secrets import token_urlsafe
from typing import Any

from brimline import _native
from brimline.errors import NodeGone, TargetError, UsageError
from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.awaiting import awaited
from brimline.execution.cluster.link import Link, NodeLost
from brimline.execution.cluster.node import network, process_space
from brimline.execution.cluster.node_import import ImportOrder, hash_of, identity_of
from brimline.execution.cluster.processes import ProcessLink
from brimline.execution.cluster.shared_import import SharedImport
from brimline.execution.cluster.shared_run import SharedRun
from brimline.execution.cluster.shares import share_orders, taking_part
from brimline.execution.cluster.where import Where
from brimline.execution.stop import StopToken
from brimline.monitor.host.asking import boot_id
from brimline.monitor.programs import generating
from brimline.plan import Plan
from brimline.plan.operations import OperationsWork
from brimline.record.data_import import ImportShares
from brimline.record.environment import brimline_version
from brimline.record.import_parts import ImportParts
from brimline.servers import Access
from brimline.servers.addresses import joined_address
from brimline.servers.deployment import is_loopback
from brimline.units import counted, format_count
from brimline.wording import Verbatim, message

_HELLO_WITHIN_S = 60.0
"""Python and what it imports take their time on a busy machine."""

_REACHED_WITHIN_S = 300.0
"""A cluster that speaks: Ray waits for some of its parts without an end."""


class Cluster:
    """Several nodes that perform plans together. Raises UsageError where they have other versions, TargetError."""

    def __init__(
        self,
        links: Sequence[Link],
        *,
        where: Where | None = None,
        watch_on: Callable[[str, str], tuple[int, object]] | None = None,
    ) -> None:
        self._where = where
        self._watch_on = watch_on
        self._watches: list[object] = []
        self._lost: list[str] = []
        self._nodes = [(link, _greeted(number, link)) for number, link in enumerate(links)]
        _name_apart([hello for _, hello in self._nodes])

    def of(self, nodes: int) -> "Cluster":
        """See `Executor`. What is lost to one is lost to the other."""
        if not 1 <= nodes <= len(self._nodes):
            raise UsageError(
                f"{counted(nodes, 'worker')} are asked for, and there are {len(self._nodes)}",
                hint="--workers says how many",
            )
        part = copy(self)
        part._nodes = self._nodes[:nodes]
        return part

    @property
    def facts(self) -> dict[str, Any]:
        """See `Executor`."""
        found = {"count": len(self._nodes), "hosts": [hello["host"] for _, hello in self._nodes]}
        return found if self._where is None else {**found, "where": self._where.text, "per_node": self._where.per_node}

    @property
    def pids_here(self) -> frozenset[int]:
        """Processes of nodes that are known here by the same ids."""
        return frozenset(hello["pid"] for _, hello in self._nodes if hello["processes"] == process_space())

    @property
    def described(self) -> str:
        """The nodes in a line."""
        hosts = [hello["host"] for _, hello in self._nodes]
        names = Verbatim(", ".join(dict.fromkeys(hosts)))
        if len(hosts) == 1:
            return message("1 worker on {names}", names=names)
        return message("{count} workers on {names}", count=format_count(len(hosts)), names=names)

    def check(self, plan: Plan) -> None:
        """See `Executor`."""
        if plan.operation_log:
            raise UsageError(
                "operation_log can't be written by several nodes: each would hold a part of it",
                hint="leave operation_log out, or run on one machine, without --workers",
            )
        address = getattr(plan.target, "address", None) or next(iter(getattr(plan.target, "addresses", ())), None)
        if address is not None:
            self._require_reach(address)

    def _require_reach(self, address: str) -> None:
        if not is_loopback(address):
            return
        for number, (_, hello) in enumerate(self._nodes):
            if hello["network"] != network():
                raise UsageError(
                    f"{address} leads to this machine alone, and node {number} ({hello['host']}) has another network",
                    hint="give --uri an address that all nodes reach; servers that brimline starts are for "
                    "--workers local:N",
                )

    def watch(self, host: str) -> tuple[str, str]:
        """See `Executor`."""
        if self._watch_on is None:
            raise UsageError("processes of this machine tell of no other host", hint="take --workers ray")
        token = token_urlsafe()
        port, watch = self._watch_on(host, token)
        self._watches.append(watch)
        return joined_address(host, port), token

    def start(self, plan: Plan, access: Access, *, held: bool, identity: bytes | None) -> SharedRun:
        """See `Executor`."""
        self.check(plan)
        if identity is None and isinstance(plan.work, OperationsWork):
            identity = int(time.time()).to_bytes(4, "big") + os.urandom(8)
        if self._lost:
            raise NodeGone(f"{self._lost[0]}: nothing more can be measured")
        count = taking_part(plan, len(self._nodes))
        orders = share_orders(plan, count, identity=identity)
        portable = PortableAccess.of(access)
        return SharedRun(orders, self._nodes[:count], access=portable, held=held, on_lost=self._lost.append)

    def start_import(
        self, plan: Mapping[str, Any], shares: ImportShares, kept: ImportParts, access: Access, *, held: bool
    ) -> SharedImport:
        """See `Executor`."""
        self._require_reach(plan["address"])
        if self._lost:
            raise NodeGone(f"{self._lost[0]}: nothing more can be imported")
        nodes = self.of(len(shares.parts))._nodes
        paths = [str(each["path"]) for each in plan["inputs"]]
        orders = []
        for number, part in enumerate(shares.parts):
            own = {
                **plan,
                "workers": plan["workers"] // len(nodes) + (number < plan["workers"] % len(nodes)),
                "checkpoint_file": None,
                "resume": kept.to_go_on(number),
                "until": part["until"],
            }
            orders.append(ImportOrder(plan=own, plan_hash=hash_of(own), files=[identity_of(path) for path in paths]))
        return SharedImport(
            orders, nodes, shares=shares, paths=paths, kept=kept, access=PortableAccess.of(access), held=held,
            on_lost=self._lost.append,
        )  # fmt: skip


@contextmanager
def opened(where: Where, stop: StopToken) -> Iterator[Cluster]:
    """The nodes for the length of the `with` block.

    Raises UsageError and TargetError, and Interrupted where `stop` is requested before all of them are there.
    """
    if where.is_ray:
        left = StopToken()
        try:
            # Not in this thread: Ray waits in ways that no signal ends.
            reaching = partial(_of_ray, where, left)
            cluster, stack = awaited(reaching, stop, within_s=_REACHED_WITHIN_S, give_up=left.request)
        except TimeoutError as error:
            raise TargetError(f"the Ray cluster is not reached: {error}", hint="see how it is: `ray status`") from error
        with stack:
            yield cluster
        return
    links: list[Link] = []
    with ExitStack() as stack:
        for _ in range(where.processes):
            links.append(link := ProcessLink())
            stack.callback(link.close)

        def give_up() -> None:
            for link in links:
                link.close()

        yield awaited(partial(Cluster, links, where=where), stop, give_up=give_up)


def _of_ray(where: Where, left: StopToken) -> tuple[Cluster, ExitStack]:
    """The nodes of Ray, and what leaves them; they are left at once where nobody waits for them any more."""
    from brimline.execution.cluster.ray_nodes import ray_links, watch_on  # the extra is asked for by who wants it

    with ExitStack() as stack:
        cluster = Cluster(stack.enter_context(ray_links(where, left)), where=where, watch_on=watch_on)
        stack.enter_context(generating(cluster.pids_here))  # Ray started them, and not this process
        left.raise_if_requested()
        return cluster, stack.pop_all()


def _name_apart(hellos: Sequence[dict[str, Any]]) -> None:
    """Numbers machines that have one name, so that a host is never taken for another; the command's is the first."""
    machines = {platform.node(): [boot_id()]}
    for hello in hellos:
        alike = machines.setdefault(hello["host"], [])
        if hello["boot"] not in alike:
            alike.append(hello["boot"])
        if number := alike.index(hello["boot"]):
            hello["host"] = f"{hello['host']} #{number + 1}"


def _greeted(number: int, link: Link) -> dict[str, Any]:
    try:
        hello: dict[str, Any] = link.call("hello", within_s=_HELLO_WITHIN_S)
    except NodeLost as lost:
        raise TargetError(
            f"node {number} does not answer: {lost}",
            hint="see that brimline is installed there, in the same version, and that its machine has CPUs to spare",
        ) from lost
    for what, ours in (("version", brimline_version()), ("engine", _native.__version__)):
        if (theirs := hello.get(what)) != ours:
            raise UsageError(
                f"node {number} ({hello['host']}) has brimline {theirs or '(unknown)'}, and this is {ours}",
                hint="install the same version on all nodes",
            )
    return hello
