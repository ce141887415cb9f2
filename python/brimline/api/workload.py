"""Owns the way from a verb's words to a loaded spec and its objective."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from brimline.analysis.objective import ErrorObjective, LatencyObjective, Slo, parse_statistic
from brimline.api.options import LoadOptions, ObjectiveOptions, Options
from brimline.api.row_files import rows_directory
from brimline.errors import UsageError
from brimline.spec import LoadedSpec, Spec, load_spec
from brimline.spec.load_models import ClosedLoad
from brimline.spec.slo import ObjectiveSpec
from brimline.wording import Verbatim


class PropertyWords(TypedDict, total=False):
    """A workload of YCSB's, instead of a name: files (-P) and assignments (-p)."""

    property_files: Sequence[str | Path]
    properties: Sequence[str]


class WorkloadWords(PropertyWords, total=False):
    """What is said of a workload besides its name.

    `load` and `objective`: what the command line's options say. `overrides`: any dotted path of a spec and its value
    ({"operations.read": 0.5}), which counts more.
    """

    load: LoadOptions
    objective: ObjectiveOptions
    overrides: Mapping[str, object] | None


def load_workload(
    workload: str | Path | None, *, loads_only: bool = False, **words: Unpack[WorkloadWords]
) -> LoadedSpec:
    """The spec of a verb, which changes it by `words`; see `spec.load_spec`. Raises SpecError and UsageError."""
    return load_spec(
        workload,
        overrides=overrides_of(words),
        loads_only=loads_only,
        directory=None if workload is None else rows_directory(Path(workload)),
        **properties_of(words),
    )


def properties_of(words: PropertyWords) -> PropertyWords:
    """What is said in YCSB's words alone."""
    return {"property_files": words.get("property_files", ()), "properties": words.get("properties", ())}


def overrides_of(words: WorkloadWords) -> dict[str, object]:
    """All changes by spec path. Raises UsageError, and TypeError for a word that nothing would heed."""
    _check_words(words)
    load, objective = words.get("load", LoadOptions()), words.get("objective", ObjectiveOptions())
    changes = (load.overrides, objective.overrides, words.get("overrides") or {})
    return {path: value for each in changes for path, value in each.items() if value is not None}


def _check_words(words: WorkloadWords) -> None:
    """Python itself takes any word here, and where nobody looks at a `uri` another server would be measured."""
    known = WorkloadWords.__annotations__
    groups: dict[str, type[Any]] = {"options": Options, "load": LoadOptions, "objective": ObjectiveOptions}
    for name in words.keys() - known.keys():
        home = next((each for each, group in groups.items() if name in group.__dataclass_fields__), None)
        way = f"known: {', '.join(known)}"
        if home is not None:
            way = f"write {home}=brimline.{groups[home].__name__}({name}=…)"
        raise TypeError(f"{name} is no keyword of this function; {way}")


def check_no_think_time(spec: Spec) -> None:
    """Refuses a workload whose connections pause, where every connection is kept busy. Raises UsageError."""
    if isinstance(spec.load, ClosedLoad) and spec.load.think_time_ns:
        raise UsageError(
            "every connection is kept busy here, and the workload has a load.think_time",
            hint="leave load.think_time out, or measure it with brimline run",
        )


def objective(spec: Spec) -> Slo | None:
    """What the spec promises; None when it promises nothing."""
    # Names of the author's are the same in every language.
    named = {Verbatim(kind) if spec.is_own else kind: part for kind, part in spec.slo.by_operation.items()}
    parts: list[tuple[str | None, ObjectiveSpec]] = [(None, spec.slo), *named.items()]
    latencies = tuple(
        LatencyObjective(quantile=parse_statistic(name), limit_ns=limit_ns, operation=kind)
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
