"""A protocol that nobody has heard of: with what ARCHITECTURE asks of a new one, and nothing more, it works everywhere.

Here are its two lines in Python's tables.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from brimline.execution.around import Around, around
from brimline.execution.protocols import PROTOCOLS, Protocol, found, target_on
from brimline.plan import Plan, load_plans, resolve
from brimline.servers import Deployment
from brimline.servers.password import PasswordSource
from brimline.servers.target_uri import parse_target_uri
from brimline.spec import Spec, load_spec
from brimline.spec.document import Path as SpecPath
from brimline.spec.own.expressions import Scope, reference
from brimline.spec.own.protocols import STEPS, Scheme, Steps
from brimline.spec.own.step_kind import Requested, StepKind, Surroundings
from tests.support.command_line import CommandLine

WORKLOAD = """
name: lines
protocol: line
operations:
  look: {share: 1, get: $index}
connections: 4
warmup: 0s
operation_count: 200
"""
PLAN = Path(__file__).parent / "line_plan.json"

# The line in spec/own/protocols.py, and what a step becomes.


def _get(kind: StepKind, step: dict[str, Any], path: SpecPath, around: Surroundings) -> dict[str, Requested]:
    value = reference(step[kind.name], (*path, kind.name), around.scope)
    return {"line": Requested("get", "GET", "read", [value.plan], {"kind": "line", "word": "GET"})}


def _nothing(value: Any, path: SpecPath, scope: Scope, kind: StepKind | None, *_: Any) -> list[dict[str, Any]]:
    return []


SPOKEN = Steps(
    target="a server of lines",
    address="line://HOST:PORT",
    schemes={"line": Scheme("line", 7)},
    one="a line",
    several="lines",
    kinds={"get": StepKind("get", "Asks for a number.", command="GET", access="read", counter="command", request=_get)},
    expect=_nothing,
    save=_nothing,
    example="{get: $index}",
)

# The line in execution/protocols.py.


def _found(uri: str, password: PasswordSource | None, say: object) -> Deployment:
    where = parse_target_uri(uri, password=password)
    return Deployment(
        protocol="line", address=where.address, uri_redacted=where.redacted, kind="service", engine="unknown",
        version="1", git_version="", local=False, pid=None, cpu_count=None, of_uri=where,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STEPS, "line", SPOKEN)
    monkeypatch.setitem(PROTOCOLS, "line", Protocol(found=_found))


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    path = tmp_path / "lines.yaml"
    path.write_text(WORKLOAD)
    return load_spec(path).spec


def test_its_plan_is_the_one_that_the_engine_executes(spec: Spec) -> None:
    deployment = found("line://127.0.0.1")
    plan = resolve(spec, target=target_on(spec, deployment))

    assert json.loads(plan.canonical_json()) == json.loads(PLAN.read_text())
    assert Plan.from_json(plan.canonical_json()) == plan
    assert load_plans(spec, target=plan.target) == ()


def test_nothing_is_asked_where_it_has_no_class(spec: Spec) -> None:
    deployment = found("line://127.0.0.1:9")
    asking = around(resolve(spec, target=target_on(spec, deployment)), deployment)

    assert type(asking) is Around
    assert (deployment.address, asking.counters(), asking.sizes(is_over=True)) == ("127.0.0.1:9", None, None)


def test_it_runs_and_is_reported_as_any_other(brimline_cli: CommandLine) -> None:
    (brimline_cli.directory / "lines.yaml").write_text(WORKLOAD)

    done = brimline_cli.run("run", "lines.yaml", "--null", "--json")

    assert done.exit_code == 0, done.stderr
    assert "look" in done.json()["operations"]
    assert "look" in brimline_cli.run("report", done.json()["record"], "--format", "md", "-o", "-").stdout


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("http://h", "the workload has protocol: line, and http:// is the address of a service"),
        ("line://h/a b", "the address names no host, or has a blank in it"),
    ],
)
def test_addresses_of_others_are_refused_in_its_words(brimline_cli: CommandLine, uri: str, message: str) -> None:
    (brimline_cli.directory / "lines.yaml").write_text(WORKLOAD)

    done = brimline_cli.run("run", "lines.yaml", "--uri", uri)

    assert done.exit_code == 2
    assert message in done.error


def test_verbs_about_mongodb_refuse_it(brimline_cli: CommandLine) -> None:
    done = brimline_cli.run("stat", "--uri", "line://h")

    assert done.error == "stat has no meaning on a server of lines, and line:// is the address of one"
