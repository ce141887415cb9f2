"""Owns what a server may do to brimline by lying: make a command fail. It runs one, and says what else went wrong."""

import os
import re
import signal
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from brimline.servers import control_client
from tests.support import forked
from tests.support.lies import SECRET, Lie, drawn
from tests.support.lying_server import lying_server

WITHIN_S = 90.0
"""Longer than every wait of a verb together; a silent server is waited for 30 s where it may be at work."""
_MEMORY_BYTES_MAX = 700 << 20
"""What a command takes of a truthful server, and room for one answer of 48 MB and what Python makes of it."""
_DISK_BYTES_MAX = 64 << 20
_OUTPUT_BYTES_MAX = 64 << 10
_EXIT_CODES = frozenset({0, 2, 3, 4, 5})
_LOOK_EVERY_S = 0.02

SPEC = """\
name: lied-to
data: {records: 300, fields: 2, field_length: 20, database: DATABASE}
operations: {read: 0.3, update: 0.2, insert: 0.1, scan: 0.2, read_modify_write: 0.2}
connections: 4
threads: 2
warmup: 0s
duration: 400ms
operation_timeout: 1s
connect_timeout: 2s
drain_timeout: 1s
"""
SCANS = """\
scans:
  repetitions: 3
  time_per_scenario: 500ms
  query_timeout: 2s
  indexes: [{field0: 1}]
  scenarios:
    - {name: everything, filter: all}
    - {name: a range, range: {field: _id, widths: [10, 50, 90]}}
"""
_SURROUNDINGS = ("ping", "hello", "buildInfo", "serverStatus", "hostInfo", "collStats", "dbStats")
VERBS: dict[str, Sequence[str]] = {
    "run": (
        *_SURROUNDINGS,
        "find",
        "update",
        "insert",
        "create",
        "drop",
        "aggregate",
        "count",
        "delete",
        "endSessions",
    ),
    "import": (*_SURROUNDINGS, "insert", "create", "aggregate", "insert", "insert"),
    "scan": (*_SURROUNDINGS, "find", "getMore", "explain", "listCollections", "listIndexes", "count"),
    "stat": ("ping", "hello", "serverStatus"),
}
"""The commands that each verb sends."""


@dataclass(frozen=True, slots=True)
class Case:
    """A verb, and the lie that is told to it."""

    verb: str
    lie: Lie
    seed: int = 0
    uri_options: str = ""
    user: str = ""

    def __str__(self) -> str:
        return f"{self.seed}: {self.verb}, {self.lie.name[:60]}, {self.lie.command or 'all'} from {self.lie.first}"


def case_of(seed: int) -> Case:
    """The case of a seed. `stat` waits for a server that it has seen and that goes away: there it comes back."""
    verb = sorted(VERBS)[seed % len(VERBS)]
    lie = drawn(seed, VERBS[verb])
    goes_away = verb == "stat" and lie.first > 0
    return Case(verb, replace(lie, always=False) if goes_away else lie, seed)


def lied_to(case: Case, truth: str, *, within_s: float = WITHIN_S) -> "Ended":
    """Runs the verb against the liar in front of `truth`."""
    database = f"lied_to_{uuid.uuid4().hex}"
    with tempfile.TemporaryDirectory(prefix="brimline-lied-to-") as place:
        directory = Path(place)
        with lying_server(truth, case.lie, seed=case.seed) as address:
            ended = _run(_words(case, address, database, directory), directory, within_s)
        with control_client(truth) as client:
            client.drop_database(database)
        return replace(ended, wrongs=(*ended.wrongs, *_left_behind(directory)))


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; `exit_code` is None when it had to be killed. `wrongs`: what it should not have done."""

    exit_code: int | None
    wrongs: tuple[str, ...]


def _wrongs(exit_code: int | None, output: str, errors: str, peak_bytes: int) -> list[str]:
    wrongs = []
    if exit_code is None:
        wrongs.append("did not end in time")
    elif exit_code not in _EXIT_CODES:
        wrongs.append(f"exit code {exit_code}: {errors[-3000:]}")
    both = output + errors
    wrongs += [f"{word}: {errors[-3000:]}" for word in ("Traceback", "panicked", "internal:") if word in both]
    if exit_code not in (None, 0):
        said = {name: len(re.findall(rf"^{name}: ", errors, re.MULTILINE)) for name in ("error", "hint")}
        if said["error"] != 1 or said["hint"] > 1:
            wrongs.append(f"{said}: {errors[-3000:]}")
    if peak_bytes > _MEMORY_BYTES_MAX:
        wrongs.append(f"{peak_bytes >> 20} MiB of memory")
    if len(errors) > _OUTPUT_BYTES_MAX:
        wrongs.append(f"{len(errors)} bytes of talk")
    if "\x1b[31m" in errors:
        wrongs.append("the server's words steer the terminal")
    if SECRET in both:
        wrongs.append(f"the secret is shown: {both[max(0, both.find(SECRET) - 200) :][:400]}")
    return wrongs


def _words(case: Case, address: str, database: str, directory: Path) -> list[str]:
    user = f"{case.user}@" if case.user else ""
    to = ("--uri", f"mongodb://{user}{address}/{case.uri_options}")
    spec = directory / "lied-to.yaml"
    spec.write_text(SPEC.replace("DATABASE", database) + (SCANS if case.verb == "scan" else ""))
    if case.verb == "import":
        rows = directory / "rows.json"
        rows.write_text("".join(f'{{"_id": {number}, "text": "some"}}\n' for number in range(2_000)))
        return ["import", str(rows), "--db", database, "--collection", "rows", "--batchSize", "100", *to]
    if case.verb == "stat":
        return ["stat", *to, "--rowcount", "2", "0.2"]
    return [case.verb, str(spec), *to, "--data", "load", "--drop"]


def _run(words: Sequence[str], directory: Path, within_s: float) -> Ended:
    files = directory / "stdout", directory / "stderr"
    with files[0].open("wb") as stdout, files[1].open("wb") as stderr:
        variables = {"XDG_CACHE_HOME": str(directory / "cache"), "BRIMLINE_PASSWORD": SECRET}
        process = forked.start(
            ["-m", "brimline", *words],
            directory=directory,
            environment={**os.environ, **variables},
            files=(stdout, stderr),
        )
        peak_bytes, deadline_s = 0, time.monotonic() + within_s
        while process.poll() is None and time.monotonic() < deadline_s:
            peak_bytes = max(peak_bytes, _peak_bytes(process.pid))
            time.sleep(_LOOK_EVERY_S)
        exit_code = process.poll()
        if exit_code is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
    output, errors = (path.read_bytes().decode(errors="replace") for path in files)
    return Ended(exit_code, tuple(_wrongs(exit_code, output, errors, peak_bytes)))


def _peak_bytes(pid: int) -> int:
    """What the kernel says was the most memory it held so far; 0 for one that has just ended."""
    try:
        found = re.search(r"^VmHWM:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) << 10 if found else 0


def _left_behind(directory: Path) -> list[str]:
    files = [path for path in directory.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    wrongs = [] if size <= _DISK_BYTES_MAX else [f"{size >> 20} MiB on the disk"]
    with_secret = [path.name for path in files if SECRET.encode() in path.read_bytes()]
    return wrongs + ([f"the secret is in {', '.join(with_secret)}"] if with_secret else [])
