"""Options that verbs share: declared once in a group, taken by each verb for which they have a meaning."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command

import brimline
from brimline.api.options import DataOptions, LoadOptions, ObjectiveOptions, Options, ServerOptions, WorkloadOptions
from brimline.api.options.group import declared
from brimline.cli.app import main, whole_program
from brimline.cli.grouped import going_on_with, grouped, only, without
from brimline.cli.options import OutputOptions
from brimline.errors import UsageError
from brimline.monitor.host.sources import host_source
from brimline.servers import Deployment
from tools.reference.options import GROUPS

SETTINGS: Any = {"uri": "mongodb://h", "mongod": "m", "server_version": "6.0", "topology": "replica-set-3"} | {
    "mariadb": True, "postgres": True,
    "null": True, "password_file": "p", "host_metrics": "db:27027", "host_token_file": "t", "host_disk": "sda",
    "profiler": "1%", "workers_per_node": 2, "mongos": "s", "network": "5ms", "cpu_share": 0.5, "cache_gb": 0.5,
    "rate": "5/s", "think_time": "1ms", "tlr": "1,1,1s", "arrivals": "poisson", "drop": True, "resume": True,
}  # fmt: skip
CONTRADICTIONS = [
    pytest.param(group, name, other, id=f"{name} {other}")
    for group in GROUPS
    for name, each in declared(group).items()
    for other in each.excludes
]
NEEDS = [(group, name) for group in GROUPS for name, each in declared(group).items() if each.requires]


@pytest.mark.parametrize(("group", "name", "other"), CONTRADICTIONS)
def test_what_contradicts_is_refused(group: Callable[..., Any], name: str, other: str) -> None:
    for each in (name, other):
        group(**{each: SETTINGS[each]})
    with pytest.raises(UsageError, match="exclude each other"):
        group(**{each: SETTINGS[each] for each in (name, other)})


@pytest.mark.parametrize(("group", "name"), NEEDS)
def test_what_has_no_effect_alone_is_refused(group: Callable[..., Any], name: str) -> None:
    with pytest.raises(UsageError, match="has no effect without"):
        group(**{name: SETTINGS[name]})


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Options(uri=Path("x")), "uri is text, not"),  # type: ignore[arg-type]
        (lambda: Options(cache_gb="1"), "cache_gb is a number, not str"),  # type: ignore[arg-type]
        (lambda: Options(cache_gb=True), "cache_gb is a number, not bool"),
        (lambda: Options(null=1), "null is True or False, not int"),  # type: ignore[arg-type]
        (lambda: Options(mongod=5), "mongod is a path, not int"),  # type: ignore[arg-type]
        (lambda: DataOptions(data="some"), "data is one of check, load, as-is, not"),  # type: ignore[arg-type]
        (lambda: LoadOptions(client="java"), "client is one of wire, pymongo, .*, not"),  # type: ignore[arg-type]
        (lambda: ObjectiveOptions(slo="p95=5ms"), "slo is a list of texts, not str"),
    ],
)
def test_another_type_is_refused_by_name(make: Callable[[], object], told: str) -> None:
    with pytest.raises(UsageError, match=told) as refused:
        make()
    assert refused.value.hint


def test_paths_may_be_text_and_names_have_one_spelling(tmp_path: Path) -> None:
    options = Options(runs_dir=str(tmp_path), topology=" shards-2 ", language="zh-CN")  # type: ignore[arg-type]
    assert (options.runs_dir, options.topology, options.language) == (tmp_path, "client-routed-2", "zh")
    assert Options(password_file="f").password.file == Path("f")  # type: ignore[arg-type]


Said = dict[str, Any]


@pytest.fixture
def call() -> Callable[..., Said]:
    """Calls a verb with some groups; what it gets."""
    got: Said = {}

    @grouped
    def verb(
        workload: WorkloadOptions,
        server: Annotated[ServerOptions, only("mongod", uri="Where to.")],
        data: DataOptions,
        load: Annotated[LoadOptions, without("rate")],
        output: OutputOptions,
        *,
        connections: Annotated[str, typer.Option("--connections", help="A list.")] = "1,2",
        times: Annotated[int, typer.Option("--times", help="How often.")] = 3,
        resume: Annotated[str | None, going_on_with("a test", "connections")] = None,
    ) -> int:
        """Tests."""
        got.update(workload=workload, server=server, data=data, load=load, output=output)
        got.update(connections=connections, times=times, resume=resume)
        return 0

    program = typer.Typer(rich_markup_mode=None)
    program.command()(verb)

    def calling(*words: str) -> Said:
        got.clear()
        get_command(program)(args=list(words), standalone_mode=False)
        return got

    return calling


def test_a_verb_gets_its_groups(call: Callable[..., Said]) -> None:
    said = call(
        "w", "-p", "a=1", "-p", "b=2", "--uri", "mongodb://h", "--records", "5k", "--drop", "-q", "--lang", "zh"
    )
    assert said["workload"] == WorkloadOptions(workload="w", properties=("a=1", "b=2"))
    assert said["server"] == ServerOptions(uri="mongodb://h")
    assert said["data"] == DataOptions(drop=True)
    assert said["load"] == LoadOptions(records="5k")
    assert (said["output"].language, said["output"].quiet, said["connections"]) == ("zh", True, "1,2")


def test_an_option_of_the_verbs_own_stands_in_the_place_of_the_groups(call: Callable[..., Said]) -> None:
    said = call("--connections", "4")
    assert (said["connections"], said["load"].connections) == ("4", None)


@pytest.mark.parametrize("words", [("--topology", "replica-set-3"), ("--rate", "5/s"), ("--null",)])
def test_what_a_verb_does_not_take_it_does_not_have(call: Callable[..., Said], words: tuple[str, ...]) -> None:
    with pytest.raises(Exception, match=f"No such option: {words[0]}"):
        call(*words)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("w",), "WORKLOAD"),
        (("--records", "5"), "--records"),
        (("-p", "a=1"), "-p"),
        (("--seed", "0"), "--seed"),
        (("--times", "3"), "--times"),
    ],
)
def test_what_is_gone_on_with_is_as_it_was_begun(call: Callable[..., Said], words: tuple[str, ...], told: str) -> None:
    with pytest.raises(UsageError, match=f"the test as it was begun, and {told} is given as well"):
        call("--resume", "d", *words)
    around = ("--uri", "mongodb://h", "--drop", "--json", "--connections", "8")
    assert call("--resume", "d", *around)["resume"] == "d"


def test_python_says_the_same_words(tmp_path: Path) -> None:
    load = LoadOptions(rate="2000/s", connections=4, duration="100ms", warmup="0s")
    result = brimline.run(
        "ycsb-c",
        load=load,
        objective=ObjectiveOptions(slo=["p95=5s"]),
        options=Options(null=True, runs_dir=tmp_path),
    )
    assert result.record.plan.connections == 4
    assert result.report.data["load_model"].startswith("constant rate of 2000/s")


@pytest.mark.parametrize("verb", [brimline.run, brimline.capacity, brimline.sweep, brimline.ab, brimline.load])
@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("uri", r"write options=brimline.Options\(uri=…\)"),
        ("rate", r"write load=brimline.LoadOptions\(rate=…\)"),
        ("p99", r"write objective=brimline.ObjectiveOptions\(p99=…\)"),
        ("urii", "known: .*overrides"),
    ],
)
def test_a_word_that_nobody_would_heed_is_an_error_in_python(verb: Callable[..., Any], word: str, said: str) -> None:
    names = ("ycsb-a", "ycsb-b") if verb is brimline.ab else ("ycsb-a",)
    with pytest.raises(TypeError, match=f"{word} is no keyword of this function; {said}"):
        verb(*names, **{word: "1"})


def _verbs() -> dict[str, Any]:
    program: Any = get_command(whole_program())
    return {name: each for name, each in program.commands.items() if not hasattr(each, "commands")}


MEASURING = ("capacity", "run", "sweep", "scan", "grow", "ab", "interfere")
WORKING = (*MEASURING, "load", "import")


def test_every_verb_that_measures_has_the_options_that_have_a_meaning_for_it() -> None:
    taken = {name: {flag for each in verb.params for flag in each.opts} for name, verb in _verbs().items()}
    servers = {
        "--uri",
        "--mongod",
        "--server-version",
        "--cache-gb",
        "--topology",
        "--mongos",
        "--network",
        "--cpu-share",
    }
    for verb in MEASURING:
        assert {*servers, "-P", "-p", "--seed", "--drop"} <= taken[verb]
        assert "--client" in taken[verb] or verb == "scan"  # which measures through the server's own driver
        assert "--null" in taken[verb] or verb in ("scan", "grow", "interfere")  # which need documents
        assert "--in-flight" in taken[verb] or verb in ("scan", "grow")  # which have counts of their own
    for verb in (*MEASURING, "failover", "soak"):
        assert {"--uri", "-P", "--seed", "--drop", "--resume", "--show", "--junit", "--lang"} <= taken[verb]
        assert "--vary" in taken[verb] or verb == "ab"  # whose two sides are what is varied
        assert {"--host-metrics", "--workers", "--prometheus", "--otlp"} <= taken[verb] or verb == "scan"  # as above
    for verb in WORKING:
        assert {"--runs-dir", "--junit", "--lang", "--details", "--json", "--quiet"} <= taken[verb]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("scan", "ycsb-c", "--rate", "5/s"), "--rate is an option of run, ab, interfere"),
        (("report", "latest", "--details"), "brimline show prints every table of a record; see brimline report --help"),
        (("run", "ycsb-c", "--gate", "5%"), "--gate is an option of ab, compare, trend; see brimline run --help"),
        (("run", "ycsb-c", "--nowhere"), "hint: see brimline run --help"),
        (("run", "ycsb-c", "--rate"), "hint: see brimline --help"),
    ],
)
def test_an_option_of_other_verbs_is_refused_with_their_names(
    words: tuple[str, ...], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert hint in capsys.readouterr().err


def test_help_has_a_part_for_each_group(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    printed = capsys.readouterr().out
    parts = [line.removesuffix(":") for line in printed.splitlines() if line.endswith(":") and line[0] != " "]
    assert parts == ["Arguments", "Options", "Workload", "Server", "Data", "Load", "Objective", "Design", "Output"]


SERVER_WORDS = (
    *("--mongod", "m", "--cache-gb", "0.5", "--topology", "replica-set-3", "--mongos", "s", "--network", "5ms"),
    *("--cpu-share", "0.5", "--password-file", "p", "--runs-dir", "r", "--drop", "--lang", "zh", "-q"),
)
CALLS = [
    pytest.param(words, id=words[0])
    for words in (
        ("run", "ycsb-c"),
        ("capacity", "ycsb-c"),
        ("sweep", "ycsb-c"),
        ("ab", "ycsb-c", "--aa"),
        ("interfere", "ycsb-c"),
        ("grow", "ycsb-c", "--to", "2k", "--step", "1k"),
        ("scan", "examples/queries-with-plans.yaml"),
    )
]


@pytest.mark.parametrize("protocol", ["cold", "warm"])
def test_queries_that_need_a_restart_are_refused_on_a_lab_before_it_is_started(
    protocol: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("brimline.api.workplace.own_server", None)
    words = ("grow", "ycsb-c", "--to", "2k", "--step", "1k", "--network", "5ms", "--runs-dir", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        main([*words, "--protocol", protocol])
    assert ended.value.code == 2
    assert "leave --topology, --network and --cpu-share out" in capsys.readouterr().err


@pytest.mark.parametrize("words", CALLS)
def test_what_is_said_of_servers_arrives_where_they_are_started(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("BRIMLINE_URI", raising=False)
    got: list[Options] = []

    def start(options: Options, **_: object) -> None:
        got.append(options)
        raise UsageError("as far as this")

    monkeypatch.setattr("brimline.api.workplace.own_server", start)
    with pytest.raises(SystemExit):
        main([*words, *SERVER_WORDS, "--runs-dir", str(tmp_path)])
    (options,) = got
    said = {name: getattr(options, name) for name in declared(Options)}
    assert said == {
        "mariadb": False, "postgres": False, "host_metrics": None, "host_token_file": None, "host_disk": None,
        "uri": None, "password_file": Path("p"), "null": False, "mongod": Path("m"), "server_version": None,
        "cache_gb": 0.5, "topology": "replica-set-3", "mongos": Path("s"), "network": "5ms", "cpu_share": 0.5,
        "workers": None, "workers_per_node": 1, "profiler": None,
        "data": None, "drop": True, "resume": False, "allow_writes": False, "runs_dir": tmp_path, "language": "zh",
        "show": (), "prometheus": None, "otlp": None,
    }  # fmt: skip


def test_python_says_what_the_command_line_says() -> None:
    """The name of a field is that of its flag, but for a word that Python has already or says in full."""
    in_full = {"language": "lang", "as_json": "json"}
    for group in (*GROUPS, OutputOptions):
        for name, each in declared(group).items():
            flags = [flag[2:].replace("-", "_") for flag in each.flags.split() if flag.startswith("--")]
            assert not flags or in_full.get(name, name) in flags, (group, name, each.flags)


def test_a_disk_is_named_where_several_are_told_of_alone() -> None:
    """brimline watch and a node of Ray know the disk with the server's data: the word was passed over."""
    with pytest.raises(UsageError, match="--host-disk is for an exporter or a file"):
        ServerOptions(uri="mongodb://h", host_metrics="ray", workers="ray", host_disk="sda")
    elsewhere = Deployment(
        address="h:1", uri_redacted="mongodb://h:1", kind="standalone", engine="MongoDB", version="8.0.0",
        git_version="", local=False, pid=None, cpu_count=None,
    )  # fmt: skip
    with pytest.raises(UsageError, match="--host-disk sda is for an exporter or a file"):
        host_source("127.0.0.1:9", deployment=elsewhere, token="", disk="sda")


def test_a_server_of_brimlines_own_is_promised_where_one_is_started() -> None:
    """Else `--uri` or BRIMLINE_URI is needed, and the help says nothing of a mongod that nobody starts."""
    program: Any = get_command(whole_program())
    promised = {
        name: any(each.name == "mongod" for each in verb.params)
        for name, verb in program.commands.items()
        for each in verb.params
        if each.name == "uri" and "of brimline's own" in each.help
    }
    assert promised and all(promised.values()), promised
