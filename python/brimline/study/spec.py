"""Owns the text of a study: strict YAML into ordered experiments, prose and servers; errors name the line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import ConfigDict, Field, ValidationError, WithJsonSchema, field_validator, model_validator

from brimline.errors import UsageError
from brimline.spec.base import Part
from brimline.spec.document import TEXT_BYTES_MAX, parse_document
from brimline.spec.messages import Place, spec_error
from brimline.study.figures import NUMBER_IN_WORDS, references
from brimline.study.needs import require_known
from brimline.study.scale import AUTO, Scale, Scaled
from brimline.study.secrets import holds_secret
from brimline.units import format_percentage
from brimline.wording import LANGUAGES, Language

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_NAMED = WithJsonSchema({"type": "string", "pattern": f"^{_NAME.pattern}$"})
_SHIPPED = "studies"

Scalar: TypeAlias = str | int | float | bool
Value: TypeAlias = Scalar | list[Scalar] | Scaled
"""The value of an option: one, several with commas between them, or another at each scale."""
Words: TypeAlias = str | dict[Language, str]
"""Prose: in one language for all, or in each."""


def in_words(words: Words, language: str) -> str:
    """Prose in a language; where it has none, in English, else as it is."""
    if isinstance(words, str):
        return words
    by_name: Mapping[str, str] = {str(name): said for name, said in words.items()}
    return by_name.get(language) or by_name.get("en") or next(iter(by_name.values()), "")


class FileSpec(Part):
    """A file of rows, made from a workload's documents before the first experiment that names it as `{name}`."""

    workload: str
    """A shipped workload, or a file."""
    rows: Value
    """How many rows."""
    format: str = "csv"
    """csv, json or bson."""


class ExperimentSpec(Part):
    """One experiment: a verb, what it is about, its options and factors as its page has them."""

    model_config = ConfigDict(populate_by_name=True)

    name: Annotated[str, _NAMED]
    """By which prose refers to it; small letters, digits and dashes."""
    title: Words
    """The heading of its results."""
    point: Words = ""
    """What is tested, for the table of test points; without it the title."""
    verb: str
    """The verb that measures: `run`, `sweep`, `capacity`, `import`, `grow`, `scan`, `interfere`, `ab` …"""
    workload: str | None = None
    """A shipped workload or a file beside the study; that of an import is a file, such as `{rows}`."""
    options: dict[str, Value] = Field(default_factory=dict)
    """Options by their names without dashes, such as `connections: [1, 8]`; `true` for one without a value."""
    vary: dict[str, Value] = Field(default_factory=dict)
    """Factors and their levels, as `--vary` has them."""
    server: str | None = None
    """A server of `servers` that it shares with others; without one a server of its own."""
    needs: list[str] = Field(default_factory=list)
    """Optional parts without which it is left out, by name: `mariadb`, `postgres`, `order-service`, `mongos`."""
    at_ci: bool = True
    """Whether it is made at `--scale ci` as well."""
    show: list[str] = Field(default_factory=list)
    """Figures for tables and charts, as `--show` has them; without any those that its report chooses."""
    sections: list[str] | None = None
    """Sections of its report that the document has besides, by their anchors; without a list all that has results."""
    text: list[Words] = Field(default_factory=list)
    """What is said of its results. Figures stand there by reference, `{name figure}`, and in no other way."""

    @field_validator("name")
    @classmethod
    def _named(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f'"{name}" is no name of an experiment; write it like import-by-index')
        return name

    @field_validator("needs")
    @classmethod
    def _known_needs(cls, needs: list[str]) -> list[str]:
        for each in needs:
            require_known(each)
        return needs

    @field_validator("options", "vary")
    @classmethod
    def _without_secrets(cls, values: dict[str, Value]) -> dict[str, Value]:
        for name, value in values.items():
            require_no_secret(name, value)
        return values

    @field_validator("text")
    @classmethod
    def _without_typed_figures(cls, text: list[Words]) -> list[Words]:
        for said in text:
            require_references(said)
        return text


def require_no_secret(name: str, value: Value) -> None:
    """Raises ValueError for an option that holds a password: a study is stored, and printed in its document."""
    for each in _plain_values(value):
        if not isinstance(each, bool) and holds_secret(str(each), f"--{name}"):
            raise ValueError(
                f"{name} holds a password, and a study is printed with its document; name a file that holds it, as in "
                "password-file: FILE, beside an address with the user alone"
            )


def _plain_values(value: Value) -> Iterator[Scalar]:
    if isinstance(value, Scaled):
        for each in (value.full, value.ci, value.auto, value.between):
            yield from () if each is None else _plain_values(each)
    else:
        yield from value if isinstance(value, list) else (value,)


def require_references(words: Words) -> None:
    """Raises ValueError for a figure that is typed where one by reference should stand."""
    for said in (words,) if isinstance(words, str) else words.values():
        if found := NUMBER_IN_WORDS.search(references.sub("", said)):
            raise ValueError(
                f'"{found[0]}" is typed, and figures of results stand by reference; write it like {{name verdict}}'
            )


