"""Owns the plan: everything a run does, with every default filled in, made from a spec by `resolve`."""

from brimline.plan.explain import explain
from brimline.plan.model import NullTarget, Plan, SimulatedTarget, TargetPlan, WireTarget
from brimline.plan.resolve import load_plan, resolve, rest_of_load, wire_target

__all__ = [
    "NullTarget",
    "Plan",
    "SimulatedTarget",
    "TargetPlan",
    "WireTarget",
    "explain",
    "load_plan",
    "resolve",
    "rest_of_load",
    "wire_target",
]
