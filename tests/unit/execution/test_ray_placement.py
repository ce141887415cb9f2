"""What Ray is asked for: an actor of its own for each worker, on a node of its own, that is never started again.

And how it is reached: no wait for it is without an end, and none outlasts the wish to end.
"""

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from brimline.errors import Interrupted, TargetError, UsageError
from brimline.execution.cluster import cluster, ray_nodes
from brimline.execution.cluster.link import ANSWER_WITHIN_S, NodeLost
from brimline.execution.cluster.where import read_where
from brimline.execution.stop import StopToken

_READY = object()


class _Ray(ModuleType):
    """Notes what is asked of it, and gives what the cluster of `cpus` on each node would."""

    def __init__(self, cpus: list[int]) -> None:
        super().__init__("ray")
        self.cpus = cpus
        self.groups: list[tuple[list[dict[str, int]], str]] = []
        self.actors: list[tuple[dict[str, Any], Any]] = []
        self.killed: list[bool] = []
        self.exceptions = SimpleNamespace(RayError=OSError, GetTimeoutError=TimeoutError)
        self.begin: Callable[[], object] = lambda: None
        self.has_room = True
        self.ended = threading.Event()

    def nodes(self) -> list[dict[str, Any]]:
        names = {"NodeManagerAddress": "10.0.0.1", "NodeManagerHostname": "db", "NodeID": "n"}
        return [{"Alive": True, "Resources": {"CPU": count}, **names} for count in self.cpus]

    def init(self, **_: Any) -> None:
        self.begin()

    def shutdown(self) -> None:
        self.ended.set()

    def get(self, answer: Any, *, timeout: float) -> Any:
        if answer is _READY and not self.has_room:
            raise self.exceptions.GetTimeoutError
        return answer

    def kill(self, _actor: Any, *, no_restart: bool) -> None:
        self.killed.append(no_restart)

    def remote(self, **limits: Any) -> Any:
        def options(*, scheduling_strategy: Any) -> Any:
            self.actors.append((limits, scheduling_strategy))
            listen = SimpleNamespace(remote=lambda *_: 7)
            return SimpleNamespace(remote=lambda: SimpleNamespace(listen=listen))

        return lambda _made_of: SimpleNamespace(options=options)

    def placement_group(self, bundles: list[dict[str, int]], strategy: str) -> Any:
        self.groups.append((bundles, strategy))
        return SimpleNamespace(ready=lambda: _READY)


def _cluster(monkeypatch: pytest.MonkeyPatch, cpus: list[int]) -> _Ray:
    ray = _Ray(cpus)
    groups, strategies = ModuleType("placement_group"), ModuleType("scheduling_strategies")
    vars(groups).update(placement_group=ray.placement_group, remove_placement_group=lambda _group: None)
    vars(strategies).update(
        PlacementGroupSchedulingStrategy=lambda _group, placement_group_bundle_index: placement_group_bundle_index,
        NodeAffinitySchedulingStrategy=lambda node, soft: (node, soft),
    )
    modules = {"ray": ray, "ray.util.placement_group": groups, "ray.util.scheduling_strategies": strategies}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", "/nowhere")
    return ray


@pytest.mark.parametrize(("per_node", "places"), [(1, [0, 1, 2]), (2, [0, 0, 1, 1, 2, 2])])
def test_each_node_has_its_workers_and_none_is_started_again(
    monkeypatch: pytest.MonkeyPatch, per_node: int, places: list[int]
) -> None:
    ray = _cluster(monkeypatch, [2, 2, 0, 2])
    with ray_nodes.ray_links(read_where("ray", per_node), StopToken()) as links:
        assert len(links) == len(places)
    assert ray.groups == [([{"CPU": per_node}] * 3, "STRICT_SPREAD")]
    assert [place for _, place in ray.actors] == places
    for limits, _ in ray.actors:
        assert (limits["max_restarts"], limits["max_task_retries"], limits["num_cpus"]) == (0, 0, 1)
    assert ray.killed == [True] * len(places)


def test_nodes_with_too_few_processors_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = _cluster(monkeypatch, [1, 2])
    too_few = pytest.raises(UsageError, match="2 nodes are asked for, and the cluster has 1 with 2 CPUs")
    with too_few, ray_nodes.ray_links(read_where("ray:2", 2), StopToken()):
        pass
    assert ray.groups == ray.actors == []


def test_who_watches_a_host_takes_no_processor_of_it_and_is_not_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = _cluster(monkeypatch, [0])
    port, _ = ray_nodes.watch_on("10.0.0.1", "token")
    assert port == 7
    ((limits, strategy),) = ray.actors
    assert (limits["max_restarts"], limits["max_task_retries"], limits["num_cpus"]) == (0, 0, 0)
    assert strategy == ("n", False)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("ray://127.0.0.1:9", "connection refused"),
        ("ray://no-such-host.invalid:10001", "the name is not known"),
    ],
)
def test_an_address_without_a_cluster_is_told_at_once(monkeypatch: pytest.MonkeyPatch, address: str, why: str) -> None:
    """Ray waits for half a minute, and prints a warning of its own."""
    ray = _cluster(monkeypatch, [1])
    with pytest.raises(TargetError) as refused, ray_nodes.ray_links(read_where(address), StopToken()):
        pass
    assert f"no Ray cluster answers at {address}: {why}" in refused.value.message
    assert "ray://HEAD:10001" in (refused.value.hint or "") and ray.actors == []


