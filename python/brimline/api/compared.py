"""Owns finding what is compared: from names to records of one kind, each with its figures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from brimline.analysis.compared_run import ComparedRun
from brimline.api.compared_record import kind_of, read_compared
from brimline.api.reopen import find_record
from brimline.errors import UsageError
from brimline.experiments.paired.ab import AB_KIND
from brimline.experiments.paired.order import ARMS
from brimline.record import list_records, read_experiment
from brimline.record.damage import damage_told
from brimline.record.files import is_there
from brimline.record.layout import RECORD_FILE
from brimline.record.listing import LOAD, is_record

ARM_MARK = ":"
"""Names one arm of an A/B comparison: `DIRECTORY:A`."""


@dataclass(frozen=True, slots=True)
class Named:
    """A record that a name stands for, and its kind as `brimline list` has it."""

    directory: Path
    kind: str

    def read(self) -> ComparedRun:
        """With its figures. Raises UsageError and RecordError."""
        with damage_told(self.directory):
            return read_compared(self.directory)


def named(name: str | Path, *, runs_dir: Path) -> list[Named]:
    """The records that a name stands for, at least one. Raises UsageError and RecordError."""
    path = Path(name)
    if path.is_dir() and not is_record(path):
        return _below(path)
    text, _, arm = str(name).rpartition(ARM_MARK)
    is_arm = arm in ARMS and bool(text)
    directory = find_record(text if is_arm else name, runs_dir=runs_dir)
    kind = kind_of(directory)
    if kind == AB_KIND or is_arm:
        return _of_arm(directory, arm if is_arm else "")
    if kind not in _ORDER:
        raise UsageError(
            f"{directory} is {_text(kind)}: its runs offer different loads",
            hint=f"compare two of its runs, which are below {directory / 'trials'}",
        )
    return [Named(directory, kind)]


def of_one_kind(a: Sequence[Named], b: Sequence[Named]) -> tuple[list[Named], list[Named]]:
    """Of each side the records of the kind that both have.

    Loads go before runs and searches, and count where there is nothing else in common. Raises UsageError where the
    sides have no kind in common.
    """
    kinds = [{each.kind for each in side} for side in (a, b)]
    common = [kind for kind in _ORDER if kind in kinds[0] & kinds[1]]
    if not common:
        first = [", ".join(dict.fromkeys(_text(each.kind) for each in side)) for side in (a, b)]
        raise UsageError(
            f"these records can't be compared: A is {first[0]}, B is {first[1]}",
            hint="compare records of the same kind",
        )
    return [each for each in a if each.kind == common[0]], [each for each in b if each.kind == common[0]]


_ORDER = ("run", "capacity", "frontier", "sweep", "growth", "scan", "failover", "imported", "import", LOAD)


def _text(kind: str) -> str:
    return {"run": "a run", LOAD: "a load", "import": "an import", "imported": "imported results"}.get(
        kind, f"a {kind}"
    )


def _below(directory: Path) -> list[Named]:
    """What lies in a directory and can be compared."""
    found = [Named(entry.directory, entry.kind) for entry in list_records(directory) if entry.kind in _ORDER]
    if not found:
        raise UsageError(
            f"there is no record to compare in {directory}",
            hint="name a run, a search, an import, a directory of them, or EXPERIMENT:A",
        )
    return found


def _of_arm(directory: Path, arm: str) -> list[Named]:
    """The records of one arm of an A/B comparison."""
    with_another = f"compare it with another: brimline compare {directory} ANOTHER"
    if is_there(directory / RECORD_FILE):
        raise UsageError(f"{directory} has no arms: it is one record", hint=with_another)
    experiment = read_experiment(directory)
    if experiment.kind != AB_KIND:
        shown = f"brimline show {directory} says what it found"
        raise UsageError(
            f"{directory} has no arms: it is of the kind {experiment.kind}, not {AB_KIND}",
            hint=with_another if experiment.kind in _ORDER else shown,
        )
    found = [entry.directory for entry in experiment.trials if entry.probe.get("arm") == arm]
    if not found:
        problem = f"has no run of {arm}" if arm else "has two arms"
        raise UsageError(
            f"{directory} {problem}", hint=f"name one, {directory}:A or {directory}:B, or the directory alone"
        )
    return [Named(each, kind_of(each)) for each in found]


def without_loads(records: Sequence[Named]) -> list[Named]:
    """Loads go before what is measured; they count where there is nothing else."""
    return [each for each in records if each.kind != LOAD] or list(records)


def read_all(records: Iterable[Named]) -> list[ComparedRun]:
    """Each with its figures. Raises UsageError and RecordError."""
    return [each.read() for each in records]
