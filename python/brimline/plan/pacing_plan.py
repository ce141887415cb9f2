"""Owns the step from a spec's load model to the plan's."""

from brimline.plan import model
from brimline.spec import load_models as loads


def pacer_plan(load: loads.Load) -> model.PacerPlan:
    """When operations are due."""
    match load:
        case loads.ClosedLoad():
            return model.ClosedPacer(think_time=_think_time(load))
        case loads.UnlimitedLoad():
            return model.ClosedPacer()
        case loads.TlrLoad():
            return model.TlrPacer(loops=load.loops, ramp_up_ns=load.ramp_up_ns)
        case loads.ConstantLoad():
            return model.ConstantPacer(rate_ops_per_s=load.rate_ops_per_s)
        case loads.PoissonLoad():
            return model.PoissonPacer(rate_ops_per_s=load.rate_ops_per_s)
        case loads.RampLoad() | loads.StagesLoad() | loads.StepsLoad():
            stages = tuple(
                model.Stage(from_ops_per_s=begin, to_ops_per_s=end, duration_ns=duration_ns)
                for begin, end, duration_ns in loads.rate_stages(load)
            )
            return model.StagesPacer(arrivals=load.arrivals, stages=stages)


def _think_time(load: loads.ClosedLoad) -> model.ThinkTime | None:
    if not load.think_time_ns:
        return None
    return model.ThinkTime(mean_ns=load.think_time_ns, law=load.think_time_law)
