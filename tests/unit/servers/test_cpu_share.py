"""What a server's share of the processors is in its control group, of either version."""

import os
from pathlib import Path

import pytest

from brimline.servers.lab import cpu_share


@pytest.mark.parametrize("first", [False, True], ids=["cgroup 2", "cgroup 1"])
def test_half_a_processor_is_half_of_each_period(first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_share, "_ROOT", tmp_path)
    monkeypatch.setattr(cpu_share, "family", lambda pid: [pid])
    if first:
        (tmp_path / "cpu").mkdir()
    lab = tmp_path / "labs" / "mine"
    cpu_share.hold(lab, server="2", pid=os.getpid(), share=0.5)
    group = tmp_path / ("cpu" if first else "") / cpu_share.group_name(lab, "2")
    assert (group / "cgroup.procs").read_text() == str(os.getpid())
    if first:
        assert (group / "cpu.cfs_quota_us").read_text() == "50000"
        assert (group / "cpu.cfs_period_us").read_text() == "100000"
    else:
        assert (group / "cpu.max").read_text() == "50000 100000"
