"""Owns how each outside program is asked, and how its percentiles are read: pure."""

import argparse
import math
import re
from pathlib import Path

GO_DATABASE = "ycsb"
"""go-ycsb knows no other."""
GO_TABLE = "go_ycsb"
ENDLESS = 1_000_000_000
_SPARE_S = 4
"""How long a tool goes on after the window."""
_IMPORT_WORKERS = 4


def go_ycsb_command(given: argparse.Namespace, *, loads: bool = False) -> list[str]:
    """go-ycsb's command line; `loads`: only its records, to their end."""
    properties = _properties(given, loads_to_the_end=loads) | {"mongodb.url": given.uri, "table": GO_TABLE}
    phase = "load" if loads or given.workload == "load" else "run"
    return [given.program, phase, "mongodb", *_as_options(properties), "-p", f"threadcount={given.threads}"]


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


def percentile_ns(said: str, percentile: int) -> int | None:
    """A percentile as YCSB or go-ycsb prints it, in ns; None where there is none, or more than one operation kind.

    >>> percentile_ns("[READ], 99thPercentileLatency(us), 8919", 99)
    8919000
    >>> percentile_ns("READ   - Takes(s): 9.9, Count: 10, 50th(us): 12, 99th(us): 40", 50)
    12000
    """
    lines = [line for line in said.splitlines() if re.match(r"\[?(READ|UPDATE|INSERT)\b", line)]
    pattern = rf"\b{percentile}th(?:PercentileLatency\(us\), |\(us\): )(\d+)"
    found: dict[str, int] = {}
    for line in lines:
        if match := re.search(pattern, line):
            found[re.split(r"\W+", line.strip("["))[0]] = int(match[1])
    return next(iter(found.values())) * 1000 if len(found) == 1 else None


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
