"""Reads with maxStalenessSeconds on a real set: the member that is too far behind gets none, as its own counter shows.

    python -m benchmarks.staleness

Three members, one of which applies writes an hour later; about two minutes, most of them spent until it is behind by
enough. Exit code 1 when a read reaches a member that it shouldn't, or doesn't reach one that it should.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import brimline
from brimline.servers import control_client
from tests.support.replica_set import Member, replica_set
from tests.support.server import required_mongod

READS = 2_000
BEHIND_S = 90
"""Behind by this much, the news of it being up to 10 s old, a member is too old for 90 s and not for 120 s."""


def main() -> int:
    """Prints how many reads each member had."""
    with (
        tempfile.TemporaryDirectory(prefix="brimline-staleness-") as directory,
        replica_set(required_mongod(), Path(directory) / "set", members=3, delays_s={2: 3600}) as members,
    ):
        uri = f"mongodb://{','.join(member.address for member in members)}/?replicaSet=test"
        _run(uri, Path(directory), data="load")
        while _behind_s(members[0], members[2]) < BEHIND_S:
            time.sleep(1)
        held = True
        for bound_s, readers in ((90, (1,)), (120, (1, 2))):
            before = _queries(members)
            _run(f"{uri}&readPreference=secondary&maxStalenessSeconds={bound_s}", Path(directory), data="as-is")
            reads = [after - was for after, was in zip(_queries(members), before, strict=True)]
            print(f"maxStalenessSeconds={bound_s}: reads of primary, secondary, delayed secondary: {reads}")
            # Members ask each other a little by themselves.
            held = held and all((count > READS // 4) == (place in readers) for place, count in enumerate(reads))
    return 0 if held else 1


def _run(uri: str, directory: Path, *, data: str) -> None:
    overrides = {"data.records": 1000, "operation_count": READS, "warmup": "0s", "connections": 8}
    options = brimline.Options(uri=uri, data=data, runs_dir=directory / "runs")  # type: ignore[arg-type]
    result = brimline.run("ycsb-c", overrides=overrides, options=options)
    if result.error is not None and result.exit_code != 4:
        raise result.error


def _queries(members: Sequence[Member]) -> list[int]:
    found = []
    for member in members:
        with control_client(member.address) as client:
            found.append(int(client.admin.command("serverStatus")["opcounters"]["query"]))
    return found


def _behind_s(primary: Member, other: Member) -> float:
    written: list[datetime] = []
    for member in (primary, other):
        with control_client(member.address) as client:
            written.append(client.admin.command("hello")["lastWrite"]["lastWriteDate"])
    return (written[0] - written[1]).total_seconds()


if __name__ == "__main__":
    sys.exit(main())
