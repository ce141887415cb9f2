"""Runs with figures that are easy to divide."""

from benchmarks.peers.results import Results, Run


def run(client: str, cell: str, *, number: int = 1, round: int = 1, **other: object) -> Run:  # noqa: A002
    """One run: 1 s, 1000 operations, each 10 µs of client CPU and 50 µs of server CPU; `other` replaces any of it.

    The server counted the same unless `other` says what.
    """
    values: dict[str, object] = {
        "operations": 1000,
        "failed": 0,
        "counted": {"query": other.get("operations", 1000)},
        "window_ns": 1_000_000_000,
        "client_cpu_ns": 10_000_000,
        "engine_cpu_ns": None,
        "server_cpu_ns": 50_000_000,
        "others_share": 0.01,
        "p50_ns": 1_000_000,
        "p99_ns": 5_000_000,
        "peak_memory_bytes": 80_000_000,
        "start_ns": 1_000_000_000,
        "cpu_before_window_ns": 500_000_000,
        "versions": {"thing": "1.2"},
    }
    return Run(client=client, cell=cell, number=number, round=round, **(values | other))  # type: ignore[arg-type]


def results(*runs: Run, **other: object) -> Results:
    """Results that consist of these runs."""
    settings = {
        "rounds": 1,
        "records": 100_000,
        "threads": 32,
        "batch": 100,
        "warmup_s": 2.0,
        "warmup_compiling_s": 12.0,
        "measured_s": 6.0,
        "client_cores": [0],
        "server_cores": [1],
    }
    values: dict[str, object] = {"complete": True, **other}
    return Results(
        machine={"processor": "a processor"},
        settings=settings,
        server_version="6.0.5",
        runs=list(runs),
        **values,  # type: ignore[arg-type]
    )
