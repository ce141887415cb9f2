"""Owns how a SimRunner configuration is read: a file of Extended JSON, whose parts have the form that they should."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bson import json_util
from bson.errors import BSONError

from brimline.errors import UsageError

_BYTES_MAX = 16 * 2**20
_HINT = "give the JSON file that SimRunner is started with"


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The parts of a configuration, each a mapping; `directory` is where its files are."""

    templates: list[dict[str, Any]]
    workloads: list[dict[str, Any]]
    rest: Mapping[str, Any]
    directory: Path


def read_configuration(path: Path) -> Configuration:
    """Reads the file. Raises UsageError, which says what is wrong with it, and no value of it."""
    try:
        size = path.stat().st_size
        text = path.read_text("utf-8-sig") if size <= _BYTES_MAX else ""
    except UnicodeDecodeError as error:
        raise UsageError(f"can't read {path}: it is not UTF-8 text", hint=_HINT) from error
    except OSError as error:
        raise UsageError(f"can't read {path}: {(error.strerror or str(error)).lower()}", hint=_HINT) from error
    if size > _BYTES_MAX:
        raise UsageError(f"{path} is larger than {_BYTES_MAX // 2**20} MiB", hint=_HINT)
    try:
        found = json.loads(text, object_hook=_value)
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: is no JSON: {error.msg.lower()}", hint=_HINT) from error
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, BSONError) as error:
        raise UsageError(f"{path} is no Extended JSON ({type(error).__name__})", hint=_HINT) from error
    if not isinstance(found, dict) or "workloads" not in found or "templates" not in found:
        raise UsageError(f"{path} is no configuration of SimRunner: it has no templates and workloads", hint=_HINT)
    rest = {name: value for name, value in found.items() if name not in ("templates", "workloads")}
    return Configuration(
        templates=_mappings(found["templates"], "templates", path),
        workloads=_mappings(found["workloads"], "workloads", path),
        rest=rest,
        directory=path.parent,
    )


def _value(given: dict[str, Any]) -> Any:
    """Extended JSON, whose dates may be without a time, as SimRunner takes them."""
    if given.keys() == {"$date"} and isinstance(text := given["$date"], str):
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return json_util.object_hook(given, json_util.RELAXED_JSON_OPTIONS)


def named(given: Mapping[str, Any], key: str) -> str:
    """A name in a template: where it begins with "$", the environment's variable of that name, if it is set."""
    text = str(given.get(key) or "")
    return os.environ.get(text[1:], text) if text.startswith("$") else text


def _mappings(value: Any, name: str, path: Path) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise UsageError(f"{path}: {name} is no list of documents", hint=_HINT)
    return value
