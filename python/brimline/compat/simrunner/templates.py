"""Owns templates: each becomes a collection with records, the document of an insert, and names for its values."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brimline.compat.simrunner.configuration import named
from brimline.compat.simrunner.dictionaries import Dictionaries
from brimline.compat.simrunner.expressions import Definitions, Expressions, Names, loadable
from brimline.compat.simrunner.nodes import Constant, Form, Node, Reference, as_form, in_step
from brimline.init.left_out import LeftOut
from brimline.init.words import name_word
from brimline.init.yaml_text import Noted

RECORDS_GUESSED = 10_000
_PRELOADED_MAX = 100_000
_CREATE_OPTIONS = ("capped", "size", "max", "timeseries", "validator", "validationLevel", "validationAction")
_SERIES: Mapping[str, Any] = {
    "timeField": {"kind": "clock", "start": "2025-01-01", "every": "1s"},
    "metaField": {"kind": "int", "min": 0, "max": 999},
}
_KNOWN = frozenset({
    "name", "database", "collection", "drop", "template", "variables", "dictionaries", "remember", "indexes",
    "createOptions", "sharding", "instances", "instancesStartAt", "numWorkers", "comment",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Inserts:
    """What workloads insert of a template: how many documents, None where there is no end; the first one's name."""

    records: int | None
    workload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template as it was translated. `document` makes an inserted document, `names` are those of its workloads.

    `own_keys`: its `_id` is made by an expression, which the keys of loaded records are not. `files` go beside the
    workload. `dictionaries` are the forms of its dictionaries by name.
    """

    name: str
    collection: str
    entry: Mapping[str, Any]
    document: Mapping[str, Node]
    names: Names
    own_keys: bool
    files: Mapping[str, str]
    dictionaries: Mapping[str, Mapping[str, Any]]

    def inserted(self, *, with_key: bool = True) -> dict[str, Any]:
        """The document of an insert; without its key as a replacement."""
        fields = {name: node for name, node in self.document.items() if with_key or name != "_id"}
        return {name: in_step(node) for name, node in fields.items()} or {"created": "$now"}


@dataclass(slots=True, kw_only=True)
class TemplateReader:
    """Reads templates. `collections` are the names of all by database and collection."""

    database: str
    collections: Mapping[tuple[str, str], str]
    definitions: Definitions
    left: LeftOut
    directory: Path
    stem: str | None

    def read(self, given: Mapping[str, Any], path: str, *, instance: int | None, inserts: Inserts) -> Template:
        """One template, or one instance of it. `inserts` is what its workloads insert."""
        name = str(given.get("name") or "template")
        suffix = "" if instance is None else f"_{instance}"
        collection = f"{named(given, 'collection')}{suffix}"
        for key in given:
            if key not in _KNOWN and not key.startswith("comment"):
                self.left.lose(f"{path}.{key}", "is not known")
        if given.get("drop"):
            self.left.change(f"{path}.drop", "run with --data load --drop where the collection is another's")
        names = Names()
        dictionaries, files = self._dictionaries(given, path, names)
        self._remembered(given, path, names, collection)
        expressions = Expressions(names, self.definitions, self.left, workload=inserts.workload)
        self._variables(given.get("variables"), f"{path}.variables", names, expressions, prefix=name)
        template = given.get("template")
        if not isinstance(template, Mapping):
            self.left.lose(f"{path}.template", "is no document")
            template = {}
        document = {key: expressions.translate(each, f"{path}.template.{key}") for key, each in template.items()}
        made_key = document.get("_id")
        if isinstance(made_key, Form) and made_key.form.get("kind") == "object_id":
            del document["_id"]
        entry = self._entry(given, path, document, inserts.records)
        return Template(
            name=name + suffix,
            collection=collection,
            entry=entry,
            document=document,
            names=names,
            own_keys="_id" in document,
            files=files,
            dictionaries=dictionaries,
        )

    def _dictionaries(
        self, given: Mapping[str, Any], path: str, names: Names
    ) -> tuple[dict[str, Mapping[str, Any]], dict[str, str]]:
        found: dict[str, Mapping[str, Any]] = {}
        files: dict[str, str] = {}
        reader = Dictionaries(self.directory, self.stem, self.left)
        for name, each in (given.get("dictionaries") or {}).items():
            at = f"{path}.dictionaries.{name}"
            made = reader.read(name, each, at, collections=self.collections, database=self.database)
            if made is None:
                names.nodes[name] = Form({"kind": "fake", "what": "word"})
                continue
            found[name] = made.form
            names.nodes[name] = Reference(f"${self.definitions.define(name, dict(made.form))}", made.instead)
            if made.file is not None:
                files[made.file[0]] = made.file[1]
        return found, files

    def _remembered(self, given: Mapping[str, Any], path: str, names: Names, collection: str) -> None:
        """Fields that are remembered become samples of rows that exist when the run begins."""
        for number, each in enumerate(given.get("remember") or []):
            at = f"{path}.remember[{number}]"
            said = each if isinstance(each, Mapping) else {"field": each}
            fields = [str(one) for one in said.get("compound") or [said.get("field")]]
            name = str(said.get("name") or fields[0]).replace(".", "_")
            routes = {one: _route(given.get("template"), one) for one in fields}
            columns = list(dict.fromkeys(column for column, _ in routes.values()))
            count = max(1, min(int(said.get("number") or 10_000), _PRELOADED_MAX))
            form: dict[str, Any] = {"sample": collection}
            form |= {"fields": columns} if said.get("compound") else {"field": columns[0]}
            defined = self.definitions.define(f"known_{name}", form | {"count": count})
            below = "" if said.get("compound") else routes[fields[0]][1].removeprefix(columns[0])
            names.nodes[name] = Reference(f"${defined}{below}")
            names.fields[name] = {one.replace(".", "_"): path for one, (_, path) in routes.items()}
            self.left.change(at, "rows that exist when the run begins; those that it inserts are not added")
            if said.get("capped"):
                self.left.lose(f"{at}.capped", "the last ones only; write latest_key_of for keys")

    def _variables(self, given: Any, path: str, names: Names, expressions: Expressions, *, prefix: str) -> None:
        add_variables(given, path, names, expressions, prefix=prefix)

    def _entry(
        self, given: Mapping[str, Any], path: str, document: Mapping[str, Node], records: int | None
    ) -> dict[str, Any]:
        if "_id" in document:
            self.left.change(f"{path}.template._id", "keys of loaded records are texts; inserted documents have it")
        fields = {name: node for name, node in document.items() if name != "_id"}
        made = loadable(fields, f"{path}.template", self.left)
        series = (given.get("createOptions") or {}).get("timeseries")
        if isinstance(series, Mapping):
            # What the workload adds to each measurement there.
            made |= {str(series[name]): form for name, form in _SERIES.items() if name in series}
        guessed = Noted(RECORDS_GUESSED, beside="guess: SimRunner loads nothing")
        entry: dict[str, Any] = {
            "records": guessed if records is None else records,
            "fields": made or {"created": _SERIES["timeField"]},
        }
        indexes = [each for each in given.get("indexes") or [] if isinstance(each, Mapping) and each]
        if indexes:
            entry["indexes"] = [dict(each) if "keys" not in each else {"keys": dict(each)} for each in indexes]
        options = given.get("createOptions") or {}
        kept = {name: as_form(Constant(options[name])) for name in _CREATE_OPTIONS if options.get(name) is not None}
        for name in options:
            if name not in _CREATE_OPTIONS:
                self.left.lose(f"{path}.createOptions.{name}", "is left out; add it to options where it is wanted")
        if kept:
            entry["options"] = kept
        sharding = given.get("sharding")
        if isinstance(sharding, Mapping) and isinstance(sharding.get("key"), Mapping):
            entry["shard_key"] = dict(sharding["key"])
            if "presplit" in sharding:
                self.left.lose(f"{path}.sharding.presplit", "chunks are not split beforehand")
        return entry


def _route(template: Any, path: str) -> tuple[str, str]:
    """The field to sample for values at a path, and the path to the first of them, where it leads through arrays."""
    parts: list[str] = []
    column = ""
    for name in path.split("."):
        template = template.get(name) if isinstance(template, Mapping) else None
        parts.append(name)
        while isinstance(template, list) or (isinstance(template, Mapping) and "%array" in template):
            column = column or ".".join(parts)
            parts.append("0")
            template = next(iter(template), None) if isinstance(template, list) else template["%array"].get("of")
    return column or path, ".".join(parts)


def add_variables(given: Any, path: str, names: Names, expressions: Expressions, *, prefix: str) -> None:
    """Makes each variable a named value, which is drawn once for each operation, and a name for what follows."""
    for name, each in (given if isinstance(given, Mapping) else {}).items():
        node = expressions.translate(each, f"{path}.{name}")
        if isinstance(each, str) and each.startswith("#"):
            head = each.lstrip("#").partition(".")[0]
            names.fields[name] = names.fields.get(head, {}) if "." not in each else {}
        else:
            names.fields.pop(name, None)
        if not isinstance(node, Reference):
            defined = expressions.definitions.define(f"{name_word(prefix)}_{name_word(name)}"[:60], as_form(node))
            node = Reference(f"${defined}", node)
        names.nodes[name] = node
