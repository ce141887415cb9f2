"""Rows of records: under one header, whole or not at all."""

from pathlib import Path

from brimline.record.csv_file import CsvFile


def test_rows_that_are_added_stand_under_the_header_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    before = CsvFile(path, ("a", "b"))
    before.append([{"a": 1, "b": 2}])
    before.close()
    after = CsvFile(path, ("b", "c"), goes_on=True)
    after.append([{"b": 3, "c": 4}])
    after.close()
    assert path.read_text() == "a,b\n1,2\n,3\n"


def test_a_header_that_was_torn_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,")
    file = CsvFile(path, ("a", "b"), goes_on=True)
    file.append([{"a": 1, "b": 2}])
    file.close()
    assert path.read_text() == "a,b\n1,2\n"
