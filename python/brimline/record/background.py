"""Owns what a background workload did beside a run, as a file in the run's directory."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from brimline.record.files import read_json_if_there, replace_json

BACKGROUND_FILE = "background.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """When a background workload was at work, and how far it came. Times are of the wall clock, in ns since 1970.

    `spans`: from when to when a command of it, or its program, was under way. `progress`: (time, units in all until
    then) in the order of time; `unit` names one. `error`: why it ended by itself, None when it was told to.
    `sizes_bytes`: of each unit that has a size, such as a backup; each is one of the spans.
    """

    kind: str
    unit: str
    spans: tuple[tuple[int, int], ...]
    progress: tuple[tuple[int, int], ...]
    error: str | None = None
    sizes_bytes: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Activity":
        """Reads what `write_activity` wrote. Raises ValueError, KeyError and TypeError when it is damaged."""
        return cls(
            kind=str(values["kind"]),
            unit=str(values["unit"]),
            spans=tuple((int(begin), int(end)) for begin, end in values["spans"]),
            progress=tuple((int(time), int(units)) for time, units in values["progress"]),
            error=values["error"],
            sizes_bytes=tuple(map(int, values.get("sizes_bytes", ()))),
        )


def write_activities(directory: Path, activities: Sequence[Activity]) -> None:
    """Stores what each background did beside the run's files. Raises RecordError."""
    replace_json(directory / BACKGROUND_FILE, {"backgrounds": [asdict(each) for each in activities]})


def read_activities(directory: Path) -> tuple[Activity, ...]:
    """What was stored; none where no background ran. Raises RecordError."""
    values = read_json_if_there(directory / BACKGROUND_FILE)
    # Older records have one.
    return () if values is None else tuple(map(Activity.from_json, values.get("backgrounds", [values])))
