"""Owns the step from a spec's load model and key law to the plan's."""

from brimline.plan import model
from brimline.spec import keys as spec_keys
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


def keys_plan(keys: spec_keys.Keys) -> model.KeysPlan:
    """Which records operations take."""
    match keys:
        case spec_keys.UniformKeys():
            return model.UniformKeys()
        case spec_keys.SequentialKeys():
            return model.SequentialKeys()
        case spec_keys.ZipfianKeys():
            return model.ZipfianKeys(theta=keys.theta)
        case spec_keys.LatestKeys():
            return model.LatestKeys(theta=keys.theta)
        case spec_keys.HotspotKeys():
            return model.HotspotKeys(data_fraction=keys.data_fraction, operation_fraction=keys.operation_fraction)
        case spec_keys.ExponentialKeys():
            return model.ExponentialKeys(percentile=keys.percentile, fraction=keys.fraction)
