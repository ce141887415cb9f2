"""YCSB's property files: Java's syntax, what each property becomes, and what is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimline.errors import SpecError
from brimline.spec import Spec, load_spec
from brimline.spec.inserting import InsertRetriesSpec
from brimline.spec.keys import ExponentialKeys, HotspotKeys, LatestKeys, SequentialKeys, UniformKeys, ZipfianKeys
from brimline.spec.lengths import ConstantLength, HistogramLength, UniformLength, ZipfianLength
from brimline.spec.load import load_ycsb
from brimline.spec.load_models import ClosedLoad, ConstantLoad
from brimline.spec.properties import parse_properties
from brimline.spec.target import WriteConcernSpec
from brimline.spec.ycsb_front import Phase
from brimline.spec.ycsb_properties import DEFAULTS, FRONT_ONLY, HONOURED, WITHOUT_EFFECT, harmless_values

UNKNOWN = "would have no effect: YCSB's core workload and MongoDB binding have no such property"
CORE = "workload=site.ycsb.workloads.CoreWorkload"


def from_properties(*assignments: str) -> Spec:
    return load_spec(properties=[CORE, "recordcount=1000", *assignments]).spec


def refusal(*assignments: str) -> SpecError:
    with pytest.raises(SpecError) as caught:
        from_properties(*assignments)
    return caught.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a=1", {"a": "1"}),
        (b"a = 1", {"a": "1"}),
        (b"a:1\nb : 2", {"a": "1", "b": "2"}),
        (b"a 1\nb\t2", {"a": "1", "b": "2"}),
        (b"a", {"a": ""}),
        (b"a=", {"a": ""}),
        (b"a==1", {"a": "=1"}),
        (b"a =: 1", {"a": ": 1"}),
        (b"  a=1 ", {"a": "1 "}),
        (b"# a=1\n! b=2\n   #c=3\n\nd=4", {"d": "4"}),
        (b"a=1\\\n   2\\\n\t3", {"a": "123"}),
        (b"a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        (b"a=1\\\n# no comment here", {"a": "1# no comment here"}),
        (b"a=1\rb=2\r\nc=3", {"a": "1", "b": "2", "c": "3"}),
        (b"a\\ b=1\na\\=c=2\na\\:d=3", {"a b": "1", "a=c": "2", "a:d": "3"}),
        (b"a=\\u0041\\t\\n\\q", {"a": "A\t\nq"}),
        (b"a=caf\xe9\x85x", {"a": "café\x85x"}),
        (b"a=1\\", {"a": "1"}),
        (b"\x0ca=1", {"a": "1"}),
    ],
)
def test_java_syntax(text: bytes, expected: dict[str, str]) -> None:
    assert {key: given.value for key, given in parse_properties(text, "w").items()} == expected


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        parse_properties(data, "w")
    except SpecError as error:
        assert error.message.startswith("w:")


def test_a_broken_escape_and_a_double_key_are_refused() -> None:
    with pytest.raises(SpecError, match=r"w:2: \\u is not followed"):
        parse_properties(b"\na=\\u12g4", "w")
    with pytest.raises(SpecError, match=r"w:3: a: the property occurs twice; it is at w:1 already"):
        parse_properties(b"a=1\nb=2\na=3", "w")


def test_a_byte_order_mark_is_named_and_not_taken_for_a_key() -> None:
    with pytest.raises(SpecError, match=r"w:1: begins with a byte order mark"):
        parse_properties(b"\xef\xbb\xbfrecordcount=100", "w")


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-16", r"w:1: is UTF-16 text"),
        ("utf-16-le", r"w:1: holds a zero byte, as UTF-16 text does"),
        ("utf-16-be", r"w:1: holds a zero byte, as UTF-16 text does"),
    ],
)
def test_utf_16_is_named_and_not_read_as_keys(encoding: str, told: str) -> None:
    with pytest.raises(SpecError, match=told) as error:
        parse_properties("recordcount=100\nworkload=x\n".encode(encoding), "w")
    assert error.value.hint == "save it as UTF-8 without a byte order mark" and error.value.exit_code == 2


def test_defaults_are_ycsbs() -> None:
    spec = from_properties()
    assert spec.operations.shares == {
        "read": 0.95,
        "update": 0.05,
        "insert": 0,
        "scan": 0,
        "read_modify_write": 0,
        "transaction": 0,
    }
    assert spec.keys == UniformKeys()
    assert (spec.data.fields, spec.data.field_length) == (10, ConstantLength(length=100))
    assert (spec.data.field_name_prefix, spec.data.zero_padding, spec.data.insert_order) == (
        "field",
        1,
        "hashed",
    )
    assert (spec.data.database, spec.data.collection, spec.data.batch_size) == ("ycsb", "usertable", 1)
    assert spec.scan_length == UniformLength(min=1, max=1000)
    assert (spec.read_all_fields, spec.write_all_fields) == (True, False)
    assert (spec.connections, spec.load, spec.warmup_ns) == (1, ClosedLoad(), 0)
    assert spec.target.uri is None


@pytest.mark.parametrize(
    ("assignments", "path", "expected"),
    [
        ("workload=com.yahoo.ycsb.workloads.CoreWorkload", "data.records", 1000),
        ("recordcount=5000", "data.records", 5000),
        ("insertstart=100 insertcount=50", "data.insert_start", 100),
        ("insertstart=100 insertcount=50", "data.records", 50),
        ("insertstart=100", "data.records", 900),
        ("operationcount=77", "operation_count", 77),
        ("maxexecutiontime=60", "duration_ns", 60_000_000_000),
        ("threadcount=8", "connections", 8),
        ("target=500", "load", ConstantLoad(rate=500.0)),
        ("target=0", "load", ClosedLoad()),
        ("table=t", "data.collection", "t"),
        ("fieldcount=3", "data.fields", 3),
        ("fieldlength=7", "data.field_length", ConstantLength(length=7)),
        (
            "fieldlengthdistribution=uniform minfieldlength=5 fieldlength=7",
            "data.field_length",
            UniformLength(min=5, max=7),
        ),
        ("fieldlengthdistribution=zipfian", "data.field_length", ZipfianLength(min=1, max=100)),
        ("fieldnameprefix=f", "data.field_name_prefix", "f"),
        ("readallfields=false", "read_all_fields", False),
        ("readallfieldsbyname=true", "name_read_fields", True),
        ("mongodb.upsert=true", "upsert", True),
        ("dataintegrity=true", "name_read_fields", True),
        ("dataintegrity=true", "verify_reads", True),
        ("dataintegrity=true", "data.values", "derived"),
        ("writeallfields=TRUE", "write_all_fields", True),
        ("writeallfields=true updateproportion=0 readmodifywriteproportion=1", "write_all_fields", True),
        ("readallfields=false readproportion=0 scanproportion=1", "read_all_fields", False),
        ("readallfields=false readproportion=0 readmodifywriteproportion=1", "read_all_fields", False),
        ("insertorder=ordered", "data.insert_order", "ordered"),
        ("zeropadding=12", "data.zero_padding", 12),
        ("requestdistribution=zipfian", "keys", ZipfianKeys(theta=0.99)),
        ("requestdistribution=latest", "keys", LatestKeys(theta=0.99)),
        ("requestdistribution=sequential", "keys", SequentialKeys()),
        (
            "requestdistribution=hotspot hotspotdatafraction=0.1 hotspotopnfraction=0.9",
            "keys",
            HotspotKeys(data_fraction=0.1, operation_fraction=0.9),
        ),
        ("requestdistribution=exponential", "keys", ExponentialKeys(percentile=95.0, fraction=0.8571428571)),
        (
            "requestdistribution=exponential exponential.percentile=90 exponential.frac=0.5",
            "keys",
            ExponentialKeys(percentile=90.0, fraction=0.5),
        ),
        (
            "scanproportion=1 minscanlength=3 maxscanlength=9 scanlengthdistribution=zipfian",
            "scan_length",
            ZipfianLength(min=3, max=9),
        ),
        ("readproportion=3 updateproportion=1", "operations.read", 0.75),
        ("readmodifywriteproportion=1", "operations.read_modify_write", 0.5),
        ("batchsize=100", "data.batch_size", 100),
        ("mongodb.batchsize=100", "data.batch_size", 100),
        ("batchsize=100 insertproportion=1", "insert_batch_size", 100),
        ("batchsize=100", "insert_batch_size", 1),  # it is that of the load
        (
            "batchsize=1 core_workload_insertion_retry_limit=2",
            "insert_retries",
            InsertRetriesSpec(limit=2, interval="3s"),
        ),
        (
            "core_workload_insertion_retry_limit=1 core_workload_insertion_retry_interval=0",
            "insert_retries",
            InsertRetriesSpec(limit=1, interval="0s"),
        ),
        ("mongodb.url=mongodb://h:1/shop?w=2", "data.database", "shop"),
        ("mongodb.url=mongodb://h:1/admin", "data.database", "ycsb"),
        ("mongodb.url=mongodb://h:1/?w=2", "target.effective_write_concern", WriteConcernSpec(w=2)),
        ("mongodb.writeConcern=journaled", "target.write_concern", WriteConcernSpec(w=1, journal=True)),
        ("mongodb.writeConcern=majority", "target.write_concern", WriteConcernSpec(w="majority")),
        ("threadcount=8 mongodb.maxconnections=3", "max_pool_size", 3),
        ("threadcount=8 mongodb.maxconnections=3", "connections", 8),
        ("threadcount=8 mongodb.maxconnections=8", "max_pool_size", None),
        ("threadcount=8 mongodb.maxconnections=100", "max_pool_size", None),
        ("threadcount=200 mongodb.maxconnections=100", "max_pool_size", 100),
        ("threadcount=8 mongodb.maxconnections=0", "max_pool_size", None),
        ("threadcount=8 mongodb.url=mongodb://h:1/shop?maxPoolSize=3", "max_pool_size", 3),
        ("threadcount=8 mongodb.url=mongodb://h:1/shop?maxPoolSize=8", "max_pool_size", None),
        ("db=site.ycsb.db.MongoDbClient", "connections", 1),
    ],
)
def test_each_property_has_its_effect(assignments: str, path: str, expected: object) -> None:
    value: object = from_properties(*assignments.split())
    for name in path.split("."):
        value = getattr(value, name)
    assert value == expected


@pytest.mark.parametrize(("connections", "size"), [(32, 10), (10, None), (4, None)])
@pytest.mark.parametrize("pool", ["mongodb.maxconnections=10", "mongodb.url=mongodb://h:1/shop?maxPoolSize=10"])
@pytest.mark.parametrize("threads", [1, 20])
def test_a_pool_bounds_the_connections_that_are_asked_for(
    connections: int, size: int | None, pool: str, threads: int
) -> None:
    words = [CORE, "recordcount=1000", f"threadcount={threads}", pool]
    spec = load_spec(properties=words, overrides={"connections": connections}).spec
    assert (spec.connections, spec.max_pool_size) == (connections, size)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ("?maxPoolSize=3", ""),
        ("?w=2&maxPoolSize=3", "?w=2"),
        ("?maxpoolsize=3&w=2", "?w=2"),
        ("?w=2;maxPoolSize=3&maxPoolSize=3&journal=true", "?w=2&journal=true"),
    ],
)
def test_the_pool_of_an_address_is_taken_out_of_it(options: str, kept: str) -> None:
    spec = from_properties("threadcount=8", f"mongodb.url=mongodb://u:p@h:1/shop{options}")
    assert (spec.max_pool_size, spec.data.database) == (3, "shop")
    assert spec.target.uri is not None
    assert spec.target.uri.get_secret_value() == f"mongodb://u:p@h:1/shop{kept}"


def test_inserts_that_go_out_together_are_fewer_operations_of_the_same_work() -> None:
    """Of 1000 operations 800 read and 200 insert, ten at a time: 820 commands."""
    words = ["readproportion=0.8", "updateproportion=0", "insertproportion=0.2", "operationcount=1000", "target=500"]
    spec = from_properties(*words, "batchsize=10")
    assert spec.operation_count == 820
    assert spec.operations.insert / spec.operations.read == pytest.approx(20 / 800)
    assert isinstance(spec.load, ConstantLoad)
    assert spec.load.rate_ops_per_s == pytest.approx(410)


def test_every_honoured_property_is_in_the_table_above() -> None:
    """A property can't be listed as honoured without a case that shows its effect (or its own test)."""
    table = test_each_property_has_its_effect.pytestmark[0].args[1]  # type: ignore[attr-defined]
    shown = {word.partition("=")[0] for assignments, _, _ in table for word in assignments.split()}
    own_tests = {"insertproportion", "fieldlengthhistogram"}
    assert set(HONOURED) - shown - own_tests == set()


