"""What YCSB's client is asked to measure and print: each property has its effect, or is refused by name and line."""

import re
from pathlib import Path

import pytest

from brimline.errors import SpecError
from brimline.spec import LoadedSpec, YcsbOutput, load_ycsb
from brimline.spec.load_models import ConstantLoad
from brimline.spec.ycsb_front import Phase
from brimline.spec.ycsb_properties import FRONT_ONLY, WITHOUT_EFFECT

CORE = ("workload=site.ycsb.workloads.CoreWorkload", "recordcount=1000")


def read(*assignments: str, phase: Phase = "run") -> tuple[LoadedSpec, YcsbOutput]:
    return load_ycsb(properties=[*CORE, *assignments], phase=phase)


def refusal(*assignments: str, phase: Phase = "run") -> SpecError:
    with pytest.raises(SpecError) as caught:
        read(*assignments, phase=phase)
    return caught.value


EFFECTS = [
    ("", "measurement_type", "hdrhistogram"),
    ("measurementtype=timeseries", "measurement_type", "timeseries"),
    ("measurementtype=hdrhistogram+histogram", "measurement_type", "hdrhistogram+histogram"),
    ("", "measurement_interval", "op"),
    ("measurement.interval=both", "measurement_interval", "both"),
    ("", "percentiles", (50.0, 95.0, 99.0)),
    ("hdrhistogram.percentiles=95,99,99.9", "percentiles", (95.0, 99.0, 99.9)),
    ("measurement.histogram.verbose=true", "verbose", True),
    ("measurementtype=histogram histogram.buckets=20", "bucket_count", 20),
    ("measurementtype=timeseries timeseries.granularity=100", "granularity_ms", 100),
    ("hdrhistogram.fileoutput=true", "hdr_path", ""),
    ("measurementtype=raw", "is_raw", True),
    ("measurementtype=hdrhistogram+raw", "is_raw", True),
    ("", "is_raw", False),
    ("measurementtype=raw", "raw_file", None),
    ("measurementtype=raw measurement.raw.output_file=raw.txt", "raw_file", "raw.txt"),
    ("measurementtype=raw", "raw_summary", True),
    ("measurementtype=hdrhistogram+raw measurement.raw.no_summary=true", "raw_summary", False),
    ("measurementtype=hdrhistogram+raw hdrhistogram.fileoutput=true", "hdr_path", ""),
    ("hdrhistogram.fileoutput=true hdrhistogram.output.path=a.", "hdr_path", "a."),
    ("", "hdr_path", None),
    ("", "exporter", "text"),
    ("exporter=site.ycsb.measurements.exporter.JSONMeasurementsExporter", "exporter", "json"),
    ("exporter=com.yahoo.ycsb.measurements.exporter.JSONArrayMeasurementsExporter", "exporter", "json array"),
    ("exportfile=out.txt", "export_file", Path("out.txt")),
    ("", "status", False),
    ("status=true status.interval=3 label=l", "status_interval_s", 3),
    ("status=true label=mine", "label", "mine"),
    ("", "tracked_errors", frozenset()),
    ("reportlatencyforeacherror=true", "tracked_errors", None),
    ("latencytrackederrors=ERROR,NOT_FOUND", "tracked_errors", frozenset({"ERROR", "NOT_FOUND"})),
    ("latencytrackederrors=ERROR,", "tracked_errors", frozenset({"ERROR"})),
    ("", "address", "mongodb://localhost:27017/ycsb?w=1"),
    ("mongodb.url=mongodb://u:p@h/?maxPoolSize=8", "address", "mongodb://***@h/?maxPoolSize=8"),
    ("threadcount=9 mongodb.maxconnections=4", "address", "mongodb://localhost:27017/ycsb?w=1&maxPoolSize=4"),
    ("mongodb.url=mongodb://h/s mongodb.writeConcern=journaled", "address", "mongodb://h/s?journal=true&j=true"),
    (
        "mongodb.url=mongodb://h/s mongodb.readPreference=nearest mongodb.writeConcern=majority",
        "address",
        "mongodb://h/s?w=majority&readPreference=nearest",
    ),
    ("mongodb.readPreference=nearest", "address", "mongodb://localhost:27017/ycsb?w=1&readPreference=nearest"),
    ("measurementtype=Histogram", "measurement_type", "histogram"),
    ("maxexecutiontime=7", "max_execution_time_s", 7),
    ("target=50", "target_ops_per_s", 50),
    ("dotransactions=true", "phase", "run"),
]


