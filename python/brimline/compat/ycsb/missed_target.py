"""Owns whether a run went as fast as YCSB's `-target` asked for."""

from brimline.analysis.objective import COMPLETED_SHARE_MIN
from brimline.plan.model import ConstantPacer
from brimline.record.model import RunRecord
from brimline.spec import YcsbOutput
from brimline.units import format_count, format_number, format_percentage


def missed_target(record: RunRecord, output: YcsbOutput) -> str:
    """What was asked for and what was reached, "" where that is as good as the same.

    A run that ends by its count sends all it was to send, however late: what tells is how long the sending took. As
    with an objective, less than 99 % is too little, unless no more was sent, or behind at the end, than may be in
    flight: what so short a run reaches is chance.
    """
    pacer, sending_s = record.plan.pacer, record.measured_s
    if record.summary is None or not isinstance(pacer, ConstantPacer) or not sending_s:
        return ""
    sent, asked = record.summary["sent"], pacer.rate_ops_per_s * sending_s
    if sent >= COMPLETED_SHARE_MIN * asked or min(sent, asked - sent) <= record.plan.in_flight_bound:
        return ""
    # In YCSB's operations: commands of a load, which the plan counts, may be of several documents.
    reached_ops_per_s = output.target_ops_per_s * sent / asked
    return (
        f"a target of {format_count(output.target_ops_per_s)} ops/s was asked for, "
        f"{format_number(reached_ops_per_s)} ops/s ({format_percentage(sent / asked)}) were reached"
    )
