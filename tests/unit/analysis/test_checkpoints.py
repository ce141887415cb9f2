from collections.abc import Mapping

import pytest

from brimline.analysis.checkpoints import checkpoint_duration_s
from brimline.record.model import Scalar


def rows(*seen: tuple[int | None, int | None]) -> list[Mapping[str, Scalar]]:
    return [{"at_ns": at, "checkpoints": count, "checkpoint_total_ms": total} for at, (count, total) in enumerate(seen)]


@pytest.mark.parametrize(
    ("seen", "duration_s"),
    [
        ([(7, 1000), (7, 1000), (8, 4000)], 3.0),
        ([(7, 1000), (9, 4000)], 1.5),
        ([(7, 1000), (None, None), (8, 3000)], 2.0),
        ([(7, 1000), (7, 1000)], None),  # none ended meanwhile
        ([(None, None)], None),
        ([], None),
    ],
)
def test_how_long_checkpoints_take(seen: list[tuple[int | None, int | None]], duration_s: float | None) -> None:
    assert checkpoint_duration_s(rows(*seen)) == duration_s
