"""Kills an import at random instants and goes on with it each time: in the end every row must be there once.

    python -m benchmarks.import_kills [--kills 20] [--rows 2M] [--seed 1]

The rows have no `_id`, so that a row that came twice would be there twice. An import that ends before it was killed
often enough is begun anew. Exit code 1 when a row is missing or there twice.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from brimline.dataset.access import DataDatabase
from brimline.servers import bundled, control_client
from brimline.units import format_count, parse_count

DELAY_S = (0.3, 2.0)
"""Between an import's start, which takes half a second, and its death."""
ATTEMPTS_MAX = 10
"""Imports that ended before they were killed."""
COMMAND_WITHIN_S = 300.0


def main() -> int:
    """Prints a line per import that went to its end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rows", type=parse_count, default=2_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random_instants = random.Random(arguments.seed)
    kills, wrong = 0, 0
    with tempfile.TemporaryDirectory(prefix="brimline-kills-") as place, bundled(cache_gb=0.5) as server:
        directory = Path(place)
        rows = directory / "rows.csv"
        with rows.open("w") as out:
            out.write("serial,text\n")
            out.writelines(f"{serial},{'some text of a row ' * 4}\n" for serial in range(arguments.rows))
        with control_client(server.address, command_timeout_s=COMMAND_WITHIN_S) as client:
            for number in range(ATTEMPTS_MAX):
                if kills >= arguments.kills:
                    break
                words = ("--headerline", "--uri", f"mongodb://{server.address}", "-d", "kills", "-c", "rows", "--drop")
                deaths = _import(
                    directory / f"runs-{number}", (str(rows), *words), random_instants, arguments.kills - kills
                )
                kills += deaths
                missing, doubled = _missing_and_doubled(client["kills"], arguments.rows)
                print(f"killed {deaths} times: {format_count(missing)} rows missing, {format_count(doubled)} twice")
                wrong += missing + doubled
    print(f"{kills} kills of {arguments.kills}, {format_count(wrong)} rows wrong")
    return 0 if kills >= arguments.kills and wrong == 0 else 1


def _import(runs: Path, words: Sequence[str], instants: random.Random, kills_max: int) -> int:
    """One import with all its deaths. Returns how often it was killed."""
    kills = 0
    while True:
        process = subprocess.Popen(
            [sys.executable, "-m", "brimline", "import", *words, "--runs-dir", str(runs), "-q"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        delay_s = instants.uniform(*DELAY_S) if kills < kills_max else COMMAND_WITHIN_S
        try:
            code = process.wait(timeout=delay_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
        else:
            if code != 0:
                raise SystemExit(f"the import ended with {code}")
            return kills
        # One that had not begun to record has nothing to go on with.
        if any(runs.glob("*-import-*/record.json")):
            words = ("--resume", "latest")


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