@pytest.mark.parametrize(("assignments", "name", "expected"), EFFECTS)
def test_each_property_has_its_effect(assignments: str, name: str, expected: object) -> None:
    assert getattr(read(*assignments.split())[1], name) == expected


def test_every_property_of_the_front_is_in_the_table_above() -> None:
    shown = {word.partition("=")[0] for assignments, _, _ in EFFECTS for word in assignments.split()}
    assert set(FRONT_ONLY) <= shown
    assert set(FRONT_ONLY) <= set(WITHOUT_EFFECT), "other verbs refuse them"


def test_without_an_address_it_is_ycsbs_own() -> None:
    loaded, _ = read()
    assert loaded.spec.target.uri is not None
    assert loaded.spec.target.uri.get_secret_value() == "mongodb://localhost:27017/ycsb?w=1"
    given, _ = read("mongodb.url=mongodb://h:1/other")
    assert (given.spec.target.uri or given.spec.target.uri).get_secret_value() == "mongodb://h:1/other"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("url", "preference", "expected"),
    [
        ("mongodb://h:1,i:2", "secondary_preferred", "mongodb://h:1,i:2/?readPreference=secondaryPreferred"),
        ("mongodb://h:1/shop", "NEAREST", "mongodb://h:1/shop?readPreference=nearest"),
        ("mongodb://h:1/shop", "nearest", "mongodb://h:1/shop?readPreference=nearest"),
        ("mongodb://h:1/shop?w=2", "secondary", "mongodb://h:1/shop?w=2&readPreference=secondary"),
        ("mongodb://h:1/shop?", "primary", "mongodb://h:1/shop?readPreference=primary"),
    ],
)
def test_a_read_preference_becomes_an_option_of_the_address(url: str, preference: str, expected: str) -> None:
    loaded, _ = read(f"mongodb.url={url}", f"mongodb.readPreference={preference}")
    assert loaded.spec.target.uri is not None
    assert loaded.spec.target.uri.get_secret_value() == expected


DOCUMENTED = (Path(__file__).parents[3] / "docs/guides/ycsb.md").read_text()


@pytest.mark.parametrize("name", sorted(set(WITHOUT_EFFECT) - set(FRONT_ONLY) - {"basicdb.verbose"}))
def test_what_is_refused_here_is_listed(name: str) -> None:
    """A name as a whole, or with a star at its end. `basicdb.verbose` belongs to another binding."""
    beginnings = {name[:length] + "*" for length in range(1, len(name))}
    listed = set(re.findall(r"`([^`]+)`", DOCUMENTED.partition("## Different on purpose")[2]))
    assert listed & {name, *beginnings}


def test_the_work_is_that_of_the_same_properties_elsewhere() -> None:
    spec = read("target=500", "threadcount=7", "readproportion=1", "updateproportion=0")[0].spec
    assert isinstance(spec.load, ConstantLoad) and spec.load.rate_ops_per_s == 500
    assert (spec.connections, spec.warmup_ns, spec.operations.read) == (7, 0, 1.0)


@pytest.mark.parametrize(("kind", "is_logged"), [("raw", True), ("hdrhistogram+raw", True), ("histogram", False)])
def test_raw_measurements_need_a_log_of_operations(kind: str, is_logged: bool) -> None:
    assert read(f"measurementtype={kind}")[0].spec.operation_log is is_logged


@pytest.mark.parametrize(
    ("granularity", "interval_ms"), [(50, 50), (1000, 1000), (2500, 500), (5000, 1000), (1001, 1001)]
)
def test_samples_are_as_fine_as_a_time_series_needs_them(granularity: int, interval_ms: int) -> None:
    loaded, output = read("measurementtype=timeseries", f"timeseries.granularity={granularity}")
    assert output.sample_interval_ms == interval_ms
    assert loaded.spec.interval_ns == interval_ms * 1_000_000
    assert granularity % interval_ms == 0


