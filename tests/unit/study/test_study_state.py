"""The directory of a study: what is stored, who may write it, and what going on makes anew."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from brimline.api.planning import Cost
from brimline.errors import BrimlineError, RecordError, ResourceError, TargetError, UsageError
from brimline.study.commands import Command
from brimline.study.conduct import begin, conduct
from brimline.study.costs import Planned, StudyPlan
from brimline.study.scale import CI
from brimline.study.spec import read_study
from brimline.study.state import StudyDirectory

STUDY = """\
name: known
title: Known
purpose: [To know.]
experiments:
  - {name: one, title: One, verb: run, workload: ycsb-c}
"""
SECRET = "mongodb://app:s3cret@db/"


class Verbs:
    """Each fails as it is told, then succeeds."""

    def __init__(self, *errors: BrimlineError) -> None:
        self.errors, self.asked = list(errors), 0

    def knows(self, verb: str) -> bool:
        return True

    def cost(self, words: Sequence[str]) -> Cost:
        raise AssertionError(words)

    def perform(self, words: Sequence[str]) -> None:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)


def begun(tmp_path: Path, *, more: str = "") -> StudyDirectory:
    study = read_study(STUDY, "known.yaml", directory=Path())
    words = ("run", "ycsb-c", *(("--uri", more) if more else ()))
    (experiment,) = study.spec.experiments
    plan = StudyPlan(scale=CI, experiments=[Planned(experiment=experiment, command=Command(words=words))])
    return begin(replace(study, text=f"{study.text}# {more}\n"), plan, runs_dir=tmp_path)


def test_no_password_is_stored(tmp_path: Path) -> None:
    directory = begun(tmp_path, more=SECRET)
    assert directory.entries[0].words[-1] == "mongodb://***@db/"
    for path in directory.path.iterdir():
        assert "s3cret" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize(
    ("error", "asked"),
    [
        (TargetError("gone", hint="start it"), 2),
        (ResourceError("no memory", hint="free some"), 2),
        (RecordError("disk full", hint="free some"), 2),
        (UsageError("wrong", hint="mend it"), 1),
    ],
)
def test_what_failed_for_want_of_something_is_made_anew(tmp_path: Path, error: BrimlineError, asked: int) -> None:
    directory, verbs = begun(tmp_path), Verbs(error)
    conduct(directory, verbs, say=lambda _: None)
    again = StudyDirectory.open(directory.path)
    assert again.entries[0].ended is not None
    assert again.entries[0].ended.error == error.message
    conduct(again, verbs, say=lambda _: None)
    assert verbs.asked == asked
    assert (again.entries[0].ended or Ellipsis).exit_code == (0 if asked == 2 else 2)  # type: ignore[union-attr]


def test_one_process_at_a_time_goes_on_with_a_study(tmp_path: Path) -> None:
    first = begun(tmp_path)
    second = StudyDirectory.open(first.path)
    with first.held():
        conduct(first, Verbs(), say=lambda _: None)
        with pytest.raises(RecordError, match="is being written by another process"), second.held():
            raise AssertionError("it was let in")
    with second.held():
        assert second.entries[0].ended is not None, "what the other did is known"
