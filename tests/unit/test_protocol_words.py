"""What a verb or an option says of targets that it has no meaning on, and of workloads that don't fit the address."""

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine

HTTP_WORKLOAD = """
name: shop
protocol: http
operations:
  look: {share: 1, get: {path: /orders}}
"""
SQL_WORKLOAD = """
name: shop
protocol: sql
operations:
  look: {share: 1, sql: "SELECT 1"}
"""


@pytest.fixture
def workloads(brimline_cli: CommandLine) -> tuple[Path, Path]:
    paths = brimline_cli.directory / "http.yaml", brimline_cli.directory / "sql.yaml"
    for path, text in zip(paths, (HTTP_WORKLOAD, SQL_WORKLOAD), strict=True):
        path.write_text(text)
    return paths


@pytest.mark.parametrize("uri", ["http://127.0.0.1:1", "mysql://root@127.0.0.1:1/d"])
@pytest.mark.parametrize(
    "verb",
    [
        ("grow", "ycsb-c", "--to", "2k", "--step", "1k"),
        ("interfere", "ycsb-c"),
        ("scan", "examples/queries-with-plans.yaml"),
        ("stat",),
        ("import", "/dev/null", "--type", "csv", "--headerline", "--collection", "c"),
        ("init", "shop.orders"),
    ],
    ids=lambda verb: verb[0],
)
def test_verbs_about_mongodb_refuse_other_targets_with_one_error(
    brimline_cli: CommandLine, verb: tuple[str, ...], uri: str
) -> None:
    words = [str(Path.cwd() / word) if word.startswith("examples/") else word for word in verb[1:]]
    address = ["--from" if verb[0] == "init" else "--uri", uri]

    done = brimline_cli.run(verb[0], *address, *words)

    assert done.exit_code == 2
    assert done.stderr.count("error:") == 1
    assert f"{verb[0]} has no meaning on" in done.stderr


def test_a_service_is_not_loaded(brimline_cli: CommandLine) -> None:
    done = brimline_cli.run("load", "ycsb-c", "--uri", "http://127.0.0.1:1")

    assert done.exit_code == 2
    assert "load has no meaning on a service" in done.stderr
    assert "give the address of a MongoDB server or an SQL database" in done.stderr


def test_a_workload_of_requests_needs_a_service(brimline_cli: CommandLine, workloads: tuple[Path, Path]) -> None:
    without = brimline_cli.run("run", str(workloads[0]))
    other = brimline_cli.run("run", str(workloads[0]), "--uri", "mongodb://127.0.0.1:1")

    assert (without.exit_code, other.exit_code) == (2, 2)
    assert "the workload is of HTTP requests, and no service is named" in without.stderr
    assert "protocol: http" in other.stderr


def test_a_workload_of_statements_needs_a_database(brimline_cli: CommandLine, workloads: tuple[Path, Path]) -> None:
    without = brimline_cli.run("run", str(workloads[1]))
    other = brimline_cli.run("run", str(workloads[1]), "--uri", "http://127.0.0.1:1")

    assert (without.exit_code, other.exit_code) == (2, 2)
    assert "--mariadb or --postgres" in without.stderr
    assert "protocol: sql" in other.stderr


def test_nothing_listens_where_the_service_should(brimline_cli: CommandLine, workloads: tuple[Path, Path]) -> None:
    done = brimline_cli.run("run", str(workloads[0]), "--uri", "http://127.0.0.1:1")

    assert done.exit_code == 5
    assert "error: no server answers at http://127.0.0.1:1: connection refused\n" in done.stderr
    assert done.hint == "check host and port, and that the server runs"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--vary", "server=mysql://a/d,mysql://b/d", "--uri", "mysql://c/d"], "--vary server and another target"),
        (["--vary", "protocol=mariadb,postgres", "--mariadb"], "--vary protocol and --mariadb contradict"),
        (
            ["--vary", "protocol=mariadb,postgres", "--vary", "topology=standalone,replica-set-1"],
            "a factor of MongoDB's",
        ),
        (["--vary", "protocol=mariadb,postgres", "--vary", "server=mysql://a/d,mysql://b/d"], "vary one of them"),
    ],
)
def test_factors_of_databases_that_contradict(brimline_cli: CommandLine, words: list[str], told: str) -> None:
    done = brimline_cli.run("sweep", "ycsb-c", *words)

    assert done.exit_code == 2
    assert told in done.stderr + str(done.stdout)


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        ("ycsb-a", ("--uri", "mongodb://127.0.0.1:1")),
        ("http.yaml", ("--uri", "http://127.0.0.1:1")),
        ("sql.yaml", ("--uri", "mysql://root@127.0.0.1:1/d")),
        ("sql.yaml", ("--postgres",)),
    ],
)
def test_the_profiler_is_refused_where_it_would_do_nothing(
    brimline_cli: CommandLine, workloads: tuple[Path, Path], workload: str, words: tuple[str, ...]
) -> None:
    done = brimline_cli.run("run", workload, *words, "--profiler", "1%")
    done.check_error(2, "--profiler is about", "leave --profiler out")
    done = brimline_cli.run("run", workload, *words, "--profiler", "0%")
    done.check_error(2, "--profiler 0% is no share", "write it like 1%")
