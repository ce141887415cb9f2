"""Every version of mongod that can be fetched, and a secured replica set of three: counts that agree, and a verdict.

    python -m benchmarks.versions [--only 4.4.2,6.0.5,set] [--workload ycsb-b] [--no-capacity]

On each server the workloads A to F run, and the server must have counted what brimline counted; then `capacity --quick`
must end with a verdict: a number, or that there is none and why. About two minutes each. The set has access control and
TLS, and is of the default version. Exit code 1 when a count differs or a search ends otherwise.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import brimline
from brimline.analysis.finding import Standing
from brimline.analysis.validity import opcounters
from brimline.errors import BrimlineError
from brimline.servers import PasswordSource
from brimline.servers.catalogue import RELEASES

WORKLOADS = tuple(f"ycsb-{letter}" for letter in "abcdef")
SET = "set"
RECORDS = "20k"
_VERDICTS = (0, 3, 4)
"""Exit codes of a search that ended: a number, an objective that can't be met, no number."""


def main() -> int:
    """Prints a row per server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="versions, and `set`, with commas between them")
    parser.add_argument("--workload", default="ycsb-b", help="of the search")
    parser.add_argument("--no-capacity", action="store_true")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else [*(each.version for each in RELEASES), SET]
    held = [_shown(name, workload=None if arguments.no_capacity else arguments.workload) for name in names]
    return 0 if all(held) else 1


def _shown(name: str, *, workload: str | None) -> bool:
    if name == SET and shutil.which("openssl") is None:
        print("set: left out, there is no openssl command to make certificates with")
        return True
    with _server(name) as options, tempfile.TemporaryDirectory(prefix="brimline-versions-") as runs:
        around = {**options, "runs_dir": Path(runs), "data": "load", "drop": True}
        counts = {workload: _counted(workload, around) for workload in WORKLOADS}
        print(f"{name:8} counts: {', '.join(f'{workload[-1].upper()} {said}' for workload, said in counts.items())}")
        held = set(counts.values()) == {"the same"}
        if workload is not None:
            ended, line = _searched(workload, around)
            print(f"{'':8} capacity --quick {workload}: {line}", flush=True)
            held = held and ended
    return held


def _counted(workload: str, around: dict[str, object]) -> str:
    result = brimline.run(
        workload,
        overrides={"data.records": RECORDS, "operation_count": 10_000, "warmup": "0s", "connections": 16},
        options=brimline.Options(**around),  # type: ignore[arg-type]
    )
    finding = opcounters(result.record)
    return "the same" if result.error is None and finding.verdict is Standing.PASS else f"differ ({finding.evidence})"


def _searched(workload: str, around: dict[str, object]) -> tuple[bool, str]:
    options = brimline.Options(**around)  # type: ignore[arg-type]
    try:
        result = brimline.capacity(workload, preset="quick", overrides={"data.records": RECORDS}, options=options)
    except BrimlineError as error:
        return False, f"{error.message} (exit code {error.exit_code})"
    return result.exit_code in _VERDICTS, f"{result.conclusion.headline} (exit code {result.exit_code})"


@contextmanager
def _server(name: str) -> Iterator[dict[str, object]]:
    """One server of that version, or the set."""
    is_set = name == SET
    words = {"replica_set": 3, "auth": True, "tls": True} if is_set else {"server_version": name}
    with brimline.lab(cache_gb=1.0, **words) as lab:  # type: ignore[arg-type]
        password = {} if lab.password_file is None else {"password": PasswordSource(file=lab.password_file)}
        yield {"uri": lab.uris[0], **password}


if __name__ == "__main__":
    sys.exit(main())
