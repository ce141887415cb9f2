"""The peers' own programs: the same keys as brimline, the command lines of outside tools, what is missing."""

import argparse
import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.peers import catalogue
from benchmarks.peers.__main__ import main
from benchmarks.peers.builds import GO_YCSB, GO_YCSB_VERSION, ROOT, Missing, build_go_ycsb
from benchmarks.peers.catalogue import CATALOGUE, find_program
from benchmarks.peers.measuring import command_line
from benchmarks.peers.options import read_arguments, settings_of
from benchmarks.peers.outside import tools
from benchmarks.peers.protocol import options
from benchmarks.peers.settings import CELLS, Cell, Settings
from brimline.errors import UsageError

GIVEN = argparse.Namespace(
    program="TOOL",
    uri="mongodb://HOST:1",
    database="peers",
    collection="usertable",
    workload="a",
    records=1000,
    threads=32,
    batch=1,
    warmup_s=2.5,
    measured_s=6.0,
)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_what_clients_are_told_is_what_those_in_python_read(cell: Cell) -> None:
    settings = Settings()
    words = command_line(catalogue.peer_named("pymongo"), [], "mongodb://HOST:1", cell, settings)
    given = options().parse_args(words)
    assert (given.uri, given.workload, given.threads) == ("mongodb://HOST:1", cell.workload, settings.threads)
    assert (given.batch, given.measured_s) == (settings.batch_of(cell), settings.measured_of(cell))


def test_a_driver_s_peer_is_its_runner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where that isn't ready, the peer is missing, for the same reason."""
    assert catalogue.peer_named("pymongo").command()[-3:] == ["benchmarks.peers.brimline.peer", "--client", "pymongo"]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Missing, match="there is no java on the PATH") as missing:
        catalogue.peer_named("java-reactive").command()
    assert "make runners" in missing.value.hint


def test_outside_tools_are_asked_for_the_same_work() -> None:
    words = tools.ycsb_command(GIVEN)
    assert words[:3] == ["TOOL", "run", "mongodb"]
    for property_ in (
        *("recordcount=1000", "readproportion=0.5", "updateproportion=0.5", "requestdistribution=zipfian"),
        *("mongodb.url=mongodb://HOST:1/peers", "table=usertable", "maxexecutiontime=13"),
    ):
        assert property_ in words
    loading = tools.go_ycsb_command(argparse.Namespace(**{**vars(GIVEN), "workload": "load"}))
    assert loading[1] == "load"
    assert f"recordcount={tools.ENDLESS}" in loading
    assert f"table={tools.GO_LOAD_TABLE}" in loading


def test_go_ycsb_loads_one_record_more_than_it_is_told_of_and_is_ended_from_outside() -> None:
    loading, working = tools.go_ycsb_command(GIVEN, loads=True), tools.go_ycsb_command(GIVEN)
    assert (loading[1], working[1]) == ("load", "run")
    assert "recordcount=1001" in loading
    assert "recordcount=1000" in working
    for words in (loading, working):
        assert f"table={tools.GO_TABLE}" in words
        assert "debug.pprof=127.0.0.1:0" in words
        assert not any("maxexecutiontime" in word for word in words)


def test_failures_of_go_ycsb_are_those_beyond_what_was_in_flight_when_it_was_ended() -> None:
    said = "READ_ERROR - Takes(s): 9, Count: 3, OPS: 1\nREAD - Takes(s): 9, Count: 70, OPS: 7"
    last = "READ_ERROR - Takes(s): 19, Count: 36, OPS: 1\nUPDATE_ERROR - Takes(s): 19, Count: 1, OPS: 1"
    assert tools.go_ycsb_failures(f"{said}\n{last}", 32) == 5
    assert tools.go_ycsb_failures(said, 32) == 0


@pytest.mark.parametrize(
    ("case", "failed"),
    [
        *(("a-load.duplicate-keys", 1), ("a-run.no-server", 5), ("a-run.server-stopped", 17 + 9)),
        *(("a-run.missing-table", 498 + 502), ("c-run.missing-table", 1000)),
        *(("a-run.default", 0), ("a-run.maxexecutiontime", 0), ("c-run.hdr", 0), ("a-load.default", 0)),
    ],
)
def test_failures_of_ycsb_are_those_that_it_has_printed(case: str, failed: int) -> None:
    said = (ROOT / "tests" / "golden" / "ycsb" / f"{case}.stdout").read_text(encoding="utf-8")
    assert tools.failures("ycsb", said, in_flight=32) == failed


def test_failures_are_read_as_their_tool_writes_them() -> None:
    said = "READ_ERROR - Takes(s): 9, Count: 40, OPS: 1\n[READ], Return=ERROR, 3"
    assert (tools.failures("go-ycsb", said, in_flight=32), tools.failures("ycsb", said, in_flight=32)) == (8, 3)


@pytest.mark.parametrize(
    ("said", "percentile", "expected_ns"),
    [
        ("[READ], 99thPercentileLatency(us), 8919\n[CLEANUP], 99thPercentileLatency(us), 1", 99, 8_919_000),
        ("READ   - Takes(s): 9.9, Count: 1000, OPS: 100.4, 50th(us): 12, 99th(us): 40, 99.9th(us): 77", 99, 40_000),
        ("[READ], 99thPercentileLatency(us), 1\n[UPDATE], 99thPercentileLatency(us), 2", 99, None),
        ("READ - 99th(us): 1\nTOTAL - 99th(us): 3\nUPDATE - 99th(us): 2\nREAD_ERROR - 99th(us): 9", 99, 3_000),
        ("nothing of the kind", 50, None),
    ],
)
def test_percentiles_are_read_where_one_kind_has_them(said: str, percentile: int, expected_ns: int | None) -> None:
    assert tools.percentile_ns(said, percentile) == expected_ns


