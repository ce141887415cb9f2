"""Owns one scenario of a scan on disk: every execution as it was measured, and the server's explanation.

It lies in a trial's directory of an experiment, as `record.json` and `explain.json`; all values are JSON-like.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brimline.record.files import read_json, read_json_if_there, replace_json
from brimline.record.layout import FORMAT_VERSION, RECORD_FILE
from brimline.record.redaction import redact

SCAN_TRIAL_KIND = "scan"
EXPLAIN_FILE = "explain.json"


def write_scan_trial(directory: Path, values: Mapping[str, Any], *, ended_by: str, message: str = "") -> None:
    """Writes what is known so far; to be called again with more. Raises RecordError."""
    fixed = {"format_version": FORMAT_VERSION, "kind": SCAN_TRIAL_KIND, "ended_by": ended_by, "message": message}
    replace_json(directory / RECORD_FILE, redact({**fixed, **values}))


def write_explanation(directory: Path, answer: Mapping[str, Any]) -> None:
    """Keeps the whole answer to `explain`. Raises RecordError."""
    replace_json(directory / EXPLAIN_FILE, redact(answer))


def read_scan_trial(directory: Path) -> Mapping[str, Any]:
    """What `write_scan_trial` wrote. Raises RecordError."""
    return read_json(directory / RECORD_FILE)


def read_explanation(directory: Path) -> Mapping[str, Any] | None:
    """The answer to `explain`; None when it never came."""
    return read_json_if_there(directory / EXPLAIN_FILE)
