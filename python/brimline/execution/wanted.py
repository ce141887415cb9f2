"""Owns what a workload wants of one collection: the load of its documents, and what the collection is besides."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brimline import dataset
from brimline.plan import Plan
from brimline.plan.tables import SqlTable


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedData:
    """The data of one collection. `load` inserts it; `definition` None: the collection is whatever it is.

    `table` is what it is in an SQL database.
    """

    load: Plan
    definition: dataset.Definition | None = None
    table: SqlTable | None = None

    @property
    def namespace(self) -> str:
        """`database.collection`."""
        return f"{self.load.namespace.database}.{self.load.namespace.collection}"

    @property
    def manifest(self) -> dataset.Manifest:
        """The manifest of the data, in state "loading"."""
        return dataset.manifest_for(self.load)

    @property
    def is_time_series(self) -> bool:
        """Whether the server keeps the documents in buckets, without an index over `_id`."""
        return "timeseries" in self._options

    @property
    def is_capped(self) -> bool:
        """Whether the server drops the oldest documents for new ones."""
        return bool(self._options.get("capped"))

    @property
    def _options(self) -> Mapping[str, Any]:
        return {} if self.definition is None else self.definition.shape.options

    def is_other_than(self, other: "WantedData") -> bool:
        """Whether one collection can't be both."""
        return (self.load.data, self.load.seed, self.definition) != (other.load.data, other.load.seed, other.definition)

    @property
    def expires(self) -> bool:
        """Whether the server takes documents away by itself, so that no run leaves the data as it found them."""
        return self.definition is not None and self.definition.expires
