"""Owns the job of writing documents as rows: in the words of the native generator, which checks it."""

import json
from pathlib import Path
from typing import Any

from brimline import _native
from brimline.plan import model


def rows_job(
    data: model.DocumentPlan,
    *,
    seed: int,
    form: dict[str, Any],
    limit: dict[str, Any],
    threads: int = 1,
    path: Path | None = None,
    overwrite: bool = False,
) -> str:
    """The job as JSON.

    `form` is {"kind": "csv", "header": …}, {"kind": "json", "canonical": …} or {"kind": "bson"}; `limit` is
    {"kind": "rows" | "bytes", "count": …}; `path` None is standard output.
    """
    return json.dumps(
        {
            "seed": seed,
            "data": data.model_dump(mode="json"),
            "format": form,
            "limit": limit,
            "threads": threads,
            "path": None if path is None else str(path),
            "overwrite": overwrite,
        }
    )


def sample_row_bytes(data: model.DocumentPlan, *, seed: int, form: dict[str, Any]) -> float:
    """Mean size of a row, in bytes, from the first thousand."""
    return _native.sample_bytes_per_row(rows_job(data, seed=seed, form=form, limit={"kind": "rows", "count": 0}))
