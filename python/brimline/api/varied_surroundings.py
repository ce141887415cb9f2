"""Owns what the factors of a design need of its surroundings, and which options leave them no place."""

import os
from collections.abc import Sequence, Set
from pathlib import Path

from brimline.api.options import URI_VARIABLE, Options, ServerOptions
from brimline.api.options.group import declared
from brimline.api.own_lab import idle_router
from brimline.errors import UsageError
from brimline.execution import DataPolicy
from brimline.experiments.vary.factor_kinds import (
    COMPRESSION,
    INDEXES,
    KINDS,
    MONGOD,
    NODES,
    PROTOCOL,
    READ_PREFERENCE,
    SERVER,
    SERVER_VERSION,
    TOPOLOGY,
    Scope,
)
from brimline.experiments.vary.factors import Factor
from brimline.servers import find_mongod
from brimline.servers.lab.names import STANDALONE, is_sharded


def check_surroundings(
    factors: Sequence[Factor], options: Options, uri: str | None, *, told: Set[str] = frozenset()
) -> None:
    """What the factors need is what the options leave them. Raises UsageError.

    `told`: the words that the measure takes; a factor that is one of them needs no other server.
    """
    names = {factor.name for factor in factors}
    own = [
        factor.name
        for factor in factors
        if factor.kind.scope is Scope.SERVER and factor.name != SERVER and not factor.is_told(told)
    ]
    if SERVER in names:
        _check_addresses(names, own, options)
    if own and (uri is not None or options.null):
        other = "the null target is none" if options.null else "an address names another server"
        raise UsageError(f"--vary {own[0]} needs servers that brimline starts, and {other}",
                         hint="leave --null out" if options.null else
                         "leave --uri, BRIMLINE_URI and target.uri out, or vary something else")  # fmt: skip
    if READ_PREFERENCE in names:
        _check_reads(names, options, uri)
    if COMPRESSION in names:
        _check_compression(options, uri)
    if NODES in names and options.workers is None:
        raise UsageError("--vary nodes needs workers to choose from", hint="add --workers ray, or --workers local:4")
    if INDEXES in names and options.null:
        raise UsageError("--vary indexes needs a server, and the null target is none", hint="leave --null out")
    if any(factor.kind.scope is Scope.DATA for factor in factors) and options.data is DataPolicy.AS_IS:
        raise UsageError("--data as-is takes what is there, and the factors need other data",
                         hint="give --data load, or vary something else")  # fmt: skip
    _check_options(factors, options)
    topologies = next(
        (factor.levels for factor in factors if factor.name == TOPOLOGY), (options.topology or STANDALONE,)
    )
    if options.mongos is not None and not any(map(is_sharded, topologies)):
        raise idle_router()
    for factor in factors:
        if factor.name == MONGOD:
            for level in factor.levels:
                find_mongod(flag=Path(level))
        if factor.name == SERVER_VERSION:
            for level in factor.levels:
                find_mongod(server_version=level, say=options.progress.step)


def _check_options(factors: Sequence[Factor], options: Options) -> None:
    """No option says what a factor does, or what goes with none of its levels. Raises UsageError."""
    names = {factor.name: factor.kind for factor in factors}
    if PROTOCOL in names and (others := [name for name, kind in names.items() if kind.of_mongodb]):
        raise UsageError(
            f"--vary protocol and --vary {others[0]}, a factor of MongoDB's servers, contradict each other",
            hint="give one of them",
        )
    every = declared(ServerOptions)
    given = {name: option.name for name, option in options.given.items() if name in every}
    for factor in factors:
        own = factor.kind.change(factor.levels[0]).options.keys()
        without = {other for name in own for other in every[name].excludes}
        without |= {name for name, option in every.items() if own & set(option.excludes)}
        clash = next((said for name, said in given.items() if name in own or name in without - own), None)
        if clash is not None:
            raise UsageError(f"--vary {factor.name} and {clash} contradict each other", hint="give one of them")
        given |= dict.fromkeys(own, f"--vary {factor.name}")


def _check_addresses(names: Set[str], own: Sequence[str], options: Options) -> None:
    """The servers of `--vary server` are all there is. Raises UsageError."""
    if own:
        raise UsageError(
            f"--vary {own[0]} needs servers that brimline starts, and --vary server names others",
            hint="vary one of them",
        )
    if options.uri is not None or options.null or os.environ.get(URI_VARIABLE):
        raise UsageError(
            "--vary server and another target contradict each other",
            hint="leave --uri, BRIMLINE_URI and --null out; the first level is what the others are compared with",
        )
    of_mongodb = sorted(name for name in names if KINDS[name].of_mongodb)
    if of_mongodb:
        raise UsageError(
            f"--vary server and {of_mongodb[0]} contradict each other",
            hint="say it in the options of each address",
        )


def _check_reads(names: Set[str], options: Options, uri: str | None) -> None:
    """Somebody must be there to prefer. Raises UsageError."""
    if options.null or (uri is None and TOPOLOGY not in names and options.topology is None):
        raise UsageError(
            "--vary read-preference needs a replica set, and brimline starts one server unless told otherwise",
            hint="add --topology replica-set-3, or give --uri of a replica set",
        )
    if uri is not None and "readpreference" in uri.lower():
        raise UsageError(
            "--vary read-preference and the readPreference of the address contradict each other",
            hint="give one of them",
        )


def _check_compression(options: Options, uri: str | None) -> None:
    """There must be messages, and nothing else that says how they are. Raises UsageError."""
    if options.null:
        raise UsageError("--vary compression needs a server, and the null target is none", hint="leave --null out")
    if uri is not None and "compressors" in uri.lower():
        raise UsageError(
            "--vary compression and the compressors of the address contradict each other", hint="give one of them"
        )
