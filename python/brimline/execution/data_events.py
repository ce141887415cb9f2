"""Owns telling that data were copied aside, put back or loaded again around a run, and how long that took."""

import time

from brimline.execution.execute import RunContext
from brimline.units import NS_PER_S, format_duration


def tell_data_event(context: RunContext, namespace: str, what: str, kind: str, *, began_s: float) -> None:
    """Says that `namespace` was `what` since `began_s` of the monotonic clock, and keeps it for the next record."""
    took_s = time.monotonic() - began_s
    context.progress.note(f"{namespace} was {what} in {format_duration(round(took_s * NS_PER_S))}")
    context.carried.events.append({"kind": kind, "namespace": namespace, "took_s": round(took_s, 3)})
