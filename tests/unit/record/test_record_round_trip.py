"""What is written is read back unchanged, whole or cut short."""

import json
import os
import re
import shutil
import stat
from pathlib import Path

import pytest

from brimline.errors import RecordError
from brimline.plan import RunnerTarget
from brimline.record import RecordWriter, read_record
from brimline.record.model import Samples
from tests.unit.record.fake_histogram import FAKE_CODEC, encoded
from tests.unit.record.samples import SECOND_NS, interval_row, operation_row, plan, samples, summary

SPEC = "name: ycsb-a\r\n# a comment, and no newline at the end"
OPCOUNTERS = {"before": {"query": 5}, "after": {"query": 15}}


def write_run(directory: Path, *, sealed: bool = True) -> None:
    with RecordWriter(directory, plan(), SPEC, {"host": {"cpu_cores": 2}}, codec=FAKE_CODEC) as writer:
        writer.event("phase", name="warmup")
        for second in range(5):
            writer.append(samples(second))
            writer.append_server(
                {"at_ns": second * SECOND_NS, "cpu_cores": 0.5, "state": "PRIMARY", "cache_bytes": None}
            )
        if sealed:
            assert writer.seal(summary(), OPCOUNTERS, ended_by="completed") == []  # type: ignore[arg-type]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    directory = tmp_path / "run"
    write_run(directory)
    return directory


def without_histograms(rows: Samples) -> list[dict[str, object]]:
    clocks = ("service", "response", "lag", "breakdown")
    return [{key: value for key, value in row.items() if key not in clocks} for row in rows["operations"]]


def test_the_driver_that_was_in_the_engine_is_read_as_the_runner_of_today(run: Path) -> None:
    """`driver` was a kind of target until the driver for Rust became a runner."""
    values = json.loads((run / "plan.json").read_text())
    values["target"] = {"kind": "driver", "address": "host:27017", "write_concern": {"w": 1, "journal": None}}
    (run / "plan.json").write_text(json.dumps(values, separators=(",", ":")))
    target = read_record(run, codec=FAKE_CODEC).plan.target
    assert isinstance(target, RunnerTarget)
    assert (target.client, target.addresses) == ("rust", ("host:27017",))
    assert target.write_concern is not None and target.write_concern.w == 1


def test_rows_totals_and_texts_come_back_as_they_were_written(run: Path) -> None:
    record = read_record(run, codec=FAKE_CODEC)

    assert record.operations == [row for second in range(5) for row in without_histograms(samples(second))]
    assert record.intervals == [row for second in range(5) for row in samples(second)["intervals"]]
    assert record.summary == summary()
    assert record.opcounters == OPCOUNTERS
    assert record.plan == plan()
    assert record.environment == {"host": {"cpu_cores": 2}}
    assert record.server[1] == {"at_ns": SECOND_NS, "cpu_cores": 0.5, "state": "PRIMARY", "cache_bytes": None}
    assert [(event.kind, event.fields) for event in record.events] == [("phase", {"name": "warmup"})]
    assert (record.ended_by, record.complete, record.imbalances, record.files_changed) == (
        "completed",
        True,
        (),
        (),
    )
    assert record.measured_s == 3.0
    assert (run / "spec.yaml").read_bytes() == SPEC.encode()


def test_histograms_are_merged_over_the_measured_window_only(run: Path) -> None:
    record = read_record(run, codec=FAKE_CODEC)

    assert set(record.histograms) == {
        (operation, clock) for operation in ("read", "update") for clock in ("service", "response", "lag")
    }
    assert record.histograms["read", "response"].buckets() == [(1_100_000, 3), (2_100_000, 3)]
    intervals = list(record.interval_histograms())
    assert len(intervals) == 5 * 2 * 3
    assert [interval.phase for interval in intervals[::6]] == [
        "warmup",
        "warmup",
        "measure",
        "measure",
        "measure",
    ]


def test_an_interval_can_hold_operations_of_two_phases(tmp_path: Path) -> None:
    late = operation_row(2, "read", phase="warmup", sent=0, ok=1, service=encoded(7), response=encoded(8), lag=None)
    with RecordWriter(tmp_path, plan(), SPEC, {}, codec=FAKE_CODEC) as writer:
        writer.append({"operations": [late, operation_row(2, "read")], "intervals": [interval_row(2)]})

    record = read_record(tmp_path, codec=FAKE_CODEC)

    assert [row["phase"] for row in record.operations] == ["warmup", "measure"]
    assert record.histograms["read", "service"].buckets() == [(1_000_000, 1), (2_000_000, 1)]
    assert [each.phase for each in record.interval_histograms()] == ["warmup"] * 2 + ["measure"] * 3


