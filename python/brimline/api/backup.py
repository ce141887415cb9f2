"""Owns the verbs `backup` and `restore`: the documents of a server as files in mongodump's layout, and back."""

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from brimline.api.options import URI_VARIABLE, named_uri, typed
from brimline.api.protocols import require_protocol
from brimline.dataset.access import WORK_WITHIN_S
from brimline.dataset.backup import Backup, BackupProgress, Restored, Stopped, restore_backup, write_backup
from brimline.errors import UsageError
from brimline.execution import StopToken, check_room, interruptible
from brimline.execution.protocols import found
from brimline.servers import Deployment, PasswordSource, control_client


@typed
def backup(
    directory: str | Path,
    *,
    uri: str | None = None,
    password: PasswordSource | None = None,
    databases: Sequence[str] = (),
    gzip: bool = False,
    progress: Callable[[BackupProgress], None] = lambda _progress: None,
    notice: Callable[[str], None] = lambda _text: None,
) -> Backup:
    """Writes every collection of a server into an empty directory: BSON, options and indexes, as mongodump does.

    All are as of one instant where the server is a replica set of MongoDB 5.0 or newer; else `not_consistent` of the
    result says why not, and `notice` is told. What brimline made for itself is left out, and `notice` told.
    `databases`: those that are wanted; default: all but admin, config and local. `uri`: else BRIMLINE_URI.

    Raises UsageError, TargetError, RecordError and Interrupted.
    """
    place = Path(directory)
    deployment = _server("backup", uri, password=password, notice=notice)
    with interruptible() as stop:
        try:
            return backup_of(deployment, place, databases=databases, gzip=gzip, progress=progress, notice=notice,
                             stop=stop)  # fmt: skip
        except Stopped:
            raise stop.error(kept=None) from None


def backup_of(
    deployment: Deployment,
    directory: Path,
    *,
    stop: StopToken,
    databases: Sequence[str] = (),
    gzip: bool = False,
    progress: Callable[[BackupProgress], None] = lambda _progress: None,
    notice: Callable[[str], None] = lambda _text: None,
) -> Backup:
    """`backup` of a server that is known. What it began is taken away where it doesn't come to its end."""
    existed = directory.exists()
    with control_client(deployment.address, access=deployment.access, purpose="backup",
                        command_timeout_s=WORK_WITHIN_S) as client:  # fmt: skip
        try:
            made = write_backup(
                client,
                directory,
                server=deployment.uri_redacted or deployment.address,
                databases=databases,
                gzip=gzip,
                require_room=partial(check_room, directory=directory, what="the backup"),
                progress=progress,
                notice=notice,
                stopped=lambda: stop.requested,
            )
        except UsageError:
            raise
        except BaseException:
            _take_away(directory, itself=not existed)
            raise
    if made.not_consistent:
        notice(f"{made.not_consistent}, so that collections may be of different instants")
    if made.apart:
        notice(f"no server shows a capped collection as of an instant: {', '.join(made.apart)}")
    return made


@typed
def restore(
    directory: str | Path,
    *,
    uri: str | None = None,
    password: PasswordSource | None = None,
    databases: Sequence[str] = (),
    drop: bool = False,
    progress: Callable[[BackupProgress], None] = lambda _progress: None,
    notice: Callable[[str], None] = lambda _text: None,
) -> Restored:
    """Puts back what `backup` or mongodump wrote: documents, options and indexes, counted and compared by hash.

    `databases`: those that are wanted; default: all but admin, config and local, and `notice` is told what is left out.
    `drop`: collections that are there are replaced once all is in beside them, which takes the room of both; else they
    are refused before anything is changed. `uri`: else BRIMLINE_URI.

    Raises UsageError, TargetError, RecordError, Interrupted, and InvalidRun where what is there is not the backup's.
    """
    place = Path(directory)
    if not place.is_dir():
        raise UsageError(f"there is no directory {place}", hint="give the one that brimline backup wrote")
    deployment = _server("restore", uri, password=password, notice=notice)
    with (
        interruptible() as stop,
        control_client(deployment.address, access=deployment.access, purpose="restore",
                       command_timeout_s=WORK_WITHIN_S) as client,
    ):  # fmt: skip
        try:
            return restore_backup(client, place, databases=databases, drop=drop, progress=progress, notice=notice,
                                  stopped=lambda: stop.requested)  # fmt: skip
        except Stopped:
            error = stop.error(kept=None)
            error.hint = (
                "nothing was changed; give the command again" if drop
                else "collections are there in part: give --drop next time"
            )  # fmt: skip
            raise error from None


def _server(
    verb: str, uri: str | None, *, password: PasswordSource | None, notice: Callable[[str], None]
) -> Deployment:
    named = named_uri(uri, os.environ.get(URI_VARIABLE))
    if named is None:
        raise UsageError(f"{verb} needs a server", hint=f"give --uri mongodb://HOST:PORT, or set {URI_VARIABLE}")
    require_protocol(verb, named)
    return found(named, password=password, say=notice)


def _take_away(directory: Path, *, itself: bool) -> None:
    """Half a backup would be taken for a whole one; the directory was empty before, or not there."""
    if itself:
        shutil.rmtree(directory, ignore_errors=True)
        return
    for each in directory.iterdir():
        if each.is_dir():
            shutil.rmtree(each, ignore_errors=True)
        else:
            each.unlink(missing_ok=True)
