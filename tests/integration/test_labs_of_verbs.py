"""Every verb that measures does so on a lab as well: it is started, loaded, measured at a distance and taken away."""

import json
from xml.etree import ElementTree

import pytest

from tests.support.command_line import CALM, CommandLine
from tests.support.labs import left_behind
from tests.support.repetitions import repetitions
from tests.support.server import required_mongod

pytestmark = pytest.mark.mongod

LAB = ("--topology", "replica-set-1", "--network", "100mbit", "--cache-gb", "0.25")
RUNS = ("--records", "500", "--duration", "500ms", "--warmup", "100ms", *CALM)
GROWTH = ("--connections", "1", "--queries", "100", "--repeats", "1")
QUERIES = """
name: queries
data: {records: 500}
scans:
  repetitions: 3
  scenarios:
    - {name: one, filter: {_id: user1}}
"""

QUERIES_OF_ALL = """
name: queries
data: {records: 500}
scans:
  repetitions: 3
  indexes: [{field0: 1}]
  scenarios:
    - {name: all, filter: all}
    - {name: ranges, range: {field: field0, widths: [10, 30, 100]}}
"""


@pytest.mark.slow("a replica set is brought up")
@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("ab", "ycsb-c", "--b", "connections=2", "--pairs", "1", *RUNS), 2),
        (("scan", "queries.yaml"), 1),
        *repetitions(  # every verb has its lab by the same options
            (("interfere", "ycsb-c", "--with", "scan", "--background-rows", "2k", "--pairs", "1", *RUNS), 2),
            (("grow", "ycsb-c", "--to", "1k", "--step", "500", *GROWTH), 4),
        ),
    ],
    ids=["ab", "scan", "interfere", "grow"],
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


SHARDS = ("--topology", "shards-2", "--cache-gb", "0.25")


@pytest.mark.slow("two servers are brought up")
@pytest.mark.parametrize(
    "words",
    [
        ("scan", "queries.yaml"),
        *repetitions(
            (("interfere", "ycsb-c", "--with", "scan", "--background-rows", "2k", "--pairs", "1", *RUNS),),
            (("grow", "ycsb-c", "--to", "1k", "--step", "500", *GROWTH),),
        ),
    ],
    ids=lambda words: words[0],
)
def test_over_client_routed_shards(words: tuple[str, ...], brimline_cli: CommandLine) -> None:
    required_mongod()
    (brimline_cli.directory / "queries.yaml").write_text(QUERIES_OF_ALL)
    outcome = brimline_cli.run(*words, *SHARDS, "-q", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    if words[0] == "grow":
        for volume in document["index_sets"][0]["volumes"]:
            counts = [shard["members"][0]["documents"] for shard in volume["load"]["shards"]]
            assert counts == [volume["records"] / 2] * 2
            work = [shard["members"][0]["operations"]["query"] for shard in volume["queries"][0]["shards"]]
            assert sum(work) == 100
            assert all(count > 20 for count in work), work
    if words[0] == "scan":
        found = {each["scenario"]: each["documents_drained"] for each in document["scenarios"]}
        assert found["all"] == 500
        widths = [(each["width"], each["keys_examined"]) for each in document["scenarios"] if each["width"]]
        assert widths == [(10, 10), (30, 30), (100, 100)]
    assert left_behind(brimline_cli.directory / "cache") == []


@pytest.mark.parametrize(
    ("scenario", "what"),
    [("filter: all, limit: 3", "a limit"), ("pipeline: [{$group: {_id: $field0}}]", "the stage $group")],
)
def test_a_query_without_a_meaning_over_shards_is_refused_before_they_are_started(
    brimline_cli: CommandLine, scenario: str, what: str
) -> None:
    (brimline_cli.directory / "queries.yaml").write_text(QUERIES.replace("filter: {_id: user1}", scenario))
    outcome = brimline_cli.run("scan", "queries.yaml", *SHARDS)
    outcome.check_error(2, f"one: {what} has no meaning over client-routed shards", "leave the scenario out")


def test_a_backup_of_several_servers_is_refused(brimline_cli: CommandLine) -> None:
    required_mongod()
    outcome = brimline_cli.run("interfere", "ycsb-c", "--with", "backup:mongodump", *SHARDS, *RUNS)
    outcome.check_error(2, "a backup of one server, and client-routed shards are several", "take --with backup")


@pytest.mark.slow("two servers are brought up")
def test_an_import_shares_its_rows_out_by_their_ids(brimline_cli: CommandLine) -> None:
    required_mongod()
    rows = "".join(f"{number},{number % 7}\n" for number in range(1_000))
    # The last of them is there already: the server that has its _id refuses it, and no other takes it.
    (brimline_cli.directory / "rows.csv").write_text("_id,x\n" + rows + "999,0\n")
    outcome = brimline_cli.run("import", "rows.csv", "--headerline", "--throw-away", *SHARDS, "-q", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert (document["counts"]["inserted"], document["counts"]["rejected"]) == (1_000, 1)
    assert (document["count_after"], document["data_size"]["documents"]) == (1_000, 1_000)
    first, second = document["distribution"]
    assert first["documents"] + second["documents"] == 1_000
    assert abs(first["documents"] - second["documents"]) < 100
    assert sum(each["operations"]["insert"] for each in (first, second)) >= 1_000
    checks = {check["name"]: check["result"] for check in document["checks"]}
    assert (checks["distribution"], checks["count"]) == ("pass", "pass")
    assert left_behind(brimline_cli.directory / "cache") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--maintainInsertionOrder",), "the order of the input can't be kept on client-routed-2"),
        (("--mode", "upsert", "--upsertFields", "x"), "the server of a document follows from its _id"),
    ],
)
def test_an_import_that_shards_can_not_take_is_refused_before_they_are_started(
    brimline_cli: CommandLine, words: tuple[str, ...], message: str
) -> None:
    (brimline_cli.directory / "rows.csv").write_text("_id,x\n1,1\n")
    outcome = brimline_cli.run("import", "rows.csv", "--headerline", "--throw-away", *SHARDS, *words)
    outcome.check_error(2, message, "take another topology")
