from typing import Any

from brimline.analysis.configuration import Difference, configuration_differences
from tests.support.own_work import constant, own_plan, step
from tests.support.run_sets import plan, simulated_run


def environment(*, version: str = "6.0.5", cache_gb: float = 1.0, port: int = 27017, **host: Any) -> dict[str, Any]:
    parsed = {
        "net": {"port": port},
        "storage": {"dbPath": f"/data/{port}", "wiredTiger": {"engineConfig": {"cacheSizeGB": cache_gb}}},
        "systemLog": {"path": f"/log/{port}"},
    }
    return {
        "captured_at": f"at {port}",
        "command": f"brimline run {port}",
        "host": {"name": "bench-1", "cpu_cores": 8, "memory_bytes": 16_000_000_000, "load_average_1min": port, **host},
        "server": {
            "version": version,
            "getCmdLineOpts": {"argv": [str(port)], "parsed": parsed},
            "hostInfo": {"system": {"hostname": f"db1:{port}", "currentTime": port}},
        },
    }


def test_equal_surroundings_differ_in_nothing_whatever_port_and_time() -> None:
    a = simulated_run("a", environment=environment(port=1))
    b = simulated_run("b", environment=environment(port=2))
    assert configuration_differences([a], [b]) == ()


def test_each_difference_is_named_with_both_values() -> None:
    a = simulated_run("a", environment=environment(), plan_of=plan(connections=8))
    b = simulated_run(
        "b",
        environment=environment(version="7.0.2", cache_gb=4.0, memory_bytes=32_000_000_000),
        plan_of=plan(connections=16, seed=2),
    )
    assert configuration_differences([a], [b]) == (
        Difference("plan", "seed", ("1",), ("2",)),
        Difference("plan", "connections", ("8",), ("16",)),
        Difference("server", "version", ("6.0.5",), ("7.0.2",)),
        Difference("host", "memory_bytes", ("16.0 GB",), ("32.0 GB",)),
        Difference("server options", "storage.wiredTiger.engineConfig.cacheSizeGB", ("1",), ("4",)),
    )


def test_a_run_that_more_clients_shared_differs_in_that() -> None:
    alone = simulated_run("a", environment=environment())
    shared = simulated_run("b", environment={**environment(), "workers": {"count": 4, "hosts": ["n1"] * 4}})
    assert configuration_differences([alone], [shared]) == (Difference("workers", "count", ("not set",), ("4",)),)


def test_runs_of_one_side_that_met_two_servers_are_a_difference_too() -> None:
    a = [simulated_run(f"a{index}", environment=environment(version=version)) for index, version in enumerate("12")]
    b = [simulated_run("b", environment=environment(version="2"))]
    assert configuration_differences(a, b) == (Difference("server", "version", ("1", "2"), ("2",)),)


def test_what_is_not_known_is_not_guessed() -> None:
    a, b = simulated_run("a"), simulated_run("b", environment=environment())
    found = {(each.where, each.name): each for each in configuration_differences([a], [b])}
    assert found["server", "version"].a == ("—",)
    assert found["server options", "storage.wiredTiger.engineConfig.cacheSizeGB"].a == ("not set",)


def test_another_lab_and_another_distance_are_named() -> None:
    near, far, alone = environment(), environment(), environment()
    line = {"delay_ns": 5_000_000, "rate_bit_per_s": None, "between": "clients"}
    near["server"]["lab"] = {"topology": "replica set", "members": 3}
    far["server"]["lab"] = {"topology": "replica set", "members": 3, "network": line}
    runs = [simulated_run(name, environment=each) for name, each in (("n", near), ("f", far), ("a", alone))]
    assert configuration_differences(runs[:1], runs[1:2]) == (
        Difference("lab", "network.delay_ns", ("not set",), ("5.00 ms",)),
        Difference("lab", "network.between", ("not set",), ("clients",)),
    )
    assert Difference("lab", "topology", ("replica set",), ("not set",)) in configuration_differences(
        runs[:1], runs[2:]
    )


def test_messages_that_are_compressed_are_a_difference_to_those_that_are_not() -> None:
    packed = environment()
    packed["server"]["compressor"] = "zstd"
    a, b = simulated_run("a", environment=environment()), simulated_run("b", environment=packed)
    assert configuration_differences([a], [b]) == (Difference("server", "compressor", ("not set",), ("zstd",)),)


def test_what_a_set_is_called_is_no_difference() -> None:
    a, b = environment(), environment()
    a["server"]["getCmdLineOpts"]["parsed"]["replication"] = {"replSet": "lab-1"}
    b["server"]["getCmdLineOpts"]["parsed"]["replication"] = {"replSet": "lab-2"}
    assert configuration_differences([simulated_run("a", environment=a)], [simulated_run("b", environment=b)]) == ()


def test_operations_of_an_author_differ_by_their_names() -> None:
    """Not as one text that nobody reads: shares and loads by their values, commands by their hash."""
    load = {"operations": [1], "pacer": {"kind": "constant", "rate_ops_per_s": 2.0}, "connections": 1}
    steps = {"latest": [step("find")], "revenue": [step("aggregate")]}
    weights = {"latest": 1.0, "revenue": 0.0}
    filtered = step("find", body=constant({"find": "orders", "filter": {"a": 1}}))
    a = simulated_run("a", plan_of=own_plan(steps, weights=weights, loads=[load]))
    b = simulated_run(
        "b",
        plan_of=own_plan(
            {**steps, "latest": [filtered, step("count")]},
            weights=weights | {"latest": 0.5},
            loads=[{**load, "pacer": {"kind": "constant", "rate_ops_per_s": 5.0}}],
        ),
    )
    found = {each.name: (each.a[0], each.b[0]) for each in configuration_differences([a], [b])}
    assert set(found) == {
        "operations.latest.weight",
        "operations.latest.find orders",
        "operations.latest.count orders",
        "operations.revenue.load.pacer.rate_ops_per_s",
    }
    assert found["operations.latest.weight"] == ("1", "0.5")
    assert found["operations.revenue.load.pacer.rate_ops_per_s"] == ("2", "5")
    assert all(text.startswith("find orders (") for text in found["operations.latest.find orders"])
    assert found["operations.latest.count orders"][0] == "not set"


def test_a_value_of_any_length_is_told_in_some_words() -> None:
    fields = [{"name": f"field{number}", "value": {"kind": "int", "min": 0, "max": 9}} for number in range(50)]
    a, b = (
        simulated_run(
            name, plan_of=plan().model_copy(update={"data": plan().data.model_copy(update={"template": each})})
        )
        for name, each in (("a", tuple(fields)), ("b", tuple(fields[:-1])))
    )
    (difference,) = configuration_differences([a], [b])
    assert difference.name == "data.template" and difference.a != difference.b
    assert all(len(text) < 220 and text.endswith(")") for text in (*difference.a, *difference.b))
