"""BENCHMARKS.md: every measured figure, every absence, nothing made up."""

import pytest

from benchmarks.peers.figures import Spread
from benchmarks.peers.page import figure, page, table, with_range
from benchmarks.peers.results import Absence
from tests.unit.peers.samples import results, run


@pytest.mark.parametrize(
    ("value", "text"),
    [(12345.6, "12 300"), (999.6, "1 000"), (1000.0, "1 000"), (12.345, "12.3"), (0.01234, "0.0123"), (0, "0")],
)
def test_figures_have_three_digits(value: float, text: str) -> None:
    assert figure(value) == text


def test_a_range_is_given_where_there_is_one() -> None:
    assert with_range(Spread(2.0, 1.0, 3.0, 3)) == "2 (1–3)"
    assert with_range(Spread(2.0, 2.0, 2.0, 1)) == "2"
    assert with_range(None) == "–"


def test_a_table_is_markdown() -> None:
    assert table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --: |\n| 1 | 2 |"


def test_figures_stand_in_the_row_of_their_client() -> None:
    text = page(results(run("brimline", "c"), run("ycsb", "c", operations=500, client_cpu_ns=40_000_000)))
    assert "| YCSB | 500 | 80 | 100 | 0.8 | 1 | 5 | 80 | 1 | 0.5 |" in text
    assert "| YCSB | 8 | 2 |" in text
    assert "client CPU per operation, C: ycsb ÷ brimline | ≥ 6 | 8 | met |" in text
    assert "Workload A" not in text


def test_a_latency_that_a_client_does_not_have_is_a_dash() -> None:
    text = page(results(run("brimline", "batch"), run("ycsb", "batch", p50_ns=None, p99_ns=None)))
    assert "| YCSB | 1 000 | 10 | 50 | 0.2 | – | – |" in text


def test_a_peer_that_is_better_is_said_to_be() -> None:
    text = page(results(run("brimline", "c"), run("rust-driver", "c", peak_memory_bytes=8_000_000)))
    assert "| Rust driver | Workload C | peak memory | 10 |" in text
    assert "In no figure of this run" in page(results(run("brimline", "c")))


def test_absent_peers_are_named_with_the_way_to_get_them() -> None:
    text = page(results(absent=[Absence(client="go-ycsb", reason="not here", hint="put go-ycsb on PATH")]))
    assert "| go-ycsb | all | not here | put go-ycsb on PATH |" in text


def test_what_does_not_fit_together_is_said() -> None:
    good = page(results(run("ycsb", "c"), commands={"ycsb": {"find": "find by _id"}}))
    assert "are within 5%" in good
    assert "No operation failed" in good
    odd = page(results(run("ycsb", "c", failed=3, counted={"query": 1}), commands={"ycsb": {"find": "find by _id"}}))
    assert "other than the client in: ycsb (c, round 1)" in odd
    assert "found nothing, in: ycsb (c, round 1): 3" in odd


def test_a_client_that_does_other_work_is_named() -> None:
    commands = {"brimline": {"find": "limit 1"}, "ycsb": {"find": "no limit"}}
    assert "YCSB differs from brimline in: find." in page(results(run("ycsb", "c"), commands=commands))


def test_a_run_that_was_cut_short_says_so() -> None:
    assert "cut short" in page(results(run("brimline", "c"), complete=False))
    assert "cut short" not in page(results(run("brimline", "c")))


def test_a_machine_that_was_not_quiet_is_named() -> None:
    assert "not quiet: other processes took 20% (20%–20%)" in page(results(run("brimline", "c", others_share=0.2)))
    quiet = page(results(run("brimline", "c")))
    assert "not quiet" not in quiet
    assert "other processes during the windows: 1 % of all cores" in quiet


def test_cores_are_said_to_be_shared_where_they_are() -> None:
    apart, shared = results(run("brimline", "c")), results(run("brimline", "c"))
    shared.settings = {**shared.settings, "client_cores": [0, 2], "server_cores": [0]}
    assert "Client and server each have cores of their own; the same on shared cores" in page(apart)
    assert "cores of their own" not in page(shared)
    assert "Client and server share cores (0)" in page(shared)


def test_links_lead_home_from_where_the_page_is() -> None:
    assert "(../../benchmarks/README.md)" in page(results(run("brimline", "c")), home="../../")


def test_a_page_outside_the_project_has_no_link_to_it() -> None:
    text = page(results(run("brimline", "c")), home=None)
    assert "is in benchmarks/README.md." in text


def test_what_peak_memory_is_of_is_said() -> None:
    assert "brimline's holds its analysis and its report" in page(results(run("brimline", "c")))
