"""What befalls a real server of a lab: it is away, and it is back as it was."""

from pathlib import Path

import pytest

import brimline
from brimline.servers import external
from brimline.servers.faults.fault import fault_on, parse_fault
from brimline.servers.faults.site import site_of
from tests.support.server import required_mongod
from tests.support.waiting import eventually

pytestmark = pytest.mark.mongod


def test_a_server_that_a_fault_takes_away_is_there_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    required_mongod()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with brimline.lab(small=True) as lab:
        site = site_of(external(lab.uri_file.read_text().strip()))
        for name, is_paused in (("pause", True), ("kill", False), ("stop", False)):
            fault, before = fault_on(parse_fault(name), site, alone=True), site.process
            fault.do()
            assert eventually(lambda pid=before.pid: _is_paused(pid)) if is_paused else not site.is_whole
            fault.undo()
            assert site.await_whole(30.0)
            assert (site.process == before) == is_paused


def _is_paused(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
