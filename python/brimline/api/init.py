"""Owns the verb `init`: a workload's text, from nothing, a live deployment, a server's log, or SimRunner's settings."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from pymongo.errors import PyMongoError

from brimline.api.options import typed
from brimline.api.protocols import require_protocol
from brimline.compat.simrunner import from_simrunner
from brimline.errors import TargetError, UsageError, redact_uri
from brimline.init.live_collection import SAMPLE_DEFAULT, SAMPLE_MAX
from brimline.init.live_workload import LiveWords, OperationsFrom, Written, from_live, from_log
from brimline.record.files import is_there, replace_text
from brimline.servers import PasswordSource, reached
from brimline.spec.readers import check_collection, check_database
from brimline.units import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class InitResult:
    """A workload that was written. `path` None: nowhere but `text`. `not_taken`: what could not be taken over.

    `beside` are further files that it names, which were written beside it. `existing`: it uses live collections.
    `from_uri`: the server that was looked at; its password may be in it.
    """

    text: str
    path: Path | None = None
    collections: int = 0
    operations: int = 0
    not_taken: Sequence[str] = ()
    warnings: Sequence[str] = ()
    beside: Sequence[Path] = ()
    existing: bool = False
    from_uri: str | None = field(default=None, repr=False)

    @property
    def uri_word(self) -> str:
        """How a command names the server that it was written from; one whose address holds a secret by a variable."""
        if self.from_uri is None or redact_uri(self.from_uri) != self.from_uri:
            return '"$URI"'
        return shlex.quote(self.from_uri)

    @property
    def guesses(self) -> int:
        """How many lines say that something is a guess."""
        return sum("guess:" in line.partition("#")[2] for line in self.text.splitlines())


@typed
def init(
    file: str | Path | None = None,
    *,
    from_uri: str | None = None,
    collections: Sequence[str] = (),
    password: PasswordSource | None = None,
    sample: int = SAMPLE_DEFAULT,
    with_values: bool = False,
    existing: bool = False,
    operations: OperationsFrom = "auto",
    logs: Sequence[str | Path] = (),
    simrunner: str | Path | None = None,
    overwrite: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> InitResult:
    """Writes a workload into `file`; without one the text is in the result alone.

    Without `from_uri`, `logs` and `simrunner` it is a commented file to start from. `collections` are those of the
    server behind `from_uri`, as "shop.orders", of one database; of `logs` alone they may be left out. `sample`
    documents of each are looked at. No value of the data is in the text, unless `with_values`. `existing`: the live
    collections are used as they are. `simrunner`: the file of a SimRunner configuration.

    Raises:
        UsageError: words that contradict each other, a file that is there, a collection or a log that has nothing.
        TargetError: the server can't be reached, or refuses.
    """
    target = None if file is None else Path(file)
    if target is not None and is_there(target) and not overwrite:
        raise UsageError(f"{target} is there already", hint="give --force to replace it, or another name")
    _check(from_uri, collections, logs=logs, simrunner=simrunner, sample=sample)
    if simrunner is not None:
        return _write_simrunner(Path(simrunner), target, overwrite=overwrite)
    paths = [Path(each) for each in logs]
    if from_uri is not None:
        words = LiveWords(
            names=[each[1] for each in _namespaces(collections)],
            sample=sample,
            with_values=with_values,
            existing=existing,
            operations=operations,
            logs=paths,
        )
        written = _from_server(from_uri, _namespaces(collections)[0][0], words, password, say)
    elif paths:
        written = from_log(paths, set(_namespaces(collections)), say=say)
    else:
        written = Written(text=starting_text(), collections=2, operations=3)
    if target is not None:
        replace_text(target, written.text)
    return InitResult(
        text=written.text,
        path=target,
        collections=written.collections,
        operations=written.operations,
        not_taken=written.not_taken,
        warnings=written.warnings,
        existing=existing or (from_uri is None and bool(paths)),
        from_uri=from_uri,
    )


def starting_text() -> str:
    """The commented file to start from, which runs as it is."""
    return files("brimline.init").joinpath("start.yaml").read_text("utf-8")


def _from_server(
    uri: str, database: str, words: LiveWords, password: PasswordSource | None, say: Callable[[str], None]
) -> Written:
    require_protocol("init", uri)
    with reached(uri, password=password, purpose="init") as (client, server):
        try:
            version = str(client.admin.command("buildInfo").get("version", "unknown"))
        except PyMongoError as error:
            raise TargetError(
                f"the server at {server.redacted} doesn't answer", hint="check that it still runs"
            ) from error
        return from_live(client[database], words, version=version, say=say)


def _write_simrunner(source: Path, target: Path | None, *, overwrite: bool) -> InitResult:
    translated = from_simrunner(source, stem=None if target is None else target.stem)
    beside = [] if target is None else [target.with_name(name) for name in translated.beside]
    for path in beside:
        if is_there(path) and not overwrite:
            raise UsageError(f"{path} is there already", hint="give --force to replace it, or another name")
    for path, text in zip(beside, translated.beside.values(), strict=target is not None):
        replace_text(path, text)
    if target is not None:
        replace_text(target, translated.text)
    return InitResult(
        text=translated.text,
        path=target,
        collections=translated.collections,
        operations=translated.operations,
        not_taken=translated.not_taken,
        beside=beside,
    )


def _check(
    from_uri: str | None,
    collections: Sequence[str],
    *,
    logs: Sequence[str | Path],
    simrunner: str | Path | None,
    sample: int,
) -> None:
    """Raises UsageError for words that contradict each other."""
    if simrunner is not None and (from_uri is not None or collections or logs):
        raise UsageError(
            "a SimRunner configuration and a live deployment are two sources",
            hint="give --from-simrunner alone, or --from and --log",
        )
    if from_uri is not None and not collections:
        raise UsageError("--from names no collection", hint="name them behind it, such as --from URI shop.orders")
    if collections and from_uri is None and not logs:
        raise UsageError(
            f"{collections[0]} is no file to write", hint="end its name with .yaml, or give --from URI for collections"
        )
    if not 1 <= sample <= SAMPLE_MAX:
        raise UsageError(
            f"a sample of {counted(sample, 'document')} can't be taken", hint=f"give --sample 1 to {SAMPLE_MAX}"
        )


def _namespaces(collections: Sequence[str]) -> list[tuple[str, str]]:
    """("shop", "orders") of "shop.orders". Raises UsageError."""
    found: list[tuple[str, str]] = []
    for each in collections:
        database, dot, name = each.partition(".")
        if not dot or not database or not name:
            raise UsageError(f"{each} names no collection", hint="write the database and a dot before it: shop.orders")
        try:
            check_database(database)
            check_collection(name)
        except ValueError as error:
            raise UsageError(f"{each}: {error}", hint="name a collection of a database of yours") from None
        if (database, name) not in found:
            found.append((database, name))
    databases = list(dict.fromkeys(database for database, _ in found))
    if len(databases) > 1:
        raise UsageError(
            f"{databases[0]} and {databases[1]} are two databases, and a workload has one",
            hint="write a workload for each",
        )
    return found
