"""Owns the kinds of operation that have names of brimline's own: YCSB's, transactions, and the inserts of a load.

One table: whatever depends on a kind asks it. The operations of a workload's author aren't in it: they are called what
their author called them, and what they do is in their steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind: what it consists of, whether it asks for documents, whether it changes any, and its words.

    `steps`: the kinds that it consists of, all of the same record; () where it is one itself. `parts`: its commands
    that are timed apart, with what a table calls them. `plural`: several of them; `what`: the same and what they do,
    "" where no workload says how many of its operations they are. `ycsb_call` is the call of YCSB's binding,
    `ycsb_share` the property of its share, "" where YCSB has none. `can_be_absent`: YCSB says NOT_FOUND of it where
    there was no document. `also_called`: what other tools call it, in lower case.
    """

    name: str
    plural: str
    what: str = ""
    reads: bool = False
    writes: bool = False
    steps: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    ycsb_call: str
    ycsb_share: str = ""
    can_be_absent: bool = False
    also_called: tuple[str, ...] = ()

    @property
    def reads_by_key(self) -> bool:
        """Whether of each one that ended it is known which document it was to bring."""
        return "read" in (self.name, *self.steps)

    @property
    def updates_by_key(self) -> bool:
        """Whether it sets fields of one document."""
        return "update" in (self.name, *self.steps)


_KINDS = (
    Kind(
        name="read",
        plural="reads",
        what="reads of one document by its key",
        reads=True,
        ycsb_call="READ",
        ycsb_share="readproportion",
        can_be_absent=True,
        also_called=("find", "query"),
    ),
    Kind(
        name="update",
        plural="updates",
        what="updates of one document by its key",
        writes=True,
        ycsb_call="UPDATE",
        ycsb_share="updateproportion",
        can_be_absent=True,
        also_called=("write",),
    ),
    Kind(
        name="insert",
        plural="inserts",
        what="inserts of new records, which are taken away after the run",
        writes=True,
        ycsb_call="INSERT",
        ycsb_share="insertproportion",
    ),
    Kind(
        name="scan",
        plural="scans",
        what="scans: documents in the order of their keys, from one key on",
        reads=True,
        ycsb_call="SCAN",
        ycsb_share="scanproportion",
    ),
    Kind(
        name="read_modify_write",
        plural="read-modify-writes",
        what="reads that are followed by an update of the same document",
        reads=True,
        writes=True,
        steps=("read", "update"),
        parts={"read": "read of a read modify write", "update": "update of a read modify write"},
        ycsb_call="READ-MODIFY-WRITE",
        ycsb_share="readmodifywriteproportion",
        also_called=("rmw", "readmodifywrite"),
    ),
    Kind(name="load", plural="loads", writes=True, ycsb_call="INSERT"),
    Kind(
        name="transaction",
        plural="transactions",
        what="transactions; needs a replica set or a mongos",
        reads=True,
        writes=True,
        parts={"commit": "commit of a transaction"},
        ycsb_call="TRANSACTION",
        also_called=("txn",),
    ),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _KINDS}
"""Every kind by its name, in the order of the numbers by which the log of operations tells them apart."""
PARTS: tuple[str, ...] = tuple(dict.fromkeys(part for kind in _KINDS for part in kind.parts))
"""The parts of all kinds."""


def kinds_of_a_mix() -> tuple[Kind, ...]:
    """Those of which a workload says how many of its operations they are."""
    return tuple(kind for kind in KINDS.values() if kind.what)


def ycsb_call(operation: str) -> str:
    """What YCSB's outputs call an operation: its own words, and capital letters for what has none."""
    kind = KINDS.get(operation)
    return operation.upper().replace("_", "-") if kind is None else kind.ycsb_call
