"""Owns the order of the checks, and that one check that breaks does not take the others with it."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from brimline.doctor import bundle, machine
from brimline.doctor.check import Check, Status
from brimline.servers.state import servers_directory

CheckFunction = Callable[[], Check]


def examine(
    *,
    mongod: Path | None = None,
    directory: Path | None = None,
    extra: Iterable[tuple[str, CheckFunction]] = (),
) -> Iterator[Check]:
    """Runs the checks one after the other and hands out each as it is done.

    `mongod` and `directory` are what the user chose for the bundled server; None: the defaults. `extra` are
    checks by name that other parts add, such as the generator's ceiling; they come last.
    """
    place = directory or servers_directory()
    checks: list[tuple[str, CheckFunction]] = [
        ("cores", machine.cores),
        ("cpu pressure", machine.cpu_pressure),
        ("cpu governor", machine.cpu_governor),
        ("epoll_pwait2", machine.epoll_pwait2),
        ("clock", machine.clock),
        ("open files", machine.open_files),
        ("huge pages", machine.huge_pages),
        ("swap", machine.swap),
        ("data directory", lambda: bundle.data_directory(place)),
        ("free disk", lambda: bundle.free_disk(place)),
        ("mongod", lambda: bundle.mongod(flag=mongod)),
        *extra,
    ]
    for name, check in checks:
        yield _guarded(name, check)


def _guarded(name: str, check: CheckFunction) -> Check:
    try:
        return check()
    except Exception as error:  # a check that breaks is a finding about this machine, not the end of the checkup
        return Check(name=name, status=Status.FAIL, evidence=f"the check broke: {type(error).__name__}: {error}")
