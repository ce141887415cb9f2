"""A factor sweep over several databases: durability is stated, and where it differs every table says so."""

from dataclasses import replace
from pathlib import Path

import pytest

from brimline.analysis.durability import record_durability
from brimline.experiments.vary.factors import parse_factors
from brimline.experiments.vary.order import VaryProbe, VarySettings, VaryTrial
from brimline.plan.targets import WireTarget, WriteConcern
from brimline.report.vary.databases import database_blocks, durability_remark, remarked
from brimline.report.view import Section, Table, Text
from brimline.servers.database import Durability
from tests.unit.record.samples import plan
from tests.unit.report.report_samples import simulated_plan, write_run

SETTINGS = VarySettings(factors=parse_factors(["protocol=mongodb,mariadb"]))
ON_DISK = Durability(on_disk=True, words="innodb_flush_log_at_trx_commit=1")


def trial(level: str, durability: Durability) -> VaryTrial:
    probe = VaryProbe(block=1, levels=(level,))
    return VaryTrial(
        probe=probe, engine="E", server_version="1", durability=durability, size_bytes=2048, figures={"server_cpu": 5e4}
    )


def texts(trials: list[VaryTrial]) -> tuple[str, list[list[str]]]:
    text, table = database_blocks(SETTINGS, trials)
    assert isinstance(text, Text)
    assert isinstance(table, Table)
    return text.text, [[cell.text for cell in row] for row in table.rows]


def test_equal_durability_is_stated_with_size_and_cpu() -> None:
    trials = [trial("mongodb", Durability(on_disk=True, words="w=1, j=true")), trial("mariadb", ON_DISK)]

    said, rows = texts(trials)

    assert said == "Durability is equal: every write is on disk before it is acknowledged."
    assert rows[0] == ["mongodb", "E 1", "on disk before it is acknowledged", "w=1, j=true", "2.05 kB", "50.0 µs"]
    assert durability_remark(SETTINGS, trials) == ""


def test_levels_stand_in_the_order_in_which_they_were_given() -> None:
    _, rows = texts([trial(level, ON_DISK) for level in ("mariadb", "mongodb", "mariadb")])
    assert [row[0] for row in rows] == ["mongodb", "mariadb"]


def test_where_it_differs_every_table_of_figures_says_so() -> None:
    trials = [trial("mongodb", Durability(on_disk=False, words="w=1")), trial("mariadb", ON_DISK)]
    remark = durability_remark(SETTINGS, trials)
    table = Table(columns=[], rows=[], caption="Means.")

    marked = remarked(Section(id="combinations", title="", short="", blocks=[table]), remark).blocks[0]
    unmarked = remarked(Section(id="servers", title="", short="", blocks=[table]), remark).blocks[0]

    assert remark.startswith("Durability differs: mongodb: acknowledged before it is on disk (w=1); mariadb: on disk")
    assert isinstance(marked, Table)
    assert marked.caption == f"{remark} Means."
    assert unmarked == table


@pytest.mark.parametrize("update", [0.0, 0.5], ids=["reads alone", "writes"])
def test_a_workload_that_only_reads_keeps_writes_as_one_that_writes(tmp_path: Path, update: float) -> None:
    work = plan().work.model_dump(mode="json")
    work["proportions"] |= {"read": 1.0 - update, "update": update, "insert": 0.0}
    concern = WriteConcern(w=1, journal=True)
    record = write_run(tmp_path / "run", simulated_plan(rate_ops_per_s=None, connections=1, duration_s=0.1, work=work))
    target = WireTarget(address="127.0.0.1:1", write_concern=concern)
    on_server = replace(record, plan=record.plan.model_copy(update={"target": target}))

    assert record_durability(on_server) == Durability(on_disk=True, words="w=1, j=true")


def test_what_is_not_known_is_not_called_equal() -> None:
    trials = [trial(level, Durability(on_disk=None, words="")) for level in ("mongodb", "mariadb")]
    assert durability_remark(SETTINGS, trials).startswith(
        "Whether durability is equal is not known: mongodb: not known"
    )


def test_of_services_nothing_is_said_of_databases() -> None:
    services = VarySettings(factors=parse_factors(["server=http://a,http://b"]))
    trials = [trial(level, Durability(on_disk=None, words="")) for level in ("http://a", "http://b")]

    assert durability_remark(services, trials) == ""
    assert database_blocks(services, trials) == []


def test_a_sweep_on_one_database_says_nothing_of_it() -> None:
    settings = VarySettings(factors=parse_factors(["connections=1,2"]))
    assert database_blocks(settings, [trial("1", ON_DISK)]) == []
    assert durability_remark(settings, [trial("1", ON_DISK)]) == ""
