"""What users mistype: each slip gives one exact message, the line, and a hint."""

from pathlib import Path

import pytest

from brimline.errors import SpecError, UsageError
from brimline.spec import load_spec

BASE = "data: {records: 1000}\noperations: {read: 1}\n"

# Appended to BASE as line 3: (text, message behind "spec.yaml:3: ", hint).
SLIPS = [
    ("conections: 3", "conections: unknown key", 'did you mean "connections"'),
    ("insert_retries: {limit: 0}", "insert_retries.limit: must be in 1 to 1000000, but is 0", "write it like 2"),
    (
        "insert_retries: {limit: 1, interval: 2h}",
        'insert_retries.interval: must be in 0s to 1h, but is "2h"',
        "write a duration from 0s to 1h",
    ),
    (
        "insert_batch_size: 0",
        "insert_batch_size: must be in 1 to 100000, but is 0",
        "write a whole number from 1 to 100000",
    ),
    ("records: 5", "records: unknown key", 'did you mean "data.records"'),
    ("recordcount: 5", "recordcount: unknown key", 'did you mean "data.records"'),
    ("threadcount: 5", "threadcount: unknown key", 'did you mean "connections"'),
    ("rmw: 1", "rmw: unknown key", 'did you mean "operations.read_modify_write"'),
    ("uri: x", "uri: unknown key", 'did you mean "target.uri"'),
    ("slo: {p99: 10ms}", "slo.p99: unknown key", 'did you mean "slo.response_p99"'),
    ("keys: {kind: zipfian, teta: 1}", "keys.teta: unknown key", 'did you mean "theta"'),
    (
        "load: {kind: stages, stages: [{rate: 1/s, duration: 1s}]}",
        "load.stages[0].duration: unknown key",
        "duration belongs at the top; known keys: rate, from, to, for",
    ),
    *(
        (
            f"load: {{kind: stages, stages: {given}}}",
            f"load.stages: must be a list, not {told}",
            "give stages such as [{rate: 5000/s, for: 10s}]",
        )
        for given, told in (("3", "3"), ("true", "true"), ("null", "nothing"), ("{rate: 5/s, for: 1s}", "a mapping"))
    ),
    (
        "load: {kind: tlr, threads: 1, loops: 1, ramp_up: [1s]}",
        'load.ramp_up: must be a duration such as "10s", not a list',
        "write a duration from 1ns to 1d",
    ),
    (
        "load: {kind: [closed]}",
        "load: a list is no known kind",
        'did you mean "closed"; kinds: closed, unlimited, tlr, constant, poisson, ramp, stages, steps',
    ),
    (
        "load: {kind: closed, rate: 4}",
        "load.rate: unknown key",
        "rate belongs to kind: constant or poisson; closed takes think_time, think_time_law",
    ),
    (
        "scan_length: {kind: normal, min: 1}",
        'scan_length: "normal" is no known kind',
        'did you mean "uniform"; kinds: constant, uniform, zipfian',
    ),
    ("connections: 0", "connections: must be in 1 to 50000, but is 0", "write it like 32"),
    ("connections: -1", "connections: must be in 1 to 50000, but is -1", "write it like 32"),
    ("connections: '-1'", 'connections: must not be negative, but is "-1"', "write it like 32"),
    ("connections: 50001", "connections: must be in 1 to 50000, but is 50001", "write it like 32"),
    ("connections: 1.5", "connections: must be a whole number, but is 1.5", "write it like 32"),
    ("connections: .inf", "connections: must be a whole number, but is inf", "write it like 32"),
    ("connections: true", "connections: must be a whole number, not true", "write it like 32"),
    ("connections: on", 'connections: "on" is no count', 'write it like "1000", "1_000_000" or "100k"'),
    ("connections:", "connections: must be a whole number, not nothing", "write it like 32"),
    ("threads: 1:30", 'threads: "1:30" is no count', 'write it like "1000", "1_000_000" or "100k"'),
    ("threads: 257", "threads: must be in 1 to 256, but is 257", "write a whole number from 1 to 256"),
    ("seed: 0100", 'seed: "0100" is no count', "it starts with 0"),
    (
        "seed: 18446744073709551616",
        "seed: must be in 0 to 18446744073709551615, but is 18446744073709551616",
        "write a whole number from 0 to 18446744073709551615",
    ),
    ("duration: .nan", "duration: must be in 10ms to 30d, but is nan", "write a duration from 10ms to 30d"),
    ("duration: -.inf", "duration: must be in 10ms to 30d, but is -inf", "write a duration from 10ms to 30d"),
    ("duration: 10", "duration: 10 has no unit", 'write "10s" or "10ms"'),
    ("duration: 10M", 'duration: "10M" has the unknown unit "M"', 'did you mean "m"'),
    ("duration: 0s", 'duration: must be in 10ms to 30d, but is "0s"', "write a duration from 10ms to 30d"),
    ("duration: -5s", 'duration: must not be negative, but is "-5s"', "write a duration from 10ms to 30d"),
    ("duration: 99999d", 'duration: must be in 10ms to 30d, but is "99999d"', "write a duration from 10ms to 30d"),
    ("warmup: 2d", 'warmup: must be in 0s to 1d, but is "2d"', "write a duration from 0s to 1d"),
    ("interval: 1ms", 'interval: must be in 10ms to 1h, but is "1ms"', "write a duration from 10ms to 1h"),
    (
        "operation_count: 0",
        "operation_count: must be in 1 to 1000000000000000, but is 0",
        "write it like 1000 or 100k",
    ),
    (
        "load: open",
        'load: "open" is no known kind',
        "kinds: closed, unlimited, tlr, constant, poisson, ramp, stages, steps",
    ),
    ("load: constant", "load.rate: is missing", "add rate: 5000/s"),
    ("load: {rate: 5}", "load: needs a kind", "kinds: closed, unlimited, tlr, constant, poisson, ramp, stages, steps"),
    (
        "load: {kind: constant, rate: 0}",
        "load.rate: must be above 0 and at most 1e9/s, but is 0",
        "write it like 5000/s, or leave it out for a closed loop",
    ),
    ("load: {kind: constant, rate: -5/s}", 'load.rate: must not be negative, but is "-5/s"', "write it like 5000/s"),
    (
        "load: {kind: constant, rate: 1e12}",
        "load.rate: must be above 0 and at most 1e9/s, but is 1e+12",
        "write it like 5000/s",
    ),
    (
        "load: {kind: constant, rate: .nan}",
        "load.rate: must be above 0 and at most 1e9/s, but is nan",
        "write it like 5000/s",
    ),
    (
        "load: {kind: constant, rate: 1e-9}",
        "load.rate: must be at least one operation in 11 days, but is 1e-09",
        "write it like 5000/s",
    ),
    ("target: {uri: 'mongodb://h h'}", "target.uri: has a space in it", "take it out, or write it as %20"),
    (
        "load: {kind: constant, rate: '5,000/s'}",
        'load.rate: "5,000/s" is no rate',
        'write it like "5000/s", "20k/s" or "300/min" (digits are grouped by _, not by commas or spaces)',
    ),
    (
        "keys: zipf",
        'keys: "zipf" is no known kind',
        'did you mean "zipfian"; kinds: uniform, sequential, zipfian, latest, hotspot, exponential',
    ),
    ("keys: {kind: zipfian, theta: -1}", "keys.theta: must be in 0 to 10, but is -1", "0 is uniform, 0.99 is YCSB's"),
    (
        "keys: {kind: hotspot, data_fraction: 20}",
        "keys.data_fraction: must be above 0 and at most 1, but is 20",
        "write it like 0.2 or 20%",
    ),
    (
        "keys: {kind: exponential, percentile: 100}",
        "keys.percentile: must be above 0 and below 100, but is 100",
        "write it like 95 or 99.9",
    ),
    ("scan_length: 0", "scan_length: a scan asks for at least 1 document", "write {kind: uniform, min: 1, max: 100}"),
    ("scan_length: {kind: uniform, min: 5, max: 2}", "scan_length: min 5 is larger than max 2", "exchange them"),
    ("scan_length: {kind: uniform}", "scan_length.max: is missing", "add max"),
    ("name: 12", "name: must be text, not 12", 'write "12"'),
    ("name:", "name: must be text, not nothing", "write it in quotes, or leave the line out"),
    ("name: [a]", "name: must be text, not a list", "write it in quotes, or leave the line out"),
    (
        "name: a/b",
        'name: "a/b" can\'t name a directory',
        "take at most 48 letters, digits, '.', '_' and '-', a letter or digit first",
    ),
    (
        "read_all_fields: yes",
        'read_all_fields: must be true or false, not "yes"',
        "write read_all_fields: true or read_all_fields: false",
    ),
    ("slo: {error_rate: 0.1}", "slo.error_rate: 0.1 can be read as 0.1 % and as 10 %", 'write "0.1%"'),
    ("slo: {error_rate: 200%}", 'slo.error_rate: must be in 0% to 100%, but is "200%"', "write it like 0.1%"),
    ("slo: {response_p99: 10}", "slo.response_p99: 10 has no unit", 'write "10s" or "10ms"'),
    ("target: {uri: localhost:27017}", "target.uri: has no scheme", "write mongodb://HOST:PORT"),
    (
        "target: {uri: ftp://u:pw@h}",
        'target.uri: has the scheme "ftp"',
        "write one of mongodb://, mongodb+srv://, http://, https://, mysql://, mariadb://, postgresql://, postgres://",
    ),
    (
        "target: {uri: http://u:pw@h}",
        "target.uri: operations by key are of a database, and http:// is the address of a service",
        "write operations of your own, with protocol: http for a service",
    ),
    (
        "target: {uri: 'mongodb://***@h'}",
        "target.uri: has no password: it was left out when this spec was stored",
        "give the address with --uri or BRIMLINE_URI",
    ),
    (
        "target: {write_concern: {w: 0}}",
        "target.write_concern.w: must not be 0: an unacknowledged write has no answer that could be timed",
        "write 1 or more",
    ),
    (
        "target: {write_concern: 'w:1'}",
        'target.write_concern: must be a number of members, "majority" or a tag, not w:1',
        "write it like 1 or majority",
    ),
    (
        "target: {uri: 'mongodb://h/?w=w:1'}",
        'target: uri has the option w=w:1; it must be a number of members, "majority" or a tag, not w:1',
        "write it like 1 or majority",
    ),
    (
        "target: {write_concern: {j: true}}",
        "target.write_concern.j: unknown key",
        'did you mean "target.write_concern.journal"',
    ),
    (
        "target: {uri: 'mongodb://h/?w=1', write_concern: majority}",
        "target: write_concern and the options of uri ask for different write concerns",
        "give one of them",
    ),
    (
        "seed: &x 1",
        "seed: the anchor &x is not allowed",
        "write the value out; text that begins with & needs quotes",
    ),
    (
        "seed: *x",
        "seed: the alias *x is not allowed",
        "write the value out; text that begins with * needs quotes",
    ),
    (
        "seed: !!int 1",
        "seed: the tag tag:yaml.org,2002:int is not allowed",
        "text that begins with ! needs quotes",
    ),
    ("{a: 1}: 2", "a key is a list or a mapping", "put quotes around text that has { or ["),
    (
        "\tseed: 1",
        "not valid YAML: found character '\\t' that cannot start any token",
        "indent with spaces: YAML allows no tabs there",
    ),
    ("---\nseed: 1", "a second document begins here", "a spec is one document: remove the ---"),
]