def test_defaults_of_the_laws_are_ycsbs() -> None:
    hotspot = from_properties("requestdistribution=hotspot").keys
    assert isinstance(hotspot, HotspotKeys)
    assert (hotspot.data_fraction, hotspot.operation_fraction) == (0.2, 0.8)
    exponential = from_properties("requestdistribution=exponential").keys
    assert isinstance(exponential, ExponentialKeys)
    assert (exponential.percentile, exponential.fraction) == (95.0, 0.8571428571)


# YCSB's default is no record, which nothing can be done with.
@pytest.mark.parametrize("name", sorted(set(DEFAULTS) - {"recordcount"}))
def test_a_default_that_is_said_changes_nothing(name: str) -> None:
    """Here and in `ycsb run` and `ycsb load`, which refuse what has no effect there."""
    said = f"{name}={DEFAULTS[name]}"
    phases: tuple[Phase, ...] = ("run",) if name == "dotransactions" else ("run", "load")
    words = [CORE, "recordcount=1000"]
    found = [from_properties(said), *(load_ycsb(properties=[*words, said], phase=phase) for phase in phases)]
    # What is said to the driver is said to the server, and printed, also where it is the default.
    if name not in (
        "mongodb.readPreference",
        "mongodb.writeConcern",
        "mongodb.threadsAllowedToBlockForConnectionMultiplier",
    ):
        assert found == [from_properties(), *(load_ycsb(properties=words, phase=phase) for phase in phases)]


