"""Owns nodes of a Ray cluster: one actor on each, never restarted, gone with whoever asked for it.

Beside them is one that tells how the host of the server is doing, where that is a node as well.
"""

import logging
import os
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from brimline.doctor.extras import CLUSTER
from brimline.errors import TargetError, UsageError
from brimline.execution.cluster.link import ANSWER_WITHIN_S, NodeLost
from brimline.execution.cluster.node import NodeEngine
from brimline.execution.cluster.where import Where
from brimline.execution.stop import StopToken
from brimline.monitor.host.peer import reason_of
from brimline.monitor.host.serving import HostReader, HostServer
from brimline.record.environment import brimline_version
from brimline.servers.addresses import read_address
from brimline.units import counted

_PLACED_WITHIN_S = 30.0
_PLACED_STEP_S = 0.2
_SPEAKS_WITHIN_S = 10.0
_LISTENS_WITHIN_S = 60.0
"""Python and what it imports take their time on a busy machine."""
_ADDRESS = "RAY_ADDRESS"
_FIRST_WORDS = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""Of HTTP/2, over which Ray speaks: the preface and settings without one, which are answered with settings.

https://www.rfc-editor.org/rfc/rfc9113#section-3.4
"""
_SETTINGS = b"\x04"


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
def ray_links(where: Where, left: StopToken) -> Iterator[list[RayLink]]:
    """An actor on each node of the cluster, or on as many as `where` says.

    Raises UsageError and TargetError, and Interrupted where nobody waits for them any more, as `left` says.
    """
    ray = _imported()
    try:
        _reach(ray, where)
    except (ConnectionError, RuntimeError, TimeoutError, ValueError, ray.exceptions.RayError) as error:
        raise TargetError(
            f"there is no Ray cluster to be reached: {_in_one_line(error)}",
            hint="start one with `ray start --head`, on further machines with `ray start --address=HOST:6379`",
        ) from error
    try:
        left.raise_if_requested()
        yield from _placed(ray, where, left)
    finally:
        ray.shutdown()


def _reach(ray: Any, where: Where) -> None:
    """Joins the cluster. One that is reached from outside forks a server for each client, which now and then dies."""
    address, by = _address_of(where)
    if (place := read_address(address.removeprefix("ray://"))) is not None:
        _require_ray(place, address, by)
    settings: dict[str, Any] = {"address": where.address or "auto", "log_to_driver": False, "logging_level": "error"}
    if not where.address:
        settings["configure_logging"] = False
    logging.getLogger("ray").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is wrong is said once, as an error
        try:
            ray.init(**settings)
        except ConnectionAbortedError:
            ray.init(**settings)


def _address_of(where: Where) -> tuple[str, str]:
    """Where Ray will look for the cluster, "" where nobody says, and who says so, "" for --workers."""
    if where.address:
        return where.address, ""
    if named := os.environ.get(_ADDRESS):
        return named, _ADDRESS
    file = Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray", "ray_current_cluster")  # noqa: S108 (Ray's own place)
    with suppress(OSError, UnicodeDecodeError):
        return file.read_text().strip(), f"{file}, which Ray wrote,"
    return "", ""


def _require_ray(place: tuple[str, int], address: str, by: str) -> None:
    """Raises TargetError where nothing speaks there as Ray does: Ray itself waits for minutes, or without an end.

    `by`: who names the address, "" for --workers.
    """
    try:
        with socket.create_connection(place, timeout=_SPEAKS_WITHIN_S) as there:
            is_ray = os.environ.get("RAY_USE_TLS", "").lower() in ("1", "true") or _speaks(there)
        reason = "" if is_ray else "something else answers there"
    except OSError as error:
        reason = reason_of(error, within_s=_SPEAKS_WITHIN_S)
    if not reason:
        return
    hint = "name the head and the port of its client server, ray://HEAD:10001, which `ray start --head` opens"
    if by:
        hint = f"{by} names it: correct it, or start Ray there (`ray start --head`); or give --workers ray://HEAD:10001"
    raise TargetError(f"no Ray cluster answers at {address}: {reason}", hint=hint)


def _speaks(there: socket.socket) -> bool:
    """Whether it answers as HTTP/2 is answered. Raises OSError."""
    there.sendall(_FIRST_WORDS)
    return there.recv(9, socket.MSG_WAITALL)[3:4] == _SETTINGS


def _placed(ray: Any, where: Where, left: StopToken) -> Iterator[list[RayLink]]:
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
        _await_room(ray, group, count, left)
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


def _await_room(ray: Any, group: Any, count: int, left: StopToken) -> None:
    """Raises TargetError, and Interrupted."""
    ready, until_s = group.ready(), time.monotonic() + _PLACED_WITHIN_S
    while True:
        try:
            ray.get(ready, timeout=_PLACED_STEP_S)
            return
        except ray.exceptions.GetTimeoutError as error:
            left.raise_if_requested()
            if time.monotonic() > until_s:
                raise TargetError(
                    f"the cluster gave no room on {counted(count, 'node')} within {_PLACED_WITHIN_S:g} s",
                    hint="see what else runs on it: `ray status`",
                ) from error


def _imported() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")  # or what is left behind joins any cluster that is there
    try:
        import ray
    except ImportError as error:
        raise UsageError(
            "--workers ray needs Ray, which is not installed here",
            hint=f"{CLUSTER.how}; --workers local:N needs nothing",
        ) from error
    return ray


def _in_one_line(error: BaseException) -> str:
    """What went wrong; where a traceback of the cluster's follows, the line that ends it."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1] if "Traceback (most recent call last):" in lines else lines[0]
