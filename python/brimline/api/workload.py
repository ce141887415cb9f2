"""Owns the way from a verb's words to a loaded spec and its objective."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from brimline.analysis.objective import ErrorObjective, LatencyObjective, Slo, parse_quantile
from brimline.errors import UsageError
from brimline.spec import LoadedSpec, Spec, load_spec
from brimline.spec.load_models import ClosedLoad
from brimline.spec.slo import ObjectiveSpec


def load_workload(
    workload: str | Path | None,
    *,
    property_files: Sequence[str | Path] = (),
    properties: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
    loads_only: bool = False,
) -> LoadedSpec:
    """The spec of a verb; see `spec.load_spec`."""
    return load_spec(
        workload, property_files=property_files, properties=properties, overrides=overrides, loads_only=loads_only
    )


def check_no_think_time(spec: Spec) -> None:
    """Refuses a workload whose connections pause, where every connection is kept busy. Raises UsageError."""
    if isinstance(spec.load, ClosedLoad) and spec.load.think_time_ns:
        raise UsageError(
            "every connection is kept busy here, and the workload has a load.think_time",
            hint="leave load.think_time out, or measure it with brimline run",
        )


def objective(spec: Spec) -> Slo | None:
    """What the spec promises; None when it promises nothing."""
    parts: list[tuple[str | None, ObjectiveSpec]] = [(None, spec.slo), *spec.slo.by_operation.items()]
    latencies = tuple(
        LatencyObjective(quantile=parse_quantile(name), limit_ns=limit_ns, operation=kind)
        for kind, part in parts
        for name, limit_ns in part.response_limits_ns.items()
    )
    errors = tuple(
        ErrorObjective(share_max=part.error_share, operation=kind, asked=True)
        for kind, part in parts
        if part.error_share is not None
    )
    if not latencies and not errors:
        return None
    if spec.slo.error_share is None:
        errors = (ErrorObjective(), *errors)
    return Slo(latencies=latencies or (LatencyObjective(),), errors=errors)
