"""Owns the JSON schema of a study, for editors that complete and check YAML."""

from typing import Any

from brimline.spec.schema import DIALECT, model_schema
from brimline.study.spec import StudySpec


def study_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a study's YAML. Figures in prose and names that refer are the reader's alone."""
    return {"$schema": DIALECT, **model_schema(StudySpec), "title": "brimline study"}
