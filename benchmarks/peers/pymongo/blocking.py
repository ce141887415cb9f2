"""PyMongo, blocking: as many threads as connections, each in a plain loop."""

import argparse
import random
import threading
import time

import pymongo
from pymongo.errors import PyMongoError

from benchmarks.peers.protocol import options, say
from benchmarks.peers.pymongo.work import MEASURE, STOP, Records, Tally, Window, fulfilled, next_command, report


def main() -> None:
    """Runs one workload; see ../../README.md."""
    given = options().parse_args()
    records, window = Records(given.records), Window()
    tallies = [Tally(window) for _ in range(given.threads)]
    with pymongo.MongoClient(given.uri) as client:
        collection = client[given.database][given.collection]
        collection.find_one({"_id": ""})
        threads = [
            threading.Thread(target=loop, args=(given, records, collection, random.Random(given.seed + i), tally))
            for i, tally in enumerate(tallies)
        ]
        for thread in threads:
            thread.start()
        say("ready")
        time.sleep(given.warmup_s)
        window.phase = MEASURE
        begin_ns = time.perf_counter_ns()
        say("begin")
        time.sleep(given.measured_s)
        window.phase = STOP
        window_ns = time.perf_counter_ns() - begin_ns
        say("end")
        for thread in threads:
            thread.join()
    report(tallies, window_ns)


def loop(
    given: argparse.Namespace,
    records: Records,
    collection: pymongo.collection.Collection,
    chance: random.Random,
    tally: Tally,
) -> None:
    """One operation after another."""
    while tally.window.phase != STOP:
        command = next_command(given, records, collection, chance)
        sent_ns = time.perf_counter_ns()
        try:
            ok = fulfilled(command())
        except PyMongoError:
            ok = False
        tally.note(sent_ns, given.batch, ok=ok)


if __name__ == "__main__":
    main()
