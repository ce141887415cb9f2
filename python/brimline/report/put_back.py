"""Owns what a report says of data that operations changed: copied aside, put back before runs, and what that took."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import fsum
from pathlib import Path

from brimline.errors import RecordError
from brimline.record.events import read_events
from brimline.record.experiment import ExperimentRecord
from brimline.record.layout import EVENTS_FILE
from brimline.record.model import Event
from brimline.report.view import Fact, Facts
from brimline.units import NS_PER_S, format_count, format_duration
from brimline.wording import message

_LABELS = {
    "data_copied": "Copied aside",
    "data_put_back": "Put back from a copy",
    "data_loaded_again": "Loaded again",
}


def put_back(events: Iterable[Event]) -> Facts:
    """What became of the data around runs, and how long it took; without facts where they stayed as they were."""
    found: dict[str, list[float]] = {}
    for event in events:
        if event.kind in _LABELS and isinstance(took_s := event.fields.get("took_s"), int | float):
            found.setdefault(event.kind, []).append(took_s)
    facts = [Fact(label=label, value=_text(found[kind])) for kind, label in _LABELS.items() if kind in found]
    return Facts(title="Data that the operations change", facts=facts)


def put_back_in(experiment: ExperimentRecord) -> Facts:
    """The same of all runs of an experiment."""
    return put_back(event for trial in experiment.trials for event in _events_below(trial.directory))


def _events_below(directory: Path) -> Iterable[Event]:
    for path in sorted(directory.rglob(EVENTS_FILE)):
        with suppress(RecordError):  # what is damaged is told where the run is read
            yield from read_events(path)


def _text(took_s: Sequence[float]) -> str:
    whole = format_duration(fsum(took_s) * NS_PER_S)
    if len(took_s) == 1:
        return message("once, in {time}", time=whole)
    return message(
        "{count} times in {time}, {each} each",
        count=format_count(len(took_s)),
        time=whole,
        each=format_duration(fsum(took_s) / len(took_s) * NS_PER_S),
    )