@pytest.mark.parametrize(
    ("assignments", "message", "hint"),
    [
        ("measurementtype=raw measurement.histogram.verbose=true", "would have no effect with measurementtype=raw", ""),
        ("measurementtype=raw hdrhistogram.percentiles=99", "would have no effect with measurementtype=raw", ""),
        ("measurementtype=raw measurement.raw.output_file=.", "names no file", "latencies.txt"),
        ("measurementtype=raw measurement.raw.output_file=/no/such/x", "there is no directory /no/such", "make it"),
        ("measurement.raw.no_summary=true", "would have no effect with measurementtype=hdrhistogram", ""),
        ("measurementtype=nosuch", '"nosuch" is not one of hdrhistogram', "measurementtype=hdrhistogram"),
        ("measurement.interval=none", '"none" is not one of op, intended, both', ""),
        ("hdrhistogram.percentiles=50,x", 'must be numbers above 0 and up to 100, but is "50,x"', "50,95,99,99.9"),
        ("hdrhistogram.percentiles=0,50", "must be numbers above 0", ""),
        ("hdrhistogram.percentiles=50,101", "must be numbers above 0", ""),
        ("hdrhistogram.percentiles=nan", "must be numbers above 0", ""),
        ("measurementtype=histogram hdrhistogram.percentiles=99", "would have no effect with measurementtype=", ""),
        ("histogram.buckets=5", "would have no effect with measurementtype=hdrhistogram", "remove histogram.buckets"),
        ("measurementtype=histogram histogram.buckets=0", "must be a whole number from 1 on", ""),
        ("measurementtype=histogram histogram.buckets=1000000000000", "must be at most 10000000", ""),
        ("timeseries.granularity=5", "would have no effect with measurementtype=hdrhistogram", ""),
        ("measurementtype=timeseries timeseries.granularity=1", "must be 10 to 3600000 ms", "granularity=1000"),
        ("measurementtype=timeseries measurement.histogram.verbose=true", "would have no effect", ""),
        ("measurementtype=timeseries hdrhistogram.fileoutput=true", "would have no effect", "write measurementtype"),
        ("hdrhistogram.output.path=x", "would have no effect without hdrhistogram.fileoutput=true", ""),
        ("hdrhistogram.fileoutput=true hdrhistogram.output.path=/no/such/x", "there is no directory /no/such", ""),
        ("exportfile=/no/such/file", "there is no directory /no/such", "make it"),
        ("exportfile=.", "names no file", "write it like exportfile=results.txt"),
        ("exporter=site.ycsb.Other", 'there is no "site.ycsb.Other"', "TextMeasurementsExporter"),
        ("label=x", "would have no effect without status lines (-s)", "remove label"),
        ("status.interval=3", "would have no effect without status lines (-s)", ""),
        ("status=true status.interval=0", "must be a whole number from 1 on", "status.interval=10"),
        ("status=true status.interval=100000", "must be at most 86400 s, but is 100000", "status.interval=10"),
        ("threadcount=0", "must be a whole number from 1 on", "write it like threadcount=16"),
        ("threadcount=60000", "must be in 1 to 50000, but is 60000", "write it like 32"),
        ("target=-5", 'must be a whole number from 0 on, but is "-5"', "write it like target=5000"),
        ("target=1000000000000", "must be at most 1000000000 a second", "write it like target=5000"),
        ("status=maybe", "must be true or false", ""),
        ("reportlatencyforeacherror=true latencytrackederrors=ERROR", "would have no effect", "give one of the two"),
        ("latencytrackederrors=ERROR,FOO", '"FOO" would have no effect: no call returns it', "NOT_FOUND and ERROR"),
        ("latencytrackederrors=OK", '"OK" would have no effect: no call returns it', "failures are NOT_FOUND"),
        ("latencytrackederrors=UNEXPECTED_STATE", '"UNEXPECTED_STATE" would have no effect', "failures are NOT_FOUND"),
        ("dotransactions=false", "contradicts `ycsb run`", "remove dotransactions"),
        ("measurement.raw.output_file=x", "would have no effect with measurementtype=hdrhistogram", "remove"),
        ("measurement.trackjvm=true", "would have no effect: there is no JVM", ""),
        ("core_workload_insertion_retry_limit=x", "must be a whole number from 0 on", "retry_limit=2"),
        ("mongodb.readPreference=tertiary", '"tertiary" is not one of primary, primary_preferred', ""),
        (
            "mongodb.url=mongodb://h/?readPreference=nearest mongodb.readPreference=secondary",
            "would have no effect: mongodb.url has a readPreference",
            "give one of the two",
        ),
        ("mongodb.upsert=true", "no effect on `ycsb run` with insertproportion=0", "remove mongodb.upsert"),
        (
            "readproportion=1 updateproportion=0 mongodb.writeConcern=majority",
            "no effect on `ycsb run` with updateproportion=0, insertproportion=0 and readmodifywriteproportion=0",
            "remove mongodb.writeConcern",
        ),
        (
            "readproportion=0 mongodb.readPreference=nearest",
            "would have no effect with readproportion=0, scanproportion=0 and readmodifywriteproportion=0",
            "remove mongodb.readPreference",
        ),
        ("mongodb.threadsAllowedToBlockForConnectionMultiplier=2", "would have no effect: however many", "remove"),
        ("batchsize=2", "no effect on `ycsb run` with insertproportion=0", "remove batchsize"),
        ("mongodb.batchsize=2", "no effect on `ycsb run` with insertproportion=0", "remove mongodb.batchsize"),
        ("core_workload_insertion_retry_limit=2", "no effect on `ycsb run`: only inserts of a load", "`ycsb load`"),
        (
            "insertproportion=1 core_workload_insertion_retry_limit=2",
            "core_workload_insertion_retry_limit: would have no effect on `ycsb run`: only inserts of a load",
            "remove core_workload_insertion_retry_limit, or give it to `ycsb load`",
        ),
        ("core_workload_insertion_retry_interval=1", "no effect on `ycsb run`: only inserts of a load", "`ycsb load`"),
        ("readallfields=false readproportion=0", "with readproportion=0, scanproportion=0 and readmodify", "remove"),
        ("writeallfields=true updateproportion=0", "with updateproportion=0 and readmodifywriteproportion=0", "remove"),
        ("readallfieldsbyname=true readallfields=false", "would have no effect with readallfields=false", ""),
        ("readallfieldsbyname=true readproportion=0", "would have no effect with readproportion=0", ""),
        ("dataintegrity=true fieldlengthdistribution=uniform", "needs fields of one length", "constant"),
        ("dataintegrity=true measurementtype=raw", "measurementtype=raw keeps no single times of VERIFY", "hdr"),
        ("mesurementtype=raw", "would have no effect", 'did you mean "measurementtype"'),
    ],
)  # fmt: skip
def test_refusals_name_the_property(assignments: str, message: str, hint: str) -> None:
    error = refusal(*assignments.split())
    assert error.message.startswith("-p: ")
    assert message in error.message
    assert error.hint and hint in error.hint
    assert error.exit_code == 2


