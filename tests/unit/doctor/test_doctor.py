"""Each check on machines that are as they should be, and on machines that are not."""

import errno
from pathlib import Path

import pytest

from brimline.doctor import Check, Status, bundle, examine, machine, worst


def _files(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def _all_have_hints(*checks: Check) -> bool:
    return all(check.hint for check in checks)


def test_cpu_governor(tmp_path: Path) -> None:
    assert machine.cpu_governor(tmp_path).status is Status.PASS
    path = tmp_path / "sys/devices/system/cpu/cpu0/cpufreq"
    path.mkdir(parents=True)
    (path / "scaling_governor").write_text("performance\n")
    assert machine.cpu_governor(tmp_path).status is Status.PASS
    (path / "scaling_governor").write_text("powersave\n")
    check = machine.cpu_governor(tmp_path)
    assert check.status is Status.WARN
    assert "powersave" in check.evidence
    assert _all_have_hints(check)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("always madvise [never]", Status.PASS),
        ("always [madvise] never", Status.PASS),
        ("[always] madvise never", Status.WARN),
    ],
)
def test_huge_pages(tmp_path: Path, text: str, status: Status) -> None:
    root = _files(tmp_path, sys__kernel__mm__transparent_hugepage__enabled=text)
    assert machine.huge_pages(root).status is status


@pytest.mark.parametrize(
    ("total", "free", "status"), [(0, 0, Status.PASS), (1000, 950, Status.PASS), (1000, 100, Status.WARN)]
)
def test_swap(tmp_path: Path, total: int, free: int, status: Status) -> None:
    root = _files(tmp_path, proc__meminfo=f"MemTotal: 5 kB\nSwapTotal: {total} kB\nSwapFree: {free} kB\n")
    assert machine.swap(root).status is status


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errno.EBADF, Status.PASS),
        (errno.EINVAL, Status.PASS),
        (errno.ENOSYS, Status.FAIL),
        (errno.EPERM, Status.FAIL),
    ],
)
def test_epoll_pwait2(error: int, status: Status) -> None:
    check = machine._epoll_pwait2_from(error, "5.4.0")
    assert check.status is status
    assert "5.4.0" in check.evidence


@pytest.mark.parametrize(
    ("resolution_ns", "source", "status"),
    [(1, "tsc", Status.PASS), (1, "hpet", Status.WARN), (4_000_000, "tsc", Status.FAIL)],
)
def test_clock(tmp_path: Path, resolution_ns: int, source: str, status: Status) -> None:
    root = _files(tmp_path, sys__devices__system__clocksource__clocksource0__current_clocksource=source)
    assert machine.clock(root, resolution_ns=resolution_ns).status is status


@pytest.mark.parametrize(("percent", "status"), [("0.95", Status.PASS), ("45.00", Status.WARN)])
def test_cpu_pressure(tmp_path: Path, percent: str, status: Status) -> None:
    text = f"some avg10={percent} avg60=0.97 avg300=0.31 total=4271709\nfull avg10=99.00 avg60=0 total=0\n"
    assert machine.cpu_pressure(_files(tmp_path, proc__pressure__cpu=text)).status is status


@pytest.mark.parametrize(("load", "status"), [("0.00", Status.PASS), ("900.0", Status.WARN)])
def test_load_average_stands_in_for_pressure(tmp_path: Path, load: str, status: Status) -> None:
    assert machine.cpu_pressure(_files(tmp_path, proc__loadavg=f"{load} 1 1 1/100 5\n")).status is status


def test_open_files() -> None:
    assert machine.open_files(limit=1024).status is Status.WARN
    assert machine.open_files(limit=4096).status is Status.PASS
    assert machine.open_files(limit=-1).evidence == "no limit"


def test_free_disk(tmp_path: Path) -> None:
    statuses = [bundle.free_disk(tmp_path, free_bytes=size << 30).status for size in (0, 1, 5)]
    assert statuses == [Status.FAIL, Status.WARN, Status.PASS]
    assert bundle.free_disk(tmp_path / "not" / "there" / "yet").evidence


def test_data_directory(tmp_path: Path) -> None:
    assert bundle.data_directory(tmp_path / "new").status is Status.PASS
    (tmp_path / "file").write_text("")
    check = bundle.data_directory(tmp_path / "file")
    assert check.status is Status.FAIL
    assert str(tmp_path / "file") in check.evidence
    assert _all_have_hints(check)


def test_mongod(tmp_path: Path) -> None:
    program = tmp_path / "mongod"
    program.write_text("#!/bin/sh\necho db version v9.9\n")
    program.chmod(0o755)
    good = bundle.mongod(flag=program, environ={})
    assert good.status is Status.PASS
    assert "v9.9" in good.evidence
    assert "found by flag" in good.evidence
    bad = bundle.mongod(flag=tmp_path / "none", environ={})
    assert bad.status is Status.FAIL
    assert _all_have_hints(bad)


def test_a_whole_checkup_runs_here_and_a_check_that_breaks_does_not_end_it(tmp_path: Path) -> None:
    def broken() -> Check:
        raise ZeroDivisionError("none")

    extra = Check(name="ceiling", status=Status.PASS, evidence="1 M/s")
    checks = list(
        examine(mongod=tmp_path / "none", directory=tmp_path, extra=[("bad", broken), ("ceiling", lambda: extra)])
    )
    assert [check.name for check in checks[-3:]] == ["mongod", "bad", "ceiling"]
    assert checks[-2].status is Status.FAIL
    assert "ZeroDivisionError" in checks[-2].evidence
    assert checks[-1] is extra
    assert len({check.name for check in checks}) == len(checks)
    assert all(check.evidence for check in checks)


def test_the_worst_status_wins() -> None:
    checks = [Check(name="x", status=status, evidence="") for status in (Status.WARN, Status.PASS)]
    assert worst(checks) is Status.WARN
    assert worst([]) is Status.PASS
