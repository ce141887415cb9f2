"""Owns where what was measured goes, and in which language it is told."""

import os
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
    """Where records go, and the language of the report: "en" or "zh"."""

    title: ClassVar[str] = "Output"

    runs_dir: Path = option(
        "--runs-dir", "DIR", "Where records go; default: runs, or BRIMLINE_RUNS_DIR.", factory=default_runs_directory
    )
    language: str = option(
        "--lang", "en|zh", "Language of the report; default: BRIMLINE_LANG, else en.", factory=wanted_language
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "language", wanted_language(self.language))
