"""Owns the factors of a design and their levels, as they are written: `connections=1,8`, or one combination by name."""

import difflib
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from brimline.errors import UsageError
from brimline.experiments.growth.order import IndexSet
from brimline.experiments.vary.factor_kinds import ALIASES, KINDS, NO_INDEX, SERVER_VERSION, FactorKind
from brimline.servers.catalogue import release_named

LEVELS_MAX = 32
_WRITTEN = "write it like --vary connections=1,8,64"
_LISTED = "write them like --levels connections=1,records=1k --levels connections=8,records=1M"


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """A factor and its levels, at least two; the first is what the others are compared with."""

    name: str
    levels: tuple[str, ...]

    @property
    def kind(self) -> FactorKind:
        """What it is."""
        return KINDS[self.name]

    def is_told(self, words: Set[str]) -> bool:
        """Whether its levels are `words` of the measure, so that workload and server stay as they are."""
        said = self.kind.change(self.levels[0]).said.keys()
        return bool(said) and said <= words


def parse_factors(texts: Iterable[str]) -> tuple[Factor, ...]:
    """`connections=1,8` and others like it, in the order given. Raises UsageError, also for a factor given twice."""
    factors = tuple(parse_factor(text) for text in texts)
    for place, factor in enumerate(factors):
        if factor.name in {each.name for each in factors[:place]}:
            raise UsageError(f"--vary {factor.name} is given twice", hint=f"give all its levels at once: {_WRITTEN}")
    return factors


def parse_listed(texts: Sequence[str]) -> tuple[tuple[Factor, ...], tuple[tuple[str, ...], ...]]:
    """Combinations that are listed, not crossed: `connections=1,records=1k`, each with a level of every factor.

    The factors have their levels in the order in which they come first. Raises UsageError.
    """
    listed: list[dict[str, str]] = []
    for text in texts:
        named: dict[str, str] = {}
        for part in text.split(","):
            name, separator, value = part.partition("=")
            kind = _kind_named(name.strip(), option="--levels")
            if not separator or kind.name in named:
                raise UsageError(f"--levels {text} doesn't give each factor one level", hint=_LISTED)
            named[kind.name] = _level(kind, value.strip())
        if listed and set(named) != set(listed[0]):
            odd = ", ".join(sorted(set(named) ^ set(listed[0])))
            raise UsageError(f"--levels {text} and the first one have other factors: {odd}", hint=_LISTED)
        named = {name: named[name] for name in listed[0]} if listed else named
        if named in listed:
            raise UsageError(f"--levels {text} is given twice", hint="give each combination once")
        listed.append(named)
    if len(listed) < 2:
        raise UsageError(f"--levels {texts[0]} is one combination, and nothing to compare it with", hint=_LISTED)
    factors = tuple(Factor(name=name, levels=tuple(dict.fromkeys(each[name] for each in listed))) for name in listed[0])
    return factors, tuple(tuple(each.values()) for each in listed)


def factor_named(text: str) -> str:
    """The name of the factor that `text` begins with, however it is said. Raises UsageError for an unknown one."""
    return _kind_named(text.partition("=")[0].strip()).name


def parse_factor(text: str) -> Factor:
    """One factor. Raises UsageError for an unknown one, and for levels that can't be or aren't two that differ."""
    name, separator, values = text.partition("=")
    kind = _kind_named(name.strip())
    if not separator:
        raise UsageError(f"--vary {name.strip()} has no levels", hint=_WRITTEN)
    levels = tuple(_level(kind, each.strip()) for each in values.split(","))
    twice = next((level for place, level in enumerate(levels) if level in levels[:place]), None)
    if twice is not None:
        raise UsageError(f"--vary {kind.name} has the level {twice} twice", hint="give each level once")
    if kind.name == SERVER_VERSION:
        _check_versions_differ(levels)
    if len(levels) < 2:
        raise UsageError(
            f"--vary {kind.name} has one level, {levels[0]}, and nothing to compare it with", hint=_WRITTEN
        )
    if len(levels) > LEVELS_MAX:
        raise UsageError(f"--vary {kind.name} has {len(levels)} levels", hint=f"give {LEVELS_MAX} at most")
    return Factor(name=kind.name, levels=levels)


def _kind_named(name: str, *, option: str = "--vary") -> FactorKind:
    wanted = ALIASES.get(name.lower().replace("_", "-"), name.lower().replace("_", "-"))
    if wanted in KINDS:
        return KINDS[wanted]
    near = difflib.get_close_matches(wanted, KINDS, n=1)
    meant = f'did you mean "{near[0]}"? ' if near else ""
    named = ", ".join(KINDS)
    raise UsageError(f'{option}: there is no factor "{name}"', hint=f"{meant}factors are {named}")


def _level(kind: FactorKind, text: str) -> str:
    if not text:
        raise UsageError(f"--vary {kind.name} has an empty level", hint=_WRITTEN)
    try:
        return kind.read(text)
    except UsageError as error:
        raise UsageError(f"--vary {kind.name}: {error.message}", hint=error.hint or kind.what) from error
    except ValueError as error:
        message, _, advice = str(error).partition("; ")
        raise UsageError(f"--vary {kind.name}: {message}", hint=advice or kind.what) from error


def index_sets(level: str, field_names: Sequence[str]) -> list[str]:
    """The fields of the secondary index that a level of `indexes` asks for; none for `none`.

    Raises ValueError for fields that the documents don't have.
    """
    if level == NO_INDEX:
        return []
    if level in set(IndexSet):
        wanted = {IndexSet.PRIMARY: 0, IndexSet.SINGLE: 1, IndexSet.COMPOUND: 2}[IndexSet(level)]
        if len(field_names) < wanted:
            raise ValueError(f"a {level} index needs {wanted} field(s), and the documents have {len(field_names)}")
        return list(field_names[:wanted])
    names = level.split("+")
    unknown = next((name for name in names if name not in field_names), None)
    if unknown is not None:
        raise ValueError(f'the documents have no field "{unknown}"; they have {", ".join(field_names)}')
    return names


def _check_versions_differ(levels: Sequence[str]) -> None:
    """A family such as 6.0 is short for one of its releases, which would be compared with itself."""
    named: dict[str, str] = {}
    for level in levels:
        release = release_named(level)
        version = level if release is None else release.version
        if version in named:
            raise UsageError(
                f"--vary {SERVER_VERSION} has the same server twice: {named[version]} and {level} are {version}",
                hint="give each version once",
            )
        named[version] = level
