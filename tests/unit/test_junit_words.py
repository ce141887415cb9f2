"""`--junit` where there is no result: a CI job must not read the file of the night before."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from brimline.cli.app import main

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        (["compare", "x", "y", "--gate", "5%"], 2, 'no run is called "x"'),
        (["trend", "x", "--gate", "5%"], 2, 'no run is called "x"'),
        (["run", "ycsb-c", "--uri", "mongodb://127.0.0.1:1", "-q"], 5, "127.0.0.1:1"),
        (["capacity", "ycsb-c", "--uri", "mongodb://127.0.0.1:1", "-q"], 5, "127.0.0.1:1"),
        (["ab", "ycsb-c", "--aa", "--uri", "mongodb://127.0.0.1:1", "--gate", "5%", "-q"], 5, "127.0.0.1:1"),
    ],
)
def test_without_a_result_no_older_file_stays_green(
    words: list[str], exit_code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    junit = tmp_path / "gate.xml"
    junit.write_text('<testsuite tests="1" failures="0" errors="0"/>')
    with pytest.raises(SystemExit) as ended:
        main([*words, "--junit", str(junit)])
    root = ElementTree.parse(junit).getroot()
    assert ended.value.code == exit_code and root.get("errors") == "1"
    assert said in "".join(root.itertext())
