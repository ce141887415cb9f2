"""What is stored of a fault: it tells what was begun and not undone, and of what is over nothing."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from brimline.errors import RecordError
from brimline.experiments.failover.runner import FailoverWork
from brimline.record import fault
from brimline.record.fault import FaultFacts, begin_fault, left_undone, read_fault, write_fault

BEGUN = FaultFacts(name="command", what="ssh db1 stop", at="", by_hand="ssh db1 start")
FAILED = FaultFacts(name="command", what="ssh db1 stop", at="", by_hand="ssh db1 start", undo_trouble="no such host")


def test_what_is_begun_is_told_until_it_is_undone(tmp_path: Path) -> None:
    trial = tmp_path / "trials" / "01-fault"
    trial.mkdir(parents=True)
    begin_fault(trial, BEGUN)
    assert [each.by_hand for each in left_undone(tmp_path)] == ["ssh db1 start"]
    write_fault(trial, FAILED)
    assert [each.by_hand for each in left_undone(tmp_path)] == ["ssh db1 start"]
    write_fault(trial, BEGUN)
    assert list(left_undone(tmp_path)) == [] and read_fault(trial) == BEGUN


def test_what_is_undone_is_not_told_where_a_full_disk_took_no_word_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = tmp_path / "trials" / "01-fault"
    trial.mkdir(parents=True)
    begin_fault(trial, BEGUN)

    def full(*_: object) -> None:
        raise RecordError("no space left on device", hint="")

    monkeypatch.setattr(fault, "replace_json", full)
    for facts, left in ((FAILED, 1), (BEGUN, 0)):
        with pytest.raises(RecordError):
            write_fault(trial, facts)
        assert len(list(left_undone(tmp_path))) == left


@pytest.mark.parametrize(("facts", "left"), [(FAILED, 1), (BEGUN, 0)])
def test_what_is_undone_is_not_told_where_a_second_signal_ends_the_wait_for_the_servers(
    tmp_path: Path, facts: FaultFacts, left: int
) -> None:
    trial = tmp_path / "trials" / "01-fault"
    trial.mkdir(parents=True)
    begin_fault(trial, BEGUN)
    striking: Any = Mock(end=lambda: facts)
    site: Any = Mock(await_whole=Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        FailoverWork._put_back(Mock(), striking, site, None, trial)
    assert len(list(left_undone(tmp_path))) == left