def test_a_program_is_the_named_one_or_the_one_on_path(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    on_path = {"PATH": str(tmp_path)}
    assert find_program(("other", "tool"), "PEERS_TOOL", on_path) == str(tool)
    assert find_program(("other",), "PEERS_TOOL", {"PATH": "", "PEERS_TOOL": str(tool)}) == str(tool)
    with pytest.raises(Missing, match="not here"):
        find_program(("other",), "PEERS_TOOL", on_path)
    with pytest.raises(Missing, match="names no program"):
        find_program(("tool",), "PEERS_TOOL", {**on_path, "PEERS_TOOL": str(tmp_path / "nothing")})


def test_go_ycsb_is_the_one_that_is_here_else_it_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "go-ycsb"
    monkeypatch.setattr(catalogue, "build_go_ycsb", lambda: Path("/built/go-ycsb"))
    monkeypatch.delenv("PEERS_GO_YCSB", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert catalogue.go_ycsb_command()[-3:] == ["/built/go-ycsb", "--tool-version", GO_YCSB_VERSION]
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert catalogue.go_ycsb_command()[-1] == str(tool)
    monkeypatch.setenv("PEERS_GO_YCSB", str(tmp_path / "nothing"))
    with pytest.raises(Missing, match="PEERS_GO_YCSB names no program"):
        catalogue.go_ycsb_command()


def test_without_go_there_is_no_go_ycsb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    build_go_ycsb.cache_clear()
    with pytest.raises(Missing, match="neither go-ycsb nor go is here"):
        build_go_ycsb()


def test_the_version_of_go_ycsb_is_the_one_its_module_asks_for() -> None:
    assert f"github.com/pingcap/go-ycsb v{GO_YCSB_VERSION}\n" in (GO_YCSB / "go.mod").read_text()


def test_work_is_looked_at_where_it_is_done() -> None:
    assert catalogue.peer_named("ycsb").namespace(loads=True) == "peers_load.usertable"
    go_ycsb = catalogue.peer_named("go-ycsb")
    assert go_ycsb.namespace(loads=False) == f"{tools.GO_DATABASE}.{tools.GO_TABLE}"
    assert go_ycsb.namespace(loads=True) == f"{tools.GO_DATABASE}.{tools.GO_LOAD_TABLE}"


def test_the_catalogue_speaks_of_cells_that_are_there() -> None:
    known = {cell.name for cell in CELLS}
    assert all(set(peer.cells) <= known for peer in CATALOGUE)
    assert len({peer.name for peer in CATALOGUE}) == len(CATALOGUE)


@pytest.mark.parametrize(
    "words",
    [
        *(["--peers", "jmeter"], ["--rounds", "0"], ["--cells", "z"], ["--batch", "x"]),
        *(["--client-cores", "99999"], ["--server-cores", "x"], ["--client-cores", "0,-1"]),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError) as refused:
        read_arguments(words)
    assert words[1].split(",")[-1] in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize("words", [["--peers", ""], ["--cells", ","]])
def test_a_list_that_names_nothing_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError, match="is named; known are"):
        read_arguments(words)


def test_a_place_that_cant_be_made_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.touch()
    with pytest.raises(UsageError, match="can't be made a directory"):
        main(["--peers", "pymongo", "--cells", "c", "--output", str(taken)])


def test_options_go_before_the_short_windows_of_a_look() -> None:
    core = max(os.sched_getaffinity(0))
    settings = settings_of(read_arguments(["--quick", "--measured-s", "3", "--client-cores", f"{core},{core}"]))
    assert (settings.measured_s, settings.rounds, settings.client_cores) == (3.0, 1, (core,))
    whole = settings_of(read_arguments([]))
    assert whole.measured_s > 3
    assert settings.ready_bytes_max < 1 << 30 < whole.ready_bytes_max, "a look has no figures that memory could change"
    on_the_way = settings.threads * settings.batch
    assert on_the_way < 2_000 < whole.threads * whole.batch, "else nothing is in before a look is over"


def test_a_load_by_count_has_a_collection_as_large_on_average_as_that_of_a_window_of_unbatched_ycsb() -> None:
    settings = Settings(warmup_compiling_s=12.0, measured_s=6.0)
    begin, end = 12 * 15_000, 18 * 15_000
    assert settings.documents / 2 == (begin + end) / 2
    assert Settings(warmup_compiling_s=0.1, measured_s=0.1, threads=32, batch=1_000).documents == 32_000


def test_batched_loads_have_windows_and_warmups_half_as_long() -> None:
    unbatched, batched = CELLS[-2:]
    settings = Settings(warmup_s=2.0, warmup_compiling_s=12.0, measured_s=6.0)
    assert settings.length_of(unbatched, compiles=True, by_count=False) == 18
    assert (settings.warmup_of(batched, compiles=True), settings.warmup_of(batched, compiles=False)) == (6, 1)
    assert settings.measured_of(batched) == 3


def test_how_long_a_load_by_count_takes_follows_its_documents() -> None:
    finds, _, unbatched, batched = CELLS
    settings = Settings()
    once, twice = (replace(settings, documents_per_s_ycsb=times * settings.documents_per_s_ycsb) for times in (1, 2))
    assert once.length_of(unbatched, compiles=False, by_count=True) == settings.documents / 15_000
    for cell in (unbatched, batched):
        lengths = [each.length_of(cell, compiles=False, by_count=True) for each in (once, twice)]
        assert lengths[1] == 2 * lengths[0] > 0
    assert settings.length_of(finds, compiles=False, by_count=True) == settings.length_of(
        finds, compiles=False, by_count=False
    )
