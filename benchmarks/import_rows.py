"""What an import costs: a million rows as CSV beside the same documents pre-encoded, in one run against one mongod.

    make bench-import
    make bench-import ARGUMENTS='--rows 200000'
    make bench-import ARGUMENTS='--memory-gb 5'      # peak memory of a large file instead; needs twice that on disk

The rows are those of the field reports: long, int, date, a string of 200 bytes, double. They go in by turns, several
rounds, with the same write concern: the CSV with typed columns, the same documents encoded beforehand and sent by a
loop that does nothing else (`bare_insert.py`), as a BSON dump, and, where it is on PATH, by mongoimport. Gates: the
client's CPU per row is at most a quarter of the server's, the rate at least 85 % of the bare loop's, the collection
afterwards is what Python's own csv module makes of the file, and the rate is at least four times mongoimport's.
"""

import argparse
import csv
import hashlib
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import bson
import pymongo
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument

from benchmarks.bare_insert import encoded, send
from brimline.servers import bundled, find_mongod

FIELDS = "k.int64(),n.int32(),at.date(2006-01-02T15:04:05Z),s.string(),d.double()"
NAMES = ("k", "n", "at", "s", "d")
CONCERN = "majority"
RATIO_CPU_MAX = 0.25
RATIO_RATE_MIN = 0.85
RATIO_PEER_MIN = 4.0
MEMORY_MB_MAX = 200
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