@pytest.mark.parametrize("by", ["RAY_ADDRESS", "ray_current_cluster, which Ray wrote,"])
def test_what_names_a_cluster_that_is_gone_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, by: str
) -> None:
    """Ray waits without an end. Of a cluster that is gone its own file goes on telling."""
    ray = _cluster(monkeypatch, [1])
    ray.begin = lambda: pytest.fail("Ray was asked")
    if by == "RAY_ADDRESS":
        monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    else:
        monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
        (tmp_path / "ray").mkdir()
        (tmp_path / "ray" / "ray_current_cluster").write_text("127.0.0.1:9\n")
    with pytest.raises(TargetError) as refused, ray_nodes.ray_links(read_where("ray"), StopToken()):
        pass
    assert "no Ray cluster answers at 127.0.0.1:9: connection refused" in refused.value.message
    assert f"{by} names it" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("says", "why"), [(b"", "no answer within 0.05 s"), (b"HTTP/1.1 400 Bad Request", "something else answers there")]
)
@pytest.mark.parametrize("is_named", [True, False])
def test_what_accepts_and_does_not_speak_as_ray_does_is_told(
    monkeypatch: pytest.MonkeyPatch, says: bytes, why: str, is_named: bool
) -> None:
    ray = _cluster(monkeypatch, [1])
    ray.begin = lambda: pytest.fail("Ray was asked")
    monkeypatch.setattr(ray_nodes, "_SPEAKS_WITHIN_S", 0.05)
    with _saying(says) as address:
        monkeypatch.setenv("RAY_ADDRESS", "" if is_named else address)
        where = read_where(f"ray://{address}" if is_named else "ray")
        with pytest.raises(TargetError) as refused, ray_nodes.ray_links(where, StopToken()):
            pass
    assert refused.value.message.endswith(f"{address}: {why}")


def test_what_speaks_as_ray_does_is_asked_by_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty frame of settings, as RFC 9113 has it in section 6.5."""
    ray = _cluster(monkeypatch, [1])
    with (
        _saying(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00") as address,
        ray_nodes.ray_links(read_where(f"ray://{address}"), StopToken()) as links,
    ):
        assert len(links) == 1
    assert ray.ended.is_set()


@contextmanager
def _saying(words: bytes) -> Iterator[str]:
    """The address of who says `words` to whoever has said something, and then nothing more."""

    def answer() -> None:
        with suppress(OSError):
            there, _ = listening.accept()
            with there:
                there.recv(100)
                there.sendall(words)
                there.recv(100)  # until it is left

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


WITHIN_S = 1.0


def test_who_is_to_end_does_not_wait_for_ray_and_leaves_it_when_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    ray, comes, stop = _cluster(monkeypatch, [1]), threading.Event(), StopToken()

    def begin() -> None:
        stop.request()
        comes.wait(5 * WITHIN_S)

    ray.begin = begin
    monkeypatch.setattr("brimline.execution.cluster.awaiting._LEFT_WITHIN_S", 0.0)
    with pytest.raises(Interrupted) as ended, cluster.opened(read_where("ray"), stop):
        pass
    assert ended.value.exit_code == 130 and not ray.ended.is_set()
    comes.set()
    assert ray.ended.wait(WITHIN_S), "nothing is left on the cluster"


def test_a_cluster_that_never_comes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ray, comes = _cluster(monkeypatch, [1]), threading.Event()
    ray.begin = comes.wait
    monkeypatch.setattr("brimline.execution.cluster.awaiting._LEFT_WITHIN_S", 0.0)
    monkeypatch.setattr(cluster, "_REACHED_WITHIN_S", 0.05)
    never = pytest.raises(TargetError, match=r"the Ray cluster is not reached: no answer within 0\.05 s")
    with never, cluster.opened(read_where("ray"), StopToken()):
        pass
    comes.set()
    assert ray.ended.wait(WITHIN_S)


def test_who_is_to_end_does_not_wait_for_room_on_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    ray, stop = _cluster(monkeypatch, [1]), StopToken()
    ray.has_room = False
    ray.nodes = lambda: [stop.request(), *_Ray.nodes(ray)][1:]  # type: ignore[method-assign]
    with pytest.raises(Interrupted), ray_nodes.ray_links(read_where("ray"), stop):
        pass
    assert ray.actors == [] and ray.ended.is_set()


class _Beginning:
    """A node that answers when it is closed."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    def call(self, name: str, *_: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        self.closed.wait(5 * WITHIN_S)
        raise NodeLost("it was closed")

    def close(self) -> None:
        self.closed.set()


def test_who_is_to_end_does_not_wait_for_nodes_to_say_who_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    links: list[_Beginning] = []
    stop = StopToken()

    def made() -> _Beginning:
        links.append(_Beginning())
        stop.request()
        return links[-1]

    monkeypatch.setattr(cluster, "ProcessLink", made)
    with pytest.raises(Interrupted), cluster.opened(read_where("local:2"), stop):
        pass
    assert [each.closed.is_set() for each in links] == [True, True]


@pytest.mark.parametrize("port", ["0", "99999"])
def test_a_port_that_is_none_is_told_before_anything_is_asked(port: str) -> None:
    with pytest.raises(ValueError, match=f":{port}' has a port that is none"):
        read_where(f"ray://127.0.0.1:{port}")
