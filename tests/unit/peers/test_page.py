"""BENCHMARKS.md: every measured figure, every absence, nothing made up."""

from dataclasses import replace

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
    assert "| YCSB | 500 | 80 | 100 | 0.8 | 1 | 5 | 0.5 | 80 | 1 | 0.5 |" in text
    assert "| YCSB | 8 | 2 |" in text
    assert "client CPU per operation, C: ycsb ÷ brimline | ≥ 6 | 8 | met |" in text
    assert "Workload A" not in text


def test_a_latency_that_a_client_does_not_have_is_a_dash() -> None:
    text = page(results(run("brimline", "batch"), run("ycsb", "batch", p50_ns=None, p99_ns=None)))
    assert "| YCSB | 1 000 | 10 | 50 | 0.2 | – | – | – | 80 |" in text


def test_what_is_in_flight_is_the_rate_of_commands_times_their_p50() -> None:
    figures = {"operations": 140_000, "p50_ns": 13_700_000, "p99_ns": 20_000_000}
    text = page(results(run("brimline", "batch", **figures), run("brimline", "c", operations=20_800, p50_ns=1_270_000)))
    assert "| 13.7 | 20 | 19.2 | 80 |" in text  # commands of 100 documents
    assert "| 1.27 | 5 | 26.4 | 80 |" in text


def test_that_latencies_are_not_of_the_same_queue_nor_end_alike_is_said() -> None:
    text = page(results(run("brimline", "batch"), run("ycsb", "batch")))
    assert "Every client is asked for 32 connections in a closed loop." in text
    assert "Latencies compare only where it is alike" in text
    note = next(line for line in text.splitlines() if line.startswith("- brimline: "))
    assert "only a command for each of the server's processors" in note
    assert "when the reply arrives at the host" in note


def test_a_driver_is_noted_as_it_was_measured() -> None:
    def said(by: str | None) -> tuple[str, str]:
        lines = page(results(run("brimline", "c"), run("pymongo", "c", operations_by=by))).splitlines()
        note = next(line for line in lines if line.startswith("- PyMongo, blocking: "))
        return note, next(line for line in lines if line.startswith("| client CPU per operation, C: pymongo"))

    note, target = said("server")
    assert "brimline's engine, which runs on the same cores and is left out: its throughput is lower by that" in note
    assert "failures are over the window and two seconds after it" in note
    assert "(other work: see its note)" in target
    for by in ("client", None):
        note, target = said(by)
        assert "of a loop of its own, in its own process and without brimline's engine" in note
        assert "the server's count" not in note
        assert "other work" not in target


def test_a_bare_loop_stands_beside_the_targets_where_it_was_measured() -> None:
    both = [run("ycsb", "c"), run("brimline", "c")]
    bare = [run("bare-loop", "c", number=2, client_cpu_ns=8_000_000), run("brimline", "c", number=2)]
    text = page(results(*both, *bare))
    assert "| ratio | target | measured | outcome | a bare loop |" in text
    assert "| client CPU per operation, C: ycsb ÷ brimline | ≥ 6 | 1 | missed | 1.25 |" in text
    assert "| throughput, C: brimline ÷ ycsb | ≥ 1.3 | 1 | missed | – |" in text
    assert "A bare loop is no load generator" in text
    assert "bare loop" not in page(results(*both))


def test_a_peer_that_is_better_is_said_to_be() -> None:
    text = page(results(run("brimline", "c"), run("rust-driver", "c", peak_memory_bytes=8_000_000)))
    assert "| Rust driver | Workload C | peak memory | 10 |" in text
    assert "In no figure of this run" in page(results(run("brimline", "c")))


def test_absent_peers_are_named_with_the_way_to_get_them() -> None:
    text = page(results(absent=[Absence(client="go-ycsb", reason="not here", hint="put go-ycsb on PATH")]))
    assert "| go-ycsb | all | not here | put go-ycsb on PATH |" in text


def test_a_run_that_was_made_again_is_told_apart_from_what_is_missing() -> None:
    failed = Absence(client="ycsb", cell="c", reason="its run of round 1 failed: ended early", hint="make peers")
    text = page(results(run("ycsb", "c"), absent=[replace(failed, made_again=True)]))
    assert "Not in the tables" not in text
    head = "| peer | work | what failed | how to try it |\n| --- | --- | --- | --- |"
    row = "| YCSB | Workload C | its run of round 1 failed: ended early | make peers |"
    assert f"## Failed once, and made again\n\n{head}\n{row}\n" in text
    missing = page(results(run("ycsb", "c"), absent=[failed]))
    assert "## Not in the tables\n\n| peer | work | why | how to get it |" in missing
    assert "made again" not in missing


def test_what_does_not_fit_together_is_said() -> None:
    good = page(results(run("ycsb", "c"), commands={"ycsb": {"find": "find by _id"}}))
    assert "are within 5%" in good
    assert "No operation failed" in good
    odd = page(results(run("ycsb", "c", failed=3, counted={"query": 1}), commands={"ycsb": {"find": "find by _id"}}))
    assert "other than the client in: ycsb (c, round 1). They are left out of all medians and ratios." in odd
    assert "found nothing, in: ycsb (c, round 1): 3" in odd


