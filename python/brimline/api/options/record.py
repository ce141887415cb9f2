"""Owns where what was measured goes, and in which language it is told."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from brimline.api.options.group import Group, option
from brimline.wording import wanted_language

RUNS_DIRECTORY_VARIABLE = "BRIMLINE_RUNS_DIR"


def default_runs_directory() -> Path:
    """`runs` below the working directory, unless the environment names another."""
    return Path(os.environ.get(RUNS_DIRECTORY_VARIABLE) or "runs")


@dataclass(frozen=True, kw_only=True)
class RecordOptions(Group):
    """Where records go, the language of the report ("en" or "zh"), and which figures it shows first."""

    title: ClassVar[str] = "Output"

    runs_dir: Path = option(
        "--runs-dir", "DIR", "Where records go; default: runs, or BRIMLINE_RUNS_DIR.", factory=default_runs_directory
    )
    language: str = option(
        "--lang", "en|zh", "Language of the report; default: BRIMLINE_LANG, else en.", factory=wanted_language
    )

    show: Sequence[str] = option(
        "--show",
        "FIGURES",
        "Figures for tables and charts, such as update.p99,read.mean,connections; repeatable.",
        default=(),
    )

    prometheus: str | None = option(
        "--prometheus", "HOST:PORT", "While it is at work, show its figures to Prometheus at http://HOST:PORT/metrics."
    )
    otlp: str | None = option(
        "--otlp",
        "URL",
        "Send its figures as OpenTelemetry metrics to this collector (OTLP over HTTP), such as http://HOST:4318.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "language", wanted_language(self.language))
        if self.figures:
            from brimline.analysis.metric_names import check_names  # of no use to a load, which has memory to itself

            check_names(self.figures)

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures that are to be shown, each by its name."""
        return tuple(name for text in self.show for part in text.split(",") if (name := part.strip()))
