"""Owns who keeps collections: what `ensure`, `data`, `kept_data` and `step_trials` do, under the names of a keeper."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from brimline.execution.data import LoadReport, MakeDirectory, load_data
from brimline.execution.effects import require_writes_allowed
from brimline.execution.ensure import DataPolicy, ensure_data
from brimline.execution.keeper.base import Keeper
from brimline.execution.kept_data import putting_back
from brimline.execution.live import foreign_collections, require_live_collections
from brimline.execution.step_trials import explain_before_load, try_steps
from brimline.execution.wanted import WantedData
from brimline.plan import Plan


class CollectionKeeper(Keeper):
    """Of a MongoDB server."""

    def check(self, plan: Plan, wanted: Sequence[WantedData], *, policy: DataPolicy, are_writes_allowed: bool) -> None:
        """What is written is ours, or may be; what is read is there; the server takes what it is to be asked."""
        if not are_writes_allowed:
            foreign = foreign_collections(wanted, self.context) if policy is DataPolicy.AS_IS else ()
            require_writes_allowed(plan, not_ours=foreign)
        require_live_collections(plan, self.context)
        if policy is DataPolicy.LOAD:
            explain_before_load(plan, self.context)

    def ensure(
        self, wanted: Sequence[WantedData], *, policy: DataPolicy, make_directory: MakeDirectory, drop: bool
    ) -> list[LoadReport]:
        """See `ensure_data`."""
        return ensure_data(wanted, policy=policy, make_directory=make_directory, context=self.context, drop=drop)

    def load(
        self,
        wanted: Sequence[WantedData],
        *,
        make_directory: MakeDirectory,
        drop: bool,
        going_on: Collection[WantedData] = (),
    ) -> list[LoadReport]:
        """See `load_data`."""
        return load_data(wanted, make_directory=make_directory, context=self.context, drop=drop, going_on=going_on)

    def try_steps(self, plan: Plan) -> None:
        """See `step_trials`."""
        try_steps(plan, self.context)

    @contextmanager
    def kept(self, plan: Plan) -> Iterator[None]:
        """See `kept_data`."""
        with putting_back(plan, self.context):
            yield
