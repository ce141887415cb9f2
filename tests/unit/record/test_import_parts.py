"""What parts of an import rejected is each once in the record, in the order of the input, however often it went on."""

from pathlib import Path

import pytest

from brimline.errors import RecordError
from brimline.record.data_import import ImportPart, Place, read_checkpoint
from brimline.record.import_parts import ImportParts, read_sizes, remove_parts_files, settled_bytes

MIDDLE = Place(input=0, offset=100, line=11)
PARTS = [
    ImportPart(begin=Place(input=0, offset=0, line=1), until=MIDDLE),
    ImportPart(begin=MIDDLE, until=None),
]


def _rejects(*lines: int) -> bytes:
    return b"".join(b'{"line":%d}\n' % line for line in lines)


def _noted(kept: ImportParts, part: int, lines: tuple[int, ...], *, settled: int, finished: bool = False) -> None:
    """A node's word: it rejected `lines`, of which the first `settled` are settled."""
    settled_bytes = len(_rejects(*lines[:settled]))
    checkpoint = {**kept.to_go_on(part), "rejected_bytes": settled_bytes, "finished": finished}
    kept.note(part, checkpoint, _rejects(*lines))


def test_what_was_rejected_is_there_once_in_the_order_of_the_input(tmp_path: Path) -> None:
    for attempt in range(3):
        kept = ImportParts(tmp_path, PARTS)
        kept.begin()
        is_last = attempt == 2
        _noted(kept, 1, (21 + attempt, 91), settled=2 if is_last else 1, finished=is_last)
        _noted(kept, 0, (1 + attempt, 10), settled=2 if is_last else 1, finished=is_last)
        kept.conclude()
        kept.conclude()
        expected = [*range(1, 2 + attempt), 10, *range(21, 22 + attempt), 91]
        assert (tmp_path / "rejected.jsonl").read_bytes() == _rejects(*expected)
    ImportParts(tmp_path, PARTS).conclude()  # of one whose server was lost while it counted
    assert (tmp_path / "rejected.jsonl").read_bytes() == _rejects(*expected)
    remove_parts_files(tmp_path, len(PARTS))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.json", "rejected.jsonl"]


def test_all_that_is_left_of_a_part_is_in_doubt_once_it_was_begun(tmp_path: Path) -> None:
    kept = ImportParts(tmp_path, PARTS)
    assert [each["in_doubt_until"] for each in kept.checkpoints] == [part["begin"] for part in PARTS]
    kept.begin()
    noted = (read_checkpoint(tmp_path) or {})["parts"]
    assert noted[0]["in_doubt_until"] == MIDDLE
    assert noted[1]["in_doubt_until"]["offset"] > 2**60
    kept.conclude()


def test_a_checkpoint_counts_once_all_is_here_that_was_rejected_before_it(tmp_path: Path) -> None:
    """One that knew of more than its file had let nobody go on."""
    kept = ImportParts(tmp_path, PARTS)
    ahead = {**kept.to_go_on(0), "rejected_bytes": len(_rejects(1, 2)), "finished": True}
    kept.note(0, ahead, _rejects(1))
    assert not kept.checkpoints[0]["finished"] and kept.checkpoints[0]["rejected_bytes"] == 0
    kept.note(0, ahead, _rejects(2))
    assert kept.checkpoints[0]["finished"] and kept.checkpoints[0]["rejected_bytes"] == len(_rejects(1, 2))
    kept.conclude()


def test_a_file_that_lost_records_is_not_filled_up(tmp_path: Path) -> None:
    kept = ImportParts(tmp_path, PARTS)
    _noted(kept, 0, (1,), settled=1)
    kept.conclude()
    (tmp_path / "rejected.0.jsonl").write_bytes(b"")
    with pytest.raises(RecordError, match="the checkpoint knows of"):
        ImportParts(tmp_path, PARTS)


def test_what_earlier_attempts_settled_is_counted_over_the_borders_of_files(tmp_path: Path) -> None:
    assert settled_bytes(tmp_path, PARTS, [300, 50]) == 0
    kept = ImportParts(tmp_path, PARTS)
    for part, place in enumerate([Place(input=0, offset=70, line=8), Place(input=1, offset=20, line=2)]):
        kept.note(part, {**kept.to_go_on(part), "place": place}, b"")
    kept.save()
    kept.conclude()
    assert settled_bytes(tmp_path, PARTS, [300, 50]) == 70 + 200 + 20


def test_a_compressed_input_counts_as_it_is_read() -> None:
    """It counted as it lies on the disk, against a sum of what is read: such an import never came to 100 %."""
    assert read_sizes([(300, False), (50, True)], 1_000) == [300, 700]
    assert read_sizes([(30, True), (60, True)], 900) == [300, 600]
    assert read_sizes([(300, False), (50, False)], 350) == [300, 50]
