"""What Ray is asked for: an actor of its own for each worker, on a node of its own, that is never started again."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from brimline.errors import TargetError, UsageError
from brimline.execution.cluster import ray_nodes
from brimline.execution.cluster.where import read_where


class _Ray(ModuleType):
    """Notes what is asked of it, and gives what the cluster of `cpus` on each node would."""

    def __init__(self, cpus: list[int]) -> None:
        super().__init__("ray")
        self.cpus = cpus
        self.groups: list[tuple[list[dict[str, int]], str]] = []
        self.actors: list[tuple[dict[str, Any], Any]] = []
        self.killed: list[bool] = []
        self.exceptions = SimpleNamespace(RayError=OSError, GetTimeoutError=TimeoutError)

    def nodes(self) -> list[dict[str, Any]]:
        names = {"NodeManagerAddress": "10.0.0.1", "NodeManagerHostname": "db", "NodeID": "n"}
        return [{"Alive": True, "Resources": {"CPU": count}, **names} for count in self.cpus]

    def init(self, **_: Any) -> None: ...

    def shutdown(self) -> None: ...

    def get(self, answer: Any, *, timeout: float) -> Any:
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
        return SimpleNamespace(ready=lambda: True)


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
    return ray


@pytest.mark.parametrize(("per_node", "places"), [(1, [0, 1, 2]), (2, [0, 0, 1, 1, 2, 2])])
def test_each_node_has_its_workers_and_none_is_started_again(
    monkeypatch: pytest.MonkeyPatch, per_node: int, places: list[int]
) -> None:
    ray = _cluster(monkeypatch, [2, 2, 0, 2])
    with ray_nodes.ray_links(read_where("ray", per_node)) as links:
        assert len(links) == len(places)
    assert ray.groups == [([{"CPU": per_node}] * 3, "STRICT_SPREAD")]
    assert [place for _, place in ray.actors] == places
    for limits, _ in ray.actors:
        assert (limits["max_restarts"], limits["max_task_retries"], limits["num_cpus"]) == (0, 0, 1)
    assert ray.killed == [True] * len(places)


def test_nodes_with_too_few_processors_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = _cluster(monkeypatch, [1, 2])
    too_few = pytest.raises(UsageError, match="2 nodes are asked for, and the cluster has 1 with 2 CPUs")
    with too_few, ray_nodes.ray_links(read_where("ray:2", 2)):
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
    with pytest.raises(TargetError) as refused, ray_nodes.ray_links(read_where(address)):
        pass
    assert f"no Ray cluster answers at {address}: {why}" in refused.value.message
    assert "ray://HEAD:10001" in (refused.value.hint or "") and ray.actors == []


@pytest.mark.parametrize("port", ["0", "99999"])
def test_a_port_that_is_none_is_told_before_anything_is_asked(port: str) -> None:
    with pytest.raises(ValueError, match=f":{port}' has a port that is none"):
        read_where(f"ray://127.0.0.1:{port}")