def test_interval_that_was_not_finished_is_left_out(tmp_path: Path) -> None:
    write_run(tmp_path, sealed=False)
    path = tmp_path / "intervals.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))

    record = read_record(tmp_path, codec=FAKE_CODEC)

    assert {row["end_ns"] // SECOND_NS for row in record.operations} == {1, 2, 3, 4}
    assert {each.end_ns // SECOND_NS for each in record.interval_histograms()} == {1, 2, 3, 4}


def test_directory_and_files_are_private(run: Path) -> None:
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in run.iterdir()} == {0o600}


def test_killed_run_keeps_its_prefix_and_says_so(tmp_path: Path) -> None:
    write_run(tmp_path, sealed=False)
    for name in ("operations.csv", "latency.hlog", "intervals.csv", "server.csv", "events.jsonl"):
        with (tmp_path / name).open("a") as file:
            file.write("measure,50000")  # torn: the line break never made it

    record = read_record(tmp_path, codec=FAKE_CODEC)

    assert record.ended_by == "killed"
    assert not record.complete
    assert "never sealed" in record.message
    assert record.summary is None
    assert (len(record.operations), len(record.intervals), len(record.server), len(record.events)) == (
        10,
        5,
        5,
        1,
    )
    assert record.histograms["update", "service"].count() == 6


@pytest.mark.parametrize("name", ["operations.csv", "latency.hlog", "intervals.csv", "server.csv", "events.jsonl"])
def test_record_is_readable_wherever_a_file_was_cut(tmp_path: Path, name: str) -> None:
    whole = tmp_path / "whole"
    write_run(whole, sealed=False)
    content = (whole / name).read_bytes()
    for length in range(0, len(content), 37):
        cut = tmp_path / f"cut-{length}"
        shutil.copytree(whole, cut)
        (cut / name).write_bytes(content[:length])
        read_record(cut, codec=FAKE_CODEC)


def test_changed_file_is_named(run: Path) -> None:
    with (run / "operations.csv").open("a") as file:
        file.write("measure,5000000000,6000000000,read,1,1,0,0,0,1,1,1,1\n")
    (run / "server.csv").unlink()

    assert set(read_record(run, codec=FAKE_CODEC).files_changed) == {"operations.csv", "server.csv"}


def test_sealing_reports_and_stores_what_does_not_add_up(tmp_path: Path) -> None:
    with RecordWriter(tmp_path, plan(), SPEC, {}, codec=FAKE_CODEC) as writer:
        for second in range(4):  # the fifth second is lost
            writer.append(samples(second))
        problems = writer.seal(summary(due=21), None, ended_by="completed")

    assert problems[0] == "due 21 is not sent 20 + overdue 0"
    assert "read: the rows hold 8 sent, the totals 10" in problems
    assert "update: the rows hold 0 failed, the totals 1" in problems
    assert list(read_record(tmp_path, codec=FAKE_CODEC).imbalances) == problems


def test_full_disk_keeps_what_was_written_and_says_how_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "run"
    with RecordWriter(directory, plan(), SPEC, {}, codec=FAKE_CODEC) as writer:
        writer.append(samples(0))
        writer.append(samples(1))
        real_write = os.write

        def write_on_full_disk(descriptor: int, data: bytes) -> int:
            if len(data) > 20:
                return real_write(descriptor, data[:20])
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", write_on_full_disk)
            with pytest.raises(RecordError) as caught:
                writer.append(samples(2))

    assert caught.value.message.endswith("operations.csv: no space left on device")
    assert caught.value.hint is not None
    assert "first 2.0 s is kept" in caught.value.hint
    record = read_record(directory, codec=FAKE_CODEC)
    assert (len(record.operations), record.ended_by) == (4, "killed")
    assert (directory / "operations.csv").read_text().endswith("\n")


def test_failed_sealing_leaves_the_old_state_and_no_debris(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "other"
    with RecordWriter(directory, plan(), SPEC, {}, codec=FAKE_CODEC) as writer:

        def refuse(source: object, target: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "replace", refuse)
        with pytest.raises(RecordError, match=r"record\.json: no space left"):
            writer.seal(None, None, ended_by="interrupt")
    assert json.loads((directory / "record.json").read_text())["ended_by"] is None
    assert not list(directory.glob(".*"))


def test_a_record_is_never_written_over(run: Path) -> None:
    with pytest.raises(RecordError, match="already holds a run"):
        RecordWriter(run, plan(), SPEC, {}, codec=FAKE_CODEC)


def test_unwritable_place_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match=r"can't write .*file/run: not a directory") as caught:
        RecordWriter(tmp_path / "file" / "run", plan(), SPEC, {}, codec=FAKE_CODEC)
    assert caught.value.hint == "choose another place with --runs-dir"


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="there is no directory"):
        read_record(tmp_path / "absent", codec=FAKE_CODEC)
    with pytest.raises(RecordError, match=r"is not a run: it has no record\.json"):
        read_record(tmp_path, codec=FAKE_CODEC)
    (tmp_path / "record.json").write_text("{")
    with pytest.raises(RecordError, match="it is not JSON"):
        read_record(tmp_path, codec=FAKE_CODEC)
    (tmp_path / "record.json").write_text("{}")
    with pytest.raises(RecordError, match="no format_version"):
        read_record(tmp_path, codec=FAKE_CODEC)


