"""Labs of MariaDB and PostgreSQL: closed to strangers, durable as stated, and gone after any kind of end."""

import os
import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pg8000.dbapi
import psutil
import pymysql
import pytest

from brimline.errors import UsageError
from brimline.servers.database import database, durability
from brimline.servers.lab.lookup import lab_password_file
from brimline.servers.lab.own_sql import own_sql
from brimline.servers.sql_programs import SqlSystem, find_sql_program
from tests.support import without_namespaces
from tests.support.command_line import CommandLine
from tests.support.labs import left_behind, processes_below
from tests.support.repetitions import repetitions
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow("the data of a server is made, which waits for a disk that others use too")
SYSTEMS: tuple[SqlSystem, ...] = ("mariadb", "postgres")
_PRODUCTS = {"mariadb": "MariaDB", "postgres": "PostgreSQL"}
_REFUSED = (pymysql.Error, pg8000.dbapi.Error, OSError)


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> SqlSystem:
    try:
        find_sql_program(request.param)
    except UsageError:
        pytest.skip(f"no {_PRODUCTS[request.param]} here: make {request.param}")
    found: SqlSystem = request.param
    return found


@pytest.fixture
def cache(cli: CommandLine) -> Path:
    return cli.directory / "cache"


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def _up(cli: CommandLine, system: SqlSystem, *words: str) -> dict[str, Any]:
    outcome = cli.run("lab", "up", "db", f"--{system}", "--small", *words, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    return dict(outcome.json())


def _connect(uri: str, **changed: Any) -> Any:
    """A connection of the usual driver, as a person makes it."""
    parts = urlsplit(uri)
    options = parse_qs(parts.query)
    (ca,) = options.get("tlsCAFile", [None])
    context = None if ca is None else ssl.create_default_context(cafile=ca)
    where = {
        "host": parts.hostname,
        "port": parts.port,
        "user": parts.username,
        "password": unquote(parts.password or ""),
        "database": parts.path[1:],
    }
    if parts.scheme == "mariadb":
        return pymysql.connect(**{**where, "ssl": context, "ssl_disabled": context is None, **changed})
    return pg8000.dbapi.connect(**{**where, "ssl_context": context or False, **changed})


def _rows(connection: Any, *statements: str) -> list[list[Any]]:
    with connection:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        return [list(row) for row in cursor.fetchall()]


def test_a_lab_outlives_its_command_and_is_gone_when_it_is_taken_down(
    cli: CommandLine, cache: Path, system: SqlSystem
) -> None:
    outcome = cli.run("lab", "up", "db", f"--{system}", "--small")
    assert outcome.exit_code == 0, outcome.stderr
    last = outcome.stdout.splitlines()[-1]
    assert cli.run("lab", "uri", "db").stdout == f"{last}\n"
    document = cli.run("lab", "status", "db", "--json").json()
    whole = Path(document["uri_file"]).read_text().strip()
    password = Path(document["password_file"]).read_text()
    assert last == whole.replace(f":{password}@", "@")
    assert f"{_PRODUCTS[system]} {document['version']}, up" in outcome.stdout
    ((version,),) = _rows(_connect(whole), "SELECT version()")
    assert document["version"] in version
    _rows(_connect(whole), "CREATE TABLE things (id INT)", "INSERT INTO things VALUES (7)", "SELECT id FROM things")
    commands = [word for process in processes_below(cache) for word in process.cmdline()]
    assert commands
    assert not any(password in text for text in (outcome.stdout, outcome.stderr, *commands))
    assert cli.run("lab", "down", "db").exit_code == 0
    assert left_behind(cache) == []
    with pytest.raises(_REFUSED):
        _connect(whole)


def test_a_stranger_is_not_let_in_and_tls_is_required_where_it_was_asked_for(
    cli: CommandLine, cache: Path, system: SqlSystem
) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl command here to make certificates with")
    try:
        find_sql_program(system, tls=True)
    except UsageError as error:
        pytest.skip(error.message)
    document = _up(cli, system, "--tls")
    whole = Path(document["uri_file"]).read_text().strip()
    assert _rows(_connect(whole), "SELECT 1") == [[1]]
    plain = {"ssl": None, "ssl_disabled": True} if system == "mariadb" else {"ssl_context": False}
    strangers: list[dict[str, Any]] = [{"password": "guess"}, {"user": "root", "password": ""}, plain]
    for stranger in strangers:
        with pytest.raises(_REFUSED):
            _connect(whole, **stranger)
    password = Path(document["password_file"]).read_text().encode()
    holders = {path.name for path in cache.rglob("*") if path.is_file() and password in path.read_bytes()}
    assert holders == {"password", "uri"}


def test_uri_takes_its_connection_string_a_commit_is_durable_and_the_cache_is_what_was_asked_for(
    own_cache: Path, system: SqlSystem
) -> None:
    with own_sql(system, cache_gb=0.5) as lab:
        there = database(lab.uris[0])
        assert (there.version, there.engine) == (lab.version, _PRODUCTS[system])
        assert durability(there).on_disk
        assert there.data_directory is not None
        assert there.data_directory.is_relative_to(lab.directory)
        whole = lab.uri_file.read_text().strip()
        address = whole.rpartition("@")[2].partition("/")[0]
        assert lab_password_file([address], user="brimline") == lab.password_file
        if system == "mariadb":
            names = "'innodb_flush_log_at_trx_commit', 'log_bin', 'innodb_buffer_pool_size'"
            found = dict(_rows(_connect(whole), f"SHOW VARIABLES WHERE Variable_name IN ({names})"))
            assert found == {
                "innodb_flush_log_at_trx_commit": "1",
                "log_bin": "OFF",
                "innodb_buffer_pool_size": str(2**29),
            }
        else:
            names = "'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers'"
            found = dict(_rows(_connect(whole), f"SELECT name, setting FROM pg_settings WHERE name IN ({names})"))
            assert found == {
                "fsync": "on",
                "synchronous_commit": "on",
                "full_page_writes": "on",
                "shared_buffers": str(2**29 // 8192),
            }
    assert left_behind(own_cache) == []


def _kill_command(process: psutil.Process, guardian: psutil.Process, command: psutil.Process) -> None:
    command.kill()


def _kill_guardian(process: psutil.Process, guardian: psutil.Process, command: psutil.Process) -> None:
    guardian.kill()


def _kill_guardian_that_sleeps_and_command(
    process: psutil.Process, guardian: psutil.Process, command: psutil.Process
) -> None:
    guardian.suspend()
    command.kill()
    guardian.kill()


def _kill_server(process: psutil.Process, guardian: psutil.Process, command: psutil.Process) -> None:
    process.kill()


_EACH_END_ONCE = (
    ("mariadb", _kill_command),
    ("postgres", _kill_guardian),
    ("mariadb", _kill_guardian_that_sleeps_and_command),
    ("postgres", _kill_server),
)
_ENDS = (_kill_command, _kill_guardian, _kill_guardian_that_sleeps_and_command, _kill_server)
_OTHER_ENDS = [(system, end) for system in SYSTEMS for end in _ENDS if (system, end) not in _EACH_END_ONCE]


@pytest.mark.parametrize(
    ("system", "end"),
    [*_EACH_END_ONCE, *repetitions(*_OTHER_ENDS)],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
    indirect=["system"],
)
def test_a_server_of_a_program_ends_with_all_of_its_processes_however_it_ends(
    cli: CommandLine,
    cache: Path,
    tmp_path: Path,
    system: SqlSystem,
    end: Callable[[psutil.Process, psutil.Process, psutil.Process], None],
) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import time\n"
        "from brimline.servers.lab.own_sql import own_sql\n"
        f"with own_sql({system!r}, cache_gb=0.25) as lab:\n"
        "    print(lab.directory, flush=True)\n"
        "    time.sleep(100)\n"
    )
    running = cli.start_python(script)
    try:
        assert running.process.stdout is not None
        lab = Path(running.process.stdout.readline().strip())
        (guardian,) = psutil.Process(running.process.pid).children()
        (server,) = guardian.children()
        every = [guardian, server, *server.children(recursive=True)]
        assert not _outliving(lab, server.pid)
        end(server, guardian, psutil.Process(running.process.pid))
        assert eventually(lambda: not any(map(_runs, every))), [each for each in every if _runs(each)]
    finally:
        running.send(signal.SIGKILL)
        running.end()
    assert cli.run("lab", "list", "--json").json() == []
    assert left_behind(cache) == []


@pytest.mark.parametrize("system", ["postgres", *repetitions("mariadb")], indirect=True)
def test_a_command_that_is_killed_while_data_is_made_leaves_nothing(
    cli: CommandLine, cache: Path, system: SqlSystem
) -> None:
    running = cli.start("lab", "up", f"--{system}")
    assert eventually(lambda: len(processes_below(cache)) >= 2, interval_s=0.01), "a guardian and what makes the data"
    running.send(signal.SIGKILL)
    running.end()
    cli.run("lab", "list")
    assert eventually(lambda: left_behind(cache) == []), left_behind(cache)


@pytest.mark.parametrize("system", ["mariadb", *repetitions("postgres")], indirect=True)
def test_ctrl_c_while_data_is_made_leaves_nothing(cli: CommandLine, cache: Path, system: SqlSystem) -> None:
    running = cli.start("lab", "up", f"--{system}")
    assert eventually(lambda: len(processes_below(cache)) >= 2, interval_s=0.01)
    running.send(signal.SIGINT)
    outcome = running.end()
    assert (outcome.exit_code, outcome.error) == (130, "interrupted by SIGINT")
    assert left_behind(cache) == []


def test_where_root_can_open_no_namespace_postgresql_runs_as_nobody(cache: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root becomes another user")
    try:
        find_sql_program("postgres")
    except UsageError:
        pytest.skip("no PostgreSQL here: make postgres")
    script = tmp_path / "program.py"
    script.write_text(
        "from pathlib import Path\n"
        "from brimline.servers.lab.own_sql import own_sql\n"
        "from brimline.servers.lab.state import server_process\n"
        "with own_sql('postgres', cache_gb=0.25) as lab:\n"
        "    process = server_process(lab, lab.servers[0])\n"
        "    print(Path(f'/proc/{process.pid}/status').read_text())\n"
    )
    done = subprocess.run(
        [sys.executable, without_namespaces.__file__, sys.executable, str(script)],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == without_namespaces.NOT_HERE:
        pytest.skip("no user namespace can be opened here")
    assert done.returncode == 0, done.stderr
    status = dict(line.split(":", 1) for line in done.stdout.splitlines() if ":" in line)
    assert set(status["Uid"].split()) == {"65534"}
    assert int(status["CapEff"], 16) == 2, "it may pass through directories of root's, and no more"
    assert left_behind(cache) == []


def test_what_is_missing_is_one_error_that_says_how_to_get_it(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brimline.servers.sql_programs._SYSTEM_DIRECTORIES", ())
    monkeypatch.setattr("brimline.servers.sql_programs._POSTGRES_ROOT", Path("/nowhere"))
    monkeypatch.setattr("brimline.servers.sql_programs.POSTGRES_DISTRIBUTION", "no-such-distribution")
    for system in SYSTEMS:
        outcome = cli.run("lab", "up", f"--{system}", environment={"PATH": os.devnull})
        outcome.check_error(2, f"there is no {_PRODUCTS[system]} here", f"make {system}")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--mariadb", "--postgres"), "--mariadb and --postgres are several databases"),
        (("--postgres", "--replica-set", "3"), "--replica-set is of MongoDB"),
        (("--mariadb", "--server-version", "6.0"), "--server-version is of MongoDB"),
    ],
)
def test_what_contradicts_is_refused(cli: CommandLine, words: tuple[str, ...], error: str) -> None:
    cli.run("lab", "up", *words).check_error(2, error)


def _runs(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def _outliving(lab: Path, pid: int) -> list[str]:
    """Shared memory that would outlive a server: files of /dev/shm, and segments of System V that others see."""
    mapped = [line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if " /dev/shm/PostgreSQL" in line]
    known = [path.read_text().splitlines()[6].split()[0] for path in lab.glob("servers/*/data/postmaster.pid")]
    seen = [line.split()[0] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    return mapped + [key for key in known if key in seen]
