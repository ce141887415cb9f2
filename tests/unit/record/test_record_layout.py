"""Names of directories, the listing, experiments, the histogram log, the environment."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brimline.errors import RecordError
from brimline.record import (
    ExperimentWriter,
    RecordWriter,
    capture_environment,
    create_run_directory,
    hlog,
    list_records,
    read_experiment,
)
from brimline.record.environment import memory_left_bytes
from brimline.record.layout import slug
from brimline.record.redaction import redact
from tests.unit.record.fake_histogram import FAKE_CODEC
from tests.unit.record.samples import plan, samples, summary

NOW = datetime(2025, 11, 21, 9, 5, 7, tzinfo=UTC)


def test_directories_never_collide(tmp_path: Path) -> None:
    names = [
        create_run_directory(tmp_path / "runs", name="ycsb-a", plan_hash="0a1b2c3d", now=NOW).name for _ in range(3)
    ]
    assert names == [f"20251121t090507z-ycsb-a-0a1b2c3d{suffix}" for suffix in ("", "-2", "-3")]
    capacity = create_run_directory(tmp_path / "runs", name="ycsb-a", plan_hash="0a1b2c3d", kind="capacity", now=NOW)
    assert capacity.name == "20251121t090507z-capacity-ycsb-a-0a1b2c3d"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("Orders: read & write", "orders-read-write"),
        ("订单服务", "订单服务"),
        ("", "unnamed"),
        ("..", "unnamed"),
        ("x" * 300, "x" * 80),
        ("订" * 100, "订" * 26),
    ],
)
def test_any_name_is_one_safe_path_component(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_listing_shows_runs_experiments_and_what_cannot_be_read(tmp_path: Path) -> None:
    run = create_run_directory(tmp_path, name="first", plan_hash="00000000", now=NOW)
    with RecordWriter(run, plan(), "", {}, codec=FAKE_CODEC) as writer:
        writer.seal(None, None, ended_by="interrupt", message="stopped by SIGTERM")
    experiment = create_run_directory(tmp_path, name="second", plan_hash="00000000", kind="capacity", now=NOW)
    new_experiment(experiment).close()
    newer = create_run_directory(tmp_path, name="third", plan_hash="00000000", now=NOW)
    (newer / "record.json").write_text('{"format_version": 99}')
    (tmp_path / "notes").mkdir()

    entries = {entry.directory: entry for entry in list_records(tmp_path)}

    assert set(entries) == {run, experiment, newer}
    assert (entries[run].kind, entries[run].ended_by, entries[run].message) == (
        "run",
        "interrupt",
        "stopped by SIGTERM",
    )
    assert entries[run].started_at == NOW
    assert (entries[experiment].kind, entries[experiment].ended_by) == ("capacity", "killed")
    assert "format version 99" in entries[newer].problem
    assert list_records(tmp_path / "absent") == []


@pytest.mark.parametrize(
    ("analysis", "outcome"),
    [
        ('{"ended_by": "completed", "verdict": {"value": "invalid", "reasons": []}}', "invalid"),
        ('{"ended_by": "completed", "verdict": {"value": null, "reasons": []}}', ""),
        ('{"verdict": "improved"}', "improved"),
        ('{"ended_by": "completed", "conclusion": "slo_unreachable", "sweep": {}}', "slo_unreachable"),
        ('{"ended_by": "completed", "sweep_ended_by": "plateau"}', "plateau"),
        ('{"ended_by": "interrupt", "sweep_ended_by": "incomplete"}', ""),  # of before it was resumed
        ('{"ended_by": "completed", "kind": "scan"}', ""),
        ('{"verdict": ["pass"]}', ""),
        ('{"verdict": {"value": 7}}', ""),
        ("[]", ""),
        ('{"verdict": ', ""),
        ('{"verdict": "pass", "filler": "' + "x" * 5_000_000 + '"}', ""),
    ],
)
def test_listing_has_the_outcome_that_is_stored(analysis: str, outcome: str, tmp_path: Path) -> None:
    with RecordWriter(tmp_path / "run", plan(), "", {}, codec=FAKE_CODEC) as writer:
        writer.seal(summary(), None, ended_by="completed")
    assert [entry.outcome for entry in list_records(tmp_path)] == [""]
    (tmp_path / "run" / "analysis.json").write_text(analysis)
    (entry,) = list_records(tmp_path)
    assert (entry.outcome, entry.problem) == (outcome, "")


def test_a_record_that_is_written_again_has_no_outcome_yet(tmp_path: Path) -> None:
    with new_experiment(tmp_path / "e") as writer:
        writer.seal(ended_by="interrupt")
    (tmp_path / "e" / "analysis.json").write_text('{"verdict": "inconclusive"}')
    assert [entry.outcome for entry in list_records(tmp_path)] == ["inconclusive"]
    with ExperimentWriter.reopen(tmp_path / "e", settings={}):
        assert [(entry.ended_by, entry.outcome) for entry in list_records(tmp_path)] == [("running", "")]
    assert [(entry.ended_by, entry.outcome) for entry in list_records(tmp_path)] == [("killed", "")]


def new_experiment(directory: Path) -> ExperimentWriter:
    return ExperimentWriter(
        directory,
        kind="capacity",
        name="ycsb-a",
        settings={"quick": True, "uri": "mongodb://u:s3cret@h/"},
        spec_text="name: ycsb-a\n",
        environment={"host": {}},
    )


@pytest.mark.parametrize("last", ["sweep", "search"])
def test_a_lack_of_connections_stays_where_windows_follow_from_it(tmp_path: Path, last: str) -> None:
    """Without windows after it the level is tried once more."""
    with new_experiment(tmp_path / "e") as writer:
        for number, stage in enumerate(("sweep", "sweep", last, "search"), 1):
            directory = writer.begin_trial({"stage": stage}, stage=stage, label=str(number))
            if number in (2, 4):
                writer.note_connections(directory, 20)
                writer.end_trial(directory, took_s=1.0, failed="could not be had: 20 of 32 connections")
                continue
            with RecordWriter(directory, plan(), "", {}, codec=FAKE_CODEC) as run:
                run.seal(summary(), None, ended_by="completed")
            writer.end_trial(directory, took_s=1.0)
        writer.seal(ended_by="interrupt")
    with ExperimentWriter.reopen(tmp_path / "e", settings={}, settled_by=("search", "verify")):
        kept = [entry.connections_up for entry in read_experiment(tmp_path / "e").trials]
    assert kept == ([None, None] if last == "sweep" else [None, 20, None])


def test_what_is_no_trial_is_passed_over(tmp_path: Path) -> None:
    """A look by macOS's Finder left `.DS_Store`: a resumed experiment ended in an internal error."""
    with new_experiment(tmp_path / "e") as writer:
        for number in (1, 2):
            directory = writer.begin_trial({"connections": number}, stage="sweep", label=str(number))
            with RecordWriter(directory, plan(), "", {}, codec=FAKE_CODEC) as trial:
                trial.seal(None, None, ended_by="completed")
        writer.seal(ended_by="interrupt")
    trials = tmp_path / "e" / "trials"
    others = {".DS_Store", "note.txt", "01-note.txt"}
    for name in others:
        (trials / name).write_text("")
    shutil.copytree(trials / "01-sweep-1", trials / "copy of 01-sweep-1")
    with ExperimentWriter.reopen(tmp_path / "e", settings={}) as again:
        assert again.begin_trial({}, stage="sweep", label="4").name == "03-sweep-4"
    assert [trial.probe["connections"] for trial in read_experiment(tmp_path / "e").trials] == [1, 2]
    assert others < {path.name for path in trials.iterdir()} and not (tmp_path / "e" / "dropped").exists()


