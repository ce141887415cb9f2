"""Owns the plan: everything a run does, with every default filled in, made from a spec by `resolve`."""

from brimline.plan.model import (
    HttpTarget,
    LinkTarget,
    NullTarget,
    Plan,
    RunnerTarget,
    Share,
    SimulatedTarget,
    SqlTarget,
    TargetPlan,
    WireTarget,
)
from brimline.plan.own import collection_plan, with_tables
from brimline.plan.resolve import (
    http_target,
    load_plan,
    load_plans,
    resolve,
    rest_of_load,
    runner_target,
    sql_target,
    wire_target,
)

__all__ = [
    "HttpTarget",
    "LinkTarget",
    "NullTarget",
    "Plan",
    "RunnerTarget",
    "Share",
    "SimulatedTarget",
    "SqlTarget",
    "TargetPlan",
    "WireTarget",
    "collection_plan",
    "http_target",
    "load_plan",
    "load_plans",
    "resolve",
    "rest_of_load",
    "runner_target",
    "sql_target",
    "wire_target",
    "with_tables",
]
