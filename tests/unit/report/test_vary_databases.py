"""A factor sweep over several databases: durability is stated, and where it differs every table says so."""

from brimline.experiments.vary.factors import parse_factors
from brimline.experiments.vary.order import VaryProbe, VarySettings, VaryTrial
from brimline.report.vary.databases import database_blocks, durability_remark, remarked
from brimline.report.view import Section, Table, Text
from brimline.servers.database import Durability

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


def test_what_is_not_known_is_not_called_equal() -> None:
    trials = [trial(level, Durability(on_disk=None, words="")) for level in ("mongodb", "mariadb")]
    assert "not known" in durability_remark(SETTINGS, trials)


def test_a_sweep_on_one_database_says_nothing_of_it() -> None:
    settings = VarySettings(factors=parse_factors(["connections=1,2"]))
    assert database_blocks(settings, [trial("1", ON_DISK)]) == []
    assert durability_remark(settings, [trial("1", ON_DISK)]) == ""
