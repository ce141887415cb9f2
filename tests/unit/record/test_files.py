"""Files that are replaced: whole, under the name a user gave, and never a thing that is no file."""

import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from brimline.errors import RecordError
from brimline.record.files import AppendOnlyFile, replace_text


def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe, link, read = tmp_path / "pipe", tmp_path / "link", list[str]()
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for name in (pipe, link):
        reader = Thread(target=lambda: read.append(pipe.read_text()))
        reader.start()
        replace_text(name, "figures")
        reader.join(timeout=10)
    assert read == ["figures", "figures"]
    assert stat.S_ISFIFO(pipe.stat().st_mode) and link.is_symlink()


def test_a_link_to_a_file_is_replaced_and_the_file_keeps_its_content(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("old")
    (tmp_path / "report.html").symlink_to(precious)
    replace_text(tmp_path / "report.html", "new")
    assert precious.read_text() == "old" and (tmp_path / "report.html").read_text() == "new"


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(RecordError) as error:
        replace_text(tmp_path / "missing" / "gate.xml", "")
    assert f"{tmp_path / 'missing' / 'gate.xml'}: no such file" in error.value.message


def test_a_file_that_goes_on_is_cut_back_to_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("1,a\n2,b\n3,to")
    file = AppendOnlyFile(path, goes_on=True)
    file.append("3,c\n")
    assert file.size_bytes == path.stat().st_size
    file.close()
    assert path.read_text() == "1,a\n2,b\n3,c\n"