@pytest.mark.parametrize("name", sorted(WITHOUT_EFFECT))
def test_what_would_have_no_effect_is_refused(name: str) -> None:
    error = refusal(f"{name}=something-else")
    assert error.message.startswith(f"-p: {name}: would have no effect: ")
    elsewhere = ", or use brimline ycsb" if name in FRONT_ONLY else ""
    assert error.hint == f"remove {name}{elsewhere}"
    for harmless in harmless_values(name):
        from_properties(f"{name}={harmless}")


@pytest.mark.parametrize(
    ("assignments", "message", "hint"),
    [
        (
            "recordcunt=5",
            "recordcunt: " + UNKNOWN,
            'did you mean "recordcount"',
        ),
        (
            "cassandra.hosts=x",
            "cassandra.hosts: " + UNKNOWN,
            "remove cassandra.hosts",
        ),
        (
            "hotspotdatafraction=0.3",
            "hotspotdatafraction: would have no effect with requestdistribution=uniform",
            "remove hotspotdatafraction",
        ),
        (
            "exponential.frac=0.3",
            "exponential.frac: would have no effect with requestdistribution=uniform",
            "remove exponential.frac",
        ),
        (
            "maxscanlength=5",
            "maxscanlength: would have no effect with scanproportion=0",
            "remove maxscanlength",
        ),
        (
            "readallfields=false readproportion=0",
            "readallfields: would have no effect with readproportion=0, scanproportion=0 and "
            "readmodifywriteproportion=0",
            "remove readallfields",
        ),
        (
            "writeallfields=true updateproportion=0 insertproportion=1",
            "writeallfields: would have no effect with updateproportion=0 and readmodifywriteproportion=0",
            "remove writeallfields",
        ),
        (
            "minfieldlength=5",
            "minfieldlength: would have no effect with fieldlengthdistribution=constant",
            "remove minfieldlength",
        ),
        (
            "workload=site.ycsb.workloads.TimeSeriesWorkload",
            'workload: "site.ycsb.workloads.TimeSeriesWorkload" is not the core workload',
            "brimline knows site.ycsb.workloads.CoreWorkload and com.yahoo.ycsb.workloads.CoreWorkload",
        ),
        (
            "db=site.ycsb.db.JdbcDBClient",
            'db: "site.ycsb.db.JdbcDBClient" is not the MongoDB binding',
            "remove db, or write site.ycsb.db.MongoDbClient",
        ),
        (
            "recordcount=0",
            'recordcount: must be a whole number from 1 on, but is "0"',
            "write it like recordcount=1000",
        ),
        (
            "recordcount=-4",
            'recordcount: must be a whole number from 1 on, but is "-4"',
            "write it like recordcount=1000",
        ),
        ("threadcount=0", 'threadcount: must be a whole number from 1 on, but is "0"', "write it like threadcount=16"),
        ("threadcount=99999", "threadcount: must be in 1 to 50000, but is 99999", "write it like 32"),
        (
            "target=2000000000",
            "target: must be at most 1000000000 a second, but is 2000000000",
            "write it like target=5000",
        ),
        ("target=-5", 'target: must be a whole number from 0 on, but is "-5"', "write it like target=5000"),
        (
            "readproportion=0 updateproportion=0",
            "readproportion: the proportions add up to 0",
            "give at least one operation a proportion",
        ),
        (
            "readproportion=nan",
            'readproportion: must be a number from 0 on, but is "nan"',
            "write it like readproportion=0.5",
        ),
        (
            "requestdistribution=zipfain",
            'requestdistribution: "zipfain" is not one of uniform, zipfian, latest, hotspot, exponential, sequential',
            'did you mean "zipfian"',
        ),
        (
            "readallfields=yes",
            'readallfields: must be true or false, but is "yes"',
            "YCSB reads any other word as false",
        ),
        (
            "insertstart=1000",
            "insertstart: must be below recordcount 1000, but is 1000",
            "lower it, or raise recordcount",
        ),
        (
            "insertstart=10 insertcount=2000",
            "insertcount: insertstart + insertcount is 2010, more than recordcount 1000",
            "lower one of them, or raise recordcount",
        ),
        (
            "insertcount=10 requestdistribution=latest",
            "insertcount: ends at record 10 while new records begin at 1000",
            "a run with inserts, latest or exponential needs insertstart + insertcount = recordcount",
        ),
        (
            "insertcount=10 insertproportion=0.1",
            "insertcount: ends at record 10 while new records begin at 1000",
            "a run with inserts, latest or exponential needs insertstart + insertcount = recordcount",
        ),
        (
            "batchsize=10 mongodb.batchsize=20",
            "mongodb.batchsize: is 20 while batchsize is 10",
            "give one of the two",
        ),
        (
            "mongodb.writeConcern=unacknowledged",
            'mongodb.writeConcern: "unacknowledged" is not one of '
            "acknowledged, journaled, replica_acknowledged, majority",
            'did you mean "acknowledged"',
        ),
        (
            "mongodb.maxconnections=-1",
            'mongodb.maxconnections: must be a whole number from 0 on, but is "-1"',
            "write it like mongodb.maxconnections=100",
        ),
        (
            "mongodb.maxconnections=5 mongodb.url=mongodb://h/?maxPoolSize=5",
            "mongodb.maxconnections: would have no effect: mongodb.url has a maxPoolSize",
            "give one of the two",
        ),
        (
            "mongodb.url=mongodb://h/?maxPoolSize=5&maxPoolSize=6",
            "mongodb.url: sets maxPoolSize twice",
            "give it once",
        ),
        (
            "mongodb.url=mongodb://h/?maxPoolSize=many",
            "mongodb.url: has a maxPoolSize that is no whole number",
            "write it like maxPoolSize=100",
        ),
        (
            "mongodb.url=http://u:secret@h",
            "mongodb.url: operations by key are of a database, and http:// is the address of a service",
            "write operations of your own, with protocol: http for a service",
        ),
        (
            "table=a$b",
            'table: "a$b" is no collection name',
            'it has 1 to 128 bytes, no $, no dot at either end, and does not begin with "system."',
        ),
        (
            "fieldlengthdistribution=histogram fieldlengthhistogram=/nope",
            "fieldlengthhistogram: can't read /nope: No such file or directory",
            "check the path",
        ),
    ],
)
def test_refusals_name_the_property(assignments: str, message: str, hint: str | None) -> None:
    error = refusal(*assignments.split())
    assert (error.message, error.hint) == (f"-p: {message}", hint)


