"""Owns metrics as Prometheus reads them: its text format, version 0.0.4, with names made as OpenTelemetry says.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/
"""

import re
from collections.abc import Iterable, Iterator

from brimline.execution.telemetry.metrics import BOUNDS_S, Labels, Metric, Times

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_UNITS = {"s": "_seconds", "By": "_bytes", "{operation}/s": "_operations_per_second"}
_KINDS = {"counter": "counter", "gauge": "gauge", "times": "histogram"}
_NOT_OF_A_NAME = re.compile(r"[^a-zA-Z0-9_]")


def page(metrics: Iterable[Metric]) -> str:
    """The whole page; metrics without a point are left out."""
    return "".join(f"{line}\n" for each in metrics if each.points for line in _lines(each))


def prometheus_name(metric: Metric) -> str:
    """`db.client.operation.duration` in s: `db_client_operation_duration_seconds`; a counter ends in `_total`."""
    name = _NOT_OF_A_NAME.sub("_", metric.name) + _UNITS.get(metric.unit, "")
    return f"{name}_total" if metric.kind == "counter" else name


def _lines(metric: Metric) -> Iterator[str]:
    name = prometheus_name(metric)
    yield f"# HELP {name} {_escaped(metric.about)}"
    yield f"# TYPE {name} {_KINDS[metric.kind]}"
    for labels, value in metric.points.items():
        if isinstance(value, Times):
            yield from _buckets(name, labels, value)
        else:
            yield f"{name}{_labels(labels)} {_number(value)}"


def _buckets(name: str, labels: Labels, times: Times) -> Iterator[str]:
    below = 0
    for bound_s, count in zip((*map(_number, BOUNDS_S), "+Inf"), times.counts, strict=True):
        below += count
        yield f"{name}_bucket{_labels((*labels, ('le', bound_s)))} {below}"
    yield f"{name}_sum{_labels(labels)} {_number(times.sum_s)}"
    yield f"{name}_count{_labels(labels)} {below}"


def _labels(labels: Labels) -> str:
    told = ",".join(f'{_NOT_OF_A_NAME.sub("_", name)}="{_escaped(value, quoted=True)}"' for name, value in labels)
    return f"{{{told}}}" if told else ""


def _escaped(text: str, *, quoted: bool = False) -> str:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    return escaped.replace('"', '\\"') if quoted else escaped


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