def main() -> None:
    """Prints a line per import and the ratios; exit code 3 when one of them misses its gate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory-gb", type=float, default=0.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="brimline-import-") as name:
        directory = Path(name)
        if options.memory_gb:
            sys.exit(memory(directory, options.memory_gb))
        sys.exit(rates(directory, options.rows, options.rounds))


def rates(directory: Path, rows: int, rounds: int) -> int:
    """Imports both files by turns; the exit code."""
    write_rows(directory, rows)
    expected = hash_of(from_csv(directory / "rows.csv"))
    size_mb = (directory / "rows.csv").stat().st_size / 1e6
    print(f"{rows:,} rows, {size_mb:.0f} MB of CSV, write concern {CONCERN}, one mongod")
    print(f"{'':14}{'rows/s':>10}{'client µs/row':>15}{'server µs/row':>15}{'peak MB':>10}")
    seen: dict[str, list[dict[str, float]]] = {"CSV": [], "bare loop": [], "BSON": [], "mongoimport": []}
    same = True
    with bundled(binary=find_mongod(), cache_gb=1.0) as server:
        uri = f"mongodb://{server.address}"
        for number in range(rounds):
            ways = ["CSV", "bare loop", "BSON"] if number % 2 == 0 else ["BSON", "bare loop", "CSV"]
            for way in [*ways, *(["mongoimport"] if shutil.which("mongoimport") else [])]:
                figures = run(way, directory, uri, rows)
                seen[way].append(figures)
                show(way, figures)
                if number == 0:
                    same &= hash_of(from_server(uri)) == expected
    return judge(seen, same=same)


def show(way: str, figures: dict[str, float]) -> None:
    """A line of the table."""
    cpu = "".join(f"{figures[name]:>15.2f}" if name in figures else f"{'':15}" for name in ("client_us", "server_us"))
    peak = f"{figures['peak_mb']:>10.0f}" if "peak_mb" in figures else ""
    print(f"{way:14}{figures['rate']:>10,.0f}{cpu}{peak}", flush=True)


def judge(seen: dict[str, list[dict[str, float]]], *, same: bool) -> int:
    """Prints the ratios, medians over the rounds, and whether they hold; the exit code."""
    cpu = statistics.median(each["client_us"] / each["server_us"] for each in seen["CSV"])
    pairs = zip(seen["CSV"], seen["bare loop"], strict=True)
    rate = statistics.median(csv_["rate"] / bare["rate"] for csv_, bare in pairs)
    claims = [
        (f"client CPU per row is {cpu:.2f} of the server's (at most {RATIO_CPU_MAX})", cpu <= RATIO_CPU_MAX),
        (
            f"CSV goes in at {rate:.2f} of the rate of documents encoded beforehand (at least {RATIO_RATE_MIN})",
            rate >= RATIO_RATE_MIN,
        ),
        ("the collection holds what Python's csv module makes of the file", same),
    ]
    if seen["mongoimport"]:
        pairs = zip(seen["CSV"], seen["mongoimport"], strict=True)
        peer = statistics.median(own["rate"] / other["rate"] for own, other in pairs)
        claims.append((f"{peer:.1f} times mongoimport's rate (at least {RATIO_PEER_MIN:.0f})", peer >= RATIO_PEER_MIN))
    for text, holds in claims:
        print(f"{'met' if holds else 'MISSED'}: {text}")
    return 0 if all(holds for _, holds in claims) else 3


def run(way: str, directory: Path, uri: str, rows: int) -> dict[str, float]:
    """Imports one file into an emptied collection."""
    if way == "mongoimport":
        return run_mongoimport(directory, uri, rows)
    if way == "bare loop":
        return run_bare(directory, uri, rows)
    typed = ["--columnsHaveTypes", "-f", FIELDS]
    what = [directory / "rows.csv", *typed] if way == "CSV" else [directory / "rows.bson"]
    document, peak_mb = brimline_import(directory, uri, what)
    return {
        "rate": document["documents_per_s"],
        "client_us": document["client_cpu_ns_per_document"] / 1e3,
        "server_us": document["server_cpu_ns_per_document"] / 1e3,
        "peak_mb": peak_mb,
    }


def brimline_import(directory: Path, uri: str, what: Iterable[object]) -> tuple[dict[str, Any], float]:
    """What the report says, and the peak memory of the process."""
    at = ["--uri", uri, "-d", "bench", "-c", "rows", "--drop", "--writeConcern", CONCERN]
    command = ["-m", "brimline", "import", *what, *at, "-q", "--json", "--runs-dir", directory / "runs"]
    process = subprocess.Popen([sys.executable, *map(str, command)], stdout=subprocess.PIPE)
    peak_kb = 0
    while process.poll() is None:
        peak_kb = max(peak_kb, _peak_kb(process.pid))
        time.sleep(0.05)
    if process.returncode != 0 or process.stdout is None:
        sys.exit("error: the import failed")
    return json.loads(process.stdout.read()), peak_kb * 1024 / 1e6


def _peak_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def run_mongoimport(directory: Path, uri: str, rows: int) -> dict[str, float]:
    """Its rate at as many workers as brimline has connections."""
    at = ["--uri", uri, "-d", "bench", "-c", "rows", "--drop", "--writeConcern", CONCERN, "-j", "4"]
    what = ["--type", "csv", "--columnsHaveTypes", "--fields", FIELDS, "--file", str(directory / "rows.csv")]
    began = time.monotonic()
    subprocess.run(["mongoimport", *at, *what], check=True, capture_output=True)
    return {"rate": rows / (time.monotonic() - began)}


def run_bare(directory: Path, uri: str, rows: int) -> dict[str, float]:
    """The rate of the bare loop. Commands are encoded before its clock starts; the collection is new."""
    with (directory / "rows.bson").open("rb") as dump:
        documents = (each.raw for each in bson.decode_file_iter(dump, CodecOptions(document_class=RawBSONDocument)))
        messages = encoded(documents, database="bench", collection="rows", concern=CONCERN)
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        client["bench"]["rows"].drop()
        client["bench"].create_collection("rows")
    inserted, elapsed_s = send(uri.removeprefix("mongodb://"), messages)
    if inserted != rows:
        sys.exit(f"error: the bare loop inserted {inserted:,} of {rows:,} rows")
    return {"rate": rows / elapsed_s}


def write_rows(directory: Path, rows: int) -> None:
    """`rows.csv` and `rows.bson`: the same rows."""
    with (directory / "rows.csv").open("w", newline="") as text, (directory / "rows.bson").open("wb") as dump:
        out = csv.writer(text, lineterminator="\n")
        for row in made(rows):
            out.writerow([f"{row['at']:%Y-%m-%dT%H:%M:%SZ}" if name == "at" else row[name] for name in NAMES])
            dump.write(bson.encode(row))


def made(rows: int) -> Iterator[dict[str, Any]]:
    """The rows."""
    chance = random.Random(1)
    first = datetime(2020, 1, 1, tzinfo=UTC)
    text = "".join(chance.choices(_ALPHABET, k=100_000))
    for number in range(rows):
        at = chance.randrange(len(text) - 200)
        yield {
            "k": bson.Int64(10_000_000_000 + number),
            "n": chance.randrange(1_000_000),
            "at": first + timedelta(seconds=number),
            "s": text[at : at + 200],
            "d": round(chance.uniform(0, 1e6), 4),
        }


def from_csv(path: Path) -> Iterator[bytes]:
    """The documents as Python's csv module reads the file."""
    with path.open(newline="") as text:
        for key, number, at, string, double in csv.reader(text):
            moment = datetime.strptime(at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
            values = (bson.Int64(key), int(number), moment, string, float(double))
            yield bson.encode(dict(zip(NAMES, values, strict=True)))


def from_server(uri: str) -> Iterator[bytes]:
    """The documents of the collection, sorted by their key, without `_id`."""
    with pymongo.MongoClient[dict[str, Any]](uri, tz_aware=True) as client:
        rows = client["bench"]["rows"]
        rows.create_index("k")
        for document in rows.find({}, {"_id": 0}).sort("k", 1):
            yield bson.encode(document)


def hash_of(documents: Iterable[bytes]) -> str:
    """SHA-256 of documents in a row."""
    digest = hashlib.sha256()
    for document in documents:
        digest.update(document)
    return digest.hexdigest()


def memory(directory: Path, size_gb: float) -> int:
    """Peak memory of an import of so many GB of CSV; the exit code."""
    write_rows(directory, 100_000)
    (directory / "rows.bson").unlink()
    piece = (directory / "rows.csv").read_bytes()
    repeats = int(size_gb * 1e9 / len(piece))
    with (directory / "rows.csv").open("ab") as out:
        for _ in range(repeats):
            out.write(piece)
    with bundled(binary=find_mongod(), cache_gb=1.0) as server:
        what = [directory / "rows.csv", "--columnsHaveTypes", "-f", FIELDS]
        document, peak_mb = brimline_import(directory, f"mongodb://{server.address}", what)
    read = document["counts"]["read"]
    holds = peak_mb < MEMORY_MB_MAX and read == (repeats + 1) * 100_000
    print(f"{size_gb:.1f} GB, {read:,} rows, {document['documents_per_s']:,.0f} rows/s: peak {peak_mb:.0f} MB")
    print(f"{'met' if holds else 'MISSED'}: less than {MEMORY_MB_MAX} MB")
    return 0 if holds else 3


if __name__ == "__main__":
    main()