# Whole texts: (text, whole message, hint).
WHOLE = [
    ("", "spec.yaml is empty", "a spec needs at least data.records and operations"),
    ("# only a comment", "spec.yaml is empty", "a spec needs at least data.records and operations"),
    ("[]", "spec.yaml holds no keys", 'a spec is a mapping, such as "operations: {read: 1}"'),
    (
        "data: {records: 10}",
        "spec.yaml:1: operations: is missing",
        "add operations: {read: 0.5, update: 0.5}",
    ),
    ("operations: {read: 1}", "spec.yaml:1: data: is missing", "add data: {records: 100k}"),
    (
        "operations: {read: 1}\ndata: {fields: 3}",
        "spec.yaml:2: data.records: is missing",
        "say how many documents there are: records: 100k",
    ),
    (
        "operations: {read: 1}\ndata:\n  recrods: 3",
        "spec.yaml:3: data.recrods: unknown key",
        'did you mean "records"',
    ),
    (
        BASE + "seed: 1\nseed: 2",
        "spec.yaml:4: seed: the key occurs twice; it is on line 3 already",
        "remove one of the two",
    ),
]

A_SHARE = "write a fraction, 0.5 or 50%, or a whole weight"

OPERATIONS = [
    ("{}", "operations: add up to 0", "give at least one operation a share, such as read: 1"),
    (
        "{read: 0, update: 0}",
        "operations: add up to 0",
        "give at least one operation a share, such as read: 1",
    ),
    ("{raed: 1}", "operations.raed: unknown key", 'did you mean "read"'),
    ("{find: 1}", "operations.find: unknown key", 'did you mean "operations.read"'),
    ("{read: -1}", "operations.read: must be a number from 0 on, but is -1", A_SHARE),
    ("{read: .nan}", "operations.read: must be a number from 0 on, but is nan", A_SHARE),
    ("{read: .inf}", "operations.read: must be a number from 0 on, but is inf", A_SHARE),
    ("{read: half}", 'operations.read: must be a fraction such as 0.2, but is "half"', "write it like 0.2 or 20%"),
    (
        "{read: 50%, update: 0.5}",
        "operations: mixes percentages and plain numbers",
        "write all shares the same way",
    ),
    (
        "{read: 0.95, update: 0.5}",
        "operations: add up to 1.45",
        "fractions must add up to 1 and percentages to 100% (whole numbers are weights)",
    ),
    (
        "read",
        'operations: must be a mapping, not "read"',
        "known keys: read, update, insert, scan, read_modify_write, transaction",
    ),
]

