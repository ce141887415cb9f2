"""Owns the figures of a growth as grids: what each step loaded and took, and each batch of queries."""

from collections.abc import Iterator, Sequence

from brimline.analysis.growth.breakpoints import Volume
from brimline.analysis.growth.figures import QueryFigures
from brimline.analysis.import_metrics import BATCH_METRICS, STEP_METRICS
from brimline.analysis.metrics import Known, mean_over
from brimline.experiments.growth.conclusion import IndexSetGrowth
from brimline.report.grid import Grid, GridAxis, GridRow
from brimline.units import NS_PER_S

_INDEXES = GridAxis(name="indexes", label="Indexes")
_RECORDS = GridAxis(name="records", label="Records", scale="linear", title="records in the collection")
_QUERIES = GridAxis(name="queries", label="Queries", scale="linear", title="queries in a batch")
_CONNECTIONS = GridAxis(name="connections", label="Connections", scale="log2", title="connections")


def growth_grids(sets: Sequence[IndexSetGrowth]) -> list[Grid]:
    """One of steps, one of batches; of several index sets each row says which."""
    several = len(sets) > 1
    first = (_INDEXES,) if several else ()
    rows = [((each.indexes.value,) if several else (), volume) for each in sets for volume in each.volumes]
    return [
        Grid(
            id="steps",
            title="Each step",
            axes=(*first, _RECORDS),
            rows=[GridRow(levels=(*level, str(volume.records)), figures=dict(_step(volume))) for level, volume in rows],
            metrics=STEP_METRICS,
        ),
        Grid(
            id="batches",
            title="Each batch of queries",
            axes=(*first, _RECORDS, _QUERIES, _CONNECTIONS),
            rows=[
                GridRow(
                    levels=(*level, str(volume.records), str(queries), str(connections)),
                    figures=mean_over([dict(_batch(each)) for each in volume.batches(connections, queries)]),
                )
                for level, volume in rows
                for queries, connections in sorted({(each.queries, each.connections) for each in volume.queries})
            ],
            metrics=BATCH_METRICS,
        ),
    ]


def _step(volume: Volume) -> Iterator[tuple[str, Known]]:
    load = volume.load
    both = None if load.storage_bytes is None or load.index_bytes is None else load.storage_bytes + load.index_bytes
    rate = load.documents_per_s
    known: dict[str, float | None] = {
        "import_rate": rate or None,
        "import_time": 1e6 / rate * NS_PER_S if rate else None,
        "data_size": load.data_bytes,
        "storage_size": load.storage_bytes,
        "index_size": load.index_bytes,
        "document_size": None if both is None else both / volume.records,
        "files_size": load.files_bytes,
    }
    yield from ((key, Known(float(value))) for key, value in known.items() if value is not None)


def _batch(batch: QueryFigures) -> Iterator[tuple[str, float]]:
    known: dict[str, float | None] = {
        "query_time": batch.server_time_ns,
        "mean": batch.service_mean_ns,
        "p50": batch.service_p50_ns,
        "p99": batch.service_p99_ns,
        "throughput": batch.queries_per_s,
        "server_cpu": batch.signals.server_cpu_ns,
    }
    yield from ((key, float(value)) for key, value in known.items() if value is not None)
