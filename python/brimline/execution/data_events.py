"""Owns telling that data are copied aside, put back or loaded again around a run, and how long that took."""

import time

from brimline.execution.execute import RunContext
from brimline.units import NS_PER_S, format_duration
from brimline.wording import Verbatim, message


def tell_putting_back(context: RunContext, namespace: str) -> None:
    """Says that a copy is put back."""
    context.progress.step(message("putting {namespace} back from its copy", namespace=Verbatim(namespace)))


def tell_loading_again(context: RunContext, namespace: str) -> None:
    """Says that what a run changed is loaded again."""
    context.progress.step(
        message("loading {namespace} again, which the operations of a run changed", namespace=Verbatim(namespace))
    )


def tell_copying(context: RunContext, namespace: str) -> None:
    """Says that a copy is made."""
    context.progress.step(
        message("copying {namespace} aside, so that it can be put back", namespace=Verbatim(namespace))
    )


def tell_data_event(context: RunContext, namespace: str, what: str, kind: str, *, began_s: float) -> None:
    """Says that `namespace` was `what` since `began_s` of the monotonic clock, and keeps it for the next record."""
    took_s = time.monotonic() - began_s
    context.progress.note(f"{namespace} was {what} in {format_duration(round(took_s * NS_PER_S))}")
    context.carried.events.append({"kind": kind, "namespace": namespace, "took_s": round(took_s, 3)})
