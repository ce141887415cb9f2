"""Intervals of several importers as those of one: each is counted once, and those handed out touch each other."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brimline.execution.cluster.merging import IntervalMerger

SECOND = 1_000_000_000
SUMS = ("documents", "refused", "commands", "input_bytes", "bytes_out", "process_cpu_ns")


def _intervals(lengths_ns: list[int], begin_ns: int) -> list[dict[str, Any]]:
    rows, start_ns = [], begin_ns
    for number, length_ns in enumerate(lengths_ns):
        sums = dict.fromkeys(SUMS, number + 1)
        rows.append({"start_ns": start_ns, "end_ns": start_ns + length_ns, "service": None, **sums})
        start_ns += length_ns
    return rows


@given(
    st.lists(
        st.tuples(st.lists(st.integers(SECOND // 2, 4 * SECOND), max_size=12), st.integers(0, SECOND)),
        min_size=1,
        max_size=4,
    ),
    st.randoms(),
)
def test_every_interval_is_counted_once_however_they_come(nodes: list[tuple[list[int], int]], chance: Any) -> None:
    waiting = [_intervals(lengths_ns, begin_ns) for lengths_ns, begin_ns in nodes]
    expected = {name: sum(row[name] for rows in waiting for row in rows) for name in SUMS}
    end_ns = max((rows[-1]["end_ns"] for rows in waiting if rows), default=0)
    merger, taken = IntervalMerger(len(waiting), SECOND), []
    open_nodes = list(range(len(waiting)))
    while open_nodes:
        node = chance.choice(open_nodes)
        if waiting[node]:
            merger.add(node, waiting[node].pop(0))
        else:
            merger.finish(node)
            open_nodes.remove(node)
        taken += merger.take()
    assert {name: sum(row[name] for row in taken) for name in SUMS} == expected  # type: ignore[literal-required]
    assert [row["start_ns"] for row in taken] == [0, *(row["end_ns"] for row in taken)][: len(taken)]
    assert not taken or taken[-1]["end_ns"] == end_ns
    assert merger.input_bytes == expected["input_bytes"]


def test_nothing_is_whole_before_every_node_has_gone_beyond_it() -> None:
    merger = IntervalMerger(2, SECOND)
    for row in _intervals([SECOND, SECOND, SECOND], 0):
        merger.add(0, row)
    assert merger.take() == []
    merger.add(1, _intervals([SECOND], 1_000_000)[0])
    assert merger.take() == [], "a node may have another of that number"
    merger.finish(1)
    (first, second) = merger.take()
    assert (first["documents"], first["end_ns"]) == (2, SECOND + 1_000_000)
    assert (second["documents"], second["start_ns"]) == (2, SECOND + 1_000_000)
