"""Owns the way from a verb's words to a loaded spec and its objective."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from brimline.analysis.verdict import Slo
from brimline.spec import LoadedSpec, Spec, load_spec


def load_workload(
    workload: str | Path | None,
    *,
    property_files: Sequence[str | Path] = (),
    properties: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
) -> LoadedSpec:
    """The spec of a verb; see `spec.load_spec`."""
    return load_spec(workload, property_files=property_files, properties=properties, overrides=overrides)


def objective(spec: Spec) -> Slo | None:
    """What the spec promises; None when it promises nothing."""
    given = {
        "response_p99_ns": spec.slo.response_p99_ns,
        "error_rate_max": spec.slo.error_share,
    }
    named = {name: value for name, value in given.items() if value is not None}
    return Slo(**named) if named else None  # type: ignore[arg-type]  # each value fits its field
