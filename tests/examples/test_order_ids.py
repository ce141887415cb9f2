"""Ids of the order service: unique and rising whatever the clock does; those of the field report fail as it says."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

SERVICE = Path(__file__).parents[2] / "examples" / "order-service"
sys.path.insert(0, str(SERVICE))

from order_service.ids import (  # noqa: E402
    EPOCH_MS,
    SEQUENCE_MAX,
    WORKERS_MAX,
    ClockMovedBackwardsError,
    OnePerMillisecond,
    Snowflake,
    joined,
    parts,
)
from order_service.worker import WorkerNumber  # noqa: E402

_NOW_MS = EPOCH_MS + 10**10
_MOVES = st.lists(st.sampled_from([0, 0, 0, 1, 2, -1, -5000, 5000]), min_size=1, max_size=300)
"""How the clock moves between two ids: mostly not at all, and sometimes back."""


def _clock(moves: list[int]) -> Iterator[int]:
    now_ms = _NOW_MS
    for move in moves:
        now_ms += move
        yield now_ms


@given(_MOVES, st.integers(0, WORKERS_MAX - 1))
def test_ids_rise_whatever_the_clock_does(moves: list[int], worker: int) -> None:
    clock = _clock(moves)
    ids = Snowflake(worker, clock=lambda: next(clock))
    made = [ids.next() for _ in moves]
    assert all(before < after for before, after in pairwise(made))
    assert {parts(each)[1] for each in made} == {worker}
    assert all(0 < each < 2**63 for each in made)


@given(_MOVES, st.sets(st.integers(0, WORKERS_MAX - 1), min_size=2, max_size=4))
def test_ids_of_workers_never_meet(moves: list[int], workers: set[int]) -> None:
    made = []
    for worker in workers:
        clock = _clock(moves)
        ids = Snowflake(worker, clock=lambda clock=clock: next(clock))  # type: ignore[misc]
        made += [ids.next() for _ in moves]
    assert len(set(made)) == len(made)


def test_a_millisecond_has_as_many_ids_as_the_sequence_and_the_next_lends_more() -> None:
    ids = Snowflake(7, clock=lambda: _NOW_MS)
    made = [parts(ids.next()) for _ in range(SEQUENCE_MAX + 1)]
    assert made[0] == (_NOW_MS, 7, 0)
    assert made[-2] == (_NOW_MS, 7, SEQUENCE_MAX - 1)
    assert made[-1] == (_NOW_MS + 1, 7, 0)


@given(_MOVES, _MOVES, st.integers(1, 50))
def test_a_process_that_is_started_again_makes_no_id_twice(first: list[int], second: list[int], step_ms: int) -> None:
    """Also where the clock was set back in between: what the first one may have used was kept before it was."""
    kept, made = [0], []
    for moves in (first, second):
        clock = _clock(moves)
        ids = Snowflake(
            3,
            clock=lambda clock=clock: next(clock),
            not_before_ms=kept[-1],
            reserve=kept.append,
            step_ms=step_ms,  # type: ignore[misc]
        )
        for _ in moves:
            made.append(ids.next())
            assert parts(made[-1])[0] <= kept[-1]
    assert len(set(made)) == len(made)


@given(st.integers(EPOCH_MS, EPOCH_MS + 2**41 - 1), st.integers(0, WORKERS_MAX - 1), st.integers(0, SEQUENCE_MAX - 1))
def test_an_id_has_its_parts(time_ms: int, worker: int, sequence: int) -> None:
    assert parts(joined(time_ms, worker, sequence)) == (time_ms, worker, sequence)


def test_the_field_reports_generator_has_one_id_a_millisecond() -> None:
    clock = iter([5, 5, 6, 4, 7])
    ids = OnePerMillisecond(1, clock=lambda: EPOCH_MS + next(clock))
    assert parts(ids.next())[0] == EPOCH_MS + 5
    with pytest.raises(ClockMovedBackwardsError, match="clock moved backwards"):
        ids.next()
    assert parts(ids.next())[0] == EPOCH_MS + 6
    with pytest.raises(ClockMovedBackwardsError):
        ids.next()
    assert parts(ids.next())[0] == EPOCH_MS + 7


def test_a_worker_number_is_one_processs_and_free_again_when_that_ends(tmp_path: Path) -> None:
    mine = WorkerNumber(tmp_path)
    mine.reserve(12_345)
    assert (mine.number, mine.reserved_until_ms) == (0, 12_345)
    program = (
        f"import sys; sys.path.insert(0, {str(SERVICE)!r})\n"
        "from pathlib import Path; from order_service.worker import WorkerNumber\n"
        f"held = [WorkerNumber(Path({str(tmp_path)!r})) for _ in range(2)]\n"
        "held[0].reserve(99)\n"
        "print([each.number for each in held])\n"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout == "[1, 2]\n"
    again = WorkerNumber(tmp_path)
    assert (again.number, again.reserved_until_ms) == (1, 99)


@pytest.mark.parametrize("worker", [-1, WORKERS_MAX])
def test_a_worker_number_out_of_range_is_refused(worker: int) -> None:
    with pytest.raises(ValueError, match="a worker's number"):
        Snowflake(worker)
