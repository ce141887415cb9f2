"""A record that is being written is not taken for one whose writer is gone, and the other way round."""

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from brimline.api.reopen import find_record
from brimline.api.resume import resumption
from brimline.errors import RecordError
from brimline.record import ExperimentWriter, RecordWriter, list_records, read_experiment, read_record
from brimline.record.data_import import ImportState, ImportWriter, read_import
from brimline.record.directory_lock import is_held, lock_directory
from brimline.record.layout import DIRECTORY_MODE
from tests.unit.record.fake_histogram import FAKE_CODEC
from tests.unit.record.samples import plan, samples, summary

STATE = ImportState(name="shop.orders", namespace="shop.orders", settings={}, inputs=[], object_ids={}, count_before=0)
WRITE_AND_WAIT = """
import sys, time
from pathlib import Path
from brimline.record import RecordWriter
from tests.unit.record.fake_histogram import FAKE_CODEC
from tests.unit.record.samples import plan
with RecordWriter(Path(sys.argv[1]), plan(), "", {}, codec=FAKE_CODEC):
    print("begun", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)


def experiment(directory: Path) -> ExperimentWriter:
    return ExperimentWriter(directory, kind="sweep", name="x", settings={}, spec_text="", environment={})


def listed(runs_dir: Path) -> list[str]:
    return [entry.ended_by for entry in list_records(runs_dir)]


def test_a_run_is_running_until_it_is_sealed(tmp_path: Path) -> None:
    with RecordWriter(tmp_path / "run", plan(), "", {}, codec=FAKE_CODEC) as writer:
        writer.append(samples(0))
        record = read_record(tmp_path / "run", codec=FAKE_CODEC)
        assert (record.ended_by, record.message, len(record.intervals)) == ("running", "", 1)
        assert listed(tmp_path) == ["running"]
        writer.seal(summary(), None, ended_by="completed")
        assert listed(tmp_path) == ["completed"]
    assert read_record(tmp_path / "run", codec=FAKE_CODEC).ended_by == "completed"


def test_a_run_that_was_left_unsealed_is_killed(tmp_path: Path) -> None:
    RecordWriter(tmp_path / "run", plan(), "", {}, codec=FAKE_CODEC).close()
    record = read_record(tmp_path / "run", codec=FAKE_CODEC)
    assert record.ended_by == "killed" and "never sealed" in record.message
    assert listed(tmp_path) == ["killed"]


def test_a_process_that_is_killed_lets_go_of_its_record(tmp_path: Path) -> None:
    words = [sys.executable, "-c", WRITE_AND_WAIT, str(tmp_path / "run")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        assert listed(tmp_path) == ["running"]
        process.send_signal(signal.SIGKILL)
    assert listed(tmp_path) == ["killed"]


def test_a_copy_of_a_running_record_is_not_running(tmp_path: Path) -> None:
    with RecordWriter(tmp_path / "run", plan(), "", {}, codec=FAKE_CODEC):
        copy = tmp_path / "copy"
        copy.mkdir()
        for file in (tmp_path / "run").iterdir():
            (copy / file.name).write_bytes(file.read_bytes())
        assert read_record(copy, codec=FAKE_CODEC).ended_by == "killed"


def test_an_experiment_is_running_also_when_it_goes_on(tmp_path: Path) -> None:
    with experiment(tmp_path / "e") as writer:
        assert read_experiment(tmp_path / "e").ended_by == "running"
        assert listed(tmp_path) == ["running"]
        writer.seal(ended_by="interrupt")
    with ExperimentWriter.reopen(tmp_path / "e", settings={}):
        assert read_experiment(tmp_path / "e").ended_by == "running"
    assert read_experiment(tmp_path / "e").ended_by == "killed"
    assert json.loads((tmp_path / "e" / "experiment.json").read_text())["ended_by"] is None


def test_an_import_is_running_also_when_it_goes_on(tmp_path: Path) -> None:
    with ImportWriter(tmp_path / "i", STATE, {}):
        assert read_import(tmp_path / "i").ended_by == "running"
        assert listed(tmp_path) == ["running"]
    killed = read_import(tmp_path / "i")
    assert killed.ended_by == "killed"
    with ImportWriter.reopen(tmp_path / "i", killed.state):
        assert json.loads((tmp_path / "i" / "record.json").read_text())["ended_by"] is None
        assert read_import(tmp_path / "i").ended_by == "running"


def test_a_reader_that_looks_at_that_instant_does_not_turn_a_writer_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(reader, fcntl.LOCK_SH)
    monkeypatch.setattr(time, "sleep", lambda _: os.close(reader))
    os.close(lock_directory(tmp_path))


@pytest.mark.usefixtures("without_locks")
def test_a_file_system_without_locks_keeps_no_run_from_being_written(tmp_path: Path) -> None:
    with RecordWriter(tmp_path / "run", plan(), "", {}, codec=FAKE_CODEC) as writer:
        assert not is_held(tmp_path / "run")
        assert read_record(tmp_path / "run", codec=FAKE_CODEC).ended_by == "killed"
        writer.seal(summary(), None, ended_by="completed")
    assert read_record(tmp_path / "run", codec=FAKE_CODEC).ended_by == "completed"


@pytest.mark.usefixtures("without_locks")
def test_an_experiment_that_cannot_be_kept_from_others_is_not_said_to_be_written_by_them(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="can't be kept from other writers: no locks available") as told:
        experiment(tmp_path / "e")
    assert told.value.hint is not None and "--runs-dir" in told.value.hint


def test_what_is_being_written_is_not_gone_on_with(tmp_path: Path) -> None:
    with experiment(tmp_path / "e"), pytest.raises(RecordError, match="is being written by another process"):
        resumption(tmp_path / "e", kinds=("sweep",))


def test_a_directory_that_cannot_be_entered_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    RecordWriter(tmp_path / "mine", plan(), "", {}, codec=FAKE_CODEC).close()
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    stat = Path.stat

    def guarded(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if self.parent == theirs:
            raise PermissionError(errno.EACCES, "Permission denied")
        return stat(self, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", guarded)
    problems = {entry.directory.name: entry.problem for entry in list_records(tmp_path)}
    assert problems == {"mine": "", "theirs": f"can't read {theirs / 'experiment.json'}: permission denied"}
    with pytest.raises(RecordError, match="permission denied"):
        find_record(theirs, runs_dir=tmp_path)


def test_what_cannot_be_opened_is_not_held(tmp_path: Path) -> None:
    assert not is_held(tmp_path / "absent")
    (tmp_path / "file").touch(mode=DIRECTORY_MODE)
    assert not is_held(tmp_path / "file")
