"""What the ratios have to be, and where a peer is ahead."""

import pytest

from benchmarks import ceiling, instructions, lag, memory, soak
from benchmarks.peers.builds import ROOT
from benchmarks.peers.targets import NO_RATIOS, targets, where_peers_are_better
from tests.unit.peers.samples import results, run

OTHER_WORK = dict.fromkeys(("go-ycsb", "pymongo", "rust-driver"), " (other work: see its note)")


def outcomes(*runs: object) -> dict[str, str]:
    return {target.text: target.outcome for target in targets(results(*runs))}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("peer", "times"), [("ycsb", 6), ("go-ycsb", 6), ("rust-driver", 3), ("pymongo", 12)], ids=lambda value: str(value)
)
@pytest.mark.parametrize("cell", ["c", "a"])
def test_client_cpu_has_to_be_the_named_fraction(peer: str, times: int, cell: str) -> None:
    text = f"client CPU per operation, {cell.upper()}: {peer} ÷ brimline{OTHER_WORK.get(peer, '')}"
    ours, told_by = run("brimline", cell), {"operations_by": "server"}
    assert outcomes(ours, run(peer, cell, client_cpu_ns=times * 10_000_000, **told_by))[text] == "met"
    assert outcomes(ours, run(peer, cell, client_cpu_ns=times * 10_000_000 - 1_000, **told_by))[text] == "missed"


def test_what_was_not_measured_is_not_met() -> None:
    without = outcomes(run("brimline", "c"))
    assert set(without.values()) == {"not measured"}
    assert not any("go-ycsb" in text for text in without)


def test_what_a_bare_loop_reaches_in_its_place_is_by_the_ratio_beside_it() -> None:
    peer = run("ycsb", "c", client_cpu_ns=55_000_000, number=1)
    beside_it = run("brimline", "c", client_cpu_ns=11_000_000, number=1)
    bare = [run("bare-loop", "c", client_cpu_ns=8_000_000, number=2), run("brimline", "c", number=2)]
    found = {target.text: target for target in targets(results(peer, beside_it, *bare))}
    target = found["client CPU per operation, C: ycsb ÷ brimline"]
    assert (target.outcome, target.of_bare_loop) == ("missed", 5 * 1.25)
    assert found["client CPU per operation, C: pymongo ÷ brimline (other work: see its note)"].of_bare_loop is None
    assert found["throughput, C: brimline ÷ ycsb"].of_bare_loop is None


@pytest.mark.parametrize("cell", ["c", "a"])
def test_throughput_has_to_be_a_third_higher(cell: str) -> None:
    text = f"throughput, {cell.upper()}: brimline ÷ ycsb"
    assert outcomes(run("brimline", cell, operations=1300), run("ycsb", cell))[text] == "met"
    assert outcomes(run("brimline", cell, operations=1299), run("ycsb", cell))[text] == "missed"


def test_a_batched_load_is_compared_with_an_unbatched_one() -> None:
    text = "load, documents/s: brimline in batches of 100 ÷ ycsb unbatched"
    single = run("ycsb", "load", number=1)
    assert outcomes(single, run("brimline", "batch", number=2, operations=8000))[text] == "met"
    assert outcomes(single, run("brimline", "batch", number=2, operations=7999))[text] == "missed"
    assert outcomes(run("ycsb", "batch"), run("brimline", "batch", operations=9000))[text] == "not measured"


def test_a_run_in_doubt_meets_no_target() -> None:
    found = outcomes(run("brimline", "c"), run("go-ycsb", "c", client_cpu_ns=60_000_000, counted={"query": 1}))
    assert found[f"client CPU per operation, C: go-ycsb ÷ brimline{OTHER_WORK['go-ycsb']}"] == "not measured"


def test_targets_that_are_no_ratios_are_those_that_are_checked() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{command.removeprefix('make ')}:" in makefile for _, _, command in NO_RATIOS)
    text = " ".join(f"{what} {target}" for what, target, _ in NO_RATIOS)
    for number in (
        *(instructions.LIMITS["find"], instructions.LIMITS["update"], instructions.LIMITS["insert"]),
        *(ceiling.RATE_WANTED, lag.RATE_OPS_PER_S, memory.CONNECTIONS, memory.LOAD_MB_MAX, round(soak.RECORD_MB_MAX)),
    ):
        assert f" {number:,} ".replace(",", " ") in f" {text.replace(',', ' ')} "
    assert f"+{instructions.RISE_MAX:.0%}".replace("%", " %") in text
    assert str(ceiling.RATIO_WANTED) in text
    assert f"≤ {lag.P99_US_MAX:g} µs" in text


def test_what_the_limit_of_memory_is_not_of_is_said_beside_it() -> None:
    (limited,) = [what for what, target, _ in NO_RATIOS if target == f"< {memory.LOAD_MB_MAX} MB"]
    assert limited.startswith("peak memory of a run until its last reply is in")
    assert "the whole command, with analysis and report, takes more" in limited


def test_every_figure_in_which_a_peer_is_ahead_is_named() -> None:
    ahead = run(
        "rust-driver", "c", operations=2000, client_cpu_ns=20_000_000, server_cpu_ns=100_000_000, p99_ns=2_500_000
    )
    found = where_peers_are_better(results(run("brimline", "c"), ahead))
    assert [(each.figure, each.times.median) for each in found] == [("throughput", 2.0), ("p99", 2.0)]


def test_a_bare_loop_is_no_peer_that_could_be_better() -> None:
    bare = run("bare-loop", "c", client_cpu_ns=1_000_000, peak_memory_bytes=1_000_000)
    assert where_peers_are_better(results(run("brimline", "c"), bare)) == []


def test_equal_is_not_better() -> None:
    assert where_peers_are_better(results(run("brimline", "c"), run("ycsb", "c"))) == []
