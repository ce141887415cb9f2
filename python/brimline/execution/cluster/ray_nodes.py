"""Owns nodes of a Ray cluster: one actor on each, never restarted, gone with whoever asked for it.

Beside them is one that tells how the host of the server is doing, where that is a node as well.
"""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from brimline.doctor.extras import CLUSTER
from brimline.errors import TargetError, UsageError
from brimline.execution.cluster.link import ANSWER_WITHIN_S, NodeLost
from brimline.execution.cluster.node import NodeEngine
from brimline.execution.cluster.where import Where
from brimline.monitor.host.peer import reason_of
from brimline.monitor.host.serving import HostReader, HostServer
from brimline.record.environment import brimline_version
from brimline.units import counted

_PLACED_WITHIN_S = 30.0
_CONNECTS_WITHIN_S = 5.0
_LISTENS_WITHIN_S = 60.0
"""Python and what it imports take their time on a busy machine."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class RayLink:
    """A `NodeEngine` as an actor."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray = ray
        self._actor = actor

    def call(self, name: str, *arguments: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        """See `Link`."""
        kinds = self._ray.exceptions
        try:
            return self._ray.get(self._actor.call.remote(name, *arguments), timeout=within_s)
        except kinds.GetTimeoutError as error:
            raise NodeLost(f"no answer within {within_s:g} s") from error
        except kinds.RayTaskError as error:
            raise NodeLost(f"{type(error.cause).__name__}: {error.cause}") from error
        except (kinds.RayActorError, kinds.NodeDiedError, kinds.WorkerCrashedError, ConnectionError) as error:
            raise NodeLost(f"its actor is gone ({type(error).__name__})") from error
        except kinds.RayError as error:  # such as one of a store that has no room for the rows
            raise NodeLost(f"Ray could not carry it: {type(error).__name__}: {_in_one_line(error)}") from error

    def close(self) -> None:
        """See `Link`."""
        with suppress(self._ray.exceptions.RayError, ConnectionError):
            self._ray.kill(self._actor, no_restart=True)


class _Actor:
    """What an actor is made of."""

    def __init__(self) -> None:
        self._engine = NodeEngine()

    def call(self, name: str, *arguments: Any) -> Any:
        """What the engine's method of this name answers."""
        return getattr(self._engine, name)(*arguments)


class _Watch:
    """`brimline watch` as an actor: it ends with whoever asked for it."""

    def listen(self, host: str, token: str) -> int:
        """Answers at this address of the node, on a port that is free, which is returned."""
        server = HostServer((host, 0), token=token, reader=HostReader(), version=brimline_version())
        threading.Thread(target=server.serve_forever, name="brimline-watch", daemon=True).start()
        return int(server.server_address[1])


def watch_on(host: str, token: str) -> tuple[int, object]:
    """The port at which the node of the cluster at `host` tells how its host is doing, to whoever has `token`.

    It needs none of the CPUs that the node gives away, and ends with what is returned beside the port. Raises
    UsageError where no node has this address, and TargetError.
    """
    ray = _imported()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    names = {host, *_addresses(host)}
    there = (node for node in ray.nodes() if node["Alive"])
    found = next((each for each in there if names & {each["NodeManagerAddress"], each["NodeManagerHostname"]}), None)
    if found is None:
        raise UsageError(
            f"no node of the Ray cluster has the address of the server, {host}",
            hint="start Ray there, without CPUs for clients: ray start --address=HOST:6379 --num-cpus=0",
        )
    strategy = NodeAffinitySchedulingStrategy(found["NodeID"], soft=False)
    actor = ray.remote(max_restarts=0, max_task_retries=0, num_cpus=0)(_Watch).options(scheduling_strategy=strategy)
    watch = actor.remote()
    try:
        return ray.get(watch.listen.remote(found["NodeManagerAddress"], token), timeout=_LISTENS_WITHIN_S), watch
    except ray.exceptions.RayError as error:
        raise TargetError(
            f"the node at {host} does not tell how it is doing: {_in_one_line(error)}",
            hint="start brimline watch there, and give --host-metrics HOST:PORT",
        ) from error


def _addresses(host: str) -> set[str]:
    try:
        return {str(each[4][0]) for each in socket.getaddrinfo(host, None)}
    except OSError:
        return set()


@contextmanager
def ray_links(where: Where) -> Iterator[list[RayLink]]:
    """An actor on each node of the cluster, or on as many as `where` says. Raises UsageError and TargetError."""
    ray = _imported()
    with _own_signals():
        try:
            _reach(ray, where)
        except (ConnectionError, RuntimeError, TimeoutError, ValueError) as error:
            raise TargetError(
                f"there is no Ray cluster to be reached: {_in_one_line(error)}",
                hint="start one with `ray start --head`, on further machines with `ray start --address=HOST:6379`",
            ) from error
    try:
        yield from _placed(ray, where)
    finally:
        ray.shutdown()


def _reach(ray: Any, where: Where) -> None:
    """Joins the cluster. One that is reached from outside forks a server for each client, which now and then dies."""
    if where.address:
        _require_listening(where.address)
    settings: dict[str, Any] = {"address": where.address or "auto", "log_to_driver": False, "logging_level": "error"}
    if not where.address:
        settings["configure_logging"] = False
    try:
        ray.init(**settings)
    except ConnectionAbortedError:
        ray.init(**settings)


def _require_listening(address: str) -> None:
    """Raises TargetError where nothing listens there: Ray says no more than that it waited, after half a minute."""
    place = urlsplit(address)
    try:
        socket.create_connection((place.hostname or "", place.port or 0), timeout=_CONNECTS_WITHIN_S).close()
    except OSError as error:
        raise TargetError(
            f"no Ray cluster answers at {address}: {reason_of(error, within_s=_CONNECTS_WITHIN_S)}",
            hint="name the head and the port of its client server, ray://HEAD:10001, which `ray start --head` opens",
        ) from error


def _placed(ray: Any, where: Where) -> Iterator[list[RayLink]]:
    there = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= where.per_node]
    count = where.count or len(there)
    if not 1 <= count <= len(there):
        raise UsageError(
            f"{counted(count, 'node')} are asked for, and the cluster has {len(there)} "
            f"with {where.per_node} CPUs for it",
            hint="ask for fewer (--workers ray:N), or start Ray on more machines",
        )
    from ray.util.placement_group import placement_group, remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    group = placement_group([{"CPU": where.per_node}] * count, strategy="STRICT_SPREAD")
    links: list[RayLink] = []
    try:
        try:
            ray.get(group.ready(), timeout=_PLACED_WITHIN_S)
        except ray.exceptions.GetTimeoutError as error:
            raise TargetError(
                f"the cluster gave no room on {counted(count, 'node')} within {_PLACED_WITHIN_S:g} s",
                hint="see what else runs on it: `ray status`",
            ) from error
        remote = ray.remote(max_restarts=0, max_task_retries=0, num_cpus=1)(_Actor)
        for bundle in range(count):
            for _ in range(where.per_node):
                strategy = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=bundle)
                links.append(RayLink(ray, remote.options(scheduling_strategy=strategy).remote()))
        yield links
    finally:
        for link in links:
            link.close()
        with suppress(ray.exceptions.RayError, ConnectionError):
            remove_placement_group(group)


def _imported() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise UsageError(
            "--workers ray needs Ray, which is not installed here",
            hint=f"{CLUSTER.how}; --workers local:N needs nothing",
        ) from error
    return ray


@contextmanager
def _own_signals() -> Iterator[None]:
    """What a signal does stays as it was, whatever is set meanwhile."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(ValueError):  # not in the main thread, where nothing was set
                signal.signal(number, handler)


def _in_one_line(error: BaseException) -> str:
    """What went wrong; where a traceback of the cluster's follows, the line that ends it."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1] if "Traceback (most recent call last):" in lines else lines[0]
