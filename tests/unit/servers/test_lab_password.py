"""A lab's connection string is all that is needed: its last line, and the password that brimline finds itself."""

import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from brimline.api.import_data import _way_on
from brimline.api.resume import uri_again, way_on
from brimline.cli import lab as words
from brimline.errors import UsageError, redact_uri
from brimline.servers.access import Login
from brimline.servers.lab import lookup
from brimline.servers.lab.lookup import is_user_of_lab, lab_uri
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


def test_a_record_of_ones_own_lab_finds_its_user_again(secured: Lab) -> None:
    """A record holds no user: that of the lab is the one whose password is found."""
    masked = redact_uri(URI)
    assert "brimline" not in masked
    assert lab_uri(masked) == URI
    assert lab_uri(masked.replace("/?", "/shop?")) == URI.replace("/?", "/shop?")
    others = (URI, masked.replace("27999", "27998"), f"mongodb://{ADDRESS}")
    assert [lab_uri(each) for each in others] == [None] * 3
    write_lab(replace(secured, user=None))
    assert lab_uri(masked) is None


def test_the_command_that_goes_on_names_the_server_only_where_it_is_not_found(
    secured: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BRIMLINE_URI", raising=False)

    own = {"user_of_lab": True}

    def command(uri: str | None) -> str:
        write_json(tmp_path / "environment.json", {} if uri is None else {"uri": uri, "server": own})
        return way_on("sweep", tmp_path).partition("; ")[2]

    plain = f"brimline sweep --resume {tmp_path}"
    known = (None, "mongodb://db1:27017", redact_uri(URI))
    assert [command(each) for each in known] == [f"{plain} goes on with it"] * 3
    assert command("mongodb://***@db1:27017/?authSource=admin") == f'{plain} --uri "$URI" goes on with it'
    environment = {"uri": redact_uri(URI), "server": own}
    assert uri_again({**environment, "server": {}}) is None, "somebody else whom the lab knows"
    assert uri_again(environment) == URI
    assert "--uri" not in _way_on(tmp_path, environment)
    assert '--uri "$URI" goes on' in _way_on(tmp_path, {"uri": "mongodb://***@db1"})


def test_a_record_says_whether_the_user_was_the_labs(secured: Lab) -> None:
    login = Login(username="brimline", password="geheim", source="admin")
    assert is_user_of_lab(ADDRESS, login)
    others = (None, replace(login, username="mine"), replace(login, source="shop"))
    assert not any(is_user_of_lab(ADDRESS, each) for each in others)
    assert not is_user_of_lab("127.0.0.1:27998", login)


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
