"""Owns the form of what is done about the data of a target. By itself it does nothing: there are none."""

# ruff: noqa: ARG002 (what is asked of nobody)

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from brimline.execution.data import LoadReport, MakeDirectory
from brimline.execution.ensure import DataPolicy
from brimline.execution.execute import RunContext
from brimline.execution.samples import read_samples
from brimline.execution.wanted import WantedData
from brimline.plan import Plan


class Keeper:
    """Of a target without data of ours. Everything raises BrimlineError where a run can't be as it is meant."""

    def __init__(self, context: RunContext) -> None:
        self.context = context

    def check(self, plan: Plan, wanted: Sequence[WantedData], *, policy: DataPolicy, are_writes_allowed: bool) -> None:
        """What can be known of a person's own operations before anything is changed: they are refused, or nothing."""

    def ensure(
        self, wanted: Sequence[WantedData], *, policy: DataPolicy, make_directory: MakeDirectory, drop: bool
    ) -> list[LoadReport]:
        """Sees to it that the data are there; what was loaded for that, in order."""
        return []

    def load(
        self,
        wanted: Sequence[WantedData],
        *,
        make_directory: MakeDirectory,
        drop: bool,
        going_on: Collection[WantedData] = (),
    ) -> list[LoadReport]:
        """Loads the data, whatever is there of them; of `going_on` what is missing."""
        return []

    def read_values(self, plan: Plan) -> None:
        """Reads the rows that a person's own values take of the data."""
        read_samples(plan, self.context)

    def try_steps(self, plan: Plan) -> None:
        """Tries each step of a person's own operations once: one that the target refuses is found before the run."""

    @contextmanager
    def kept(self, plan: Plan) -> Iterator[None]:
        """Around a run: the data are what was loaded when it begins, and what it inserted is taken away after it."""
        yield
