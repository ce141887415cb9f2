"""Owns how each outside program is asked, and how its failures and percentiles are read: pure."""

import argparse
import math
import re
from pathlib import Path

GO_DATABASE = "ycsb"
"""go-ycsb knows no other."""
GO_TABLE = "go_ycsb"
GO_LOAD_TABLE = "go_ycsb_load"
ENDLESS = 1_000_000_000
_GO_BEYOND = 1
"""How many records beyond the last go-ycsb asks for: its zipfian takes the bound in."""
_SPARE_S = 4
"""How long a tool that ends by itself goes on after the window."""
_IMPORT_WORKERS = 4
_YCSB_DONE = ("OK", "BATCHED_OK")


def go_ycsb_command(given: argparse.Namespace, *, loads: bool = False) -> list[str]:
    """go-ycsb's command line; `loads`: only its records, to their end."""
    phase = "load" if loads or given.workload == "load" else "run"
    properties = _properties(given, loads_to_the_end=loads) | {
        "mongodb.url": given.uri,
        "table": GO_LOAD_TABLE if given.workload == "load" and not loads else GO_TABLE,
        "threadcount": str(given.threads),
        "warmuptime": str(math.ceil(given.warmup_s)),
        "debug.pprof": "127.0.0.1:0",  # else it listens on port 6060 of every address
    }
    if loads:
        properties["recordcount"] = str(go_ycsb_records(given))
    # It knows the name, and heeds it nowhere: it is ended by a signal.
    properties.pop("maxexecutiontime", None)
    return [given.program, phase, "mongodb", *_as_options(properties)]


def go_ycsb_records(given: argparse.Namespace) -> int:
    """How many records go-ycsb has to load so that it finds all that it asks for."""
    return int(given.records) + _GO_BEYOND


def ycsb_command(given: argparse.Namespace) -> list[str]:
    """The command line of a YCSB release."""
    url = f"{given.uri}/{given.database}"
    properties = _properties(given, loads_to_the_end=False) | {"mongodb.url": url, "table": given.collection}
    properties |= {"workload": "site.ycsb.workloads.CoreWorkload", "hdrhistogram.percentiles": "50,99"}
    phase = "load" if given.workload == "load" else "run"
    return [given.program, phase, "mongodb", "-threads", str(given.threads), *_as_options(properties)]


def mongoimport_command(given: argparse.Namespace, file: Path) -> list[str]:
    """The command line of mongoimport; its batches are its own."""
    where = ["--uri", given.uri, "--db", given.database, "--collection", given.collection]
    return [given.program, "--quiet", *where, "--numInsertionWorkers", str(_IMPORT_WORKERS), "--file", str(file)]


def failures(tool: str, said: str, *, in_flight: int) -> int:
    """How many operations a tool that runs for a time says have failed or found nothing, its warm-up included."""
    return go_ycsb_failures(said, in_flight) if tool == "go-ycsb" else ycsb_failures(said)


def ycsb_failures(said: str) -> int:
    """How many operations YCSB returned something else for than that they were done.

    >>> ycsb_failures("[READ], Return=NOT_FOUND, 498")
    498
    """
    returned = re.findall(r"^\[(?:READ|UPDATE|INSERT)\], Return=(\w+), (\d+)", said, re.MULTILINE)
    return sum(int(count) for status, count in returned if status not in _YCSB_DONE)


def go_ycsb_failures(said: str, in_flight: int) -> int:
    """How many operations go-ycsb says have failed. Those `in_flight` when it was ended have too, and are no failures.

    >>> go_ycsb_failures("READ_ERROR - Takes(s): 0.1, Count: 34, OPS: 3.4", 32)
    2
    """
    counts = dict(re.findall(r"^(\w+_ERROR)\s*- .*?\bCount: (\d+)", said, re.MULTILINE))  # the last of each kind
    return max(sum(map(int, counts.values())) - in_flight, 0)


def percentile_ns(said: str, percentile: int) -> int | None:
    """A percentile as YCSB or go-ycsb prints it, in ns; None where there is none.

    go-ycsb has those of all operations; YCSB none where there is more than one kind.

    >>> percentile_ns("[READ], 99thPercentileLatency(us), 8919", 99)
    8919000
    >>> percentile_ns("READ   - Takes(s): 9.9, Count: 10, 50th(us): 12, 99th(us): 40", 50)
    12000
    """
    lines = [line for line in said.splitlines() if re.match(r"\[?(READ|UPDATE|INSERT|TOTAL)\b", line)]
    pattern = rf"\b{percentile}th(?:PercentileLatency\(us\), |\(us\): )(\d+)"
    found: dict[str, int] = {}
    for line in lines:
        if match := re.search(pattern, line):
            found[re.split(r"\W+", line.strip("["))[0]] = int(match[1])
    if len(found) > 1:
        found = {kind: value for kind, value in found.items() if kind == "TOTAL"}
    return next(iter(found.values())) * 1000 if found else None


def _properties(given: argparse.Namespace, *, loads_to_the_end: bool) -> dict[str, str]:
    loading = given.workload == "load" and not loads_to_the_end
    reads = 0.5 if given.workload == "a" else 1.0
    properties = {
        "recordcount": str(ENDLESS if loading else given.records),
        "operationcount": str(ENDLESS),
        "requestdistribution": "zipfian",
        "readproportion": f"{reads:g}",
        "updateproportion": f"{1 - reads:g}",
        "scanproportion": "0",
        "insertproportion": "0",
    }
    if not loads_to_the_end:
        properties["maxexecutiontime"] = str(math.ceil(given.warmup_s + given.measured_s) + _SPARE_S)
    return properties


def _as_options(properties: dict[str, str]) -> list[str]:
    return [word for name, value in properties.items() for word in ("-p", f"{name}={value}")]