def test_a_load_contradicts_transactions() -> None:
    assert "contradicts `ycsb load`" in refusal("dotransactions=true", phase="load").message
    assert read("dotransactions=false", phase="load")[1].phase == "load"


def test_a_refusal_names_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "workloadx"
    file.write_text("\n".join([*CORE, "# a comment", "measurementtype=rwa", ""]))
    with pytest.raises(SpecError, match=rf"{file}:4: measurementtype: "):
        load_ycsb([file], phase="run")


@pytest.mark.parametrize("phase", ["load", "run"])
def test_a_key_twice_in_a_file_is_refused(phase: Phase, tmp_path: Path) -> None:
    file = tmp_path / "workloadx"
    file.write_text("\n".join([*CORE, "table=a", "table=b"]))
    with pytest.raises(SpecError, match=rf"{file}:4: table: the property occurs twice; it is at {file}:3 already"):
        load_ycsb([file], phase=phase)


@pytest.mark.parametrize("phase", ["load", "run"])
def test_another_workload_class_is_refused(phase: Phase) -> None:
    with pytest.raises(SpecError, match="is not the core workload"):
        load_ycsb(properties=["workload=site.ycsb.workloads.TimeSeriesWorkload", "recordcount=1"], phase=phase)


@pytest.mark.parametrize(
    ("assignments", "message", "hint"),
    [
        ("core_workload_insertion_retry_interval=1", "core_workload_insertion_retry_limit=0", "remove"),
        ("core_workload_insertion_retry_limit=2 batchsize=10", "for single inserts, but batchsize is 10", "remove"),
        ("core_workload_insertion_retry_limit=2000000", "must be in 1 to 1000000, but is 2000000", "write it like 2"),
        ("readallfields=false", "readallfields: would have no effect on `ycsb load`, which only inserts", "`ycsb run`"),
        ("latencytrackederrors=FOO", '"FOO" would have no effect: no call returns it', "failures are NOT_FOUND"),
    ],
)
def test_refusals_of_a_load(assignments: str, message: str, hint: str) -> None:
    error = refusal(*assignments.split(), phase="load")
    assert message in error.message
    assert error.hint and hint in error.hint


LOAD_ONLY = [
    ("mongodb.upsert=true", "upsert", True),
    ("batchsize=10", "data.batch_size", 10),
    ("mongodb.batchsize=10", "data.batch_size", 10),
    ("core_workload_insertion_retry_limit=2 core_workload_insertion_retry_interval=1", "insert_retries.limit", 2),
]


