"""Who runs after whom."""

import pytest

from benchmarks.peers.__main__ import failed_run
from benchmarks.peers.catalogue import BRIMLINE
from benchmarks.peers.options import read_arguments
from benchmarks.peers.processes import ClientFailed
from benchmarks.peers.rounds import Turn, turns


def order(*peers: str, rounds: int = 1) -> list[tuple[int, int, str]]:
    return [(turn.round, turn.number, turn.client) for turn in turns([("c", peers)], rounds=rounds, reference="B")]


def test_every_peer_runs_next_to_the_reference_of_its_pair() -> None:
    assert order("p", "q", "r") == [(1, 1, "p"), (1, 1, "B"), (1, 1, "q"), (1, 2, "r"), (1, 2, "B")]


def test_the_order_turns_round_from_round_to_round() -> None:
    assert [client for _, _, client in order("p", "q", rounds=3)] == ["p", "B", "q", "q", "B", "p", "p", "B", "q"]


def test_numbers_are_never_used_twice() -> None:
    made = list(turns([("c", ["p", "q", "r"]), ("load", ["p"])], rounds=2, reference="B"))
    reference_numbers = [turn.number for turn in made if turn.client == "B"]
    assert reference_numbers == list(range(1, 7))


@pytest.mark.parametrize(("client", "peers"), [("ycsb", ["ycsb"]), (BRIMLINE, None)])
def test_a_run_that_failed_is_told_with_its_round_its_reason_and_how_to_repeat_it(
    client: str, peers: list[str] | None
) -> None:
    turn = Turn(client=client, cell="batch", round=2, number=5)
    absence = failed_run(turn, ClientFailed("fell silent"))
    assert (absence.client, absence.cell) == (client, "batch")
    assert absence.reason == "its run of round 2 failed: fell silent"
    words = absence.hint.removeprefix("make peers ARGUMENTS='").removesuffix("'").split()
    given = read_arguments(words)
    assert (given.cells, given.rounds, given.output.name) == (["batch"], 1, "again")
    assert peers is None or given.peers == peers


def test_without_a_peer_the_reference_runs_alone() -> None:
    assert order() == [(1, 1, "B")]