def test_experiment_keeps_its_trials_in_order(tmp_path: Path) -> None:
    with new_experiment(tmp_path / "e") as writer:
        for number in range(12):
            directory = writer.begin_trial({"connections": number}, stage="sweep", label=f"{number} connections")
            if number != 5:  # the sixth never began to run
                with RecordWriter(directory, plan(), "", {}, codec=FAKE_CODEC) as trial:
                    trial.seal(None, None, ended_by="completed")
        writer.event("stage", name="sweep")
        writer.seal(ended_by="completed", message="found")

    experiment = read_experiment(tmp_path / "e")

    assert (experiment.kind, experiment.name, experiment.ended_by) == ("capacity", "ycsb-a", "completed")
    assert experiment.settings == {"quick": True, "uri": "mongodb://***@h/"}
    assert experiment.spec_text == "name: ycsb-a\n"
    assert [trial.probe["connections"] for trial in experiment.trials] == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]
    assert experiment.trials[0].directory.name == "01-sweep-0-connections"


def test_unsealed_experiment_reads_as_killed_and_is_not_a_run(tmp_path: Path) -> None:
    from brimline.record import read_record

    new_experiment(tmp_path).close()
    assert read_experiment(tmp_path).ended_by == "killed"
    with pytest.raises(RecordError, match="is not a run") as caught:
        read_record(tmp_path, codec=FAKE_CODEC)
    assert caught.value.hint == "it is an experiment; its runs are in the directory trials below it"