DATA = [
    (
        "records: 0",
        "data.records: must be in 1 to 1000000000000, but is 0",
        "write a whole number from 1 to 1000000000000",
    ),
    ("records: 1,000", "data.000: unknown key", "digits are grouped by _, not by commas: 1_000"),
    (
        "records: 10, fields: 10k, field_length: 10kB",
        "data: documents reach 100170039 bytes, more than MongoDB's 16777216",
        "make fields fewer or shorter",
    ),
    (
        "records: 10, field_length: 1k",
        'data.field_length: "1k" is no size',
        "units are B, kB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (of 1024)",
    ),
    (
        "records: 10, field_length: {kind: histogram, weights: {1: -1}}",
        "data.field_length.weights: the weight of 1 must be from 0 to 1e15, but is -1",
        None,
    ),
    (
        "records: 10, field_length: {kind: histogram, weights: {1: 0}}",
        "data.field_length.weights: needs a weight above 0",
        None,
    ),
    (
        "records: 10, batch_size: 100k",
        "data: 100000 documents per command reach 117900000 bytes, more than a message's 48000000",
        "at most 40712 such documents fit",
    ),
    (
        "records: 10, database: admin",
        'data.database: "admin" is one of MongoDB\'s own databases',
        "choose another",
    ),
    (
        "records: 10, collection: system.x",
        'data.collection: "system.x" is no collection name',
        'it has 1 to 128 bytes, no $, no dot at either end, and does not begin with "system."',
    ),
    (
        "records: 10, collection: a..b",
        'data.collection: "a..b" has two dots in a row',
        None,
    ),
    (
        "records: 10, field_name_prefix: a.b",
        "data.field_name_prefix: \"a.b\" can't begin a field's name",
        "it has 1 to 128 bytes, no '.' and no '$'",
    ),
    (
        "records: 10, insert_order: hash",
        'data.insert_order: "hash" is no known value',
        'did you mean "hashed"; values: hashed, ordered',
    ),
]


