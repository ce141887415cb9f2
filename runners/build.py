"""Builds the runners that this machine can build into target/runners: `make runners`.

Versions are locked, and what is fetched must have the checksum that lies beside them. A runner whose language isn't
here is left out, and said; one that can't be built although it is ends with exit code 1. With `--lint` it lints the
runner for Rust instead.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

SOURCES = Path(__file__).parent
BUILT = SOURCES.parent / "target" / "runners"
NEEDS = {"java": ("javac", "jar", "mvn"), "node": ("node", "npm"), "go": ("go",), "rust": ("cargo",)}
"""Programs that a runner is built by."""
LIMIT_S = 900


class Left(Exception):
    """A runner is left out."""


def main() -> int:
    """Builds all of them, or those that are named. 0, 1 where one failed, or 2 of a name that there is none of."""
    if sys.argv[1:] == ["--lint"]:
        return lint()
    wanted = sys.argv[1:] or list(BUILDS)
    if unknown := [name for name in wanted if name not in BUILDS]:
        print(f"error: there is no runner {unknown[0]!r} to build", file=sys.stderr)
        print(f"hint: make runners ARGUMENTS='...' takes these: {' '.join(BUILDS)}", file=sys.stderr)
        return 2
    is_good = True
    for name in wanted:
        failed = BUILT / f"{name}.failed"  # why its tests are skipped
        failed.unlink(missing_ok=True)
        try:
            BUILDS[name]()
            print(f"{name}: ready")
        except Left as reason:
            print(f"{name}: left out, {reason}")
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            print(f"error: {name}: {error}", file=sys.stderr)
            BUILT.mkdir(parents=True, exist_ok=True)
            failed.write_text(f"{error}\n")
            is_good = False
    return 0 if is_good else 1


def java() -> None:
    """Maven fetches, javac compiles."""
    need(*NEEDS["java"])
    sources, libraries = SOURCES / "java", BUILT / "java" / "lib"
    if not has_checksums(libraries, sources / "checksums.sha256"):
        shutil.rmtree(libraries, ignore_errors=True)
        goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={libraries}"]
        call("mvn", "-q", "-B", *goal, at=sources)
        if not has_checksums(libraries, sources / "checksums.sha256"):
            shutil.rmtree(libraries, ignore_errors=True)
            raise ValueError("the fetched libraries have other checksums than checksums.sha256")
    classes = BUILT / "java" / "classes"
    shutil.rmtree(classes, ignore_errors=True)
    files = [str(file) for file in sorted((sources / "src").rglob("*.java"))]
    call("javac", "-nowarn", "--release", "17", "-cp", f"{libraries}/*", "-d", str(classes), *files, at=sources)
    call("jar", "--create", "--file", str(BUILT / "java" / "runner.jar"), "-C", str(classes), ".", at=sources)


def node() -> None:
    """Npm installs what the lock names, with its hashes."""
    need(*NEEDS["node"])
    there = BUILT / "node"
    there.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", "runner.mjs"):
        shutil.copyfile(SOURCES / "node" / name, there / name)
    call("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", at=there)


def go() -> None:
    """Go builds what go.mod names, with the hashes of go.sum."""
    need(*NEEDS["go"])
    (BUILT / "go").mkdir(parents=True, exist_ok=True)
    call("go", "build", "-mod=readonly", "-trimpath", "-o", str(BUILT / "go" / "runner"), ".", at=SOURCES / "go")


def rust() -> None:
    """Cargo builds what Cargo.lock names, with its hashes; of the driver's some 150 crates once, some minutes."""
    need(*NEEDS["rust"])
    words = ("build", "--quiet", "--release", "--locked", "--target-dir", str(BUILT / "rust"))
    call("cargo", *words, at=SOURCES / "rust")


def lint() -> int:
    """Clippy, with the crates that `rust` has compiled: `cargo clippy` would compile all of them once more."""
    source, target = SOURCES / "rust", BUILT / "rust"
    manifest = tomllib.loads((source / "Cargo.toml").read_text())
    words = ["clippy-driver", "src/main.rs", "--edition", manifest["package"]["edition"], "--emit=metadata"]
    words += ["--out-dir", str(target / "lint"), "-L", f"dependency={target / 'release' / 'deps'}", "--deny=warnings"]
    for crate in manifest["dependencies"]:
        compiled = sorted(
            (target / "release" / "deps").glob(f"lib{crate}-*.rmeta"), key=lambda file: file.stat().st_mtime
        )
        if not compiled:
            print("rust: not linted, since make runners has not compiled what it uses")
            return 0
        words += ["--extern", f"{crate}={compiled[-1]}"]
    for name, level in manifest["lints"]["clippy"].items():
        words.append(f"--{level if isinstance(level, str) else level['level']}=clippy::{name}")
    (target / "lint").mkdir(exist_ok=True)
    # A make around this one names pipes that Python has closed.
    inherited = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    environment = {**inherited, "CLIPPY_CONF_DIR": str(source)}
    return subprocess.run(words, cwd=source, check=False, timeout=LIMIT_S, env=environment).returncode


BUILDS: dict[str, Callable[[], None]] = {"java": java, "node": node, "go": go, "rust": rust}


def need(*programs: str) -> None:
    """Raises Left where one of them isn't here."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise Left(f"there is no {' and no '.join(missing)} on the PATH")


def call(*words: str, at: Path) -> None:
    """Raises CalledProcessError and what it wrote."""
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    subprocess.run(words, cwd=at, check=True, timeout=LIMIT_S, env=environment)


def has_checksums(folder: Path, checksums: Path) -> bool:
    """Whether `folder` holds exactly the files that `checksums` names, as it names them."""
    wanted = dict(reversed(line.split()) for line in checksums.read_text().splitlines())
    found = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*")}
    return found == wanted


if __name__ == "__main__":
    sys.exit(main())
