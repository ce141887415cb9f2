"""How many CPUs a process may use, from files of a known content."""

import os
from pathlib import Path

import pytest

from brimline.monitor.cpu_allowance import cpu_allowance

V1 = "32 31 0:29 {mounted} /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
V2 = "33 31 0:30 {mounted} /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"
OTHER = "30 23 0:5 / /proc rw - proc proc rw\n"


def process(root: Path, *, allowed: str, cgroup: str = "", mountinfo: str = "") -> None:
    directory = root / "proc" / "7"
    directory.mkdir(parents=True)
    (directory / "status").write_text(f"Name:\tmongod\nCpus_allowed:\tff\nCpus_allowed_list:\t{allowed}\n")
    (directory / "cgroup").write_text(cgroup)
    (directory / "mountinfo").write_text(OTHER + mountinfo)


def group(root: Path, path: str, **files: str) -> None:
    directory = root / "sys/fs/cgroup" / path
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name.replace("__", ".")).write_text(text + "\n")


@pytest.mark.parametrize(("allowed", "count"), [("0-7", 8), ("3", 1), ("0-1,4,6-7", 5)])
def test_affinity(allowed: str, count: int, tmp_path: Path) -> None:
    process(tmp_path, allowed=allowed)
    assert cpu_allowance(7, root=tmp_path) == count


def test_quota_of_cgroup_1(tmp_path: Path) -> None:
    process(
        tmp_path, allowed="0-7", cgroup="4:cpu,cpuacct:/db/one\n3:memory:/other\n", mountinfo=V1.format(mounted="/")
    )
    group(tmp_path, "cpu/db/one", cpu__cfs_quota_us="30000", cpu__cfs_period_us="100000")
    group(tmp_path, "cpu/db", cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000")
    assert cpu_allowance(7, root=tmp_path) == pytest.approx(0.3)


def test_quota_of_cgroup_2_and_of_a_group_above(tmp_path: Path) -> None:
    process(tmp_path, allowed="0-7", cgroup="0::/pod/box\n", mountinfo=V2.format(mounted="/"))
    group(tmp_path, "pod/box", cpu__max="max 100000")
    group(tmp_path, "pod", cpu__max="250000 100000")
    assert cpu_allowance(7, root=tmp_path) == pytest.approx(2.5)


def test_a_container_sees_its_own_group_as_the_whole(tmp_path: Path) -> None:
    process(tmp_path, allowed="0-7", cgroup="0::/docker/abc\n", mountinfo=V2.format(mounted="/docker/abc"))
    group(tmp_path, "", cpu__max="150000 100000")
    assert cpu_allowance(7, root=tmp_path) == pytest.approx(1.5)


def test_without_a_quota_the_affinity_counts(tmp_path: Path) -> None:
    process(tmp_path, allowed="0-3", cgroup="0::/\n", mountinfo=V2.format(mounted="/"))
    group(tmp_path, "", cgroup__procs="7")
    assert cpu_allowance(7, root=tmp_path) == 4


def test_a_process_that_is_gone_is_not_known(tmp_path: Path) -> None:
    assert cpu_allowance(7, root=tmp_path) is None


def test_this_process() -> None:
    assert 0 < (cpu_allowance(os.getpid()) or 0) <= len(os.sched_getaffinity(0))
