"""A server of a lab is recognised by its address, as long as it runs."""

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from brimline.api.workplace import target_on
from brimline.plan import WireTarget
from brimline.servers.deployment import Client, inspect_deployment
from brimline.servers.lab.lookup import lab_facts, lab_server
from brimline.servers.lab.state import LabServer, claim, labs_directory, write_lab
from brimline.servers.processes import ProcessIdentity, identify
from brimline.spec import load_spec

LINE = {"delay_ns": 5_000_000, "rate_bit_per_s": None, "between": "clients"}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state file of the first server of a lab of two, behind 127.0.0.1:5001; it is this process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lab = claim(labs_directory(), name="far", topology="replica set", outlives=True)
    servers = tuple(
        LabServer(address=f"127.0.0.1:500{number}", behind=f"127.0.0.1:400{number}", role="member", set_name="far")
        for number in (1, 2)
    )
    settings = {"network": LINE, "cpu_share": 0.5, "cpus": [], "small": False, "cache_gb": 0.25}
    write_lab(replace(lab, servers=servers, settings=settings))
    state = lab.directory_of(servers[0]) / "server.json"
    state.parent.mkdir()
    _runs_as(state, identify(os.getpid()))
    return state


def _runs_as(state: Path, process: ProcessIdentity | None) -> None:
    assert process is not None
    state.write_text(json.dumps({"process": asdict(process)}))


def test_a_record_says_what_lab_its_server_belongs_to(server: Path) -> None:
    found = lab_server("localhost:5001")
    assert found is not None
    assert (found[0].name, found[1].behind) == ("far", "127.0.0.1:4001")
    assert lab_facts(found[0]) == {
        "topology": "replica set", "servers": 2, "members": 2, "network": LINE, "cpu_share": 0.5, "cache_gb": 0.25,
    }  # fmt: skip


def test_a_server_is_asked_once_of_which_lab_it_is_a_part(server: Path) -> None:
    """A line of that lab lies between, though the server's process is on this machine."""
    answers = {"buildInfo": {"version": "6.0.5"}, "serverStatus": {"pid": os.getpid()}}
    client = cast(Client, SimpleNamespace(admin=SimpleNamespace(command=lambda name: answers.get(name, {}))))
    found = inspect_deployment(client, address="127.0.0.1:5001", uri_redacted="mongodb://127.0.0.1:5001")
    assert found.lab is not None and found.lab["network"] == LINE
    spec = load_spec("ycsb-c").spec
    for lab, is_beside in ((found.lab, False), ({"topology": "replica set"}, True), (None, True)):
        target = target_on(spec, replace(found, local=True, lab=lab))
        assert isinstance(target, WireTarget) and target.beside_server is is_beside


@pytest.mark.parametrize("address", ["127.0.0.1:4001", "127.0.0.1:5002", "db.example.org:5001", "[::1]:5001"])
def test_others_belong_to_none(server: Path, address: str) -> None:
    assert lab_server(address) is None


def test_a_port_that_is_another_s_by_now_belongs_to_none(server: Path) -> None:
    _runs_as(server, ProcessIdentity(pid=2**22 - 3, start_ticks=1, executable="/gone"))
    assert lab_server("127.0.0.1:5001") is None