def test_histogram_log_has_the_lines_that_public_readers_need(tmp_path: Path) -> None:
    with RecordWriter(tmp_path, plan(), "", {}, codec=FAKE_CODEC) as writer:
        for second in range(5):
            writer.append(samples(second))
        writer.seal(summary(), None, ended_by="completed")
    lines = (tmp_path / "latency.hlog").read_text().splitlines()

    assert lines[0] == "#[Histogram log format version 1.3]"
    assert lines[3].startswith("#[StartTime: ")
    assert " (seconds since epoch), " in lines[3]
    assert lines[4].startswith("#[BaseTime: ")
    assert lines[4].endswith(" (seconds since epoch)]")
    assert lines[5] == "#[MaxValueDivisor: 1000000.0]"
    assert lines[6] == '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
    tag, start, length, maximum, _ = lines[7].split(",")
    assert {line.split(",")[0] for line in lines[-6:]} == {
        f"Tag={operation}.{clock}" for operation in ("read", "update") for clock in ("service", "response", "lag")
    }
    assert (tag, start, length, maximum) == ("Tag=read.service.warmup", "0.000000000", "1.000000000", "2.000")


def test_histogram_log_keeps_times_to_the_nanosecond() -> None:
    entry = hlog.LogLine(
        phase="measure",
        operation="read_modify_write",
        clock="lag",
        start_ns=3_600_000_000_001,
        end_ns=3_601_234_567_890,
        text="HISTF",
    )
    text = hlog.line(entry, max_ns=1)
    assert list(hlog.parse([text])) == [entry]
    with pytest.raises(RecordError, match="line 1 is not an interval"):
        list(hlog.parse(["Tag=read.lag,0.0\n"]))


def test_environment_of_a_known_host(tmp_path: Path) -> None:
    files = {
        "proc/cpuinfo": "processor: 0\nmodel name\t: Example CPU\nflags: fpu hypervisor\n\nprocessor: 1\n",
        "proc/meminfo": "MemTotal:       16384 kB\nMemAvailable:    8192 kB\nSwapTotal:          0 kB\n",
        "proc/loadavg": "1.25 0.5 0.1 1/100 1\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        "sys/fs/cgroup/cpu.max": "150000 100000\n",
        "sys/fs/cgroup/memory.max": "1073741824\n",
        "etc/os-release": 'NAME=Example\nPRETTY_NAME="Example Linux 12"\n',
        "proc/1/cgroup": "0::/kubepods/pod1\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    environment = capture_environment(
        uri="mongodb://u:s3cret@h:1/",
        server={"version": "6.0.5", "argv": ["--password", "s3cret"]},
        root=tmp_path,
    )

    host = environment["host"]
    assert (host["cpu_model"], host["virtualised"]) == ("Example CPU", True)
    assert (host["memory_bytes"], host["swap_bytes"]) == (16384 * 1024, 0)
    assert (host["transparent_huge_pages"], host["cpu_governor"]) == ("madvise", "performance")
    assert (host["system"], host["load_average_1min"]) == ("Example Linux 12", 1.25)
    assert environment["container"] == {
        "kind": "kubepods",
        "cpu_limit_cores": 1.5,
        "memory_limit_bytes": 1 << 30,
    }
    assert environment["uri"] == "mongodb://***@h:1/"
    assert "s3cret" not in json.dumps(environment)


