"""Numbers at the edges in specs, properties and options: a spec, or one error about it."""

import itertools

import pytest
import yaml

from brimline.errors import BrimlineError
from brimline.plan import NullTarget, resolve
from brimline.spec import load_spec

EDGES = (
    ".inf", "-.inf", ".nan", "1e308", "-1e308", "1e309", "-5", "-0", "0", "1", "0.5", "1e3", "1_0", "0x10", "0o7", "２",
    "9223372036854775807", "9223372036854775808", "18446744073709551616", "9" * 30, "9" * 400, "1" + "0" * 5000, "null",
    "true", "''", "1e308s", "-1s", "1e400%", "nan%", "inf/s", "1e308/s", "9e99MB", "[1]", "{a: 1}",
)  # fmt: skip
PATHS = (
    "data.records", "data.fields", "data.field_length", "data.insert_start", "data.batch_size", "data.zero_padding",
    "operations.read", "keys.theta", "load.rate", "connections", "in_flight", "warmup", "duration", "interval", "seed",
    "operation_count", "slo.response_p99", "slo.error_rate", "scan_length.max", "insert_batch_size",
)  # fmt: skip
PROPERTIES = (
    "recordcount", "insertstart", "insertcount", "operationcount", "maxexecutiontime", "threadcount", "target",
    "fieldcount", "fieldlength", "minfieldlength", "readproportion", "insertproportion", "hotspotdatafraction",
    "exponential.frac", "exponential.percentile", "maxscanlength", "zeropadding", "mongodb.maxconnections", "batchsize",
    "core_workload_insertion_retry_limit", "core_workload_insertion_retry_interval",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_every_number_of_a_spec_at_every_edge(path: str) -> None:
    for edge in EDGES:
        try:
            value = yaml.safe_load(edge)
        except ValueError:
            value = edge
        for given in (value, edge):
            try:
                overrides = {"load.kind": "constant", "load.rate": 5, path: given}
                resolve(load_spec("ycsb-a", overrides=overrides).spec, target=NullTarget())
            except BrimlineError as error:
                assert error.message


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_number_of_a_property_at_every_edge(name: str) -> None:
    core = ["workload=site.ycsb.workloads.CoreWorkload", "recordcount=1000"]
    for edge, law in itertools.product(EDGES, ("hotspot", "exponential")):
        try:
            words = [*core, f"requestdistribution={law}", f"{name}={edge}"]
            resolve(load_spec(properties=words).spec, target=NullTarget())
        except BrimlineError as error:
            assert error.message
