"""What a factor sweep is given is checked before there is anything of it on disk."""

from pathlib import Path

import pytest

from brimline.api.options import Options
from brimline.api.vary import how_often, vary
from brimline.errors import SpecError


def test_a_workload_that_is_right_with_its_levels_alone_leaves_no_directory(tmp_path: Path) -> None:
    """Each workload is stored as it was before a level changed it, which must be a workload too."""
    workload, runs = tmp_path / "odd.yaml", tmp_path / "runs"
    workload.write_text("name: odd\ndata: {records: 100}\noperations: {read: 100%}\nconnections: 0\n")
    with pytest.raises(SpecError, match="connections"):
        vary(factors=[f"workload={workload},ycsb-c", "connections=1,2"], options=Options(null=True, runs_dir=runs))
    assert not runs.exists()


@pytest.mark.parametrize(
    ("said", "least", "most"),
    [
        ({}, 3, 10),
        ({"blocks": 1}, 1, 1),
        ({"blocks": 20}, 20, 20),
        ({"blocks": 2, "blocks_max": 4}, 2, 4),
        ({"blocks": 2, "precision": 0.02}, 2, 10),
        ({"blocks_max": 1}, 1, 1),
    ],
)
def test_a_number_of_repeats_alone_is_meant_exactly(said: dict[str, float], least: int, most: int) -> None:
    found = how_often(said, once=False)
    assert (found["blocks"], found["blocks_max"]) == (least, most)
