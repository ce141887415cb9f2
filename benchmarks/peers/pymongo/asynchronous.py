"""PyMongo, asynchronous: as many tasks as connections, each in a plain loop."""

import argparse
import asyncio
import random
import time

import pymongo
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import PyMongoError

from benchmarks.peers.protocol import options, say
from benchmarks.peers.pymongo.work import MEASURE, STOP, Records, Tally, Window, fulfilled, next_command, report


async def main() -> None:
    """Runs one workload; see ../../README.md."""
    given = options().parse_args()
    records, window = Records(given.records), Window()
    tallies = [Tally(window) for _ in range(given.threads)]
    async with pymongo.AsyncMongoClient(given.uri) as client:
        collection = client[given.database][given.collection]
        await collection.find_one({"_id": ""})
        tasks = [
            asyncio.create_task(loop(given, records, collection, random.Random(given.seed + i), tally))
            for i, tally in enumerate(tallies)
        ]
        say("ready")
        await asyncio.sleep(given.warmup_s)
        window.phase = MEASURE
        begin_ns = time.perf_counter_ns()
        say("begin")
        await asyncio.sleep(given.measured_s)
        window.phase = STOP
        window_ns = time.perf_counter_ns() - begin_ns
        say("end")
        await asyncio.gather(*tasks)
    report(tallies, window_ns)


async def loop(
    given: argparse.Namespace, records: Records, collection: AsyncCollection, chance: random.Random, tally: Tally
) -> None:
    """One operation after another."""
    while tally.window.phase != STOP:
        command = next_command(given, records, collection, chance)
        sent_ns = time.perf_counter_ns()
        try:
            ok = fulfilled(await command())
        except PyMongoError:
            ok = False
        tally.note(sent_ns, given.batch, ok=ok)


if __name__ == "__main__":
    asyncio.run(main())
