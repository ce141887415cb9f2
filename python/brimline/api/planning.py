"""Owns asking a verb what it would cost without letting it begin: all that it checks beforehand is checked.

    with planning():
        grow("bulk-rows", …)  # raises Planned

A verb says its cost by `tell` where everything is known and nothing is started yet.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from brimline.spec import Spec
from brimline.spec.load_models import TlrLoad
from brimline.units import NS_PER_S

_ASKED: ContextVar[bool] = ContextVar("brimline_planning", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """About what a verb takes: seconds of measuring, NaN where only the first of `times` measurements tells.

    `data_bytes`: the most that lies on one server's disk at once. `loads`: how often so much is loaded besides.
    """

    seconds: float
    data_bytes: int
    times: int = 1
    loads: int = 1


class Planned(Exception):
    """Not an error: the verb was asked what it would cost, and begins nothing."""

    def __init__(self, cost: Cost) -> None:
        super().__init__("planned")
        self.cost = cost


@contextmanager
def planning() -> Iterator[None]:
    """Verbs that are called in the `with` block say what they would cost, by raising `Planned`, and begin nothing."""
    token = _ASKED.set(True)
    try:
        yield
    finally:
        _ASKED.reset(token)


def is_planning() -> bool:
    """Whether verbs are only asked."""
    return _ASKED.get()


def tell(cost: Cost) -> None:
    """Says the cost where that was asked for, by raising `Planned`; else nothing happens."""
    if is_planning():
        raise Planned(cost)


def spec_bytes(spec: Spec) -> int:
    """Bytes of all documents of a workload at most."""
    shapes = spec.shapes.values() if spec.is_own else (spec.data,)
    return sum(each.records * each.document_bytes_max for each in shapes)


def run_s(spec: Spec) -> float:
    """About how long a run with the load of a workload takes, where that can be told."""
    shape_ns = spec.load.ramp_up_ns if isinstance(spec.load, TlrLoad) else 0
    return (spec.effective_warmup_ns + (spec.effective_duration_ns or shape_ns)) / NS_PER_S


def run_cost(spec: Spec) -> Cost:
    """What one run of a workload takes, on data that is loaded before."""
    return Cost(seconds=run_s(spec), data_bytes=spec_bytes(spec))
