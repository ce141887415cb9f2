"""Owns the check of the drivers: which runners are ready here, and how to get the others."""

from brimline.doctor.check import Check, Status
from brimline.runners import CATALOGUE


def runners_ready() -> Check:
    """All of them, by name. One that is missing is no fault of the machine: only `--client` asks for it."""
    missing = {name: reason for name, runner in CATALOGUE.items() if (reason := runner.missing()) is not None}
    ready = [name for name in CATALOGUE if name not in missing]
    evidence = f"ready for --client: {', '.join(ready) or 'none'}"
    if missing:
        evidence += "; not ready: " + "; ".join(f"{name}, {reason}" for name, reason in missing.items())
    ways = dict.fromkeys(f"{CATALOGUE[name].language}: {CATALOGUE[name].how}" for name in missing)
    return Check(
        name="runners",
        status=Status.PASS,
        evidence=evidence,
        hint="; ".join(ways) or None,
        figures={name: name in ready for name in CATALOGUE},
    )
