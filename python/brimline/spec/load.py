"""Owns the way from what the user named to a checked spec and the text that is stored with the record."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from brimline.errors import SpecError, UsageError, redact_text
from brimline.spec import ycsb
from brimline.spec.document import TEXT_BYTES_MAX, dotted, dump_document, parse_document
from brimline.spec.document import Path as KeyPath
from brimline.spec.messages import Place, spec_error
from brimline.spec.model import Spec
from brimline.spec.properties import FILE_BYTES_MAX, Property, parse_assignment, parse_properties
from brimline.spec.shipped import read_shipped, shipped_workloads
from brimline.spec.ycsb_front import Phase, YcsbOutput, split_front

_YAML_SUFFIXES = (".yaml", ".yml", ".json")
_IS_PROPERTY_FILE = re.compile(rb"^[ \t\f]*workload[ \t\f]*[=:]?[ \t\f]*[\w.]*Workload\s*$", re.MULTILINE)
_NOT_IN_A_NAME = re.compile(r"[^\w.-]+")
# The command line says how a run ends: an end given there replaces the other kind of end in the spec.
_ENDS = ("duration", "operation_count")
# A load that begins and ends by itself, given there, replaces what the spec says about beginning and end.
_SHAPED = (*_ENDS, "warmup")
_SAID_BY_LOAD = {
    "ramp": _SHAPED, "stages": _SHAPED, "steps": _SHAPED, "tlr": (*_SHAPED, "connections", "in_flight"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoadedSpec:
    """A checked spec and the text that a record stores.

    `text` is the user's YAML byte for byte (it encodes back to the same UTF-8), or, where properties or
    overrides had a say, the effective spec. One without a name bears that of its file, since the record's file is
    called otherwise. It never holds a password: one in an address is replaced by `***`. `place_of`: where a path
    stands, as far as that is known.
    """

    spec: Spec
    text: str
    source: str
    place_of: Callable[[KeyPath], Place] = field(default=lambda path: Place("", None, path), compare=False, repr=False)

    def placed(self, error: UsageError, paths: Mapping[str, KeyPath]) -> UsageError:
        """`error` with the file and the line of what its message begins with, which is one of `paths` by their names.

        Where that isn't so, or it stands in no file, `error` itself.
        """
        ours = [name for name in paths if re.match(rf"{re.escape(name)}[:. ]", error.message)]
        if not ours or isinstance(error, SpecError):
            return error
        name = max(ours, key=len)
        place = self.place_of(paths[name])
        where = f"{place.source}:{place.line}: " if place.line is not None else ""
        return UsageError(f"{where}{dotted(paths[name])}{error.message[len(name) :]}", hint=error.hint)


def load_spec(
    name_or_path: str | Path | None = None,
    *,
    property_files: Sequence[str | Path] = (),
    properties: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
    loads_only: bool = False,
    directory: Path | None = None,
    with_rows: bool = True,
) -> LoadedSpec:
    """Reads a shipped workload, a YAML file, or YCSB properties, and applies `overrides`.

    `property_files` and `properties` are YCSB's -P and -p: a later file overrides an earlier one, `k=v`
    overrides files. `overrides` maps dotted paths to values as YAML would give them ({"data.records": "1M"});
    None means not given. An override of `duration` or `operation_count` replaces both. `loads_only` is for a load,
    which may be of one share of the records whatever a run of the same properties does with them. Files of rows that
    a YAML file names are relative to `directory`, else to itself; without `with_rows` they are not read, nor are the
    values and steps that may take them, so that no plan can be made.

    Raises SpecError, which names the key and its line and suggests what was meant, and UsageError.
    """
    given = {path: value for path, value in (overrides or {}).items() if value is not None}
    if property_files or properties:
        if name_or_path is not None:
            raise UsageError(
                f"{name_or_path} and YCSB properties are two workloads",
                hint="give a workload, or -P and -p, not both",
            )
        read = _read_properties(property_files, properties)
        return _from_properties(read, _name_of(property_files), given, loads_only=loads_only)
    if name_or_path is None:
        raise UsageError("no workload is given", hint=f"name one of {', '.join(shipped_workloads())}, a file, or -P")
    source, data = _read_named(name_or_path)
    if Path(source).suffix not in _YAML_SUFFIXES and _IS_PROPERTY_FILE.search(data):
        return _from_properties(parse_properties(data, source), _name_of([source]), given, loads_only=loads_only)
    rows_in = (directory or Path(source).parent) if with_rows else None
    return _from_yaml(data, source, given, rows_in)


def load_ycsb(
    property_files: Sequence[str | Path] = (), properties: Sequence[str] = (), *, phase: Phase, client: str = "wire"
) -> tuple[LoadedSpec, YcsbOutput]:
    """Reads YCSB properties as YCSB's own client does, with its default address and what it is asked to print.

    `client` is what the binding's driver comes to.

    Raises SpecError, which names the property, its file and its line.
    """
    output, rest = split_front(_read_properties(property_files, properties), phase=phase)
    is_series = output.measurement_type == "timeseries"
    overrides: dict[str, object] = {"interval": f"{output.sample_interval_ms}ms"} if is_series else {}
    if output.is_raw:
        overrides["operation_log"] = True
    if client != "wire":
        overrides["target.client"] = client
    return _from_properties(rest, _name_of(property_files), overrides, loads_only=phase == "load"), output


def _from_yaml(data: bytes, source: str, overrides: Mapping[str, object], rows_in: Path | None) -> LoadedSpec:
    text = _decode(data, source)
    document = parse_document(text, source)
    values = {"name": _name_of([source]), **document.values}

    def place_of(path: KeyPath) -> Place:
        return Place(source, document.line_of(path), path)

    spec = _check(values, overrides, place_of, rows_in=rows_in)
    named = text if "name" in document.values else document.text_with("name", spec.name)
    stored = dump_document(spec.to_document()) if overrides else redact_text(named)
    return LoadedSpec(spec, stored, source, place_of)


def _from_properties(
    given: Mapping[str, Property], name: str, overrides: Mapping[str, object], *, loads_only: bool
) -> LoadedSpec:
    def place_of(path: KeyPath) -> Place:
        property_name = ycsb.PROPERTY_AT.get(dotted(path), "")
        if property_name in given:
            shown = () if given[property_name].flag else (property_name,)
            return Place(given[property_name].origin, None, shown)
        return Place("YCSB properties", None, path)

    asked = overrides.get("connections")
    connections = asked if isinstance(asked, int) else None
    values = ycsb.spec_values(given, name=name, asked_connections=connections, loads_only=loads_only)
    spec = _check(values, overrides, place_of)
    return LoadedSpec(spec, dump_document(spec.to_document()), "YCSB properties")


def _check(
    values: dict[str, Any],
    overrides: Mapping[str, object],
    place_of: Callable[[KeyPath], Place],
    *,
    rows_in: Path | None = None,
) -> Spec:
    """The spec of `values`; files that it names are relative to `rows_in`, and without it not read."""
    overridden = [tuple(_keys(path)) for path in overrides]

    def place_of_effective(path: KeyPath) -> Place:
        """An override stands in no file."""
        is_overridden = any(path[: len(prefix)] == prefix[: len(path)] for prefix in overridden)
        return Place("", None, path) if is_overridden or (overridden and not path) else place_of(path)

    effective = _with_overrides(values, overrides)
    try:
        return Spec.model_validate(effective, context={"rows_in": rows_in})
    except ValidationError as error:
        raise spec_error(error, effective, place_of_effective) from None


def _with_overrides(values: dict[str, Any], overrides: Mapping[str, object]) -> dict[str, Any]:
    result = dict(values)
    load = overrides.get("load")
    if isinstance(load, Mapping):
        result = {
            key: value for key, value in result.items() if key not in _SAID_BY_LOAD.get(str(load.get("kind")), ())
        }
    if any(end in overrides for end in _ENDS):
        result = {key: value for key, value in result.items() if key not in _ENDS}
    for path, value in overrides.items():
        _set(result, _keys(path), value)
    return result


def _keys(path: str) -> list[str]:
    """The keys of a dotted path; the point of `response_p99.9` belongs to its name."""
    return re.split(r"\.(?!\d+$)", path)


def _set(values: dict[str, Any], keys: Sequence[str], value: object) -> None:
    first, *rest = keys
    if not rest:
        values[first] = value
        return
    inner = values.get(first)
    # `keys: zipfian` is short for a mapping; what is around the overridden key stays.
    values[first] = dict(inner) if isinstance(inner, dict) else {"kind": inner} if isinstance(inner, str) else {}
    _set(values[first], rest, value)


def _read_properties(files: Sequence[str | Path], assignments: Sequence[str]) -> dict[str, Property]:
    merged: dict[str, Property] = {}
    for file in files:
        merged.update(parse_properties(_read_file(Path(file), FILE_BYTES_MAX), str(file)))
    for assignment in assignments:
        name, value = parse_assignment(assignment)
        merged[name] = value
    return merged


def _read_named(name_or_path: str | Path) -> tuple[str, bytes]:
    name = str(name_or_path)
    shipped = read_shipped(name) if isinstance(name_or_path, str) else None
    if shipped is not None:
        return f"{name}.yaml", shipped
    path = Path(name_or_path)
    if not path.exists() and path.name == name and not path.suffix:
        raise SpecError(f'there is no workload "{name}"', hint=_workload_hint(name))
    return name, _read_file(path, TEXT_BYTES_MAX)


def _workload_hint(name: str) -> str:
    known = shipped_workloads()
    near = difflib.get_close_matches(name.lower().replace("workload", "ycsb-"), known, n=1)
    names = f"shipped workloads: {', '.join(known)}; a file is named with its path"
    return f'did you mean "{near[0]}"; {names}' if near else names


def _read_file(path: Path, size_max: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(size_max + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SpecError(f"can't read {path}: {reason}", hint="check the path") from None
    if len(data) > size_max:
        raise SpecError(f"{path} is larger than {size_max // 1024} KiB", hint="a spec is a few lines of text")
    return data


def _decode(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SpecError(f"{source}:{line}: not UTF-8 text", line=line, hint="save the file as UTF-8") from None


def _name_of(files: Sequence[str | Path]) -> str:
    """The last file's name, cut down to what a directory may be called."""
    stem = Path(files[-1]).name.removesuffix(".properties") if files else ""
    for suffix in _YAML_SUFFIXES:
        stem = stem.removesuffix(suffix)
    return _NOT_IN_A_NAME.sub("-", stem).strip(".-")[:48] or "workload"
