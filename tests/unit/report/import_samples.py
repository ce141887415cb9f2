"""An import as reports take it, made by hand."""

from pathlib import Path

from brimline.record.data_import import ImportRecord, ImportRow, ImportState, InputFile
from brimline.record.histograms import native_codec
from brimline.spec.import_settings import ImportSettings
from tests.unit.report.report_samples import ENVIRONMENT


def an_import(
    *,
    ended_by: str = "completed",
    attempts: int = 1,
    reason: str = "",
    not_utf8: int = 0,
    ragged: int = 0,
    settings: ImportSettings | None = None,
    inputs: int = 1,
) -> ImportRecord:
    """Three seconds of 1000 documents each, two records rejected.

    `not_utf8` texts and `ragged` rows are told from line 1042 of the last input on.
    """
    service = native_codec().empty()
    service.record(2_000_000, 30)
    counts = dict.fromkeys(("updated", "deleted", "unmatched", "nulls", "oversized"), 0)
    counts |= {"read": 3002, "inserted": 3000, "rejected": 2, "ignorable": 2, "found": 10 if attempts > 1 else 0}
    counts |= {"not_utf8": not_utf8, "ragged": ragged}
    odd = {"input": inputs - 1, "line": 1042, "offset": 9}
    state = ImportState(
        name="shop.orders",
        namespace="shop.orders",
        settings=(settings or ImportSettings(type="csv", headerline=True)).to_document(),
        inputs=[
            InputFile(path=f"/data/orders{'-more' * each}.csv.gz", gzip=True, size_bytes=1_000_000)
            for each in range(inputs)
        ],
        object_ids={"unix_s": 1, "number": 2},
        count_before=0,
        started_unix_ns=1_577_836_800_000_000_000,
        ended_by=ended_by,
        message=reason,
        ending={"kind": ended_by, "reason": reason, "input": 0, "line": 7},
        counts=counts,
        first_not_utf8=odd if not_utf8 else None,
        first_ragged=odd if ragged else None,
        count_after=3000 if ended_by == "completed" else None,
        duration_ns=3_000_000_000,
        client_cpu_ns=1_500_000,
        server_cpu_ns=12_000_000,
        attempts=attempts,
    )
    rows = [
        ImportRow(
            start_ns=number * 1_000_000_000,
            end_ns=(number + 1) * 1_000_000_000,
            documents=1000,
            refused=0,
            commands=10,
            input_bytes=300_000,
            bytes_out=400_000,
            process_cpu_ns=500_000_000,
        )
        for number in range(3)
    ]
    return ImportRecord(
        directory=Path("runs/20200101t000000z-import-shop.orders-0a1b2c3d"),
        state=state,
        checkpoint={},
        environment=ENVIRONMENT,
        rows=rows,
        service=service,
        interval_p99_ns=[2_000_000, None, 3_000_000],
        server_facts={"after": {"collStats": {"size": 900_000, "storageSize": 300_000, "avgObjSize": 300}}},
        brimline_version="0.1.0",
    )
