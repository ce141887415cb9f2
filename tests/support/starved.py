"""Owns what is done where a busy machine did not let brimline's generator run: what needs figures is done once more.

A run in which the generator stood still has no figures of the server, and brimline says so. No test can ask a machine
for its processor. So a test that needs runs that count makes them by `awake`. Any other test that fails beside such a
run is run once more, and the end of the tests names it (`pytest_runtest_protocol`). A fault fails both times.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from brimline.analysis.standstills import STILL_NS_MIN
from brimline.record.layout import EXPERIMENT_FILE, RECORD_FILE
from tests.support.command_line import CommandLine, Outcome

ATTEMPTS = 3
_SAID = re.compile(
    r"the generator itself did not run[^,;\"'\n]*"
    r"|the generator sent late[^,;\"'\n]*"
    r"|since the generator didn't come to them"
    r"|[\"']client_limited[\"'](?!:)"
    r"|[Cc]lient[ -]limited"
)
"""What brimline says of a run whose generator was held up, or had too little of the processor."""
_AGAIN = "run again"
_CAUSE = pytest.StashKey[str]()


def awake(cli: CommandLine, *arguments: str | Path, environment: Mapping[str, str] | None = None) -> Outcome:
    """Runs brimline until the generator stood still in no run of it; records of what is repeated are removed.

    The last attempt is taken as it is: of several runs those that are left may do.
    """
    for left in reversed(range(ATTEMPTS)):
        before = _records(cli.directory)
        outcome = cli.run(*arguments, environment=environment)
        made = _records(cli.directory) - before
        if not left or not any(map(stood_still, made)):
            return outcome
        for directory in made:
            shutil.rmtree(directory, ignore_errors=True)  # one may lie in the other
    raise AssertionError("an attempt is returned")


def _records(directory: Path) -> set[Path]:
    return {file.parent for name in (RECORD_FILE, EXPERIMENT_FILE) for file in directory.rglob(name)}


def stood_still(directory: Path) -> str:
    """What the record of a run says of the times in which the generator did not run; empty where they spoil nothing."""
    with suppress(OSError, ValueError, AttributeError):
        summary = json.loads((directory / RECORD_FILE).read_text()).get("summary") or {}
        still_ns = sum(each["still_ns"] for each in summary.get("standstills", []))
        if still_ns >= STILL_NS_MIN:
            return f"the generator itself did not run for {still_ns / 1e6:.0f} ms"
    return ""


def _cause(report: pytest.TestReport, item: pytest.Item) -> str:
    """Why the machine may be what failed the test: by the failure's text, or by a record that the test made."""
    said = _SAID.search(report.longreprtext)
    if said is not None:
        return said.group()
    directory = getattr(item, "funcargs", {}).get("tmp_path")
    if directory is None:
        return ""
    return next(filter(None, (stood_still(each) for each in sorted(_records(directory)))), "")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(RunAgain())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report: Any = yield
    if report.failed and _CAUSE not in item.stash:
        cause = _cause(report, item)
        if cause:
            item.stash[_CAUSE] = cause
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """A test is run; one that failed since the machine starved the generator is run once more, with fixtures anew."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    cause = item.stash.get(_CAUSE, "")
    if cause:
        item.user_properties.append((_AGAIN, cause))
        _forget(item)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _forget(item: Any) -> None:
    """What the file's fixtures made is made anew, and of wider ones what could not be made; servers stay."""
    item.session._setupstate.teardown_exact(item.session)
    item._initrequest()
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        for each in definitions:
            if each.cached_result is not None and each.cached_result[2] is not None:
                each.finish(item._request)


class RunAgain:
    """A plugin of the process that shows: lists at the end what was run again, why, and what came of it."""

    def __init__(self) -> None:
        self._causes: dict[str, str] = {}
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, cause in report.user_properties:
            if name == _AGAIN:
                self._causes[report.nodeid] = str(cause)
                if report.failed:
                    self._failed.add(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._causes:
            terminalreporter.section("run again, since the machine did not let the generator run")
        for name, cause in self._causes.items():
            terminalreporter.write_line(f"{'failed' if name in self._failed else 'passed'}  {name}: {cause}")
