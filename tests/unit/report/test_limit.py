"""What limited a run, as reports show it."""

import json
from typing import Literal

from brimline.analysis.bottleneck import NAMES, BottleneckKind, bottleneck
from brimline.analysis.objective import Slo
from brimline.analysis.observation import observe
from brimline.experiments.trial import Probe, Trial
from brimline.report.limit import limit_blocks, limit_document, limit_facts, limit_section, run_limit_document
from brimline.report.search.probes import probe_rows, probe_table
from brimline.report.view import Table, Text
from tests.unit.analysis.records import at_work, run_record

SCANS = {"documents_scanned": 1e6, "documents_returned": 1000.0, "update": 0.0, "delete": 0.0}


def test_a_limit_is_a_sentence_and_every_candidate() -> None:
    section = limit_section(observe(at_work(server_cpus=1.9, counters=SCANS)))
    sentence, table = section.blocks
    assert isinstance(sentence, Text) and isinstance(table, Table)
    assert sentence.text == "Limited by the query plan (1 000 documents scanned for each match)."
    (head,) = limit_facts(observe(at_work(server_cpus=1.9, counters=SCANS)))
    assert (head.label, head.value) == ("Why", sentence.text), "the first screen says what the terminal says"
    rows = {row[0].text: (row[1].text, row[2].text) for row in table.rows}
    assert rows["Query plan"] == ("full", "1 000 documents scanned for each one returned or written")
    assert rows["Server CPU"] == ("full", "server CPU 95 % of 2 CPUs")
    assert rows["Disk"] == ("unknown", "disk unknown")
    assert {name.lower() for name in rows} == {name.lower() for name in NAMES.values()} - {"undetermined"}


def test_a_run_that_got_what_it_asked_for_names_no_limit() -> None:
    section = limit_section(observe(run_record()))
    assert isinstance(section.blocks[0], Text)
    assert section.blocks[0].text == "What was asked for was answered: nothing had to be full."
    document = run_limit_document(observe(run_record()))
    assert document is not None and document["reached"] is False
    assert limit_facts(observe(run_record())) == []


def test_nothing_limits_a_run_without_a_server_but_the_generator() -> None:
    observation = observe(run_record(target="null"))
    assert not limit_section(observation).blocks and limit_facts(observation) == []
    assert run_limit_document(observation) is None


def test_the_json_keeps_every_candidate() -> None:
    found = bottleneck(observe(at_work(server_cpus=1.9, counters=SCANS)))
    document = limit_document(found)
    assert document == json.loads(json.dumps(document))
    assert document is not None and document["kind"] == "query_plan"
    assert {each["kind"] for each in document["candidates"]} == set(BottleneckKind) - {"undetermined"}
    assert {each["standing"] for each in document["candidates"]} <= {"full", "near", "not", "unknown"}
    assert limit_document(None) is None


def test_undetermined_is_said_as_such() -> None:
    block = limit_blocks(bottleneck(observe(at_work(server_cpus=1.5))))[0]
    assert isinstance(block, Text) and block.text == "Undetermined: nothing that can be seen was full."


def _probe(connections: int, target: Literal["server", "null"] = "server") -> Probe:
    return Probe(
        stage="sweep",
        label=f"{connections}-connections",
        target=target,
        connections=connections,
        rate_ops_per_s=None,
        warmup_s=0.0,
        duration_s=10.0,
    )


def test_each_level_of_a_sweep_says_what_was_full() -> None:
    idle, busy = (observe(at_work(server_cpus=cpus)) for cpus in (0.5, 1.9))
    trials = [
        Trial(probe=_probe(8), observation=idle),
        Trial(probe=_probe(8), observation=busy),
        Trial(probe=_probe(8, "null"), observation=observe(run_record(rate=None, target="null"))),
    ]
    rows = probe_rows(trials, Slo(), null_ceiling_ops_per_s=None)
    assert [None if row.limit is None else row.limit.kind.value for row in rows] == ["connections", "server_cpu", None]
    enough = probe_rows(trials, Slo(), null_ceiling_ops_per_s=None, plateau_connections=8)
    assert enough[0].limit is not None and enough[0].limit.kind is BottleneckKind.UNDETERMINED
    table = probe_table(rows)
    column = [each.label for each in table.columns].index("Full")
    assert [row[column].text for row in table.rows] == ["connections", "server CPU", ""]
