"""Files that go on in pieces: read as one, whatever a crash left."""

import gzip
from pathlib import Path

import pytest

from brimline.record import pieces
from brimline.record.coarse import read_coarse
from brimline.record.pieces import PiecesFile, lines_of, pieces_of
from brimline.record.reader import read_record
from brimline.record.writer import RecordWriter
from tests.unit.record.fake_histogram import FAKE_CODEC
from tests.unit.record.samples import SECOND_NS, interval_row, operation_row, plan

ROWS = [f"{number},x\n" for number in range(50)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE_BYTES_MAX", 60)


def written(path: Path) -> Path:
    with PiecesFile(path, head="number,word\n") as file:
        for row in ROWS:
            file.append(row)
    return path


def test_pieces_are_compressed_have_the_head_each_and_are_read_as_one(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv")
    found = pieces_of(path)
    assert len(found) > 3 and found[0].name == "rows.0001.csv.gz"
    texts = [gzip.decompress(each.read_bytes()) for each in found]
    assert all(text.startswith(b"number,word\n") and len(text) <= 60 for text in texts)
    assert list(lines_of(path)) == ["number,word\n", *ROWS]


def test_what_a_crash_leaves_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv")
    first = pieces_of(path)[0]
    first.with_suffix("").write_bytes(gzip.decompress(first.read_bytes()))  # killed before the plain one went
    (tmp_path / ".rows.0002.csv.gz.tmp").write_bytes(b"half")
    with path.open("a") as torn:
        torn.write("50,to")
    assert list(lines_of(path)) == ["number,word\n", *ROWS]
    path.unlink()  # killed between two pieces
    assert list(lines_of(path))[:-1] == ["number,word\n", *ROWS][: len(list(lines_of(path))) - 1]
    assert list(lines_of(tmp_path / "other.csv")) == []


def test_a_piece_that_cannot_be_compressed_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_path: Path) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr(pieces, "_compress", full)
    path = written(tmp_path / "rows.csv")
    assert pieces_of(path)[0].name == "rows.0001.csv"
    assert list(lines_of(path)) == ["number,word\n", *ROWS]


def record(directory: Path, monkeypatch: pytest.MonkeyPatch, *, seconds: int) -> Path:
    monkeypatch.setattr(pieces, "PIECE_BYTES_MAX", 900)
    with RecordWriter(directory, plan(), "name: x\n", {}, codec=FAKE_CODEC) as writer:
        for second in range(seconds):
            writer.append({"operations": [operation_row(second, "read")], "intervals": [interval_row(second)]})
            writer.append_server({"at_ns": second * SECOND_NS, "uptime_ms": 10_000 + second * 1000})
        writer.seal(None, None, ended_by="interrupt")
    return directory


def test_a_record_in_pieces_reads_as_any_other_and_its_pieces_are_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_pieces = read_record(record(tmp_path / "a", monkeypatch, seconds=40), codec=FAKE_CODEC)
    assert len(pieces_of(tmp_path / "a" / "operations.csv")) > 1
    assert len(in_pieces.intervals) == len(in_pieces.operations) == len(in_pieces.server) == 40
    assert len(list(in_pieces.interval_histograms("service"))) == 40
    assert in_pieces.files_changed == ()
    pieces_of(tmp_path / "a" / "latency.hlog")[0].unlink()
    changed = read_record(tmp_path / "a", codec=FAKE_CODEC).files_changed
    assert changed == ("latency.0001.hlog.gz",)


def test_blocks_have_all_that_the_intervals_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = record(tmp_path / "a", monkeypatch, seconds=102)
    whole = read_record(directory, codec=FAKE_CODEC)
    coarse = read_coarse(directory, codec=FAKE_CODEC, looked_at=("uptime_ms",), blocks=16)
    few = coarse.record
    assert 8 <= sum(row["phase"] == "measure" for row in few.intervals) <= 16
    for name in ("sent", "ok", "documents", "in_flight_ns"):
        assert sum(row[name] for row in few.operations) == sum(row[name] for row in whole.operations)  # type: ignore[literal-required]
    assert few.measured_s == whole.measured_s
    assert few.histograms["read", "service"].count() == whole.histograms["read", "service"].count()
    assert few.server[0] == whole.server[0] and few.server[-1] == whole.server[-1]
    lengths = {row["end_ns"] - row["start_ns"] for row in few.intervals if row["phase"] == "measure"}
    assert max(lengths) <= 2 * sorted(lengths)[0] or len(lengths) <= 2
    fine = coarse.fine
    assert len(fine.starts_s) == 100 and fine.answered.sum() == 200
    assert fine.slowest_ns.min() == 2_000_000
    assert len(fine.looks.at_s) == 102
