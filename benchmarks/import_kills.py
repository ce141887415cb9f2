"""Kills an import, or its server, at random instants and goes on each time: in the end every row must be there once.

    python -m benchmarks.import_kills [--server] [--kills 20] [--rows 2M] [--seed 1]

The rows have no `_id`, so that a row that came twice would be there twice. An import that ends before enough was killed
is begun anew. With `--server` it is the mongod that is killed, as `kill -9` does, and started again with the same data:
the import waits for it, every second one with a write concern that doesn't wait for the journal, so that acknowledged
rows are lost. Exit code 1 when a row is missing or there twice.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from brimline.dataset.access import DataDatabase
from brimline.record.data_import import read_import
from brimline.servers import bundled, control_client
from brimline.units import format_count, parse_count
from tests.support.own_mongod import OwnMongod

DELAY_S = (0.3, 2.0)
"""Between an import's start, which takes half a second, or that of its server, and a death."""
IMPORTS_MAX = 10
"""Imports that may end before enough was killed."""
COMMAND_WITHIN_S = 300.0
SERVER_LOST = 5
"""brimline's exit code: the server died where it is not waited for: before the first record, or in the last count."""
CONCERNS = ("majority", "{w: 1, j: false}")


@dataclass(frozen=True, slots=True)
class Victim:
    """What is killed. `kill` takes the running import and leaves everything so that it can go on."""

    address: str
    kill: Callable[[subprocess.Popen[bytes]], None]
    words: Sequence[str] = ()


def main() -> int:
    """Prints a line per import that went to its end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", action="store_true")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rows", type=parse_count, default=2_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    instants = random.Random(arguments.seed)
    kills, wrong = 0, 0
    with tempfile.TemporaryDirectory(prefix="brimline-kills-") as place:
        directory = Path(place)
        rows = directory / "rows.csv"
        with rows.open("w") as out:
            out.write("serial,text\n")
            out.writelines(f"{serial},{'some text of a row ' * 4}\n" for serial in range(arguments.rows))
        with (_server if arguments.server else _import_itself)(directory) as victim:
            for number in range(IMPORTS_MAX):
                if kills >= arguments.kills:
                    break
                runs = directory / f"runs-{number}"
                concern = CONCERNS[number % 2] if arguments.server else CONCERNS[0]
                deaths = _import(runs, rows, concern, victim, instants, arguments.kills - kills)
                kills += deaths
                with control_client(victim.address, command_timeout_s=COMMAND_WITHIN_S) as client:
                    missing, doubled = _missing_and_doubled(client["kills"], arguments.rows)
                attempts = read_import(next(runs.glob("*-import-*"))).state.attempts
                print(
                    f"killed {deaths} times, {attempts} attempts, write concern {concern}: "
                    f"{format_count(missing)} rows missing, {format_count(doubled)} twice"
                )
                wrong += missing + doubled
    print(f"{kills} kills of {arguments.kills}, {format_count(wrong)} rows wrong")
    return 0 if kills >= arguments.kills and wrong == 0 else 1


@contextmanager
def _import_itself(_: Path) -> Iterator[Victim]:
    def kill(process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()

    with bundled(cache_gb=0.5) as server:
        yield Victim(server.address, kill)


@contextmanager
def _server(directory: Path) -> Iterator[Victim]:
    with OwnMongod.running(directory / "db") as server:

        def kill(_: subprocess.Popen[bytes]) -> None:
            server.kill()
            server.start()

        yield Victim(server.uri.removeprefix("mongodb://"), kill, ("--wait-for-server", "60s"))


def _import(runs: Path, rows: Path, concern: str, victim: Victim, instants: random.Random, kills_max: int) -> int:
    """One import with all the deaths that befall it. Returns how many these were."""
    at = ("--uri", f"mongodb://{victim.address}", "-d", "kills", "-c", "rows", "--drop", "--writeConcern", concern)
    process = _start(runs, (str(rows), "--headerline", *at), victim)
    kills = 0
    while True:
        delay_s = instants.uniform(*DELAY_S) if kills < kills_max else COMMAND_WITHIN_S
        try:
            code: int | None = process.wait(timeout=delay_s)
        except subprocess.TimeoutExpired:
            victim.kill(process)
            kills += 1
            code = process.poll()
        if code == 0:
            return kills
        if code is None:
            continue
        if code not in (-9, SERVER_LOST):
            raise SystemExit(f"the import ended with {code}")
        # One that had not begun to record has nothing to go on with.
        is_recorded = any(runs.glob("*-import-*/record.json"))
        process = _start(runs, ("--resume", "latest") if is_recorded else (str(rows), "--headerline", *at), victim)


def _start(runs: Path, words: Sequence[str], victim: Victim) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "brimline", "import", *words, *victim.words, "--runs-dir", str(runs), "-q"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def _missing_and_doubled(database: DataDatabase, rows: int) -> tuple[int, int]:
    """Counted by the server: rows that are not there, and documents beyond one a row."""
    count = database["rows"].count_documents({})
    groups = database["rows"].aggregate([{"$group": {"_id": "$serial"}}, {"$count": "n"}], allowDiskUse=True)
    distinct = int(next(iter(groups), {"n": 0})["n"])
    return rows - distinct, count - distinct


if __name__ == "__main__":
    begun_s = time.monotonic()
    exit_code = main()
    print(f"{time.monotonic() - begun_s:.0f} s")
    sys.exit(exit_code)
