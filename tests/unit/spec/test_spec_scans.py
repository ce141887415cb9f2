"""What a spec says of scans: short forms, defaults, and a sentence for each slip."""

from pathlib import Path

import pytest

from brimline.errors import SpecError
from brimline.spec import load_spec
from brimline.spec.expected_plan import ExpectedStage, normal_key_pattern, parse_expected_plan
from brimline.spec.scans import ScansSpec, extended_json

DATA = "data: {records: 1k}\n"


def scans(tmp_path: Path, text: str) -> ScansSpec:
    file = tmp_path / "scans.yaml"
    file.write_text(DATA + text, encoding="utf-8")
    found = load_spec(file).spec.scans
    assert found is not None
    return found


def test_a_spec_of_scans_needs_no_operations(tmp_path: Path) -> None:
    file = tmp_path / "only.yaml"
    file.write_text(DATA + "scans: {scenarios: [{name: all of it, filter: all}]}", encoding="utf-8")
    spec = load_spec(file).spec
    assert spec.operations.read == 1.0
    assert spec.scans is not None
    assert spec.scans.answer_within_ns == 10_000_000_000
    assert load_spec("ycsb-a").spec.scans is None


def test_short_forms_and_values(tmp_path: Path) -> None:
    found = scans(
        tmp_path,
        """
scans:
  answer_within: 2s
  indexes: [{time: 1, level: -1}, {keys: {host: hashed}, name: by_host}]
  scenarios:
    - name: by time
      range: {field: time, widths: [1k, 10k, 100k]}
      filter: {level: ERROR}
      plan: "IXSCAN {time: 1, level: -1}, no SORT"
      hint: time_1_level_-1
    - {name: each host, pipeline: [{$group: {_id: $host}}], documents: 12}
""",
    )
    assert [index.effective_name for index in found.indexes] == ["time_1_level_-1", "by_host"]
    assert found.scenarios[0].range is not None
    assert found.scenarios[0].range.widths == (1_000, 10_000, 100_000)
    assert found.scenarios[1].documents == 12


def test_it_reads_back_as_the_same(tmp_path: Path) -> None:
    text = 'scans: {indexes: [{a: 1}], scenarios: [{name: n, range: {field: a, widths: [1, 2, 3]}, plan: "no SORT"}]}'
    found = scans(tmp_path, text)
    assert ScansSpec.model_validate(found.model_dump(mode="json", exclude_none=True)) == found


