"""Owns what a plan's load model offers: in one line of prose, and as a rate over time."""

from brimline import units
from brimline.plan import model
from brimline.spec.load_models import offered_before
from brimline.wording import message


def load_line(plan: model.Plan, *, nodes: int = 1) -> str:
    """What is said of the load model before a run, of which so many nodes perform a share each."""
    if nodes == 1:
        return message("load: {load}", load=describe_load(plan))
    whole = plan.model_copy(update={"threads": plan.threads * nodes})
    return message(
        "load: {load}; shared out among {count} nodes", load=describe_load(whole), count=units.format_count(nodes)
    )


def describe_load(plan: model.Plan) -> str:
    """The load model in one line, whole: what is sent when, over how many connections."""
    connections, threads = connections_text(plan.connections), _threads_text(plan.threads)
    places = message("{connections} on {threads}", connections=connections, threads=threads)
    workers = _workers_text(plan.worker_count)
    if plan.is_pooled:
        places = message("{workers} share {places}", workers=workers, places=places)
    elif plan.in_flight_max is not None:
        most = _operations_text(plan.in_flight_max)
        places = message("{places}, at most {most} in flight", places=places, most=most)
    match plan.pacer:
        case model.ClosedPacer():
            return message(
                "{name}, {places}; each sends its next operation {when}",
                name="closed loop" if plan.pacer.think_time is not None else "closed loop, unlimited",
                places=places,
                when=_after_the_reply(plan.pacer),
            )
        case model.TlrPacer():
            loops, count = plan.pacer.loops, units.format_count(plan.pacer.loops)
            ramp_up = units.duration_text(plan.pacer.ramp_up_ns)
            return message(
                "T-L-R, {start} performs {each}: {all} on {threads}{shared}",
                start="1 worker starts at once and"
                if plan.worker_count == 1
                else message("{workers} start evenly over {ramp_up}, each", workers=workers, ramp_up=ramp_up),
                each="one" if loops == 1 else message("{count}, one after another", count=count),
                all=_operations_text(plan.worker_count * loops),
                threads=threads,
                shared=message(", sharing {connections}", connections=connections) if plan.is_pooled else "",
            )
        case model.ConstantPacer():
            rate = units.rate_text(plan.pacer.rate_ops_per_s)
            return message("constant rate of {rate}, whatever the target does, over {places}", rate=rate, places=places)
        case model.PoissonPacer():
            rate = units.rate_text(plan.pacer.rate_ops_per_s)
            return message(
                "Poisson arrivals of {rate} on average, whatever the target does, over {places}",
                rate=rate,
                places=places,
            )
        case model.StagesPacer():
            stages = _stages(plan.pacer)
            return message("{stages}, whatever the target does, over {places}", stages=stages, places=places)


def short_load(plan: model.Plan) -> str:
    """The load model in a few words."""
    match plan.pacer:
        case model.ClosedPacer(think_time=None):
            return "closed loop, unlimited"
        case model.ClosedPacer(think_time=think) if think is not None:
            return message("closed loop, think time {pause}", pause=units.duration_text(think.mean_ns))
        case model.TlrPacer():
            return message(
                "T-L-R: {workers} workers × {loops} over {ramp_up}",
                workers=units.format_count(plan.worker_count),
                loops=units.format_count(plan.pacer.loops),
                ramp_up=units.duration_text(plan.pacer.ramp_up_ns),
            )
        case model.ConstantPacer():
            return message("{rate} offered", rate=units.format_rate(plan.pacer.rate_ops_per_s))
        case model.PoissonPacer():
            return message("{rate} offered, Poisson", rate=units.format_rate(plan.pacer.rate_ops_per_s))
        case model.StagesPacer():
            return _stages(plan.pacer)
        case _:
            raise AssertionError(plan.pacer)


def offered_line(pacer: model.PacerPlan, *, end_ns: float) -> list[tuple[float, float]]:
    """The offered rate until `end_ns` as corners of a line: instants of the run in ns, rates in ops/s.

    Empty in a closed loop.
    """
    match pacer:
        case model.ConstantPacer() | model.PoissonPacer():
            return [(0, pacer.rate_ops_per_s), (end_ns, pacer.rate_ops_per_s)]
        case model.StagesPacer():
            return _stage_corners(pacer.stages, end_ns)
        case _:
            return []


def offered_mean(plan: model.Plan, *, start_ns: int, end_ns: int) -> float | None:
    """The mean offered rate in ops/s between two instants of the run; None in a closed loop, or without a length."""
    match plan.pacer:
        case model.ConstantPacer() | model.PoissonPacer():
            return plan.pacer.rate_ops_per_s
        case model.StagesPacer() if end_ns > start_ns:
            stages = [(each.from_ops_per_s, each.to_ops_per_s, each.duration_ns) for each in plan.pacer.stages]
            operations = offered_before(stages, end_ns) - offered_before(stages, start_ns)
            return operations * units.NS_PER_S / (end_ns - start_ns)
        case _:
            return None


def _after_the_reply(pacer: model.ClosedPacer) -> str:
    think = pacer.think_time
    if think is None:
        return "when the last is answered" if pacer.follows_replies else "when the answer to its last is taken"
    after = {
        "constant": "{pause} after the last is answered",
        "exponential": "{pause} on average, exponentially distributed, after the last is answered",
    }
    return message(after[think.law], pause=units.duration_text(think.mean_ns))


def _stages(pacer: model.StagesPacer) -> str:
    stages = pacer.stages
    length = units.duration_text(sum(stage.duration_ns for stage in stages))
    arrivals = ", Poisson" if pacer.arrivals == "poisson" else ""
    if len(stages) == 1:
        begin, end = units.rate_text(stages[0].from_ops_per_s), units.rate_text(stages[0].to_ops_per_s)
        shape = message("ramp from {begin} to {end}", begin=begin, end=end) if begin != end else begin
        return message("{shape} in {length}{arrivals}", shape=shape, length=length, arrivals=arrivals)
    rates = [rate for stage in stages for rate in (stage.from_ops_per_s, stage.to_ops_per_s)]
    low, high = units.rate_text(min(rates)), units.rate_text(max(rates))
    return message(
        "{count} stages between {low} and {high} in {length}{arrivals}",
        count=len(stages),
        low=low,
        high=high,
        length=length,
        arrivals=arrivals,
    )


def _stage_corners(stages: tuple[model.Stage, ...], end_ns: float) -> list[tuple[float, float]]:
    corners: list[tuple[float, float]] = []
    start_ns = 0
    for stage in stages:
        inside_ns = min(end_ns - start_ns, stage.duration_ns)
        if inside_ns <= 0:
            return corners
        rate_at_end = stage.from_ops_per_s + inside_ns / stage.duration_ns * (stage.to_ops_per_s - stage.from_ops_per_s)
        corners += [(start_ns, stage.from_ops_per_s), (start_ns + inside_ns, rate_at_end)]
        start_ns += stage.duration_ns
    return [*corners, (end_ns, stages[-1].to_ops_per_s)] if end_ns > start_ns else corners


def connections_text(count: int) -> str:
    """`1 connection`, `8 connections`."""
    return "1 connection" if count == 1 else message("{count} connections", count=units.format_count(count))


def _threads_text(count: int) -> str:
    return "1 thread" if count == 1 else message("{count} threads", count=units.format_count(count))


def _workers_text(count: int) -> str:
    return "1 worker" if count == 1 else message("{count} workers", count=units.format_count(count))


def _operations_text(count: int) -> str:
    return "1 operation" if count == 1 else message("{count} operations", count=units.format_count(count))
