"""What `brimline ui` says before it serves anything."""

import socket
from importlib import util

import pytest

from brimline.cli import ui
from tests.support.command_line import CommandLine


def test_without_its_extra_there_is_one_error_that_says_how_to_get_it(
    brimline_cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ui, "find_spec", lambda name: None if name == "uvicorn" else util.find_spec(name))
    outcome = brimline_cli.run("ui")
    outcome.check_error(2, "needs uvicorn", "pip install 'brimline[ui]', or in a source tree: make ui")


@pytest.mark.parametrize("port", ["99999", "-1"])
def test_a_port_that_is_none_is_refused(port: str, brimline_cli: CommandLine) -> None:
    pytest.importorskip("uvicorn")
    brimline_cli.run("ui", "--port", port).check_error(2, "can't listen on 127.0.0.1", "--port; 0 is any that is free")


def test_a_port_that_somebody_has_is_refused(brimline_cli: CommandLine) -> None:
    pytest.importorskip("uvicorn")
    with socket.create_server(("127.0.0.1", 0)) as other:
        brimline_cli.run("ui", "--port", str(other.getsockname()[1])).check_error(2, "can't listen", "in use")