def test_newer_format_is_refused(run: Path) -> None:
    state = json.loads((run / "record.json").read_text())
    (run / "record.json").write_text(json.dumps(state | {"format_version": 2}))
    with pytest.raises(RecordError, match="format version 2, this brimline reads up to 1") as caught:
        read_record(run, codec=FAKE_CODEC)
    assert caught.value.hint is not None
    assert "newer brimline" in caught.value.hint


def test_damaged_row_in_the_middle_is_an_error_not_a_guess(run: Path) -> None:
    path = run / "operations.csv"
    path.write_text(path.read_text().replace("measure,3000000000", "measure,three", 1))
    with pytest.raises(RecordError, match=re.escape("operations.csv is damaged near 'measure,three")):
        read_record(run, codec=FAKE_CODEC)


def test_no_secret_reaches_the_disk(tmp_path: Path) -> None:
    uri = "mongodb://alice:s3cret@db.example:27017/?tlsCertificateKeyFilePassword=s3cret"
    environment = {
        "uri": uri,
        "server": {"argv": ["mongod", "--sslPEMKeyPassword", "s3cret"], "password": "s3cret"},
    }
    with RecordWriter(tmp_path, plan(), f"target:\n  uri: {uri}\n", environment, codec=FAKE_CODEC) as writer:
        writer.event("connect", uri=uri)
        writer.seal(None, None, ended_by="error", message=f"can't reach {uri}")

    for path in tmp_path.iterdir():
        assert "s3cret" not in path.read_text(), path.name
    assert "db.example:27017" in (tmp_path / "spec.yaml").read_text()


def test_server_rows_may_lack_columns_but_not_bring_new_ones(tmp_path: Path) -> None:
    with RecordWriter(tmp_path, plan(), SPEC, {}, codec=FAKE_CODEC) as writer:
        writer.append_server({"at_ns": 1, "cpu_cores": 0.5})
        writer.append_server({"at_ns": 2})
        with pytest.raises(ValueError, match="tickets"):
            writer.append_server({"at_ns": 3, "tickets": 1})
    assert read_record(tmp_path, codec=FAKE_CODEC).server == [
        {"at_ns": 1, "cpu_cores": 0.5},
        {"at_ns": 2, "cpu_cores": None},
    ]


def test_facts_about_the_server_are_replaced_whole_and_hold_no_secret(tmp_path: Path) -> None:
    with RecordWriter(tmp_path, plan(), SPEC, {}, codec=FAKE_CODEC) as writer:
        writer.server_facts({"before": {"dbStats": {"objects": 1}}})
        assert read_record(tmp_path, codec=FAKE_CODEC).server_facts == {"before": {"dbStats": {"objects": 1}}}
        writer.server_facts({"after": {"note": "mongodb://ann:secret@h"}})
        writer.append(samples(0))
        writer.seal(None, None, ended_by="error")
    record = read_record(tmp_path, codec=FAKE_CODEC)
    assert record.server_facts == {"after": {"note": "mongodb://***@h"}}
    assert record.files_changed == ()
    (tmp_path / "server.json").write_text("{}")
    assert read_record(tmp_path, codec=FAKE_CODEC).files_changed == ("server.json",)


def test_a_record_without_facts_about_the_server_has_none(tmp_path: Path) -> None:
    with RecordWriter(tmp_path, plan(), SPEC, {}, codec=FAKE_CODEC):
        pass
    assert read_record(tmp_path, codec=FAKE_CODEC).server_facts == {}


def test_documents_of_inserts_that_do_not_add_up_are_said_so(tmp_path: Path) -> None:
    inserts = {"sent": 1000, "inserted": 990, "failed": 3, "skipped": 0, "unknown": 0}
    error = {"operation": "load", "outcome": "write_error", "code": 11000, "label": "", "count": 2, "example": "E11000"}
    with RecordWriter(tmp_path, plan(), SPEC, {}, codec=FAKE_CODEC) as writer:
        for second in range(5):
            writer.append(samples(second))
        problems = writer.seal(summary(inserts=inserts, document_errors=[error]), None, ended_by="completed")
    assert problems == [
        "1 000 documents sent are not 990 inserted + 3 failed + 0 skipped + 0 unknown",
        "3 failed documents are not the sum 2 over the kinds of error",
    ]
