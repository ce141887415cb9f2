"""Owns the figures of imports and growths beside those that every run has: of a step, a batch, a whole import."""

from brimline.analysis.metrics import Metric, all_metrics


def _metric(key: str, label: str, unit: str, document_key: str, *, higher_is_better: bool = False) -> Metric:
    return Metric(
        key=key, label=label, unit=unit, higher_is_better=higher_is_better, decides=False, short=label,
        document_key=document_key,
    )  # fmt: skip


STEP_METRICS = (
    _metric("import_rate", "Import", "documents/s", "import_documents_per_s", higher_is_better=True),
    _metric("import_time", "Import of a million", "ns", "import_time_per_million_ns"),
    _metric("data_size", "Data", "bytes", "data_bytes"),
    _metric("storage_size", "On disk", "bytes", "storage_bytes"),
    _metric("index_size", "Index size", "bytes", "index_bytes"),
    _metric("document_size", "Per document", "bytes", "bytes_per_document"),
    _metric("files_size", "All files", "bytes", "files_bytes"),
)
_OF_A_RUN = ("mean", "p50", "p99", "throughput", "server_cpu")
BATCH_METRICS = (
    _metric("query_time", "Time in the server", "ns", "server_time_ns"),
    *(
        each
        for each in all_metrics("closed loop", ())
        if each.key in ("mean", "p50", "p99", "throughput", "server_cpu")
    ),
)
IMPORT_METRICS = (
    *STEP_METRICS,
    _metric("input", "Read from files", "bytes/s", "input_bytes_per_s", higher_is_better=True),
    _metric("client_cpu", "Client CPU per document", "ns", "client_cpu_ns_per_document"),
    _metric("server_cpu", "Server CPU per document", "ns", "server_cpu_ns_per_document"),
)