@pytest.mark.parametrize("law", ["zipfian", "latest", "exponential"])
@pytest.mark.parametrize("inserts", ["0", "0.05"])
@pytest.mark.parametrize(("start", "count"), [(0, 500), (500, 500), (250, 1), (999, 1)])
def test_a_load_may_be_of_one_share_of_the_records(
    law: str, inserts: str, start: int, count: int, tmp_path: Path
) -> None:
    """Whatever a run does with them; what lies beyond all of the records is refused as before."""
    words = [
        CORE,
        "recordcount=1000",
        f"requestdistribution={law}",
        f"insertproportion={inserts}",
        f"insertstart={start}",
    ]
    data = load_spec(properties=[*words, f"insertcount={count}"], loads_only=True).spec.data
    assert (data.insert_start, data.records) == (start, count)
    file = tmp_path / "w.properties"
    file.write_text("\n".join(words))
    loaded, _ = load_ycsb([file], [f"insertcount={count}"], phase="load")
    assert (loaded.spec.data.insert_start, loaded.spec.data.records) == (start, count)
    with pytest.raises(SpecError, match="more than recordcount"):
        load_spec(properties=[*words, "insertcount=1001"], loads_only=True)


@pytest.mark.parametrize(
    ("assignment", "path", "expected"),
    [
        ("mongodb.writeConcern=ACKNOWLEDGED", "w", 1),
        ("mongodb.writeConcern=Journaled", "journal", True),
        ("mongodb.writeConcern=MAJORITY", "w", "majority"),
    ],
)
def test_write_concerns_in_capitals(assignment: str, path: str, expected: object) -> None:
    concern = from_properties(assignment, "updateproportion=1").target.write_concern
    assert getattr(concern, path) == expected


