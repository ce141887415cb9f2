"""brimline import from a server that steps down or shuts down: the error says so, and how to go on."""

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.scripted_server import scripted_server


@pytest.mark.parametrize(
    ("code", "name"), [(10_107, "NotWritablePrimary"), (11_602, "InterruptedDueToReplStateChange")]
)
def test_a_server_that_steps_down(brimline_cli: CommandLine, tmp_path: Path, code: int, name: str) -> None:
    (tmp_path / "rows.csv").write_text("_id,b\n" + "".join(f"{number},x\n" for number in range(5_000)))
    fault = {"when": {"at_request": 3}, "kind": {"error": {"code": code, "name": name}}}
    with scripted_server({"data": {"kind": "stored"}, "namespace": "left.c", "faults": [fault]}) as server:
        at = ("--uri", server.uri, "-d", "left", "-c", "c", "-j", "1", "--batchSize", "500")
        outcome = brimline_cli.run("import", tmp_path / "rows.csv", "--headerline", *at, "-q", "--json")
        outcome.check_error(
            5, "the server shuts down, or is the primary no more", "0 records were rejected", "--resume"
        )
