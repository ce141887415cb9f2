"""Owns the check of what several machines need: whether Ray is here, and how to get it."""

from importlib import metadata

from brimline.doctor.check import Check, Status

HOW = "pip install 'brimline[cluster]', or in a source tree: make cluster"


def workers_ready() -> Check:
    """The version of Ray. Without it nothing is wrong with the machine: only `--workers ray` asks for it."""
    try:
        version: str | None = metadata.version("ray")
    except metadata.PackageNotFoundError:
        version = None
    found = "no Ray, for --workers ray" if version is None else f"Ray {version}, for --workers ray"
    return Check(
        name="workers",
        status=Status.PASS,
        evidence=found,
        hint=HOW if version is None else None,
        figures={"ray": version},
    )