@pytest.mark.parametrize(
    "assignment",
    ["mongodb.readPreference=PRIMARY", "measurementtype=HDRHISTOGRAM", "status=FALSE", "measurement.interval=OP"],
)
def test_a_default_in_capitals_asks_for_nothing(assignment: str) -> None:
    from_properties(assignment)


def test_a_default_that_is_spelled_out_asks_for_nothing() -> None:
    spelled = from_properties(
        "hotspotdatafraction=0.20", "maxscanlength=1000", "scanlengthdistribution=uniform", "minfieldlength=1"
    )
    assert spelled == from_properties()


def test_workload_and_assignments_must_be_there() -> None:
    with pytest.raises(SpecError, match="properties: workload: is missing"):
        load_spec(properties=["recordcount=5"])
    with pytest.raises(SpecError, match='-p "recordcount" is no assignment'):
        load_spec(properties=[CORE, "recordcount"])


def test_later_files_and_assignments_win(tmp_path: Path) -> None:
    first, second = tmp_path / "workloada", tmp_path / "more.properties"
    first.write_text(f"{CORE}\nrecordcount=10\nfieldcount=1\ntable=first\n")
    second.write_text("fieldcount=2\ntable=second\n")
    loaded = load_spec(property_files=[first, second], properties=["table=third"])
    assert (loaded.spec.data.records, loaded.spec.data.fields, loaded.spec.data.collection) == (
        10,
        2,
        "third",
    )
    assert loaded.spec.name == "more"
    again = tmp_path / "again.yaml"
    again.write_text(loaded.text)
    assert load_spec(again).spec == loaded.spec


