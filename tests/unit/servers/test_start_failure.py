"""What a user reads when mongod does not start. The log lines are of mongod 6.0.5."""

from pathlib import Path

import pytest

from brimline.servers.failure import error_lines, start_error, start_failure

_PORT_TAKEN = (
    '{"t":{"$date":"2026-11-21T21:43:21.072+00:00"},"s":"E",  "c":"CONTROL",  "id":20568,   '
    '"ctx":"initandlisten","msg":"Error setting up listener",'
    '"attr":{"error":{"code":9001,"codeName":"SocketException","errmsg":"Address already in use"}}}'
)
_NO_PATH = (
    '{"t":{"$date":"2026-11-21T21:43:21.099+00:00"},"s":"E",  "c":"CONTROL",  "id":20557,   '
    '"ctx":"initandlisten","msg":"DBException in initAndListen, terminating",'
    '"attr":{"error":"NonExistentPath: Data directory /x not found."}}'
)
_POSTGRES_PORT_TAKEN = """\
2026-11-26 11:20:01.123 GMT [7] LOG:  starting PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu
2026-11-26 11:20:01.124 GMT [7] LOG:  could not bind IPv4 address "127.0.0.1": Address already in use
2026-11-26 11:20:01.124 GMT [7] HINT:  Is another postmaster already running on port 5432? If not, wait and retry.
2026-11-26 11:20:01.124 GMT [7] WARNING:  could not create listen socket for "127.0.0.1"
2026-11-26 11:20:01.124 GMT [7] FATAL:  could not create any TCP/IP sockets
"""
_MARIADB_PORT_TAKEN = """\
2026-11-26 11:20:01 0 [ERROR] Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use
2026-11-26 11:20:01 0 [ERROR] Do you already have another server running on port: 3306 ?
2026-11-26 11:20:01 0 [ERROR] Aborting
"""
_INFORMATION = '{"s":"I","c":"CONTROL","id":23138,"ctx":"initandlisten","msg":"Shutting down","attr":{"exitCode":48}}'


def test_errors_of_the_log_are_shown_and_the_rest_is_not() -> None:
    log = "\n".join([_INFORMATION, _PORT_TAKEN, "not json", "[]", _NO_PATH, _INFORMATION])
    assert error_lines(log) == [
        "Error setting up listener: Address already in use",
        "DBException in initAndListen, terminating: NonExistentPath: Data directory /x not found.",
    ]


@pytest.mark.parametrize(
    ("exit_code", "log", "stderr", "taken"),
    [
        (48, _PORT_TAKEN, "", True),
        (48, _INFORMATION, "", False),
        (None, _PORT_TAKEN, "", False),
        (1, "", _POSTGRES_PORT_TAKEN, True),
        (1, "", _MARIADB_PORT_TAKEN, True),
    ],
)
def test_a_taken_port_is_recognised(tmp_path: Path, exit_code: int | None, log: str, stderr: str, taken: bool) -> None:
    (tmp_path / "log").write_text(log)
    (tmp_path / "stderr").write_text(stderr)
    failure = start_failure(exit_code=exit_code, log=tmp_path / "log", stderr=tmp_path / "stderr")
    assert failure.port_was_taken is taken


@pytest.mark.parametrize(
    ("exit_code", "stderr", "hint"),
    [
        (127, "mongod: error while loading shared libraries: libssl.so.1.1: cannot open", "library"),
        (127, "mongod: /lib/libc.so.6: version `GLIBC_2.99' not found", "C library"),
        (127, "/x/mongod: Exec format error", "processor"),
        (100, "No space left on device", "free some"),
        (100, "Permission denied: /data", "can be written"),
        (127, "capabilities: Operation not permitted", "another user"),
        (132, "", "AVX"),
        (137, "", "memory"),
        (99, "", "doctor"),
    ],
)
def test_each_known_cause_has_its_hint(tmp_path: Path, exit_code: int, stderr: str, hint: str) -> None:
    (tmp_path / "stderr").write_text(stderr)
    failure = start_failure(exit_code=exit_code, log=tmp_path / "none", stderr=tmp_path / "stderr")
    error = start_error(failure, binary=Path("/x/mongod"), waited_s=60)
    assert f"exit code {exit_code}" in error.message
    assert stderr in error.message
    assert error.hint is not None
    assert hint in error.hint


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (_POSTGRES_PORT_TAKEN, ["FATAL:  could not create any TCP/IP sockets"]),
        (_MARIADB_PORT_TAKEN, ["Address already in use", "on port: 3306 ?"]),
    ],
)
def test_of_a_log_on_standard_error_the_errors_are_shown(tmp_path: Path, printed: str, shown: list[str]) -> None:
    (tmp_path / "stderr").write_text(printed)
    lines = start_failure(exit_code=1, log=tmp_path / "none", stderr=tmp_path / "stderr").lines
    assert len(lines) == len(shown)
    assert all(line.endswith(end) for line, end in zip(lines, shown, strict=True))


def test_only_the_last_lines_are_shown_and_long_ones_cut(tmp_path: Path) -> None:
    (tmp_path / "stderr").write_text("\n".join(["first", "second", "third", "x" * 1000]))
    failure = start_failure(exit_code=None, log=tmp_path / "none", stderr=tmp_path / "stderr")
    assert failure.lines[:2] == ("second", "third")
    assert len(failure.lines[2]) == 300
    error = start_error(failure, binary=Path("/x/mongod"), waited_s=60)
    assert "did not answer within 60 s" in error.message


@pytest.mark.parametrize(
    ("exit_code", "stderr", "is_damaged"),
    [
        (127, "mongod: Exec format error", True),
        (127, "mongod: Permission denied", True),
        (127, "error while loading shared libraries: libssl.so.1.1", True),
        (139, "", True),
        (132, "", False),
        (1, "No space left on device", False),
    ],
)
def test_a_fetched_binary_that_was_damaged_is_fetched_anew(
    tmp_path: Path, exit_code: int, stderr: str, is_damaged: bool
) -> None:
    (tmp_path / "stderr").write_text(stderr)
    failure = start_failure(exit_code=exit_code, log=tmp_path / "none", stderr=tmp_path / "stderr")
    file = Path("/cache/binaries/one/mongod")
    error = start_error(failure, binary=file, waited_s=60, cache_entry=file.parent)
    assert ("remove /cache/binaries, and it is fetched anew" in (error.hint or "")) is is_damaged
    assert "anew" not in (start_error(failure, binary=file, waited_s=60).hint or "")
