"""Owns what one part of a run leaves for another that comes later, beside the plan."""

from dataclasses import dataclass, field
from typing import Any

from brimline.dataset.sampling import Rows
from brimline.plan import Plan, with_tables
from brimline.plan.operations import OperationsWork


@dataclass(slots=True)
class Carried:
    """Filled as the run goes on; one for all runs of a workload on a server.

    `rows`: rows of the values that are sampled, by name. `identity`: while the data of a run of a person's own
    operations are kept, the 12 bytes by which it is told from others, its time in seconds first. `events`: what
    happened since the last record began, each with its `kind`. `taken_s`: how long data were put back, copied aside or
    loaded again, each time, by collection and by what became of it. `told`: what was said already and needn't be
    said again. `is_tried`: the server takes the steps.
    """

    rows: dict[str, Rows] = field(default_factory=dict)
    identity: bytes | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    taken_s: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    is_tried: bool = False

    def with_rows(self, plan: Plan) -> Plan:
        """`plan` with the rows that were read for its values."""
        if not isinstance(plan.work, OperationsWork):
            return plan
        names = {table.name for table in plan.work.tables} & self.rows.keys()
        return with_tables(plan, {name: (self.rows[name].content, self.rows[name].row_count) for name in names})

    def take_events(self) -> list[dict[str, Any]]:
        """The events, which are no longer here then."""
        events, self.events = self.events, []
        return events