def test_a_property_file_may_be_named_as_a_workload(tmp_path: Path) -> None:
    path = tmp_path / "workloadb"
    path.write_text(f"# mine\n{CORE}\nrecordcount=10\n")
    assert load_spec(path).spec == load_spec(property_files=[path]).spec
    path.write_text(f"{CORE}\nrecordcount=10\nfieldcuont=1\n")
    with pytest.raises(SpecError, match=rf"{path}:3: fieldcuont: would have no effect"):
        load_spec(path)


def test_overrides_reach_property_files(tmp_path: Path) -> None:
    path = tmp_path / "w"
    path.write_text(f"{CORE}\nrecordcount=10\noperationcount=1000\n")
    spec = load_spec(property_files=[path], overrides={"duration": "5s", "connections": 4}).spec
    assert (spec.duration_ns, spec.operation_count, spec.connections) == (5_000_000_000, None, 4)


def test_length_histogram_file(tmp_path: Path) -> None:
    path = tmp_path / "hist.txt"
    path.write_text("BlockSize\t10\n0\t1\n1\t0\n2\t3\n")
    spec = from_properties("fieldlengthdistribution=histogram", f"fieldlengthhistogram={path}")
    assert spec.data.field_length == HistogramLength.model_validate({"weights": {10: 1, 20: 0, 30: 3}})
    for broken in ("", "0\t1", "BlockSize\tx", "BlockSize\t10\n1\t1", "BlockSize\t10\n0 1", "\xff"):
        path.write_bytes(broken.encode("latin-1"))
        error = refusal("fieldlengthdistribution=histogram", f"fieldlengthhistogram={path}")
        assert error.message == f"-p: fieldlengthhistogram: {path} is no length histogram"
    path.write_text("BlockSize\t10\n0\t0\n")
    error = refusal("fieldlengthdistribution=histogram", f"fieldlengthhistogram={path}")
    assert error.message.endswith("needs a count above 0 and none below")
