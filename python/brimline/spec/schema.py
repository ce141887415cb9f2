"""Owns the JSON schema of a spec, for editors that complete and check YAML."""

from typing import Any

from brimline.spec.model import Spec


def spec_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a spec's YAML. Units and sums are checked by brimline itself."""
    schema = Spec.model_json_schema(by_alias=True, mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "brimline workload"}
