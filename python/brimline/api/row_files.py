"""Owns where a stored spec finds the files of rows that it names, and whether they are still what they were.

A record keeps its specs as they were written, with relative names in them; `row_files` of its environment.json says by
spec what they are relative to.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from brimline.errors import UsageError
from brimline.record.damage import damage_told
from brimline.record.layout import ENVIRONMENT_FILE
from brimline.record.listing import is_record
from brimline.record.reader import read_environment
from brimline.spec import Spec

ROW_FILES: Final = "row_files"


def row_files(specs: Mapping[str, Spec]) -> dict[str, Any]:
    """What a record keeps about the files of `specs`, by the name that each spec has in the record.

    Each is {"directory": absolute, "sha256": {name: of its rows}}. Specs without such files are left out.
    """
    return {
        name: {
            "directory": str(spec.rows_directory),
            "sha256": {rows.name: rows.sha256 for rows in spec.rows_of_files},
        }
        for name, spec in specs.items()
        if spec.rows_directory is not None
    }


def rows_directory(spec_file: Path) -> Path | None:
    """What names of files in `spec_file` are relative to where it lies in a record; None: to itself.

    Raises RecordError where the record is damaged.
    """
    for directory in (spec_file.parent, spec_file.parent.parent):
        if is_record(directory):
            with damage_told(directory):
                kept = read_environment(directory / ENVIRONMENT_FILE).get(ROW_FILES) or {}
                found = kept.get(str(spec_file.relative_to(directory)))
                return None if found is None else Path(found["directory"])
    return None


def require_same_rows(directory: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuses to go on in `directory` where a file has other rows; both are `row_files`. Raises UsageError."""
    for spec_name, its in before.items():
        current = now.get(spec_name, {}).get("sha256", {})
        for name, was in its["sha256"].items():
            if current.get(name, was) != was:
                raise UsageError(
                    f"{Path(its['directory']) / name} has other rows than when {directory} was begun",
                    hint="bring back the file as it was, or begin anew",
                )