MB = 10**6


@pytest.mark.parametrize(
    ("files", "left_bytes"),
    [
        ({"memory.max": 4000 * MB, "memory.current": 3100 * MB, "memory.stat": f"anon 2\ninactive_file {100 * MB}\n"},
         1000 * MB),
        ({"memory/memory.limit_in_bytes": 4000 * MB, "memory/memory.usage_in_bytes": 3100 * MB,
          "memory/memory.stat": f"inactive_file 7\ntotal_inactive_file {100 * MB}\n"}, 1000 * MB),
        ({"memory.max": 4000 * MB, "memory.current": 4001 * MB}, 0),
        ({"memory.max": 4000 * MB}, 4000 * MB),
        ({"memory.max": "max", "memory.current": 3000 * MB}, 8_000_000 * 1024),
        ({"memory/memory.limit_in_bytes": 0x7FFFFFFFFFFFF000, "memory/memory.usage_in_bytes": 3000 * MB},
         8_000_000 * 1024),
    ],
)  # fmt: skip
def test_what_is_left_of_memory_is_what_a_control_group_does_not_use_yet(
    files: dict[str, object], left_bytes: int, tmp_path: Path
) -> None:
    """The group's limit was taken for what is left: servers in a container filled it, and the kernel ended them."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemAvailable: 8000000 kB\n")
    for name, text in files.items():
        place = tmp_path / "sys/fs/cgroup" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{text}\n")
    assert memory_left_bytes(tmp_path) == left_bytes


def test_environment_of_a_host_that_says_nothing(tmp_path: Path) -> None:
    environment = capture_environment(root=tmp_path)
    assert environment["host"]["cpu_model"] is None
    assert environment["host"]["memory_bytes"] is None
    assert environment["container"] == {"kind": None, "cpu_limit_cores": None, "memory_limit_bytes": None}
    assert "server" not in environment


def test_redaction_masks_values_not_settings() -> None:
    value = {
        "security": {"keyFilePassword": "s3cret", "passwordDigestor": "server", "passwords": {"keep": 1}},
        "argv": ["--tlsCertificateKeyFilePassword=s3cret", "--port", "27017", "-password", "s3cret"],
        "pwd": "",
    }
    assert redact(value) == {
        "security": {"keyFilePassword": "***", "passwordDigestor": "server", "passwords": {"keep": 1}},
        "argv": ["--tlsCertificateKeyFilePassword=***", "--port", "27017", "-password", "***"],
        "pwd": "",
    }


@pytest.mark.parametrize(
    "summary_text", ["7.5", "[]", '{"started_unix_ns": 1' + "0" * 40 + "}", '{"started_unix_ns": -1' + "0" * 30 + "}"]
)
def test_a_record_with_a_damaged_summary_is_listed_by_its_name(summary_text: str, tmp_path: Path) -> None:
    directory = tmp_path / "20251121t090507z-ycsb-a-0a1b2c3d"
    directory.mkdir()
    (directory / "record.json").write_text('{"format_version": 1, "name": "ycsb-a", "summary": ' + summary_text + "}")
    (entry,) = list_records(tmp_path)
    assert (entry.name, entry.started_at) == ("ycsb-a", NOW)
