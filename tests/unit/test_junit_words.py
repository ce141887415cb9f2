"""`--junit` where there is no result: a CI job must not read the file of the night before."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from brimline.cli import junit as junit_files
from brimline.cli.app import main

pytestmark = pytest.mark.usefixtures("impatient")

NOBODY = ("--uri", "mongodb://u:secret@127.0.0.1:1", "-q")
MEASURING = {
    "run": ("ycsb-c",),
    "load": ("ycsb-c",),
    "capacity": ("ycsb-c",),
    "sweep": ("ycsb-c",),
    "grow": ("ycsb-c", "--to", "10", "--step", "5"),
    "scan": ("s2-scans",),
    "interfere": ("ycsb-c", "--with", "scan"),
    "failover": ("ycsb-c", "--fault", "kill"),
    "soak": ("ycsb-c",),
    "import": ("rows.json", "--db", "a", "--collection", "b"),
}
"""Each verb that has `--junit` without a gate, as it measures."""


@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        (["run", "no-such-workload"], 2, "no-such-workload"),
        (["run", "ycsb-c", "--rate", "soon"], 2, "soon"),
        (["run", "ycsb-c", "--no-such-option"], 2, "--no-such-option"),
        (["compare", "x", "y", "--gate", "5%"], 2, 'no run is called "x"'),
        (["trend", "x", "--gate", "5%"], 2, 'no run is called "x"'),
        *(([verb, *words, *NOBODY, "--json"], 5, "127.0.0.1:1") for verb, words in MEASURING.items()),
        (["ab", "ycsb-c", "--aa", *NOBODY, "--gate", "5%"], 5, "127.0.0.1:1"),
    ],
)
def test_without_a_result_no_older_file_stays_green(
    words: list[str],
    exit_code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.json").write_text("{}\n")
    junit = tmp_path / "gate.xml"
    junit.write_text('<testsuite tests="1" failures="0" errors="0"/>')
    with pytest.raises(SystemExit) as ended:
        main([*words, "--junit", str(junit)])
    root = ElementTree.parse(junit).getroot()
    assert ended.value.code == exit_code and root.get("errors") == "1"
    assert [each.get("type") for each in root.iter("error")] == [{2: "usage", 5: "target"}[exit_code]]
    assert all(float(each.get("time", "")) >= 0 for each in (root, *root.iter("testcase")))
    assert said in "".join(root.itertext())
    out = capsys.readouterr().out
    assert (json.loads(out)["exit_code"] == exit_code) if "--json" in words else not out


def test_a_verb_without_the_option_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["list", "--junit", "gate.xml"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        (["run", "no-such-workload"], 2, "no-such-workload"),
        (["run", "ycsb-c", "--no-such-option"], 2, "--no-such-option"),
        (["run", "ycsb-c", *NOBODY], 5, "127.0.0.1:1"),
        (["backup", "dump", *NOBODY], 5, "127.0.0.1:1"),
        (["restore", ".", *NOBODY], 5, "127.0.0.1:1"),
        (["stat", *NOBODY[:2]], 5, "127.0.0.1:1"),
        (["doctor", *NOBODY[:2]], 5, "127.0.0.1:1"),
        (["study", "run", "no-such-study"], 2, "no-such-study"),
        (["study", "check", "no-such-study"], 2, "no-such-study"),
        (["compare", "x", "y"], 2, 'no run is called "x"'),
        (["show", "x"], 2, 'no run is called "x"'),
        (["lab", "status", "none-such"], 2, "none-such"),
    ],
)
def test_an_error_is_told_programs_that_asked_for_json(
    words: list[str],
    exit_code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main([*words, "--json"])
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert (set(document), document["exit_code"]) == ({"error", "hint", "exit_code"}, exit_code)
    assert said in document["error"] and f"error: {document['error']}" in printed.err
    assert "secret" not in printed.out + printed.err


@pytest.mark.parametrize("words", [["run", "no-such-workload"], ["list", "--no-such-option"]])
def test_people_find_nothing_on_standard_output(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("exit_code", "kind"),
    [(1, "error"), (2, "usage"), (4, "inconclusive"), (5, "target"), (6, "error"), (130, "interrupted")],
)
def test_a_case_says_by_the_exit_code_what_came_in_between(exit_code: int, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "case.xml"
    junit_files.write_error("no word", path, suite="run", name="mine", exit_code=exit_code)
    assert [each.get("type") for each in ElementTree.parse(path).getroot().iter("error")] == [kind]


@pytest.mark.parametrize("place", ["no/such/gate.xml", "", "file/gate.xml"])
def test_a_file_that_can_t_be_written_is_refused_before_anything_is_measured(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run was made whole, and its verdict lost, since the directory of the file was not there."""
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as ended:
        main(["run", "ycsb-c", *NOBODY, "--junit", str(tmp_path / place)])
    said = capsys.readouterr().err
    assert ended.value.code == 2 and f"can't write {tmp_path / place}: " in said and "hint: give --junit a file" in said
