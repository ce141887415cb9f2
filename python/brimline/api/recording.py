"""Owns the record of an experiment while it is conducted: a new one or one to go on with, sealed however it ends."""

from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brimline.api.resume import resuming_verb, tell_way_on
from brimline.api.workplace import Workplace
from brimline.errors import BrimlineError
from brimline.execution.data_events import tell_data_events_in_all
from brimline.plan import Plan
from brimline.record import ExperimentWriter


@contextmanager
def recording(
    place: Workplace,
    plan: Plan,
    *,
    kind: str,
    settings: Mapping[str, Any],
    directory: Path | None,
    resume: bool,
    name: str | None = None,
    plan_hash: str | None = None,
    settled_by: Container[str] = (),
) -> Iterator[ExperimentWriter]:
    """The record of an experiment for the length of the `with` block, in `directory`; None: a new one.

    `resume`: goes on with what is in `directory`; `settled_by`: see `reopen`. `settings` are stored with the seed.
    `name` and `plan_hash` are those of the workload, unless it has several. A BrimlineError is recorded and raised
    again, with what goes on with the experiment behind its hint.
    """
    stored = {**settings, "seed": place.spec.seed}
    if directory is not None and resume:
        writer = ExperimentWriter.reopen(directory, settings=stored, settled_by=settled_by)
    else:
        writer = ExperimentWriter(
            place.directory(plan, kind=kind) if directory is None else directory,
            kind=kind,
            name=name or place.spec.name,
            settings=stored,
            spec_text=place.context.spec_text,
            environment=place.context.environment,
            plan_hash=plan_hash or plan.hash8(),
        )
    with writer:
        try:
            yield writer
            tell_data_events_in_all(place.context)
        except BrimlineError as error:
            writer.seal(ended_by="error", message=error.message)
            tell_way_on(error, resuming_verb(kind, settings), writer.directory)
            raise
        writer.seal(ended_by=place.stop.how_ended)
