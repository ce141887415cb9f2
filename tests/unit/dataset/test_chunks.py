"""Records are asked for in pieces of bounded size, each once and in order."""

from itertools import islice

import pytest

from brimline.dataset.chunks import CHUNK_RECORDS, chunks


@pytest.mark.parametrize(
    ("first", "stop", "sizes"),
    [
        (0, 0, []),
        (7, 8, [1]),
        (0, CHUNK_RECORDS, [CHUNK_RECORDS]),
        (500, 2 * CHUNK_RECORDS + 501, [CHUNK_RECORDS, CHUNK_RECORDS, 1]),
    ],
)
def test_a_range_is_cut_into_whole_pieces_and_a_rest(first: int, stop: int, sizes: list[int]) -> None:
    cut = list(chunks(first, stop))
    assert [len(each) for each in cut] == sizes
    assert [index for each in cut for index in each] == list(range(first, stop))


def test_without_an_end_all_pieces_are_whole() -> None:
    assert list(islice(chunks(3, None), 2)) == [
        range(3, 3 + CHUNK_RECORDS),
        range(3 + CHUNK_RECORDS, 3 + 2 * CHUNK_RECORDS),
    ]
