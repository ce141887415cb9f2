"""Owns the check of what sends OpenTelemetry metrics: whether it is here, and how to get it."""

from importlib import metadata

from brimline.doctor.check import Check, Status

PACKAGE = "opentelemetry-exporter-otlp-proto-http"
HOW = "pip install 'brimline[telemetry]', or in a source tree: make telemetry"


def telemetry_ready() -> Check:
    """The version of its library. Without it nothing is wrong with the machine: only `--otlp` asks for it."""
    try:
        version: str | None = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        version = None
    found = "no OpenTelemetry, for --otlp" if version is None else f"OpenTelemetry {version}, for --otlp"
    return Check(
        name="telemetry",
        status=Status.PASS,
        evidence=found,
        hint=HOW if version is None else None,
        figures={"opentelemetry": version},
    )
