"""Every command is in the session of its connection, as those of official drivers are: the server's profiler saw it."""

from pathlib import Path

import pytest

import brimline
from brimline.servers import Deployment, control_client

pytestmark = pytest.mark.mongod

CONNECTIONS = 6
MIX = {"operations": {"read": 0.25, "update": 0.25, "insert": 0.25, "scan": 0.25}}


def test_every_command_is_in_a_session(mongod: Deployment, tmp_path: Path) -> None:
    where = {"data.database": "sessions", "data.records": 500}
    asked = {**where, **MIX, "connections": CONNECTIONS, "operation_count": 400, "warmup": "0s"}
    options = brimline.Options(uri=f"mongodb://{mongod.address}", runs_dir=tmp_path)
    with control_client(mongod.address) as client:
        database = client["sessions"]
        try:
            brimline.load("ycsb-a", overrides=where, options=options)
            database.command("profile", 2)
            brimline.run("ycsb-a", overrides=asked, options=options)
            database.command("profile", 0)
            noted = list(database["system.profile"].find({"ns": "sessions.usertable", "appName": None}))
        finally:
            database.command("profile", 0)
            client.drop_database("sessions")
    # Of an update the profiler notes the statement, and no more of its command.
    commands = [each["command"] for each in noted if each["op"] in ("query", "insert")]
    assert len(commands) > 200
    sessions = {bytes(each["lsid"]["id"]) for each in commands}
    assert len(sessions) == CONNECTIONS
    assert all("txnNumber" not in each for each in commands)
