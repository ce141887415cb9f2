"""Owns the JSON schema of what `--json` writes, as `make docs-reference` stored it beside this module."""

import json
from importlib.resources import files
from typing import Any


def result_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of every document of `--json` and of `analysis.json`."""
    text = (files("brimline.report") / "result.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