class StudySpec(Part):
    """A study: what it is for, its experiments in order, and what is said of them."""

    name: Annotated[str, _NAMED]
    """Its name, also of its directory."""
    title: Words
    """On the cover."""
    purpose: list[Words]
    """What it is for, a paragraph each."""
    method: list[Words] = Field(default_factory=list)
    """What is said of the method besides the table of experiments."""
    data: list[Words] = Field(default_factory=list)
    """What is said of the data besides the table of data sets."""
    files: dict[str, FileSpec] = Field(default_factory=dict)
    """Files of rows for imports."""
    servers: dict[str, dict[str, Scalar | Scaled]] = Field(default_factory=dict)
    """Servers that experiments share, by name: options of `brimline lab up`, such as `replica-set: 3`.

    Of one with `order-service`, `orders` says how many orders there are before.
    """
    experiments: list[ExperimentSpec] = Field(min_length=1)
    """In the order in which they are made."""
    advice: list[Words] = Field(default_factory=list)
    """What follows for whoever asked: sentences whose figures stand by reference."""

    @field_validator("servers")
    @classmethod
    def _without_secrets(cls, servers: dict[str, dict[str, Scalar | Scaled]]) -> dict[str, dict[str, Scalar | Scaled]]:
        for words in servers.values():
            for name, value in words.items():
                require_no_secret(name, value)
        return servers

    @field_validator("name")
    @classmethod
    def _named(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f'"{name}" is no name of a study; write it like s4-import-growth-shards')
        return name

    @model_validator(mode="after")
    def _whole(self) -> "StudySpec":
        names = [each.name for each in self.experiments]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two experiments are called {name}; give one of them another name")
        for each in self.experiments:
            if each.server is not None and each.server not in self.servers:
                raise ValueError(f"{each.name}: there is no server {each.server} under servers; add it there")
        for said in self.advice:
            require_references(said)
        for said in (*self.advice, *(text for each in self.experiments for text in each.text)):
            for part in (said,) if isinstance(said, str) else said.values():
                for found in references.finditer(part):
                    if found["name"] not in names:
                        raise ValueError(
                            f"{found[0]} refers to an experiment that is not there: {found['name']}; name one that is"
                        )
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedStudy:
    """A study that is read: `text` as written, `directory` that from which its files are named."""

    spec: StudySpec
    text: str
    source: str
    directory: Path


def shipped_studies() -> Mapping[str, Path]:
    """The shipped studies by name."""
    folder = Path(str(resources.files("brimline.study"))) / _SHIPPED
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def load_study(name_or_path: str | Path) -> LoadedStudy:
    """A study by shipped name, or in a file. Raises UsageError and SpecError, which names line and key."""
    shipped = shipped_studies()
    path = shipped.get(str(name_or_path)) or Path(name_or_path)
    try:
        with path.open("rb") as stream:
            text = stream.read(TEXT_BYTES_MAX + 1).decode("utf-8")
    except FileNotFoundError:
        raise UsageError(
            f"there is no study {name_or_path}", hint=f"give a YAML file, or one of {', '.join(shipped)}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"can't read {path}: {error}", hint="a study is YAML, in UTF-8") from error
    return read_study(text, path.name, directory=path.parent)


def read_study(text: str, source: str, *, directory: Path) -> LoadedStudy:
    """The study in `text`. Raises SpecError, which names `source`, the line and the key."""
    document = parse_document(text, source, wanted="a study has a name, a title, a purpose and experiments")
    try:
        spec = StudySpec.model_validate(document.values)
    except ValidationError as error:
        raise spec_error(error, document.values, lambda path: Place(source, document.line_of(path), path)) from None
    return LoadedStudy(spec=spec, text=text, source=source, directory=directory)


def scaled_values(spec: StudySpec) -> Iterator[Scaled]:
    """Every value that differs by scale."""
    values: list[object] = [each.rows for each in spec.files.values()]
    values += [value for each in spec.servers.values() for value in each.values()]
    for each in spec.experiments:
        values += [*each.options.values(), *each.vary.values()]
    return (each for each in values if isinstance(each, Scaled))


def size_said(spec: StudySpec, scale: Scale) -> str:
    """A scale in a word: `ci`, `1`, the share of the full size, or `auto` where nothing follows such a share."""
    if scale.is_ci or scale.fraction >= 1:
        return scale.text if scale.is_ci else "1"
    return format_percentage(scale.fraction) if any(each.is_scaled for each in scaled_values(spec)) else AUTO


def languages_lacking(spec: StudySpec) -> Sequence[str]:
    """Languages in which not all prose of a study is written, of those that reports speak."""
    said: list[Words] = [spec.title, *spec.purpose, *spec.method, *spec.data, *spec.advice]
    for each in spec.experiments:
        said += [each.title, *each.text, *([each.point] if each.point else [])]
    return [each for each in LANGUAGES if any(isinstance(words, dict) and each not in words for words in said)]