def refusal(directory: Path, text: str | bytes) -> SpecError:
    path = directory / "spec.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        with pytest.raises(SpecError) as caught:
            load_spec(Path("spec.yaml"))
    assert caught.value.exit_code == 2
    return caught.value


@pytest.mark.parametrize(("text", "message", "hint"), SLIPS)
def test_a_slip_gives_line_message_and_hint(tmp_path: Path, text: str, message: str, hint: str | None) -> None:
    error = refusal(tmp_path, BASE + text)
    assert error.message == f"spec.yaml:3: {message}"
    assert error.hint == hint


@pytest.mark.parametrize(("text", "message", "hint"), WHOLE)
def test_a_wrong_text_is_refused(tmp_path: Path, text: str, message: str, hint: str) -> None:
    error = refusal(tmp_path, text)
    assert (error.message, error.hint) == (message, hint)


@pytest.mark.parametrize(("operations", "message", "hint"), OPERATIONS)
def test_operations_that_make_no_mix(tmp_path: Path, operations: str, message: str, hint: str | None) -> None:
    error = refusal(tmp_path, f"data: {{records: 10}}\noperations: {operations}")
    assert (error.message, error.hint) == (f"spec.yaml:2: {message}", hint)


@pytest.mark.parametrize(("data", "message", "hint"), DATA)
def test_data_that_no_server_takes(tmp_path: Path, data: str, message: str, hint: str | None) -> None:
    error = refusal(tmp_path, f"operations: {{read: 1}}\ndata: {{{data}}}")
    assert error.message == f"spec.yaml:2: {message}"
    if hint is not None:
        assert error.hint == hint