@pytest.mark.parametrize("by", ["server", None])
def test_a_client_whose_operations_only_the_server_counted_is_named(by: str | None) -> None:
    commands = {"brimline": {"find": "find by _id"}}
    text = page(results(run("brimline", "c"), run("go-ycsb", "c", operations_by=by), commands=commands))
    assert "In every run of a client that counts, the server's own counters are within 5% of it." in text
    assert "The operations of go-ycsb only the server counted: there is nothing to compare." in text
    told = [run(client, "c", operations_by="client") for client in ("brimline", "ycsb", "go-ycsb")]
    assert "only the server counted" not in page(results(*told, commands=commands))


def test_a_run_with_which_the_server_does_not_agree_is_in_no_median_and_no_ratio_and_is_named() -> None:
    good = run("ycsb", "c", number=1, round=1, client_cpu_ns=80_000_000)
    odd = run("ycsb", "c", number=2, round=2, client_cpu_ns=20_000_000, counted={"query": 900})
    ours = [run("brimline", "c", number=number, round=number) for number in (1, 2)]
    text = page(results(good, odd, *ours))
    assert "| YCSB | 1 000 | 80 |" in text
    assert "client CPU per operation, C: ycsb ÷ brimline | ≥ 6 | 8 | met |" in text
    assert "its run of round 2: the server counted 900, the client 1 000; in no median, no ratio |" in text


def test_every_figure_has_its_range() -> None:
    low = run("ycsb", "c", number=1, engine_cpu_ns=1_000_000)
    high = run(
        "ycsb",
        "c",
        number=2,
        window_ns=2_000_000_000,
        client_cpu_ns=20_000_000,
        engine_cpu_ns=3_000_000,
        server_cpu_ns=250_000_000,
        p50_ns=3_000_000,
        p99_ns=7_000_000,
        peak_memory_bytes=120_000_000,
        start_ns=3_000_000_000,
        cpu_before_window_ns=700_000_000,
    )
    row = next(line for line in page(results(low, high)).splitlines() if line.startswith("| YCSB | 750"))
    assert row.count("–") == 11
    latencies = "2 (1–3) | 6 (5–7) | 1.25 (1–1.5)"
    for part in ("engine alone 2 (1–3)", "150 (50–250)", f"{latencies} | 100 (80–120)", "0.6 (0.5–0.7)"):
        assert part in row


def test_targets_that_are_no_ratios_stand_beside_them_with_their_command() -> None:
    text = page(results(run("brimline", "c")))
    assert "server elsewhere, p99 | ≤ 50 µs | `make bench-lag` |" in text
    assert text.index("`make bench-soak`") < text.index("## Workload C")


def test_each_kind_of_work_has_its_command_line() -> None:
    lines = {"ycsb, c": "java c", "ycsb, load": "java load", "brimline, c": "python c"}
    text = page(results(run("ycsb", "c"), command_lines=lines))
    assert "# YCSB: Workload C\njava c\n# YCSB: Load, one document per command\njava load\n# brimline: Wor" in text


def test_a_client_that_does_other_work_is_named() -> None:
    commands = {"brimline": {"find": "limit 1"}, "ycsb": {"find": "no limit"}}
    assert "YCSB differs from brimline in: find." in page(results(run("ycsb", "c"), commands=commands))


def test_a_run_that_was_cut_short_says_so() -> None:
    assert "cut short" in page(results(run("brimline", "c"), complete=False))
    assert "cut short" not in page(results(run("brimline", "c")))


def test_a_machine_that_was_not_quiet_is_named() -> None:
    busy = page(results(run("brimline", "c", others_share=0.2)))
    assert "not quiet: other processes took 20% (20%–20%)" in busy
    assert "- other processes took more than 5% in: brimline (c, round 1)" in busy
    assert "more than 5% in" not in page(results(run("brimline", "c")))
    quiet = page(results(run("brimline", "c")))
    assert "not quiet" not in quiet
    assert "other processes during the windows: 1 % of all cores" in quiet


def test_the_lengths_of_windows_and_loads_are_said_as_they_were() -> None:
    made = results(run("brimline", "c"))
    made.settings = {**made.settings, "batched_part": 0.5, "documents_per_s_ycsb": 15_000}
    said = page(made)
    assert "Windows last 6 s, after a warm-up of 2 s, on a JVM and Node.js 12 s; in batched loads 3 s, 1 s and" in said
    assert "loads 450 000 documents, batched or not" in said


def test_lengths_that_were_not_recorded_are_not_said() -> None:
    said = page(results(run("brimline", "c")))
    assert "Without batches, windows last 6 s, after a warm-up of 2 s, on a JVM and Node.js 12 s. Figures are" in said
    assert "; in batched loads" not in said
    assert "loads by count" not in said


def test_cores_are_said_to_be_shared_where_they_are() -> None:
    apart, shared = results(run("brimline", "c")), results(run("brimline", "c"))
    shared.settings = {**shared.settings, "client_cores": [0, 2], "server_cores": [0]}
    assert "Client and server each have cores of their own; on shared cores, measured apart" in page(apart)
    assert "cores of their own" not in page(shared)
    assert "Client and server share cores (0)" in page(shared)


def test_links_lead_home_from_where_the_page_is() -> None:
    assert "(../../benchmarks/README.md)" in page(results(run("brimline", "c")), home="../../")


def test_a_page_outside_the_project_has_no_link_to_it() -> None:
    text = page(results(run("brimline", "c")), home=None)
    assert "is in benchmarks/README.md." in text


def test_what_peak_memory_is_of_is_said() -> None:
    assert "brimline's holds its analysis and its report" in page(results(run("brimline", "c")))
