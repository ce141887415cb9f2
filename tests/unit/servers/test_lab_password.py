"""A lab's connection string is all that is needed: its last line, and the password that brimline finds itself."""

import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from brimline.cli import lab as words
from brimline.errors import UsageError
from brimline.servers.lab import lookup
from brimline.servers.lab.state import Lab, LabServer, claim, write_lab
from brimline.servers.processes import identify
from brimline.servers.state import write_json
from brimline.servers.uri import parse_server_uri

ADDRESS = "127.0.0.1:27999"
URI = f"mongodb://brimline@{ADDRESS}/?authSource=admin"


@pytest.fixture
def secured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab with access control whose server is this process."""
    monkeypatch.delenv("BRIMLINE_PASSWORD", raising=False)
    lab = claim(tmp_path, name="one", topology="standalone", outlives=True)
    server = LabServer(address=ADDRESS, role="standalone")
    lab = replace(lab, phase="up", servers=(server,), user="brimline", uris=(URI,))
    write_lab(lab)
    (lab.secret / "password").write_text("geheim")
    process = identify(os.getpid())
    assert process is not None
    lab.directory_of(server).mkdir()
    write_json(lab.directory_of(server) / "server.json", {"process": asdict(process)})
    monkeypatch.setattr(lookup, "labs_directory", lambda: tmp_path)
    return lab


def test_the_password_of_ones_own_lab_is_found(secured: Lab) -> None:
    login = parse_server_uri(URI).access.login
    assert login is not None
    assert login.password == "geheim"


@pytest.mark.parametrize("seeds", ["127.0.0.1:27998,127.0.0.1:27999", "127.0.0.1:27999,127.0.0.1:27998"])
def test_it_is_found_whichever_member_has_ended(secured: Lab, seeds: str) -> None:
    """The first of the string had ended, and there was no password."""
    write_lab(replace(secured, servers=(*secured.servers, LabServer(address="127.0.0.1:27998", role="member"))))
    login = parse_server_uri(f"mongodb://brimline@{seeds}/?replicaSet=one&authSource=admin").access.login
    assert login is not None and login.password == "geheim"


@pytest.mark.parametrize(
    "uri",
    [
        URI.replace("brimline@", "other@"),
        URI.replace("27999", "27998"),
        URI.replace("27999/?", "27999,127.0.0.1:27998/?replicaSet=one&"),
        URI.replace("27999/?", "27999,db1:27999/?replicaSet=one&"),
    ],
)
def test_that_of_another_user_or_server_is_not(secured: Lab, uri: str) -> None:
    with pytest.raises(UsageError, match="there is no password"):
        parse_server_uri(uri)


def test_what_was_given_comes_first(secured: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIMLINE_PASSWORD", "given")
    login = parse_server_uri(URI).access.login
    assert login is not None
    assert login.password == "given"


@pytest.mark.parametrize("arguments", [["status", "one"], ["uri", "one"]])
def test_the_last_line_is_the_connection_string(
    secured: Lab, monkeypatch: pytest.MonkeyPatch, arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(words, "lab_status", lambda _: (replace(secured, tls=True), []))
    told = CliRunner().invoke(words.app, arguments).stdout + capfd.readouterr().out
    assert told.splitlines()[-1] == URI
    assert "geheim" not in told
