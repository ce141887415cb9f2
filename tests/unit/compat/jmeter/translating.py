"""Owns what tests of the translation begin with: a plan's text into the keys of its workload."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brimline.compat.jmeter import PlanTranslated, from_jmeter
from brimline.spec import load_spec
from brimline.spec.document import parse_document


def translated(directory: Path, text: str, *, stem: str | None = "out", **properties: str) -> PlanTranslated:
    """What a plan becomes: workloads that the reader of specs takes."""
    path = directory / "plan.jmx"
    path.write_text(text, encoding="utf-8")
    found = from_jmeter(path, stem=stem, properties=properties)
    for name, made in found.workloads.items():
        for file, rows in made.beside.items():
            (directory / file).write_text(rows, encoding="utf-8")
        written = directory / f"{name}.yaml"
        written.write_text(made.text, encoding="utf-8")
        # A file of rows that isn't there is one of the remarks.
        has_rows = set(re.findall(r"csv: ([\w.-]+)", made.text)) <= set(made.beside)
        load_spec(written, with_rows=has_rows)
    return found


def keys_of(found: PlanTranslated) -> Any:
    """The keys of its one workload."""
    (workload,) = found.workloads.values()
    return parse_document(workload.text, "test").values


def workload(directory: Path, text: str, **properties: str) -> Any:
    """The keys of the one workload that a plan becomes."""
    return keys_of(translated(directory, text, **properties))


def requests(keys: Mapping[str, Any], operation: str | None = None) -> list[Mapping[str, Any]]:
    """The steps of an operation, or of the only one."""
    definition = keys["operations"][operation or next(iter(keys["operations"]))]
    return list(definition.get("steps", [definition]))


def names(keys: Mapping[str, Any], operation: str | None = None) -> list[str]:
    """The names of its steps."""
    return [str(each.get("name", "")) for each in requests(keys, operation)]


def promised(keys: Mapping[str, Any]) -> Counter[str]:
    """How many samples of each label a workload of threads and loops has: its operations by their steps.

    The number behind the second of a label in an operation is not the label's.
    """
    (name,) = keys["operations"]
    load = keys["load"]
    count = load["threads"] * load["loops"] if load["kind"] == "tlr" else keys["operation_count"]
    labels = [re.sub(r" \d+$", "", each or name) for each in names(keys)]
    return Counter({label: labels.count(label) * count for label in dict.fromkeys(labels)})
