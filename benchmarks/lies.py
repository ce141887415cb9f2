"""Lies to brimline by the seeds that are asked for, and holds that nothing but an ordinary error ever comes of it.

    python -m benchmarks.lies [--first 0] [--seeds 300] [--at-once 6] [--patient] [--uri HOST:PORT]

Each seed is a lie about the answers to one command, or to all, told to a real `run`, `import`, `scan` or `stat`. A line
for each that is not survived; exit code 1 when there is one. `--patient` tells those as well that take a client its
longest waits. Without `--uri` a mongod is started.
"""

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from brimline.servers import bundled
from tests.support.lied_to import Case, Ended, case_of, lied_to
from tests.support.server import required_mongod

_PATIENT_S = 600.0


def main() -> int:
    """Prints what was not survived, and how many were told."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=6)
    parser.add_argument("--patient", action="store_true")
    parser.add_argument("--uri", help="a server that tells the truth")
    arguments = parser.parse_args()
    cases = [case_of(seed) for seed in range(arguments.first, arguments.first + arguments.seeds)]
    told = [case for case in cases if arguments.patient or not case.lie.keeps_waiting]
    failed = 0
    with _truth(arguments.uri) as truth, ThreadPoolExecutor(arguments.at_once) as pool:
        for case, ended in zip(told, pool.map(lambda case: _tell(case, truth), told), strict=True):
            if ended.wrongs:
                failed += 1
                sys.stdout.write(f"{case}: {'; '.join(ended.wrongs)}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{len(told)} lies told, {failed} not survived\n")
    return 1 if failed else 0


def _tell(case: Case, truth: str) -> Ended:
    return lied_to(case, truth, within_s=_PATIENT_S) if case.lie.keeps_waiting else lied_to(case, truth)


@contextmanager
def _truth(uri: str | None) -> Iterator[str]:
    if uri is not None:
        yield uri.removeprefix("mongodb://").strip("/")
        return
    with (
        TemporaryDirectory(prefix="brimline-lies-") as directory,
        bundled(binary=required_mongod(), directory=Path(directory), cache_gb=0.25) as deployment,
    ):
        yield deployment.address


if __name__ == "__main__":
    sys.exit(main())