def test_error_carries_path_and_line(tmp_path: Path) -> None:
    error = refusal(tmp_path, "operations: {read: 1}\ndata:\n  records: 10\n  fields: -3\n")
    assert (error.path, error.line) == ("data.fields", 4)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    error = refusal(tmp_path, BASE.encode() + b"description: caf\xe9\n")
    assert error.message == "spec.yaml:3: not UTF-8 text"


def test_sizes_are_bounded(tmp_path: Path) -> None:
    assert refusal(tmp_path, "#" * 300_000).message == "spec.yaml is larger than 256 KiB"
    assert "nested too deeply" in refusal(tmp_path, "a: " + "[" * 100_000).message
    assert "too many digits" in refusal(tmp_path, BASE + "seed: " + "9" * 5000).message


def test_alias_bomb_is_refused_before_it_grows(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{name}: &{name} [*{name}, *{name}]\n" for name in "bcdefghij")
    assert "anchor" in refusal(tmp_path, bomb).message


def test_a_password_in_a_spec_is_never_shown(tmp_path: Path) -> None:
    for line in (
        "target: {uri: 'https://user:secret@host'}",
        "target: {uri: 'mongodb://user:secret@ho st'}",
        "target: {uri: 'user:secret@host'}",
        "target: {uri: 'mongodb://user:secret@host/?w=0'}",
        "mongodb://user:secret@host: 1",
        "connections: mongodb://user:secret@host",
    ):
        error = refusal(tmp_path, BASE + line)
        assert "secret" not in f"{error.message} {error.hint}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ycsb-g", 'there is no workload "ycsb-g"'),
        ("workloada", 'there is no workload "workloada"'),
        ("nope.yaml", "can't read nope.yaml: No such file or directory"),
        ("/dev/zero", "/dev/zero is larger than 256 KiB"),
        (".", "can't read .: Is a directory"),
    ],
)
def test_a_workload_that_is_not_there(name: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_spec(name)
    assert caught.value.message == message


def test_the_hint_knows_ycsbs_file_names() -> None:
    with pytest.raises(SpecError) as caught:
        load_spec("workloadc")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith('did you mean "ycsb-c"; shipped workloads: ')


def test_nothing_and_two_things_are_no_workload() -> None:
    with pytest.raises(UsageError, match="no workload is given"):
        load_spec()
    with pytest.raises(UsageError, match="two workloads"):
        load_spec("ycsb-a", properties=["recordcount=5"])


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"connections": "x"}, 'connections: "x" is no count'),
        ({"duration": "10"}, 'duration: "10" has no unit'),
        ({"load": {"kind": "constant", "rate": 0}}, "load.rate: must be above 0 and at most 1e9/s, but is 0"),
        ({"data.recrods": 5}, "data.recrods: unknown key"),
        ({"foo.bar": 5}, "foo: unknown key"),
    ],
)
def test_an_override_is_blamed_on_no_file(overrides: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_spec("ycsb-a", overrides=overrides)
    assert (caught.value.message, caught.value.line) == (message, None)
