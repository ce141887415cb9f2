"""What a study takes, and the scale at which it fits, with verbs whose costs are known."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from brimline.api.planning import Cost
from brimline.errors import UsageError
from brimline.study.costs import plan_study
from brimline.study.scale import CI, Scale
from brimline.study.spec import LoadedStudy, read_study
from brimline.units import parse_count

STUDY = """\
name: known
title: Known
purpose: [To know.]
experiments:
  - {name: volume, title: Volume, verb: grow, workload: bulk-rows, options: {to: {full: 100M, ci: 1k}}}
  - {name: at-once, title: At once, verb: run, workload: ycsb-c, at_ci: false}
  - {name: dances, title: Dances, verb: dance}
"""
BYTES, BYTES_PER_S = 100, 1e6


class Verbs:
    """A growth takes what its volume says, a run ten seconds."""

    def knows(self, verb: str) -> bool:
        return verb != "dance"

    def cost(self, words: Sequence[str]) -> Cost:
        if words[0] == "run":
            return Cost(seconds=10.0, data_bytes=0, loads=0)
        size = parse_count(words[words.index("--to") + 1]) * BYTES
        return Cost(seconds=size / BYTES_PER_S, data_bytes=size, loads=0)

    def perform(self, words: Sequence[str]) -> None:
        raise AssertionError(words)


def study(text: str = STUDY) -> LoadedStudy:
    return read_study(text, "known.yaml", directory=Path())


def test_auto_is_the_largest_fraction_that_fits_the_time(tmp_path: Path) -> None:
    plan = plan_study(study(), None, Verbs(), scratch=tmp_path, budget_s=1000.0)
    whole_s = 100e6 * BYTES / BYTES_PER_S
    assert plan.scale.fraction == pytest.approx((600.0 - 10 - 6) / whole_s, rel=0.1)
    assert 500 < plan.seconds <= 600


def test_auto_is_the_full_size_where_that_fits(tmp_path: Path) -> None:
    assert plan_study(study(), None, Verbs(), scratch=tmp_path, budget_s=1e6).scale == Scale(1.0)


def test_auto_leaves_half_of_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, wide = tmp_path / "full", tmp_path / "wide"
    monkeypatch.setattr("brimline.study.costs.free_below", {full: 2_000_000_000, wide: 10**15}.__getitem__)
    plan = plan_study(study(), None, Verbs(), scratch=tmp_path, places=(wide, full), budget_s=1e6)
    assert 8e8 < plan.disk_bytes <= 1e9


def test_what_is_left_out_costs_nothing_and_says_why(tmp_path: Path) -> None:
    volume, at_once, dances = plan_study(study(), CI, Verbs(), scratch=tmp_path).experiments
    assert volume.lacks is None and volume.disk_bytes == 100_000
    assert at_once.lacks is not None and at_once.lacks.why == "it is not made at this scale"
    assert dances.lacks is not None and dances.lacks.name == "dance"
    assert (at_once.seconds, dances.seconds) == (0, 0)


def test_what_only_the_first_tells_is_guessed_by_its_size(tmp_path: Path) -> None:
    class Silent(Verbs):
        def cost(self, words: Sequence[str]) -> Cost:
            return Cost(seconds=math.nan, data_bytes=10**9, times=2, loads=0)

    volume, *_ = plan_study(study(), Scale(1.0), Silent(), scratch=tmp_path).experiments
    assert volume.seconds == pytest.approx(2 * 100, rel=0.1)


def test_a_refusal_names_its_experiment(tmp_path: Path) -> None:
    class Refusing(Verbs):
        def cost(self, words: Sequence[str]) -> Cost:
            raise UsageError("no such thing", hint="another")

    with pytest.raises(UsageError) as refused:
        plan_study(study(), CI, Refusing(), scratch=tmp_path)
    assert refused.value.message == "volume: no such thing"


def test_an_experiment_without_levels_to_compare_is_asked_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_mongod(*, server_version: str) -> None:
        raise UsageError(f"{server_version} can't be fetched", hint="connect to the network")

    monkeypatch.setattr("brimline.study.needs.find_mongod", find_mongod)
    text = STUDY.replace("at_ci: false", 'vary: {server-version: ["4.4", "6.0"]}')

    class Refusing(Verbs):
        def cost(self, words: Sequence[str]) -> Cost:
            assert words[0] != "run", words
            return super().cost(words)

    _, versions, _ = plan_study(study(text), CI, Refusing(), scratch=tmp_path).experiments
    assert versions.lacks is not None
    assert versions.lacks.name == "server-version 4.4,6.0"


def test_what_fits_no_disk_is_refused_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brimline.study.costs.free_below", lambda _: 100)
    with pytest.raises(UsageError, match="half of what is free below /data is 50 B"):
        plan_study(study(), None, Verbs(), scratch=tmp_path, places=(Path("/data"),), budget_s=1e6)
    assert plan_study(study(), CI, Verbs(), scratch=tmp_path, places=(Path("/data"),)).scale == CI


def test_what_fits_no_budget_says_so(tmp_path: Path) -> None:
    plan = plan_study(study(), None, Verbs(), scratch=tmp_path, budget_s=5.0)
    assert plan.over_budget_s == 5.0
    assert plan_study(study(), None, Verbs(), scratch=tmp_path, budget_s=1000.0).over_budget_s is None


def test_a_file_of_rows_is_as_large_as_some_of_its_rows_say(tmp_path: Path) -> None:
    """Twenty are made, of 50 bytes each here; the data are as large again."""
    text = """\
name: rows
title: Rows
purpose: [To know.]
files: {rows: {workload: bulk-rows, rows: {full: 10M, ci: 2k}}}
experiments:
  - {name: all, title: All, verb: import, workload: "{rows}"}
"""

    class Writing(Verbs):
        def cost(self, words: Sequence[str]) -> Cost:
            return Cost(seconds=1.0, data_bytes=0, loads=0)

        def perform(self, words: Sequence[str]) -> None:
            Path(words[words.index("-o") + 1]).write_bytes(bytes(20 * 50))

    (planned,) = plan_study(study(text), CI, Writing(), scratch=tmp_path).experiments
    assert planned.disk_bytes == 2 * 50 * 2_000
