"""Owns JUnit files: a gate's metrics, or the outcome of a run or a search, as test cases for a CI system."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brimline.errors import BrimlineError, GateFailed

if TYPE_CHECKING:
    from brimline.analysis.gate import GateCase
    from brimline.api.results import Result

Junit = Annotated[
    Path | None,
    typer.Option(
        "--junit", metavar="FILE", help="Write the gate as JUnit XML, a test case per metric.", show_default=False
    ),
]
OutcomeJunit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write the outcome as JUnit XML, one test case.", show_default=False),
]


def write_cases(cases: "Sequence[GateCase]", junit: Path | None, *, suite: str) -> None:
    """Writes the JUnit file if one was asked for. Raises RecordError."""
    if junit is None:
        return
    from brimline.report.junit import write_junit  # with analysis under it, which a load must not find in memory

    write_junit(cases, junit, suite=suite)


@contextmanager
def told(junit: Path | None, *, suite: str, name: str) -> Iterator[None]:
    """Around what leads to a result: where there is none, the JUnit file says why, so that no older one stays green."""
    try:
        yield
    except BrimlineError as error:
        if junit is not None:
            with suppress(BrimlineError):  # the error that is on its way says more
                _write_case(junit, "inconclusive", suite=suite, name=name, text=error.message)
        raise


def write_outcome(result: "Result", junit: Path | None, *, suite: str) -> None:
    """Writes one test case for a run or a search: its objective, or what came in between. Raises RecordError."""
    if junit is None:
        return
    error = result.error
    verdict = "pass" if error is None else "fail" if isinstance(error, GateFailed) else "inconclusive"
    text = result.report.verdict.sentence if error is None else error.message
    _write_case(junit, verdict, suite=suite, name=result.report.name, text=text)


def _write_case(junit: Path, verdict: str, *, suite: str, name: str, text: str) -> None:
    from brimline.analysis.gate import GateCase, GateVerdict

    write_cases([GateCase(name=name, verdict=GateVerdict(verdict), text=text)], junit, suite=suite)
