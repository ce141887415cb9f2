"""Owns the checks of what is installed on request alone: whether it is here, what asks for it, and how to get it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Final

from brimline.doctor.check import Check, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """Libraries that only some verbs ask for. `package` tells by its version whether they are here."""

    name: str
    package: str
    called: str
    asked_by: str

    @property
    def how(self) -> str:
        """How to get them."""
        return f"pip install 'brimline[{self.name}]', or in a source tree: make {self.name}"

    def ready(self) -> Check:
        """Their version. Without them nothing is wrong with the machine."""
        try:
            version: str | None = metadata.version(self.package)
        except metadata.PackageNotFoundError:
            version = None
        found = f"no {self.called}" if version is None else f"{self.called} {version}"
        return Check(
            name=self.name,
            status=Status.PASS,
            evidence=f"{found}, for {self.asked_by}",
            hint=self.how if version is None else None,
            figures={self.package: version},
        )


CLUSTER: Final = Extra(name="cluster", package="ray", called="Ray", asked_by="--workers ray")
TELEMETRY: Final = Extra(
    name="telemetry", package="opentelemetry-exporter-otlp-proto-http", called="OpenTelemetry", asked_by="--otlp"
)
UI: Final = Extra(name="ui", package="uvicorn", called="uvicorn", asked_by="brimline ui")
EXTRAS: Final = (CLUSTER, TELEMETRY, UI)


def extras_ready() -> list[tuple[str, Callable[[], Check]]]:
    """A check of each."""
    return [(each.name, each.ready) for each in EXTRAS]
