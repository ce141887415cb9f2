"""Owns JUnit files: a gate's metrics, or the outcome of a run or a search, as test cases for a CI system."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from brimline.cli import told
from brimline.errors import GateFailed, NotGoodEnough, RecordError

if TYPE_CHECKING:
    from brimline.analysis.gate import GateCase
    from brimline.api.results import Result

_KINDS = {1: "error", 2: "usage", 3: "fail", 4: "inconclusive", 5: "target"}
"""What the type of a test case says, by the exit code of the command."""
_SIGNALS_FROM = 128
_BEGAN_S = time.monotonic()
"""This is imported with its verb, before anything is done."""


def write_cases(cases: "Sequence[GateCase]", junit: Path | None, *, suite: str) -> None:
    """Writes the JUnit file if one was asked for. Raises RecordError."""
    if junit is None:
        return
    from brimline.report.junit import write_junit  # with analysis under it, which a load must not find in memory

    try:
        write_junit(cases, junit, suite=suite, seconds=time.monotonic() - _BEGAN_S)
    except RecordError as error:
        raise RecordError(error.message, hint="what was measured is kept; choose another file with --junit") from error
    told.note(told.JUNIT)


def write_outcome(result: "Result", junit: Path | None, *, suite: str) -> None:
    """Writes one test case for a run or a search: its objective, or what came in between. Raises RecordError."""
    if junit is not None:
        write_cases([outcome_case(result)], junit, suite=suite)


def outcome_case(result: "Result") -> "GateCase":
    """The test case of a run or a search."""
    error, verdict = result.error, result.report.verdict
    text = f"{verdict.headline}. {verdict.sentence}" if verdict.figure else verdict.sentence
    if error is None:
        return passed_case(name=result.report.name, text=text)
    # What is not good enough the error says itself; what ended it early says nothing of what held until then.
    text = error.message if isinstance(error, NotGoodEnough) else f"{error.message}. {text}"
    return _error_case(text, name=result.report.name, exit_code=error.exit_code)


def write_error(message: str, junit: Path, *, suite: str, name: str, exit_code: int) -> None:
    """Writes one test case for a command that ended with an error, so that no older file stays green."""
    write_cases([_error_case(message, name=name, exit_code=exit_code)], junit, suite=suite)


def _error_case(message: str, *, name: str, exit_code: int) -> "GateCase":
    from brimline.analysis.gate import GateCase, GateVerdict

    verdict = GateVerdict.FAIL if exit_code == GateFailed.exit_code else GateVerdict.INCONCLUSIVE
    kind = _KINDS.get(exit_code, "interrupted" if exit_code > _SIGNALS_FROM else "error")
    return GateCase(name=name, verdict=verdict, text=message, kind=kind)


def passed_case(*, name: str, text: str) -> "GateCase":
    """The test case of what came out as was asked for."""
    from brimline.analysis.gate import GateCase, GateVerdict

    return GateCase(name=name, verdict=GateVerdict.PASS, text=text)
