"""Every verb that measures does so on a lab as well: it is started, loaded, measured at a distance and taken away."""

import json
from xml.etree import ElementTree

import pytest

from tests.support.command_line import CommandLine
from tests.support.labs import left_behind
from tests.support.server import required_mongod

pytestmark = pytest.mark.mongod

LAB = ("--topology", "replica-set-1", "--network", "100mbit", "--cache-gb", "0.25")
RUNS = ("--records", "500", "--duration", "500ms", "--warmup", "100ms")
GROWTH = ("--connections", "1", "--queries", "100", "--repeats", "1")
QUERIES = """
name: queries
data: {records: 500}
scans:
  repetitions: 3
  scenarios:
    - {name: one, filter: {_id: user1}}
"""


@pytest.mark.slow("a replica set is brought up")
@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("ab", "ycsb-c", "--b", "connections=2", "--pairs", "1", *RUNS), 2),
        (("interfere", "ycsb-c", "--with", "scan", "--background-rows", "2k", "--pairs", "2", *RUNS), 4),
        (("grow", "ycsb-c", "--to", "1k", "--step", "500", *GROWTH), 4),
        (("scan", "queries.yaml"), 1),
    ],
    ids=["ab", "interfere", "grow", "scan"],
)
def test_on_a_lab(words: tuple[str, ...], count: int, brimline_cli: CommandLine) -> None:
    required_mongod()
    (brimline_cli.directory / "queries.yaml").write_text(QUERIES)
    if words[0] != "ab":  # whose file has the cases of its gate
        words = (*words, "--junit", "outcome.xml")
    outcome = brimline_cli.run(*words, *LAB, "-q", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    (directory,) = [place for place in brimline_cli.record_directories() if (place / "experiment.json").exists()]
    assert len(list(directory.glob("trials/*"))) == count
    server = json.loads((directory / "environment.json").read_text())["server"]
    assert (server["lab"]["topology"], server["lab"]["network"]["rate_bit_per_s"]) == ("replica set", 1e8)
    if words[0] != "ab":
        (case,) = ElementTree.parse(brimline_cli.directory / "outcome.xml").getroot()
        assert [child.tag for child in case] == ["system-out"]
    assert left_behind(brimline_cli.directory / "cache") == []
