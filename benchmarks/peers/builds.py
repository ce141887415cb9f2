"""Owns making the peers' programs. Nothing is installed; everything lands in folders that git ignores."""

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
JAVA = HERE / "java"
RUST = HERE / "rust"
RUST_TARGET = ROOT / "target" / "peers" / "rust"
GO_YCSB = HERE / "go-ycsb"
GO_YCSB_VERSION = "1.0.1"
"""Pinned, with all it needs, by the go.mod and go.sum there."""
GO_TARGET = ROOT / "target" / "peers" / "go"
MAVEN_REPOSITORY = ROOT / ".cache" / "m2"
LOGS = ROOT / "target" / "peers"
BUILD_DEADLINE_S = 900.0


class Missing(Exception):
    """A peer can't be had here: why, and how to get it. Neither text holds a path or an address."""

    def __init__(self, reason: str, *, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def java_command(main_class: str) -> Callable[[], list[str]]:
    """Starts a main class of the Java peers; builds them first."""
    return lambda: ["java", "-cp", f"{build_java()}", main_class]


def bare_loop_command() -> list[str]:
    """Starts the bare loop; builds it first."""
    return [str(build_bare_loop())]


@functools.cache
def build_java() -> str:
    """Compiles the Java peers and fetches their libraries; the class path. Raises Missing."""
    build_with_maven("the Java peers", JAVA / "pom.xml", makes=JAVA / "target" / "classes", log=LOGS / "maven.log")
    return os.pathsep.join((str(JAVA / "target" / "classes"), str(JAVA / "target" / "libraries" / "*")))


def build_with_maven(what: str, project: Path, *, makes: Path, log: Path) -> None:
    """Lets Maven compile a project, and fetch what it needs into this tree. Raises Missing.

    What `makes` holds is taken where it was made of these very sources: Maven takes ten seconds to see that itself.
    """
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            raise Missing(f"{tool} is not here", hint="install a JDK of version 17 or later and Maven")
    repository = f"-Dmaven.repo.local={MAVEN_REPOSITORY}"
    log.parent.mkdir(parents=True, exist_ok=True)
    # Two at once, as of two tests, would write the same files of the repository.
    with (LOGS / "maven.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sources, of_these = log.with_suffix(".sources"), _digest_of_sources(project)
        if makes.exists() and sources.exists() and sources.read_text() == of_these:
            return
        sources.unlink(missing_ok=True)
        _build(what, ["mvn", "--batch-mode", "--quiet", repository, "--file", str(project), "compile"], log=log)
        sources.write_text(of_these)


def _digest_of_sources(project: Path) -> str:
    files = [project, *sorted(each for each in (project.parent / "src").rglob("*") if each.is_file())]
    told = hashlib.sha256()
    for each in files:
        content = each.read_bytes()
        told.update(f"{each.relative_to(project.parent)} {len(content)}\n".encode() + content)
    return told.hexdigest()


@functools.cache
def build_bare_loop() -> Path:
    """Compiles the bare loop; its path. Raises Missing."""
    if shutil.which("cargo") is None:
        raise Missing("cargo is not here", hint="install stable Rust")
    manifest = str(RUST / "Cargo.toml")
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", manifest]
    _build("the bare loop", [*command, "--target-dir", str(RUST_TARGET)], log=LOGS / "cargo.log")
    return RUST_TARGET / "release" / "bare-loop"


@functools.cache
def build_go_ycsb() -> Path:
    """Fetches and compiles go-ycsb, its own main program as it is published; its path. Raises Missing.

    By a module of ours that only names it: `go install` refuses a module that replaces another, as go-ycsb does.
    Without C, so that no compiler but Go's is needed; nothing that speaks with MongoDB is in C.
    """
    if shutil.which("go") is None:
        raise Missing("neither go-ycsb nor go is here", hint="install Go, or set PEERS_GO_YCSB to a go-ycsb")
    program = GO_TARGET / "bin" / "go-ycsb"
    command = ["go", "build", "-o", str(program), "github.com/pingcap/go-ycsb/cmd/go-ycsb"]
    places = {"GOPATH": str(GO_TARGET), "GOCACHE": str(GO_TARGET / "cache"), "GOWORK": "off"}
    # Modules that can be written can be removed by `make clean`.
    manner = {"GOFLAGS": "-modcacherw -mod=readonly", "CGO_ENABLED": "0"}
    _build("go-ycsb", command, log=LOGS / "go.log", directory=GO_YCSB, environment=places | manner)
    return program


def _build(
    what: str, command: list[str], *, log: Path, directory: Path = ROOT, environment: Mapping[str, str] | None = None
) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    hint = f"{log.relative_to(ROOT)} says why; the first build needs the package registry"
    try:
        with log.open("wb") as output:
            done = subprocess.run(
                command,
                cwd=directory,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=BUILD_DEADLINE_S,
                check=False,
            )
    except subprocess.TimeoutExpired:
        raise Missing(f"{what} took more than {BUILD_DEADLINE_S:.0f} s to build", hint=hint) from None
    if done.returncode != 0:
        raise Missing(f"{what} can't be built", hint=hint)