@pytest.mark.parametrize(("assignments", "path", "expected"), LOAD_ONLY)
def test_a_file_for_both_phases_may_say_what_only_its_load_does(
    assignments: str, path: str, expected: object, tmp_path: Path
) -> None:
    """The same with -p is for one call, and a run that can do nothing with it says so."""
    file = tmp_path / "workloadx"
    file.write_text("\n".join([*CORE, *assignments.split()]))
    phases: tuple[Phase, ...] = ("load", "run")
    for phase in phases:
        load_ycsb([file], phase=phase)
    value: object = read(*assignments.split(), phase="load")[0].spec
    for name in path.split("."):
        value = getattr(value, name)
    assert value == expected
    for assignment in assignments.split():
        with pytest.raises(SpecError, match=r"^-p: .* would have no effect on `ycsb run`"):
            load_ycsb([file], [assignment], phase="run")


@pytest.mark.parametrize("assignment", ["mongodb.upsert=true", "batchsize=10", "mongodb.batchsize=10"])
def test_a_run_that_inserts_can_do_something_with_it(assignment: str) -> None:
    read("insertproportion=0.5", assignment)


def test_a_file_for_both_phases_may_say_what_its_load_waits_for(tmp_path: Path) -> None:
    file = tmp_path / "workloadx"
    said = ["readproportion=1", "updateproportion=0", "mongodb.writeConcern=majority", "mongodb.url=mongodb://h"]
    file.write_text("\n".join([*CORE, *said]))
    phases: tuple[Phase, ...] = ("load", "run")
    for phase in phases:
        concern = load_ycsb([file], phase=phase)[0].spec.target.write_concern
        assert concern is not None and concern.w == "majority"


RUN_ONLY = [
    "readproportion=0.5 updateproportion=0.5",
    "insertproportion=0.5 scanproportion=0.1 readmodifywriteproportion=1",
    "readallfields=false writeallfields=true",
    "readallfieldsbyname=true",
    "requestdistribution=hotspot hotspotdatafraction=0.1 hotspotopnfraction=0.9",
    "requestdistribution=exponential exponential.percentile=90 exponential.frac=0.5",
    "scanproportion=1 minscanlength=2 maxscanlength=7 scanlengthdistribution=zipfian",
    "mongodb.readPreference=nearest",
]


@pytest.mark.parametrize("assignments", RUN_ONLY)
def test_a_file_for_both_phases_may_say_what_only_its_runs_do(assignments: str, tmp_path: Path) -> None:
    """The same with -p is for one call, and a load that can do nothing with it says so."""
    file = tmp_path / "workloadx"
    file.write_text("\n".join([*CORE, *assignments.split()]))
    phases: tuple[Phase, ...] = ("load", "run")
    for phase in phases:
        load_ycsb([file], phase=phase)
    for assignment in assignments.split():
        with pytest.raises(SpecError, match=r"^-p: .* would have no effect on `ycsb load`"):
            load_ycsb([file], [assignment], phase="load")


@pytest.mark.parametrize(
    "assignments",
    [
        "operationcount=5 threadcount=4 target=100 maxexecutiontime=9 table=t",
        "readproportion=0.950 updateproportion=.05 insertproportion=0.0 scanproportion=0 readmodifywriteproportion=0",
        "readallfields=TRUE readallfieldsbyname=False writeallfields=false requestdistribution=uniform",
        "mongodb.readPreference=primary mongodb.threadsAllowedToBlockForConnectionMultiplier=5",
    ],
)
def test_a_load_takes_counts_of_runs_and_defaults_by_word(assignments: str) -> None:
    read(*assignments.split(), phase="load")


@pytest.mark.parametrize(
    "assignments",
    [
        "readproportion=0 mongodb.readPreference=primary",
        "updateproportion=0 mongodb.writeConcern=acknowledged",
        "insertproportion=0.5 updateproportion=0 mongodb.writeConcern=majority mongodb.url=mongodb://h",
    ],
)
def test_a_run_takes_a_default_and_what_it_can_do_something_with(assignments: str) -> None:
    read(*assignments.split())


@pytest.mark.parametrize(
    "assignment",
    [
        "mongodb.upsert=FALSE",
        "batchsize=1",
        "mongodb.batchsize=1",
        "core_workload_insertion_retry_limit=0",
        "core_workload_insertion_retry_interval=3",
        "readallfields=TRUE",
        "writeallfields=false",
    ],
)
@pytest.mark.parametrize("shares", ["readproportion=0", "updateproportion=0"])
def test_a_default_asks_for_nothing_on_a_run_either(assignment: str, shares: str) -> None:
    assert read(assignment, shares)[0].spec == read(shares)[0].spec
