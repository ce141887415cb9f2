"""Owns the translation as a whole: which database, templates and workloads, and the text with what was left out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brimline.compat.simrunner.configuration import Configuration, named, read_configuration
from brimline.compat.simrunner.expressions import Definitions
from brimline.compat.simrunner.templates import Inserts, Template, TemplateReader
from brimline.compat.simrunner.workloads import WorkloadReader
from brimline.errors import UsageError
from brimline.init.left_out import LeftOut
from brimline.init.translated import Translated, header_lines, used_values
from brimline.init.words import name_word
from brimline.init.yaml_text import noted, yaml_text
from brimline.spec.readers import check_collection, check_database

_OPERATIONS_MAX = 64
_INSTANCES_MAX = 16
_SETTINGS = {
    "connectionString": "is never written: give --uri, or set BRIMLINE_URI",
    "reportInterval": "the interval of a sample; write interval: 1s",
    "reportPercentiles": "the report has all percentiles",
    "http": "the report is a file",
    "mongoReporter": "the record is a directory; brimline export writes it elsewhere",
    "encryption": "encryption on the client's side is not measured",
}


def from_simrunner(path: Path, *, stem: str | None) -> Translated:
    """Translates the configuration in a file. `stem`: what names of files beside the workload begin with, None: none.

    Raises UsageError where it can't be read, or nothing of it can be taken over.
    """
    configuration = read_configuration(path)
    left = LeftOut()
    for name in configuration.rest:
        if not name.startswith("comment"):
            left.lose(name, _SETTINGS.get(name, "is not known"))
    database = _database(configuration, path)
    definitions = Definitions()
    templates = _templates(configuration, database, definitions, left, stem)
    operations = _operations(configuration, templates, definitions, left)
    if not operations:
        raise UsageError(f"no workload of {path} can be taken over", hint="; ".join(left.lost[:3]) or "it has none")
    every = [each for instances in templates.values() for each in instances]
    if len(operations) > _OPERATIONS_MAX:
        left.lose("workloads", f"a workload has at most {_OPERATIONS_MAX} operations; {len(operations)} there")
        operations = dict(list(operations.items())[:_OPERATIONS_MAX])
    keys: dict[str, Any] = {
        "name": name_word(path.stem)[:40],
        "database": database,
        "collections": {each.collection: each.entry for each in every},
    }
    if values := used_values(definitions.values, {"operations": operations}):
        keys["values"] = values
    keys["operations"] = operations
    keys["slo"] = noted({"response_p99": "50ms"}, beside="guess: write what you promise")
    return Translated(
        text=yaml_text(keys, header=_header(path, left)),
        beside={name: text for each in every for name, text in each.files.items()},
        collections=len(every),
        operations=len(operations),
        not_taken=left.lost,
    )


def _database(configuration: Configuration, path: Path) -> str:
    """The database of most templates. Raises UsageError where there is none."""
    names = Counter(name for each in configuration.templates if (name := named(each, "database")))
    if not names:
        raise UsageError(f"{path} has no template with a database", hint="SimRunner's templates name one each")
    name = names.most_common(1)[0][0]
    try:
        check_database(name)
    except ValueError as error:
        raise UsageError(f"{path}: {error}", hint="change the template's database") from None
    return name


def _templates(
    configuration: Configuration, database: str, definitions: Definitions, left: LeftOut, stem: str | None
) -> dict[str, list[Template]]:
    """The instances of each template by its name."""
    collections = {
        (database, named(each, "collection")): named(each, "collection")
        for each in configuration.templates
        if named(each, "database") == database and "instances" not in each
    }
    reader = TemplateReader(
        database=database,
        collections=collections,
        definitions=definitions,
        left=left,
        directory=configuration.directory,
        stem=stem,
    )
    found: dict[str, list[Template]] = {}
    for number, each in enumerate(configuration.templates):
        path = f"templates[{number}]"
        if named(each, "database") != database:
            left.lose(path, f"is in the database {named(each, 'database')}, and a workload has one: {database}")
            continue
        try:
            check_collection(named(each, "collection"))
        except ValueError as error:
            left.lose(f"{path}.collection", str(error))
            continue
        inserts = _inserts(configuration.workloads, str(each.get("name")))
        instances = [reader.read(each, path, instance=one, inserts=inserts) for one in _instances(each, path, left)]
        taken = {one.collection for those in found.values() for one in those}
        for one in instances:
            if one.collection in taken:
                left.lose(
                    f"{path}.collection", f"{one.collection} is another template's already; its shape is that one's"
                )
        found[str(each.get("name"))] = [one for one in instances if one.collection not in taken] or instances
    return found


def _instances(given: Mapping[str, Any], path: str, left: LeftOut) -> list[int | None]:
    count = int(given.get("instances") or 0)
    if not count:
        return [None]
    if count > _INSTANCES_MAX:
        left.lose(f"{path}.instances", f"the first {_INSTANCES_MAX} of {count}")
    first = int(given.get("instancesStartAt") or 0)
    return list(range(first, first + min(count, _INSTANCES_MAX)))


def _inserts(workloads: Sequence[Mapping[str, Any]], template: str) -> Inserts:
    """What the workloads insert of a template until they stop."""
    ours = [each for each in workloads if each.get("template") == template and each.get("op") == "insert"]
    ours = [each for each in ours if not each.get("disabled")]
    total = sum(_times(each, "stopAfter", 0) * _times(each, "threads", 1) * _times(each, "batch", 1) for each in ours)
    return Inserts(total or None, str(ours[0].get("name") or "insert") if ours else "")


def _times(workload: Mapping[str, Any], name: str, least: int) -> int:
    return max(int(workload.get(name) or least), least)


def _operations(
    configuration: Configuration, templates: Mapping[str, Sequence[Template]], definitions: Definitions, left: LeftOut
) -> dict[str, Any]:
    reader = WorkloadReader(definitions=definitions, left=left)
    found: dict[str, Any] = {}
    for number, each in enumerate(configuration.workloads):
        path = f"workloads[{number}]"
        if each.get("disabled"):
            left.lose(path, "is disabled there")
            continue
        named = str(each.get("template"))
        if named not in templates:
            left.lose(f"{path}.template", f"{named} is not taken over, or no template")
            continue
        for template in templates[named]:
            found |= reader.read(each, template, path)
    return found


def _header(path: Path, left: LeftOut) -> list[str]:
    first = [
        f"A workload translated by brimline init from the SimRunner configuration {path.name}.",
        "A name such as $city is drawn once for each operation, and not anew in each place.",
    ]
    return header_lines(first, left, by="path")
