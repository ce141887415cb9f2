"""How factors are written, and what is refused before anything starts."""

from functools import partial

import pytest

from brimline.api.kinds import measure_named
from brimline.api.options import Options
from brimline.api.variants import check_meaning, placed
from brimline.api.workload import load_workload
from brimline.errors import UsageError
from brimline.experiments.vary.factor_kinds import KINDS, Change, FactorKind, Scope
from brimline.experiments.vary.factors import index_sets, parse_factor, parse_factors
from brimline.experiments.vary.order import VarySettings


@pytest.mark.parametrize(
    ("text", "name", "levels"),
    [
        ("connections=1,8,1k", "connections", ("1", "8", "1000")),
        ("in_flight=1,8", "in-flight", ("1", "8")),
        ("w=1,majority", "write-concern", ("1", "majority")),
        ("j=true, false", "journal", ("true", "false")),
        ("cache=0.25,512MB,1", "cache-gb", ("0.25", "0.512", "1")),
        ("server_version=4.4,6.0.27", "server-version", ("4.4", "6.0.27")),
        ("records=100k,1M", "records", ("100k", "1M")),
        ("indexes=none,single,compound,customer+created", "indexes",
         ("none", "single", "compound", "customer+created")),
        ("indexes=primary,single", "indexes", ("none", "single")),
        ("workload=ycsb-a,ycsb-b", "workload", ("ycsb-a", "ycsb-b")),
        ("pool=8,32", "max-pool-size", ("8", "32")),
        ("workers=1,2,4", "nodes", ("1", "2", "4")),
        ("rate=500,2k/s", "rate", ("500", "2000")),
        ("r=10s,1m", "ramp-up", ("10s", "1m")),
        ("document-size=500,1kB", "document-bytes", ("500", "1000")),
        ("batch-size=100,1000", "batch-size", ("100", "1k")),
        ("topology=standalone,replica-set-3,shards-2,shards-4x2", "topology",
         ("standalone", "replica-set-3", "client-routed-2", "client-routed-4x2")),
        ("protocol=mongodb,MariaDB,postgresql", "protocol", ("mongodb", "mariadb", "postgres")),
        ("server=mysql://root@a/d,postgresql://b/d", "server", ("mysql://root@a/d", "postgresql://b/d")),
        ("network=local,0ms,100mbit+5ms,members:5ms", "network", ("local", "0ms", "5ms+100mbit", "members:5ms")),
        ("read_preference=primary,SecondaryPreferred", "read-preference", ("primary", "secondaryPreferred")),
    ],
)  # fmt: skip
def test_levels_have_one_spelling(text: str, name: str, levels: tuple[str, ...]) -> None:
    factor = parse_factor(text)
    assert (factor.name, factor.levels) == (name, levels)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("conections=1,2", 'no factor "conections"', 'did you mean "connections"?'),
        ("colour=red,green", 'no factor "colour"', "factors are workload, connections"),
        ("connections", "has no levels", "--vary connections=1,8,64"),
        ("connections=8", "one level, 8", "--vary connections=1,8,64"),
        ("connections=8,,9", "empty level", ""),
        ("connections=8,9,8", "the level 8 twice", "once"),
        ("connections=1000,1k", "the level 1000 twice", "once"),
        ("connections=0,8", "connections", "numbers of connections"),
        ("connections=many,8", "connections", ""),
        ("cache-gb=0.1,1", "can't be 0.1 GB", "0.25 to 10000"),
        ("write-concern=0,1", "unacknowledged", ""),
        ("write-concern=w:1", "a tag, not w:1", "write it like 1 or majority"),
        ("write-concern=majority,j=true", "a tag, not j=true", "write it like"),
        ("write-concern={w:2}", "a tag, not {w:2}", "write it like"),
        ("write-concern=-1", "from 1 on, not -1", "write it like"),
        ("journal=yes,no", "true or false", ""),
        ("server-version=4,latest", "no version", ""),
        ("server-version=4.4,6.0,4.4.2", "the same server twice: 4.4 and 4.4.2 are 4.4.2", "once"),
        ("indexes=a+a,b", "no index", "compound"),
        ("topology=1,2", '"1" is no topology', "replica-set-3"),
        ("topology=standalone,replica-set-0", "--vary topology: a replica set can't have 0 members", ""),
        ("protocol=mongodb,oracle", "must be one of mongodb, mariadb, postgres, not oracle", "kinds of databases"),
        ("protocol=postgres,postgresql", "the level postgres twice", "once"),
        ("server=mysql://a/d,b", "b is no address", "write it like mysql://HOST/DATABASE"),
        ("server=mysql://u:s3cret@a/d,mysql://b/d", "would be shown in every table", "give BRIMLINE_PASSWORD"),
        ("network=local,near", '"near" is no network', "5ms+100mbit"),
        ("network=local,1h", "--vary network: the servers can't be that far away", "10s"),
        ("network=0ms,0s", "the level 0ms twice", "once"),
        ("read-preference=primary,secondarypreferred,all", "must be one of primary", ""),
        ("compression=none,gzip", "must be one of none, snappy, zlib, zstd, not gzip", ""),
        ("retryable-writes=on,once", "must be on or off, not once", ""),
        ("retries=on,true", "the level on twice", "once"),
        ("fault=kill,kil", "must be one of kill, stop", ""),
        ("fault=kill:9,stop", "must be one of kill, stop", ""),
    ],
)
def test_what_can_t_be_is_one_clear_error(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_factor(text)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_factor_is_given_once_under_whatever_name() -> None:
    with pytest.raises(UsageError, match="write-concern is given twice"):
        parse_factors(["w=1,majority", "write-concern=1,2"])


def test_what_another_level_needs() -> None:
    assert {name for name, kind in KINDS.items() if kind.scope is Scope.SERVER } == {
        "server-version", "mongod", "cache-gb", "batch-size", "topology", "network", "protocol", "server",
    }  # fmt: skip


def test_index_sets_are_those_of_growth_or_fields() -> None:
    names = ["field0", "field1"]
    assert index_sets("none", names) == index_sets("primary", names) == []
    assert index_sets("single", names) == ["field0"]
    assert index_sets("compound", names) == ["field0", "field1"]
    assert index_sets("field1+field0", names) == ["field1", "field0"]
    for level, seen in (("compound", ["field0"]), ("field9", names)):
        with pytest.raises(ValueError, match="documents have"):
            index_sets(level, seen)


def test_a_factor_is_one_entry_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name, what another level needs, how a level is read and what it changes; nothing else knows of it."""
    seeds = FactorKind(
        name="seed", scope=Scope.RUN, what="seeds", read=lambda text: str(int(text)),
        change=lambda level: Change(spec={"seed": int(level)}),
    )  # fmt: skip
    monkeypatch.setitem(KINDS, "seed", seeds)  # type: ignore[misc]
    factors = parse_factors(["seed=1,2", "connections=1,8"])
    load = partial(load_workload, "ycsb-c")
    settings, variants = placed(
        VarySettings(factors=factors), {"ycsb-c": lambda changes: load(overrides=changes)}, Options(null=True)
    )
    assert settings.combinations == (("1", "1"), ("1", "8"), ("2", "1"), ("2", "8"))
    specs = {levels: each.loaded.spec for levels, each in variants.items()}
    assert [(spec.seed, spec.connections) for spec in specs.values()] == [(1, 1), (1, 8), (2, 1), (2, 8)]


def test_what_is_said_to_a_measure_leaves_the_workload_as_it_is() -> None:
    factors = parse_factors(["connections=4,16", "document-bytes=500,1k", "w=1,majority"])
    load = partial(load_workload, "ycsb-a")
    workloads = {"ycsb-a": lambda changes: load(overrides=changes)}
    _, variants = placed(VarySettings(factors=factors), workloads, Options(), measure_named("capacity"))
    one = variants["16", "1000", "majority"]
    assert one.said == {"connections": 16}
    assert one.loaded.spec.connections == load_workload("ycsb-a").spec.connections
    assert (one.loaded.spec.data.document_bytes_max, one.loaded.spec.target.write_concern.w) == (
        load_workload("ycsb-a", overrides={"data.field_length": 100}).spec.data.document_bytes_max, "majority",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "text", "why"),
    [
        ("", "rate=1,2", "its runs are in a closed loop"),
        ("capacity", "rate=1,2", "a search finds the rate itself"),
        ("scan", "in-flight=1,8", "a scan asks one query at a time"),
        ("grow", "records=1k,2k", "it grows to what --to says"),
        ("load", "keys=uniform,zipfian", "a load inserts its records"),
        ("sweep", "connections=1,8", "its ladder tries them all"),
    ],
)
def test_a_factor_without_a_meaning_says_why(measure: str, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=f"has no meaning for {measure or 'sweep'}: {why}"):
        check_meaning(parse_factors([text]), measure, measure_named(measure))


def test_a_field_of_a_thousand_bytes_is_a_level() -> None:
    (factor,) = parse_factors(["field-length=100,1000"])
    change = factor.kind.change(factor.levels[1])
    assert load_workload("ycsb-b", overrides=dict(change.spec)).spec.data.document_bytes_max > 10_000
