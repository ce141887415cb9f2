"""Owns the part of a sharded cluster that is more than replica sets: its mongos, and the shards it is told of."""

import time
from collections.abc import Callable
from pathlib import Path

from pymongo.errors import OperationFailure, PyMongoError

from brimline.errors import TargetError, UsageError
from brimline.servers.binary import ServerBinary, version_number
from brimline.servers.lab.access import lab_client
from brimline.servers.lab.state import Lab, LabServer

_LOOK_S = 0.2


def require_mongos(mongos: Path | None, *, mongod: ServerBinary) -> Path:
    """A mongos of the same release as the mongod. Raises UsageError, TargetError where it can't be run."""
    if mongos is None:
        raise UsageError(
            "a sharded cluster needs mongos, and there is none: it is not on PATH, and no package brings one",
            hint="give --mongos FILE; without one, client-routed shards are what can be had (lab up --client-routed N, "
            "--topology client-routed-N): N independent servers among which the client routes, with no router and no "
            "balancing",
        )
    router, server = version_number(ServerBinary(path=mongos, source="flag")), version_number(mongod)
    if not router[:1].isdigit():
        raise UsageError(f"--mongos: {mongos} doesn't say which version it is", hint="give the path of a real mongos")
    if _release(router) != _release(server):
        raise UsageError(
            f"mongos is {router} and mongod is {server}: a cluster needs the same release of both",
            hint=f"give --server-version {_release(router)}, or --mongod and --mongos of one release",
        )
    return mongos


def add_shards(
    lab: Lab, router: LabServer, shards: dict[str, list[str]], *, until: float, meanwhile: Callable[[], None]
) -> None:
    """Tells the mongos of its shards, by set name. Raises TargetError when it refuses or the deadline passes."""
    while True:
        meanwhile()
        try:
            with lab_client(lab, router.address) as client:
                if client.admin.command("hello").get("msg") != "isdbgrid":
                    raise TargetError(
                        f"what runs at {router.address} is not a mongos", hint="give --mongos FILE of a real one"
                    )
                for set_name, addresses in shards.items():
                    client.admin.command("addShard", f"{set_name}/{','.join(addresses)}")
            return
        except OperationFailure as error:
            reason = str((error.details or {}).get("errmsg", error.code))
        except PyMongoError as error:
            reason = type(error).__name__
        if time.monotonic() > until:
            raise TargetError(
                f"the mongos doesn't take its shards: {reason}",
                hint="see that mongos and mongod are of one release, or give a longer --deadline",
            )
        time.sleep(_LOOK_S)


def _release(version: str) -> str:
    return ".".join(version.split(".")[:2])