def test_dates_are_extended_json() -> None:
    value = extended_json({"time": {"$gte": {"$date": "2024-05-01T00:00:00Z"}}})
    assert value["time"]["$gte"].year == 2024


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ("{name: n}", '"n" has no filter'),
        ("{name: n, filter: {}}", "names no field"),
        ("{name: n, filter: everything}", "must be a mapping"),
        ("{filter: all}", "is missing"),
        ("{name: n, filter: all, plan: IXSCN}", 'did you mean "IXSCAN"'),
        ('{name: n, filter: all, plan: ""}', "names no stage"),
        ('{name: n, filter: all, plan: "IXSCAN {a: 1} twice"}', "is no part of a plan"),
        ("{name: n, pipeline: []}", "must be a list of stages"),
        ("{name: n, pipeline: [{$out: x}]}", "writes"),
        ("{name: n, pipeline: [{$match: {a: 1}}], sort: {a: 1}}", "sort has no place beside a pipeline"),
        ("{name: n, range: {field: a, widths: [1, 2]}}", "a line needs 3 to 16 widths"),
        ("{name: n, range: {field: a, widths: [3, 2, 1]}}", "widths must grow"),
        ("{name: n, range: {field: $a}}", "is no field's name"),
        ("{name: n, range: {field: a}, filter: {a: 3}}", "filter and range are both about a"),
        ("{name: n, range: {field: a}, documents: 3}", "documents differ from width to width"),
        ("{name: n, filter: {a: {$date: never}}}", "is not Extended JSON"),
        ("{name: n, filter: all, hint: {a: 2}}", "a can't be 2 in an index"),
        ("{name: n, filtr: all}", 'did you mean "filter"'),
        ("{name: n, filter: all}, {name: n, filter: all}", 'two scenarios called "n"'),
    ],
)
def test_slips(tmp_path: Path, scenario: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        scans(tmp_path, f"scans: {{scenarios: [{scenario}]}}")
    assert message in f"{caught.value.message} {caught.value.hint}"
    assert "scans" in caught.value.path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scans: {scenarios: []}", "scenarios must be 1 to 64, not 0"),
        ("scans: {scenarios: [{name: n, filter: all}], indexes: [{a: 3}]}", "a can't be 3 in an index"),
        ("scans: {scenarios: [{name: n, filter: all}], indexes: [{a: 1}, {a: 1}]}", 'two indexes called "a_1"'),
        ("scans: {scenarios: [{name: n, filter: all}], repetitions: 2}", "must be in 3 to 1000"),
    ],
)
def test_slips_around_the_scenarios(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        scans(tmp_path, text)
    assert message in f"{caught.value.message} {caught.value.hint}"


def test_words_for_a_plan() -> None:
    assert parse_expected_plan('ixscan { "a" : 1.0, b: -1 }, no SORT, IXSCAN by_host') == (
        ExpectedStage(stage="IXSCAN", index="{a: 1, b: -1}"),
        ExpectedStage(stage="SORT", absent=True),
        ExpectedStage(stage="IXSCAN", index="by_host"),
    )
    assert normal_key_pattern('{ "_id" : 1 }') == "{_id: 1}"


SHARES = """
name: shares
data: {records: 10}
scans:
  scenarios:
    - {name: ranges, range: {field: x, widths: [0.5%, 5%, 50 %]}}
    - {name: first, filter: all, limit: 5%, documents: 5%}
    - {name: none, filter: {x: 1}, documents: 0}
"""


@pytest.mark.parametrize(
    ("entries", "widths", "documents"),
    [(10, (1, 5), 1), (200, (1, 10, 100), 10), (1_000_000, (5_000, 50_000, 500_000), 50_000)],
)
def test_shares_are_of_the_documents_that_are_there(
    tmp_path: Path, entries: int, widths: tuple[int, ...], documents: int
) -> None:
    path = tmp_path / "shares.yaml"
    path.write_text(SHARES)
    scans = load_spec(path).spec.scans
    assert scans is not None
    ranges, first, none = scans.sized(entries).scenarios
    assert ranges.range is not None
    assert ranges.range.widths == widths
    assert (first.limit, first.documents, none.documents) == (documents, documents, 0)


@pytest.mark.parametrize("entries", [2_000, 20_000, 200_000, 2_000_000, 100_000_000])
def test_the_shipped_scans_follow_the_number_of_records(entries: int) -> None:
    scans = load_spec("s2-scans").spec.scans
    assert scans is not None
    sized = scans.sized(entries)
    ranges = [each.range.widths for each in sized.scenarios if each.range is not None]
    assert ranges == [tuple(round(entries * share) for share in (0.005, 0.015, 0.05, 0.15, 0.5))] * 3
    limits = [(each.limit, each.documents) for each in sized.scenarios if each.limit is not None]
    assert limits == [(round(entries * share),) * 2 for share in (0.05, 0.005)]


@pytest.mark.parametrize(
    ("widths", "message"),
    [
        ("[1k, 5%, 50%]", "widths must all be counts, or all be shares"),
        ("[5%, 1%, 50%]", "widths must grow"),
        ("[0%, 1%, 50%]", "must be more than 0%"),
        ("[1%, 50%, 150%]", "must be in 0% to 100%"),
    ],
)
def test_slips_of_shares(tmp_path: Path, widths: str, message: str) -> None:
    path = tmp_path / "shares.yaml"
    path.write_text(SHARES.replace("[0.5%, 5%, 50 %]", widths))
    with pytest.raises(SpecError, match=message):
        load_spec(path)
