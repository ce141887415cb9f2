"""A report as JSON text: for `--json`, and for `analysis.json` beside the record."""

import json
from pathlib import Path

from brimline.record.files import replace_text
from brimline.report.view import Report

FORMAT_VERSION = 1
"""Version of the JSON; keys are added under the same version, never renamed or removed."""


def render_json(report: Report) -> str:
    """One JSON object with stable keys; see `run_json` and `experiment_json`."""
    return json.dumps(report.data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_json(report: Report, path: Path) -> None:
    """Writes the JSON, replacing an older file whole. Raises RecordError."""
    replace_text(path, render_json(report))
