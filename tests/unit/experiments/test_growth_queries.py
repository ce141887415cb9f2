"""What a batch of growth asks for: whole documents, uniformly, other keys each time, whatever the workload says."""

from dataclasses import replace

from brimline import _native
from brimline.experiments.growth.order import GrowthTask, IndexSet
from brimline.experiments.growth.runner import query_plan, step_spec
from brimline.plan import NullTarget, Plan, load_plan
from brimline.plan.model import MixWork
from brimline.spec import load_spec

TASK = GrowthTask(stage="query", indexes=IndexSet.PRIMARY, records=50_000, connections=4, queries=2_000)
SPEC = load_spec("ycsb-a", overrides={"read_all_fields": False}).spec


def asked(plan: Plan) -> list[int]:
    return [operation["record"] for operation in _native.preview(plan.canonical_json(), 2_000)]


def test_the_workload_s_own_operations_have_no_say() -> None:
    plan = query_plan(TASK, SPEC, NullTarget())
    assert isinstance(plan.work, MixWork)
    assert plan.work.proportions == dict.fromkeys(plan.work.proportions, 0) | {"read": 1}
    assert plan.work.read_all_fields
    assert plan.work.keys.kind == "uniform"
    assert (plan.operation_count, plan.connections, plan.warmup_ns, plan.duration_ns) == (2_000, 4, 0, None)


def test_keys_are_drawn_anew_for_each_batch_from_all_records() -> None:
    first, second = (
        asked(query_plan(TASK, SPEC, NullTarget())),
        asked(query_plan(replace(TASK, repeat=1), SPEC, NullTarget())),
    )
    assert first == asked(query_plan(TASK, SPEC, NullTarget()))
    assert len(set(first) & set(second)) < 0.1 * len(first)  # 4 % on average
    assert 0.95 * TASK.records < max(first) < TASK.records
    assert min(first) < 0.05 * TASK.records


def test_a_query_finds_the_keys_that_a_step_loads() -> None:
    load = load_plan(step_spec(SPEC, TASK.records), target=NullTarget())
    queries = query_plan(TASK, SPEC, NullTarget())
    assert queries.data == load.data
    keys = [_native.generate_keys(plan.canonical_json(), 0, 50) for plan in (load, queries)]
    assert keys[0] == keys[1]
