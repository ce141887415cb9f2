"""Owns what was configured where something was measured: settings of plan, server, hosts and versions, by name."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from brimline.plan import Plan
from brimline.plan.model import OperationsWork
from brimline.record.model import Environment

Settings = dict[tuple[str, str], Any]
"""By where a setting is made (`plan`, `search`, `import`, `tool`, `server`, `server options`, `server host`, `lab`,
`host`, `workers`, `container`, `brimline`, `python`) and its name."""
# What names a run, or where a server listens, and no property of what was measured.
_NO_CONFIGURATION = frozenset(
    {
        "version",
        "name",
        "target.address",
        "target.routers",
        "target.shards",
        "target.reads.addresses",
        "target.replica_set.members",
        "interval_ns",
    }
)
_ENVIRONMENT = (
    ("server", ("engine", "kind", "version", "git_version", "same_host", "started_by_brimline", "compressor")),
    (
        "host",
        (
            "name", "system", "kernel", "architecture", "cpu_model", "cpu_cores", "cpu_cores_usable", "cpu_governor",
            "virtualised", "memory_bytes", "swap_bytes", "transparent_huge_pages",
        ),
    ),
    ("workers", ("count",)),
    ("container", ("kind", "cpu_limit_cores", "memory_limit_bytes")),
    ("brimline", ("version",)),
    ("python", ("version",)),
)  # fmt: skip
_SERVER_HOST = ("hostname", "numCores", "memSizeMB", "memLimitMB", "cpuArch")
# Differ whenever a server is started anew, and mean nothing; so does the name of a set.
_OPTIONS_IGNORED = ("net.", "storage.dbPath", "systemLog.", "processManagement.", "replication.replSet")


def run_settings(plan: Plan, environment: Environment) -> Settings:
    """Those of a run."""
    found = {("plan", name): value for name, value in _plan_settings(plan) if name not in _NO_CONFIGURATION}
    return found | environment_settings(environment)


def environment_settings(environment: Environment) -> Settings:
    """Those of where something was measured: server, hosts, versions."""
    settings: Settings = {}
    for where, names in _ENVIRONMENT:
        part = _part(environment, where)
        settings |= {(where, name): part.get(name) for name in names}
    server = _part(environment, "server")
    options = flat(_part(_part(server, "getCmdLineOpts"), "parsed"))
    settings |= {("server options", name): value for name, value in options if not name.startswith(_OPTIONS_IGNORED)}
    system = _part(_part(server, "hostInfo"), "system")
    settings |= {("server host", name): _without_port(system.get(name)) for name in _SERVER_HOST}
    settings |= {("lab", name): value for name, value in flat(_part(server, "lab"))}
    return settings


def _plan_settings(plan: Plan) -> Iterator[tuple[str, Any]]:
    """The settings of a plan. What an author has named is told apart by these names, and a command by its hash."""
    if not isinstance(plan.work, OperationsWork):
        yield from flat(plan.model_dump())
        return
    # Namespace and data are those of the first collection, which is told with the others.
    yield from flat(plan.model_dump(exclude={"work", "namespace", "data"}))
    work = plan.work
    yield "work.kind", work.kind
    for collection in work.collections:
        yield from flat(collection.model_dump(exclude={"name"}), f"collections.{collection.name}.")
    for table in work.tables:
        yield from flat(table.model_dump(exclude={"name"}), f"values.{table.name}.")
    for value in work.values:
        yield f"values.{value.name}", value.value.model_dump_json()
    for operation in work.operations:
        yield f"operations.{operation.name}.weight", operation.weight
        for step in operation.steps:
            told = " ".join(filter(None, (step.command, step.collection, f"({short_hash(step.model_dump_json())})")))
            yield f"operations.{operation.name}.{step.name}", told
    for load in work.loads:
        names = "+".join(work.operations[place].name for place in load.operations)
        yield from flat(load.model_dump(exclude={"operations"}), f"operations.{names}.load.")


def short_hash(text: str) -> str:
    """Tells long texts apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves with their dotted paths; a list is one value."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _part(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = values.get(key)
    return part if isinstance(part, Mapping) else {}


def _without_port(value: Any) -> Any:
    """A server names itself host:port, and one that brimline starts has another port each time."""
    return value.partition(":")[0] if isinstance(value, str) else value
