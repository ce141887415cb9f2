"""User instructions of one operation, counted by valgrind's callgrind: a figure that doesn't drift with the machine.

    make check-instructions                                 fails when an operation has become dearer
    .venv/bin/python -m benchmarks.instructions --accept  writes the figures into instructions.json

Counted is the engine without Python against the scripted server, 32 connections, YCSB's records of 1 KB: the difference
between a long and a short run, divided by the difference in operations. Values of own operations are counted
alone, each made and appended by itself.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.scripted import ROOT, VALUES, build, execute, scripted_server
from brimline.plan import WireTarget, load_plan, resolve
from brimline.spec import load_spec

ACCEPTED = ROOT / "benchmarks/instructions.json"
KINDS = {"find": "read", "update": "update", "insert": "insert"}
# The same find with every operation in a log.
LOGGED = "find, logged"
# Values of own operations: the name in the table, and in the example that makes them.
VALUE_KINDS = {f"value: {kind}": kind for kind in ("int", "string", "key_of", "cell", "name")}
# What an operation of each kind may cost at most, whatever was accepted.
LIMITS = {
    "find": 3_000,
    "update": 3_150,
    "insert": 4_500,
    LOGGED: 3_200,
    **dict(zip(VALUE_KINDS, (300, 600, 1_100, 650, 550), strict=True)),
}
# More than this over the accepted figure is a defect; counts repeat within a percent.
RISE_MAX = 0.10
CONNECTIONS = 32
# What is too dear is counted as often in all, and the least counts: on a busy machine replies come in smaller pieces,
# which takes more instructions, never fewer.
ATTEMPTS = 4
OPERATION_COUNTS = (2_000, 12_000)


def main() -> None:
    """Counts, prints, and checks or accepts."""
    if shutil.which("valgrind") is None:
        sys.exit("error: counting instructions needs valgrind\nhint: make valgrind")
    build()
    counts = {kind: count_of(kind) for kind in LIMITS}
    if "--accept" in sys.argv[1:]:
        ACCEPTED.write_text(json.dumps(counts, indent=2) + "\n")
    accepted = json.loads(ACCEPTED.read_text())
    for _ in range(1, ATTEMPTS):
        counts |= {kind: min(counts[kind], count_of(kind)) for kind in too_dear(counts, accepted)}
    print(f"{'':14}{'instructions':>13}{'accepted':>10}{'change':>9}{'limit':>8}")
    for kind, count in counts.items():
        change = count / accepted[kind] - 1
        print(f"{kind:14}{count:>13,}{accepted[kind]:>10,}{change:>+9.1%}{LIMITS[kind]:>8,}")
    if found := too_dear(counts, accepted):
        print(f"error: too many instructions per operation: {', '.join(found)}", file=sys.stderr)
        print(
            "hint: make it leaner, or accept a rise within the limits with python -m benchmarks.instructions --accept",
            file=sys.stderr,
        )
        sys.exit(3)


def too_dear(counts: Mapping[str, int], accepted: Mapping[str, int]) -> list[str]:
    """The kinds that cost more than a tenth above what was accepted, or more than their limit: pure."""
    return [kind for kind, count in counts.items() if count > min(accepted[kind] * (1 + RISE_MAX), LIMITS[kind])]


def count_of(kind: str) -> int:
    """Instructions of one operation, or of one value, by its name in the table."""
    if kind in VALUE_KINDS:
        return round(value_instructions(VALUE_KINDS[kind]))
    return round(instructions(KINDS.get(kind, KINDS["find"]), logged=kind == LOGGED))


def instructions(operation: str, *, logged: bool = False) -> float:
    """User instructions of one operation of this kind, of all threads."""
    shorter, longer = (counted(operation, count, logged=logged) for count in OPERATION_COUNTS)
    return (longer - shorter) / (OPERATION_COUNTS[1] - OPERATION_COUNTS[0])


def value_instructions(kind: str) -> float:
    """User instructions of one value of this kind, the loop around it included."""
    shorter, longer = (counted_values(kind, count) for count in OPERATION_COUNTS)
    return (longer - shorter) / (OPERATION_COUNTS[1] - OPERATION_COUNTS[0])


def counted_values(kind: str, count: int) -> int:
    """User instructions of a program that makes `count` values."""
    with tempfile.TemporaryDirectory(prefix="brimline-bench-") as scratch:
        command = [*_callgrind(scratch), str(VALUES), kind, str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return _collected(done.stderr)


def _callgrind(scratch: str) -> list[str]:
    return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out"]


def _collected(talk: str) -> int:
    collected = re.search(r"Collected : (\d+)", talk)
    if collected is None:
        sys.exit(f"error: callgrind counted nothing\n{talk}")
    return int(collected[1])


def counted(operation: str, count: int, *, logged: bool) -> int:
    """User instructions of a whole run of `count` operations."""
    spec = load_spec(
        "ycsb-c",
        overrides={
            "operations": {operation: 1},
            "operation_count": count,
            "warmup": "0s",
            "data.records": 10_000,
            "connections": CONNECTIONS,
            "operation_log": logged,
        },
    ).spec
    with scripted_server() as address, tempfile.TemporaryDirectory(prefix="brimline-bench-") as scratch:
        target = WireTarget(address=address, write_concern=None, sessions=True)
        execute(load_plan(spec.model_copy(update={"operation_log": False}), target=target).canonical_json())
        log = Path(scratch, "operations.log")
        log.touch()
        _, talk = execute(resolve(spec, target=target).canonical_json(), wrapper=_callgrind(scratch), log=log)
    return _collected(talk)


if __name__ == "__main__":
    main()
