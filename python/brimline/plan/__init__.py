"""Owns the plan: everything a run does, with every default filled in, made from a spec by `resolve`."""

from brimline.plan.explain import explain
from brimline.plan.model import DriverTarget, NullTarget, Plan, SimulatedTarget, TargetPlan, WireTarget
from brimline.plan.resolve import driver_target, load_plan, resolve, rest_of_load, wire_target

__all__ = [
    "DriverTarget",
    "NullTarget",
    "Plan",
    "SimulatedTarget",
    "TargetPlan",
    "WireTarget",
    "driver_target",
    "explain",
    "load_plan",
    "resolve",
    "rest_of_load",
    "wire_target",
]
