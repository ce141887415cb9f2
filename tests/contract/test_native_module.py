"""The boundary: the compiled module is what `_native.pyi` and the row types of the record say, in both directions."""

import ast
import base64
import inspect
from pathlib import Path

import pytest

from brimline import _native
from brimline.plan import NullTarget, resolve
from brimline.record import model
from brimline.spec import load_spec

STUB = Path(_native.__file__).parent / "_native.pyi"
TREE = ast.parse(STUB.read_text())
CLASSES = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef)}
CONSTANTS = {
    node.target.id for node in TREE.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
}
FUNCTIONS = {node.name: node for node in TREE.body if isinstance(node, ast.FunctionDef)}


def _is_typed_dict(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "TypedDict" for base in node.bases)


def _parameters(node: ast.FunctionDef) -> list[str]:
    return [each.arg for each in node.args.args if each.arg != "self"]


def _real_parameters(function: object) -> list[str]:
    names = inspect.signature(function).parameters  # type: ignore[arg-type]
    return [name for name in names if name != "self"]


def test_the_module_has_just_the_names_of_the_stub() -> None:
    promised = {name for name, node in CLASSES.items() if not _is_typed_dict(node)} | set(FUNCTIONS)
    promised |= {name for name in CONSTANTS if not name.startswith("_")}
    there = {name for name in dir(_native) if not name.startswith("_")}
    assert there == promised
    assert isinstance(_native.__version__, str)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_take_the_parameters_of_the_stub(name: str) -> None:
    assert _real_parameters(getattr(_native, name)) == _parameters(FUNCTIONS[name])


@pytest.mark.parametrize("name", ["Run", "Histogram"])
def test_classes_have_the_methods_of_the_stub(name: str) -> None:
    methods = {node.name: node for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)}
    real = getattr(_native, name)
    assert {each for each in dir(real) if not each.startswith("_")} == {
        each for each in methods if not each.startswith("_")
    }
    for method, node in methods.items():
        if not method.startswith("_"):
            assert _real_parameters(getattr(real, method)) == _parameters(node), method


@pytest.mark.parametrize(("name", "base"), [("PlanError", ValueError), ("TargetError", OSError)])
def test_errors_have_the_bases_of_the_stub(name: str, base: type[Exception]) -> None:
    assert issubclass(getattr(_native, name), base)


def _keys(name: str) -> set[str]:
    fields = (node for node in CLASSES[name].body if isinstance(node, ast.AnnAssign))
    return {node.target.id for node in fields if isinstance(node.target, ast.Name)}


OF_STEPS = {"steps", "command_names", "document_counts", "run_identity"}
OWN = """
collections: {orders: {records: 100, fields: {number: {kind: int, max: 9}}}}
values: {number: {kind: int, max: 9}}
operations:
  look: {share: 1, find: {collection: orders, filter: {number: $number}}}
  order:
    share: 1
    steps:
      - find: {collection: orders, limit: 1}
      - insert: {collection: orders, document: {number: $number}}
operation_count: 1000
warmup: 0s
"""


def test_operations_of_a_persons_own_have_rows_and_rows_of_their_steps(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(OWN)
    plan = resolve(load_spec(tmp_path / "own.yaml").spec, target=NullTarget())
    run = _native.start(plan.canonical_json())
    while run.poll(0.1)["stage"] != "finished":
        pass
    samples, summary = run.take_samples(), run.join()
    assert {row["operation"] for row in samples["operations"]} == {"look", "order"}
    assert {row["step"] for row in samples["steps"]} == {"find orders", "insert orders"}
    assert set(summary["steps"]) == {"order"}, "an operation of one step is that step"
    assert set(summary) >= OF_STEPS
    assert set(samples["steps"][0]) >= model.StepSampleRow.__required_keys__
    told = _native.start(plan.canonical_json(), identity=bytes(range(12)))
    assert told.join()["run_identity"] == "000102030405", "object ids begin with it"
    (look, order) = _native.example_commands(plan.canonical_json())
    assert (len(look), len(order)) == (1, 2)


def test_rows_have_the_keys_that_records_are_made_of() -> None:
    script = {"faults": [{"when": {"at_request": 3}, "kind": {"error": {"code": 11600, "name": "Interrupted"}}}]}
    spec = load_spec(
        "ycsb-c", overrides={"data.records": 100, "operation_count": 1000, "warmup": "0s", "connections": 2}
    ).spec
    plan = resolve(spec, target=NullTarget())
    values = plan.model_dump() | {"target": {"kind": "simulated", "script": script, "generator_ns": 1000}}
    run = _native.start(type(plan).model_validate(values).canonical_json())
    progress = run.poll(0.01)
    assert set(progress) == _keys("Progress")
    while run.poll(0.1)["stage"] != "finished":
        pass
    samples = run.take_samples()
    summary = run.join()
    assert set(samples) == model.Samples.__required_keys__
    assert set(samples["operations"][0]) == model.SampleRow.__required_keys__
    assert set(samples["intervals"][0]) == model.IntervalRow.__required_keys__
    of_a_server = {"connects", "looks", "unsettled_sessions", "runners", "shards"}
    not_here = of_a_server | {"operation_log", "standstills", "nodes"} | OF_STEPS
    assert set(summary) == model.Summary.__required_keys__ | model.Summary.__optional_keys__ - not_here, (
        "no server, no log, no standstill, no other nodes"
    )
    assert set(summary["errors"][0]) == model.ErrorRow.__required_keys__
    assert (
        set(summary["operations"]["read"])
        == model.OperationTotals.__required_keys__ | model.OperationTotals.__optional_keys__
    )
    assert summary["ended_by"] == "completed"


def test_errors_carry_what_the_stub_says() -> None:
    with pytest.raises(_native.PlanError) as raised:
        _native.validate_plan("{}")
    path, message = raised.value.args
    assert (path, "missing field" in message) == ("plan", True)
    with pytest.raises(ValueError, match=r"histogram|base64|invalid"):
        _native.Histogram.decode("not a histogram")


@pytest.mark.parametrize(
    "values", [[], [0], [1, 1, 2047, 2048, 4097], [3_600_000_000_000, 5], list(range(1, 10**7, 997))]
)
def test_a_decoded_histogram_is_the_one_that_was_encoded(values: list[int]) -> None:
    """Merged, asked at once, or encoded again: counts of one byte and of several, runs of zeros, the whole range."""
    original = _native.Histogram()
    for value in values:
        original.record(value, 1 + value % 1_000_003)
    decode = _native.Histogram.decode
    merged = decode(original.encode())
    merged.merge(decode(original.encode()))
    assert merged.buckets() == [(value, 2 * count) for value, count in original.buckets()]
    for quantile in (0.0, 0.5, 0.999, 1.0):
        assert decode(original.encode()).quantile(quantile) == original.quantile(quantile)
    figures = ("count", "mean", "stddev", "min", "max", "buckets")
    for name in figures:
        assert getattr(decode(original.encode()), name)() == getattr(original, name)()
    assert decode(decode(original.encode()).encode()).buckets() == original.buckets()


def test_a_damaged_histogram_is_refused() -> None:
    original = _native.Histogram()
    original.record(5_000_000, 300)
    whole = base64.b64decode(original.encode())
    for cut in (0, 3, 9, len(whole) // 2):
        with pytest.raises(ValueError, match="histogram"):
            _native.Histogram.decode(base64.b64encode(whole[:cut]).decode())
