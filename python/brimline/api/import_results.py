"""Owns the verb `import-results`: files of JMeter, YCSB and others in, a record and the same report out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from brimline.analysis.imported import in_vain_of
from brimline.api.options import default_runs_directory, typed
from brimline.api.results import Result
from brimline.compat.imported.view import imported_report
from brimline.compat.results import import_files
from brimline.errors import BrimlineError, InvalidRun, UsageError
from brimline.record.imported import ImportedRun
from brimline.record.imported_files import read_imported, write_imported


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ImportedResult(Result):
    """An imported run."""

    run: ImportedRun

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, or a kind of operation that never succeeded: there is no figure for it."""
        if self.interrupted is not None:
            return self.interrupted
        reasons = in_vain_of(self.run)
        if not reasons:
            return None
        is_all = self.run.failed_count == self.run.operation_count
        what = "the run proves nothing" if is_all else "some operations have no figure"
        return InvalidRun(f"{what}: {'; '.join(reasons)}", hint=self.where_to_look)


@typed
def import_results(
    files: Sequence[str | Path], *, runs_dir: str | Path | None = None, language: str | None = None
) -> ImportedResult:
    """Imports the files of one run, writes its record and report; `language` as in `Result.write`.

    Raises UsageError for files that can't be read or understood, and RecordError when the record can't be written; in
    both cases nothing is left behind.
    """
    if not files:
        raise UsageError("no file is given", hint="name the JTL files, or everything that one run of YCSB left")
    run = import_files([Path(each) for each in files])
    result = imported_result(write_imported(run, default_runs_directory() if runs_dir is None else Path(runs_dir)))
    result.write(language)
    return result


def open_imported(directory: Path) -> ImportedResult:
    """The imported run in a record directory, reported anew. Raises RecordError."""
    return imported_result(read_imported(directory))


def imported_result(run: ImportedRun) -> ImportedResult:
    """What an imported run shows."""
    return ImportedResult(report=imported_report(run), directory=run.directory, run=run)
