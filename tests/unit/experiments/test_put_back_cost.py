"""What an experiment takes to put data back, before it begins and in its report."""

from pathlib import Path

import pytest

from brimline.api.put_back_cost import put_back_of
from brimline.experiments.cost import ASSUMED_COPY_BYTES_PER_S, NOTHING_PUT_BACK, PutBack, StageCost, TimeEstimate
from brimline.record.model import Event
from brimline.report.put_back import put_back
from brimline.spec import load_spec

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/own-operations"
FOUR_RUNS = TimeEstimate(
    typical_s=41.0, max_s=100.0, stages=(StageCost("calibrate", 1, 1.0), StageCost("sweep", 4, 10.0))
)


def test_it_is_in_the_estimate_for_each_run_on_the_server_but_the_first() -> None:
    size = round(2 * ASSUMED_COPY_BYTES_PER_S)
    found = PutBack(size).within(FOUR_RUNS)
    assert (found.typical_s, found.max_s) == (47.0, 100.0)
    assert found.text.startswith(
        "estimate: about 47.0 s, 5 probes (calibrate 1, sweep 4); "
        "at most 100 s, without server starts, loading, putting data back and what is around each run; of that"
    ), "how long it takes only the server tells, and no bound may rest on a guess"
    assert found.text.endswith("; of that 6.00 s for putting back up to 200 MB before each run, if it goes at 100 MB/s")
    assert NOTHING_PUT_BACK.within(FOUR_RUNS) == FOUR_RUNS


@pytest.mark.parametrize(
    ("workload", "changed"),
    [
        (EXAMPLES / "shop.yaml", ("stock", "orders")),
        (EXAMPLES / "measurements.yaml", ()),  # ids of the run are taken away
        (EXAMPLES / "every-database.yaml", ("orders",)),
        ("ycsb-a", ()),
    ],
)
def test_it_is_what_the_operations_change(workload: str | Path, changed: tuple[str, ...]) -> None:
    spec = load_spec(workload).spec
    shapes = [spec.shapes[name] for name in changed]
    assert put_back_of(spec).size_bytes == sum(each.records * each.document_bytes_max for each in shapes)


OTHERS = """
name: w
protocol: {protocol}
collections:
  t: {{records: 10, fields: {{a: int, items: {{kind: array, length: 2, of: int}}}}}}
  other: {{records: 5}}
values: {{new: {{new_key_of: t}}, id: {{key_of: t}}}}
operations: {{one: {{{step}}}}}
"""


@pytest.mark.parametrize(
    ("protocol", "step", "changed"),
    [
        ("sql", 'sql: "SELECT a FROM t WHERE id = $id"', ()),
        ("sql", 'sql: "INSERT INTO t (id, a) VALUES ($new, 1)"', ()),  # keys of the run are taken away
        ("sql", 'sql: "UPDATE t SET a = 1 WHERE id = $id"', ("t",)),
        ("sql", 'sql: "DELETE FROM t_items WHERE t_id = $id"', ("t",)),
        ("http", "put: {path: /t/$id}", ()),  # what is behind a service is its own
    ],
)
def test_each_protocol_has_effects_of_its_own(
    tmp_path: Path, protocol: str, step: str, changed: tuple[str, ...]
) -> None:
    workload = OTHERS.format(protocol=protocol, step=step)
    if protocol == "sql":
        workload += "tables: {t: {child: [items]}}"
    (tmp_path / "w.yaml").write_text(workload)
    spec = load_spec(tmp_path / "w.yaml").spec
    shapes = [spec.shapes[name] for name in changed]
    assert put_back_of(spec).size_bytes == sum(each.records * each.document_bytes_max for each in shapes)


def test_the_report_says_what_it_took() -> None:
    def events(kind: str, *took_s: float) -> list[Event]:
        return [Event(unix_ns=0, kind=kind, fields={"namespace": "shop.stock", "took_s": each}) for each in took_s]

    told = put_back([*events("data_copied", 0.25), *events("data_put_back", 0.5, 1.5), *events("trial", 7.0)])
    assert [(fact.label, str(fact.value)) for fact in told.facts] == [
        ("Copied aside", "once, in 250 ms"),
        ("Put back from a copy", "2 times in 2.00 s, 1.00 s each"),
    ]
    assert put_back([]).facts == []
