"""Owns how people name the figures of a run, and what they are told where there is none of that name."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from brimline.analysis.import_metrics import BATCH_METRICS, IMPORT_METRICS, STEP_METRICS
from brimline.analysis.metrics import KINDS, Metric, MetricKind, all_metrics, document_name
from brimline.errors import UsageError

_NEAR_MAX, _NEARNESS = 3, 0.5
_OF_SEARCHES = ("sustained", "saturation", "highest", "knee")
"""How the figures begin that searches end with."""
_OF_GROWTH = frozenset(
    name for each in (*IMPORT_METRICS, *STEP_METRICS, *BATCH_METRICS) for name in (each.key, each.document_key)
)


def _spellings(row: MetricKind) -> Iterator[str]:
    """`p99`, and as it stands in JSON: `service_p99_ns`, `p99_ns`."""
    yield row.name
    for clock in ("service", "response") if row.on_clock else ("service",):
        in_json = document_name(row, clock, row.unit)
        yield from (in_json, in_json.removeprefix(f"{clock}_"), f"{clock}_{row.name}")


_SPELLINGS: Mapping[str, MetricKind] = {
    spelling: row for row in KINDS.values() for spelling in _spellings(row)
} | {"throughput_documents_per_s": KINDS["throughput"]}  # fmt: skip


def metric_key(name: str) -> str | None:
    """The key of the metric that somebody calls `name`, such as `update.p99` for `update.service_p99_ns`."""
    for spelling in sorted(_SPELLINGS, key=len, reverse=True):
        row = _SPELLINGS[spelling]
        if name == spelling:
            return row.name
        if row.of_operations and name.endswith(f".{spelling}"):
            return f"{name.removesuffix(spelling)}{row.name}"
    return None


def chosen(names: Sequence[str], known: Sequence[Metric]) -> tuple[Metric, ...]:
    """The metrics that `names` ask for, in that order. Raises UsageError for the first that isn't among `known`."""
    by_key = {each.key: each for each in known}
    spelled = by_key | {each.document_key: each for each in known if each.document_key}
    found = [spelled.get(name) or by_key.get(metric_key(name) or "") for name in names]
    for name, metric in zip(names, found, strict=True):
        if metric is None:
            raise unknown_metric(name, list(by_key))
    return tuple(dict.fromkeys(each for each in found if each is not None))


def check_names(names: Sequence[str], operations: Iterable[str] = ()) -> None:
    """Raises UsageError for the first of `names` that no run has; of `operations`, where there are any, alone."""
    own = list(operations)
    for name in names:
        if name.partition("_")[0] in _OF_SEARCHES or name in _OF_GROWTH:
            continue
        key = metric_key(name)
        of = (key or "").removesuffix(_kind_name(key or ""))[:-1]
        if key is None or (of and own and of not in own):
            raise unknown_metric(name, [each.key for each in all_metrics("closed loop", own)])


def _kind_name(key: str) -> str:
    return next((name for name in sorted(KINDS, key=len, reverse=True) if key.endswith(name)), "")


def unknown_metric(name: str, known: Sequence[str]) -> UsageError:
    """The error for a figure that isn't there, with those that are nearest to what was meant."""
    of, _, figure = name.rpartition(".")
    if figure.isdecimal():  # the point is that of a quantile, as in p99.99
        of = of.rpartition(".")[0]
    kind = metric_key(figure)
    alike = [each for each in known if kind is not None and each.endswith(f".{kind}")]
    others = [row.name if not of else f"{of}.{row.name}" for row in KINDS.values() if row.of_operations or not of]
    named = get_close_matches(name, [*known, *([] if kind else others)], n=_NEAR_MAX, cutoff=_NEARNESS)
    near = list(dict.fromkeys([*named, *alike]))[:_NEAR_MAX]
    of_one = [each for each in known if each not in KINDS and each.endswith(tuple(f".{kind}" for kind in KINDS))]
    whole = [each for each in known if each not in of_one]
    told = f"did you mean {', '.join(near)}? " if near else ""
    example = of_one[0] if of_one else "update.p99"
    more = f"; of one operation as in {example}" if of_one or KINDS.keys() & set(whole) else ""
    return UsageError(f'there is no figure "{name}"', hint=f"{told}there are {', '.join(whole)}{more}")
