"""Owns what stands around the sections of every report: where it ran, how to do it again, what the words mean."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from brimline.record.environment import brimline_version
from brimline.record.experiment import ExperimentRecord
from brimline.record.layout import SPEC_FILE
from brimline.record.model import Environment
from brimline.report import blocks
from brimline.report.grid import Grid
from brimline.report.put_back import put_back_in
from brimline.report.run_nodes import nodes_over
from brimline.report.view import Fact, Facts, Report, Section, Verdict


class Recorded(Protocol):
    """A record of any kind, as far as a footer names it."""

    @property
    def brimline_version(self) -> str:
        """Which version made it."""

    @property
    def directory(self) -> Path:
        """Where it lies."""


def framed(
    record: Recorded | None,
    *,
    kind: str,
    kind_title: str,
    name: str,
    subtitle: str,
    verdict: Verdict,
    sections: Sequence[Section],
    data: Mapping[str, Any],
    grids: Sequence[Grid] = (),
) -> Report:
    """A report with those of `sections` that have anything to show; `record` is None where it has none of its own."""
    made_by = brimline_version() if record is None else record.brimline_version
    return Report(
        kind=kind,
        kind_title=kind_title,
        name=name,
        subtitle=subtitle,
        verdict=verdict,
        sections=[section for section in sections if section.blocks],
        footer=f"brimline {made_by}" + ("" if record is None else f" · {record.directory.name}"),
        data=data,
        grids=grids,
    )


def experiment_report(
    experiment: ExperimentRecord,
    *,
    kind: str,
    kind_title: str,
    subtitle: str,
    verdict: Verdict,
    sections: Sequence[Section],
    data: Mapping[str, Any],
    grids: Sequence[Grid] = (),
    name: str = "",
    definitions: Sequence[Fact] = blocks.DEFINITIONS,
    environment: Environment | None = None,
    more: Sequence[Facts] = (),
) -> Report:
    """The report of an experiment. `environment` is where it ran, unless the record's own; `more` stands beside it."""
    return framed(
        experiment,
        kind=kind,
        kind_title=kind_title,
        name=name or experiment.name,
        subtitle=subtitle,
        verdict=verdict,
        sections=[
            *sections,
            nodes_over(experiment),
            blocks.environment(
                experiment.environment if environment is None else environment, more=[*more, put_back_in(experiment)]
            ),
            blocks.reproduce(_command(experiment), experiment.spec_text, _identity(experiment)),
            blocks.definitions(definitions),
        ],
        data=data,
        grids=grids,
    )


def _command(experiment: ExperimentRecord) -> str:
    """The command line that was typed.

    For an experiment that wasn't started by one, a command that does the same.
    """
    typed = experiment.environment.get("command")
    if isinstance(typed, str) and typed:
        return typed
    return f"brimline {experiment.kind} {shlex.quote(str(experiment.directory / SPEC_FILE))}"


def _identity(experiment: ExperimentRecord) -> list[Fact]:
    """Where the experiment lies, and how it ended."""
    return [
        Fact(label="Record", value=str(experiment.directory)),
        Fact(label="Ended", value=experiment.ended_by.replace("_", " "), note=experiment.message),
    ]
