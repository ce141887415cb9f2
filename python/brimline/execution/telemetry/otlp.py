"""Owns sending metrics to a collector by OTLP over HTTP, with OpenTelemetry's own library (the extra `telemetry`)."""

import logging
import time
from collections.abc import Iterable
from typing import Any

from brimline.doctor.extras import TELEMETRY
from brimline.errors import UsageError
from brimline.execution.telemetry.metrics import BOUNDS_S, Labels, Metric, Times

WITHIN_S = 3.0
"""How long one attempt may take, further tries included."""


class Collector:
    """A collector at `url`. `version`: of brimline; `began_ns`: since when metrics are counted, in ns since 1970.

    Raises UsageError where the library isn't installed.

    Headers that the collector wants, such as a key, come from OTEL_EXPORTER_OTLP_HEADERS, as the library has it.
    """

    def __init__(self, url: str, *, version: str, began_ns: int) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
            from opentelemetry.sdk.metrics import export
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.util.instrumentation import InstrumentationScope
        except ImportError:
            raise UsageError(
                "--otlp needs OpenTelemetry's library, which is not installed", hint=TELEMETRY.how
            ) from None
        quiet = logging.getLogger("opentelemetry")
        quiet.addHandler(logging.NullHandler())
        quiet.propagate = False  # what went wrong is said here, once
        self._export = export
        self._exporter = OTLPMetricExporter(endpoint=url, timeout=WITHIN_S)
        self._resource = Resource.create({"service.name": "brimline", "service.version": version})
        self._scope = InstrumentationScope("brimline", version)
        self._began_ns = began_ns

    def send(self, metrics: Iterable[Metric]) -> str:
        """Sends them all; "" when they were taken, else why not. Raises nothing, and takes some seconds at most."""
        try:
            result = self._exporter.export(self._data(metrics), timeout_millis=WITHIN_S * 1000)
        except Exception as error:  # of the library, of its library, of the network
            return f"{type(error).__name__}"
        return "" if result is self._export.MetricExportResult.SUCCESS else "it did not take them"

    def close(self) -> None:
        """Ends it."""
        self._exporter.shutdown()

    def _data(self, metrics: Iterable[Metric]) -> Any:
        export, now_ns = self._export, time.time_ns()
        told = [self._metric(each, now_ns) for each in metrics if each.points]
        scope = export.ScopeMetrics(scope=self._scope, metrics=told, schema_url="")
        of_resource = export.ResourceMetrics(resource=self._resource, scope_metrics=[scope], schema_url="")
        return export.MetricsData(resource_metrics=[of_resource])

    def _metric(self, metric: Metric, now_ns: int) -> Any:
        export = self._export
        whole = export.AggregationTemporality.CUMULATIVE
        if metric.kind == "times":
            points = [self._times(labels, each, now_ns) for labels, each in metric.points.items()]
            data: Any = export.Histogram(data_points=points, aggregation_temporality=whole)
        else:
            points = [self._number(labels, value, now_ns) for labels, value in metric.points.items()]
            data = export.Gauge(data_points=points)
            if metric.kind == "counter":
                data = export.Sum(data_points=points, aggregation_temporality=whole, is_monotonic=True)
        return export.Metric(name=metric.name, description=metric.about, unit=metric.unit, data=data)

    def _number(self, labels: Labels, value: float | Times, now_ns: int) -> Any:
        assert not isinstance(value, Times)  # noqa: S101 - only metrics of times have them
        whole = int(value) if value == int(value) else value
        return self._export.NumberDataPoint(
            attributes=dict(labels), start_time_unix_nano=self._began_ns, time_unix_nano=now_ns, value=whole
        )

    def _times(self, labels: Labels, times: float | Times, now_ns: int) -> Any:
        assert isinstance(times, Times)  # noqa: S101 - as above
        return self._export.HistogramDataPoint(
            attributes=dict(labels),
            start_time_unix_nano=self._began_ns,
            time_unix_nano=now_ns,
            count=times.count,
            sum=times.sum_s,
            bucket_counts=list(times.counts),
            explicit_bounds=list(BOUNDS_S),
            min=times.min_s,
            max=times.max_s,
        )
