"""Owns what is different between two sets of runs before any figure is: plan, server, hosts, versions.

A change without the list of what was changed can't be believed: the other server had another kernel, too.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brimline.analysis.compared_run import ComparedRun
from brimline.plan import Plan
from brimline.plan.model import OperationsWork
from brimline.units import UNKNOWN_TEXT, format_bytes, format_duration
from brimline.wording import Verbatim, joined, message

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
    ("container", ("kind", "cpu_limit_cores", "memory_limit_bytes")),
    ("brimline", ("version",)),
    ("python", ("version",)),
)  # fmt: skip
_SERVER_HOST = ("hostname", "numCores", "memSizeMB", "memLimitMB", "cpuArch")
_HASH_DIGITS = 8
_TEXT_LENGTH_MAX = 200
"""What is longer is cut, and told apart by its hash."""
# Differ whenever a server is started anew, and mean nothing; so does the name of a set.
_OPTIONS_IGNORED = ("net.", "storage.dbPath", "systemLog.", "processManagement.", "replication.replSet")


@dataclass(frozen=True, slots=True)
class Difference:
    """One setting that is not the same in all runs: its values in A and in B, each once, as text."""

    where: str  # "plan", "server", "server options", "server host", "lab", "host", "container", "brimline", "python"
    name: str
    a: tuple[str, ...]
    b: tuple[str, ...]


def configuration_differences(a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> tuple[Difference, ...]:
    """What differs between A and B, or among the runs of one of them; in the order plan, server, hosts, versions."""
    of_a, of_b = [_settings(run) for run in a], [_settings(run) for run in b]
    names = dict.fromkeys(name for settings in (*of_a, *of_b) for name in settings)
    differences = [
        Difference(where, name, _values(of_a, where, name), _values(of_b, where, name)) for where, name in names
    ]
    return tuple(each for each in differences if len(each.a) > 1 or len(each.b) > 1 or each.a != each.b)


def typical_differences(a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> tuple[Difference, ...]:
    """What most runs of A have otherwise than most of B: what was changed about where A ends and B begins."""
    of_a, of_b = [_settings(run) for run in a], [_settings(run) for run in b]
    names = dict.fromkeys(name for settings in (*of_a, *of_b) for name in settings)
    differences = [
        Difference(where, name, (_typical(of_a, where, name),), (_typical(of_b, where, name),)) for where, name in names
    ]
    return tuple(each for each in differences if each.a != each.b)


def difference_text(each: Difference) -> str:
    """`lab network: local → 5ms`."""
    return message("{where} {name}: {a} → {b}", where=each.where, name=Verbatim(each.name),
                   a=joined(", ", map(Verbatim, each.a)), b=joined(", ", map(Verbatim, each.b)))  # fmt: skip


def plan_differences(a: ComparedRun, b: ComparedRun) -> tuple[Difference, ...]:
    """What differs between the plans of two runs but for the seed, which makes no other kind of run."""
    differences = configuration_differences([a], [b])
    return tuple(each for each in differences if each.where == "plan" and each.name != "seed")


def _values(runs: Sequence[Mapping[tuple[str, str], Any]], where: str, name: str) -> tuple[str, ...]:
    """The values of one setting, each once, in the order of the runs."""
    return tuple(dict.fromkeys(_text(where, name, settings.get((where, name))) for settings in runs))


def _typical(runs: Sequence[Mapping[tuple[str, str], Any]], where: str, name: str) -> str:
    """The value that most runs have, of several the first."""
    return Counter(_text(where, name, settings.get((where, name))) for settings in runs).most_common(1)[0][0]


def _settings(run: ComparedRun) -> dict[tuple[str, str], Any]:
    plan = dict(_plan_settings(run.plan))
    settings = {("plan", name): value for name, value in plan.items() if name not in _NO_CONFIGURATION}
    for where, names in _ENVIRONMENT:
        part = _part(run.environment, where)
        settings |= {(where, name): part.get(name) for name in names}
    server = _part(run.environment, "server")
    options = _flat(_part(_part(server, "getCmdLineOpts"), "parsed"))
    settings |= {("server options", name): value for name, value in options if not name.startswith(_OPTIONS_IGNORED)}
    system = _part(_part(server, "hostInfo"), "system")
    settings |= {("server host", name): _without_port(system.get(name)) for name in _SERVER_HOST}
    settings |= {("lab", name): value for name, value in _flat(_part(server, "lab"))}
    return settings


def _plan_settings(plan: Plan) -> Iterator[tuple[str, Any]]:
    """The settings of a plan. What an author has named is told apart by these names, and a command by its hash."""
    if not isinstance(plan.work, OperationsWork):
        yield from _flat(plan.model_dump())
        return
    # Namespace and data are those of the first collection, which is told with the others.
    yield from _flat(plan.model_dump(exclude={"work", "namespace", "data"}))
    work = plan.work
    yield "work.kind", work.kind
    for collection in work.collections:
        yield from _flat(collection.model_dump(exclude={"name"}), f"collections.{collection.name}.")
    for table in work.tables:
        yield from _flat(table.model_dump(exclude={"name"}), f"values.{table.name}.")
    for value in work.values:
        yield f"values.{value.name}", value.value.model_dump_json()
    for operation in work.operations:
        yield f"operations.{operation.name}.weight", operation.weight
        for step in operation.steps:
            told = " ".join(filter(None, (step.command, step.collection, f"({_hash(step.model_dump_json())})")))
            yield f"operations.{operation.name}.{step.name}", told
    for load in work.loads:
        names = "+".join(work.operations[place].name for place in load.operations)
        yield from _flat(load.model_dump(exclude={"operations"}), f"operations.{names}.load.")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves with their dotted paths; a list is one value."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _part(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = values.get(key)
    return part if isinstance(part, Mapping) else {}


def _without_port(value: Any) -> Any:
    """A server names itself host:port, and one that brimline starts has another port each time."""
    return value.partition(":")[0] if isinstance(value, str) else value


def _text(where: str, name: str, value: Any) -> str:
    """A plan leaves nothing open, so that what it lacks is not set; what an environment lacks isn't known.

    Messages without a compressor are known to have none.
    """
    if value is None:
        is_known = where in ("plan", "server options", "lab") or (where, name) == ("server", "compressor")
        return "not set" if is_known else UNKNOWN_TEXT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("_ns") and isinstance(value, int):
        return format_duration(value)
    if name.endswith("_bytes") and isinstance(value, int):
        return format_bytes(value)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _TEXT_LENGTH_MAX else f"{text[:_TEXT_LENGTH_MAX]}… ({_hash(text)})"
