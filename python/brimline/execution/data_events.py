"""Owns telling that data are copied aside, put back or loaded again around a run, and how long that took."""

import time
from math import fsum

from brimline.execution.execute import RunContext
from brimline.units import NS_PER_S, format_count, format_duration
from brimline.wording import Verbatim, message


def tell_putting_back(context: RunContext, namespace: str) -> None:
    """Says that a copy is put back."""
    _step(context, message("putting {namespace} back from its copy", namespace=Verbatim(namespace)))


def tell_loading_again(context: RunContext, namespace: str) -> None:
    """Says that what a run changed is loaded again."""
    _step(
        context,
        message("loading {namespace} again, which the operations of a run changed", namespace=Verbatim(namespace)),
    )


def tell_copying(context: RunContext, namespace: str) -> None:
    """Says that a copy is made."""
    context.progress.step(
        message("copying {namespace} aside, so that it can be put back", namespace=Verbatim(namespace))
    )


def tell_data_event(context: RunContext, namespace: str, what: str, kind: str, *, began_s: float) -> None:
    """Says that `namespace` was `what` since `began_s` of the monotonic clock, and keeps it for the next record.

    It is said the first time alone: before each run of an experiment it would bury what the runs show.
    """
    took_s = time.monotonic() - began_s
    taken = context.carried.taken_s.setdefault((namespace, what), [])
    taken.append(took_s)
    if len(taken) == 1:
        context.progress.note(
            message(
                "{namespace} was {what} in {time}",
                namespace=Verbatim(namespace),
                what=what,
                time=format_duration(round(took_s * NS_PER_S)),
            )
        )
    context.carried.events.append({"kind": kind, "namespace": namespace, "took_s": round(took_s, 3)})


def tell_data_events_in_all(context: RunContext) -> None:
    """At the end of an experiment: how often what was said once happened, and what it took in all."""
    for (namespace, what), taken_s in context.carried.taken_s.items():
        if len(taken_s) > 1:
            whole = format_duration(round(fsum(taken_s) * NS_PER_S))
            context.progress.note(
                message(
                    "{namespace} was {what} {count} times, in {whole} in all",
                    namespace=Verbatim(namespace),
                    what=what,
                    count=format_count(len(taken_s)),
                    whole=whole,
                )
            )
    context.carried.taken_s.clear()


def _step(context: RunContext, text: str) -> None:
    """Said the first time, and later only on a screen that shows what goes on just now."""
    if text not in context.carried.told or getattr(context.progress, "is_live", False):
        context.carried.told.add(text)
        context.progress.step(text)


def changed_text(namespace: str) -> str:
    """What becomes of data that the operations of a run changed."""
    return message(
        "the operations changed {namespace}: the next run of this workload puts it back before it begins",
        namespace=Verbatim(namespace),
    )
